/* The page store as a disk of Zephyr's: FAT, ext2 and USB mass storage go on top of it. Not tried on Zephyr itself: it is
 * compiled and run against shapes/, which have the declarations of Zephyr 4.4. Older ones have no erase: leave that line
 * out.
 *
 *     static struct tandem_disk disk = {.start = {ram, sizeof ram, &nand, &config}, .key = ...};
 *     tandem_disk_register(&disk, "NAND");
 */
#ifndef TANDEM_ZEPHYR_H
#define TANDEM_ZEPHYR_H

#include <errno.h>
#include <zephyr/drivers/disk.h>
#include <zephyr/kernel.h>

#include "tandem.h"

struct tandem_disk {
    /* First, so that it is found by it. */
    struct disk_info info;
    /* Yours: RAM, driver and configuration, and a random number for a format. */
    tandem_start_t start;
    uint32_t key;
    struct k_mutex lock;
    tandem_t *device;
};

static inline struct tandem_disk *tandem_disk_of(struct disk_info *info) {
    return (struct tandem_disk *)info;
}

/* Ends a call: unlocks, and tells Zephyr's error. A device that must be mounted again is none until the next init. */
static inline int tandem_disk_end(struct tandem_disk *disk, int32_t outcome) {
    if (outcome == TANDEM_E_DRIVER || outcome == TANDEM_E_CORRUPT) {
        tandem_close(disk->device);
        disk->device = NULL;
    }
    k_mutex_unlock(&disk->lock);
    switch (outcome) {
    case TANDEM_OK:
        return 0;
    case TANDEM_E_OUT_OF_RANGE:
        return -EINVAL;
    case TANDEM_E_READ_ONLY:
        return -EROFS;
    default:
        return -EIO;
    }
}

static inline int tandem_disk_init(struct disk_info *info) {
    struct tandem_disk *disk = tandem_disk_of(info);
    int32_t outcome = TANDEM_OK;
    k_mutex_lock(&disk->lock, K_FOREVER);
    if (!disk->device) {
        outcome = tandem_mount(&disk->start, &disk->device, NULL);
        /* After any other error there may still be data. */
        if (outcome == TANDEM_E_NOT_FORMATTED) {
            outcome = tandem_format(&disk->start, disk->key, &disk->device, NULL);
        }
    }
    return tandem_disk_end(disk, outcome);
}

static inline int tandem_disk_status(struct disk_info *info) {
    struct tandem_disk *disk = tandem_disk_of(info);
    tandem_health_t health;
    k_mutex_lock(&disk->lock, K_FOREVER);
    int32_t outcome = tandem_health(disk->device, &health);
    k_mutex_unlock(&disk->lock);
    return outcome ? DISK_STATUS_UNINIT : health.read_only ? DISK_STATUS_WR_PROTECT : DISK_STATUS_OK;
}

static inline int tandem_disk_read(struct disk_info *info, uint8_t *data, uint32_t first, uint32_t count) {
    struct tandem_disk *disk = tandem_disk_of(info);
    k_mutex_lock(&disk->lock, K_FOREVER);
    return tandem_disk_end(disk, tandem_read(disk->device, first, count, data));
}

static inline int tandem_disk_write(struct disk_info *info, const uint8_t *data, uint32_t first, uint32_t count) {
    struct tandem_disk *disk = tandem_disk_of(info);
    k_mutex_lock(&disk->lock, K_FOREVER);
    return tandem_disk_end(disk, tandem_write(disk->device, first, count, data));
}

static inline int tandem_disk_erase(struct disk_info *info, uint32_t first, uint32_t count) {
    struct tandem_disk *disk = tandem_disk_of(info);
    k_mutex_lock(&disk->lock, K_FOREVER);
    return tandem_disk_end(disk, tandem_trim(disk->device, first, count));
}

static inline int tandem_disk_leave(struct tandem_disk *disk) {
    int32_t outcome = tandem_stop(disk->device);
    tandem_close(disk->device);
    disk->device = NULL;
    return outcome;
}

static inline int tandem_disk_ioctl(struct disk_info *info, uint8_t command, void *buffer) {
    struct tandem_disk *disk = tandem_disk_of(info);
    if (command == DISK_IOCTL_CTRL_INIT) {
        return tandem_disk_init(info);
    }
    k_mutex_lock(&disk->lock, K_FOREVER);
    int32_t outcome = disk->device ? TANDEM_OK : TANDEM_E_NOT_A_DEVICE;
    switch (outcome ? 0 : command) {
    case DISK_IOCTL_GET_SECTOR_COUNT:
        *(uint32_t *)buffer = tandem_capacity(disk->device);
        break;
    case DISK_IOCTL_GET_SECTOR_SIZE:
        *(uint32_t *)buffer = tandem_sector_bytes(disk->device);
        break;
    case DISK_IOCTL_GET_ERASE_BLOCK_SZ:
        /* Any sector may be written at any time. */
        *(uint32_t *)buffer = 1;
        break;
    case DISK_IOCTL_CTRL_SYNC:
        outcome = tandem_flush(disk->device);
        break;
    case DISK_IOCTL_CTRL_DEINIT:
        outcome = tandem_disk_leave(disk);
        break;
    default:
        outcome = outcome ? outcome : TANDEM_E_OUT_OF_RANGE;
    }
    return tandem_disk_end(disk, outcome);
}

static const struct disk_operations tandem_disk_operations = {
    .init = tandem_disk_init,
    .status = tandem_disk_status,
    .read = tandem_disk_read,
    .write = tandem_disk_write,
    .erase = tandem_disk_erase,
    .ioctl = tandem_disk_ioctl,
};

static inline int tandem_disk_register(struct tandem_disk *disk, const char *name) {
    k_mutex_init(&disk->lock);
    disk->info.name = name;
    disk->info.ops = &tandem_disk_operations;
    return disk_access_register(&disk->info);
}

#endif
