/* A driver for a SPI NAND, to start from: on a board, and before the judge. */
#ifndef SPI_NAND_H
#define SPI_NAND_H

#include "tandem.h"

/* The largest page that it knows, with its spare bytes. */
enum { SPI_NAND_PAGE = 2048, SPI_NAND_SPARE = 64 };

/* Moves bytes with the chip selected: head, then out, then what the chip answers. Returns 0, or a number below 0. */
typedef int32_t spi_transfer(void *bus, const void *head, size_t head_bytes, const void *out, size_t out_bytes,
                             void *into, size_t into_bytes);

struct spi_nand {
    /* Yours: the bus, and the function that moves bytes over it. */
    void *bus;
    spi_transfer *transfer;
    /* The driver's. */
    uint32_t blocks, pages_per_block, page_bytes;
    /* What the configuration register holds in use. */
    uint8_t configuration;
    /* The page whose bytes are in the chip's cache register. */
    uint32_t loaded;
    uint8_t loaded_status;
    uint8_t spare[SPI_NAND_SPARE];
};

/* Sets up the chip, and fills in the table. Returns 0, or a number below 0. */
int32_t spi_nand_start(struct spi_nand *chip, tandem_nand_t *nand);

#endif
