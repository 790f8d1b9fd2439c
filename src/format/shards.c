/* shards.c - what formats of shards share: scanning them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Threads take shards in order and gather what they find; the caller's thread
 * moves it into the index, shard by shard, while the scan of the first shard
 * that is not finished still goes on. */
#include "format/shards.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/thread.h"
#include "codec/filters.h"

#define MAX_THREADS 32u
#define HAND_OVER   1024u /* samples a thread keeps to itself */
#define WAIT_NS     (50 * WR_NS_PER_MS)
#define NO_NAME     (UINT64_C(1) << 63)
#define MAX_NOTES   16u /* problems of a shard that are told one by one */

/* What a shard may take in memory while it is scanned: so much, or so many
 * times its size. Only gzip can come to more: a thousand empty records or
 * members of the same name in a byte. */
#define KEEP_FREE  ((uint64_t)64 << 20)
#define KEEP_RATIO 16u

/* --- scanning --- */

struct shard_find {
    uint64_t offset;
    uint64_t
        name; /* where it starts in names; no name: ~line, from NO_NAME on */
    uint32_t length, label;
};

/* Records that were found, and their names; zeroed memory is none. */
struct finds {
    struct shard_find *records; /* owned */
    size_t count, cap;
    char *names; /* owned: each with its NUL */
    size_t names_len, names_cap;
};

/* A problem, or a file beside the shard. */
struct remark {
    struct remark *next; /* owned */
    char *name;          /* owned */
    weir_err e;
    struct wr_stat stat;
};

struct wr_shard_out {
    struct pool *pool;     /* borrowed */
    struct finds own;      /* of the thread that scans */
    uint64_t kept;         /* bytes of all that was found */
    struct remark *notes;  /* owned: the first ones; read when done */
    uint64_t note_count;   /* of all; read when done */
    struct remark *beside; /* owned; read when done */
    weir_err *failure;     /* owned; read when done */
    int result;            /* of the scan; read when done */
    struct wr_stat stat;   /* read once opened */
    uint64_t inflated;     /* read when done */
    /* guarded by pool->lock: */
    struct finds ready; /* for the caller's thread */
    bool opened, gzip, done;
};

struct pool {
    struct wr_index_job *job;         /* borrowed */
    const struct wr_listing *l;       /* borrowed */
    const struct wr_shard_scan *scan; /* borrowed */
    unsigned columns;
    struct wr_shard_out *outs; /* owned: one per shard */
    atomic_size_t next;        /* shard that is taken next */
    atomic_bool stop;
    pthread_mutex_t lock; /* guards what wr_shard_out says */
    pthread_cond_t news;  /* something about some shard has changed */
};

static void finds_done(struct finds *f)
{
    free(f->records);
    free(f->names);
    memset(f, 0, sizeof(*f));
}

static void remarks_free(struct remark *m)
{
    while (m) {
        struct remark *next = m->next;

        free(m->name);
        free(m);
        m = next;
    }
}

/* The parts of one sample, the first with its name. */
static bool finds_add(struct finds *f, const struct wr_record *parts,
                      unsigned columns)
{
    size_t len = parts->name ? strlen(parts->name) + 1 : 0;

    if (!wr_grow(&f->records, &f->cap, f->count + columns,
                 sizeof(*f->records)) ||
        (len && !wr_grow(&f->names, &f->names_cap, f->names_len + len, 1)))
        return false;
    for (unsigned k = 0; k < columns; k++)
        f->records[f->count++] = (struct shard_find){
            .offset = parts[k].offset,
            .name = len && !k ? f->names_len : ~(uint64_t)parts[k].line,
            .length = (uint32_t)parts[k].length,
            .label = parts[k].label,
        };
    if (len)
        memcpy(f->names + f->names_len, parts->name, len);
    f->names_len += len;
    return true;
}

static bool finds_append(struct finds *to, const struct finds *from)
{
    size_t base = to->names_len;

    if (!wr_grow(&to->records, &to->cap, to->count + from->count,
                 sizeof(*to->records)) ||
        !wr_grow(&to->names, &to->names_cap, base + from->names_len, 1))
        return false;
    for (size_t k = 0; k < from->count; k++) {
        to->records[to->count + k] = from->records[k];
        if (from->records[k].name < NO_NAME)
            to->records[to->count + k].name += base;
    }
    if (from->names_len)
        memcpy(to->names + base, from->names, from->names_len);
    to->count += from->count;
    to->names_len += from->names_len;
    return true;
}

/* Gives what the thread has kept to itself to the caller's. */
static bool hand_over(struct wr_shard_out *out)
{
    bool ok;

    pthread_mutex_lock(&out->pool->lock);
    ok = finds_append(&out->ready, &out->own);
    pthread_cond_signal(&out->pool->news);
    pthread_mutex_unlock(&out->pool->lock);
    out->own.count = out->own.names_len = 0;
    return ok;
}

static int fail_memory(weir_err *err)
{
    return wr_fail(err, WEIR_ENOMEM, "out of memory for the index");
}

int wr_shard_keep(struct wr_shard *s, size_t bytes, weir_err *err)
{
    uint64_t *kept = &s->out->kept;

    *kept += bytes;
    if (*kept <= KEEP_FREE || *kept / KEEP_RATIO <= s->stat.size)
        return 0;
    return wr_fail(err, WEIR_ELIMIT,
                   "more samples than %" PRIu64 " bytes of gzip may hold",
                   s->stat.size);
}

/* The first part has the name. */
static int check_sample(struct wr_shard *s, const struct wr_record *parts,
                        weir_err *err)
{
    unsigned columns = s->out->pool->columns;
    size_t name = parts->name ? strlen(parts->name) + 1 : 0;
    int r = wr_shard_keep(s, columns * sizeof(struct shard_find) + name, err);

    if (r < 0)
        return wr_fail_prefix(err, r, "offset %" PRIu64,
                              wr_shard_reader_tell(s->reader));
    for (unsigned k = 0; k < columns; k++)
        if (parts[k].length > WR_RECORD_MAX)
            return wr_fail(err, WEIR_ELIMIT,
                           "offset %" PRIu64 ": a sample of %" PRIu64
                           " bytes, over the limit",
                           parts[k].offset, parts[k].length);
    return 0;
}

int wr_shard_add(struct wr_shard *s, const struct wr_record *parts,
                 weir_err *err)
{
    struct wr_shard_out *out = s->out;
    unsigned columns = out->pool->columns;
    int r = check_sample(s, parts, err);

    if (r < 0)
        return r;
    if (!finds_add(&out->own, parts, columns))
        return fail_memory(err);
    for (unsigned k = 0; k < columns; k++)
        if (parts[k].offset != WR_ABSENT)
            out->inflated = WR_MAX(out->inflated,
                                   parts[k].offset + parts[k].length);
    if (out->own.count < (size_t)HAND_OVER * columns)
        return 0;
    if (!hand_over(out))
        return fail_memory(err);
    if (atomic_load(&out->pool->stop))
        return wr_fail(err, WEIR_ECANCELED, "canceled while indexing");
    return 0;
}

static struct remark *remark_new(const char *name)
{
    struct remark *m = calloc(1, sizeof(*m));

    if (m && !(m->name = strdup(name))) {
        free(m);
        return NULL;
    }
    return m;
}

void wr_shard_note(struct wr_shard *s, const char *name, const weir_err *e)
{
    struct remark **end = &s->out->notes;

    if (s->out->note_count++ >= MAX_NOTES)
        return;
    while (*end)
        end = &(*end)->next;
    *end = remark_new(name);
    if (*end)
        (*end)->e = *e;
}

int wr_shard_depends(struct wr_shard *s, const char *path,
                     const struct wr_stat *st, weir_err *err)
{
    remarks_free(s->out->beside);
    s->out->beside = remark_new(path);
    if (!s->out->beside)
        return fail_memory(err);
    s->out->beside->stat = *st;
    return 0;
}

/* Records may be bad in gzip that is good: then its size can be told. False:
 * it is the gzip that is bad, and good for the records found so far only. */
static bool pass_rest(struct wr_shard_reader *r)
{
    return wr_shard_reader_is_packed(r) &&
           wr_shard_reader_skip(r, UINT64_MAX, NULL) >= 0;
}

static int scan_opened(struct pool *p, struct wr_shard *s, weir_err *err)
{
    struct wr_shard_out *out = s->out;
    int r;

    wr_shard_reader_watch(s->reader, &p->stop);
    s->stat = out->stat = *wr_shard_reader_stat(s->reader);
    pthread_mutex_lock(&p->lock);
    out->opened = true;
    out->gzip = wr_shard_reader_is_packed(s->reader);
    pthread_mutex_unlock(&p->lock);
    r = p->scan->fn(s, err);
    if (r == 0 || (r == WEIR_EFORMAT && pass_rest(s->reader)))
        out->inflated = WR_MAX(out->inflated, wr_shard_reader_tell(s->reader));
    return r;
}

static void scan_shard(struct pool *p, size_t k)
{
    struct wr_shard_out *out = &p->outs[k];
    struct wr_shard s = {.store = p->job->store,
                         .path = wr_listing_name(p->l, k),
                         .out = out,
                         .number = k,
                         .arg = p->scan->arg};
    weir_err e;
    int r;

    r = wr_shard_reader_open(&s.reader, s.store, s.path, &e);
    if (r == 0)
        r = scan_opened(p, &s, &e);
    wr_shard_reader_close(s.reader);
    if (!hand_over(out))
        r = fail_memory(&e);
    finds_done(&out->own);
    out->result = r;
    if (r < 0 && (out->failure = malloc(sizeof(e))))
        *out->failure = e;
    pthread_mutex_lock(&p->lock);
    out->done = true;
    pthread_cond_signal(&p->news);
    pthread_mutex_unlock(&p->lock);
}

static void *scan_thread(void *arg)
{
    struct pool *p = arg;

    for (;;) {
        size_t k = atomic_fetch_add(&p->next, 1);

        if (k >= p->l->count || atomic_load(&p->stop))
            return NULL;
        scan_shard(p, k);
    }
}

/* --- into the index (the caller's thread) --- */

/* The object of shard k, with its first samples. */
static int add_object(struct pool *p, size_t k, bool gzip, weir_err *err)
{
    struct wr_shard_out *out = &p->outs[k];
    struct wr_index *ix = p->job->index;
    int64_t n = wr_index_add_dir(ix, "", err);

    if (n >= 0)
        n = wr_index_add_object(ix, n, wr_listing_name(p->l, k), out->stat.size,
                                err);
    if (n >= 0)
        wr_index_set_identity(ix, out->stat.identity);
    if (n >= 0 && gzip)
        n = wr_index_add_unit(ix,
                              &(struct wr_unit){.stored = out->stat.size,
                                                .inflated = out->inflated,
                                                .filters = WR_FILTER_GZIP},
                              err);
    return n < 0 ? (int)n : 0;
}

/* Column by column, so that the parts of each lie together. Always of as many
 * samples: the same data set makes the same index. */
static int add_some(const struct pool *p, const struct finds *f, size_t from,
                    size_t to, weir_err *err)
{
    struct wr_index *ix = p->job->index;
    int r = 0;

    for (unsigned c = 0; c < p->columns; c++)
        for (size_t k = from + c; k < to && r == 0; k += p->columns) {
            const struct shard_find *x = &f->records[k];
            const struct wr_record rec = {
                .column = c,
                .offset = x->offset,
                .length = x->length,
                .label = x->label,
                .name = x->name >= NO_NAME ? NULL : f->names + x->name,
            };

            r = wr_index_add_record(ix, &rec, err);
            if (r == 0 && c == 0 && p->scan->lines)
                r = wr_index_add_scalars(
                    ix, &(union wr_scalar){.i = (int64_t)~x->name}, err);
        }
    return r;
}

static int add_finds(struct pool *p, const struct finds *f, weir_err *err)
{
    size_t step = (size_t)HAND_OVER * p->columns;
    int r = 0;

    for (size_t k = 0; k < f->count && r == 0; k += step)
        r = add_some(p, f, k, WR_MIN(k + step, f->count), err);
    return r;
}

/* Takes what is ready of shard k, after waiting a while for something. Gzip
 * comes as a whole: its size must be known first. */
static void take(struct pool *p, size_t k, struct finds *ret, bool *ret_gzip,
                 bool *ret_done)
{
    struct wr_shard_out *out = &p->outs[k];
    uint64_t end = wr_clock_ns() + WAIT_NS;

    pthread_mutex_lock(&p->lock);
    while (!out->done && (out->gzip || !out->ready.count))
        if (!wr_cond_wait_until(&p->news, &p->lock, end))
            break;
    *ret_gzip = out->gzip;
    *ret_done = out->done;
    memset(ret, 0, sizeof(*ret));
    if (out->done || !out->gzip) {
        *ret = out->ready;
        memset(&out->ready, 0, sizeof(out->ready));
    }
    pthread_mutex_unlock(&p->lock);
}

static void tell_notes(struct pool *p, size_t k)
{
    const struct wr_shard_out *out = &p->outs[k];
    weir_err more;

    for (const struct remark *m = out->notes; m; m = m->next)
        wr_index_job_issue(p->job, m->name, &m->e);
    if (out->note_count <= MAX_NOTES)
        return;
    wr_fail(&more, WEIR_EFORMAT, "%" PRIu64 " more problems",
            out->note_count - MAX_NOTES);
    wr_index_job_issue(p->job, wr_listing_name(p->l, k), &more);
}

/* What else is to be said about shard k, which is done. */
static int conclude(struct pool *p, size_t k, bool has_samples, weir_err *err)
{
    struct wr_shard_out *out = &p->outs[k];
    const char *name = wr_listing_name(p->l, k);
    int r = 0;

    if (out->opened)
        r = wr_index_job_stamp(p->job, name, &out->stat, err);
    if (r == 0 && out->beside)
        r = wr_index_job_stamp(p->job, out->beside->name, &out->beside->stat,
                               err);
    if (r < 0)
        return r;
    tell_notes(p, k);
    if (out->result == 0)
        return 0;
    if (!out->failure)
        return wr_fail(err, WEIR_ENOMEM, "'%s': out of memory", name);
    if (wr_index_fails(out->failure->code) || (p->job->leaf && !has_samples)) {
        bool named = out->failure->msg[0] == '\'';

        return wr_fail(err, out->failure->code, "%s%s%s%s", named ? "" : "'",
                       named ? "" : name,
                       named ? "" : "': ", out->failure->msg);
    }
    wr_index_job_issue(p->job, name, out->failure);
    return 0;
}

static int deliver(struct pool *p, size_t k, weir_err *err)
{
    bool added = false, done = false, gzip;
    struct finds f;
    int r = 0;

    while (!done && r == 0) {
        take(p, k, &f, &gzip, &done);
        if (f.count && !added) {
            r = add_object(p, k, gzip, err);
            added = true;
        }
        if (r == 0)
            r = add_finds(p, &f, err);
        finds_done(&f);
        if (r == 0)
            r = wr_index_job_progress(p->job, err);
    }
    return r < 0 ? r : conclude(p, k, added, err);
}

static int deliver_all(struct pool *p, weir_err *err)
{
    int r = 0;

    for (size_t k = 0; k < p->l->count && r == 0; k++)
        r = deliver(p, k, err);
    return r;
}

/* Scanning waits for the storage more than it computes: more threads than
 * cores. One at least must start. */
static int run(struct pool *p, weir_err *err)
{
    unsigned want = WR_MIN(4 * wr_cpu_count(), MAX_THREADS), n = 0;
    pthread_t threads[MAX_THREADS];
    int r = 0;

    want = (unsigned)WR_MIN((size_t)want, p->l->count);
    while (n < want && r == 0) {
        r = wr_thread_start(&threads[n], "weir-scan", scan_thread, p,
                            n ? NULL : err);
        n += r == 0;
    }
    if (n || !want)
        r = deliver_all(p, err);
    atomic_store(&p->stop, true);
    for (unsigned k = 0; k < n; k++)
        pthread_join(threads[k], NULL);
    return r;
}

int wr_shards_index(struct wr_index_job *job, const struct wr_listing *l,
                    const struct wr_shard_scan *scan, weir_err *err)
{
    struct pool p = {
        .job = job, .l = l, .scan = scan, .columns = WR_MAX(scan->columns, 1u)};
    int r;

    p.outs = calloc(l->count + 1, sizeof(*p.outs));
    if (!p.outs)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < l->count; k++)
        p.outs[k].pool = &p;
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.news, NULL);
    r = run(&p, err);
    pthread_cond_destroy(&p.news);
    pthread_mutex_destroy(&p.lock);
    for (size_t k = 0; k < l->count; k++) {
        finds_done(&p.outs[k].own);
        finds_done(&p.outs[k].ready);
        remarks_free(p.outs[k].notes);
        remarks_free(p.outs[k].beside);
        free(p.outs[k].failure);
    }
    free(p.outs);
    return r;
}
