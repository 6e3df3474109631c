/* Tandem: flash translation layers for raw NAND, for firmware in C.
 *
 * Made from the Rust sources of crates/ftl-c: change them, not this file. docs/C.md goes from an empty folder to a mounted
 * device.
 *
 * There are two, and a program links only what it calls: the page store (tandem_mount, ...), which you should take, and
 * the hybrid (tandem_hybrid_mount, ...), which needs less RAM. They share no format.
 *
 * RAM      One buffer of yours for each device, aligned to TANDEM_RAM_ALIGN. Nothing is allocated and nothing is global:
 *          several devices may be mounted at once. The RAM is the device's from the format or mount until tandem_close;
 *          a new format or mount over the same RAM ends the old device, too.
 * Errors   Functions return 0, or a number below 0: enum tandem_error. tandem_error_text and tandem_error_advice put it
 *          into words, tandem_detail_t says more. An error about arguments means that nothing was done.
 * Locks    Yours. Hold one lock around every call that takes a device, for as long as the call takes; another device
 *          needs another lock, if both have drivers of their own. Never call from an interrupt, nor from inside the
 *          driver: that is found in most cases (TANDEM_E_BUSY), but not if two threads run at the same moment.
 * Pointers Each is examined as far as it can be: null, misaligned, overlapping, no mounted device. A pointer that leads
 *          nowhere and a buffer that is shorter than said cannot be seen.
 * Power    It may fail at any moment. What was acknowledged is there at the next mount.
 */
#ifndef TANDEM_H
#define TANDEM_H

#include <stddef.h>
#include <stdint.h>

/* For the declaration of RAM: static uint8_t ram[TANDEM_RAM_ONE_GBIT] TANDEM_ALIGNED; */
#if defined(__GNUC__) || defined(__clang__) || defined(__ARMCC_VERSION)
#define TANDEM_ALIGNED __attribute__((aligned(8)))
#elif defined(__ICCARM__) || defined(__ICCRISCV__)
#define TANDEM_ALIGNED
#pragma message("align the RAM of a device to 8 with #pragma data_alignment=8")
#endif

#ifdef __cplusplus
extern "C" {
#endif

@DECLARATIONS@
#ifdef __cplusplus
}
#endif

#endif
