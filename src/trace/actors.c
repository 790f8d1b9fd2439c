/* actors.c - processes: ranks, main ones and workers, and what they share.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/analysis.h"
#include "trace/analysis_private.h"

#define DEPTH 64 /* of the tree: what a file says could be a ring */

static const struct wr_trace_process *process(const struct wr_trace_analysis *a,
                                              int32_t k)
{
    return wr_trace_file_process(a->file, (size_t)k);
}

static int32_t rank_of(const struct wr_trace_analysis *a, int32_t k)
{
    for (int depth = 0; k >= 0 && depth < DEPTH; depth++) {
        if (process(a, k)->rank >= 0)
            return process(a, k)->rank;
        k = process(a, k)->parent;
    }
    return -1;
}

void wr_trace_ranks(struct wr_trace_analysis *a)
{
    uint64_t seen[16] = {0};

    for (size_t k = 0; k < a->actor_count; k++) {
        int32_t r = rank_of(a, (int32_t)k);

        a->actors[k].rank = r;
        if (r < 0)
            continue;
        r %= 1024;
        if (!(seen[r / 64] >> (r % 64) & 1))
            a->ranks++;
        seen[r / 64] |= UINT64_C(1) << (r % 64);
    }
}

static const char *last_part(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path ? path : "";
}

/* Whether `k` is a child that its parent made to share its work: a copy of it,
 * or one of Python's multiprocessing. */
static bool is_helper_of(const struct wr_trace_analysis *a, int32_t k,
                         int32_t parent)
{
    const struct wr_trace_process *c = process(a, k), *p = process(a, parent);
    const char *argv = c->argv ? c->argv : "";

    if (strcmp(last_part(c->program), last_part(p->program)) != 0 ||
        a->actors[k].rank != a->actors[parent].rank)
        return false;
    return !strcmp(argv, p->argv ? p->argv : "") ||
           strstr(argv, "multiprocessing") || strstr(argv, "spawn_main");
}

static int32_t main_of(const struct wr_trace_analysis *a, int32_t k)
{
    for (int depth = 0; depth < DEPTH; depth++) {
        int32_t parent = process(a, k)->parent;

        if (parent < 0 || !is_helper_of(a, k, parent))
            break;
        k = parent;
    }
    return k;
}

static int by_start(const void *x, const void *y, void *arg)
{
    const struct wr_trace_analysis *a = arg;
    uint64_t p = process(a, *(const int32_t *)x)->start_ns;
    uint64_t q = process(a, *(const int32_t *)y)->start_ns;

    return (p > q) - (p < q);
}

/* Workers of one main process, in order of their start: one that begins after
 * another one of its generation has ended begins a new one. */
static void count_generations(struct wr_trace_analysis *a, int32_t *list,
                              size_t n)
{
    uint64_t first_end = UINT64_MAX;
    uint32_t generation = 0, at_once = 0;

    qsort_r(list, n, sizeof(*list), by_start, a);
    for (size_t k = 0; k < n; k++) {
        const struct wr_trace_process *p = process(a, list[k]);

        if (!generation || p->start_ns >= first_end) {
            generation++;
            at_once = 0;
            first_end = UINT64_MAX;
        }
        first_end = WR_MIN(first_end, p->end_ns);
        a->actors[list[k]].generation = generation;
        at_once++;
        a->workers_at_once = WR_MAX(a->workers_at_once, at_once);
    }
    a->generations = WR_MAX(a->generations, generation);
}

static void find_generations(struct wr_trace_analysis *a)
{
    int32_t *list = malloc((a->actor_count + 1) * sizeof(*list));

    for (size_t m = 0; list && m < a->actor_count; m++) {
        size_t n = 0;

        if (a->actors[m].job != WR_TRACE_JOB_MAIN)
            continue;
        for (size_t k = 0; k < a->actor_count; k++)
            if (a->actors[k].job == WR_TRACE_JOB_WORKER &&
                a->actors[k].main == (int32_t)m)
                list[n++] = (int32_t)k;
        if (n)
            count_generations(a, list, n);
    }
    free(list);
}

/* Processes that read a fair part of the data set; the others look at a file or
 * two. */
static bool is_reader(const struct wr_trace_analysis *a, size_t k,
                      uint64_t most)
{
    return a->actors[k].set_bytes && a->actors[k].set_bytes >= most / 100;
}

void wr_trace_jobs(struct wr_trace_analysis *a)
{
    uint64_t most = 0;

    for (size_t k = 0; k < a->actor_count; k++) {
        a->actors[k].main = -1;
        most = WR_MAX(most, a->actors[k].set_bytes);
    }
    for (size_t k = 0; k < a->actor_count; k++) {
        int32_t m = main_of(a, (int32_t)k);

        if (!is_reader(a, k, most) && !a->actors[k].data.bytes_written)
            continue;
        a->actors[k].main = m;
        if (m == (int32_t)k)
            a->actors[k].job = WR_TRACE_JOB_MAIN;
        else if (is_reader(a, k, most))
            a->actors[k].job = WR_TRACE_JOB_WORKER;
    }
    for (size_t k = 0; k < a->actor_count; k++) {
        struct wr_trace_actor *p = &a->actors[k];

        if (p->job != WR_TRACE_JOB_WORKER)
            continue;
        a->actors[p->main].job = WR_TRACE_JOB_MAIN;
        a->actors[p->main].main = p->main;
        a->workers++;
    }
    for (size_t k = 0; k < a->actor_count; k++)
        a->mains += a->actors[k].job == WR_TRACE_JOB_MAIN;
    find_generations(a);
}

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
