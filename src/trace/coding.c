/* coding.c - the bytes of a trace file: numbers, events, chunks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/coding.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>
#ifdef WR_HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"

/* --- numbers and texts --- */

/* Makes sure that `more` bytes fit; false: memory is short. */
static bool pack_room(struct wr_pack *p, size_t more)
{
    size_t need;

    if (p->failed || !wr_add_ok(p->len, more, &need) ||
        !wr_grow(&p->bytes, &p->cap, need, 1)) {
        p->failed = true;
        return false;
    }
    return true;
}

void wr_pack_bytes(struct wr_pack *p, const void *bytes, size_t len)
{
    if (!len || !pack_room(p, len))
        return;
    memcpy(p->bytes + p->len, bytes, len);
    p->len += len;
}

void wr_pack_number(struct wr_pack *p, uint64_t v)
{
    if (!pack_room(p, WR_PACK_NUMBER_MAX))
        return;
    p->len = (size_t)(wr_pack_put(p->bytes + p->len, v) - p->bytes);
}

void wr_pack_text(struct wr_pack *p, const char *s)
{
    size_t len = s ? strlen(s) : 0;

    wr_pack_number(p, s ? (uint64_t)len + 1 : 0);
    wr_pack_bytes(p, s, len);
}

uint64_t wr_packed_long(struct wr_packed *p)
{
    uint64_t v = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t b;

        if (p->at >= p->end)
            break;
        b = *p->at++;
        if (shift == 63 && b > 1)
            break;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return v;
    }
    p->bad = true;
    p->at = p->end;
    return 0;
}

struct wr_packed wr_packed_part(struct wr_packed *p, uint64_t len)
{
    struct wr_packed part = {.at = p->end, .end = p->end, .bad = true};

    if (p->bad || len > (uint64_t)(p->end - p->at)) {
        p->bad = true;
        p->at = p->end;
        return part;
    }
    part = (struct wr_packed){.at = p->at, .end = p->at + len};
    p->at += len;
    return part;
}

const char *wr_packed_text(struct wr_packed *p, size_t max, size_t *ret_len)
{
    uint64_t len = wr_packed_number(p);
    struct wr_packed part;

    if (!len--)
        return NULL;
    if (len > max) {
        p->bad = true;
        return NULL;
    }
    part = wr_packed_part(p, len);
    if (part.bad)
        return NULL;
    *ret_len = (size_t)len;
    return (const char *)part.at;
}

/* --- events, column by column --- */

/* Order and number of columns are part of the format. */
enum coded_column {
    COL_SHAPE, /* which of the others this event has */
    COL_LANE,  /* number of its thread in the table of the chunk */
    COL_OP,
    COL_FLAGS,
    COL_END,    /* since the event before ended */
    COL_DUR,    /* how long it took */
    COL_FILE,   /* zigzag: against the file of the event before in the lane */
    COL_FILE2,  /* plain */
    COL_ERROR,  /* zigzag */
    COL_OFFSET, /* zigzag: against where the event before in the lane ended */
    COL_BYTES,
    COLUMNS
};

/* Bits of a shape. */
enum {
    HAS_FILE = 1, /* another one than the event before in the lane */
    HAS_FILE2 = 2,
    HAS_ERROR = 4,
    HAS_OFFSET = 8, /* known, and not where the event before ended */
    NO_OFFSET = 16, /* not known */
    HAS_BYTES = 32, /* not 0 */
    HAS_FLAGS = 64, /* not 0 */
    SHAPE_BITS = 127
};

#define TIME_MAX  (UINT64_MAX >> 2) /* so that sums of two never overflow */
#define HASH_BITS 8

/* A thread of the chunk, and its event before. */
struct coded_thread {
    uint32_t process, thread, file;
    uint64_t next_offset;
};

struct coded_threads {
    struct coded_thread *list; /* owned */
    size_t count, cap;
    uint32_t last[1 << HASH_BITS]; /* lane + 1 that a hash had last */
};

static int by_end(const void *a, const void *b)
{
    const struct wr_trace_event *x = a, *y = b;
    uint64_t p = x->start_ns + x->dur_ns, q = y->start_ns + y->dur_ns;

    return (p > q) - (p < q);
}

static bool is_sorted(const struct wr_trace_event *e, size_t count)
{
    for (size_t k = 1; k < count; k++)
        if (by_end(&e[k - 1], &e[k]) > 0)
            return false;
    return true;
}

/* The lane of an event, a new one if need be; NULL: no memory. */
static struct coded_thread *lane_of(struct coded_threads *t,
                                    const struct wr_trace_event *e)
{
    unsigned h = (e->process * UINT32_C(2654435761) ^
                  e->thread * UINT32_C(2246822519)) >>
                 (32 - HASH_BITS);
    size_t k = t->last[h];

    if (k && t->list[k - 1].process == e->process &&
        t->list[k - 1].thread == e->thread)
        return &t->list[k - 1];
    for (k = 0; k < t->count; k++)
        if (t->list[k].process == e->process && t->list[k].thread == e->thread)
            break;
    if (k == t->count) {
        if (!wr_grow(&t->list, &t->cap, k + 1, sizeof(*t->list)))
            return NULL;
        t->list[t->count++] = (struct coded_thread){.process = e->process,
                                                    .thread = e->thread,
                                                    .file = WR_TRACE_NO_FILE};
    }
    t->last[h] = (uint32_t)k + 1;
    return &t->list[k];
}

static unsigned shape_of(const struct wr_trace_event *e,
                         const struct coded_thread *l)
{
    unsigned shape = 0;

    if (e->file != l->file)
        shape |= HAS_FILE;
    if (e->file2 != WR_TRACE_NO_FILE)
        shape |= HAS_FILE2;
    if (e->error)
        shape |= HAS_ERROR;
    if (e->offset == UINT64_MAX)
        shape |= NO_OFFSET;
    else if (e->offset != l->next_offset)
        shape |= HAS_OFFSET;
    if (e->bytes)
        shape |= HAS_BYTES;
    if (e->flags)
        shape |= HAS_FLAGS;
    return shape;
}

/* What the next event of the lane is coded against. */
static void pass(struct coded_thread *l, const struct wr_trace_event *e)
{
    l->file = e->file;
    if (e->offset != UINT64_MAX)
        l->next_offset = e->offset + e->bytes;
}

static void put(struct wr_pack *p, uint64_t v)
{
    wr_pack_number(p, v);
}

static void encode_one(struct wr_pack *c, const struct wr_trace_event *e,
                       struct coded_thread *l, uint64_t since_ns)
{
    unsigned shape = shape_of(e, l);

    put(&c[COL_SHAPE], shape);
    put(&c[COL_OP], e->op);
    put(&c[COL_END], since_ns);
    put(&c[COL_DUR], e->dur_ns);
    if (shape & HAS_FLAGS)
        put(&c[COL_FLAGS], e->flags);
    if (shape & HAS_FILE)
        put(&c[COL_FILE], wr_zigzag((int64_t)e->file - (int64_t)l->file));
    if (shape & HAS_FILE2)
        put(&c[COL_FILE2], e->file2);
    if (shape & HAS_ERROR)
        put(&c[COL_ERROR], wr_zigzag(e->error));
    if (shape & HAS_OFFSET)
        put(&c[COL_OFFSET], wr_zigzag((int64_t)(e->offset - l->next_offset)));
    if (shape & HAS_BYTES)
        put(&c[COL_BYTES], e->bytes);
    pass(l, e);
}

/* The table of lanes, the lengths of the columns, the columns. */
static void join(const struct coded_threads *lanes,
                 const struct wr_pack *columns, struct wr_pack *out)
{
    put(out, lanes->count);
    for (size_t k = 0; k < lanes->count; k++) {
        put(out, lanes->list[k].process);
        put(out, lanes->list[k].thread);
    }
    for (int k = 0; k < COLUMNS; k++)
        put(out, columns[k].len);
    for (int k = 0; k < COLUMNS; k++) {
        out->failed |= columns[k].failed;
        wr_pack_bytes(out, columns[k].bytes, columns[k].len);
    }
}

int wr_coding_encode(struct wr_trace_event *events, size_t count,
                     struct wr_pack *out, weir_err *err)
{
    struct wr_pack columns[COLUMNS] = {{0}};
    struct coded_threads lanes = {0};
    uint64_t last = 0;
    size_t k;

    if (!is_sorted(events, count))
        qsort(events, count, sizeof(*events), by_end);
    for (k = 0; k < count; k++) {
        const struct wr_trace_event *e = &events[k];
        uint64_t end = e->start_ns + e->dur_ns;
        struct coded_thread *l = lane_of(&lanes, e);

        if (!l)
            break;
        put(&columns[COL_LANE], (uint64_t)(l - lanes.list));
        encode_one(columns, e, l, end - last);
        last = end;
    }
    if (k == count)
        join(&lanes, columns, out);
    for (int c = 0; c < COLUMNS; c++)
        free(columns[c].bytes);
    free(lanes.list);
    if (k < count || out->failed)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

/* --- decoding --- */

static int split(struct wr_packed *in, struct coded_threads *lanes,
                 struct wr_packed *columns, weir_err *err)
{
    uint64_t count = wr_packed_number(in), lengths[COLUMNS];

    if (count > WR_CODING_EVENTS_MAX)
        return wr_fail(err, WEIR_EFORMAT, "a chunk has too many threads");
    if (!wr_grow(&lanes->list, &lanes->cap, (size_t)count + 1,
                 sizeof(*lanes->list)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (lanes->count = 0; lanes->count < count && !in->bad; lanes->count++) {
        struct coded_thread *t = &lanes->list[lanes->count];

        *t = (struct coded_thread){.file = WR_TRACE_NO_FILE};
        t->process = (uint32_t)wr_packed_number(in);
        t->thread = (uint32_t)wr_packed_number(in);
    }
    for (int k = 0; k < COLUMNS; k++)
        lengths[k] = wr_packed_number(in);
    for (int k = 0; k < COLUMNS; k++)
        columns[k] = wr_packed_part(in, lengths[k]);
    if (in->bad || in->at != in->end)
        return wr_fail(err, WEIR_EFORMAT, "a chunk's columns do not fit");
    return 0;
}

static void decode_one(struct wr_packed *c, struct coded_thread *l,
                       uint64_t end, struct wr_trace_event *e)
{
    unsigned shape = (unsigned)wr_packed_number(&c[COL_SHAPE]);
    uint64_t dur = wr_packed_number(&c[COL_DUR]);
    uint64_t op = wr_packed_number(&c[COL_OP]);

    *e = (struct wr_trace_event){.process = l->process,
                                 .thread = l->thread,
                                 .file = l->file,
                                 .file2 = WR_TRACE_NO_FILE,
                                 .dur_ns = WR_MIN(dur, end),
                                 .offset = l->next_offset};
    e->start_ns = end - e->dur_ns;
    e->op = (uint16_t)WR_MIN(op, UINT16_MAX);
    if (shape & HAS_FLAGS)
        e->flags = (uint16_t)wr_packed_number(&c[COL_FLAGS]);
    if (shape & HAS_FILE)
        e->file += (uint32_t)wr_unzigzag(wr_packed_number(&c[COL_FILE]));
    if (shape & HAS_FILE2)
        e->file2 = (uint32_t)wr_packed_number(&c[COL_FILE2]);
    if (shape & HAS_ERROR)
        e->error = (int32_t)wr_unzigzag(wr_packed_number(&c[COL_ERROR]));
    if (shape & NO_OFFSET)
        e->offset = UINT64_MAX;
    else if (shape & HAS_OFFSET)
        e->offset += (uint64_t)wr_unzigzag(wr_packed_number(&c[COL_OFFSET]));
    if (shape & HAS_BYTES)
        e->bytes = wr_packed_number(&c[COL_BYTES]);
    pass(l, e);
}

static int decode_all(struct wr_packed *c, struct coded_threads *lanes,
                      size_t count, struct wr_trace_event *ret, weir_err *err)
{
    uint64_t end = 0;

    for (size_t k = 0; k < count; k++) {
        uint64_t lane = wr_packed_number(&c[COL_LANE]);
        uint64_t since = wr_packed_number(&c[COL_END]);

        if (lane >= lanes->count || since > TIME_MAX - end)
            return wr_fail(err, WEIR_EFORMAT, "an event is out of range");
        end += since;
        decode_one(c, &lanes->list[lane], end, &ret[k]);
        if (ret[k].op >= WR_TRACE_OPS)
            return wr_fail(err, WEIR_EFORMAT,
                           "an event is of the unknown kind %u: a newer weir "
                           "wrote it",
                           ret[k].op);
    }
    for (int k = 0; k < COLUMNS; k++)
        if (c[k].bad || c[k].at != c[k].end)
            return wr_fail(err, WEIR_EFORMAT,
                           "column %d of a chunk is not as long as its events",
                           k);
    return 0;
}

int wr_coding_decode(struct wr_packed bytes, size_t count,
                     struct wr_trace_event *ret_events, weir_err *err)
{
    struct wr_packed columns[COLUMNS];
    struct coded_threads lanes = {0};
    int r = split(&bytes, &lanes, columns, err);

    if (r == 0)
        r = decode_all(columns, &lanes, count, ret_events, err);
    free(lanes.list);
    return r;
}

/* --- chunks --- */

#define CHUNK_MAGIC UINT32_C(0x4b4e4843) /* "CHNK" */
#define SUMMED      24                   /* bytes of the head under the sum */
#define LEVEL       1 /* of zstd: tracing must not cost the traced program */

enum { CODING_PLAIN, CODING_ZSTD };

struct wr_chunk_packer {
    void *ctx; /* owned: of zstd; NULL without it */
};

struct wr_chunk_packer *wr_chunk_packer_new(void)
{
    struct wr_chunk_packer *cp = calloc(1, sizeof(*cp));

#ifdef WR_HAVE_ZSTD
    if (cp && !(cp->ctx = ZSTD_createCCtx())) {
        free(cp);
        cp = NULL;
    }
#endif
    return cp;
}

void wr_chunk_packer_free(struct wr_chunk_packer *cp)
{
    if (!cp)
        return;
#ifdef WR_HAVE_ZSTD
    ZSTD_freeCCtx(cp->ctx);
#endif
    free(cp);
}

/* The head is part of the sum: a flipped bit in it must show too. */
static uint64_t sum_of(const uint8_t *head, const uint8_t *stored, size_t len)
{
    return XXH3_64bits_withSeed(stored, len, XXH3_64bits(head, SUMMED));
}

/* Packs behind the head; 0: it stays as it is. */
static size_t squeeze(struct wr_chunk_packer *cp, const struct wr_pack *raw,
                      struct wr_pack *out)
{
#ifdef WR_HAVE_ZSTD
    size_t n = ZSTD_compressCCtx(cp->ctx, out->bytes + WR_CHUNK_HEAD,
                                 out->cap - WR_CHUNK_HEAD, raw->bytes, raw->len,
                                 LEVEL);

    if (!ZSTD_isError(n) && n < raw->len)
        return n;
#endif
    return 0;
}

static size_t most_bytes(size_t raw)
{
#ifdef WR_HAVE_ZSTD
    return ZSTD_compressBound(raw);
#else
    return raw;
#endif
}

int wr_chunk_pack(struct wr_chunk_packer *cp, int kind, uint32_t items,
                  const struct wr_pack *raw, struct wr_pack *out, weir_err *err)
{
    size_t stored;
    uint8_t *head;

    if (raw->len > WR_CHUNK_BYTES_MAX)
        return wr_fail(err, WEIR_ELIMIT, "a chunk of %zu bytes", raw->len);
    out->len = 0;
    if (raw->failed || !pack_room(out, WR_CHUNK_HEAD + most_bytes(raw->len)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    head = out->bytes;
    stored = squeeze(cp, raw, out);
    wr_le_put(head, CHUNK_MAGIC, 4);
    wr_le_put(head + 4, (uint64_t)kind, 2);
    wr_le_put(head + 6, stored ? CODING_ZSTD : CODING_PLAIN, 2);
    if (!stored) {
        stored = raw->len;
        if (stored)
            memcpy(head + WR_CHUNK_HEAD, raw->bytes, stored);
    }
    wr_le_put(head + 8, stored, 4);
    wr_le_put(head + 12, raw->len, 4);
    wr_le_put(head + 16, items, 4);
    wr_le_put(head + 20, 0, 4);
    wr_le_put(head + 24, sum_of(head, head + WR_CHUNK_HEAD, stored), 8);
    out->len = WR_CHUNK_HEAD + stored;
    return 0;
}

const char *wr_chunk_parse(const uint8_t *head, struct wr_chunk *ret)
{
    struct wr_chunk c = {.kind = wr_le16(head + 4),
                         .coding = wr_le16(head + 6),
                         .stored = wr_le32(head + 8),
                         .raw = wr_le32(head + 12),
                         .items = wr_le32(head + 16),
                         .sum = wr_le64(head + 24)};

    if (wr_le32(head) != CHUNK_MAGIC)
        return "no chunk begins there";
    if (c.coding > CODING_ZSTD)
        return "a chunk has an unknown coding";
    if (c.stored > WR_CHUNK_BYTES_MAX || c.raw > WR_CHUNK_BYTES_MAX)
        return "a chunk claims over 64 MiB";
    if (c.coding == CODING_PLAIN && c.stored != c.raw)
        return "the sizes of a chunk differ";
    if (c.items > c.raw)
        return "a chunk claims more items than bytes";
    *ret = c;
    return NULL;
}

bool wr_chunk_sum_ok(const uint8_t *head, const struct wr_chunk *c,
                     const uint8_t *stored)
{
    return sum_of(head, stored, c->stored) == c->sum;
}

int wr_chunk_unpack(const struct wr_chunk *c, const uint8_t *stored,
                    uint8_t *to, weir_err *err)
{
    if (c->coding == CODING_PLAIN) {
        if (c->raw)
            memcpy(to, stored, c->raw);
        return 0;
    }
#ifdef WR_HAVE_ZSTD
    if (ZSTD_decompress(to, c->raw, stored, c->stored) != c->raw)
        return wr_fail(err, WEIR_EFORMAT, "a chunk does not unpack");
    return 0;
#else
    return wr_fail(err, WEIR_ENOTSUP,
                   "compressed by zstd, which this weir was built without");
#endif
}
