#include "ftl.h"

#include <string.h>

#include "chip.h"

/* The RAM of the device, of whichever FTL: both need less. */
static uint8_t ram[16 * 1024] TANDEM_ALIGNED;

static tandem_nand_t nand;
static tandem_detail_t detail;

/* Nothing of the RAM survives. */
static void forget(void) {
    memset(ram, 0xDB, sizeof ram);
    chip_table(&nand);
}

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
    static int32_t ftl##_flush(void) { return tandem_##ftl##flush(device); }                       \
    static int32_t ftl##_stop(void) { return tandem_##ftl##stop(device); }

static tandem_t *device;
static tandem_config_t config;

static tandem_start_t with(void) {
    forget();
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
    forget();
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

const struct ftl page_store = {
    _format, _mount, _read, _write, _trim, _flush, _maintain, _stop,
};
const struct ftl hybrid = {
    hybrid__format, hybrid__mount, hybrid__read,     hybrid__write,
    hybrid__trim,   hybrid__flush, hybrid__maintain, hybrid__stop,
};

const char *ftl_detail(void) {
    return detail.what ? detail.what : "";
}
