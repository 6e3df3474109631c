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

/* A clause that the judge on a host sees, beside those of tandem_examine
 * (tandem_breach_t.clause). */
enum tandem_judge_clause {
    /* The driver sets up a chip without faults. */
    TANDEM_JUDGE_CLAUSE_SETS_UP_A_GOOD_CHIP = 19,
    /* The geometry that the driver gives is the chip's. */
    TANDEM_JUDGE_CLAUSE_GEOMETRY_IS_THE_CHIPS = 20,
    /* The chip is sent nothing that it would ignore or garble. */
    TANDEM_JUDGE_CLAUSE_COMMANDS_ARE_THE_CHIPS = 21,
    /* Error correction happens below the driver's functions. */
    TANDEM_JUDGE_CLAUSE_CORRECTION_IS_BELOW = 22,
    /* A page with more wrong bits than are corrected is told as uncorrectable. */
    TANDEM_JUDGE_CLAUSE_UNCORRECTABLE_IS_TOLD = 23,
    /* A page with wrong bits that are corrected reads well, and no wrong number of bits is told. */
    TANDEM_JUDGE_CLAUSE_CORRECTED_READS_WELL = 24,
    /* An erased page with a flipped bit reads as 0xFF. */
    TANDEM_JUDGE_CLAUSE_ERASED_WITH_FLIPS_READS_AS_ONES = 25,
    /* A program or erase that succeeded is told as done. */
    TANDEM_JUDGE_CLAUSE_SUCCESS_IS_TOLD = 26,
    /* A program that failed is told as failed. */
    TANDEM_JUDGE_CLAUSE_FAILED_PROGRAM_IS_TOLD = 27,
    /* An erase that failed is told as failed. */
    TANDEM_JUDGE_CLAUSE_FAILED_ERASE_IS_TOLD = 28,
    /* A bad-block mark that did not take is told as failed. */
    TANDEM_JUDGE_CLAUSE_FAILED_MARK_IS_TOLD = 29,
    /* A block that the factory marked is bad. */
    TANDEM_JUDGE_CLAUSE_FACTORY_MARK_IS_SEEN = 30,
    /* A bus that fails is told as a failure of the driver. */
    TANDEM_JUDGE_CLAUSE_BUS_FAILURE_IS_TOLD = 31,
    /* The functions return only what the header lists. */
    TANDEM_JUDGE_CLAUSE_RETURNS_WHAT_IS_LISTED = 32,
};

/* A value of the status: some bits were corrected, and detail_register tells how many. */
#define TANDEM_JUDGE_SEE_DETAIL 254

/* A value of the status: more bits were wrong than can be corrected, or the datasheet reserves
 * it. */
#define TANDEM_JUDGE_UNCORRECTABLE 255

/* A run of spare bytes that are free and that error correction covers. */
typedef struct tandem_judge_spare {
    /* Its first byte's number in the spare area. Byte 0 is the bad-block mark and never free. */
    uint32_t at;
    /* Its bytes. A run without bytes is none, and neither are those after it. */
    uint32_t bytes;
} tandem_judge_spare_t;

/* A SPI NAND chip: the figures of its datasheet. docs/PORTING.md says where they stand there. */
typedef struct tandem_judge_chip {
    /* What it answers to Read ID after the dummy byte. */
    uint8_t id[3];
    /* How many bytes these are: 2 or 3. */
    uint8_t id_bytes;
    /* Blocks: at least 16. */
    uint32_t blocks;
    /* Pages of a block. */
    uint32_t pages_per_block;
    /* Data bytes of a page. */
    uint32_t page_bytes;
    /* All spare bytes of a page, those of the chip's own correction among them. */
    uint32_t spare_bytes;
    /* Those that are free and corrected, in rising order. */
    tandem_judge_spare_t spare[8];
    /* What register B0h holds in use: correction on, and reads from a buffer if it has a bit for
     * them. */
    uint32_t configuration;
    /* The lowest bit of the correction's field in the status register. */
    uint32_t ecc_shift;
    /* Its bits, after the shift: 3 or 7. */
    uint32_t ecc_mask;
    /* What each value of the field says: at most so many bits were corrected, 0 if none, or
     * TANDEM_JUDGE_.... */
    uint32_t ecc[8];
    /* The register that tells how many, and there the field's lowest bit, its bits after the
     * shift, and what its value is counted from. All 0 if there is none. */
    uint32_t detail_register;
    /* See detail_register. */
    uint32_t detail_shift;
    /* See detail_register. */
    uint32_t detail_mask;
    /* See detail_register. */
    uint32_t detail_plus;
    /* Bits of a codeword that are corrected. */
    uint32_t correctable_bits;
    /* For a chip of two planes, the bit of a column address that names the plane of an odd
     * block; otherwise 0. */
    uint32_t plane_bit;
    /* 1 if the status may call the parameter page uncorrectable while correction is on, which it
     * does not cover. */
    uint32_t parameters_uncorrected;
    /* 1 if the correction takes erased pages for what they are, so that it is never wrong about
     * one with a flipped bit. */
    uint32_t erased_corrected;
} tandem_judge_chip_t;

/* A simulated SPI NAND chip on a bus of its own. A program may have several; each is for one
 * thread at a time. */
typedef struct tandem_judge tandem_judge_t;

/* What a transfer returns if the chip would have ignored or garbled it. */
#define TANDEM_JUDGE_REFUSED (-22)

/* What a transfer returns if power is off. */
#define TANDEM_JUDGE_NO_POWER (-5)

/* The driver under test. */
typedef struct tandem_judge_driver {
    /* Passed to start. */
    void *context;
    /* Called whenever power has come on: sets up the chip, and fills in the table, which is all
     * zeros before. Returns 0, or anything else if it cannot. */
    int32_t (*start)(void *context, tandem_nand_t *nand);
} tandem_judge_driver_t;

/* In a breach: the number of no block, no page. */
#define TANDEM_JUDGE_NOWHERE 4294967295

/* What a driver did against the contract, and which command on the bus was at fault. */
typedef struct tandem_breach {
    /* The clause, one of TANDEM_CLAUSE_... or TANDEM_JUDGE_CLAUSE_.... */
    int32_t clause;
    /* The block at which it showed, or TANDEM_JUDGE_NOWHERE. */
    uint32_t block;
    /* The page, or TANDEM_JUDGE_NOWHERE. */
    uint32_t page;
    /* The first byte of the command at fault. */
    uint32_t command;
    /* Its row, column or register, by what the command has. */
    uint32_t argument;
    /* 1 if it is at fault because it was not sent. */
    uint32_t missing;
    /* What the chip answered to it; -1 if nothing. */
    int32_t answer;
    /* All that in a sentence. */
    char text[512];
    /* What went over the bus in the call in which it showed, one command a line. */
    char bus[2048];
} tandem_breach_t;

/* What tandem_judge_driver returns if the driver broke a clause. */
#define TANDEM_JUDGE_BREACH 1

/* One transfer on the bus, with the chip selected from its first byte to its last. */
typedef struct tandem_judge_transfer {
    /* What is sent first: the command, its address, dummy bytes. */
    const void *head;
    /* How many bytes: at least 1. */
    size_t head_bytes;
    /* What is sent after it. */
    const void *out;
    /* How many bytes, 0 if none. */
    size_t out_bytes;
    /* Where to put what the chip answers then. */
    void *into;
    /* How many bytes, 0 if none. */
    size_t into_bytes;
} tandem_judge_transfer_t;

/* Fills in the figures of a chip by its name: W25N01GV, W25N02KV, GD5F1GQ4UA, GD5F1GQ4UE,
 * GD5F1GQ5UE or GD5F2GQ5UE. */
int32_t tandem_judge_chip(const char *name, tandem_judge_chip_t *chip);

/* Makes a chip, erased and just switched on, with a bus of its own. Null if the figures
 * contradict each other. */
tandem_judge_t *tandem_judge_new(const tandem_judge_chip_t *chip);

/* Ends it. Null is nothing. */
void tandem_judge_free(tandem_judge_t *judge);

/* Transfers bytes: what the driver's function for its SPI controller does on the board. Returns
 * 0, or a number below 0 if the bus failed: TANDEM_JUDGE_REFUSED, TANDEM_JUDGE_NO_POWER. The
 * driver must tell of that; what it receives is zeros then. It may receive where it has sent
 * from. */
int32_t tandem_judge_transfer(tandem_judge_t *judge, const tandem_judge_transfer_t *what);

/* Lets time go by on the chip, for a driver that waits where others ask again and again. */
void tandem_judge_wait(tandem_judge_t *judge, uint32_t microseconds);

/* Lets power fail in the program, erase or mark after so many others, for tests of your own;
 * what it leaves follows from the seed. Returns 0, or an error for null. */
int32_t tandem_judge_cut_after(tandem_judge_t *judge, uint32_t operations, uint32_t seed);

/* Switches power off, if it has not failed yet, and on again. The chip is to be set up again.
 * Returns 1 if it had failed. */
int32_t tandem_judge_power_again(tandem_judge_t *judge);

/* Examines a driver on this chip, whose content is lost: every clause, with faults in the cells,
 * bad blocks and power cuts. Returns 0 if it keeps them, TANDEM_JUDGE_BREACH and the first
 * breach if not, or a TANDEM_E_... for wrong arguments. It takes some seconds. */
int32_t tandem_judge_driver(
    tandem_judge_t *judge,
    const tandem_judge_driver_t *driver,
    tandem_breach_t *breach);

#ifdef __cplusplus
}
#endif

#endif
