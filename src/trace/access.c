/* access.c - how files of the data set are shared, and in which order they are
 * read, in words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/analysis.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"

#define RANKS 1024

/* Least and most bytes of the data set that a rank has read. */
static void balance(const struct wr_trace_analysis *a, uint64_t *ret_least,
                    uint64_t *ret_most)
{
    uint64_t bytes[RANKS] = {0};

    *ret_least = UINT64_MAX;
    *ret_most = 0;
    for (size_t k = 0; k < a->actor_count; k++)
        if (a->actors[k].rank >= 0)
            bytes[a->actors[k].rank % RANKS] += a->actors[k].set_bytes;
    for (size_t k = 0; k < RANKS; k++)
        if (bytes[k]) {
            *ret_least = WR_MIN(*ret_least, bytes[k]);
            *ret_most = WR_MAX(*ret_most, bytes[k]);
        }
}

static const char *sharing(const struct wr_trace_analysis *a)
{
    if (a->ranks < 2)
        return a->set_files > 1 ? "many files" : "one file";
    if (!a->shared_files)
        return "each rank has files of its own";
    return a->same_bytes * 3 > a->set_bytes
               ? "ranks share files and read the same places"
               : "ranks share files and read different places";
}

static const char *order(const struct wr_trace_analysis *a)
{
    if (a->set_consecutive * 10 >= a->set_reads * 9)
        return "one request behind the other";
    return a->set_sequential * 10 >= a->set_reads * 9 ? "forwards with gaps"
                                                      : "here and there";
}

const char *wr_trace_access_text(const struct wr_trace_analysis *a, char *buf,
                                 size_t cap)
{
    uint64_t least, most;
    int n = snprintf(buf, cap, "%s, read %s", sharing(a), order(a));

    balance(a, &least, &most);
    if (a->ranks > 1 && most && n > 0 && (size_t)n < cap)
        snprintf(buf + n, cap - (size_t)n, "; %.1f to %.1f MB per rank",
                 (double)least * 1e-6, (double)most * 1e-6);
    return buf;
}
