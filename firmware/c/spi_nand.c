/* A driver for a Winbond W25N01GV: one bit of each 512 bytes is corrected, by the chip itself.
 *
 * BUG puts in a mistake that drivers in the field have made, for the judge to find:
 *   1  the correction's status bits are shifted the wrong way        (idf-extra-components 813)
 *   2  a page is taken from the cache register although it is stale  (idf-extra-components 828)
 *   3  the status is believed when the parameter page is read        (Zephyr 104760)
 *   4  correction is switched off for the parameter page, and stays off */
#include "spi_nand.h"

#include <string.h>

#ifndef BUG
#define BUG 0
#endif

enum { PROGRAM_LOAD = 0x02, READ_CACHE = 0x03, WRITE_ENABLE = 0x06, GET_FEATURE = 0x0F, PROGRAM_EXECUTE = 0x10,
       PAGE_READ = 0x13, SET_FEATURE = 0x1F, READ_ID = 0x9F, BLOCK_ERASE = 0xD8, RESET = 0xFF };
enum { PROTECTION = 0xA0, CONFIGURATION = 0xB0, STATUS = 0xC0 };
enum { BUSY = 1, ERASE_FAILED = 4, PROGRAM_FAILED = 8 };
/* Bits of the configuration: correction, the pages beside the array, reads from a buffer. */
enum { ECC_ON = 0x10, BESIDE = 0x40, BUFFERED = 0x08 };
enum { CLEAN = 0, CORRECTED = 1 };
enum { PARAMETER_PAGE = 1, PARAMETERS = 256, COPIES = 3 };
/* What the functions return when the bus fails, the chip is none that is known, or it is never ready. */
enum { BUS_FAILED = -5, NO_CHIP = -19, NEVER_READY = -110 };

#define POLLS 2000000u
#define NOTHING_LOADED UINT32_MAX

/* Where the user's spare bytes lie that are free and corrected: four runs of four. */
static const uint8_t runs[] = {4, 20, 36, 52};
enum { RUN = 4, FREE = RUN * sizeof runs, SPAN = 56 };

static int32_t command(struct spi_nand *chip, const uint8_t *head, size_t bytes) {
    return chip->transfer(chip->bus, head, bytes, 0, 0, 0, 0) ? BUS_FAILED : 0;
}

static int32_t with_row(struct spi_nand *chip, uint8_t code, uint32_t row) {
    uint8_t head[] = {code, (uint8_t)(row >> 16), (uint8_t)(row >> 8), (uint8_t)row};
    return command(chip, head, sizeof head);
}

static int32_t set_register(struct spi_nand *chip, uint8_t address, uint8_t value) {
    uint8_t head[] = {SET_FEATURE, address, value};
    chip->loaded = NOTHING_LOADED;
    return command(chip, head, sizeof head);
}

/* Waits until the chip is ready. Returns its status, or a number below 0. */
static int32_t ready(struct spi_nand *chip) {
    uint8_t head[] = {GET_FEATURE, STATUS}, status;
    for (uint32_t polls = 0; polls < POLLS; polls++) {
        if (chip->transfer(chip->bus, head, sizeof head, 0, 0, &status, 1)) {
            return BUS_FAILED;
        }
        if (!(status & BUSY)) {
            return status;
        }
    }
    return NEVER_READY;
}

/* From the cells to the cache register. Returns the status. */
static int32_t load(struct spi_nand *chip, uint32_t row) {
    if (row == chip->loaded) {
        return chip->loaded_status;
    }
    chip->loaded = NOTHING_LOADED;
    if (with_row(chip, PAGE_READ, row)) {
        return BUS_FAILED;
    }
    int32_t status = ready(chip);
    if (status >= 0) {
        chip->loaded = row;
        chip->loaded_status = (uint8_t)status;
    }
    return status;
}

static int32_t read_cache(struct spi_nand *chip, uint32_t column, void *into, size_t bytes) {
    uint8_t head[] = {READ_CACHE, (uint8_t)(column >> 8), (uint8_t)column, 0};
    return chip->transfer(chip->bus, head, sizeof head, 0, 0, into, bytes) ? BUS_FAILED : 0;
}

/* What the correction says: CLEAN, CORRECTED, or that the page is lost. */
static unsigned verdict(int32_t status) {
#if BUG == 1
    return ((unsigned)status & 0x30) << 4;
#else
    return (unsigned)status >> 4 & 3;
#endif
}

static int is_lost(unsigned verdict) {
#if BUG == 1
    return verdict == 2 || verdict == 3;
#else
    return verdict != CLEAN && verdict != CORRECTED;
#endif
}

static uint32_t zeros(uint8_t byte) {
    uint32_t count = 0;
    for (uint32_t bit = 0; bit < 8; bit++) {
        count += !(byte >> bit & 1);
    }
    return count;
}

/* A page that the correction gives up on may be an erased one with a flipped bit. Returns 1 if so. */
static int32_t is_erased(struct spi_nand *chip, uint32_t row) {
    uint32_t all = chip->page_bytes + SPI_NAND_SPARE, flipped = 0;
    int32_t error = set_register(chip, CONFIGURATION, BUFFERED);
    if (error || (error = load(chip, row)) < 0) {
        return error;
    }
    for (uint32_t at = 0; at < all && flipped < 2; at += SPI_NAND_SPARE) {
        if (read_cache(chip, at, chip->spare, SPI_NAND_SPARE)) {
            return BUS_FAILED;
        }
        for (uint32_t byte = 0; byte < SPI_NAND_SPARE; byte++) {
            flipped += zeros(chip->spare[byte]);
        }
    }
    error = set_register(chip, CONFIGURATION, chip->configuration);
    return error ? error : flipped < 2;
}

static int32_t page_read(void *context, const tandem_page_read_t *what) {
    struct spi_nand *chip = context;
    uint32_t row = what->block * chip->pages_per_block + what->page;
    int32_t status = load(chip, row);
    if (status < 0) {
        return status;
    }
    if (is_lost(verdict(status))) {
        int32_t erased = is_erased(chip, row);
        if (erased <= 0) {
            return erased ? erased : TANDEM_NAND_UNCORRECTABLE;
        }
        if (what->data_bytes) {
            memset(what->data, 0xFF, what->data_bytes);
        }
        if (what->spare_bytes) {
            memset(what->spare, 0xFF, what->spare_bytes);
        }
        return 1;
    }
    if (what->data_bytes && read_cache(chip, what->at, what->data, what->data_bytes)) {
        return BUS_FAILED;
    }
    if (what->spare_bytes && read_cache(chip, chip->page_bytes, chip->spare, SPAN)) {
        return BUS_FAILED;
    }
    for (uint32_t at = 0; at < what->spare_bytes; at++) {
        ((uint8_t *)what->spare)[at] = chip->spare[runs[at / RUN] + at % RUN];
    }
    return verdict(status) == CORRECTED;
}

/* Programs or erases. Returns 0, or TANDEM_NAND_FAILED if that bit of the status is set. */
static int32_t execute(struct spi_nand *chip, uint8_t code, uint32_t row, int32_t failed) {
    if (with_row(chip, code, row)) {
        return BUS_FAILED;
    }
    int32_t status = ready(chip);
    if (status < 0) {
        return status;
    }
    return status & failed ? TANDEM_NAND_FAILED : 0;
}

/* Loads the cache register with what is to be programmed. */
static int32_t load_program(struct spi_nand *chip, uint32_t column, const void *data, size_t bytes) {
    uint8_t enable = WRITE_ENABLE, head[] = {PROGRAM_LOAD, (uint8_t)(column >> 8), (uint8_t)column};
    chip->loaded = NOTHING_LOADED;
    if (command(chip, &enable, 1)) {
        return BUS_FAILED;
    }
    return chip->transfer(chip->bus, head, sizeof head, data, bytes, 0, 0) ? BUS_FAILED : 0;
}

static int32_t page_program(void *context, const tandem_page_program_t *what) {
    struct spi_nand *chip = context;
    static uint8_t page[SPI_NAND_PAGE + SPAN];
    memcpy(page, what->data, chip->page_bytes);
    memset(page + chip->page_bytes, 0xFF, SPAN);
    for (uint32_t at = 0; at < FREE; at++) {
        page[chip->page_bytes + runs[at / RUN] + at % RUN] = ((const uint8_t *)what->spare)[at];
    }
    int32_t error = load_program(chip, 0, page, chip->page_bytes + SPAN);
    uint32_t row = what->block * chip->pages_per_block + what->page;
    return error ? error : execute(chip, PROGRAM_EXECUTE, row, PROGRAM_FAILED);
}

static int32_t block_erase(void *context, uint32_t block) {
    struct spi_nand *chip = context;
    uint8_t enable = WRITE_ENABLE;
#if BUG != 2
    chip->loaded = NOTHING_LOADED;
#endif
    if (command(chip, &enable, 1)) {
        return BUS_FAILED;
    }
    return execute(chip, BLOCK_ERASE, block * chip->pages_per_block, ERASE_FAILED);
}

/* The mark is the first spare byte of the first page, read without correction, to which a bad block need not yield. */
static int32_t block_is_bad(void *context, uint32_t block) {
    struct spi_nand *chip = context;
    uint8_t mark;
    int32_t error = set_register(chip, CONFIGURATION, BUFFERED);
    if (error || (error = load(chip, block * chip->pages_per_block)) < 0
        || (error = read_cache(chip, chip->page_bytes, &mark, 1))) {
        return error;
    }
    error = set_register(chip, CONFIGURATION, chip->configuration);
    /* One bit may have flipped. */
    return error ? error : zeros(mark) >= 2;
}

static int32_t block_mark_bad(void *context, uint32_t block) {
    struct spi_nand *chip = context;
    uint8_t mark = 0;
    int32_t error = set_register(chip, CONFIGURATION, BUFFERED);
    if (error || (error = load_program(chip, chip->page_bytes, &mark, 1))) {
        return error;
    }
    error = execute(chip, PROGRAM_EXECUTE, block * chip->pages_per_block, PROGRAM_FAILED);
    if (error && error != TANDEM_NAND_FAILED) {
        return error;
    }
    /* What the status says does not matter where the mark can be read. */
    int32_t bad = block_is_bad(context, block);
    return bad < 0 ? bad : bad ? 0 : TANDEM_NAND_FAILED;
}

static uint32_t word(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* The check of a parameter page: CRC-16, polynomial 8005h, from 4F4Eh on. */
static int is_whole(const uint8_t *page) {
    uint16_t sum = 0x4F4E;
    for (uint32_t at = 0; at < 254; at++) {
        sum ^= (uint16_t)(page[at] << 8);
        for (uint32_t bit = 0; bit < 8; bit++) {
            sum = (uint16_t)(sum & 0x8000 ? sum << 1 ^ 0x8005 : sum << 1);
        }
    }
    return memcmp(page, "ONFI", 4) == 0 && sum == (page[254] | page[255] << 8);
}

/* The shape of the chip, as its parameter page has it. */
static int32_t read_parameters(struct spi_nand *chip) {
    static uint8_t page[PARAMETERS];
    chip->configuration = BUG == 4 ? BUFFERED : ECC_ON | BUFFERED;
    int32_t error = set_register(chip, CONFIGURATION, chip->configuration | BESIDE);
    if (error || (error = load(chip, PARAMETER_PAGE)) < 0) {
        return error;
    }
    /* Correction does not cover this page, whatever it says of it: the page has three copies and a check of its own. */
    if (BUG == 3 && is_lost(verdict(error))) {
        return NO_CHIP;
    }
    for (uint32_t copy = 0; copy < COPIES; copy++) {
        if (read_cache(chip, copy * PARAMETERS, page, PARAMETERS)) {
            return BUS_FAILED;
        }
        if (is_whole(page)) {
            chip->page_bytes = word(page + 80);
            chip->pages_per_block = word(page + 92);
            chip->blocks = word(page + 96) * page[100];
            return set_register(chip, CONFIGURATION, chip->configuration);
        }
    }
    return NO_CHIP;
}

int32_t spi_nand_start(struct spi_nand *chip, tandem_nand_t *nand) {
    static const uint8_t reset = RESET, read_id[] = {READ_ID, 0}, winbond[] = {0xEF, 0xAA, 0x21};
    uint8_t id[3];
    chip->loaded = NOTHING_LOADED;
    int32_t error = command(chip, &reset, 1);
    if (error || (error = ready(chip)) < 0) {
        return error;
    }
    if (chip->transfer(chip->bus, read_id, sizeof read_id, 0, 0, id, sizeof id)) {
        return BUS_FAILED;
    }
    if (memcmp(id, winbond, sizeof id)) {
        return NO_CHIP;
    }
    if ((error = read_parameters(chip)) || (error = set_register(chip, PROTECTION, 0))) {
        return error;
    }
    if (chip->page_bytes > SPI_NAND_PAGE) {
        return NO_CHIP;
    }
    *nand = (tandem_nand_t){
        .context = chip,
        .read = page_read,
        .program = page_program,
        .erase = block_erase,
        .is_bad = block_is_bad,
        .mark_bad = block_mark_bad,
        .geometry.slc = {
            .blocks = chip->blocks,
            .pages_per_block = chip->pages_per_block,
            .page_bytes = chip->page_bytes,
            .spare_bytes = FREE,
            .cell_bits = 1,
        },
    };
    return 0;
}
