/* ckpt_ranks.c - what several ranks found about saving, as one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/ckpt_ranks.h"

#include <unistd.h>

#include "base/error.h"

int wr_ckpt_join_save(const struct wr_together *t,
                      struct wr_ckpt_save_values *s, weir_err *err)
{
    int r = 0;

    s->own_s = s->stall_s;
    for (const struct wr_val *v = wr_ckpt_save_vals.rows; r == 0 && v->key; v++)
        if (v->gather == WR_OF_MAX)
            r = wr_together_slowest(t, (void *)((char *)s + v->at), err);
    return r;
}

/* What a rank tells of a way. */
static json_t *describe(const struct wr_ckpt_bench_case *k, uint32_t rank)
{
    struct wr_ckpt_save_values median;
    struct wr_ckpt_rank_values v;
    char host[65] = "";

    gethostname(host, sizeof(host) - 1);
    wr_vals_median(&wr_ckpt_save_vals, &median, &k->v.runs);
    v = (struct wr_ckpt_rank_values){.rank = rank,
                                     .host = host,
                                     .stall_s = median.own_s,
                                     .bytes = k->v.result.bytes,
                                     .memory = k->v.memory};
    return wr_vals_json(&wr_ckpt_rank_vals, &v, WR_FOR_RANKS);
}

int wr_ckpt_join_case(const struct wr_together *t, struct wr_ckpt_bench_case *k,
                      weir_err *err)
{
    struct wr_ckpt_rank_values all;
    int r;

    if (!wr_together_is(t))
        return 0;
    r = wr_together_slowest(t, &k->v.result.restore_s, err);
    if (r == 0)
        r = wr_together_gather(t, describe(k, t->comm->rank), &k->said, err);
    if (r < 0 || !k->said)
        return r;
    if (!wr_vals_read_list(&wr_ckpt_rank_vals, k->said, &k->v.ranks))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    wr_vals_clear(&wr_ckpt_rank_vals, &all);
    wr_vals_gather(&wr_ckpt_rank_vals, &all, &k->v.ranks, 0);
    k->v.result.bytes = all.bytes;
    k->v.memory = all.memory;
    return 0;
}
