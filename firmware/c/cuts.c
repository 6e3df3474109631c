#include "cuts.h"

#include <string.h>

#include "chip.h"

enum { SECTOR = 512, CAPACITY = 96, MOST = 3 };

/* The RAM of the device, of whichever FTL: both need less. */
static uint8_t ram[16 * 1024] TANDEM_ALIGNED;

/* What each sector holds, all bytes of it the same; and the request in flight when power failed. */
static uint8_t held[CAPACITY];
static struct {
    uint32_t first, count;
    uint8_t fill;
} open_request;

static uint8_t data[MOST * SECTOR];
static uint32_t dice;

static uint32_t below(uint32_t limit) {
    dice ^= dice << 13;
    dice ^= dice >> 17;
    dice ^= dice << 5;
    return dice % limit;
}

/* An FTL by its calls, so that one host plays with both. */
struct ftl {
    int32_t (*format)(uint32_t key);
    int32_t (*mount)(void);
    int32_t (*read)(uint32_t first, uint32_t count, void *to);
    int32_t (*write)(uint32_t first, uint32_t count, const void *from, uint32_t life);
    int32_t (*trim)(uint32_t first, uint32_t count);
    int32_t (*maintain)(uint32_t pages);
    int32_t (*stop)(void);
};

static tandem_nand_t nand;
static tandem_detail_t detail;

#define CALLS(ftl, device)                                                                         \
    static int32_t ftl##_read(uint32_t first, uint32_t count, void *to) {                          \
        return tandem_##ftl##read(device, first, count, to);                                       \
    }                                                                                              \
    static int32_t ftl##_write(uint32_t first, uint32_t count, const void *from, uint32_t life) {  \
        return tandem_##ftl##write_hinted(device, first, count, from, life);                       \
    }                                                                                              \
    static int32_t ftl##_trim(uint32_t first, uint32_t count) {                                    \
        return tandem_##ftl##trim(device, first, count);                                           \
    }                                                                                              \
    static int32_t ftl##_maintain(uint32_t pages) {                                                \
        return tandem_##ftl##maintain(device, pages);                                              \
    }                                                                                              \
    static int32_t ftl##_stop(void) { return tandem_##ftl##stop(device); }

static tandem_t *device;
static tandem_config_t config;

static tandem_start_t with(void) {
    tandem_config_small(&config);
    config.sector_bytes = SECTOR;
    config.capacity = CAPACITY;
    config.dirty_entries = 40;
    config.cached_leaves = 2;
    config.anchor_blocks = 0;
    return (tandem_start_t){.ram = ram, .ram_bytes = sizeof ram, .nand = &nand, .config = &config};
}

static int32_t _format(uint32_t key) {
    tandem_start_t start = with();
    return tandem_format(&start, key, &device, &detail);
}

static int32_t _mount(void) {
    tandem_start_t start = with();
    return tandem_mount(&start, &device, &detail);
}

CALLS(, device)

static tandem_hybrid_t *hybrid_device;
static tandem_hybrid_config_t hybrid_config;

static tandem_hybrid_start_t with_hybrid(void) {
    tandem_hybrid_config_one_region(&hybrid_config, 6);
    hybrid_config.sector_bytes = SECTOR;
    hybrid_config.capacity = CAPACITY;
    hybrid_config.cached_maps = 4;
    hybrid_config.free_blocks_low = 2;
    return (tandem_hybrid_start_t){
        .ram = ram, .ram_bytes = sizeof ram, .nand = &nand, .config = &hybrid_config};
}

static int32_t hybrid__format(uint32_t key) {
    tandem_hybrid_start_t start = with_hybrid();
    return tandem_hybrid_format(&start, key, &hybrid_device, &detail);
}

static int32_t hybrid__mount(void) {
    tandem_hybrid_start_t start = with_hybrid();
    return tandem_hybrid_mount(&start, &hybrid_device, &detail);
}

CALLS(hybrid_, hybrid_device)

static const struct ftl page_store = {_format, _mount, _read, _write, _trim, _maintain, _stop};
static const struct ftl hybrid = {hybrid__format,   hybrid__mount, hybrid__read, hybrid__write,
                                  hybrid__trim, hybrid__maintain, hybrid__stop};

/* One request of the host's. */
static int32_t request(const struct ftl *ftl) {
    uint32_t count = 1 + below(MOST), first = below(CAPACITY - count + 1);
    uint8_t fill = (uint8_t)(1 + below(255));
    uint32_t kind = below(16);
    int32_t outcome;
    if (kind == 0) {
        return ftl->maintain(below(20)) < 0 ? TANDEM_E_DRIVER : TANDEM_OK;
    }
    if (kind == 1) {
        return ftl->stop();
    }
    if (kind == 2) {
        fill = 0;
        outcome = ftl->trim(first, count);
    } else {
        memset(data, fill, count * SECTOR);
        outcome = ftl->write(first, count, data, below(5));
    }
    if (outcome == TANDEM_OK) {
        memset(held + first, fill, count);
    } else {
        open_request.first = first;
        open_request.count = count;
        open_request.fill = fill;
    }
    return outcome;
}

/* Every sector holds what was acknowledged, or what the request in flight was to write. */
static const char *compare(const struct ftl *ftl) {
    for (uint32_t sector = 0; sector < CAPACITY; sector++) {
        if (ftl->read(sector, 1, data) != TANDEM_OK) {
            return "a sector cannot be read";
        }
        uint8_t found = data[0];
        for (uint32_t at = 0; at < SECTOR; at++) {
            if (data[at] != found) {
                return "a sector is a mix";
            }
        }
        int in_flight = sector - open_request.first < open_request.count && found == open_request.fill;
        if (found != held[sector] && !in_flight) {
            return "a sector is not what was acknowledged";
        }
        held[sector] = found;
    }
    open_request.count = 0;
    return 0;
}

/* A life of the device, from one mount to the next. */
static const char *live(const struct ftl *ftl, uint32_t *cuts) {
    chip_cut_after(below(60), dice);
    for (uint32_t requests = 0; requests < 80; requests++) {
        int32_t outcome = request(ftl);
        if (outcome == TANDEM_E_DRIVER) {
            break;
        }
        if (outcome != TANDEM_OK) {
            return tandem_error_text(outcome);
        }
    }
    *cuts += (uint32_t)chip_power_again();
    /* Nothing of the RAM survives. */
    memset(ram, 0xDB, sizeof ram);
    int32_t outcome = ftl->mount();
    return outcome == TANDEM_OK ? compare(ftl) : tandem_error_text(outcome);
}

const char *play_cuts(uint32_t cuts, uint32_t seed) {
    dice = seed;
    chip_table(&nand);
    const struct ftl *ftls[] = {&page_store, &hybrid};
    for (uint32_t turn = 0; turn < 2; turn++) {
        const struct ftl *ftl = ftls[turn];
        memset(held, 0, sizeof held);
        open_request.count = 0;
        int32_t outcome = ftl->format(seed + turn);
        if (outcome != TANDEM_OK) {
            return *detail.what ? detail.what : tandem_error_text(outcome);
        }
        for (uint32_t done = 0; done < cuts / 2;) {
            const char *wrong = live(ftl, &done);
            if (wrong) {
                return wrong;
            }
        }
    }
    return 0;
}
