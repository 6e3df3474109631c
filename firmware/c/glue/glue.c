/* The glue for Zephyr and ESP-IDF, called as these would call it, with power cuts. On the host, against shapes/. */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "chip.h"
#include "tandem_esp.h"
#include "tandem_zephyr.h"

enum { SECTOR = 512, CAPACITY = 96, ROUNDS = 2000 };

static uint8_t ram[16 * 1024] TANDEM_ALIGNED;
static tandem_nand_t nand;
static tandem_config_t config;
static uint8_t held[CAPACITY], data[2 * SECTOR];

static tandem_start_t start(void) {
    chip_table(&nand);
    tandem_config_small(&config);
    config.sector_bytes = SECTOR;
    config.capacity = CAPACITY;
    config.dirty_entries = 40;
    config.anchor_blocks = 0;
    return (tandem_start_t){.ram = ram, .ram_bytes = sizeof ram, .nand = &nand, .config = &config};
}

static struct disk_info *registered;

int disk_access_register(struct disk_info *disk) {
    registered = disk;
    return 0;
}

static void is_filled(uint8_t fill) {
    for (uint32_t at = 0; at < SECTOR; at++) {
        assert(data[at] == fill);
    }
}

static void on_zephyr(void) {
    struct tandem_disk disk = {.start = start(), .key = 1};
    uint32_t number = 0, cuts = 0;
    assert(tandem_disk_register(&disk, "NAND") == 0 && strcmp(registered->name, "NAND") == 0);
    const struct disk_operations *ops = registered->ops;
    assert(ops->status(registered) == DISK_STATUS_UNINIT && ops->read(registered, data, 0, 1) == -EIO);
    assert(ops->ioctl(registered, DISK_IOCTL_GET_SECTOR_COUNT, &number) == -EIO);
    assert(ops->init(registered) == 0 && ops->init(registered) == 0 && ops->status(registered) == DISK_STATUS_OK);
    assert(ops->ioctl(registered, DISK_IOCTL_GET_SECTOR_COUNT, &number) == 0 && number == CAPACITY);
    assert(ops->ioctl(registered, DISK_IOCTL_GET_SECTOR_SIZE, &number) == 0 && number == SECTOR);
    assert(ops->ioctl(registered, DISK_IOCTL_GET_ERASE_BLOCK_SZ, &number) == 0 && number == 1);
    assert(ops->ioctl(registered, 99, &number) == -EINVAL && ops->read(registered, data, CAPACITY, 1) == -EINVAL);
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        uint32_t sector = round * 7919 % CAPACITY;
        if (round % 20 == 0) {
            chip_cut_after(round % 7, round);
        }
        memset(data, (int)round, SECTOR);
        if (ops->write(registered, data, sector, 1) == 0) {
            held[sector] = (uint8_t)round;
            continue;
        }
        assert(ops->status(registered) == DISK_STATUS_UNINIT && chip_power_again());
        cuts++;
        assert(ops->ioctl(registered, DISK_IOCTL_CTRL_INIT, 0) == 0 && ops->read(registered, data, sector, 1) == 0);
        assert(data[0] == held[sector] || data[0] == (uint8_t)round);
        held[sector] = data[0];
    }
    chip_power_again();
    assert(cuts > 50 && ops->erase(registered, 5, 2) == 0 && ops->ioctl(registered, DISK_IOCTL_CTRL_SYNC, 0) == 0);
    held[5] = held[6] = 0;
    assert(ops->ioctl(registered, DISK_IOCTL_CTRL_DEINIT, 0) == 0 && ops->status(registered) == DISK_STATUS_UNINIT);
    assert(ops->init(registered) == 0);
    for (uint32_t sector = 0; sector < CAPACITY; sector++) {
        assert(ops->read(registered, data, sector, 1) == 0);
        is_filled(held[sector]);
    }
    assert(ops->ioctl(registered, DISK_IOCTL_CTRL_DEINIT, 0) == 0);
    printf("a disk of Zephyr's: %u writes, %u power cuts\n", ROUNDS, (unsigned)cuts);
}

/* On the same chip, which the disk before has formatted and written. */
static void on_esp(void) {
    struct tandem_blockdev memory;
    tandem_start_t from = start();
    esp_blockdev_handle_t device;
    assert(tandem_blockdev_get(&memory, &from, 2, &device) == ESP_OK);
    const esp_blockdev_ops_t *ops = device->ops;
    assert(device->geometry.disk_size == CAPACITY * SECTOR && device->geometry.erase_size == SECTOR);
    for (uint32_t sector = 0; sector < CAPACITY; sector++) {
        assert(ops->read(device, data, sizeof data, sector * SECTOR, SECTOR) == ESP_OK);
        is_filled(held[sector]);
    }
    memset(data, 0x5A, sizeof data);
    assert(ops->write(device, data, 10 * SECTOR, 2 * SECTOR) == ESP_OK && ops->sync(device) == ESP_OK);
    esp_blockdev_cmd_arg_erase_t range = {.start_addr = 11 * SECTOR, .erase_len = SECTOR};
    assert(ops->ioctl(device, ESP_BLOCKDEV_CMD_MARK_DELETED, &range) == ESP_OK);
    assert(ops->erase(device, 20 * SECTOR, SECTOR) == ESP_OK);
    /* Half a sector, past the end, into too small a buffer, and what nobody knows. */
    assert(ops->write(device, data, 10 * SECTOR + 1, SECTOR) == ESP_ERR_INVALID_SIZE);
    assert(ops->write(device, data, (CAPACITY - 1) * SECTOR, 2 * SECTOR) == ESP_ERR_INVALID_ARG);
    assert(ops->write(device, data, UINT64_MAX - SECTOR + 1, SECTOR) == ESP_ERR_INVALID_ARG);
    assert(ops->read(device, data, SECTOR, 0, 2 * SECTOR) == ESP_ERR_INVALID_SIZE);
    assert(ops->ioctl(device, 0x80, 0) == ESP_ERR_NOT_SUPPORTED);
    assert(ops->ioctl(device, ESP_BLOCKDEV_CMD_ERASE_CONTENTS, 0) == ESP_ERR_INVALID_ARG);
    chip_cut_after(0, 0);
    assert(ops->write(device, data, 0, SECTOR) == ESP_FAIL && chip_power_again());
    assert(tandem_blockdev_get(&memory, &from, 3, &device) == ESP_OK);
    assert(ops->read(device, data, sizeof data, 10 * SECTOR, 2 * SECTOR) == ESP_OK);
    is_filled(0x5A);
    memmove(data, data + SECTOR, SECTOR);
    is_filled(0);
    assert(ops->release(device) == ESP_OK);
    puts("a block device of ESP-IDF's: written, erased, cut off from power, mounted again");
}

int main(void) {
    on_zephyr();
    on_esp();
    puts("PASSED");
    return 0;
}
