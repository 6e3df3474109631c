/* The chip model of this repository (firmware/model), as the chip of chip.h. */
#ifndef MODEL_H
#define MODEL_H

/* Takes an erased chip in place of the one before. */
void model_again(void);
/* The end of it. */
void model_gone(void);

#endif
