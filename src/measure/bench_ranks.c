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

/* What a rank tells of its run: its values, and the first bad sample. */
static char *describe(const struct wr_bench_run *run,
                      const struct wr_bench_result *bad)
{
    const weir_bad_sample *b = bad->bad_kept ? bad->bad : NULL;
    struct wr_bench_values v = run->v;
    char host[65] = "", *text = NULL;
    json_t *o;

    gethostname(host, sizeof(host) - 1);
    v.host = host;
    o = json_pack("{s:o, s:I, s:I, s:I, s:i, s:s}", "run",
                  wr_vals_json(&wr_bench_vals, &v, WR_FOR_RANKS), "bad_count",
                  (json_int_t)bad->bad_count, "id", (json_int_t)(b ? b->id : 0),
                  "epoch", (json_int_t)(b ? b->epoch : 0), "code",
                  b ? b->code : 0, "text", b ? b->text : "");
    if (o)
        text = json_dumps(o, JSON_COMPACT);
    json_decref(o);
    return text;
}

static int take_in(const struct wr_comm_part *parts, uint32_t world,
                   struct wr_bench_run *run, weir_err *err)
{
    struct wr_bench_values *list = calloc(world, sizeof(*list));

    run->said = json_array();
    run->ranks = (struct wr_list){list, 0, sizeof(*list)};
    for (uint32_t k = 0; list && k < world; k++) {
        json_t *o = json_loadb(parts[k].bytes, parts[k].len, 0, NULL);

        if (!o || json_array_append_new(run->said, o) < 0)
            return wr_fail(err, WEIR_EFORMAT,
                           "what rank %u sent cannot be read", k);
        wr_vals_read(&wr_bench_vals, json_object_get(o, "run"), &list[k]);
        list[k].rank = k;
        run->ranks.count++;
    }
    return list ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
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
        const json_t *o = json_array_get(said, k);
        double count = wr_get_number(o, "bad_count");
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
    struct wr_comm_part *parts = NULL;
    char *mine;
    int r;

    if (!wr_together_is(t))
        return 0;
    mine = describe(run, bad);
    if (!mine)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_comm_gather(t->comm, mine, strlen(mine), &parts, err);
    if (r == 0 && parts)
        r = take_in(parts, t->comm->world, run, err);
    if (r == 0 && parts) {
        combine(run);
        add_bad(bad, run->said);
    }
    free(parts);
    free(mine);
    return r;
}
