/* A judge for NAND drivers in C, on a host: a driver talks SPI to a simulated chip, and is held to the contract.
 *
 * Made from the Rust sources of crates/ftl-judge: change them, not this file. docs/PORTING.md shows how to use it.
 *
 * The driver is the table of functions of tandem.h that goes into the firmware afterwards. What differs is the function
 * beneath it that moves bytes over SPI: here it calls tandem_judge_transfer.
 *
 *     tandem_judge_chip_t figures;
 *     tandem_judge_chip("W25N01GV", &figures);
 *     tandem_judge_t *judge = tandem_judge_new(&figures);
 *     tandem_judge_driver_t driver = {.context = judge, .start = my_start};
 *     tandem_breach_t breach;
 *     if (tandem_judge_driver(judge, &driver, &breach) == TANDEM_JUDGE_BREACH) puts(breach.text);
 *     tandem_judge_free(judge);
 */
#ifndef TANDEM_JUDGE_H
#define TANDEM_JUDGE_H

#include "tandem.h"

#ifdef __cplusplus
extern "C" {
#endif

@DECLARATIONS@
#ifdef __cplusplus
}
#endif

#endif
