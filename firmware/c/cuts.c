#include "cuts.h"

#include <string.h>

#include "chip.h"
#include "ftl.h"

enum { MOST = 3 };

/* What each sector holds, all bytes of it the same; and the request in flight when power failed. */
static uint8_t held[CAPACITY];
static struct {
    uint32_t first, count;
    uint8_t fill;
} open_request;

static uint8_t data[MOST * SECTOR];
static uint32_t dice;

static uint32_t below(uint32_t limit) {
    dice ^= dice << 13;
    dice ^= dice >> 17;
    dice ^= dice << 5;
    return dice % limit;
}

/* One request of the host's. */
static int32_t request(const struct ftl *ftl) {
    uint32_t count = 1 + below(MOST), first = below(CAPACITY - count + 1);
    uint8_t fill = (uint8_t)(1 + below(255));
    uint32_t kind = below(16);
    int32_t outcome;
    if (kind == 0) {
        return ftl->maintain(below(20)) < 0 ? TANDEM_E_DRIVER : TANDEM_OK;
    }
    if (kind == 1) {
        return ftl->stop();
    }
    if (kind == 2) {
        fill = 0;
        outcome = ftl->trim(first, count);
    } else {
        memset(data, fill, count * SECTOR);
        outcome = ftl->write(first, count, data, below(5));
    }
    if (outcome == TANDEM_OK) {
        memset(held + first, fill, count);
    } else {
        open_request.first = first;
        open_request.count = count;
        open_request.fill = fill;
    }
    return outcome;
}

/* Every sector holds what was acknowledged, or what the request in flight was to write. */
static const char *compare(const struct ftl *ftl) {
    for (uint32_t sector = 0; sector < CAPACITY; sector++) {
        if (ftl->read(sector, 1, data) != TANDEM_OK) {
            return "a sector cannot be read";
        }
        uint8_t found = data[0];
        for (uint32_t at = 0; at < SECTOR; at++) {
            if (data[at] != found) {
                return "a sector is a mix";
            }
        }
        int in_flight = sector - open_request.first < open_request.count && found == open_request.fill;
        if (found != held[sector] && !in_flight) {
            return "a sector is not what was acknowledged";
        }
        held[sector] = found;
    }
    open_request.count = 0;
    return 0;
}

/* A life of the device, from one mount to the next. */
static const char *live(const struct ftl *ftl, uint32_t *cuts) {
    chip_cut_after(below(60), dice);
    for (uint32_t requests = 0; requests < 80; requests++) {
        int32_t outcome = request(ftl);
        if (outcome == TANDEM_E_DRIVER) {
            break;
        }
        if (outcome != TANDEM_OK) {
            return tandem_error_text(outcome);
        }
    }
    *cuts += (uint32_t)chip_power_again();
    int32_t outcome = ftl->mount();
    return outcome == TANDEM_OK ? compare(ftl) : tandem_error_text(outcome);
}

const char *play_cuts(uint32_t cuts, uint32_t seed) {
    dice = seed;
    const struct ftl *ftls[] = {&page_store, &hybrid};
    for (uint32_t turn = 0; turn < 2; turn++) {
        const struct ftl *ftl = ftls[turn];
        memset(held, 0, sizeof held);
        open_request.count = 0;
        int32_t outcome = ftl->format(seed + turn);
        if (outcome != TANDEM_OK) {
            return *ftl_detail() ? ftl_detail() : tandem_error_text(outcome);
        }
        for (uint32_t done = 0; done < cuts / 2;) {
            const char *wrong = live(ftl, &done);
            if (wrong) {
                return wrong;
            }
        }
    }
    return 0;
}
