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

/* No error. */
#define TANDEM_OK 0

/* What tandem_examine returns if the driver broke a clause. */
#define TANDEM_EXAMINED_BREACH 1

/* What tandem_examine returns if a block failed, as blocks may: lend another one instead, and
 * start again. */
#define TANDEM_EXAMINED_BLOCK_FAILED 2

/* What a function returns instead of TANDEM_OK. tandem_error_text and tandem_error_advice put it
 * into words. */
enum tandem_error {
    /* A pointer is null that must not be. */
    TANDEM_E_NULL = -1,
    /* A pointer is not aligned: the RAM to TANDEM_RAM_ALIGN, everything else as C aligns it. */
    TANDEM_E_MISALIGNED = -2,
    /* The RAM is too small. detail.number is what is needed. */
    TANDEM_E_RAM_TOO_SMALL = -3,
    /* The pointer leads to no mounted device: it was closed, its RAM was overwritten, or it is
     * of the other FTL. */
    TANDEM_E_NOT_A_DEVICE = -4,
    /* The call came from inside a function of the driver, or from a second thread. */
    TANDEM_E_BUSY = -5,
    /* The request goes past the end of the device. Nothing was done. detail.number is the
     * capacity. */
    TANDEM_E_OUT_OF_RANGE = -6,
    /* A buffer, or what is to be filled in, overlaps the device's RAM, or the driver's buffer.
     * Nothing was done. */
    TANDEM_E_OVERLAP = -7,
    /* The content of a sector is lost: detail.number says of which. The others may be read one
     * by one. */
    TANDEM_E_LOST = -8,
    /* More blocks have failed than the reserve had. Everything can still be read. */
    TANDEM_E_READ_ONLY = -9,
    /* The data on flash contradicts itself. */
    TANDEM_E_CORRUPT = -10,
    /* The driver failed, now or in an earlier call. detail.driver is what its function returned,
     * 0 if earlier. */
    TANDEM_E_DRIVER = -11,
    /* Nothing is on the device that this FTL could mount. */
    TANDEM_E_NOT_FORMATTED = -12,
    /* The device was formatted by the other FTL. */
    TANDEM_E_OTHER_FTL = -13,
    /* The device has a later format than 1. detail.number is the version in its header. */
    TANDEM_E_OTHER_VERSION = -14,
    /* Both headers are damaged, or cannot be read. */
    TANDEM_E_DAMAGED_HEADER = -15,
    /* The device was formatted with another geometry or configuration: detail.what names the
     * setting, and detail.number is its value in the format. */
    TANDEM_E_OTHER_CONFIG = -16,
    /* A block has failed that the FTL cannot do without. */
    TANDEM_E_WORN_OUT = -17,
    /* Too many blocks are bad for the capacity. detail.number is how many good ones are needed. */
    TANDEM_E_TOO_FEW_BLOCKS = -18,
    /* No chip has that geometry: detail.what names the figure. */
    TANDEM_E_GEOMETRY = -19,
    /* The configuration has a value that means nothing: detail.what names the field. */
    TANDEM_E_CONFIG = -20,
    /* The configuration does not fit the chip: detail.what says why. */
    TANDEM_E_MISFIT = -21,
    /* An argument has a value that means nothing. */
    TANDEM_E_VALUE = -22,
    /* The device was formatted by a version before format 1. detail.number is the version of its
     * format. */
    TANDEM_E_EARLIER_VERSION = -23,
    /* The device needs features that this version does not have. detail.number has a bit for
     * each. */
    TANDEM_E_FEATURES = -24,
};

/* The alignment that RAM must have. */
#define TANDEM_RAM_ALIGN 8

/* What read returns for a page with more wrong bits than its error correction corrects. */
#define TANDEM_NAND_UNCORRECTABLE (-30001)

/* What program, erase and mark_bad return if the chip says that it failed. The FTL then does
 * without the block. */
#define TANDEM_NAND_FAILED (-30002)

/* Which pages of a block share cells (tandem_region_t.pairing). */
enum tandem_pages {
    /* None: one bit per cell. */
    TANDEM_PAGES_UNPAIRED = 0,
    /* Two bits: (0,1), (2,3), ... */
    TANDEM_PAGES_ADJACENT2 = 1,
    /* Three bits: (0,1,2), (3,4,5), ... */
    TANDEM_PAGES_ADJACENT3 = 2,
    /* Two bits: (0,2), (1,4), (3,6), ... */
    TANDEM_PAGES_DISTANCE3 = 3,
    /* Two bits: (0,4), (1,5), (2,8), (3,9), ... */
    TANDEM_PAGES_DISTANCE6 = 4,
};

/* The shape of one region of the chip. A region without blocks is none. */
typedef struct tandem_region {
    /* Blocks, bad ones included. */
    uint32_t blocks;
    /* Pages of a block. */
    uint32_t pages_per_block;
    /* Data bytes of a page: a power of two from 512. */
    uint32_t page_bytes;
    /* Spare bytes of a page that are free and corrected: 12, and 4 for each sector of a page. */
    uint32_t spare_bytes;
    /* Bits of a cell: 1, 2 or 3. */
    uint32_t cell_bits;
    /* Which pages share cells, one of TANDEM_PAGES_.... */
    uint32_t pairing;
} tandem_region_t;

/* The shape of the chip: a region of one bit per cell, one of more, or both. */
typedef struct tandem_geometry {
    /* One bit per cell. An SLC chip has this region alone. */
    tandem_region_t slc;
    /* Two or three bits per cell. Its blocks are numbered after those of slc. */
    tandem_region_t mlc;
} tandem_geometry_t;

/* A page to be read, or a part of it. */
typedef struct tandem_page_read {
    /* The block. */
    uint32_t block;
    /* The page in it. */
    uint32_t page;
    /* The first data byte that is wanted. */
    uint32_t at;
    /* How many are; 0 if only spare bytes are wanted. */
    uint32_t data_bytes;
    /* Where to put them. */
    void *data;
    /* How many spare bytes are wanted, from the first one on; 0 if none are. */
    uint32_t spare_bytes;
    /* Where to put them. */
    void *spare;
} tandem_page_read_t;

/* A page to be programmed, data and spare bytes in one operation. */
typedef struct tandem_page_program {
    /* The block. */
    uint32_t block;
    /* The page in it. */
    uint32_t page;
    /* Data: all page_bytes of the geometry. */
    const void *data;
    /* Spare bytes: all spare_bytes of the geometry. */
    const void *spare;
} tandem_page_program_t;

/* The driver: its functions, and the shape of its chip. The structure is copied; what it leads
 * to must stay.
 *
 * What the functions promise stands in docs/PORTING.md under "The driver". In short: error
 * correction happens below them; a page that was not programmed since its block's erase reads as
 * 0xFF; a function returns when the operation is done. Whatever else a function returns than
 * what is said here counts as a failure of the driver: the call then returns TANDEM_E_DRIVER and
 * the device is to be mounted again. */
typedef struct tandem_nand {
    /* Passed to every function. */
    void *context;
    /* Reads. Returns the most bits that were corrected in a codeword, 0 if unknown, or
     * TANDEM_NAND_UNCORRECTABLE. */
    int32_t (*read)(void *context, const tandem_page_read_t *what);
    /* Programs. Returns 0, or TANDEM_NAND_FAILED. */
    int32_t (*program)(void *context, const tandem_page_program_t *what);
    /* Erases a block. Returns 0, or TANDEM_NAND_FAILED. */
    int32_t (*erase)(void *context, uint32_t block);
    /* Returns 1 if the block is marked bad, 0 if it is not. */
    int32_t (*is_bad)(void *context, uint32_t block);
    /* Marks a block bad, for good. Returns 0, or TANDEM_NAND_FAILED. */
    int32_t (*mark_bad)(void *context, uint32_t block);
    /* The shape of the chip. */
    tandem_geometry_t geometry;
    /* A buffer of the driver's, through which then all data passes: for a DMA controller that
     * reaches only some memory, or needs alignment. Data begins at its start, spare bytes at
     * page_bytes. Null: the functions get pointers into the RAM of the device and into the
     * caller's data, which may lie anywhere. */
    void *buffer;
    /* Its size: at least the largest page with its spare bytes. */
    size_t buffer_bytes;
} tandem_nand_t;

/* What the user of the page store chooses. Start from tandem_config_small or a profile, and
 * change what differs: fields may be added, and a structure that was only zeroed means nothing.
 * docs/PORTING.md says what to choose.
 *
 * A device is mounted with the sector size, the capacity, the anchor blocks and the protection
 * of paired pages of its format, and with as many dirty entries or fewer. All else may change
 * from mount to mount. */
typedef struct tandem_config {
    /* Bytes of a sector: a power of two, from 512 to the smaller page. */
    uint32_t sector_bytes;
    /* Sectors for the host. 0: nineteen blocks in twenty. */
    uint32_t capacity;
    /* Sectors whose newest place is in RAM and not in a map page yet. More cause fewer map
     * writes. */
    uint32_t dirty_entries;
    /* Map pages cached in RAM: at least 2. */
    uint32_t cached_leaves;
    /* Blocks for anchors, which make a mount quick: none, or 2 and more. */
    uint32_t anchor_blocks;
    /* Open blocks of the main area: 1, 2 or 5. */
    uint32_t streams;
    /* 1: garbage collection weighs cost and benefit; 0: it takes the emptiest block. */
    uint32_t cost_benefit;
    /* Writes up to this many bytes count as hot at first; the limit then follows the workload. */
    uint32_t hot_bytes_first;
    /* No larger write is ever hot. 0: every write is. */
    uint32_t hot_bytes_most;
    /* 1: small writes that continue a run of large ones go where the run goes; 0: by their size. */
    uint32_t follow_runs;
    /* 1: the age of the replaced data decides where a large write goes. */
    uint32_t heed_history;
    /* 1: pages that share cells with the one in flight are protected; 0: power is assumed never
     * to fail. */
    uint32_t guard_pairs;
    /* Corrected bits of a codeword from which a block of the fast area is refreshed. 0: never. */
    uint32_t refresh_fast_bits;
    /* The same for the main area: three quarters of what the chip corrects. */
    uint32_t refresh_main_bits;
    /* The difference of erase counts from which the least worn block is emptied. 0: never. */
    uint32_t level_from;
    /* Erase cycles of the fast area, and of the main one, for the throttle that lets both wear
     * out together. Both 0: the fast area takes all hot writes. */
    uint32_t fast_cycles;
    /* See fast_cycles. */
    uint32_t main_cycles;
    /* 1: large writes enter the fast area while it has space, for hosts that pause. It needs
     * both cycles. */
    uint32_t bursts_to_fast;
} tandem_config_t;

/* Where the log of the hybrid lies (tandem_hybrid_config_t.log). */
enum tandem_log {
    /* There is none. */
    TANDEM_LOG_NONE = 0,
    /* In the region of one bit per cell, of a chip that has both. */
    TANDEM_LOG_SLC_REGION = 1,
    /* In the first log_blocks of a chip of one region. */
    TANDEM_LOG_FIRST_BLOCKS = 2,
};

/* What the user of the hybrid chooses. Start from tandem_hybrid_config_one_region or a profile. */
typedef struct tandem_hybrid_config {
    /* Bytes of a sector: a power of two, from 512 to the smaller page. */
    uint32_t sector_bytes;
    /* Sectors for the host. 0: nineteen blocks in twenty. */
    uint32_t capacity;
    /* Where the log lies, one of TANDEM_LOG_.... */
    uint32_t log;
    /* Its blocks, if these are the first ones. */
    uint32_t log_blocks;
    /* Cells of the log's hash table. 0: half as many as the log has slots. */
    uint32_t table_entries;
    /* Cells examined in a lookup, 1 to 32. */
    uint32_t table_probes;
    /* 1: squares; 0: neighbours. */
    uint32_t quadratic;
    /* The most blocks between the log's tail and its head. 0: all but one. */
    uint32_t window_blocks;
    /* Log blocks that a chain may have before it is folded. */
    uint32_t chain_log_blocks;
    /* Chains whose map is cached in RAM. */
    uint32_t cached_maps;
    /* The size of each chain's sketch, in units of two bytes, at most 4. */
    uint32_t sketch_halves;
    /* Folding begins when so few blocks are free: at least 2. */
    uint32_t free_blocks_low;
    /* Page copies that a write does for each of its pages. */
    uint32_t copies_per_page;
    /* 1: the least used chain of some idle ones is folded; 0: the next idle one. */
    uint32_t fold_least_used;
    /* Writes up to this many bytes are hot at first; the limit then follows the workload. */
    uint32_t hot_bytes_first;
    /* No larger write is ever hot. 0: every write is. */
    uint32_t hot_bytes_most;
    /* 1: small writes that continue a run of large ones go to the chains; 0: by their size. */
    uint32_t follow_runs;
    /* 1: the throttle keeps the log from wearing out before the chains. */
    uint32_t throttle;
    /* Erase cycles of the log. */
    uint32_t log_cycles;
    /* Erase cycles of the chains. */
    uint32_t chain_cycles;
    /* The difference of erase counts of the two pools of wear leveling. 0: none. */
    uint32_t level_from;
    /* 1: tail sectors leave the log only for chains that have a log block. */
    uint32_t follow_log_blocks;
    /* 1: folds collect from the log. */
    uint32_t collect_on_fold;
    /* 1: follow_log_blocks is suspended while the update ratio is low. */
    uint32_t suspend_when_updates_fall;
    /* 1: pages that share cells with the one in flight are protected; 0: power is assumed never
     * to fail. */
    uint32_t guard_pairs;
    /* Corrected bits of a codeword from which a page of the log is refreshed. 0: never. */
    uint32_t refresh_log_bits;
    /* The same for the chains: three quarters of what the chip corrects. */
    uint32_t refresh_chain_bits;
} tandem_hybrid_config_t;

/* More about an error. The error says which fields mean something; the others are zero, and what
 * is never null. */
typedef struct tandem_detail {
    /* What the driver's function returned. */
    int32_t driver;
    /* A number: which one, the error says. */
    uint32_t number;
    /* A few words in English. */
    const char *what;
} tandem_detail_t;

/* How often blocks were erased. */
typedef struct tandem_wear {
    /* The block that was erased least. */
    uint32_t least;
    /* All of them, on average. */
    uint32_t mean;
    /* The block that was erased most. */
    uint32_t most;
} tandem_wear_t;

/* The health of the device. Who asks regularly knows long before the reserve is used up. */
typedef struct tandem_health {
    /* 1 if the reserve is used up: everything can be read, and nothing written. Otherwise 0. */
    uint32_t read_only;
    /* Blocks that may still fail before that. */
    uint32_t reserve_left;
    /* The same for a device without a bad block. */
    uint32_t reserve;
    /* How many of them may fail in one request. */
    uint32_t at_once;
    /* Blocks that may still fail and refuse the bad-block mark. */
    uint32_t unmarked_left;
    /* Blocks that were taken out of use since the mount. */
    uint32_t failed;
    /* The most bits that the chip had to correct in a codeword since the mount. */
    uint32_t corrected;
    /* How often data was refreshed since the mount. */
    uint32_t refreshed;
    /* How often a lost sector was read since the mount. */
    uint32_t lost;
    /* 1 if there is a fast area, or a log. Otherwise 0, and fast is zero. */
    uint32_t has_fast;
    /* Erases of the main area, or of the chains. */
    tandem_wear_t main;
    /* Erases of the fast area, or of the log. */
    tandem_wear_t fast;
} tandem_health_t;

/* Operations on the chip. */
typedef struct tandem_cost {
    /* Pages read, or parts of them. */
    uint64_t reads;
    /* Pages programmed. */
    uint64_t programs;
    /* Blocks erased. */
    uint64_t erases;
} tandem_cost_t;

/* The most that a request can cost. docs/PAGE_STORE.md and docs/HYBRID.md say what this leaves
 * out: for example, the page store may wait until its reserve of free blocks is restored. */
typedef struct tandem_worst_case {
    /* A read of that many sectors. */
    tandem_cost_t read;
    /* A write of that many sectors. */
    tandem_cost_t write;
    /* A trim of that many sectors. */
    tandem_cost_t trim;
    /* Idle work with a budget of that many pages. */
    tandem_cost_t maintain;
} tandem_worst_case_t;

/* Profiles of the page store, for tandem_profile. The chips are SPI NAND of 64 pages of 2 KiB a
 * block, with 16 spare bytes; they correct one bit of a codeword (refresh_main_bits of the
 * configuration, if yours corrects more). */
enum tandem_profile {
    /* 1 Gbit in 24 KiB, with anchors for quick mounts. */
    TANDEM_PROFILE_ONE_GBIT = 1,
    /* 1 Gbit in 17 KiB: a mount reads every block. */
    TANDEM_PROFILE_ONE_GBIT_SMALL = 2,
    /* 512 Mbit in 14 KiB: a mount reads every block. */
    TANDEM_PROFILE_HALF_GBIT_SMALL = 3,
    /* 1 Gbit in 12 KiB, for a library without the features that docs/C.md says can be left out. */
    TANDEM_PROFILE_ONE_GBIT_LEAST = 4,
    /* 512 Mbit in 10.5 KiB, for such a library. */
    TANDEM_PROFILE_HALF_GBIT_LEAST = 5,
};

/* Profiles of the hybrid, for tandem_hybrid_profile, with the same chips. */
enum tandem_hybrid_profile {
    /* 1 Gbit with 64 blocks of log. */
    TANDEM_HYBRID_PROFILE_ONE_GBIT = 1,
    /* 512 Mbit in the least RAM: 4 blocks of log. */
    TANDEM_HYBRID_PROFILE_HALF_GBIT = 2,
};

#if UINTPTR_MAX <= 0xFFFFFFFFu
/* RAM of TANDEM_PROFILE_ONE_GBIT. */
#define TANDEM_RAM_ONE_GBIT 24576

/* RAM of TANDEM_PROFILE_ONE_GBIT_SMALL. */
#define TANDEM_RAM_ONE_GBIT_SMALL 17408

/* RAM of TANDEM_PROFILE_HALF_GBIT_SMALL. */
#define TANDEM_RAM_HALF_GBIT_SMALL 14336

/* RAM of TANDEM_PROFILE_ONE_GBIT_LEAST. */
#define TANDEM_RAM_ONE_GBIT_LEAST 12288

/* RAM of TANDEM_PROFILE_HALF_GBIT_LEAST. */
#define TANDEM_RAM_HALF_GBIT_LEAST 11136

/* RAM of TANDEM_HYBRID_PROFILE_ONE_GBIT. */
#define TANDEM_HYBRID_RAM_ONE_GBIT 26624

/* RAM of TANDEM_HYBRID_PROFILE_HALF_GBIT. */
#define TANDEM_HYBRID_RAM_HALF_GBIT 9472

#endif

#if UINTPTR_MAX > 0xFFFFFFFFu
/* RAM of TANDEM_PROFILE_ONE_GBIT. */
#define TANDEM_RAM_ONE_GBIT 25088

/* RAM of TANDEM_PROFILE_ONE_GBIT_SMALL. */
#define TANDEM_RAM_ONE_GBIT_SMALL 17920

/* RAM of TANDEM_PROFILE_HALF_GBIT_SMALL. */
#define TANDEM_RAM_HALF_GBIT_SMALL 14848

/* RAM of TANDEM_PROFILE_ONE_GBIT_LEAST. */
#define TANDEM_RAM_ONE_GBIT_LEAST 12544

/* RAM of TANDEM_PROFILE_HALF_GBIT_LEAST. */
#define TANDEM_RAM_HALF_GBIT_LEAST 11392

/* RAM of TANDEM_HYBRID_PROFILE_ONE_GBIT. */
#define TANDEM_HYBRID_RAM_ONE_GBIT 26880

/* RAM of TANDEM_HYBRID_PROFILE_HALF_GBIT. */
#define TANDEM_HYBRID_RAM_HALF_GBIT 9800

#endif

/* What tandem_maintain returns if more work is left. */
#define TANDEM_WORK_LEFT 1

/* How long data is expected to live, compared with the rest of the host's (tandem_write_hinted). */
enum tandem_life {
    /* The host does not know. */
    TANDEM_LIFE_UNKNOWN = 0,
    /* A journal, a temporary file. */
    TANDEM_LIFE_SHORT = 1,
    /* Neither short nor long. */
    TANDEM_LIFE_MEDIUM = 2,
    /* What is kept. */
    TANDEM_LIFE_LONG = 3,
    /* As long as the device. */
    TANDEM_LIFE_EXTREME = 4,
};

/* A mounted page store, in the RAM that the caller gave. Its address is the RAM's. */
typedef struct tandem tandem_t;

/* What a format and a mount need. The structures are copied; the RAM is the device's until
 * tandem_close. */
typedef struct tandem_start {
    /* RAM, aligned to TANDEM_RAM_ALIGN. What it holds does not matter. */
    void *ram;
    /* Its size: a TANDEM_RAM_... of a profile, or what tandem_ram_bytes says. */
    size_t ram_bytes;
    /* The driver. */
    const tandem_nand_t *nand;
    /* The configuration. */
    const tandem_config_t *config;
} tandem_start_t;

/* A mounted hybrid, in the RAM that the caller gave. Its address is the RAM's. */
typedef struct tandem_hybrid tandem_hybrid_t;

/* As tandem_start_t. */
typedef struct tandem_hybrid_start {
    /* RAM, aligned to TANDEM_RAM_ALIGN. What it holds does not matter. */
    void *ram;
    /* Its size: a TANDEM_HYBRID_RAM_... of a profile, or what tandem_hybrid_ram_bytes says. */
    size_t ram_bytes;
    /* The driver. */
    const tandem_nand_t *nand;
    /* The configuration. */
    const tandem_hybrid_config_t *config;
} tandem_hybrid_start_t;

/* A clause of the contract that drivers keep. */
enum tandem_clause {
    /* The geometry never changes. */
    TANDEM_CLAUSE_GEOMETRY_STAYS = 1,
    /* After an erase every byte of the block reads as 0xFF. */
    TANDEM_CLAUSE_ERASED_READS_AS_ONES = 2,
    /* A page's data read as they were programmed. */
    TANDEM_CLAUSE_DATA_READ_BACK = 3,
    /* A page's spare bytes read as they were programmed. */
    TANDEM_CLAUSE_SPARE_READS_BACK = 4,
    /* A part of a page reads as the bytes from at on. */
    TANDEM_CLAUSE_PARTS_READ_ALIKE = 5,
    /* Without data the spare bytes are read alone, and as many of them as are wanted. */
    TANDEM_CLAUSE_SPARE_READS_ALONE = 6,
    /* A read changes nothing. */
    TANDEM_CLAUSE_READS_CHANGE_NOTHING = 7,
    /* A program changes its own page alone. */
    TANDEM_CLAUSE_PROGRAMS_CHANGE_THEIR_PAGE_ALONE = 8,
    /* An erase changes its own block alone. */
    TANDEM_CLAUSE_ERASES_CHANGE_THEIR_BLOCK_ALONE = 9,
    /* Pages may be left out, and read as 0xFF then. */
    TANDEM_CLAUSE_PAGES_MAY_BE_LEFT_OUT = 10,
    /* A block that was never marked is not bad. */
    TANDEM_CLAUSE_UNMARKED_IS_NOT_BAD = 11,
    /* A block that was marked bad is bad. */
    TANDEM_CLAUSE_MARKED_IS_BAD = 12,
    /* A mark changes its own block alone. */
    TANDEM_CLAUSE_MARKS_CHANGE_THEIR_BLOCK_ALONE = 13,
    /* The pages of a block that is marked bad may be read. */
    TANDEM_CLAUSE_BAD_BLOCKS_CAN_BE_READ = 14,
    /* What was programmed or marked survives without power. */
    TANDEM_CLAUSE_STAYS_WITHOUT_POWER = 15,
    /* A page whose program was cut reads as before, as intended, as uncorrectable or as erased. */
    TANDEM_CLAUSE_CUT_PROGRAM_LEAVES_ITS_PAGE_KNOWN = 16,
    /* A cut program changes no other page but those that share its cells. */
    TANDEM_CLAUSE_CUT_PROGRAM_CHANGES_NOTHING_ELSE = 17,
    /* A cut erase changes no other block. */
    TANDEM_CLAUSE_CUT_ERASE_CHANGES_NOTHING_ELSE = 18,
};

/* What is examined. Of the steps around a loss of power, the last needs nothing of those before
 * but the same blocks: take it after the boot. */
enum tandem_examine {
    /* All that shows while power holds. The blocks are left erased. */
    TANDEM_EXAMINE_POWER_HOLDS = 0,
    /* What a bad-block mark does. The last block is marked bad for good: once is enough. */
    TANDEM_EXAMINE_MARKS = 1,
    /* Fills the blocks. Switch power off then, and on. */
    TANDEM_EXAMINE_BEFORE_POWER_OFF = 2,
    /* Whether all of that is there. */
    TANDEM_EXAMINE_AFTER_POWER_OFF = 3,
    /* Makes the blocks ready. Power must not fail before it returns. */
    TANDEM_EXAMINE_BEFORE_PROGRAMS_FAIL = 4,
    /* Programs all blocks but the first. Cut power meanwhile: a hundred blocks take some
     * seconds. */
    TANDEM_EXAMINE_UNTIL_PROGRAMS_FAIL = 5,
    /* Whether what the cut left is as promised. */
    TANDEM_EXAMINE_AFTER_PROGRAMS_FAILED = 6,
    /* Makes the blocks ready. Power must not fail before it returns. */
    TANDEM_EXAMINE_BEFORE_ERASES_FAIL = 7,
    /* Erases the last block 500 times. Cut power meanwhile. */
    TANDEM_EXAMINE_UNTIL_ERASES_FAIL = 8,
    /* Whether what the cut left is as promised. */
    TANDEM_EXAMINE_AFTER_ERASES_FAILED = 9,
};

/* What is lent to an examination. */
typedef struct tandem_lent {
    /* Blocks that hold nothing of value: at least two, from both ends of the chip, or from each
     * die. */
    const uint32_t *blocks;
    /* How many. */
    uint32_t count;
    /* Memory, aligned to TANDEM_RAM_ALIGN. */
    void *memory;
    /* Its size: the most data bytes and the most spare bytes of a page, and 8 bytes for each
     * block. */
    size_t memory_bytes;
} tandem_lent_t;

/* What an examination showed. */
typedef struct tandem_shown {
    /* The clause that was broken, one of TANDEM_CLAUSE_...; 0 if none was. */
    int32_t clause;
    /* The clause as a sentence, or what is wrong with what was lent. Never null. */
    const char *sentence;
    /* What was seen. Never null. */
    const char *seen;
    /* The block at which it was seen, or which failed. */
    uint32_t block;
    /* The page in it. */
    uint32_t page;
    /* If a byte was wrong: its number in the data or in the spare bytes. */
    uint32_t at;
    /* What it should have been. */
    uint32_t expected;
    /* What it was. */
    uint32_t found;
    /* What the driver's function returned, if it failed. */
    int32_t driver;
} tandem_shown_t;

/* Says in English what is wrong, for any number that a function returned. */
const char *tandem_error_text(int32_t error);

/* Says what to do. */
const char *tandem_error_advice(int32_t error);

/* Fills in the defaults for a chip beside a microcontroller that corrects one bit of a codeword. */
int32_t tandem_config_small(tandem_config_t *config);

/* Fills in the defaults for gigabytes in two kinds of cells. */
int32_t tandem_config_large(tandem_config_t *config);

/* Fills in chip and configuration of a profile, one of TANDEM_PROFILE_.... */
int32_t tandem_profile(uint32_t profile, tandem_geometry_t *geometry, tandem_config_t *config);

/* Says how much RAM a device with that chip and configuration needs. detail may be null. */
int32_t tandem_ram_bytes(
    const tandem_geometry_t *geometry,
    const tandem_config_t *config,
    size_t *bytes,
    tandem_detail_t *detail);

/* Says what requests of count sectors, or idle work of count pages, cost at worst. It needs no
 * mounted device. */
int32_t tandem_worst_case(
    const tandem_geometry_t *geometry,
    const tandem_config_t *config,
    uint32_t count,
    tandem_worst_case_t *worst);

/* Formats the chip and mounts it. Everything on it is lost. If power failed in an earlier
 * format, a mount may say TANDEM_E_DAMAGED_HEADER: format again. key is to be a new random
 * number at each format: it tells this format's pages from older ones. *device is null if it
 * fails; detail may be null. */
int32_t tandem_format(
    const tandem_start_t *start,
    uint32_t key,
    tandem_t **device,
    tandem_detail_t *detail);

/* Mounts a chip that was formatted. Format only after TANDEM_E_NOT_FORMATTED: after any other
 * error there may still be data. *device is null if it fails; detail may be null. */
int32_t tandem_mount(const tandem_start_t *start, tandem_t **device, tandem_detail_t *detail);

/* Gives the RAM back. Nothing is written: what was acknowledged is on flash already. The next
 * mount is quicker after tandem_stop. */
int32_t tandem_close(tandem_t *device);

/* Returns how many sectors the device has; 0 if it is none, or a call on it has not returned. */
uint32_t tandem_capacity(tandem_t *device);

/* Returns the size of a sector; 0 if it is no device, or a call on it has not returned. */
uint32_t tandem_sector_bytes(tandem_t *device);

/* Reads count sectors from first on. A sector that was never written, or was trimmed, reads as
 * zeros. */
int32_t tandem_read(tandem_t *device, uint32_t first, uint32_t count, void *data);

/* Writes count sectors from first on. When it returns 0 they are on flash, whatever happens to
 * the power. */
int32_t tandem_write(tandem_t *device, uint32_t first, uint32_t count, const void *data);

/* Writes, and says how long the data is expected to live: one of TANDEM_LIFE_.... The FTL may
 * use that; what it promises is the same. */
int32_t tandem_write_hinted(
    tandem_t *device,
    uint32_t first,
    uint32_t count,
    const void *data,
    uint32_t life);

/* Trims count sectors from first on: they read as zeros, and cost no copies any more. */
int32_t tandem_trim(tandem_t *device, uint32_t first, uint32_t count);

/* Makes all writes durable. They are already; it says whether the device still works. */
int32_t tandem_flush(tandem_t *device);

/* Does work while the host is idle, so that later requests need not: at most pages page copies.
 * Returns TANDEM_WORK_LEFT if more is left, 0 if not, or an error. */
int32_t tandem_maintain(tandem_t *device, uint32_t pages);

/* Starts a scrub: tandem_maintain then reads every page once, and refreshes those that fade.
 * Call it every few weeks. */
int32_t tandem_scrub(tandem_t *device);

/* Does now what a mount left to the first write: repairs what a power cut may have touched. */
int32_t tandem_settle(tandem_t *device);

/* Call it before power is switched off: the next mount is quick then. The device stays mounted. */
int32_t tandem_stop(tandem_t *device);

/* Tells reserve, wear and corrected errors. */
int32_t tandem_health(tandem_t *device, tandem_health_t *health);

/* Tells more about what the last request returned, as far as a request can say more. */
int32_t tandem_detail(tandem_t *device, tandem_detail_t *detail);

/* Fills in the defaults for a chip of one region, whose first log_blocks become the log. */
int32_t tandem_hybrid_config_one_region(tandem_hybrid_config_t *config, uint32_t log_blocks);

/* Fills in the defaults for a chip of two regions, the first of which is the log. */
int32_t tandem_hybrid_config_two_regions(tandem_hybrid_config_t *config);

/* Fills in chip and configuration of a profile, one of TANDEM_HYBRID_PROFILE_.... */
int32_t tandem_hybrid_profile(
    uint32_t profile,
    tandem_geometry_t *geometry,
    tandem_hybrid_config_t *config);

/* As tandem_ram_bytes. */
int32_t tandem_hybrid_ram_bytes(
    const tandem_geometry_t *geometry,
    const tandem_hybrid_config_t *config,
    size_t *bytes,
    tandem_detail_t *detail);

/* As tandem_worst_case. */
int32_t tandem_hybrid_worst_case(
    const tandem_geometry_t *geometry,
    const tandem_hybrid_config_t *config,
    uint32_t count,
    tandem_worst_case_t *worst);

/* As tandem_format. */
int32_t tandem_hybrid_format(
    const tandem_hybrid_start_t *start,
    uint32_t key,
    tandem_hybrid_t **device,
    tandem_detail_t *detail);

/* As tandem_mount. */
int32_t tandem_hybrid_mount(
    const tandem_hybrid_start_t *start,
    tandem_hybrid_t **device,
    tandem_detail_t *detail);

/* As tandem_close. */
int32_t tandem_hybrid_close(tandem_hybrid_t *device);

/* As tandem_capacity. */
uint32_t tandem_hybrid_capacity(tandem_hybrid_t *device);

/* As tandem_sector_bytes. */
uint32_t tandem_hybrid_sector_bytes(tandem_hybrid_t *device);

/* As tandem_read. */
int32_t tandem_hybrid_read(tandem_hybrid_t *device, uint32_t first, uint32_t count, void *data);

/* As tandem_write. */
int32_t tandem_hybrid_write(
    tandem_hybrid_t *device,
    uint32_t first,
    uint32_t count,
    const void *data);

/* As tandem_write_hinted. */
int32_t tandem_hybrid_write_hinted(
    tandem_hybrid_t *device,
    uint32_t first,
    uint32_t count,
    const void *data,
    uint32_t life);

/* As tandem_trim. */
int32_t tandem_hybrid_trim(tandem_hybrid_t *device, uint32_t first, uint32_t count);

/* As tandem_flush. */
int32_t tandem_hybrid_flush(tandem_hybrid_t *device);

/* As tandem_maintain. */
int32_t tandem_hybrid_maintain(tandem_hybrid_t *device, uint32_t pages);

/* As tandem_scrub. */
int32_t tandem_hybrid_scrub(tandem_hybrid_t *device);

/* As tandem_settle. */
int32_t tandem_hybrid_settle(tandem_hybrid_t *device);

/* As tandem_stop. */
int32_t tandem_hybrid_stop(tandem_hybrid_t *device);

/* As tandem_health. */
int32_t tandem_hybrid_health(tandem_hybrid_t *device, tandem_health_t *health);

/* As tandem_detail. */
int32_t tandem_hybrid_detail(tandem_hybrid_t *device, tandem_detail_t *detail);

/* Examines a driver on its board, on blocks whose content is lost: one of TANDEM_EXAMINE_....
 * Returns 0 if it keeps the contract as far as this step shows, TANDEM_EXAMINED_..., or an
 * error. It needs no mounted device. */
int32_t tandem_examine(
    const tandem_nand_t *nand,
    const tandem_lent_t *lent,
    uint32_t what,
    tandem_shown_t *shown);

#ifdef __cplusplus
}
#endif

#endif
