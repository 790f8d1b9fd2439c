/* simfs.h - files and folders in memory, as the sum of operations.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a program sees is all operations, one after the other; what a power cut
 * leaves is some of them, in the same order. Both are built by sim_fs_apply.
 * Copies of a file system share files until one of them changes, and changed
 * files share the sectors that did not. A folder or file has one place (folder
 * and name) or none. */
#ifndef SIMFS_H
#define SIMFS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/storage.h"

#define SIM_NAME 80
#define SIM_NONE UINT32_MAX       /* no node */
#define SIM_ROOT (UINT32_MAX - 1) /* the folder of the stores' roots */

struct sim_page {
    atomic_uint refs;
    uint64_t hash; /* 0: not known yet */
    uint8_t bytes[];
};

/* What is in a file; changed only by the one who has it alone. */
struct sim_data {
    atomic_uint refs;
    uint64_t hash; /* 0: not known yet */
    uint64_t size;
    struct sim_page **pages; /* owned array of refs; NULL: zeros */
    size_t page_count;
};

enum sim_what {
    SIM_WRITE,     /* a sector of a file */
    SIM_SIZE,      /* of a file */
    SIM_PLACE,     /* made or renamed: it is there and nowhere else, and what
                      was there is gone */
    SIM_GONE,      /* removed from there */
    SIM_SYNC_FILE, /* no change: what was before is on the medium */
    SIM_SYNC_DIR,
    SIM_SYNC_BAD, /* of a file, failed: what was before never gets there */
};

struct sim_op {
    enum sim_what what;
    enum wr_kind kind; /* of the node */
    uint32_t node;
    uint32_t from;         /* PLACE: folder that it was in, SIM_NONE: new */
    uint32_t to;           /* PLACE, GONE: the folder */
    uint32_t replaced;     /* PLACE: what was there, SIM_NONE */
    uint64_t at;           /* WRITE: sector; SIZE: bytes */
    struct sim_page *page; /* WRITE: ref */
    char name[SIM_NAME];   /* PLACE, GONE */
    bool swaps;            /* PLACE: what was there takes the node's place */
};

struct sim_node {
    enum wr_kind kind;
    uint32_t parent; /* SIM_NONE: it has no place */
    uint32_t name_len;
    char name[SIM_NAME];
    struct sim_data *data; /* ref; NULL: empty */
    const void *locked_by; /* the object that has it */
};

struct sim_fs {
    unsigned sector;
    struct sim_node *nodes; /* owned */
    size_t count, cap;
};

/* Memory that is there, or the test ends. */
void *sim_alloc(size_t count, size_t size);

/* Of `sector` bytes: a copy of `bytes`, zeros when NULL. */
struct sim_page *sim_page_new(unsigned sector, const void *bytes);
struct sim_page *sim_page_ref(struct sim_page *p);
void sim_page_unref(struct sim_page *p); /* takes NULL */

void sim_fs_copy(const struct sim_fs *from, struct sim_fs *ret);
void sim_fs_done(struct sim_fs *fs);
void sim_fs_apply(struct sim_fs *fs, const struct sim_op *op);
/* Numbers 0 to count - 1 are nodes. */
void sim_fs_grow(struct sim_fs *fs, size_t count);

uint64_t sim_fs_size(const struct sim_fs *fs, uint32_t node);
/* NULL: zeros. */
const struct sim_page *sim_fs_page(const struct sim_fs *fs, uint32_t node,
                                   uint64_t at);

/* Empties a file. */
void sim_fs_forget(struct sim_fs *fs, uint32_t node);

/* The node at a place; SIM_NONE. */
uint32_t sim_fs_at(const struct sim_fs *fs, uint32_t parent, const char *name,
                   size_t name_len);
bool sim_fs_is_empty(const struct sim_fs *fs, uint32_t dir);
/* Of all that can be reached from the roots, or from one of them. Remembers
 * sums in what copies share: not for two threads at a time. */
uint64_t sim_fs_hash(const struct sim_fs *fs);
uint64_t sim_fs_hash_root(const struct sim_fs *fs, const char *root);

#endif
