/* residency.h - how much of one open file is in the page cache.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MONITOR_RESIDENCY_H
#define WR_MONITOR_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/error.h"

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

#endif
