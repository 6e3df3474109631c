/* The driver of spi_nand.c before the judge. */
#include <stdio.h>

#include "spi_nand.h"
#include "tandem_judge.h"

/* What moves bytes over SPI on your board does so here. */
static int32_t transfer(void *bus, const void *head, size_t head_bytes, const void *out, size_t out_bytes, void *into,
                        size_t into_bytes) {
    tandem_judge_transfer_t what = {head, head_bytes, out, out_bytes, into, into_bytes};
    return tandem_judge_transfer(bus, &what);
}

static int32_t start(void *context, tandem_nand_t *nand) {
    return spi_nand_start(context, nand);
}

int main(void) {
    tandem_judge_chip_t figures;
    if (tandem_judge_chip("W25N01GV", &figures)) {
        return 2;
    }
    /* Correction may be wrong about the parameter page, as some chips are. */
    figures.parameters_uncorrected = 1;
    tandem_judge_t *judge = tandem_judge_new(&figures);
    struct spi_nand chip = {.bus = judge, .transfer = transfer};
    tandem_judge_driver_t driver = {.context = &chip, .start = start};
    tandem_breach_t breach;
    int32_t outcome = tandem_judge_driver(judge, &driver, &breach);
    tandem_judge_free(judge);
    if (outcome == TANDEM_JUDGE_BREACH) {
        printf("%s\nOn the bus:\n%s", breach.text, breach.bus);
        return 1;
    }
    puts(outcome ? tandem_error_text(outcome) : "the driver keeps the contract");
    return outcome ? 2 : 0;
}
