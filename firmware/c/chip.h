/* A chip whose power can be cut: one in RAM here (chip.c), or the chip model of this repository (host.c). */
#ifndef CHIP_H
#define CHIP_H

#include "tandem.h"

/* The driver's table. */
void chip_table(tandem_nand_t *nand);
/* Lets power fail in the program or erase after so many others; what that leaves follows from the seed. */
void chip_cut_after(uint32_t operations, uint32_t seed);
/* Power is back. Returns whether it was gone. */
int chip_power_again(void);

#endif
