/* A library without anything of the page store that can be left out: its profiles take no more RAM than the header says,
 * and a configuration that asks for such a thing is refused by the name of the field. */
#include <string.h>

#include "board.h"
#include "tandem.h"

/* What a configuration may ask for, and what the refusal begins with. */
struct asked {
    size_t field;
    const char *name;
};

static const struct asked all[] = {
    {offsetof(tandem_config_t, anchor_blocks), "anchor_blocks:"},
    {offsetof(tandem_config_t, heed_history), "heed_history:"},
    {offsetof(tandem_config_t, cost_benefit), "streams of 5, or cost_benefit:"},
    {offsetof(tandem_config_t, refresh_main_bits), "refresh_fast_bits, refresh_main_bits:"},
    {offsetof(tandem_config_t, level_from), "level_from:"},
};

static int profile_fits(uint32_t profile, size_t most) {
    tandem_geometry_t geometry;
    tandem_config_t config;
    size_t bytes = 0;
    int32_t error = tandem_profile(profile, &geometry, &config);
    error = error ? error : tandem_ram_bytes(&geometry, &config, &bytes, NULL);
    say_number((uint32_t)bytes);
    say(" bytes of RAM\n");
    return !error && bytes <= most;
}

static int is_refused(const struct asked *one) {
    tandem_geometry_t geometry;
    tandem_config_t config;
    tandem_detail_t detail;
    size_t bytes;
    if (tandem_profile(TANDEM_PROFILE_ONE_GBIT_LEAST, &geometry, &config)) {
        return 0;
    }
    /* A ring of anchors has two blocks at least. */
    const uint32_t asked = one->field == offsetof(tandem_config_t, anchor_blocks) ? 2 : 1;
    memcpy((uint8_t *)&config + one->field, &asked, sizeof asked);
    if (tandem_ram_bytes(&geometry, &config, &bytes, &detail) != TANDEM_E_MISFIT) {
        return 0;
    }
    say(detail.what);
    say("\n");
    return strncmp(detail.what, one->name, strlen(one->name)) == 0;
}

int main(void) {
    int right = profile_fits(TANDEM_PROFILE_ONE_GBIT_LEAST, TANDEM_RAM_ONE_GBIT_LEAST)
        && profile_fits(TANDEM_PROFILE_HALF_GBIT_LEAST, TANDEM_RAM_HALF_GBIT_LEAST);
    for (size_t at = 0; at < sizeof all / sizeof *all; at++) {
        right = is_refused(&all[at]) && right;
    }
    say(right ? "PASSED\n" : "FAILED\n");
    return !right;
}
