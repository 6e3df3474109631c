/* A program of Dhara's users, over tandem_dhara.h: written, cut off from power, resumed, compared. On the host. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "chip.h"
#include "tandem_dhara.h"

enum { PAGE = 512, ROUNDS = 2000 };

static tandem_nand_t below;

int dhara_nand_is_bad(const struct dhara_nand *n, dhara_block_t b) {
    (void)n;
    return below.is_bad(below.context, b);
}

void dhara_nand_mark_bad(const struct dhara_nand *n, dhara_block_t b) {
    (void)n;
    below.mark_bad(below.context, b);
}

static int told(int32_t outcome, dhara_error_t why, dhara_error_t *err) {
    *err = outcome == TANDEM_NAND_UNCORRECTABLE || outcome == TANDEM_NAND_FAILED ? why : DHARA_E_MAX;
    return outcome < 0 ? -1 : 0;
}

int dhara_nand_erase(const struct dhara_nand *n, dhara_block_t b, dhara_error_t *err) {
    (void)n;
    return told(below.erase(below.context, b), DHARA_E_BAD_BLOCK, err);
}

int dhara_nand_prog_spare(const struct dhara_nand *n, dhara_page_t p, const uint8_t *data, const uint8_t *spare,
                          dhara_error_t *err) {
    tandem_page_program_t what = {
        .block = p >> n->log2_ppb, .page = p & ((1u << n->log2_ppb) - 1), .data = data, .spare = spare};
    return told(below.program(below.context, &what), DHARA_E_BAD_BLOCK, err);
}

int dhara_nand_read_spare(const struct dhara_nand *n, dhara_page_t p, size_t offset, size_t length, uint8_t *data,
                          size_t spare_length, uint8_t *spare, dhara_error_t *err) {
    tandem_page_read_t what = {.block = p >> n->log2_ppb,
                               .page = p & ((1u << n->log2_ppb) - 1),
                               .at = (uint32_t)offset,
                               .data_bytes = (uint32_t)length,
                               .data = data,
                               .spare_bytes = (uint32_t)spare_length,
                               .spare = spare};
    return told(below.read(below.context, &what), DHARA_E_ECC, err);
}

int main(void) {
    static const struct dhara_nand nand = {.log2_page_size = 9, .log2_ppb = 4, .num_blocks = 32};
    static uint8_t data[PAGE], held[512];
    struct dhara_map map;
    dhara_error_t err = DHARA_E_NONE;
    chip_table(&below);
    size_t bytes = dhara_map_ram_bytes(&nand, 4);
    assert(bytes > 0);
    uint8_t *ram = aligned_alloc(8, (bytes + 7) / 8 * 8);
    dhara_map_init(&map, &nand, ram, 4);
    assert(dhara_map_resume(&map, &err) == -1 && map.error == TANDEM_E_NOT_FORMATTED);
    uint32_t capacity = dhara_map_capacity(&map), cuts = 0;
    assert(capacity > 100 && capacity <= sizeof held);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint32_t sector = round * 7919 % capacity;
        if (round % 20 == 0) {
            chip_cut_after(round % 7, round);
        }
        memset(data, (int)round, PAGE);
        if (dhara_map_write(&map, sector, data, &err) == 0) {
            held[sector] = (uint8_t)round;
        } else {
            cuts += (uint32_t)chip_power_again();
            dhara_map_init(&map, &nand, ram, 4);
            assert(dhara_map_resume(&map, &err) == 0);
            assert(dhara_map_read(&map, sector, data, &err) == 0);
            assert(data[0] == held[sector] || data[0] == (uint8_t)round);
            held[sector] = data[0];
        }
        assert(dhara_map_gc(&map, &err) == 0 || chip_power_again());
        if (map.error == TANDEM_E_DRIVER) {
            cuts++;
            assert(dhara_map_resume(&map, &err) == 0);
        }
    }
    chip_power_again();
    assert(dhara_map_resume(&map, &err) == 0 && dhara_map_sync(&map, &err) == 0);
    for (uint32_t sector = 0; sector < capacity; sector++) {
        assert(dhara_map_read(&map, sector, data, &err) == 0 && data[0] == held[sector]);
    }
    assert(dhara_map_copy_sector(&map, 3, 4, &err) == 0 && dhara_map_trim(&map, 8, 2, &err) == 0);
    assert(dhara_map_read(&map, 4, data, &err) == 0 && data[0] == held[3]);
    assert(dhara_map_read(&map, 11, data, &err) == 0 && data[0] == 0);
    assert(dhara_map_read(&map, capacity, data, &err) == -1 && err == DHARA_E_MAP_FULL);
    dhara_map_clear(&map);
    assert(dhara_map_read(&map, 4, data, &err) == 0 && data[0] == 0);
    free(ram);
    printf("a program for Dhara: %u writes, %u power cuts\nPASSED\n", ROUNDS, (unsigned)cuts);
    return 0;
}
