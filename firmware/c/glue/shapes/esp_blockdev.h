/* The shape of a device of ESP-IDF's block device layer (components/esp_blockdev): names, types and numbers. */
#ifndef SHAPE_ESP_BLOCKDEV_H
#define SHAPE_ESP_BLOCKDEV_H

#include <stddef.h>
#include <stdint.h>

/* esp_err.h */
typedef int esp_err_t;
enum {
    ESP_OK = 0,
    ESP_FAIL = -1,
    ESP_ERR_INVALID_ARG = 0x102,
    ESP_ERR_INVALID_SIZE = 0x104,
    ESP_ERR_NOT_SUPPORTED = 0x106,
    ESP_ERR_INVALID_CRC = 0x109,
    ESP_ERR_NOT_ALLOWED = 0x10D,
};

enum { ESP_BLOCKDEV_CMD_MARK_DELETED = 0, ESP_BLOCKDEV_CMD_ERASE_CONTENTS = 1 };

typedef struct {
    uint64_t start_addr;
    size_t erase_len;
} esp_blockdev_cmd_arg_erase_t;

typedef union esp_blockdev_flags {
    struct {
        uint32_t read_only : 1;
        uint32_t encrypted : 1;
        uint32_t erase_before_write : 1;
        uint32_t and_type_write : 1;
        uint32_t default_val_after_erase : 1;
        uint32_t reserved : 27;
    };
    uint32_t val;
} esp_blockdev_flags_t;

typedef struct {
    uint64_t disk_size;
    size_t read_size;
    size_t write_size;
    size_t erase_size;
    size_t recommended_write_size;
    size_t recommended_read_size;
    size_t recommended_erase_size;
} esp_blockdev_geometry_t;

typedef struct esp_blockdev esp_blockdev_t;
typedef esp_blockdev_t *esp_blockdev_handle_t;
#define ESP_BLOCKDEV_HANDLE_INVALID NULL

typedef struct {
    esp_err_t (*read)(esp_blockdev_handle_t dev_handle, uint8_t *dst_buf, size_t dst_buf_size, uint64_t src_addr,
                      size_t data_read_len);
    esp_err_t (*write)(esp_blockdev_handle_t dev_handle, const uint8_t *src_buf, uint64_t dst_addr, size_t data_write_len);
    esp_err_t (*erase)(esp_blockdev_handle_t dev_handle, uint64_t start_addr, size_t erase_len);
    esp_err_t (*sync)(esp_blockdev_handle_t dev_handle);
    esp_err_t (*ioctl)(esp_blockdev_handle_t dev_handle, const uint8_t cmd, void *args);
    esp_err_t (*release)(esp_blockdev_handle_t dev_handle);
} esp_blockdev_ops_t;

struct esp_blockdev {
    void *ctx;
    esp_blockdev_flags_t device_flags;
    esp_blockdev_geometry_t geometry;
    const esp_blockdev_ops_t *ops;
};

#endif
