/* The page store behind the calls that users of Dhara (github.com/dlbeer/dhara) make: include this file instead of
 * dhara/map.h, in one source file or in many. docs/C.md, "For those who have Dhara", says what differs.
 *
 * Of the driver, is_bad, mark_bad and erase stay as they are. Two functions are new, because Dhara's program and read have
 * no spare bytes, and the page store keeps its tags there. dhara_nand_prog, _read, _is_free and _copy are not called.
 */
#ifndef TANDEM_DHARA_H
#define TANDEM_DHARA_H

#include <string.h>

#include "tandem.h"

typedef uint32_t dhara_page_t;
typedef uint32_t dhara_block_t;
typedef uint32_t dhara_sector_t;

typedef enum {
    DHARA_E_NONE = 0,
    DHARA_E_BAD_BLOCK,
    DHARA_E_ECC,
    DHARA_E_TOO_BAD,
    DHARA_E_RECOVER,
    DHARA_E_JOURNAL_FULL,
    DHARA_E_NOT_FOUND,
    DHARA_E_MAP_FULL,
    DHARA_E_CORRUPT_MAP,
    DHARA_E_MAX
} dhara_error_t;

struct dhara_nand {
    uint8_t log2_page_size;
    uint8_t log2_ppb;
    unsigned int num_blocks;
};

int dhara_nand_is_bad(const struct dhara_nand *n, dhara_block_t b);
void dhara_nand_mark_bad(const struct dhara_nand *n, dhara_block_t b);
int dhara_nand_erase(const struct dhara_nand *n, dhara_block_t b, dhara_error_t *err);

/* New: programs a page and its first TANDEM_DHARA_SPARE free, corrected spare bytes in one operation. Returns 0, or -1 with
 * DHARA_E_BAD_BLOCK if the chip says that it failed. */
int dhara_nand_prog_spare(const struct dhara_nand *n, dhara_page_t p, const uint8_t *data, const uint8_t *spare,
                          dhara_error_t *err);
/* New: reads a part of a page and its first spare bytes; either may be of no length. Returns 0, or -1 with DHARA_E_ECC.
 * An erased page reads as 0xFF. */
int dhara_nand_read_spare(const struct dhara_nand *n, dhara_page_t p, size_t offset, size_t length, uint8_t *data,
                          size_t spare_length, uint8_t *spare, dhara_error_t *err);

#define TANDEM_DHARA_SPARE 16

struct dhara_map {
    const struct dhara_nand *nand;
    uint8_t *ram;
    tandem_nand_t table;
    tandem_config_t config;
    tandem_t *device;
    size_t ram_bytes;
    /* What the last call of the page store returned: more exact than a dhara_error_t. */
    int32_t error;
    /* Of the next format: set a random number before dhara_map_resume. */
    uint32_t key;
};

static inline int32_t tandem_dhara_outcome(int outcome, dhara_error_t err, dhara_error_t failed, int32_t code) {
    if (outcome == 0) {
        return 0;
    }
    return err == failed ? code : -1;
}

static inline int32_t tandem_dhara_read(void *context, const tandem_page_read_t *what) {
    const struct dhara_nand *n = (const struct dhara_nand *)context;
    dhara_error_t err = DHARA_E_NONE;
    int outcome = dhara_nand_read_spare(n, (what->block << n->log2_ppb) + what->page, what->at, what->data_bytes,
                                        (uint8_t *)what->data, what->spare_bytes, (uint8_t *)what->spare, &err);
    return tandem_dhara_outcome(outcome, err, DHARA_E_ECC, TANDEM_NAND_UNCORRECTABLE);
}

static inline int32_t tandem_dhara_program(void *context, const tandem_page_program_t *what) {
    const struct dhara_nand *n = (const struct dhara_nand *)context;
    dhara_error_t err = DHARA_E_NONE;
    int outcome = dhara_nand_prog_spare(n, (what->block << n->log2_ppb) + what->page, (const uint8_t *)what->data,
                                        (const uint8_t *)what->spare, &err);
    return tandem_dhara_outcome(outcome, err, DHARA_E_BAD_BLOCK, TANDEM_NAND_FAILED);
}

static inline int32_t tandem_dhara_erase(void *context, uint32_t block) {
    dhara_error_t err = DHARA_E_NONE;
    int outcome = dhara_nand_erase((const struct dhara_nand *)context, block, &err);
    return tandem_dhara_outcome(outcome, err, DHARA_E_BAD_BLOCK, TANDEM_NAND_FAILED);
}

static inline int32_t tandem_dhara_is_bad(void *context, uint32_t block) {
    return dhara_nand_is_bad((const struct dhara_nand *)context, block) != 0;
}

static inline int32_t tandem_dhara_mark_bad(void *context, uint32_t block) {
    dhara_nand_mark_bad((const struct dhara_nand *)context, block);
    return 0;
}

/* Tells Dhara's error for ours. */
static inline int tandem_dhara_done(struct dhara_map *m, int32_t outcome, dhara_error_t *err) {
    dhara_error_t told = DHARA_E_CORRUPT_MAP;
    m->error = outcome;
    if (outcome >= 0) {
        return 0;
    }
    switch (outcome) {
    case TANDEM_E_LOST:
        told = DHARA_E_ECC;
        break;
    case TANDEM_E_READ_ONLY:
    case TANDEM_E_WORN_OUT:
    case TANDEM_E_NOT_FORMATTED:
        told = DHARA_E_TOO_BAD;
        break;
    case TANDEM_E_OUT_OF_RANGE:
    case TANDEM_E_MISFIT:
        told = DHARA_E_MAP_FULL;
        break;
    default:
        break;
    }
    if (err) {
        *err = told;
    }
    return -1;
}

/* Plans the device. page_buf is its RAM now, aligned to 8, of dhara_map_ram_bytes. The garbage collection ratio decides the
 * capacity, as it does with Dhara; collection itself goes as fast as it must. */
static inline void dhara_map_init(struct dhara_map *m, const struct dhara_nand *n, uint8_t *page_buf, uint8_t gc_ratio) {
    uint32_t ratio = gc_ratio ? gc_ratio : 1, kept = n->num_blocks / 32 + 10;
    memset(m, 0, sizeof *m);
    m->nand = n;
    m->ram = page_buf;
    m->key = 1;
    m->table.context = (void *)(uintptr_t)n;
    m->table.read = tandem_dhara_read;
    m->table.program = tandem_dhara_program;
    m->table.erase = tandem_dhara_erase;
    m->table.is_bad = tandem_dhara_is_bad;
    m->table.mark_bad = tandem_dhara_mark_bad;
    m->table.geometry.slc.blocks = n->num_blocks;
    m->table.geometry.slc.pages_per_block = (uint32_t)1 << n->log2_ppb;
    m->table.geometry.slc.page_bytes = (uint32_t)1 << n->log2_page_size;
    m->table.geometry.slc.spare_bytes = TANDEM_DHARA_SPARE;
    m->table.geometry.slc.cell_bits = 1;
    tandem_config_small(&m->config);
    m->config.sector_bytes = (uint32_t)1 << n->log2_page_size;
    m->config.capacity = n->num_blocks > kept
        ? (uint32_t)((uint64_t)((n->num_blocks - kept) << n->log2_ppb) * ratio / (ratio + 1)) : 0;
    m->config.dirty_entries = (uint32_t)3 << n->log2_ppb;
    m->config.cached_leaves = 2;
    m->config.anchor_blocks = n->num_blocks >= 256 ? 5 : 0;
    m->error = tandem_ram_bytes(&m->table.geometry, &m->config, &m->ram_bytes, 0);
}

/* How many bytes page_buf must have: the device's RAM, and a page for copies. 0 if the chip is too small. */
static inline size_t dhara_map_ram_bytes(const struct dhara_nand *n, uint8_t gc_ratio) {
    struct dhara_map m;
    dhara_map_init(&m, n, 0, gc_ratio);
    return m.error == TANDEM_OK ? m.ram_bytes + ((size_t)1 << n->log2_page_size) : 0;
}

/* Mounts. As with Dhara, -1 and an empty map if nothing is on the chip. Unlike Dhara, -1 and no map at all if something is
 * on it that cannot be mounted: every call then fails, and nothing is overwritten. m->error says which it was. */
static inline int dhara_map_resume(struct dhara_map *m, dhara_error_t *err) {
    tandem_start_t with;
    with.ram = m->ram;
    with.ram_bytes = m->ram_bytes;
    with.nand = &m->table;
    with.config = &m->config;
    int32_t outcome = tandem_mount(&with, &m->device, 0);
    int result = tandem_dhara_done(m, outcome, err);
    if (outcome == TANDEM_E_NOT_FORMATTED) {
        int32_t formatted = tandem_format(&with, m->key, &m->device, 0);
        if (formatted != TANDEM_OK) {
            tandem_dhara_done(m, formatted, err);
        }
    }
    return result;
}

static inline dhara_sector_t dhara_map_capacity(const struct dhara_map *m) {
    return m->config.capacity;
}

/* Sectors in use are not counted: this is the capacity, so that nobody takes a device for emptier than it is. */
static inline dhara_sector_t dhara_map_size(const struct dhara_map *m) {
    return m->config.capacity;
}

static inline int dhara_map_read(struct dhara_map *m, dhara_sector_t s, uint8_t *data, dhara_error_t *err) {
    return tandem_dhara_done(m, tandem_read(m->device, s, 1, data), err);
}

static inline int dhara_map_write(struct dhara_map *m, dhara_sector_t s, const uint8_t *data, dhara_error_t *err) {
    return tandem_dhara_done(m, tandem_write(m->device, s, 1, data), err);
}

static inline int dhara_map_copy_sector(struct dhara_map *m, dhara_sector_t src, dhara_sector_t dst, dhara_error_t *err) {
    uint8_t *page = m->ram + m->ram_bytes;
    int32_t outcome = tandem_read(m->device, src, 1, page);
    return tandem_dhara_done(m, outcome < 0 ? outcome : tandem_write(m->device, dst, 1, page), err);
}

static inline int dhara_map_trim(struct dhara_map *m, dhara_sector_t s, int order, dhara_error_t *err) {
    uint32_t capacity = m->config.capacity, count = 1;
    if (order > 0) {
        count = order < 31 ? (uint32_t)1 << order : (uint32_t)1 << 31;
        s &= ~(count - 1);
    }
    if (s < capacity && count > capacity - s) {
        count = capacity - s;
    }
    return tandem_dhara_done(m, tandem_trim(m->device, s, count), err);
}

static inline void dhara_map_clear(struct dhara_map *m) {
    tandem_dhara_done(m, tandem_trim(m->device, 0, m->config.capacity), 0);
}

/* Every write is durable already. */
static inline int dhara_map_sync(struct dhara_map *m, dhara_error_t *err) {
    return tandem_dhara_done(m, tandem_flush(m->device), err);
}

static inline int dhara_map_gc(struct dhara_map *m, dhara_error_t *err) {
    return tandem_dhara_done(m, tandem_maintain(m->device, 1), err);
}

#endif
