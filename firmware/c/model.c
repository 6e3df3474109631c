#include "model.h"

#include "chip.h"

/* firmware/model. */
struct model;
struct model *model_new(void);
void model_table(struct model *model, tandem_nand_t *nand);
void model_cut_after(struct model *model, uint32_t operations, uint32_t seed);
int32_t model_power_again(struct model *model);
void model_free(struct model *model);

static struct model *model;

void chip_table(tandem_nand_t *nand) {
    model_table(model, nand);
}

void chip_cut_after(uint32_t operations, uint32_t seed) {
    model_cut_after(model, operations, seed);
}

int chip_power_again(void) {
    return model_power_again(model);
}

void model_gone(void) {
    if (model) {
        model_free(model);
    }
    model = 0;
}

void model_again(void) {
    model_gone();
    model = model_new();
}
