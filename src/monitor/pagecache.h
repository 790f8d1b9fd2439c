/* pagecache.h - asks, empties and fills the page cache, file by file.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A measurement on a cold cache is one only if the cache was cold: every
 * action ends by asking the kernel what is resident now, and the report says
 * it. Files are worked on by several threads, since there are thousands. */
#ifndef WR_MONITOR_PAGECACHE_H
#define WR_MONITOR_PAGECACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

#define WR_PAGECACHE_NAMED 8 /* failures that are kept by name */

/* What to work on. */
struct wr_pagecache_job {
    char *const *paths; /* borrowed: regular files */
    size_t count;
    unsigned threads;  /* 0: chosen by the action */
    bool mincore_only; /* do not use cachestat (for tests) */

    /* Called from any of the threads after each file, and within large ones; may be NULL. A true
     * answer stops the work: WEIR_ECANCELED. */
    bool (*progress)(void *ctx, uint64_t done_files, uint64_t done_bytes);
    void *ctx; /* borrowed */
};

/* What was found, after the action. A file that failed counts in `failures`
 * and nowhere else. */
struct wr_pagecache_report {
    uint64_t files, bytes;
    uint64_t resident_bytes, dirty_bytes; /* now, after the action */
    uint64_t unknown_files; /* of these the kernel does not tell residency */
    uint64_t synced_files;  /* drop: had dirty pages, written out first */
    uint64_t failures;
    unsigned means; /* enum wr_residency_means that were used, as bits */
    size_t named;   /* entries of `failed`: "'name': reason" */
    char failed[WR_PAGECACHE_NAMED][sizeof(((weir_err *)0)->msg)];
};

/* Only asks. */
int wr_pagecache_status(const struct wr_pagecache_job *job,
                        struct wr_pagecache_report *ret, weir_err *err);

/* Writes out dirty pages (fdatasync) and drops the file's pages
 * (posix_fadvise DONTNEED). Pages that are mapped or locked stay. */
int wr_pagecache_drop(const struct wr_pagecache_job *job,
                      struct wr_pagecache_report *ret, weir_err *err);

/* Starts reading ahead, then reads every byte. */
int wr_pagecache_warm(const struct wr_pagecache_job *job,
                      struct wr_pagecache_report *ret, weir_err *err);

/* The same for one open file: its residency after dropping. */
struct wr_residency;
int wr_pagecache_drop_fd(int fd, struct wr_residency *ret, weir_err *err);

enum {
    WR_DROP_PAGES = 1,    /* the page cache */
    WR_DROP_METADATA = 2, /* directory entries and inodes */
};

/* The whole machine's caches through /proc/sys/vm/drop_caches, after a sync
 * (dirty pages cannot be dropped). `what` is a sum of WR_DROP_...;
 * WEIR_EACCES where it is not permitted (not root, a container). */
int wr_pagecache_drop_all(unsigned what, weir_err *err);

/* Whether that may be asked for at all; drops nothing. */
int wr_pagecache_may_drop_all(weir_err *err);

enum wr_residency_means {
    WR_RESIDENCY_CACHESTAT = 1, /* cachestat(2), Linux 6.5 and later */
    WR_RESIDENCY_MINCORE = 2,   /* mincore(2): no word on dirty pages */
    WR_RESIDENCY_UNKNOWN = 4,   /* the kernel does not tell this user */
};

struct wr_residency {
    uint64_t bytes;          /* size of the file */
    uint64_t resident_bytes; /* of these, in the page cache */
    uint64_t dirty_bytes;    /* of these, not yet written; 0 by mincore */
    enum wr_residency_means means;
};

/* Asks the kernel about the regular file `fd`: by cachestat where there is
 * one, else by mincore, which is also used when `mincore_only`. Messages have
 * no file name: the caller knows it.
 *
 * Linux tells only those who own a file or may write to it (mincore since
 * 5.2, and cachestat later), lest one user watch what another reads. For
 * others `means` is WR_RESIDENCY_UNKNOWN and both counts are 0. */
int wr_residency_of(int fd, bool mincore_only, struct wr_residency *ret,
                    weir_err *err);

struct wr_walk {
    char **paths; /* owned, as is each */
    size_t count;
    uint64_t bytes;   /* sum of their sizes */
    uint64_t skipped; /* that could not be looked at */
    char reason[512]; /* of the first one skipped */
};

/* Collects each regular file once (by inode, in that order), symbolic links
 * followed, loops cut. A path in `roots` that cannot be looked at is a failure;
 * deeper down it counts as skipped, and a link to nothing is passed over. Free
 * with wr_walk_done. */
int wr_walk_init(struct wr_walk *ret, char *const *roots, size_t root_count,
                 weir_err *err);
void wr_walk_done(struct wr_walk *w);

#endif
