/* probe_worker.c - one worker of a run: a thread's queue, buffers, requests.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All of it is prepared, memory touched included, before the clock starts, and
 * given back after it was read. In between nothing is allocated, and the clock
 * is read once for all requests that are answered together. */
#include "measure/probe_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"

/* --- which request of a test comes next --- */

static bool is_write(const struct wr_probe_test *t)
{
    return t->op == WR_PROBE_WRITE || t->op == WR_PROBE_SYNC;
}

uint64_t wr_probe_largest(const struct wr_probe_place *p,
                          const struct wr_probe_test *t)
{
    if (t->op == WR_PROBE_SYNC)
        return WR_PROBE_SYNC_BLOCK;
    if (wr_probe_is_files(t) || !t->block)
        return wr_probe_mix_max(&p->plan->mix);
    return t->block;
}

uint64_t wr_probe_big_bytes(const struct wr_probe_job *job)
{
    return is_write(job->test) ? job->place->plan->file_bytes
                               : job->place->read_bytes;
}

static uint64_t roll(struct wr_probe_worker *w)
{
    return wr_rng_at(w->crew->job->place->plan->seed,
                     w->crew->job->stream << 16 | w->index, w->dice++);
}

static uint64_t next_length(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;

    if (job->test->op == WR_PROBE_SYNC)
        return WR_PROBE_SYNC_BLOCK;
    return job->test->block
               ? job->test->block
               : wr_probe_mix_pick(&job->place->plan->mix, roll(w));
}

/* Pages that were read once are in the cache: buffered tests end at the end of
 * the worker's region. Past the cache, and where each write is synced, they
 * begin again. */
static bool next_sequential(struct wr_probe_worker *w, uint64_t len,
                            uint64_t *ret)
{
    const struct wr_probe_test *t = w->crew->job->test;

    if (w->at + len > w->last) {
        if (!t->direct && t->op != WR_PROBE_SYNC)
            return false;
        w->at = w->first;
    }
    *ret = w->at;
    w->at += t->direct ? WR_ALIGN_UP(len, (uint64_t)WR_DIRECT_ALIGN) : len;
    return true;
}

/* Buffered: each place of the file once, in the order of a permutation that
 * all workers share, so that nothing is met in the cache. */
static bool next_random(struct wr_probe_worker *w, uint64_t len, uint64_t *ret)
{
    const struct wr_probe_test *t = w->crew->job->test;
    uint64_t align = t->block && t->block % WR_DIRECT_ALIGN == 0
                         ? t->block
                         : WR_DIRECT_ALIGN;
    uint64_t k;

    if (t->direct) {
        k = (wr_probe_big_bytes(w->crew->job) - len) / align + 1;
        *ret = (uint64_t)(((unsigned __int128)roll(w) * k) >> 64) * align;
        return true;
    }
    k = w->crew->next++;
    if (k >= w->crew->perm.n)
        return false;
    *ret = wr_perm_at(&w->crew->perm, k) *
           wr_probe_largest(w->crew->job->place, t);
    return true;
}

bool wr_probe_goes_on(struct wr_probe_worker *w, uint64_t now_ns)
{
    bool first = !w->began;

    w->began = true;
    return (first || now_ns < w->crew->end_ns) && !w->crew->halt;
}

/* The next request to the big file; false: no more. */
static bool next_range(struct wr_probe_worker *w, uint64_t now_ns,
                       uint64_t *ret_offset, uint64_t *ret_len)
{
    const struct wr_probe_test *t = w->crew->job->test;

    if (!wr_probe_goes_on(w, now_ns))
        return false;
    *ret_len = next_length(w);
    return t->pattern == WR_PROBE_RANDOM && t->op != WR_PROBE_SYNC
               ? next_random(w, *ret_len, ret_offset)
               : next_sequential(w, *ret_len, ret_offset);
}

/* --- sizes of requests and their shares --- */

#define SECTOR 512u

void wr_probe_mix_imagenet(struct wr_probe_mix *ret)
{
    /* The study counted files by powers of two: those of "64 KB" have 64 to
     * 128. The middle of each bin gives ImageNet's own mean, 115 KB. */
    static const struct {
        unsigned from_kib, percent;
    } bins[] = {{2, 1},   {4, 2},   {8, 4},    {16, 8},
                {32, 13}, {64, 38}, {128, 33}, {256, 1}};

    *ret = (struct wr_probe_mix){.name = "imagenet",
                                 .count = WR_ARRAY_LEN(bins)};
    for (size_t i = 0; i < WR_ARRAY_LEN(bins); i++) {
        ret->part[i].bytes = (uint64_t)bins[i].from_kib * 3 / 2 << 10;
        ret->part[i].share = bins[i].percent / 100.0;
    }
}

/* The last part of a URL, without slashes at its end. */
static void name_after(char *buf, size_t cap, const char *url)
{
    size_t len = strlen(url);
    const char *p;

    while (len > 1 && url[len - 1] == '/')
        len--;
    p = memrchr(url, '/', len > 1 ? len - 1 : len);
    p = p && p + 1 < url + len ? p + 1 : url;
    snprintf(buf, cap, "%.*s", (int)(url + len - p), p);
}

int wr_probe_mix_of(const weir_dataset *ds, struct wr_probe_mix *ret,
                    weir_err *err)
{
    uint64_t count[WR_PROBE_MIX_MAX] = {0}, sum[WR_PROBE_MIX_MAX] = {0};
    uint64_t n = wr_index_count(ds->index);
    struct wr_probe_mix mix = {0};
    struct wr_part place;

    if (!n)
        return wr_fail(err, WEIR_EINVAL, "'%s': no samples", ds->url);
    for (uint64_t i = 0; i < n; i++) {
        unsigned bin;

        wr_index_part(ds->index, 0, i, &place);
        bin = place.length ? 63 - (unsigned)__builtin_clzll(place.length) : 0;
        count[bin]++;
        sum[bin] += place.length;
    }
    name_after(mix.name, sizeof(mix.name), ds->url);
    for (unsigned b = 0; b < WR_PROBE_MIX_MAX; b++) {
        uint64_t mean;

        if (!count[b])
            continue;
        mean = WR_ALIGN_UP(sum[b] / count[b], (uint64_t)SECTOR);
        mean = WR_MAX(mean, (uint64_t)SECTOR);
        /* Small bins all round up to the same size. */
        if (!mix.count || mix.part[mix.count - 1].bytes != mean)
            mix.part[mix.count++].bytes = mean;
        mix.part[mix.count - 1].share += (double)count[b] / (double)n;
    }
    *ret = mix;
    return 0;
}

uint64_t wr_probe_mix_pick(const struct wr_probe_mix *mix, uint64_t dice)
{
    double at = (double)(dice >> 11) * 0x1.0p-53;
    size_t i = 0;

    while (i + 1 < mix->count && at >= mix->part[i].share)
        at -= mix->part[i++].share;
    return mix->part[i].bytes;
}

uint64_t wr_probe_mix_max(const struct wr_probe_mix *mix)
{
    uint64_t max = 0;

    for (size_t i = 0; i < mix->count; i++)
        max = WR_MAX(max, mix->part[i].bytes);
    return max;
}

/* How many of `count` things each part gets: whole ones first, then those with
 * the largest remainders get one more. */
static void share_out(const struct wr_probe_mix *mix, unsigned count,
                      unsigned *ret)
{
    double rest[WR_PROBE_MIX_MAX];
    unsigned given = 0;

    for (size_t i = 0; i < mix->count; i++) {
        double exact = mix->part[i].share * count;

        ret[i] = (unsigned)WR_MIN(exact, (double)(count - given));
        rest[i] = exact - ret[i];
        given += ret[i];
    }
    for (; given < count; given++) {
        size_t best = 0;

        for (size_t i = 1; i < mix->count; i++)
            if (rest[i] > rest[best])
                best = i;
        ret[best]++;
        rest[best] -= 1;
    }
}

uint64_t *wr_probe_mix_sizes(const struct wr_probe_mix *mix, unsigned count,
                             uint64_t seed)
{
    uint64_t *sizes = calloc(count ? count : 1, sizeof(*sizes));
    unsigned quota[WR_PROBE_MIX_MAX] = {0};
    struct wr_perm perm;
    unsigned k = 0;

    if (!sizes)
        return NULL;
    share_out(mix, count, quota);
    wr_perm_init(&perm, count, seed, 0);
    for (size_t i = 0; i < mix->count; i++)
        for (unsigned j = 0; j < quota[i]; j++)
            sizes[wr_perm_at(&perm, k++)] = mix->part[i].bytes;
    return sizes;
}

/* --- one worker of a run: a thread's queue, buffers, requests --- */

/* A plain read(2) costs less than a ring when there is one at a time; past the
 * page cache only a queue goes. */
static bool wants_queue(const struct wr_probe_test *t)
{
    if (t->op == WR_PROBE_SYNC || t->op == WR_PROBE_CREATE)
        return false;
    return t->direct || t->depth > 1;
}

/* --- requests --- */

void wr_probe_count(struct wr_probe_worker *w, uint64_t bytes, uint64_t ns,
                    uint64_t now_ns)
{
    if (!w->counts) {
        if (now_ns < w->crew->count_ns)
            return;
        w->counts = true;
    }
    wr_hist_add(&w->latency, ns);
    w->bytes += bytes;
    w->ops++;
    w->last_ns = now_ns;
}

/* No two pages written are alike, for devices that look for such. */
static void stamp(uint8_t *buf, size_t len, uint64_t offset, uint64_t now_ns)
{
    for (size_t i = 0; i + sizeof(now_ns) <= len; i += WR_DIRECT_ALIGN) {
        uint64_t word = now_ns ^ (offset + i) << 20;

        memcpy(buf + i, &word, sizeof(word));
    }
}

static bool next_io(struct wr_probe_worker *w, unsigned k, uint64_t now_ns)
{
    struct wr_io *io = &w->ios[k];
    uint64_t len;

    if (!next_range(w, now_ns, &io->offset, &len))
        return false;
    io->len = (size_t)len;
    if (io->op == WR_IO_WRITE)
        stamp(io->buf, io->len, io->offset, now_ns);
    return true;
}

static const char *name_of(const struct wr_probe_worker *w,
                           const struct wr_io *io)
{
    const struct wr_probe_place *p = w->crew->job->place;

    return io->path                       ? io->path
           : is_write(w->crew->job->test) ? p->write_path
                                          : p->read_path;
}

int wr_probe_pump(struct wr_probe_worker *w,
                  bool (*next)(struct wr_probe_worker *w, unsigned k,
                               uint64_t now_ns))
{
    uint64_t now = wr_clock_ns();
    unsigned n = 0, ready = 0, sent;

    for (; n < w->depth && next(w, n, now); n++) {
        w->since_ns[n] = now;
        w->list[n] = &w->ios[n];
    }
    ready = n;
    while (ready || n) {
        sent = ready ? w->queue->ops->submit(w->queue, w->list, ready) : 0;
        if (sent < ready)
            return wr_fail(&w->err, WEIR_EIO, "the queue takes no more");
        n = w->queue->ops->reap(w->queue, w->list, w->depth, /* wait= */ true);
        now = wr_clock_ns();
        ready = 0;
        for (unsigned i = 0; i < n; i++) {
            struct wr_io *io = w->list[i];

            if (io->result < 0)
                return wr_io_error(io, name_of(w, io), &w->err);
            wr_probe_count(w, io->len, now - w->since_ns[io->tag], now);
            w->since_ns[io->tag] = now;
            if (next(w, io->tag, now))
                w->list[ready++] = io;
        }
    }
    return 0;
}

int wr_probe_read(struct wr_probe_worker *w, struct wr_object *o,
                  const char *path, uint64_t offset, size_t len)
{
    int64_t n = wr_object_read_all(o, w->buf, len, offset, &w->err);

    if (n < 0)
        return (int)n;
    return (size_t)n == len
               ? 0
               : wr_fail(&w->err, WEIR_ECHANGED, "'%s': became shorter", path);
}

/* One request at a time, without a queue. */
static int run_plain(struct wr_probe_worker *w)
{
    enum wr_probe_op op = w->crew->job->test->op;
    uint64_t now = wr_clock_ns(), since, offset, len;
    int r = 0;

    while (next_range(w, now, &offset, &len)) {
        since = now;
        if (op != WR_PROBE_READ)
            stamp(w->buf, (size_t)len, offset, now);
        r = op == WR_PROBE_READ
                ? wr_probe_read(w, w->object, w->crew->job->place->read_path,
                                offset, (size_t)len)
                : w->object->ops->write(w->object, w->buf, (size_t)len, offset,
                                        &w->err);
        if (r == 0 && op == WR_PROBE_SYNC) {
            since = wr_clock_ns();
            r = w->object->ops->sync(w->object, &w->err);
        }
        if (r < 0)
            return r;
        now = wr_clock_ns();
        wr_probe_count(w, len, now - since, now);
    }
    return 0;
}

int wr_probe_work(struct wr_probe_worker *w)
{
    enum wr_probe_op op = w->crew->job->test->op;

    if (op == WR_PROBE_FILES)
        return wr_probe_read_files(w);
    if (op == WR_PROBE_CREATE)
        return wr_probe_create_files(w);
    return w->queue ? wr_probe_pump(w, next_io) : run_plain(w);
}

/* --- a worker: prepared, run, released --- */

static size_t buffer_cap(const struct wr_probe_place *p,
                         const struct wr_probe_test *t)
{
    return WR_ALIGN_UP(wr_read_cap(wr_probe_largest(p, t), t->direct),
                       (size_t)WR_DIRECT_ALIGN);
}

static unsigned in_flight(const struct wr_probe_test *t)
{
    return wants_queue(t) ? t->depth : 1;
}

uint64_t wr_probe_memory(const struct wr_probe_place *p,
                         const struct wr_probe_test *t)
{
    return (uint64_t)buffer_cap(p, t) * in_flight(t) * t->workers;
}

static size_t buffers_size(const struct wr_probe_worker *w)
{
    /* Large enough for pages of its own, which are aligned. */
    return WR_MAX(w->cap * w->depth, (size_t)2 << 20);
}

static int open_object(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;
    struct wr_probe_place *p = job->place;
    struct wr_store *st = is_write(job->test) ? p->store : p->read_store;

    if (wr_probe_is_files(job->test))
        return 0;
    return st->ops->object_open(
        st, is_write(job->test) ? p->write_path : p->read_path,
        is_write(job->test) ? WR_OPEN_WRITE : WR_OPEN_READ, &w->object,
        &w->err);
}

static int open_queue(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;
    struct wr_probe_place *p = job->place;
    struct wr_store *st = job->test->op == WR_PROBE_READ ? p->read_store
                                                         : p->store;
    struct wr_queue_config cfg = {.depth = w->depth,
                                  .io = p->plan->io,
                                  .direct = job->test->direct,
                                  .lazy = true};

    if (!wants_queue(job->test))
        return 0;
    return st->ops->queue_open(st, &cfg, &w->queue, &w->err);
}

static int get_memory(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;

    w->depth = in_flight(job->test);
    w->cap = buffer_cap(job->place, job->test);
    w->buf = wr_big_alloc(buffers_size(w));
    w->ios = calloc(w->depth, sizeof(*w->ios));
    w->list = calloc(w->depth, sizeof(*w->list));
    w->since_ns = calloc(w->depth, sizeof(*w->since_ns));
    if (job->test->op == WR_PROBE_FILES)
        w->paths = calloc(w->depth, sizeof(*w->paths));
    if (!w->buf || !w->ios || !w->list || !w->since_ns ||
        (job->test->op == WR_PROBE_FILES && !w->paths))
        return wr_fail(&w->err, WEIR_ENOMEM, "out of memory");
    /* Touches it, too. */
    wr_probe_noise(w->buf, buffers_size(w), job->stream << 16 | w->index);
    return 0;
}

static void set_region(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;
    uint64_t unit = WR_ALIGN_UP(wr_probe_largest(job->place, job->test),
                                (uint64_t)WR_DIRECT_ALIGN);
    uint64_t units = wr_probe_big_bytes(job) / unit,
             workers = job->test->workers;

    w->first = w->at = units * w->index / workers * unit;
    w->last = units * (w->index + 1) / workers * unit;
}

int wr_probe_prepare(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;
    int r;

    r = get_memory(w);
    if (r == 0)
        r = open_object(w);
    if (r == 0)
        r = open_queue(w);
    /* What tests before left to be written is no part of this one. */
    if (r == 0 && w->object && is_write(job->test))
        r = w->object->ops->sync(w->object, &w->err);
    if (r < 0)
        return r;
    for (unsigned k = 0; k < w->depth; k++)
        w->ios[k] = (struct wr_io){
            .op = is_write(job->test) ? WR_IO_WRITE : WR_IO_READ,
            .object = w->object,
            .buf = w->buf + k * w->cap,
            .cap = w->cap,
            .tag = k,
        };
    if (!wr_probe_is_files(job->test))
        set_region(w);
    return 0;
}

void wr_probe_release(struct wr_probe_worker *w)
{
    if (w->queue)
        w->queue->ops->close(w->queue); /* waits for what is in flight */
    if (w->object)
        w->object->ops->close(w->object, /* sync= */ false, NULL);
    wr_big_free(w->buf, w->buf ? buffers_size(w) : 0);
    free(w->ios);
    free(w->list);
    free(w->since_ns);
    free(w->paths);
}
