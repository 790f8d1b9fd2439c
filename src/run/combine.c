/* combine.c - what the accelerators and ranks of a run found, together.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/combine.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

static void add_times(struct wr_run_times *to, const struct wr_run_times *from)
{
    to->wall = WR_MAX(to->wall, from->wall);
    to->compute += from->compute;
    to->wait += from->wait;
    to->barrier += from->barrier;
    to->save += from->save;
    to->eval += from->eval;
}

static void add_accel(struct wr_run_rank *to, const struct wr_run_accel *a)
{
    struct wr_meter_counts *reads = calloc(1, sizeof(*reads));

    add_times(&to->t, &a->t);
    to->steps = WR_MAX(to->steps, a->steps);
    to->samples += a->samples;
    to->first_wait_ns = WR_MAX(to->first_wait_ns, a->first_wait_ns);
    to->load_ns = WR_MAX(to->load_ns, a->load_ns);
    to->stalls += a->stalls;
    to->digest += a->digest;
    wr_hist_merge(&to->waits, a->waits);
    if (!reads)
        return; /* the counts are short of this one's */
    wr_meter_take(a->meter, reads);
    wr_meter_add(&to->reads, reads);
    free(reads);
}

static void add_epoch(struct wr_run_epoch *to, const struct wr_run_epoch *from,
                      bool first)
{
    add_times(&to->t, &from->t);
    to->steps = from->steps;
    to->samples += from->samples;
    to->bytes += from->bytes;
    to->reads += from->reads;
    to->au_dlio += from->au_dlio;
    to->dlio_per_s += from->dlio_per_s;
    if (first) /* the first accelerator looked */
        to->resident = from->resident;
    if (first || from->start_wall_ns < to->start_wall_ns)
        to->start_wall_ns = from->start_wall_ns;
    to->end_wall_ns = WR_MAX(to->end_wall_ns, from->end_wall_ns);
}

/* One rank as bytes: a wr_run_rank and its epochs. */
struct rank_told {
    struct wr_run_rank rank;
    struct wr_run_epoch epochs[];
};

static size_t rank_bytes(const struct wr_run_job *job)
{
    return sizeof(struct rank_told) + job->epochs * sizeof(struct wr_run_epoch);
}

static void sum_up(const struct wr_run_job *job, const struct wr_usage *from,
                   struct rank_told *to)
{
    struct wr_usage now = {0}, used;

    gethostname(to->rank.host, sizeof(to->rank.host) - 1);
    to->rank.accelerators = job->plan->accelerators;
    for (unsigned k = 0; k < job->plan->accelerators; k++) {
        add_accel(&to->rank, &job->accels[k]);
        for (uint64_t e = 0; e < job->epochs; e++)
            add_epoch(&to->epochs[e], &job->accels[k].epochs[e], k == 0);
    }
    if (job->pool.counts)
        wr_meter_add(&to->rank.reads, job->pool.counts);
    to->rank.bytes = to->rank.reads.bytes;
    wr_usage_now(&now, NULL);
    used = wr_usage_between(from, &now);
    to->rank.cpu_s = used.user_s + used.sys_s;
    to->rank.peak_bytes = now.peak_rss_bytes;
}

static int take_parts(struct wr_run_job *job, const struct wr_comm_part *parts,
                      uint32_t count, weir_err *err)
{
    struct wr_run_result *ret = job->ret;
    size_t epochs = job->epochs * sizeof(struct wr_run_epoch);

    ret->ranks = calloc(count, sizeof(*ret->ranks));
    ret->epochs = calloc(count * WR_MAX(job->epochs, 1u), sizeof(*ret->epochs));
    if (!ret->ranks || !ret->epochs)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint32_t k = 0; k < count; k++) {
        const char *t = parts[k].bytes; /* not aligned: it came in a message */

        if (parts[k].len != rank_bytes(job))
            return wr_fail(err, WEIR_EFORMAT,
                           "what rank %u sent cannot be read", k);
        memcpy(&ret->ranks[k], t + offsetof(struct rank_told, rank),
               sizeof(ret->ranks[k]));
        ret->ranks[k].host[WR_RUN_HOST - 1] = '\0';
        if (epochs)
            memcpy(&ret->epochs[k * job->epochs],
                   t + offsetof(struct rank_told, epochs), epochs);
    }
    ret->rank_count = count;
    ret->epoch_count = job->epochs;
    return 0;
}

int wr_run_combine(struct wr_run_job *job, const struct wr_usage *from,
                   weir_err *err)
{
    struct rank_told *mine = calloc(1, rank_bytes(job));
    struct wr_comm_part *parts = NULL, own;
    int r;

    if (!mine)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    sum_up(job, from, mine);
    own = (struct wr_comm_part){mine, rank_bytes(job)};
    r = wr_comm_gather(job->plan->comm, mine, own.len, &parts, err);
    if (r == 0 && job->rank == 0)
        r = take_parts(job, parts, job->ranks, err);
    else if (r == 0) /* the others have their own */
        r = take_parts(job, &own, 1, err);
    free(parts);
    free(mine);
    return r;
}
