/* feed.c - the batches of one accelerator.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/feed.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "comm/barrier.h"
#include "comm/comm.h"
#include "pipeline/custom.h"
#include "run/job.h"
#include "run/setup.h"

/* --- opening --- */

/* The readers are spread over the ranks: rank k * ranks / readers is the k-th. */
static uint32_t reader_rank(const struct wr_run_pool *p, uint32_t k)
{
    return (uint32_t)((uint64_t)k * p->job->ranks / p->readers);
}

/* A reading rank has a batch for its share of all accelerators. */
static int open_reader(struct wr_run_pool *p, uint32_t k, weir_err *err)
{
    struct wr_run_job *job = p->job;
    uint64_t batch = (job->batch * job->world + p->readers - 1) / p->readers;
    weir_pipeline_config *cfg = &p->spec.cfg;

    p->spec = job->feed;
    p->spec.consume = WR_WL_READ;
    if (batch > UINT32_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "a batch for all has too many samples");
    cfg->batch = (uint32_t)batch;
    cfg->rank = k;
    cfg->world = p->readers;
    p->reads = true;
    return wr_run_feed_open(&p->feed, &p->spec, cfg, job->accels[0].meter, err);
}

/* MPI-IO reads bytes as they lie in files that the kernel knows. */
static int check_mpi_io(const struct wr_run_pool *p, weir_err *err)
{
    const weir_dataset *ds = p->job->feed.ds;
    char path[PATH_MAX];
    struct wr_part part;

    wr_index_part(ds->index, 0, 0, &part);
    if (wr_part_is_packed(&part))
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s': packed samples cannot be read by MPI-IO: choose "
                       "another access (--file-access collective)",
                       ds->url);
    if (!ds->store->ops->local_path ||
        !ds->store->ops->local_path(ds->store, "", path, sizeof(path)))
        return wr_fail(err, WEIR_ENOTSUP, "'%s': MPI-IO reads local paths only",
                       ds->url);
    return 0;
}

int wr_run_pool_open(struct wr_run_pool *p, struct wr_run_job *job,
                     weir_err *err)
{
    enum wr_wl_access access = wr_run_access(job);
    uint64_t readers = WR_MAX(job->plan->w->weir.readers, 1u);
    int r = 0;

    *p = (struct wr_run_pool){0};
    if (!job->feed.ds || !job->trains ||
        (access != WR_WL_ACCESS_COLLECTIVE && access != WR_WL_ACCESS_MPIIO))
        return 0;
    p->job = job;
    p->mpi_io = access == WR_WL_ACCESS_MPIIO;
    p->readers = (uint32_t)WR_MIN(readers, (uint64_t)job->ranks);
    p->count = job->feed.cfg.sample_count;
    p->counts = calloc(1, sizeof(*p->counts));
    if (!p->counts)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (p->mpi_io)
        return check_mpi_io(p, err);
    for (uint32_t k = 0; r == 0 && k < p->readers; k++)
        if (reader_rank(p, k) == job->rank)
            r = open_reader(p, k, err);
    return r;
}

void wr_run_pool_close(struct wr_run_pool *p)
{
    if (!p->job)
        return;
    wr_run_feed_close(&p->feed);
    wr_big_free(p->buffer, p->cap);
    free(p->counts);
    *p = (struct wr_run_pool){0};
}

static int make_room(struct wr_run_pool *p, size_t len, weir_err *err)
{
    if (len <= p->cap)
        return 0;
    wr_big_free(p->buffer, p->cap);
    p->cap = 0;
    p->buffer = wr_big_alloc(len);
    if (!p->buffer)
        return wr_fail(err, WEIR_ENOMEM,
                       "out of memory: a batch for all takes %zu MB",
                       len / 1000000);
    p->cap = len;
    return 0;
}

/* --- one rank reads, the others get it --- */

static size_t batch_bytes(const weir_batch *b)
{
    size_t sum = 0;

    for (uint32_t k = 0; b && k < b->field_count; k++)
        sum += b->fields[k].data ? b->fields[k].bytes : 0;
    return sum;
}

static void pack(struct wr_run_pool *p, const weir_batch *b)
{
    uint8_t *at = p->buffer;

    for (uint32_t k = 0; k < b->field_count; k++) {
        const weir_batch_field *f = &b->fields[k];

        if (!f->data)
            continue;
        memcpy(at, f->data, f->bytes);
        at += f->bytes;
    }
}

/* How much it is only the reader knows. */
static int share(struct wr_run_pool *p, const weir_batch *b, uint32_t root,
                 weir_err *err)
{
    struct wr_comm *c = p->job->plan->comm;
    bool mine = p->job->rank == root;
    uint64_t len = mine ? batch_bytes(b) : 0;
    int r = wr_comm_max(c, NULL, len, &len, err);

    if (r == 0)
        r = make_room(p, (size_t)len, err);
    if (r < 0)
        return r;
    if (mine)
        pack(p, b);
    if (!len || !p->job->barrier) /* nobody else */
        return 0;
    return wr_barrier_share(p->job->barrier, p->buffer, (size_t)len, root, err);
}

static int read_and_share(struct wr_run_pool *p, weir_err *err)
{
    const weir_batch *b = NULL;
    int r = 1;

    if (p->reads)
        r = wr_run_feed_next(&p->feed, &b, err);
    if (r == 0)
        r = wr_fail(err, WEIR_ESTATE, "the data ended too early");
    for (uint32_t k = 0; r >= 0 && k < p->readers; k++)
        r = share(p, b, reader_rank(p, k), err);
    weir_batch_release(b);
    return r < 0 ? r : 0;
}

/* --- MPI-IO --- */

/* A file that was not read last is begun anew. */
static void count_read(struct wr_run_pool *p, uint64_t object, uint64_t offset,
                       uint64_t len)
{
    bool other = !p->counts->reads || object != p->last_object;
    bool next = other || offset == p->last_end;

    p->counts->reads++;
    p->counts->bytes += len;
    p->counts->consecutive += next;
    p->counts->sequential += next || offset > p->last_end;
    wr_hist_add(&p->counts->sizes, len);
    p->last_object = object;
    p->last_end = offset + len;
}

uint64_t wr_run_pool_epoch(struct wr_run_pool *p)
{
    uint64_t bytes = p->counts ? p->counts->bytes - p->noted : 0;

    p->noted += bytes;
    return bytes;
}

/* Reads [offset, offset + len) of an object together. */
static int read_range(struct wr_run_pool *p, uint64_t object, uint64_t offset,
                      uint64_t len, weir_err *err)
{
    const weir_dataset *ds = p->job->feed.ds;
    char name[PATH_MAX], path[PATH_MAX];
    struct wr_comm_read what = {.path = path,
                                .offset = offset,
                                .len = (size_t)len,
                                .readers = p->readers};
    uint64_t start = wr_clock_ns();
    int r = make_room(p, (size_t)len, err);

    wr_index_object_path(ds->index, object, name, sizeof(name));
    if (r == 0 &&
        !ds->store->ops->local_path(ds->store, name, path, sizeof(path)))
        r = wr_fail(err, WEIR_ENOTSUP, "'%s': has no local path", name);
    if (r == 0)
        r = wr_comm_read_all(p->job->plan->comm, &what, p->buffer, err);
    if (r < 0)
        return r;
    count_read(p, object, offset, len);
    p->counts->busy_ns += wr_clock_ns() - start;
    wr_hist_add(&p->counts->latency_ns, wr_clock_ns() - start);
    return 0;
}

/* Samples that lie behind each other are one read. */
static int read_together(struct wr_run_pool *p, weir_err *err)
{
    const struct wr_index *ix = p->job->feed.ds->index;
    uint64_t left = p->job->batch * p->job->world;
    int r = 0;

    while (r == 0 && left) {
        struct wr_part part, next;
        uint64_t len;

        wr_index_part(ix, 0, p->next, &part);
        len = part.length;
        p->next = (p->next + 1) % p->count;
        for (left--; left && p->next; left--) {
            wr_index_part(ix, 0, p->next, &next);
            if (next.object != part.object || next.offset != part.offset + len)
                break;
            len += next.length;
            p->next = (p->next + 1) % p->count;
        }
        r = read_range(p, part.object, part.offset, len, err);
    }
    return r;
}

int wr_run_pool_next(struct wr_run_pool *p, struct wr_run_accel *a,
                     const weir_batch **ret, weir_err *err)
{
    uint64_t ignored;
    int r = wr_gate_max(p->job->gate, 0, &ignored, err);

    *ret = NULL;
    if (r == 0 && a->number == 0)
        r = p->mpi_io ? read_together(p, err) : read_and_share(p, err);
    if (r == 0)
        r = wr_gate_max(p->job->gate, 0, &ignored, err);
    return r < 0 ? r : 1;
}

/* --- the batches of one accelerator --- */

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
