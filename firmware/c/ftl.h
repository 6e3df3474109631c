/* Either FTL by its calls, so that one host can be played with both: on a chip of chip.h. */
#ifndef FTL_H
#define FTL_H

#include "tandem.h"

enum { SECTOR = 512, CAPACITY = 96 };

struct ftl {
    /* These two forget all that is in RAM first. */
    int32_t (*format)(uint32_t key);
    int32_t (*mount)(void);
    int32_t (*read)(uint32_t first, uint32_t count, void *to);
    int32_t (*write)(uint32_t first, uint32_t count, const void *from, uint32_t life);
    int32_t (*trim)(uint32_t first, uint32_t count);
    int32_t (*flush)(void);
    int32_t (*maintain)(uint32_t pages);
    int32_t (*stop)(void);
};

extern const struct ftl page_store, hybrid;

/* Why the last format or mount failed, as far as it said more. */
const char *ftl_detail(void);

#endif
