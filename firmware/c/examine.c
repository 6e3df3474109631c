/* The driver of chip.c is examined where it runs, power cuts included; and one that forgets to erase is found. */
#include "board.h"
#include "chip.h"

static const uint32_t blocks[] = {0, 13, 30};
static uint8_t memory[512 + 16 + 8 * 3] TANDEM_ALIGNED;

static int32_t forgets(void *context, uint32_t block) {
    (void)context;
    (void)block;
    return 0;
}

/* Takes a step. Returns what tandem_examine does, and says what it showed. */
static int32_t step(const tandem_nand_t *nand, uint32_t what) {
    const tandem_lent_t lent = {blocks, 3, memory, sizeof memory};
    tandem_shown_t shown;
    int32_t outcome = tandem_examine(nand, &lent, what, &shown);
    if (outcome) {
        say(shown.sentence);
        say("; at block ");
        say_number(shown.block);
        say(", page ");
        say_number(shown.page);
        say(": ");
        say(shown.seen);
        say("\n");
    }
    return outcome;
}

/* What comes before a cut, while it comes, and after it. */
static int32_t cut(const tandem_nand_t *nand, uint32_t before, uint32_t number) {
    int32_t outcome = step(nand, before);
    chip_cut_after(number * 3, number);
    outcome = outcome ? outcome : step(nand, before + 1);
    if (!chip_power_again()) {
        return -1;
    }
    return outcome ? outcome : step(nand, before + 2);
}

int main(void) {
    tandem_nand_t nand, wrong;
    chip_table(&nand);
    wrong = nand;
    wrong.erase = forgets;
    int32_t outcome = step(&nand, TANDEM_EXAMINE_POWER_HOLDS);
    for (uint32_t number = 0; !outcome && number < 10; number++) {
        outcome = cut(&nand, number % 2 ? TANDEM_EXAMINE_BEFORE_PROGRAMS_FAIL : TANDEM_EXAMINE_BEFORE_ERASES_FAIL, number);
    }
    outcome = outcome ? outcome : step(&nand, TANDEM_EXAMINE_BEFORE_POWER_OFF);
    outcome = outcome ? outcome : step(&nand, TANDEM_EXAMINE_AFTER_POWER_OFF);
    if (outcome || step(&wrong, TANDEM_EXAMINE_POWER_HOLDS) != TANDEM_EXAMINED_BREACH) {
        say("FAILED\n");
        return 1;
    }
    outcome = step(&nand, TANDEM_EXAMINE_MARKS);
    say(outcome ? "FAILED\n" : "the driver keeps the contract\nPASSED\n");
    return outcome != 0;
}
