/* feed.c - the batches of one accelerator.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/feed.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "pipeline/custom.h"

#define READERS_STREAM UINT64_C(0x70726570) /* apart from those of steps */

/* How one field is wanted: as it is stored, or decoded. Numbers stay of their
 * type, which weir converts pictures from. */
static weir_field_config field_of(const weir_field *f, bool as_bytes,
                                  const weir_picture_config *picture)
{
    weir_field_config c = {.name = f->name, .picture = *picture};

    if (as_bytes)
        c.as_bytes = true;
    else if (f->kind == WEIR_FIELD_TENSOR) {
        c.convert = true;
        c.dtype = f->dtype;
    }
    return c;
}

static int want_fields(struct wr_run_feed *f, bool as_bytes,
                       weir_pipeline_config *cfg, weir_err *err)
{
    uint32_t count;
    const weir_field *fields = weir_dataset_fields(f->spec->ds, &count);
    uint32_t n = 0;

    f->fields = calloc(count + 1, sizeof(*f->fields));
    if (!f->fields)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint32_t k = 0; k < count; k++)
        if (as_bytes ? fields[k].kind != WEIR_FIELD_SCALAR
                     : fields[k].kind == WEIR_FIELD_TENSOR)
            f->fields[n++] = field_of(&fields[k], as_bytes, &cfg->picture);
    if (as_bytes)
        cfg->fields = "*";
    cfg->field = f->fields;
    cfg->field_count = n;
    return 0;
}

static int settle(struct wr_run_feed *f, weir_pipeline_config *cfg,
                  weir_err *err)
{
    switch (f->spec->consume) {
    case WR_WL_DROP:
        cfg->stages = WEIR_STAGES_READ;
        return 0;
    case WR_WL_READ:
        cfg->stages = WEIR_STAGES_ALL;
        return want_fields(f, /* as_bytes= */ true, cfg, err);
    case WR_WL_DECODE:
        cfg->stages = WEIR_STAGES_ALL;
        return want_fields(f, /* as_bytes= */ false, cfg, err);
    }
    return 0;
}

int wr_run_feed_open(struct wr_run_feed *f, const struct wr_run_feed_spec *spec,
                     const weir_pipeline_config *cfg, struct wr_meter *meter,
                     weir_err *err)
{
    weir_pipeline_config own = *cfg;
    int r;

    *f = (struct wr_run_feed){
        .spec = spec, .meter = meter, .stream = READERS_STREAM + cfg->rank};
    if (!spec->ds)
        return 0;
    f->view = *spec->ds;
    r = wr_meter_wrap(meter, spec->ds->store, &f->view.store, err);
    if (r < 0) {
        f->view.store = NULL;
        return r;
    }
    r = settle(f, &own, err);
    if (r == 0)
        r = (spec->same_order ? wr_pipeline_open_same : weir_pipeline_open)(
            &f->pipeline, &f->view, &own, err);
    if (r < 0)
        wr_run_feed_close(f);
    return r;
}

void wr_run_feed_close(struct wr_run_feed *f)
{
    weir_pipeline_close(&f->pipeline);
    if (f->view.store)
        wr_store_close(f->view.store);
    f->view.store = NULL;
    free(f->fields);
    f->fields = NULL;
}

/* When the readers are done with the next batch: it is begun when the one before
 * is made, and not before there is room for it. */
static uint64_t made_at(struct wr_run_feed *f, uint64_t now, uint32_t samples)
{
    const struct wr_run_feed_spec *s = f->spec;
    uint64_t ahead = WR_MIN(s->cfg.prefetch + 1, (uint64_t)WR_FEED_AHEAD);
    uint64_t room = f->count >= ahead
                        ? f->taken_ns[(f->count - ahead) % WR_FEED_AHEAD]
                        : 0;
    uint64_t begun = WR_MAX(f->made_ns, room);
    double spent = 0;

    for (uint32_t k = 0; k < samples; k++)
        spent += wr_wl_time_draw(&s->preprocess, s->seed, f->stream,
                                 f->count * samples + k);
    if (!f->count) /* the readers start with the run */
        begun = now;
    return begun + (uint64_t)(spent / (double)WR_MAX(s->readers, 1u) * 1e9);
}

static int preprocess(struct wr_run_feed *f, weir_err *err)
{
    const weir_pipeline_config *cfg = &f->spec->cfg;
    uint64_t now = wr_clock_ns();

    f->made_ns = made_at(f, now, cfg->batch);
    while ((now = wr_clock_ns()) < f->made_ns) {
        if (cfg->stopped && cfg->stopped(cfg->stopped_arg))
            return wr_fail(err, WEIR_ECANCELED, "stopped");
        wr_clock_sleep_closely(WR_MIN(f->made_ns, now + 200 * WR_NS_PER_MS));
    }
    f->taken_ns[f->count++ % WR_FEED_AHEAD] = now;
    return 0;
}

int wr_run_feed_next(void *feed, const weir_batch **ret, weir_err *err)
{
    struct wr_run_feed *f = feed;
    int r = 1;

    *ret = NULL;
    if (f->pipeline)
        r = weir_pipeline_next(f->pipeline, ret, err);
    if (r > 0 && f->spec->preprocess.law != WR_WL_NONE) {
        r = preprocess(f, err);
        if (r < 0)
            weir_batch_release(*ret);
        else
            r = 1;
    }
    return r;
}

/* Bytes of slot i of a field. */
static struct wr_slice slot_of(const weir_batch_field *f, uint32_t count,
                               uint32_t i)
{
    size_t each = count ? f->bytes / count : 0;

    if (f->offsets)
        return (struct wr_slice){(const uint8_t *)f->data + f->offsets[i],
                                 f->offsets[i + 1] - f->offsets[i]};
    return (struct wr_slice){(const uint8_t *)f->data + i * each, each};
}

uint64_t wr_run_digest(const weir_batch *b, uint64_t step, uint64_t number,
                       uint64_t world)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; b && i < b->count; i++) {
        uint64_t position = (step * b->count + i) * world + number;
        uint64_t hash = wr_mix64(b->ids[i] + 1);

        for (uint32_t k = 0; k < b->field_count; k++) {
            struct wr_slice s = slot_of(&b->fields[k], b->count, i);

            if (b->fields[k].data)
                hash ^= XXH3_64bits_withSeed(s.bytes, s.len, k);
        }
        sum += wr_rng_at(hash, b->epoch, position);
    }
    return sum;
}
