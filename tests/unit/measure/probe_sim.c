/* probe_sim.c - a probe of the device model in virtual time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "probe_sim.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

#define SLOTS_MAX 1024
#define OPS_MIN   64

/* One test on one device. */
struct sim {
    const struct wr_probe_plan *plan;
    const struct wr_probe_test *test;
    struct wr_device *device;
    struct wr_probe_run *run;
    struct wr_rng rng;
    uint64_t offset; /* of the next sequential request */
    uint64_t object; /* of the next small file */
};

static uint64_t submit(struct sim *s, struct wr_device_request rq, uint64_t now)
{
    return wr_device_submit(s->device, &rq, now);
}

static uint64_t do_range(struct sim *s, uint64_t now)
{
    uint64_t block = s->test->block, done;
    uint64_t blocks = s->plan->file_bytes / block;
    struct wr_device_request rq = {
        .op = s->test->op == WR_PROBE_READ ? WR_DEVICE_READ : WR_DEVICE_WRITE,
        .object = 1,
        .len = block};

    if (s->test->pattern == WR_PROBE_RANDOM) {
        rq.offset = wr_rng_below(&s->rng, blocks) * block;
    } else {
        rq.offset = s->offset % (blocks * block);
        s->offset += block;
    }
    done = submit(s, rq, now);
    wr_hist_add(s->run->latency, done - now);
    s->run->v.bytes += (double)block;
    return done;
}

static uint64_t do_file(struct sim *s, uint64_t now)
{
    struct wr_device_request open = {.op = WR_DEVICE_META};
    struct wr_device_request read = {
        .op = WR_DEVICE_READ, .object = 100 + s->object++, .len = 112 * 1024};
    uint64_t opened = submit(s, open, now), done = submit(s, read, opened);

    wr_hist_add(s->run->open, opened - now);
    wr_hist_add(s->run->transfer, done - opened);
    wr_hist_add(s->run->close, 0);
    wr_hist_add(s->run->latency, done - now);
    s->run->v.bytes += read.len;
    return done;
}

static uint64_t do_sync(struct sim *s, uint64_t now)
{
    struct wr_device_request write = {.op = WR_DEVICE_WRITE,
                                      .object = 2,
                                      .offset = s->offset,
                                      .len = s->test->block};
    uint64_t written = submit(s, write, now), done;

    s->offset += s->test->block;
    done = submit(s, (struct wr_device_request){.op = WR_DEVICE_SYNC}, written);
    wr_hist_add(s->run->latency, done - written);
    return done;
}

static uint64_t do_one(struct sim *s, uint64_t now)
{
    switch (s->test->op) {
    case WR_PROBE_FILES:
        return do_file(s, now);
    case WR_PROBE_SYNC:
        return do_sync(s, now);
    default:
        return do_range(s, now);
    }
}

/* As many requests in flight as the test says, each slot on its own. */
static void run_test(struct sim *s)
{
    uint64_t free_at[SLOTS_MAX] = {0}, end = 0;
    unsigned slots = s->test->depth * s->test->workers;
    uint64_t until = (uint64_t)(s->plan->seconds * 1e9);

    for (;;) {
        unsigned k = 0;

        for (unsigned i = 1; i < slots; i++)
            if (free_at[i] < free_at[k])
                k = i;
        if (free_at[k] >= until && s->run->v.ops >= OPS_MIN)
            break;
        free_at[k] = do_one(s, free_at[k]);
        s->run->v.ops++;
    }
    for (unsigned i = 0; i < slots; i++)
        end = free_at[i] > end ? free_at[i] : end;
    if (s->test->op == WR_PROBE_WRITE) /* a run of writes ends with a sync */
        end = submit(s, (struct wr_device_request){.op = WR_DEVICE_SYNC}, end);
    s->run->v.seconds = (double)end / 1e9;
    s->run->v.ops_per_s = s->run->v.ops / s->run->v.seconds;
    s->run->v.bytes_per_s = s->run->v.bytes / s->run->v.seconds;
}

void sim_probe(const struct wr_probe_plan *plan,
               const struct wr_device_profile *p, struct wr_probe_report *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->count = plan->test_count;
    ret->results = calloc(ret->count, sizeof(*ret->results));
    for (size_t k = 0; k < ret->count; k++) {
        struct wr_probe_result *res = &ret->results[k];
        struct sim s = {.plan = plan, .test = &plan->tests[k], .rng.seed = k};

        if (s.test->op == WR_PROBE_CREATE) {
            res->skipped = true; /* no part of the fit */
            continue;
        }
        res->runs = calloc(1, sizeof(*res->runs));
        res->run_count = 1;
        s.run = res->runs;
        s.run->latency = calloc(1, sizeof(struct wr_hist));
        if (s.test->op == WR_PROBE_FILES) {
            s.run->open = calloc(1, sizeof(struct wr_hist));
            s.run->transfer = calloc(1, sizeof(struct wr_hist));
            s.run->close = calloc(1, sizeof(struct wr_hist));
        }
        if (wr_device_new(p, &s.device, NULL) < 0)
            abort();
        run_test(&s);
        wr_device_free(s.device);
        res->v.ops_per_s = s.run->v.ops_per_s;
        res->v.ops_per_s_min = res->v.ops_per_s_max = s.run->v.ops_per_s;
        res->v.bytes_per_s = s.run->v.bytes_per_s;
    }
}

void sim_done(struct wr_probe_report *r)
{
    for (size_t k = 0; k < r->count; k++)
        if (r->results[k].runs) {
            free(r->results[k].runs->latency);
            free(r->results[k].runs->open);
            free(r->results[k].runs->transfer);
            free(r->results[k].runs->close);
            free(r->results[k].runs);
        }
    free(r->results);
}
