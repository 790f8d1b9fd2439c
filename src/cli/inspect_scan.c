/* inspect_scan.c - looks into the samples of a data set, with many threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/inspect_scan.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/perm.h"
#include "base/thread.h"
#include "cli/interrupt.h"
#include "codec/picture.h"

#define HEADER_BYTES   65536u /* nearly every header lies within */
#define HEADER_THREADS 8u     /* reading headers is waiting */
#define MAX_THREADS    256u
#define MAX_PATH       8192u
#define MAX_SAMPLE     ((size_t)1 << 31) /* bytes; the pipeline's limit too */

struct scan {
    const struct wr_inspect_scan_spec *spec; /* borrowed */
    struct wr_inspect_scan *out;             /* borrowed */
    struct wr_perm perm;
    _Atomic uint64_t next;
    _Atomic uint64_t misnamed;
    pthread_mutex_t lock; /* guards the two below and out->broken... */
    size_t broken_cap;
    int failed; /* memory: the scan is void */
};

/* What one thread keeps from sample to sample. */
struct worker {
    struct scan *scan; /* borrowed */
    pthread_t thread;
    struct wr_picture_decoder *decoder; /* owned; NULL: headers only */
    uint8_t *buf;                       /* owned */
    size_t cap;
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
            s->failed = WEIR_ENOMEM;
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

/* Reads `len` bytes of the sample into w->buf. */
static int read_bytes(struct worker *w, const struct wr_place *p, size_t len,
                      weir_err *err)
{
    struct wr_store *store = w->scan->spec->ds->store;
    struct wr_object *o;
    size_t got = 0;
    int64_t n = 1;

    if (len > MAX_SAMPLE)
        return wr_fail(err, WEIR_ELIMIT,
                       "%zu bytes, over the limit of 2 GiB for one sample",
                       len);
    if (!wr_grow(&w->buf, &w->cap, len, 1))
        return wr_fail(err, WEIR_ENOMEM, "no memory for %zu bytes", len);
    if (store->ops->object_open(store, w->path, WR_OPEN_READ, &o, err) < 0)
        return err->code;
    while (got < len && n > 0) {
        n = o->ops->read(o, w->buf + got, len - got, p->offset + got, err);
        got += n > 0 ? (size_t)n : 0;
    }
    o->ops->close(o, /* sync= */ false, NULL);
    if (n < 0)
        return (int)n;
    if (got < len)
        return wr_fail(err, WEIR_ECHANGED,
                       "ends at byte %" PRIu64 ", %" PRIu64
                       " bytes were indexed",
                       p->offset + got, p->offset + p->length);
    return 0;
}

static int look_at_header(struct worker *w, const struct wr_place *p,
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
    if (wr_name_has_ext(name, ".png"))
        return kind != WR_PICTURE_PNG;
    if (wr_name_has_ext(name, ".jpg") || wr_name_has_ext(name, ".jpeg"))
        return kind != WR_PICTURE_JPEG;
    return false;
}

static int look_at_picture(struct worker *w, const struct wr_place *p,
                           struct wr_inspect_found *found, weir_err *err)
{
    struct wr_picture_info info;
    int r;

    if (!p->length)
        return wr_fail(err, WEIR_EFORMAT, "empty file");
    if (!w->decoder) {
        r = look_at_header(w, p, &info, err);
    } else {
        r = read_bytes(w, p, (size_t)p->length, err);
        if (r == 0)
            r = wr_picture_decode_only(w->decoder, w->buf, (size_t)p->length,
                                       &info, NULL, err);
    }
    if (r < 0)
        return r;
    found->width = info.width;
    found->height = info.height;
    found->kind = (uint8_t)info.kind;
    found->components = (uint8_t)info.components;
    found->misnamed = is_misnamed(w->path, info.kind);
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

static void look_at(struct worker *w, uint64_t k)
{
    struct scan *s = w->scan;
    const struct wr_index *ix = s->spec->ds->index;
    uint64_t id = s->out->all ? k : wr_perm_at(&s->perm, k);
    struct wr_place p;
    weir_err e = {0};
    int r;

    wr_index_place(ix, id, &p);
    if (wr_index_object_path(ix, p.object, w->path, sizeof(w->path)) >=
        sizeof(w->path))
        r = wr_fail(&e, WEIR_ELIMIT, "its path is too long");
    else if (wr_index_shape(ix)->known)
        r = read_bytes(w, &p, (size_t)p.length, &e);
    else
        r = look_at_picture(w, &p, &s->out->found[k], &e);
    if (r < 0) {
        cut_name(&e, w->path);
        note_broken(s, id, &e);
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct scan *s = w->scan;
    uint64_t k;

    while (!wr_interrupted() &&
           (k = atomic_fetch_add(&s->next, 1)) < s->out->count) {
        look_at(w, k);
        wr_progress_add(s->spec->progress, 1);
    }
    return NULL;
}

static int start_worker(struct worker *w, struct scan *s, weir_err *err)
{
    struct wr_picture_spec spec = {.channels = 3, .dtype = WEIR_U8};
    int r;

    w->scan = s;
    if (s->spec->verify && !wr_index_shape(s->spec->ds->index)->known) {
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
        atomic_store(&s->next, s->out->count);
    }
    for (unsigned k = 0; k < started; k++)
        pthread_join(workers[k].thread, NULL);
    for (unsigned k = 0; k < n; k++) {
        wr_picture_free(workers[k].decoder);
        free(workers[k].buf);
    }
    free(workers);
    return r;
}

int wr_inspect_scan(const struct wr_inspect_scan_spec *spec,
                    struct wr_inspect_scan *ret, weir_err *err)
{
    uint64_t total = weir_dataset_count(spec->ds);
    struct wr_inspect_scan out = {.all = !spec->samples ||
                                         spec->samples >= total};
    struct scan s = {.spec = spec, .out = &out};
    int r;

    out.count = out.all ? total : spec->samples;
    out.found = calloc(out.count + 1, sizeof(*out.found));
    if (!out.found)
        return wr_fail(err, WEIR_ENOMEM, "no memory for %" PRIu64 " samples",
                       out.count);
    wr_perm_init(&s.perm, total, /* seed= */ 0, /* stream= */ 0);
    pthread_mutex_init(&s.lock, NULL);
    wr_progress_total(spec->progress, out.count);
    r = run_workers(&s, err);
    pthread_mutex_destroy(&s.lock);
    out.misnamed = s.misnamed;
    if (r == 0 && s.failed)
        r = wr_fail(err, s.failed, "out of memory");
    if (r == 0 && wr_interrupted())
        r = wr_fail(err, WEIR_ECANCELED, "interrupted");
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
    memset(s, 0, sizeof(*s));
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return x < y ? -1 : x > y;
}

/* Puts `d` where it belongs among the `cap` most common ones. */
static void rank_dim(struct wr_inspect_dim *top, size_t cap,
                     struct wr_inspect_dim d)
{
    for (size_t k = 0; k < cap; k++)
        if (d.count > top[k].count) {
            struct wr_inspect_dim lower = top[k];

            top[k] = d;
            d = lower;
        }
}

int64_t wr_inspect_dims(const struct wr_inspect_scan *s,
                        struct wr_inspect_dim *ret, size_t cap)
{
    uint64_t *keys = malloc((s->count + 1) * sizeof(*keys));
    int64_t distinct = 0;
    uint64_t n = 0;

    if (!keys)
        return WEIR_ENOMEM;
    for (uint64_t k = 0; k < s->count; k++)
        if (s->found[k].width)
            keys[n++] = (uint64_t)s->found[k].width << 32 | s->found[k].height;
    qsort(keys, n, sizeof(*keys), compare_u64);
    memset(ret, 0, cap * sizeof(*ret));
    for (uint64_t from = 0, to = 0; from < n; from = to, distinct++) {
        while (to < n && keys[to] == keys[from])
            to++;
        rank_dim(ret, cap,
                 (struct wr_inspect_dim){(uint32_t)(keys[from] >> 32),
                                         (uint32_t)keys[from], to - from});
    }
    free(keys);
    return distinct;
}
