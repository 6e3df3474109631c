/* The page store as a device of ESP-IDF's block device layer. Not tried on ESP-IDF itself: it is compiled and run against
 * shapes/, which have the declarations of esp_blockdev.h of 2026. Where several tasks use the device, a lock around its
 * calls is yours.
 *
 *     static struct tandem_blockdev memory;
 *     esp_blockdev_handle_t handle;
 *     tandem_start_t start = {ram, sizeof ram, &nand, &config};
 *     ESP_ERROR_CHECK(tandem_blockdev_get(&memory, &start, esp_random(), &handle));
 */
#ifndef TANDEM_ESP_H
#define TANDEM_ESP_H

#include <esp_blockdev.h>

#include "tandem.h"

struct tandem_blockdev {
    esp_blockdev_t device;
    tandem_t *tandem;
};

static inline esp_err_t tandem_blockdev_told(int32_t outcome) {
    switch (outcome) {
    case TANDEM_OK:
        return ESP_OK;
    case TANDEM_E_OUT_OF_RANGE:
        return ESP_ERR_INVALID_ARG;
    case TANDEM_E_READ_ONLY:
        return ESP_ERR_NOT_ALLOWED;
    case TANDEM_E_LOST:
        return ESP_ERR_INVALID_CRC;
    default:
        return ESP_FAIL;
    }
}

/* What is asked of a device: sectors. */
struct tandem_blockdev_sectors {
    tandem_t *tandem;
    uint32_t first, count;
};

/* Bytes as sectors. They must be whole ones of the device. */
static inline esp_err_t tandem_blockdev_sectors(esp_blockdev_handle_t device, uint64_t at, size_t bytes,
                                                struct tandem_blockdev_sectors *sectors) {
    size_t sector = device->geometry.write_size;
    if (at % sector || bytes % sector) {
        return ESP_ERR_INVALID_SIZE;
    }
    if (at > device->geometry.disk_size || bytes > device->geometry.disk_size - at) {
        return ESP_ERR_INVALID_ARG;
    }
    sectors->tandem = ((struct tandem_blockdev *)device->ctx)->tandem;
    sectors->first = (uint32_t)(at / sector);
    sectors->count = (uint32_t)(bytes / sector);
    return ESP_OK;
}

static inline esp_err_t tandem_blockdev_read(esp_blockdev_handle_t device, uint8_t *to, size_t to_bytes, uint64_t at,
                                             size_t bytes) {
    struct tandem_blockdev_sectors what;
    esp_err_t wrong = bytes > to_bytes ? ESP_ERR_INVALID_SIZE : tandem_blockdev_sectors(device, at, bytes, &what);
    return wrong ? wrong : tandem_blockdev_told(tandem_read(what.tandem, what.first, what.count, to));
}

static inline esp_err_t tandem_blockdev_write(esp_blockdev_handle_t device, const uint8_t *from, uint64_t at, size_t bytes) {
    struct tandem_blockdev_sectors what;
    esp_err_t wrong = tandem_blockdev_sectors(device, at, bytes, &what);
    return wrong ? wrong : tandem_blockdev_told(tandem_write(what.tandem, what.first, what.count, from));
}

/* What is erased reads as zeros. */
static inline esp_err_t tandem_blockdev_erase(esp_blockdev_handle_t device, uint64_t at, size_t bytes) {
    struct tandem_blockdev_sectors what;
    esp_err_t wrong = tandem_blockdev_sectors(device, at, bytes, &what);
    return wrong ? wrong : tandem_blockdev_told(tandem_trim(what.tandem, what.first, what.count));
}

static inline esp_err_t tandem_blockdev_sync(esp_blockdev_handle_t device) {
    return tandem_blockdev_told(tandem_flush(((struct tandem_blockdev *)device->ctx)->tandem));
}

static inline esp_err_t tandem_blockdev_ioctl(esp_blockdev_handle_t device, const uint8_t command, void *arguments) {
    const esp_blockdev_cmd_arg_erase_t *range = arguments;
    switch (command) {
    case ESP_BLOCKDEV_CMD_MARK_DELETED:
    case ESP_BLOCKDEV_CMD_ERASE_CONTENTS:
        return range ? tandem_blockdev_erase(device, range->start_addr, range->erase_len) : ESP_ERR_INVALID_ARG;
    default:
        return ESP_ERR_NOT_SUPPORTED;
    }
}

static inline esp_err_t tandem_blockdev_release(esp_blockdev_handle_t device) {
    struct tandem_blockdev *memory = device->ctx;
    int32_t outcome = tandem_stop(memory->tandem);
    tandem_close(memory->tandem);
    return tandem_blockdev_told(outcome);
}

static const esp_blockdev_ops_t tandem_blockdev_operations = {
    .read = tandem_blockdev_read,
    .write = tandem_blockdev_write,
    .erase = tandem_blockdev_erase,
    .sync = tandem_blockdev_sync,
    .ioctl = tandem_blockdev_ioctl,
    .release = tandem_blockdev_release,
};

/* Mounts, or formats with that random number what is not formatted. */
static inline esp_err_t tandem_blockdev_get(struct tandem_blockdev *memory, const tandem_start_t *start, uint32_t key,
                                            esp_blockdev_handle_t *handle) {
    int32_t outcome = tandem_mount(start, &memory->tandem, NULL);
    if (outcome == TANDEM_E_NOT_FORMATTED) {
        outcome = tandem_format(start, key, &memory->tandem, NULL);
    }
    if (outcome) {
        *handle = ESP_BLOCKDEV_HANDLE_INVALID;
        return tandem_blockdev_told(outcome);
    }
    size_t sector = tandem_sector_bytes(memory->tandem);
    memory->device = (esp_blockdev_t){
        .ctx = memory,
        /* All flags are zero: any sector may be written at any time, and what is erased reads as zeros. */
        .geometry = {.disk_size = (uint64_t)sector * tandem_capacity(memory->tandem),
                     .read_size = sector,
                     .write_size = sector,
                     .erase_size = sector},
        .ops = &tandem_blockdev_operations,
    };
    *handle = &memory->device;
    return ESP_OK;
}

#endif
