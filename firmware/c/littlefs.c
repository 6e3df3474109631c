/* littlefs over either FTL, with power cut at every operation of the chip, in every way: littlefs SEEDS.
 *
 * A script of files is played again and again on a new chip. Power fails in its first operation, then in its second, and so
 * on to its end. After each cut everything in RAM is gone; both are mounted, every file is compared with what was synced, the
 * blocks that littlefs holds are walked, and the rest of the script is played. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chip.h"
#include "ftl.h"
#include "lfs.h"
#include "model.h"

/* Two sectors are a block of littlefs. */
enum { BLOCK = 2 * SECTOR, BLOCKS = CAPACITY / 2, FILES = 7, MOST_BYTES = 4000, STATES = 4 };

static const char *const paths[FILES] = {"one", "two", "three", "four", "folder/five", "folder/six", "folder/seven"};

/* A file as it was synced: its bytes follow from a seed. */
struct file {
    uint32_t there, seed, bytes;
};

/* All files. */
struct state {
    struct file files[FILES];
    uint32_t folder;
};

/* What may be found: what was synced last, and what the step in flight leads to. */
static struct {
    struct state states[STATES];
    uint32_t count;
} may;

static const struct ftl *ftl;
static lfs_t lfs;
static uint8_t buffers[2][SECTOR], lookahead[16], file_buffer[SECTOR];
static const struct lfs_file_config file_config = {.buffer = file_buffer};

/* The disk. What littlefs calls erasing, the FTL takes as the word that nobody wants the data any more. */

static int told(int32_t outcome) {
    return outcome == TANDEM_OK ? 0 : LFS_ERR_IO;
}

#ifdef EARLY
/* A disk that acknowledges a write before it is on flash, whatever is flushed, to show that this would be found. */
static struct {
    uint8_t bytes[SECTOR];
    uint32_t sector, full;
} early;

static int32_t disk_settle(void) {
    int32_t outcome = early.full ? ftl->write(early.sector, 1, early.bytes, TANDEM_LIFE_UNKNOWN) : TANDEM_OK;
    early.full = 0;
    return outcome;
}

static int32_t disk_write(uint32_t sector, uint32_t count, const uint8_t *from) {
    int32_t outcome = TANDEM_OK;
    for (; outcome == TANDEM_OK && count > 0; sector++, from += SECTOR, count--) {
        outcome = disk_settle();
        early.sector = sector;
        early.full = 1;
        memcpy(early.bytes, from, SECTOR);
    }
    return outcome;
}

static int32_t disk_look(uint32_t sector, uint32_t count, uint8_t *to) {
    int32_t outcome = ftl->read(sector, count, to);
    if (early.full && early.sector - sector < count) {
        memcpy(to + (early.sector - sector) * SECTOR, early.bytes, SECTOR);
    }
    return outcome;
}

static void disk_forgets(void) {
    early.full = 0;
}
#else
static int32_t disk_settle(void) {
    return TANDEM_OK;
}

static int32_t disk_write(uint32_t sector, uint32_t count, const void *from) {
    return ftl->write(sector, count, from, TANDEM_LIFE_UNKNOWN);
}

static int32_t disk_look(uint32_t sector, uint32_t count, void *to) {
    return ftl->read(sector, count, to);
}

static void disk_forgets(void) {
}
#endif

static int disk_read(const struct lfs_config *c, lfs_block_t block, lfs_off_t at, void *to, lfs_size_t bytes) {
    (void)c;
    return told(disk_look((block * BLOCK + at) / SECTOR, bytes / SECTOR, to));
}

static int disk_program(const struct lfs_config *c, lfs_block_t block, lfs_off_t at, const void *from, lfs_size_t bytes) {
    (void)c;
    return told(disk_write((block * BLOCK + at) / SECTOR, bytes / SECTOR, from));
}

static int disk_erase(const struct lfs_config *c, lfs_block_t block) {
    (void)c;
    int32_t settled = disk_settle();
    return settled ? told(settled) : told(ftl->trim(block * (BLOCK / SECTOR), BLOCK / SECTOR));
}

static int disk_sync(const struct lfs_config *c) {
    (void)c;
    return told(ftl->flush());
}

static const struct lfs_config config = {
    .read = disk_read,
    .prog = disk_program,
    .erase = disk_erase,
    .sync = disk_sync,
    .read_size = SECTOR,
    .prog_size = SECTOR,
    .block_size = BLOCK,
    .block_count = BLOCKS,
    /* The FTL levels wear. */
    .block_cycles = -1,
    .cache_size = SECTOR,
    .lookahead_size = sizeof lookahead,
    .read_buffer = buffers[0],
    .prog_buffer = buffers[1],
    .lookahead_buffer = lookahead,
};

static uint8_t byte_of(uint32_t seed, uint32_t at) {
    uint32_t mixed = (at + seed * 0x9E37u) * 0x85EBCA6Bu;
    return (uint8_t)(mixed >> 24);
}

/* The steps of the script. Each says beforehand what it may leave. */

static struct state *begin(void) {
    may.states[1] = may.states[0];
    may.count = 2;
    return &may.states[1];
}

/* What was reached is synced. */
static void reached(uint32_t state) {
    memmove(may.states, may.states + state, (may.count - state) * sizeof *may.states);
    may.count -= state;
}

static int put(lfs_file_t *file, uint32_t seed, uint32_t from, uint32_t to) {
    uint8_t bytes[100];
    while (from < to) {
        uint32_t count = to - from < sizeof bytes ? to - from : (uint32_t)sizeof bytes;
        for (uint32_t at = 0; at < count; at++) {
            bytes[at] = byte_of(seed, from + at);
        }
        lfs_ssize_t written = lfs_file_write(&lfs, file, bytes, count);
        if (written != (lfs_ssize_t)count) {
            return written < 0 ? (int)written : LFS_ERR_IO;
        }
        from += count;
    }
    return 0;
}

/* Writes a file anew, and syncs it at its half. */
static int step_write(uint32_t which, uint32_t seed, uint32_t bytes) {
    struct file empty = {1, seed, 0}, half = {1, seed, bytes / 2}, whole = {1, seed, bytes};
    uint32_t created = !may.states[0].files[which].there;
    for (uint32_t at = 1; at < STATES; at++) {
        may.states[at] = may.states[0];
    }
    /* A new file is there, and empty, once it is opened; an old one keeps its bytes until it is synced. */
    may.states[1].files[which] = created ? empty : may.states[0].files[which];
    may.states[2].files[which] = half;
    may.states[3].files[which] = whole;
    may.count = STATES;
    lfs_file_t file;
    int error = lfs_file_opencfg(&lfs, &file, paths[which], LFS_O_WRONLY | LFS_O_CREAT | LFS_O_TRUNC, &file_config);
    if (error || (error = put(&file, seed, 0, bytes / 2)) || (error = lfs_file_sync(&lfs, &file))) {
        return error;
    }
    reached(2);
    if ((error = put(&file, seed, bytes / 2, bytes)) || (error = lfs_file_close(&lfs, &file))) {
        return error;
    }
    reached(1);
    return 0;
}

static int step_append(uint32_t which, uint32_t unused, uint32_t bytes) {
    (void)unused;
    struct file *after = &begin()->files[which];
    uint32_t seed = after->seed, before = after->bytes;
    after->bytes += bytes;
    lfs_file_t file;
    int error = lfs_file_opencfg(&lfs, &file, paths[which], LFS_O_WRONLY | LFS_O_APPEND, &file_config);
    if (error || (error = put(&file, seed, before, before + bytes)) || (error = lfs_file_close(&lfs, &file))) {
        return error;
    }
    reached(1);
    return 0;
}

static int step_rename(uint32_t from, uint32_t to, uint32_t unused) {
    (void)unused;
    struct state *after = begin();
    after->files[to] = after->files[from];
    after->files[from].there = 0;
    int error = lfs_rename(&lfs, paths[from], paths[to]);
    if (!error) {
        reached(1);
    }
    return error;
}

static int step_remove(uint32_t which, uint32_t unused, uint32_t unused_too) {
    (void)unused;
    (void)unused_too;
    begin()->files[which].there = 0;
    int error = lfs_remove(&lfs, paths[which]);
    if (!error) {
        reached(1);
    }
    return error;
}

static int step_folder(uint32_t unused, uint32_t unused_too, uint32_t unused_three) {
    (void)unused;
    (void)unused_too;
    (void)unused_three;
    begin()->folder = 1;
    int error = lfs_mkdir(&lfs, "folder");
    if (!error) {
        reached(1);
    }
    return error;
}

static const struct step {
    int (*take)(uint32_t, uint32_t, uint32_t);
    uint32_t one, two, three;
} script[] = {
    {step_write, 0, 1, 1500},  {step_write, 1, 2, 60},    {step_folder, 0, 0, 0},   {step_write, 4, 3, 3000},
    {step_append, 1, 0, 500},  {step_rename, 0, 2, 0},    {step_write, 0, 4, 2500}, {step_append, 4, 0, 900},
    {step_rename, 0, 2, 0},    {step_rename, 2, 5, 0},    {step_write, 3, 5, 10},   {step_remove, 1, 0, 0},
    {step_write, 5, 6, 1100},  {step_rename, 5, 1, 0},    {step_append, 3, 0, 990}, {step_write, 6, 7, 3500},
    {step_rename, 6, 4, 0},    {step_remove, 3, 0, 0},    {step_write, 4, 8, 2000}, {step_append, 1, 0, 1700},
};
enum { STEPS = sizeof script / sizeof *script };

/* What is found after a cut. */

static const char *wrong;

static int is_file(const char *path, const struct file *expected) {
    static uint8_t bytes[MOST_BYTES + 1];
    lfs_file_t file;
    int error = lfs_file_opencfg(&lfs, &file, path, LFS_O_RDONLY, &file_config);
    if (error) {
        return error == LFS_ERR_NOENT && !expected->there;
    }
    lfs_ssize_t count = lfs_file_read(&lfs, &file, bytes, sizeof bytes);
    int same = expected->there && count == (lfs_ssize_t)expected->bytes;
    for (uint32_t at = 0; same && at < expected->bytes; at++) {
        same = bytes[at] == byte_of(expected->seed, at);
    }
    return lfs_file_close(&lfs, &file) == 0 && same;
}

/* How many entries a folder has, but itself and the one above. A folder that is not there has none. */
static uint32_t entries(const char *path) {
    lfs_dir_t folder;
    struct lfs_info info;
    uint32_t count = 0;
    if (lfs_dir_open(&lfs, &folder, path)) {
        return 0;
    }
    while (lfs_dir_read(&lfs, &folder, &info) > 0) {
        count += strcmp(info.name, ".") && strcmp(info.name, "..");
    }
    lfs_dir_close(&lfs, &folder);
    return count;
}

static int is_state(const struct state *expected) {
    struct lfs_info info;
    uint32_t outer = expected->folder, inner = 0;
    if ((lfs_stat(&lfs, "folder", &info) == 0) != (expected->folder == 1)) {
        return 0;
    }
    for (uint32_t which = 0; which < FILES; which++) {
        *(strchr(paths[which], '/') ? &inner : &outer) += expected->files[which].there;
        if (!is_file(paths[which], &expected->files[which])) {
            return 0;
        }
    }
    return entries("/") == outer && entries("folder") == inner;
}

static uint8_t held[BLOCKS];
/* The blocks of the folder itself, which are told twice: by the one before in littlefs's list, and by the folder above. */
static lfs_block_t folder_blocks[2];

static int hold(void *unused, lfs_block_t block) {
    (void)unused;
    if (block >= BLOCKS) {
        wrong = "littlefs holds a block that is not there";
    } else if (held[block]++ && block != folder_blocks[0] && block != folder_blocks[1]) {
        wrong = "littlefs holds a block twice";
    }
    return 0;
}

/* The files are one of the states that they may have, and nothing is held twice. */
static const char *compare(void) {
    uint32_t state = 0;
    while (state < may.count && !is_state(&may.states[state])) {
        state++;
    }
    if (state == may.count) {
        return "the files are not what was synced";
    }
    may.states[0] = may.states[state];
    may.count = 1;
    memset(held, 0, sizeof held);
    lfs_dir_t folder;
    folder_blocks[0] = folder_blocks[1] = BLOCKS;
    if (may.states[0].folder && lfs_dir_open(&lfs, &folder, "folder") == 0) {
        memcpy(folder_blocks, folder.m.pair, sizeof folder_blocks);
        lfs_dir_close(&lfs, &folder);
    }
    wrong = 0;
    if (lfs_fs_traverse(&lfs, hold, 0)) {
        return "littlefs cannot be walked";
    }
    return wrong;
}

/* A chip with both of them on it, and no file; but so much was written that the FTL collects garbage in what follows. */
static const char *new_disk(uint32_t key) {
    model_again();
    disk_forgets();
    memset(&may, 0, sizeof may);
    may.count = 1;
    if (ftl->format(key)) {
        return ftl_detail();
    }
    int error = lfs_format(&lfs, &config) || lfs_mount(&lfs, &config);
    for (uint32_t round = 0; !error && round < 40 + key % 16; round++) {
        error = step_write(0, round, 4000);
    }
    return error || step_remove(0, 0, 0) ? "littlefs cannot be made" : 0;
}

/* Plays the script from that step on, until power fails or it ends. Returns the step that was in flight. */
static uint32_t play(uint32_t step) {
    while (step < STEPS && script[step].take(script[step].one, script[step].two, script[step].three) == 0) {
        step++;
    }
    return step;
}

/* Plays with a cut after so many operations. Sets *cut if it came. */
static const char *play_with_cut(uint32_t operations, uint32_t seed, int *cut) {
    const char *fault = new_disk(seed);
    if (fault) {
        return fault;
    }
    chip_cut_after(operations, seed);
    uint32_t step = play(0);
    *cut = chip_power_again();
    if (step < STEPS && !*cut) {
        return "a step failed with power on";
    }
    disk_forgets();
    int32_t outcome = ftl->mount();
    if (outcome) {
        return tandem_error_text(outcome);
    }
    /* Where a file was half moved, littlefs 2.9 does not show the one behind it until that is mended, on any disk. */
    if (lfs_mount(&lfs, &config) || lfs_fs_mkconsistent(&lfs)) {
        return "littlefs does not mount";
    }
    if ((fault = compare())) {
        return fault;
    }
    /* The step in flight may have come to its end: what follows builds upon what is there. */
    struct state reached_state = may.states[0];
    for (uint32_t which = 0; which < FILES; which++) {
        int error = reached_state.folder || which < 4 ? step_write(which, 100 + which, 700) : 0;
        if (error) {
            return "a file cannot be written after a cut";
        }
    }
    return compare();
}

static const char *play_all(const char *name, uint32_t seeds) {
    uint32_t cuts = 0;
    for (uint32_t seed = 1; seed <= seeds; seed++) {
        int cut = 1;
        for (uint32_t operations = 0; cut; operations++) {
            const char *fault = play_with_cut(operations, seed, &cut);
            if (fault) {
                printf("%s, cut %u of seed %u: %s\n", name, (unsigned)operations, (unsigned)seed, fault);
                return fault;
            }
            cuts += (uint32_t)cut;
        }
    }
    printf("littlefs over %s: power cut at each of %u operations, %u cuts, and every file compared after each\n", name,
           (unsigned)(cuts / seeds), (unsigned)cuts);
    return 0;
}

int main(int count, char **arguments) {
    uint32_t seeds = count > 1 ? (uint32_t)strtoul(arguments[1], 0, 10) : 1;
    ftl = &page_store;
    const char *fault = play_all("the page store", seeds);
    if (!fault) {
        ftl = &hybrid;
        fault = play_all("the hybrid", seeds);
    }
    model_gone();
    puts(fault ? "FAILED" : "PASSED");
    return fault != 0;
}
