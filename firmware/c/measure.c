/* What calls through the C face cost on a chip of 1 Gbit: the load of docs/FIRMWARE.md beside Dhara. The chip keeps all
 * tags, whole pages of the FTL's own, and of the host's the first bytes; its own instructions are taken off. */
#include <string.h>

#include "board.h"
#include "tandem.h"

enum { BLOCKS = 1024, PAGES = 64, PAGE = 2048, TAG = 16, HEAD = 8, FILLER = 0x5A, WHOLES = 4096 };
enum { USED = 38259, HOT = 1008, CALLS = 10000 };

enum kept { ERASED, HEADED, BLANK, WHOLE };

static struct cells {
    uint8_t tag[TAG];
    uint8_t head[HEAD];
    uint16_t whole;
    uint8_t kept;
} cells[BLOCKS][PAGES];
static uint8_t next_page[BLOCKS];
static uint8_t wholes[WHOLES][PAGE];
static uint16_t given_back[WHOLES];
static uint32_t back, taken;

static struct {
    uint32_t reads, programs, spent;
} asked;

static int32_t chip_read(const tandem_page_read_t *what) {
    struct cells *page = &cells[what->block][what->page];
    uint8_t *to = what->data;
    if (what->data_bytes) {
        if (page->kept == WHOLE) {
            memcpy(to, wholes[page->whole] + what->at, what->data_bytes);
        } else {
            memset(to, page->kept == HEADED ? FILLER : 0xFF, what->data_bytes);
            if (page->kept == HEADED && what->at == 0) {
                memcpy(to, page->head, HEAD);
            }
        }
    }
    if (what->spare_bytes) {
        if (page->kept == ERASED) {
            memset(what->spare, 0xFF, what->spare_bytes);
        } else {
            memcpy(what->spare, page->tag, what->spare_bytes);
        }
    }
    return 0;
}

static int32_t read_page(void *context, const tandem_page_read_t *what) {
    uint32_t start = moment();
    (void)context;
    int32_t outcome = chip_read(what);
    asked.reads++;
    asked.spent += moment() - start;
    return outcome;
}

static int is_filled(const uint8_t *data) {
    for (uint32_t at = HEAD; at < PAGE; at++) {
        if (data[at] != FILLER) {
            return 0;
        }
    }
    return 1;
}

static int32_t chip_program(const tandem_page_program_t *what) {
    struct cells *page = &cells[what->block][what->page];
    if (what->page < next_page[what->block]) {
        return -1;
    }
    next_page[what->block] = (uint8_t)(what->page + 1);
    memcpy(page->tag, what->spare, TAG);
    memcpy(page->head, what->data, HEAD);
    page->kept = HEADED;
    if (!is_filled(what->data)) {
        if (back == 0 && taken == WHOLES) {
            return -1;
        }
        page->kept = WHOLE;
        page->whole = back ? given_back[--back] : (uint16_t)taken++;
        memcpy(wholes[page->whole], what->data, PAGE);
    }
    return 0;
}

static int32_t program_page(void *context, const tandem_page_program_t *what) {
    uint32_t start = moment();
    (void)context;
    int32_t outcome = chip_program(what);
    asked.programs++;
    asked.spent += moment() - start;
    return outcome;
}

static int32_t erase_block(void *context, uint32_t block) {
    uint32_t start = moment();
    (void)context;
    for (uint32_t page = 0; page < PAGES; page++) {
        if (cells[block][page].kept == WHOLE) {
            given_back[back++] = cells[block][page].whole;
        }
        cells[block][page].kept = ERASED;
    }
    next_page[block] = 0;
    asked.spent += moment() - start;
    return 0;
}

static int32_t is_good(void *context, uint32_t block) {
    (void)context;
    (void)block;
    return 0;
}

static uint8_t ram[TANDEM_RAM_ONE_GBIT] TANDEM_ALIGNED;
static uint32_t versions[USED];
static uint32_t data[PAGE / 4];
static uint64_t state = 1;
static tandem_t *device;
static uint32_t measuring;

static _Noreturn void fail(const char *why) {
    say("FAILED: ");
    say(why);
    say("\n");
    end(1);
}

static void good(int32_t outcome) {
    if (outcome != TANDEM_OK) {
        fail(tandem_error_text(outcome));
    }
}

static uint32_t below(uint32_t limit) {
    state += 0x9E3779B97F4A7C15;
    uint64_t mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return (uint32_t)(((mixed ^ (mixed >> 31)) & 0xFFFFFFFF) * limit >> 32);
}

static uint32_t any(void) {
    return below(USED);
}

static uint32_t hot(void) {
    return below(HOT) * (USED / HOT);
}

static uint32_t following = USED;

static uint32_t in_order(void) {
    following = following + 1 < USED ? following + 1 : 0;
    return following;
}

static uint32_t cost(uint32_t start, uint32_t spent) {
    return instructions(moment() - start - (asked.spent - spent)) - measuring;
}

static uint32_t write(uint32_t sector) {
    data[0] = sector;
    data[1] = ++versions[sector];
    memset(data + 2, FILLER, PAGE - HEAD);
    uint32_t spent = asked.spent, start = moment();
    int32_t outcome = tandem_write(device, sector, 1, data);
    uint32_t took = cost(start, spent);
    good(outcome);
    return took;
}

static uint32_t read(uint32_t sector) {
    uint32_t spent = asked.spent, start = moment();
    int32_t outcome = tandem_read(device, sector, 1, data);
    uint32_t took = cost(start, spent);
    good(outcome);
    if (data[0] != sector || data[1] != versions[sector] || !is_filled((const uint8_t *)data)) {
        fail("a sector does not read as it was written");
    }
    return took;
}

static void figure(const char *name, const char *what, uint32_t hundredths) {
    say("figure ");
    say(name);
    say("/");
    say(what);
    say(" ");
    say_number(hundredths / 100);
    if (hundredths % 100 || *what != 'i') {
        say(hundredths % 100 < 10 ? ".0" : ".");
        say_number(hundredths % 100);
    }
    say("\n");
}

static void phase(const char *name, uint32_t (*call)(uint32_t), uint32_t (*sector)(void)) {
    uint32_t reads = asked.reads, programs = asked.programs;
    uint64_t sum = 0;
    for (uint32_t calls = 0; calls < CALLS; calls++) {
        sum += call(sector());
    }
    figure(name, "instructions", (uint32_t)(sum / CALLS) * 100);
    figure(name, "reads", (asked.reads - reads) * 100 / CALLS);
    figure(name, "programs", (asked.programs - programs) * 100 / CALLS);
}

static void repeat(uint32_t calls, uint32_t (*sector)(void)) {
    for (; calls > 0; calls--) {
        write(sector());
    }
}

int main(void) {
    static const tandem_nand_t functions = {
        .read = read_page, .program = program_page, .erase = erase_block, .is_bad = is_good, .mark_bad = is_good};
    tandem_nand_t nand = functions;
    tandem_config_t config;
    good(tandem_profile(TANDEM_PROFILE_ONE_GBIT, &nand.geometry, &config));
    tandem_start_t with = {.ram = ram, .ram_bytes = sizeof ram, .nand = &nand, .config = &config};
    start_counting();
    uint32_t nothing = moment();
    measuring = instructions(moment() - nothing);
    good(tandem_format(&with, 0x5EED, &device, 0));
    repeat(USED, in_order);
    repeat(USED, any);
    phase("random write", write, any);
    phase("random read", read, any);
    repeat(CALLS, hot);
    phase("hot write", write, hot);
    phase("hot read", read, hot);
    uint32_t reads = asked.reads, spent = asked.spent, start = moment();
    int32_t outcome = tandem_mount(&with, &device, 0);
    uint32_t took = cost(start, spent);
    good(outcome);
    say("figure mount/instructions ");
    say_number(took);
    say("\n");
    figure("mount", "reads", (asked.reads - reads) * 100);
    phase("sequential read", read, in_order);
    phase("sequential write", write, in_order);
    for (uint32_t sector = 0; sector < USED; sector++) {
        read(sector);
    }
    say("PASSED\n");
    return 0;
}
