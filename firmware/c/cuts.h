/* Format, write, power cuts, mount, compare: the same on the microcontroller and on the host. */
#ifndef CUTS_H
#define CUTS_H

#include <stdint.h>

/* Plays until so many cuts have come, with both FTLs in turn. Null if all went well, or what went wrong. */
const char *play_cuts(uint32_t cuts, uint32_t seed);

#endif
