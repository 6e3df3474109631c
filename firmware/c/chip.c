/* An SLC chip in RAM: 32 blocks of 16 pages of 512 bytes, every byte kept. It holds its caller to the contract. */
#include "chip.h"

#include <string.h>

enum { BLOCKS = 32, PAGES = 16, PAGE = 512, SPARE = 16 };

/* What a driver may return of its own: the bus is dead, or the caller broke the contract. */
enum { NO_POWER = -5, BREACH = -22 };

enum { ERASED, PROGRAMMED, RUINED };

static struct {
    uint8_t data[BLOCKS][PAGES][PAGE];
    uint8_t spare[BLOCKS][PAGES][SPARE];
    uint8_t state[BLOCKS][PAGES];
    /* The page that may be programmed next, and whether the block was half erased when power failed. */
    uint8_t next[BLOCKS];
    uint8_t half_erased[BLOCKS];
    uint8_t bad[BLOCKS];
    int dead;
    int cut_is_set;
    uint32_t cut_after;
    uint32_t seed;
} chip;

/* What becomes of an operation: all of it, none of it, or half of it. */
enum fate { WHOLE, BEFORE, TORN, AFTER };

static enum fate begin(void) {
    if (!chip.cut_is_set || chip.cut_after-- > 0) {
        return WHOLE;
    }
    chip.dead = 1;
    return (enum fate)(BEFORE + chip.seed % 3);
}

static int32_t page_read(void *context, const tandem_page_read_t *what) {
    (void)context;
    if (chip.dead) {
        return NO_POWER;
    }
    if (what->block >= BLOCKS || what->page >= PAGES || what->at + what->data_bytes > PAGE
        || what->spare_bytes > SPARE) {
        return BREACH;
    }
    switch (chip.state[what->block][what->page]) {
    case ERASED:
        if (what->data_bytes) {
            memset(what->data, 0xFF, what->data_bytes);
        }
        if (what->spare_bytes) {
            memset(what->spare, 0xFF, what->spare_bytes);
        }
        return 0;
    case PROGRAMMED:
        if (what->data_bytes) {
            memcpy(what->data, chip.data[what->block][what->page] + what->at, what->data_bytes);
        }
        if (what->spare_bytes) {
            memcpy(what->spare, chip.spare[what->block][what->page], what->spare_bytes);
        }
        return 0;
    default:
        return TANDEM_NAND_UNCORRECTABLE;
    }
}

static int32_t page_program(void *context, const tandem_page_program_t *what) {
    (void)context;
    if (chip.dead) {
        return NO_POWER;
    }
    if (what->block >= BLOCKS || what->page >= PAGES || what->page < chip.next[what->block]
        || chip.half_erased[what->block] || chip.bad[what->block]) {
        return BREACH;
    }
    enum fate fate = begin();
    if (fate != BEFORE) {
        memcpy(chip.data[what->block][what->page], what->data, PAGE);
        memcpy(chip.spare[what->block][what->page], what->spare, SPARE);
        chip.state[what->block][what->page] = fate == TORN ? RUINED : PROGRAMMED;
        chip.next[what->block] = (uint8_t)(what->page + 1);
    }
    return fate == WHOLE ? 0 : NO_POWER;
}

static int32_t block_erase(void *context, uint32_t block) {
    (void)context;
    if (chip.dead) {
        return NO_POWER;
    }
    if (block >= BLOCKS || chip.bad[block]) {
        return BREACH;
    }
    enum fate fate = begin();
    if (fate != BEFORE) {
        memset(chip.state[block], fate == TORN ? RUINED : ERASED, PAGES);
        chip.half_erased[block] = fate == TORN;
        chip.next[block] = 0;
    }
    return fate == WHOLE ? 0 : NO_POWER;
}

static int32_t block_is_bad(void *context, uint32_t block) {
    (void)context;
    if (chip.dead) {
        return NO_POWER;
    }
    return block < BLOCKS ? chip.bad[block] : BREACH;
}

static int32_t block_mark_bad(void *context, uint32_t block) {
    (void)context;
    if (chip.dead) {
        return NO_POWER;
    }
    if (block >= BLOCKS) {
        return BREACH;
    }
    chip.bad[block] = 1;
    return 0;
}

void chip_table(tandem_nand_t *nand) {
    memset(nand, 0, sizeof *nand);
    nand->read = page_read;
    nand->program = page_program;
    nand->erase = block_erase;
    nand->is_bad = block_is_bad;
    nand->mark_bad = block_mark_bad;
    nand->geometry.slc = (tandem_region_t){
        .blocks = BLOCKS,
        .pages_per_block = PAGES,
        .page_bytes = PAGE,
        .spare_bytes = SPARE,
        .cell_bits = 1,
        .pairing = TANDEM_PAGES_UNPAIRED,
    };
}

void chip_cut_after(uint32_t operations, uint32_t seed) {
    chip.cut_is_set = 1;
    chip.cut_after = operations;
    chip.seed = seed;
}

int chip_power_again(void) {
    int was_dead = chip.dead;
    chip.dead = 0;
    chip.cut_is_set = 0;
    return was_dead;
}
