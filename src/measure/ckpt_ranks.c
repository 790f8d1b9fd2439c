/* ckpt_ranks.c - what several ranks found about saving, as one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/ckpt_ranks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "result/stats.h"

int wr_ckpt_join_save(const struct wr_together *t, struct wr_ckpt_bench_save *s,
                      weir_err *err)
{
    double *times[] = {&s->stall, &s->blocked,  &s->fast,
                       &s->slow,  &s->verified, &s->drain};
    int r = 0;

    s->own = s->stall;
    for (size_t i = 0; r == 0 && i < WR_ARRAY_LEN(times); i++)
        r = wr_together_slowest(t, times[i], err);
    return r;
}

static double own_median(const struct wr_ckpt_bench_case *k)
{
    double *v = calloc(k->count + 1, sizeof(*v)), m = 0;

    for (unsigned i = 0; v && i < k->count; i++)
        v[i] = k->saves[i].own;
    if (v && k->count)
        m = wr_stats_median(v, k->count);
    free(v);
    return m;
}

static int take_in(const struct wr_comm_part *parts, uint32_t world,
                   struct wr_ckpt_bench_case *k, weir_err *err)
{
    k->ranks = calloc(world, sizeof(*k->ranks));
    if (!k->ranks)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    k->memory = 0;
    for (uint32_t i = 0; i < world; i++) {
        if (parts[i].len != sizeof(*k->ranks))
            return wr_fail(err, WEIR_EFORMAT,
                           "what rank %u sent cannot be read", i);
        memcpy(&k->ranks[i], parts[i].bytes, sizeof(*k->ranks));
        k->ranks[i].host[sizeof(k->ranks[i].host) - 1] = '\0';
        k->memory += k->ranks[i].memory;
    }
    k->rank_count = world;
    return 0;
}

int wr_ckpt_join_case(const struct wr_together *t, uint64_t bytes,
                      struct wr_ckpt_bench_case *k, weir_err *err)
{
    struct wr_ckpt_bench_rank mine;
    struct wr_comm_part *parts = NULL;
    int r;

    if (!wr_together_is(t))
        return 0;
    memset(&mine, 0, sizeof(mine)); /* holes are sent, too */
    gethostname(mine.host, sizeof(mine.host) - 1);
    mine.stall = own_median(k);
    mine.bytes = bytes;
    mine.memory = k->memory;
    r = wr_together_slowest(t, &k->restore, err);
    if (r == 0)
        r = wr_comm_gather(t->comm, &mine, sizeof(mine), &parts, err);
    if (r == 0 && parts)
        r = take_in(parts, t->comm->world, k, err);
    free(parts);
    return r;
}
