/* text_scan.c - records of a text, found by all cores.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/text_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/thread.h"

#define CHUNK        ((size_t)8 << 20)    /* bytes of a plain file per part */
#define PIECE        ((size_t)1 << 20)    /* read at once, at least */
#define GUESS_MAX    ((size_t)32 << 20)   /* of a record that may be none */
#define PACKED_FREE  ((uint64_t)16 << 20) /* of a record in a packed file, */
#define PACKED_RATIO 16u /* and more for each byte of that file */
#define PER_ROUND    2u  /* chunks per thread between two looks at the caller */
#define MAX_THREADS  16u
#define NO_START     UINT64_MAX
#define NO_WORD      UINT32_MAX

static const char line_name[] = "line";

struct text_find {
    uint64_t offset, line; /* the line counts from the chunk's first */
    size_t length;
    uint32_t label, word;
    const char *bad;
    unsigned column;
};

/* What one chunk holds. */
struct text_chunk {
    uint64_t start, end;     /* of its records; NO_START: scanned in vain */
    uint64_t lines;          /* from start to end */
    struct text_find *finds; /* owned */
    size_t count, cap;
    struct wr_intern words; /* owned: of this chunk alone */
    int result;
    weir_err err;
};

struct text_job {
    struct wr_shard *s;              /* borrowed */
    const struct wr_text_scan *scan; /* borrowed */
    struct wr_object *object;        /* owned; NULL: read the stream */
    uint64_t size;                   /* of the object */
    struct text_chunk *chunks;       /* owned: of one round */
    uint64_t first;                  /* number of chunks[0] */
    uint64_t at, line;               /* where the next record begins */
    size_t record_max;               /* bytes of one record */
};

/* A part of the text in memory. */
struct text_window {
    char *buf; /* owned */
    size_t at, len, cap;
    uint64_t offset; /* of buf[0] */
    bool last;       /* the text ends at len */
};

/* --- bytes --- */

static int64_t read_some(struct text_job *j, void *buf, size_t len,
                         uint64_t offset, weir_err *err)
{
    if (!j->object)
        return wr_shard_reader_read(j->s->reader, buf, len, err);
    len = (size_t)WR_MIN((uint64_t)len, j->size - WR_MIN(offset, j->size));
    return wr_object_read_all(j->object, buf, len, offset, err);
}

/* More bytes behind those from w->at on, which are kept. */
static int refill(struct text_job *j, struct text_window *w, weir_err *err)
{
    size_t kept = w->len - w->at, want = WR_MAX(kept, PIECE);
    int64_t n;

    if (w->at)
        memmove(w->buf, w->buf + w->at, kept);
    w->offset += w->at;
    w->at = 0;
    w->len = kept;
    if (!wr_grow(&w->buf, &w->cap, kept + want, 1))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    n = read_some(j, w->buf + kept, want, w->offset + kept, err);
    if (n < 0)
        return (int)n;
    w->len += (size_t)n;
    w->last = (size_t)n < want;
    return 0;
}

static uint64_t count_lines(const char *p, const char *end)
{
    uint64_t n = 0;

    while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
        n++;
        p++;
    }
    return n;
}

/* --- one chunk --- */

static int add_find(struct text_chunk *c, const struct wr_text_record *rec,
                    const struct text_find *f, weir_err *err)
{
    int64_t word = NO_WORD;

    if (rec->word)
        word = wr_intern_add(&c->words, rec->word, rec->word_len);
    if (word < 0 ||
        !wr_grow(&c->finds, &c->cap, c->count + 1, sizeof(*c->finds)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory for the index");
    c->finds[c->count] = *f;
    c->finds[c->count++].word = (uint32_t)word;
    return 0;
}

/* The record at w->at. 1: taken; 0: the end of the text. */
static int take_record(struct text_job *j, struct text_chunk *c,
                       struct text_window *w, size_t max, weir_err *err)
{
    const struct wr_text_rule *rule = &j->scan->rule;
    struct wr_text_record rec;
    int64_t n;
    int r;

    for (;;) {
        rec = (struct wr_text_record){.label = WEIR_NO_LABEL};
        n = 0;
        if (w->buf && (w->len > w->at || w->last))
            n = rule->next(rule->arg, w->buf + w->at, w->buf + w->len, w->last,
                           &rec, err);
        if (n < 0)
            return (int)n;
        if (n > 0 || w->last)
            break;
        if (w->len - w->at >= max)
            return wr_fail(err, WEIR_ELIMIT,
                           "a record of more than %zu bytes (a quote or a "
                           "bracket that is never closed?)",
                           max);
        r = refill(j, w, err);
        if (r < 0)
            return r;
    }
    if (n == 0)
        return 0;
    r = 0;
    if (!rec.none)
        r = add_find(
            c, &rec,
            &(struct text_find){
                .offset = w->offset + w->at + rec.skip,
                .line = c->lines +
                        count_lines(w->buf + w->at, w->buf + w->at + rec.skip),
                .length = rec.length,
                .label = rec.label,
                .bad = rec.bad,
                .column = rec.column},
            err);
    c->lines += count_lines(w->buf + w->at, w->buf + w->at + (size_t)n);
    w->at += (size_t)n;
    return r < 0 ? r : 1;
}

/* Records from `from` on until one begins at `to` or behind it. */
static int scan_records(struct text_job *j, struct text_chunk *c,
                        struct text_window *w, uint64_t to, size_t max)
{
    int r;

    c->start = w->offset + w->at;
    c->count = 0;
    c->lines = 0;
    do
        r = take_record(j, c, w, max, &c->err);
    while (r > 0 && w->offset + w->at < to);
    c->end = w->offset + w->at;
    return WR_MIN(r, 0);
}

/* A chunk from a known place on. */
static void scan_from(struct text_job *j, struct text_chunk *c, uint64_t from,
                      uint64_t to)
{
    struct text_window w = {.offset = from};

    wr_intern_done(&c->words);
    c->result = scan_records(j, c, &w, to, j->record_max);
    free(w.buf);
}

/* A chunk from its first line on: a guess. What goes wrong is not said now. */
static void guess(struct text_job *j, struct text_chunk *c, uint64_t from,
                  uint64_t to)
{
    struct text_window w = {.offset = from - 1};
    const char *newline = NULL;
    weir_err err;

    c->start = NO_START;
    while (!newline && !w.last && w.offset + w.at < to) {
        if (refill(j, &w, &err) < 0)
            break;
        newline = memchr(w.buf + w.at, '\n', w.len - w.at);
        w.at = newline ? (size_t)(newline + 1 - w.buf) : w.len;
    }
    if (newline && w.offset + w.at < to) {
        c->result = scan_records(j, c, &w, to, GUESS_MAX);
        if (c->result == WEIR_ELIMIT || wr_err_is_lack(c->result))
            c->start = NO_START;
    }
    free(w.buf);
}

static void scan_chunk(void *arg, size_t part, unsigned thread)
{
    struct text_job *j = arg;
    uint64_t k = j->first + part, from = k * CHUNK, to = from + CHUNK;

    (void)thread;
    if (to <= j->at)
        j->chunks[part].start = NO_START;
    else if (from <= j->at)
        scan_from(j, &j->chunks[part], j->at, to);
    else
        guess(j, &j->chunks[part], from, to);
}

/* --- in order --- */

/* The chunk's words by their numbers among those of all shards. */
static int share_words(struct text_job *j, const struct text_chunk *c,
                       uint32_t **ret, weir_err *err)
{
    struct wr_text_words *words = &j->scan->files->words;
    uint32_t *numbers = calloc(c->words.count + 1, sizeof(*numbers));
    int64_t n = numbers ? 0 : WEIR_ENOMEM;

    pthread_mutex_lock(&words->lock);
    for (size_t k = 0; k < c->words.count && n >= 0; k++) {
        const char *text = wr_intern_text(&c->words, k);

        n = wr_intern_add(&words->names, text, strlen(text));
        if (n >= 0)
            numbers[k] = (uint32_t)n;
    }
    pthread_mutex_unlock(&words->lock);
    if (n < 0) {
        free(numbers);
        return wr_fail(err, (int)n, "too many classes, or out of memory");
    }
    *ret = numbers;
    return 0;
}

static int deliver_find(struct text_job *j, const struct text_find *f,
                        const uint32_t *numbers, weir_err *err)
{
    uint64_t line = j->line + f->line;
    weir_err e;

    if (!f->bad)
        return wr_shard_add(j->s,
                            &(struct wr_record){.offset = f->offset,
                                                .length = f->length,
                                                .label = f->word == NO_WORD
                                                             ? f->label
                                                             : numbers[f->word],
                                                .line = (int64_t)line},
                            err);
    if (f->column)
        wr_fail(&e, WEIR_EFORMAT, "line %" PRIu64 ", column %u: %s", line,
                f->column, f->bad);
    else
        wr_fail(&e, WEIR_EFORMAT, "line %" PRIu64 ": %s", line, f->bad);
    wr_shard_note(j->s, j->s->path, &e);
    return 0;
}

static int deliver(struct text_job *j, const struct text_chunk *c,
                   weir_err *err)
{
    uint32_t *numbers = NULL;
    int r = c->words.count ? share_words(j, c, &numbers, err) : 0;

    for (size_t k = 0; k < c->count && r == 0; k++)
        r = deliver_find(j, &c->finds[k], numbers, err);
    free(numbers);
    j->at = c->end;
    j->line += c->lines;
    if (r == 0 && c->result < 0)
        r = wr_fail(err, c->result, "line %" PRIu64 ": %s", j->line,
                    c->err.msg);
    return r;
}

static void chunk_done(struct text_chunk *c)
{
    free(c->finds);
    wr_intern_done(&c->words);
    memset(c, 0, sizeof(*c));
}

/* --- a shard --- */

/* One chunk after the other, by this thread alone. */
static int scan_stream(struct text_job *j, weir_err *err)
{
    struct text_window w = {.offset = j->at};
    struct text_chunk c = {0};
    uint64_t before;
    int r = 0;

    do {
        before = j->at;
        c.result = scan_records(j, &c, &w, j->at + CHUNK, j->record_max);
        r = deliver(j, &c, err);
        wr_intern_done(&c.words);
    } while (r == 0 && j->at > before);
    chunk_done(&c);
    free(w.buf);
    return r;
}

static int deliver_round(struct text_job *j, uint64_t count, weir_err *err)
{
    int r = 0;

    for (uint64_t k = 0; k < count && r == 0; k++) {
        struct text_chunk *c = &j->chunks[k];
        uint64_t to = (j->first + k + 1) * CHUNK;

        if (j->at >= to)
            continue; /* a record that began before goes through it */
        if (c->start != j->at)
            scan_from(j, c, j->at, to);
        r = deliver(j, c, err);
    }
    for (uint64_t k = 0; k < count; k++)
        chunk_done(&j->chunks[k]);
    return r;
}

static int scan_chunks(struct text_job *j, weir_err *err)
{
    uint64_t chunks = (j->size + CHUNK - 1) / CHUNK, count;
    unsigned threads = WR_MIN(j->scan->files->threads, MAX_THREADS);
    struct wr_pool *pool = NULL;
    int r;

    r = wr_pool_new(&pool, threads, "weir-text", err);
    j->chunks = calloc(threads * PER_ROUND, sizeof(*j->chunks));
    if (r == 0 && !j->chunks)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (; j->first < chunks && r == 0; j->first += count) {
        count = WR_MIN((uint64_t)threads * PER_ROUND, chunks - j->first);
        wr_pool_run(pool, count, scan_chunk, j);
        r = deliver_round(j, count, err);
    }
    wr_pool_free(pool);
    free(j->chunks);
    return r;
}

/* Bytes of it that are held in memory at once, whatever they were unpacked
 * from; at most `most`. */
static size_t most_held(const struct wr_shard_reader *rd, size_t most)
{
    uint64_t size = wr_shard_reader_stat(rd)->size;

    if (!wr_shard_reader_is_packed(rd))
        return most;
    return (size_t)WR_MIN(PACKED_FREE + PACKED_RATIO * size, (uint64_t)most);
}

int wr_text_scan(struct wr_shard *s, const struct wr_text_scan *scan,
                 weir_err *err)
{
    struct text_job j = {
        .s = s,
        .scan = scan,
        .at = scan->from,
        .line = scan->line,
        .size = s->stat.size,
        .record_max = most_held(s->reader, WR_TEXT_MAX_RECORD)};
    int64_t n = 0;
    int r;

    if (scan->rule.splits && !wr_shard_reader_is_packed(s->reader) &&
        scan->files->threads > 1 && s->stat.size > 2 * CHUNK) {
        r = s->store->ops->object_open(s->store, s->path, WR_OPEN_READ,
                                       &j.object, err);
        if (r == 0)
            r = scan_chunks(&j, err);
        if (j.object)
            j.object->ops->close(j.object, /* sync= */ false, NULL);
        return r;
    }
    n = wr_shard_reader_skip(s->reader, scan->from, err);
    return n < 0 ? (int)n : scan_stream(&j, err);
}

/* --- what formats of text share --- */

static int set_labels(struct wr_index_job *job, const uint32_t *rank,
                      weir_err *err)
{
    int r = 0;

    wr_index_order(job->index);
    for (uint64_t i = 0; i < wr_index_count(job->index) && r == 0; i++) {
        struct wr_part p;

        wr_index_part(job->index, 0, i, &p);
        if (p.label != WEIR_NO_LABEL)
            wr_index_set_label(job->index, i, rank[p.label]);
        if (i % 4096 == 0)
            r = wr_index_job_progress(job, err);
    }
    return r;
}

/* The words as classes. */
static int classify(struct wr_index_job *job, struct wr_text_words *words,
                    weir_err *err)
{
    uint32_t *rank = NULL;
    int r = 0;

    if (words->names.count)
        r = wr_index_add_classes(job->index, &words->names, &rank, err);
    if (rank && r == 0)
        r = set_labels(job, rank, err);
    free(rank);
    return r;
}

static int index_files(struct wr_index_job *job, const struct wr_listing *l,
                       struct wr_text_files *f, weir_err *err)
{
    const struct wr_shard_scan scan = {.fn = f->scan, .arg = f, .lines = true};
    int r = f->fields(job, f, wr_listing_name(l, 0), err);

    f->threads = WR_MAX(wr_cpu_count() / (unsigned)l->count, 1u);
    if (r == 0)
        r = wr_shards_index(job, l, &scan, err);
    return r < 0 ? r : classify(job, &f->words, err);
}

int wr_text_index(struct wr_index_job *job, struct wr_text_files *f,
                  weir_err *err)
{
    struct wr_listing l = {0};
    int r;

    pthread_mutex_init(&f->words.lock, NULL);
    r = wr_files_list(job, f->names, &l, err);
    if (r == 0 && l.count)
        r = index_files(job, &l, f, err);
    wr_listing_done(&l);
    wr_intern_done(&f->words.names);
    pthread_mutex_destroy(&f->words.lock);
    return r;
}

int wr_text_head(struct wr_store *st, const char *path, size_t max, char **ret,
                 size_t *ret_len, bool *ret_all, weir_err *err)
{
    struct wr_shard_reader *rd = NULL;
    char *buf = NULL;
    size_t cap = 0;
    int64_t n;
    int r = wr_shard_reader_open(&rd, st, path, err);

    if (r < 0)
        return r;
    max = most_held(rd, max);
    if (!wr_shard_reader_is_packed(rd))
        max = (size_t)WR_MIN((uint64_t)max, wr_shard_reader_stat(rd)->size + 1);
    if (!wr_grow(&buf, &cap, max + 1, 1)) {
        wr_shard_reader_close(rd);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    n = wr_shard_reader_read(rd, buf, max, err);
    wr_shard_reader_close(rd);
    if (n < 0) {
        free(buf);
        return (int)n;
    }
    buf[n] = '\0';
    *ret = buf;
    *ret_len = (size_t)n;
    *ret_all = (size_t)n < max;
    return 0;
}

int wr_text_add_line(struct wr_index *ix, const char *path, weir_err *err)
{
    struct wr_field f = {
        .pub = {.kind = WEIR_FIELD_SCALAR, .dtype = WEIR_I64, .is_extra = 1},
        .column = WR_NO_COLUMN,
    };

    memcpy(f.name, line_name, sizeof(line_name));
    snprintf(f.path, sizeof(f.path), "%s", path);
    return wr_index_add_field(ix, &f, err);
}

const struct wr_field *wr_text_line_field(const struct wr_schema *s)
{
    for (unsigned k = s->count; k-- > 0;)
        if (s->fields[k].column == WR_NO_COLUMN && !s->fields[k].scalar &&
            s->fields[k].pub.kind == WEIR_FIELD_SCALAR)
            return &s->fields[k];
    return NULL;
}

int64_t wr_text_line(const struct wr_index *ix, uint64_t i)
{
    const struct wr_schema *s = wr_index_schema(ix);
    const struct wr_field *f = wr_text_line_field(s);
    union wr_scalar value = {0};

    if (f && i < wr_index_count(ix))
        wr_index_scalar(ix, (unsigned)(f - s->fields), i, &value);
    return value.i;
}
