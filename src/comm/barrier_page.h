/* barrier_page.h - the memory in which the ranks of one host wait.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first of them makes it; the others open it through /proc. */
#ifndef WR_COMM_BARRIER_PAGE_H
#define WR_COMM_BARRIER_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

/* One rank's value, in a cache line of its own: the others write theirs. */
struct wr_page_slot {
    _Alignas(64) _Atomic uint64_t value;
    _Atomic uint64_t rounds; /* barriers that it has come to */
};

struct wr_page {
    uint64_t magic, token;
    uint32_t count;                /* of slots */
    _Alignas(64) atomic_uint come; /* ranks that wait in this round */
    _Alignas(64) atomic_uint round;
    _Atomic uint64_t largest; /* of the last round; written before `round` */
    atomic_int failed;        /* 0, or a code: `why` is written */
    atomic_int writing;       /* 1: somebody writes `why` */
    char why[sizeof(((weir_err *)NULL)->msg)];
    struct wr_page_slot slots[];
};

/* Room for bytes that pass from one rank to the others: two halves, one of which
 * is filled while the other is emptied. Takes no memory until it is used. */
#define WR_PAGE_HALF ((size_t)1 << 20)
char *wr_page_half(struct wr_page *p, unsigned which);

/* A page of this process; its descriptor says where others find it. */
int wr_page_make(uint32_t count, uint64_t token, struct wr_page **ret,
                 int *ret_fd, weir_err *err);
/* The page that process `pid` has open as `fd`. */
int wr_page_find(int pid, int fd, uint32_t count, uint64_t token,
                 struct wr_page **ret, weir_err *err);
void wr_page_unmap(struct wr_page *p, uint32_t count);

/* Sleeps while *word is `value`, at most `ns`. */
void wr_page_wait(atomic_uint *word, unsigned value, uint64_t ns);
void wr_page_wake(atomic_uint *word); /* all that sleep there */

/* The first failure is the one that all report. */
void wr_page_fail(struct wr_page *p, const weir_err *why);

#endif
