/* Cortex-M and RISC-V under QEMU: start-up, semihosting, and a clock of instructions. */
#include "board.h"

#include <stddef.h>

extern uint32_t bss_begins[], bss_ends[], stack_top[];
int main(void);
void begin(void);

static uintptr_t host(uintptr_t what, const void *argument) {
#if defined(__arm__)
    register uintptr_t r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt #0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
#else
    register uintptr_t a0 __asm__("a0") = what;
    register const void *a1 __asm__("a1") = argument;
    __asm__ volatile(".option push\n.option norvc\n.balign 16\nslli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
                     : "+r"(a0) : "r"(a1) : "memory");
    return a0;
#endif
}

void say(const char *text) {
    host(0x04, text);
}

void say_number(uint32_t number) {
    char digits[11];
    char *at = digits + sizeof digits - 1;
    *at = 0;
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    say(at);
}

_Noreturn void end(int code) {
    /* The reasons are "the application exits" and "a run-time error". */
    host(0x18, (const void *)(uintptr_t)(code == 0 ? 0x20026 : 0x20023));
    for (;;) {
    }
}

void begin(void) {
    for (uint32_t *at = bss_begins; at < bss_ends; at++) {
        *at = 0;
    }
    end(main());
}

#if defined(__arm__)

static void fault(void) {
    say("FAILED: a fault of the processor\n");
    end(1);
}

/* The stack, reset, and the faults. */
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    stack_top, (const void *)begin, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault,
};

/* The first timer of the board counts down at 25 MHz. Under -icount shift=8 an instruction takes 256 ns: 6.4 ticks. */
#define TIMER ((volatile uint32_t *)0x40000000)

void start_counting(void) {
    TIMER[2] = UINT32_MAX;
    TIMER[1] = UINT32_MAX;
    TIMER[0] = 1;
}

uint32_t moment(void) {
    return UINT32_MAX - TIMER[1];
}

uint32_t instructions(uint32_t ticks) {
    return (uint32_t)(((uint64_t)ticks * 40 + 128) / 256);
}

#else

__attribute__((naked, section(".vectors"), used)) void start(void) {
    __asm__ volatile(".option push\n.option norelax\nla gp, __global_pointer$\n.option pop\n"
                     "la sp, stack_top\nla t0, fault\ncsrw mtvec, t0\nj begin_here");
}

__attribute__((used, aligned(4))) static void fault(void) {
    say("FAILED: a fault of the processor\n");
    end(1);
}

__attribute__((used)) static void begin_here(void) {
    begin();
}

void start_counting(void) {
}

uint32_t moment(void) {
    uint32_t count;
    __asm__ volatile("csrr %0, minstret" : "=r"(count));
    return count;
}

uint32_t instructions(uint32_t count) {
    return count;
}

#endif
