/* The same on a host, over the chip model of this repository: cuts CUTS [SEED]. */
#include <stdio.h>
#include <stdlib.h>

#include "cuts.h"
#include "model.h"

int main(int count, char **arguments) {
    if (count < 2) {
        fprintf(stderr, "usage: cuts CUTS [SEED]\n");
        return 2;
    }
    uint32_t cuts = (uint32_t)strtoul(arguments[1], 0, 10);
    uint32_t seed = count > 2 ? (uint32_t)strtoul(arguments[2], 0, 10) : 1;
    model_again();
    const char *wrong = play_cuts(cuts, seed ? seed : 1);
    model_gone();
    if (wrong) {
        printf("FAILED: %s\n", wrong);
        return 1;
    }
    printf("%u power cuts, and every sector compared after each\nPASSED\n", (unsigned)cuts);
    return 0;
}
