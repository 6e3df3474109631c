/* The shape of a disk driver in Zephyr 4.4 (include/zephyr/drivers/disk.h): names, types and numbers. */
#ifndef SHAPE_ZEPHYR_DISK_H
#define SHAPE_ZEPHYR_DISK_H

#include <stdint.h>

enum {
    DISK_IOCTL_GET_SECTOR_COUNT = 1,
    DISK_IOCTL_GET_SECTOR_SIZE = 2,
    DISK_IOCTL_GET_ERASE_BLOCK_SZ = 4,
    DISK_IOCTL_CTRL_SYNC = 5,
    DISK_IOCTL_CTRL_INIT = 6,
    DISK_IOCTL_CTRL_DEINIT = 7,
};
enum { DISK_STATUS_OK = 0, DISK_STATUS_UNINIT = 1, DISK_STATUS_NOMEDIA = 2, DISK_STATUS_WR_PROTECT = 4 };

typedef struct sys_dnode {
    struct sys_dnode *next, *prev;
} sys_dnode_t;

struct device;
struct disk_operations;

struct disk_info {
    sys_dnode_t node;
    const char *name;
    const struct disk_operations *ops;
    const struct device *dev;
    uint16_t refcnt;
};

struct disk_operations {
    int (*init)(struct disk_info *disk);
    int (*status)(struct disk_info *disk);
    int (*read)(struct disk_info *disk, uint8_t *data_buf, uint32_t start_sector, uint32_t num_sector);
    int (*write)(struct disk_info *disk, const uint8_t *data_buf, uint32_t start_sector, uint32_t num_sector);
    int (*erase)(struct disk_info *disk, uint32_t start_sector, uint32_t num_sector);
    int (*ioctl)(struct disk_info *disk, uint8_t cmd, void *buff);
};

int disk_access_register(struct disk_info *disk);

#endif
