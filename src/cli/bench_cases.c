/* bench_cases.c - the cases that the settings of `weir bench` make.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/units.h"
#include "cli/feed_args.h"

#define MAX_CASES 256

/* "0.08,1"; an option that was not given leaves the default. */
static int parse_range(const char *option, const char *text, float ret[2],
                       weir_err *err)
{
    const char *comma = text ? strchr(text, ',') : NULL;
    char first[32];
    double a, b;

    if (!text)
        return 0;
    if (!comma)
        return wr_fail(err, WEIR_EINVAL,
                       "option --%s: '%s' is not two numbers with a comma "
                       "between them",
                       option, text);
    snprintf(first, sizeof(first), "%.*s", (int)(comma - text), text);
    if (wr_parse_double(first, 0, 1e6, &a, err) < 0 ||
        wr_parse_double(comma + 1, 0, 1e6, &b, err) < 0)
        return wr_fail_prefix(err, WEIR_EINVAL, "option --%s", option);
    ret[0] = (float)a;
    ret[1] = (float)b;
    return 0;
}

static int crop_config(const struct bench_args *a, weir_pipeline_config *cfg,
                       weir_err *err)
{
    int r = parse_range("crop-area", a->crop_area, cfg->picture.crop_area, err);

    if (r >= 0)
        r = parse_range("crop-ratio", a->crop_ratio, cfg->picture.crop_ratio,
                        err);
    cfg->picture.crop = (enum weir_crop)a->crop;
    cfg->picture.crop_center = (float)a->crop_center;
    cfg->picture.flip = a->flip;
    return r;
}

/* What all cases have in common. */
static int base_config(const struct bench_args *a, weir_pipeline_config *cfg,
                       weir_err *err)
{
    const struct wr_feed_pixels pixels = {
        .size = a->size,
        .channels = a->channels,
        .dtype = a->dtype,
        .layout = a->layout,
        .resize = a->resize,
        .normalize = a->normalize,
        .orient = a->orient,
    };

    weir_pipeline_defaults(cfg);
    cfg->order = (enum weir_order)a->order;
    cfg->seed = a->seed;
    cfg->block_samples = (uint32_t)a->block_samples;
    cfg->block_window = (uint32_t)a->block_window;
    cfg->epochs = a->epochs;
    cfg->max_batches = a->batches;
    cfg->rank = (uint32_t)a->rank;
    cfg->world = (uint32_t)a->world;
    cfg->holdout = (float)a->holdout;
    cfg->split_seed = a->split_seed;
    cfg->part = (enum weir_part)a->part;
    cfg->remainder = (enum weir_remainder)a->remainder;
    cfg->on_error = (enum weir_on_error)a->on_error;
    cfg->io = (enum weir_io)a->io;
    cfg->cache = a->cache;
    cfg->cache_what = (enum weir_cache_what)a->cache_what;
    cfg->memory = a->memory;
    cfg->direct = a->direct;
    if (crop_config(a, cfg, err) < 0)
        return WEIR_EINVAL;
    return wr_feed_set_pixels(&pixels, cfg, err);
}

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
        r = base_config(a, &cases[k].cfg, err);
        pick_case(a, k, &cases[k]);
        if (r == 0)
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
