/* The shape of what tandem_zephyr.h uses of Zephyr's kernel: a mutex that knows whether it is held. */
#ifndef SHAPE_ZEPHYR_KERNEL_H
#define SHAPE_ZEPHYR_KERNEL_H

#include <assert.h>

typedef struct {
    int forever;
} k_timeout_t;
#define K_FOREVER ((k_timeout_t){1})

struct k_mutex {
    int held;
};

static inline int k_mutex_init(struct k_mutex *mutex) {
    mutex->held = 0;
    return 0;
}

static inline int k_mutex_lock(struct k_mutex *mutex, k_timeout_t timeout) {
    assert(timeout.forever && !mutex->held);
    mutex->held = 1;
    return 0;
}

static inline int k_mutex_unlock(struct k_mutex *mutex) {
    assert(mutex->held);
    mutex->held = 0;
    return 0;
}

#endif
