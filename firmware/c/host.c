/* The same on a host, over the chip model of this repository: cuts CUTS [SEED]. */
#include <stdio.h>
#include <stdlib.h>

#include "chip.h"
#include "cuts.h"

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

int main(int count, char **arguments) {
    if (count < 2) {
        fprintf(stderr, "usage: cuts CUTS [SEED]\n");
        return 2;
    }
    uint32_t cuts = (uint32_t)strtoul(arguments[1], 0, 10);
    uint32_t seed = count > 2 ? (uint32_t)strtoul(arguments[2], 0, 10) : 1;
    model = model_new();
    const char *wrong = play_cuts(cuts, seed ? seed : 1);
    model_free(model);
    if (wrong) {
        printf("FAILED: %s\n", wrong);
        return 1;
    }
    printf("%u power cuts, and every sector compared after each\nPASSED\n", (unsigned)cuts);
    return 0;
}
