/* bench_ranks.c - one run of the benchmark by several ranks, as one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/bench_ranks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "measure/parts.h"
#include "result/get.h"
#include "result/record.h"

/* What a rank tells of its run: its values, and the first bad sample. */
static json_t *describe(const struct wr_bench_run *run,
                        const struct wr_bench_result *bad, uint32_t rank)
{
    const weir_bad_sample *b = bad->bad_kept ? bad->bad : NULL;
    struct wr_bench_values v = run->v;
    char host[65] = "";
    json_t *o;

    gethostname(host, sizeof(host) - 1);
    v.host = host;
    v.rank = rank;
    o = wr_vals_json(&wr_bench_vals, &v, WR_FOR_RANKS);
    if (json_object_set_new(o, "bad",
                            json_pack("{s:I, s:I, s:I, s:i, s:o}", "count",
                                      (json_int_t)bad->bad_count, "id",
                                      (json_int_t)(b ? b->id : 0), "epoch",
                                      (json_int_t)(b ? b->epoch : 0), "code",
                                      b ? b->code : 0, "text",
                                      wr_text_json(b ? b->text : ""))) == 0)
        return o;
    json_decref(o);
    return NULL;
}

/* To a rank the others of its host are other programs: here they are one. */
static void add_cores(struct wr_cores_values *c,
                      const struct wr_bench_values *list, size_t n)
{
    struct wr_cores_use use;
    double wanted = 0, others = 0;

    for (size_t k = 0; k < n; k++) {
        if (strcmp(list[k].host, list[0].host))
            continue;
        wanted += list[k].in_force.threads;
        others += k ? fmax(0, list[k].cores.own) : 0;
    }
    if (!isfinite(c->count)) /* nothing is known of them */
        return;
    c->own += others;
    c->others = fmax(0, c->others - others);
    use = wr_cores_use_of(c);
    c->starved = wr_cores_is_starved(&use, (unsigned)wanted);
}

static void combine(struct wr_bench_run *run)
{
    const struct wr_bench_values *list = run->ranks.v;
    uint64_t digest = 0;
    size_t slowest = 0;

    for (size_t k = 1; k < run->ranks.count; k++)
        if (list[k].seconds > list[slowest].seconds)
            slowest = k;
    wr_vals_gather(&wr_bench_vals, &run->v, &run->ranks, slowest);
    add_cores(&run->v.cores, list, run->ranks.count);
    for (size_t k = 0; k < run->ranks.count; k++) /* in any order the same */
        digest += strtoull(list[k].digest, NULL, 16);
    if (*run->digest)
        snprintf(run->digest, sizeof(run->digest), "%016" PRIx64, digest);
}

/* Counts, and the first one of each other rank. */
static void add_bad(struct wr_bench_result *to, const json_t *said)
{
    size_t n = json_array_size(said);
    weir_bad_sample *grown = realloc(to->bad,
                                     (to->bad_kept + n) * sizeof(*grown));

    if (grown)
        to->bad = grown;
    for (size_t k = 1; k < n; k++) {
        const json_t *o = wr_get_object(json_array_get(said, k), "bad");
        double count = wr_get_number(o, "count");
        char *text = grown && count > 0 ? strdup(wr_get_text(o, "text")) : NULL;

        to->bad_count += (uint64_t)count;
        if (text)
            to->bad[to->bad_kept++] = (weir_bad_sample){
                .id = (uint64_t)wr_get_number(o, "id"),
                .epoch = (uint64_t)wr_get_number(o, "epoch"),
                .code = (int)wr_get_number(o, "code"),
                .text = text};
    }
}

int wr_bench_join(const struct wr_together *t, struct wr_bench_run *run,
                  struct wr_bench_result *bad, weir_err *err)
{
    int r;

    if (!wr_together_is(t))
        return 0;
    r = wr_together_gather(t, describe(run, bad, t->comm->rank), &run->said,
                           err);
    if (r < 0 || !run->said)
        return r;
    if (!wr_vals_read_list(&wr_bench_vals, run->said, &run->ranks))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    combine(run);
    add_bad(bad, run->said);
    return 0;
}
