/* What differs between the machines: words, the end, and instructions counted. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

void say(const char *text);
void say_number(uint32_t number);
/* Ends the program, and QEMU with it. */
_Noreturn void end(int code);
/* A clock of instructions, exact under QEMU's -icount: a moment, and the length of what lies between two. */
void start_counting(void);
uint32_t moment(void);
uint32_t instructions(uint32_t from_one_moment_to_another);

#endif
