/* bench_ranks.c - one run of the benchmark by several ranks, as one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/bench_ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

#define VERDICTS (WEIR_VERDICT_CONVERT + 1)

/* Pipelines' times, and what is counted. */
static const size_t times[] = {
    offsetof(weir_stats, storage_wait_ns),
    offsetof(weir_stats, submit_ns),
    offsetof(weir_stats, decode_ns),
    offsetof(weir_stats, resample_ns),
    offsetof(weir_stats, idle_ns),
    offsetof(weir_stats, consumer_wait_ns),
    offsetof(weir_stats, consumer_busy_ns),
};
static const size_t counts[] = {
    offsetof(weir_stats, requests),
    offsetof(weir_stats, bad),
    offsetof(weir_stats, cache_ram_hits),
    offsetof(weir_stats, cache_dir_hits),
    offsetof(weir_stats, cache_misses),
    offsetof(weir_stats, cache_damaged),
    offsetof(weir_stats, cache_ram_bytes),
    offsetof(weir_stats, cache_dir_bytes),
};

static void describe(const struct wr_bench_run *run,
                     const struct wr_bench_result *bad,
                     struct wr_bench_rank *to)
{
    memset(to, 0, sizeof(*to)); /* holes are sent, too */
    if (gethostname(to->host, sizeof(to->host) - 1) < 0)
        to->host[0] = '\0';
    to->seconds = run->seconds;
    to->samples = run->samples;
    to->batches = run->batches;
    to->bytes = run->bytes;
    to->peak_bytes = run->peak_bytes;
    to->digest = run->digest;
    to->cpu_s = run->cpu_s_per_1000 * (double)run->samples / 1000;
    to->first_batch_ms = run->first_batch_ms;
    to->gap_p50_ms = run->gap_p50_ms;
    to->gap_p99_ms = run->gap_p99_ms;
    to->last_epoch_per_s = run->last_epoch_per_s;
    to->verdict = run->verdict;
    to->cores = run->cores;
    to->stats = run->stats;
    to->stats.io = NULL;
    memcpy(to->cache_error, run->cache_error, sizeof(to->cache_error));
    to->bad_count = bad->bad_count;
    if (!bad->bad_kept)
        return;
    to->bad = bad->bad[0];
    to->bad.text = NULL;
    snprintf(to->bad_text, sizeof(to->bad_text), "%s", bad->bad[0].text);
}

static int take_in(const struct wr_comm_part *parts, uint32_t world,
                   struct wr_bench_rank **ret, weir_err *err)
{
    struct wr_bench_rank *list = calloc(world, sizeof(*list));

    if (!list)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint32_t k = 0; k < world; k++) {
        if (parts[k].len != sizeof(*list)) {
            free(list);
            return wr_fail(err, WEIR_EFORMAT,
                           "what rank %u sent cannot be read", k);
        }
        memcpy(&list[k], parts[k].bytes, sizeof(*list));
        list[k].host[sizeof(list[k].host) - 1] = '\0';
        list[k].cache_error[sizeof(list[k].cache_error) - 1] = '\0';
        list[k].bad_text[sizeof(list[k].bad_text) - 1] = '\0';
    }
    *ret = list;
    return 0;
}

/* --- one run of them --- */

static uint64_t *at(weir_stats *s, size_t offset)
{
    return (uint64_t *)(void *)((char *)s + offset);
}

static void add_stats(weir_stats *to, const struct wr_bench_rank *list,
                      uint32_t n)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(times) + WR_ARRAY_LEN(counts); i++) {
        bool is_time = i < WR_ARRAY_LEN(times);
        size_t offset = is_time ? times[i] : counts[i - WR_ARRAY_LEN(times)];
        uint64_t sum = 0;

        for (uint32_t k = 0; k < n; k++)
            sum += *at((weir_stats *)(uintptr_t)&list[k].stats, offset);
        *at(to, offset) = is_time ? sum / n : sum;
    }
}

/* That of most ranks; where two have as many, the one of the slowest rank. */
static enum weir_verdict common_verdict(const struct wr_bench_rank *list,
                                        uint32_t n, uint32_t slowest)
{
    unsigned votes[VERDICTS] = {0}, most = 0;
    enum weir_verdict best = list[slowest].verdict;

    for (uint32_t k = 0; k < n; k++)
        if ((unsigned)list[k].verdict < VERDICTS)
            votes[list[k].verdict]++;
    for (unsigned v = 0; v < VERDICTS; v++)
        most = WR_MAX(most, votes[v]);
    for (unsigned v = 0; v < VERDICTS && votes[best] < most; v++)
        if (votes[v] == most)
            return (enum weir_verdict)v;
    return best;
}

/* To a rank the others of its host are other programs: here they are one. */
static void add_cores(struct wr_bench_run *run,
                      const struct wr_bench_rank *list, uint32_t n)
{
    unsigned wanted = 0;
    double others = 0;

    for (uint32_t k = 0; k < n; k++) {
        if (strcmp(list[k].host, list[0].host))
            continue;
        wanted += list[k].stats.workers;
        others += k ? list[k].cores.own : 0;
    }
    run->cores.own += others;
    run->cores.others = fmax(0, run->cores.others - others);
    run->starved = wr_cores_is_starved(&run->cores, wanted);
}

static void add_run(struct wr_bench_run *run, const struct wr_bench_rank *r)
{
    run->seconds = fmax(run->seconds, r->seconds);
    run->samples += r->samples;
    run->batches += r->batches;
    run->bytes += r->bytes;
    run->digest += r->digest;
    run->peak_bytes = WR_MAX(run->peak_bytes, r->peak_bytes);
    run->first_batch_ms = fmax(run->first_batch_ms, r->first_batch_ms);
    run->last_epoch_per_s += r->last_epoch_per_s;
    if (!*run->cache_error)
        memcpy(run->cache_error, r->cache_error, sizeof(run->cache_error));
}

static void combine(struct wr_bench_run *run, const struct wr_bench_rank *list,
                    uint32_t n)
{
    uint32_t slowest = 0;
    double cpu_s = 0;

    for (uint32_t k = 0; k < n; k++) {
        if (k)
            add_run(run, &list[k]);
        if (list[k].seconds > list[slowest].seconds)
            slowest = k;
        cpu_s += list[k].cpu_s;
    }
    run->samples_per_s = (double)run->samples / run->seconds;
    run->bytes_per_s = (double)run->bytes / run->seconds;
    run->cpu_s_per_1000 = run->samples ? cpu_s * 1000 / (double)run->samples
                                       : 0;
    run->gap_p50_ms = list[slowest].gap_p50_ms;
    run->gap_p99_ms = list[slowest].gap_p99_ms;
    run->verdict = common_verdict(list, n, slowest);
    add_stats(&run->stats, list, n);
    add_cores(run, list, n);
}

/* Counts, and the first one of each other rank. */
static void add_bad(struct wr_bench_result *to,
                    const struct wr_bench_rank *list, uint32_t n)
{
    weir_bad_sample *grown = realloc(to->bad,
                                     (to->bad_kept + n) * sizeof(*grown));

    if (grown)
        to->bad = grown;
    for (uint32_t k = 1; k < n; k++) {
        char *text = grown && list[k].bad_count ? strdup(list[k].bad_text)
                                                : NULL;

        to->bad_count += list[k].bad_count;
        if (!text)
            continue;
        to->bad[to->bad_kept] = list[k].bad;
        to->bad[to->bad_kept++].text = text;
    }
}

int wr_bench_join(const struct wr_together *t, struct wr_bench_run *run,
                  struct wr_bench_result *bad, weir_err *err)
{
    struct wr_bench_rank *mine;
    struct wr_comm_part *parts = NULL;
    int r;

    if (!wr_together_is(t))
        return 0;
    mine = malloc(sizeof(*mine));
    if (!mine)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    describe(run, bad, mine);
    r = wr_comm_gather(t->comm, mine, sizeof(*mine), &parts, err);
    if (r == 0 && parts)
        r = take_in(parts, t->comm->world, &run->ranks, err);
    if (r == 0 && parts) {
        run->rank_count = t->comm->world;
        combine(run, run->ranks, run->rank_count);
        add_bad(bad, run->ranks, run->rank_count);
    }
    free(parts);
    free(mine);
    return r;
}
