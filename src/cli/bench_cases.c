/* bench_cases.c - the cases that the settings of `weir bench` make.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench_cases.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "cli/feed_args.h"

#define MAX_CASES 256

/* Case number k of the product of all lists; the last list turns fastest. */
static void pick_case(const struct bench_args *a, size_t k,
                      struct wr_bench_case *c)
{
    const struct {
        size_t count;
        const uint64_t *u;
        const int *e;
    } lists[] = {
        {a->stages.count, NULL, a->stages.v},
        {a->page_cache.count, NULL, a->page_cache.v},
        {a->decode.count, NULL, a->decode.v},
        {a->batch.count, a->batch.v, NULL},
        {a->prefetch.count, a->prefetch.v, NULL},
        {a->depth.count, a->depth.v, NULL},
        {a->threads.count, a->threads.v, NULL},
    };
    uint64_t v[WR_ARRAY_LEN(lists)];

    for (size_t i = WR_ARRAY_LEN(lists); i-- > 0;) {
        size_t n = WR_MAX(lists[i].count, (size_t)1);

        v[i] = !lists[i].count ? wr_cpu_count()
               : lists[i].u    ? lists[i].u[k % n]
                               : (uint64_t)lists[i].e[k % n];
        k /= n;
    }
    c->cfg.stages = (enum weir_stages)v[0];
    c->cache = (enum wr_cache_state)v[1];
    c->cfg.picture.decode = (enum weir_decode)v[2];
    c->cfg.batch = (uint32_t)v[3];
    c->cfg.prefetch = (uint32_t)v[4];
    c->cfg.depth = (uint32_t)v[5];
    c->cfg.threads = (uint32_t)v[6];
}

int wr_bench_accelerator(const struct bench_args *a, struct wr_accelerator *ret,
                         weir_err *err)
{
    char old[32];

    snprintf(old, sizeof(old), "ms=%.9g", a->consumer_ms);
    if (wr_accelerator_parse(a->consumer_ms > 0 ? old : a->accelerator, ret,
                             err) < 0)
        return wr_fail_prefix(err, WEIR_EINVAL, "option --accelerator");
    if (ret->kind == WR_ACCELERATOR_CPU)
        return wr_fail(err, WEIR_EINVAL,
                       "option --accelerator: bench computes nothing; 'weir "
                       "train DATASET' trains on the CPU");
    return 0;
}

int wr_bench_cases(const struct bench_args *a, struct wr_bench_case **ret,
                   size_t *ret_count, weir_err *err)
{
    size_t n = a->stages.count * a->page_cache.count * a->decode.count *
               a->batch.count * a->prefetch.count * a->depth.count *
               WR_MAX(a->threads.count, (size_t)1);
    struct wr_bench_case *cases;
    int r;

    if (n > MAX_CASES)
        return wr_fail(err, WEIR_EINVAL,
                       "%zu combinations are too many; the limit is %d", n,
                       MAX_CASES);
    cases = calloc(n, sizeof(*cases));
    if (!cases)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < n; k++) {
        cases[k].cfg = a->feed;
        wr_settings_normalize((enum wr_normalize)a->normalize,
                              &cases[k].cfg.picture);
        pick_case(a, k, &cases[k]);
        r = wr_feed_check(wr_bench_options, &cases[k].cfg, err);
        if (r < 0) {
            free(cases);
            return r;
        }
    }
    *ret = cases;
    *ret_count = n;
    return 0;
}
