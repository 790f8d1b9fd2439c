/* inspect_scan.c - looks into the samples of a data set, with many threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/inspect_scan.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "base/perm.h"
#include "base/thread.h"
#include "cli/interrupt.h"
#include "codec/picture.h"
#include "format/decode.h"
#include "format/shard_reader.h"
#include "format/unit_read.h"

#define HEADER_BYTES   65536u /* nearly every header lies within */
#define HEADER_THREADS 8u     /* reading headers is waiting */
#define MAX_THREADS    256u
#define MAX_PATH       8192u
#define MAX_SAMPLE     ((size_t)1 << 31) /* bytes; the pipeline's limit too */

struct scan {
    const struct wr_inspect_scan_spec *spec; /* borrowed */
    struct wr_inspect_scan *out;             /* borrowed */
    struct wr_perm perm;
    bool packed; /* there is gzip: a run of samples in one object is a turn */
    _Atomic uint64_t misnamed;
    pthread_mutex_t lock; /* guards all below and out->broken... */
    uint64_t next;        /* sample that the next turn starts with */
    size_t broken_cap;
    weir_err failed; /* code: resources lacked, the scan is void */
};

/* What one thread keeps from sample to sample. */
struct worker {
    struct scan *scan; /* borrowed */
    pthread_t thread;
    struct wr_picture_decoder *decoder; /* owned; NULL: headers only */
    uint8_t *buf;                       /* owned */
    size_t cap;
    struct wr_shard_reader *stream; /* owned: of a gzip object, or NULL */
    uint64_t object;                /* that it reads */
    struct wr_unpack unpack;        /* owned */
    uint8_t *unit; /* owned: a unit that is no gzip object; NULL: none */
    uint64_t unit_number;
    weir_err stream_err; /* code: why nothing more can be read from `object` */
    char path[MAX_PATH];
};

/* Keeps the list sorted by number and drops the last when it is full, so
 * that what is kept does not depend on which thread was first. */
static void note_broken(struct scan *s, uint64_t id, const weir_err *e)
{
    struct wr_inspect_scan *out = s->out;
    size_t k;

    pthread_mutex_lock(&s->lock);
    out->broken_count++;
    k = out->broken_kept;
    while (k && out->broken[k - 1].id > id)
        k--;
    if (k == WR_INSPECT_MAX_BROKEN)
        goto out;
    if (out->broken_kept < WR_INSPECT_MAX_BROKEN) {
        if (!wr_grow(&out->broken, &s->broken_cap, out->broken_kept + 1,
                     sizeof(*out->broken))) {
            wr_fail(&s->failed, WEIR_ENOMEM, "out of memory");
            goto out;
        }
        out->broken_kept++;
    }
    memmove(&out->broken[k + 1], &out->broken[k],
            (out->broken_kept - 1 - k) * sizeof(*out->broken));
    out->broken[k].id = id;
    out->broken[k].code = e->code;
    snprintf(out->broken[k].reason, sizeof(out->broken[k].reason), "%s",
             e->msg);
out:
    pthread_mutex_unlock(&s->lock);
}

/* A lack says nothing about the sample, and a scan without it is none. */
static void note_lack(struct scan *s, const weir_err *e)
{
    pthread_mutex_lock(&s->lock);
    if (!s->failed.code)
        s->failed = *e;
    s->next = s->out->count; /* no more turns */
    pthread_mutex_unlock(&s->lock);
}

static int fail_short(const struct wr_part *p, uint64_t got, weir_err *err)
{
    return wr_fail(err, WEIR_ECHANGED,
                   "ends at byte %" PRIu64 ", %" PRIu64 " bytes were indexed",
                   p->offset + got, p->offset + p->length);
}

/* The stream of gzip that the sample lies in, from its start when we are past
 * the sample or in another object. */
static int open_stream(struct worker *w, const struct wr_part *p, weir_err *err)
{
    struct wr_store *store = w->scan->spec->ds->store;

    if (w->stream && w->object == p->object &&
        wr_shard_reader_tell(w->stream) <= p->offset)
        return 0;
    wr_shard_reader_close(w->stream);
    w->stream = NULL;
    w->object = p->object;
    return wr_shard_reader_open(&w->stream, store, w->path, err);
}

static int read_stream(struct worker *w, const struct wr_part *p, size_t len,
                       weir_err *err)
{
    int64_t n;
    int r = open_stream(w, p, err);

    if (r < 0)
        return r;
    n = wr_shard_reader_skip(w->stream,
                             p->offset - wr_shard_reader_tell(w->stream), err);
    if (n >= 0 && wr_shard_reader_tell(w->stream) == p->offset)
        n = wr_shard_reader_read(w->stream, w->buf, len, err);
    else if (n >= 0)
        n = 0;
    if (n < 0)
        return (int)n;
    return (uint64_t)n < len ? fail_short(p, (uint64_t)n, err) : 0;
}

/* The same of a unit that is read at once, and kept for the next sample. */
static int read_unit(struct worker *w, const struct wr_part *p, size_t len,
                     weir_err *err)
{
    int r;

    if (!w->unit || w->unit_number != p->unit) {
        free(w->unit);
        w->unit = NULL;
        r = wr_unit_read(w->scan->spec->ds, p->unit, &w->unit, err);
        if (r < 0)
            return r;
        w->unit_number = p->unit;
    }
    memcpy(w->buf, w->unit + p->offset, len);
    return 0;
}

/* What is behind a damaged place cannot be reached: it is not tried again for
 * each of the samples there. */
static int read_packed(struct worker *w, const struct wr_part *p, size_t len,
                       weir_err *err)
{
    int r;

    if (w->stream_err.code && w->object == p->object) {
        *err = w->stream_err;
        return err->code;
    }
    w->stream_err.code = 0;
    r = read_stream(w, p, len, err);
    if (r < 0 && !wr_err_is_lack(r))
        w->stream_err = *err;
    return r;
}

/* Reads `len` bytes of the sample into w->buf. */
static int read_bytes(struct worker *w, const struct wr_part *p, size_t len,
                      weir_err *err)
{
    struct wr_store *store = w->scan->spec->ds->store;
    struct wr_object *o;
    int64_t n;

    if (len > MAX_SAMPLE)
        return wr_fail(err, WEIR_ELIMIT,
                       "%zu bytes, over the limit of 2 GiB for one sample",
                       len);
    if (!wr_grow(&w->buf, &w->cap, len, 1))
        return wr_fail(err, WEIR_ENOMEM, "no memory for %zu bytes", len);
    if (wr_part_is_packed(p))
        return wr_unit_is_stream(
                   wr_index_unit(w->scan->spec->ds->index, p->unit))
                   ? read_packed(w, p, len, err)
                   : read_unit(w, p, len, err);
    if (store->ops->object_open(store, w->path, WR_OPEN_READ, &o, err) < 0)
        return err->code;
    n = wr_object_read_all(o, w->buf, len, p->offset, err);
    o->ops->close(o, /* sync= */ false, NULL);
    if (n < 0)
        return (int)n;
    return (size_t)n < len ? fail_short(p, (size_t)n, err) : 0;
}

static int look_at_header(struct worker *w, const struct wr_part *p,
                          struct wr_picture_info *info, weir_err *err)
{
    size_t len = (size_t)WR_MIN(p->length, (uint64_t)HEADER_BYTES);
    int r;

    r = read_bytes(w, p, len, err);
    if (r < 0)
        return r;
    r = wr_picture_info(w->buf, len, info, err);
    if (r == 0 || len == p->length ||
        wr_picture_probe(w->buf, len) == WR_PICTURE_UNKNOWN)
        return r;
    /* A header may lie behind large metadata. */
    r = read_bytes(w, p, (size_t)p->length, err);
    if (r < 0)
        return r;
    return wr_picture_info(w->buf, (size_t)p->length, info, err);
}

static bool is_misnamed(const char *name, enum wr_picture_kind kind)
{
    enum wr_picture_kind said = wr_picture_kind_of_name(name, strlen(name));

    return said != WR_PICTURE_UNKNOWN && said != kind;
}

/* Reads all of it, and takes off what it is wrapped in. */
static int read_sample(struct worker *w, const struct wr_part *p,
                       struct wr_sample *io, weir_err *err)
{
    const weir_dataset *ds = w->scan->spec->ds;
    int r = read_bytes(w, p, (size_t)p->length, err);

    if (r < 0)
        return r;
    io->bytes = w->buf;
    io->len = (size_t)p->length;
    return wr_first_unpack(ds, &w->unpack, io, err);
}

/* Reads no more than needed: of a record all, for its checksum; what lies in
 * gzip is inflated anyway. */
static int look_inside(struct worker *w, const struct wr_part *p,
                       struct wr_sample *io, struct wr_picture_info *info,
                       weir_err *err)
{
    int r;

    if (!w->decoder && !wr_part_is_packed(p) &&
        !w->scan->spec->ds->format->unpack)
        return look_at_header(w, p, info, err);
    r = read_sample(w, p, io, err);
    if (r < 0)
        return r;
    if (!w->decoder)
        return wr_picture_info(io->bytes, io->len, info, err);
    return wr_picture_decode_only(w->decoder, io->bytes, io->len, info, NULL,
                                  err);
}

static int look_at_picture(struct worker *w, const struct wr_part *p,
                           uint64_t id, struct wr_inspect_found *found,
                           weir_err *err)
{
    const struct wr_index *ix = w->scan->spec->ds->index;
    struct wr_sample sample = {.id = id, .label = p->label};
    const char *name = wr_index_sample_name(ix, id);
    struct wr_picture_info info;
    int r;

    if (!p->length)
        return wr_fail(err, WEIR_EFORMAT, p->whole ? "empty file" : "empty");
    r = look_inside(w, p, &sample, &info, err);
    if (r < 0)
        return r;
    found->width = info.width;
    found->height = info.height;
    found->kind = (uint8_t)info.kind;
    found->components = (uint8_t)info.components;
    found->label = sample.label;
    found->turned = info.orientation != WR_PICTURE_UPRIGHT;
    found->misnamed = is_misnamed(name ? name : w->path, info.kind);
    if (found->misnamed)
        atomic_fetch_add(&w->scan->misnamed, 1);
    return 0;
}

/* Cuts "'path': " off, which the storage puts in front and the list repeats. */
static void cut_name(weir_err *e, const char *path)
{
    size_t n = strlen(path);

    if (e->msg[0] == '\'' && !strncmp(e->msg + 1, path, n) &&
        !strncmp(e->msg + 1 + n, "': ", 3))
        memmove(e->msg, e->msg + n + 4, strlen(e->msg + n + 4) + 1);
}

static int look_once(struct worker *w, const struct wr_part *p, uint64_t id,
                     struct wr_inspect_found *found, weir_err *err)
{
    const struct wr_index *ix = w->scan->spec->ds->index;
    struct wr_sample sample = {.id = id};

    if (wr_index_object_path(ix, p->object, w->path, sizeof(w->path)) >=
        sizeof(w->path))
        return wr_fail(err, WEIR_ELIMIT, "its path is too long");
    if (!wr_index_has_pictures(ix))
        return read_sample(w, p, &sample, err);
    return look_at_picture(w, p, id, found, err);
}

/* False: the scan is void. */
static bool look_at(struct worker *w, uint64_t k)
{
    struct scan *s = w->scan;
    bool in_order = s->out->all || s->out->first;
    uint64_t id = in_order ? k : wr_perm_at(&s->perm, k), since = 0;
    struct wr_part p;
    weir_err e = {0};
    int r;

    wr_index_part(s->spec->ds->index, 0, id, &p);
    s->out->found[k].label = p.label;
    do
        r = look_once(w, &p, id, &s->out->found[k], &e);
    while (wr_err_is_lack(r) && !wr_interrupted() && wr_lack_pause(&since));
    if (r == 0)
        return true;
    if (wr_err_is_lack(r)) {
        note_lack(s, &e);
        return false;
    }
    cut_name(&e, w->path);
    if (!p.whole)
        wr_fail_prefix(&e, e.code, "sample %" PRIu64 " at offset %" PRIu64, id,
                       p.offset);
    note_broken(s, id, &e);
    return true;
}

/* The samples of one turn: those in one object of gzip, so that one thread
 * inflates it, and once. */
static bool take_turn(struct scan *s, uint64_t *ret_from, uint64_t *ret_to)
{
    const struct wr_index *ix = s->spec->ds->index;
    struct wr_part first, p;
    uint64_t from, to;

    pthread_mutex_lock(&s->lock);
    from = to = s->next;
    if (from < s->out->count)
        to++;
    if (from < to && s->packed) {
        wr_index_part(ix, 0, from, &first);
        for (p = first; to < s->out->count && wr_part_is_packed(&first); to++) {
            wr_index_part(ix, 0, to, &p);
            if (p.object != first.object)
                break;
        }
    }
    s->next = to;
    pthread_mutex_unlock(&s->lock);
    *ret_from = from;
    *ret_to = to;
    return from < to;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct scan *s = w->scan;
    uint64_t k, end;

    while (!wr_interrupted() && take_turn(s, &k, &end))
        for (; k < end && !wr_interrupted(); k++) {
            if (!look_at(w, k))
                return NULL;
            wr_progress_add(s->spec->progress, 1);
        }
    return NULL;
}

static int start_worker(struct worker *w, struct scan *s, weir_err *err)
{
    weir_picture_config spec = {.channels = 3, .dtype = WEIR_U8};
    int r;

    w->scan = s;
    if (s->spec->verify && wr_index_has_pictures(s->spec->ds->index)) {
        r = wr_picture_new(&w->decoder, &spec, err);
        if (r < 0)
            return r;
    }
    return wr_thread_start(&w->thread, "inspect", work, w, err);
}

static unsigned thread_count(const struct scan *s)
{
    unsigned cores = wr_cpu_count();
    unsigned n = s->spec->threads  ? s->spec->threads
                 : s->spec->verify ? cores
                                   : WR_MAX(cores, HEADER_THREADS);

    return (unsigned)WR_MIN((uint64_t)WR_MIN(n, MAX_THREADS),
                            WR_MAX(s->out->count, UINT64_C(1)));
}

static int run_workers(struct scan *s, weir_err *err)
{
    unsigned n = thread_count(s), started = 0;
    struct worker *workers = calloc(n, sizeof(*workers));
    int r = 0;

    if (!workers)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (; started < n && r == 0; started++)
        r = start_worker(&workers[started], s, err);
    if (r < 0) {
        started--; /* the last one has no thread */
        pthread_mutex_lock(&s->lock);
        s->next = s->out->count;
        pthread_mutex_unlock(&s->lock);
    }
    for (unsigned k = 0; k < started; k++)
        pthread_join(workers[k].thread, NULL);
    for (unsigned k = 0; k < n; k++) {
        wr_picture_free(workers[k].decoder);
        wr_shard_reader_close(workers[k].stream);
        free(workers[k].unit);
        wr_unpack_done(&workers[k].unpack);
        free(workers[k].buf);
    }
    free(workers);
    return r;
}

/* Labels that are not in the index but in the samples. */
static int take_labels(const struct scan *s, weir_err *err)
{
    const weir_dataset *ds = s->spec->ds;
    struct wr_inspect_scan *out = s->out;

    if (!ds->format->unpack || weir_dataset_class_count(ds) ||
        !wr_index_has_pictures(ds->index))
        return 0;
    out->has_labels = true;
    return wr_inspect_count_labels(out->found, out->count, &out->labels, err);
}

static int scan_all(struct scan *s, weir_err *err)
{
    int r = run_workers(s, err);

    s->out->misnamed = s->misnamed;
    if (r == 0 && s->failed.code)
        r = wr_fail(err, s->failed.code, "%s", s->failed.msg);
    if (r == 0 && wr_interrupted())
        r = wr_fail(err, WEIR_ECANCELED, "interrupted");
    if (r == 0)
        r = take_labels(s, err);
    return r;
}

int wr_inspect_scan(const struct wr_inspect_scan_spec *spec,
                    struct wr_inspect_scan *ret, weir_err *err)
{
    uint64_t total = weir_dataset_count(spec->ds);
    struct wr_inspect_scan out = {.all = !spec->samples ||
                                         spec->samples >= total};
    struct scan s = {.spec = spec,
                     .out = &out,
                     .packed = wr_index_unit_count(spec->ds->index) > 0};
    int r;

    out.first = !out.all && s.packed;
    out.count = out.all ? total : spec->samples;
    out.found = calloc(out.count + 1, sizeof(*out.found));
    if (!out.found)
        return wr_fail(err, WEIR_ENOMEM, "no memory for %" PRIu64 " samples",
                       out.count);
    wr_perm_init(&s.perm, total, /* seed= */ 0, /* stream= */ 0);
    pthread_mutex_init(&s.lock, NULL);
    wr_progress_total(spec->progress, out.count);
    r = scan_all(&s, err);
    pthread_mutex_destroy(&s.lock);
    if (r < 0) {
        wr_inspect_scan_done(&out);
        return r;
    }
    *ret = out;
    return 0;
}

void wr_inspect_scan_done(struct wr_inspect_scan *s)
{
    free(s->found);
    free(s->broken);
    free(s->labels.list);
    memset(s, 0, sizeof(*s));
}
