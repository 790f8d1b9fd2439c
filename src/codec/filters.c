/* filters.c - undoes the packing of a unit: a short list of filters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/filters.h"

#include <inttypes.h>
#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "codec/h5_filters.h"
#include "codec/inflate.h"

#ifdef WR_HAVE_BLOSC
#include <blosc.h>
#endif
#ifdef WR_HAVE_LZ4
#endif
#ifdef WR_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#define STATE_BYTES ((size_t)128 << 10)   /* what a library needs, about */
#define ZSTD_WINDOW ((uint64_t)128 << 20) /* larger ones it refuses */

/* A list has three parts: filters that are undone on the stored bytes, one that
 * inflates, filters that are undone on what it makes. */
struct wr_unfilter {
    struct wr_packing p;
    uint8_t *out;         /* borrowed */
    unsigned count;       /* filters in the list */
    unsigned inflater;    /* which of them inflates; WR_FILTERS_MAX: none */
    struct wr_inflate *z; /* owned; NULL: it does not take that */
#ifdef WR_HAVE_ZSTD
    ZSTD_DCtx *zstd; /* owned; the same */
#endif
    size_t zstd_left;    /* what the library said last: 0, the end of a frame */
    uint8_t *stored;     /* owned; NULL: nothing comes before the inflater */
    uint8_t *to;         /* where it inflates to: `out`, or `made` */
    uint8_t *made;       /* owned; NULL: nothing comes behind it */
    uint64_t want, done; /* bytes that it is to make, has made */
    uint64_t fed;
    const uint8_t *in; /* borrowed: fed, and not used up; not inflate's */
    size_t in_len;
    uint32_t crc; /* of those made so far */
};

/* --- filters that need all stored bytes at once --- */

/* Undoes `len` bytes into exactly `want`; false: damaged, at *ret_at. */
typedef bool (*whole_fn)(const struct wr_packing *p, const void *in, size_t len,
                         void *out, size_t want, size_t *ret_at);

static bool undo_lzf(const struct wr_packing *p, const void *in, size_t len,
                     void *out, size_t want, size_t *ret_at)
{
    (void)p;
    return wr_lzf_undo(in, len, out, want, ret_at);
}

#ifdef WR_HAVE_LZ4
#define NO_LZ4 NULL

static bool undo_lz4(const struct wr_packing *p, const void *in, size_t len,
                     void *out, size_t want, size_t *ret_at)
{
    (void)p;
    return wr_lz4_undo(in, len, out, want, ret_at);
}

static bool undo_bits(const struct wr_packing *p, const void *in, size_t len,
                      void *out, size_t want, size_t *ret_at)
{
    return wr_bitshuffle_lz4_undo(in, len, out, want, p->argument, ret_at);
}
#else
#define NO_LZ4    "weir was built without liblz4"
#define undo_lz4  NULL
#define undo_bits NULL
#endif

#ifdef WR_HAVE_BLOSC
#define NO_BLOSC NULL

static bool undo_blosc(const struct wr_packing *p, const void *in, size_t len,
                       void *out, size_t want, size_t *ret_at)
{
    size_t made = 0;

    (void)p, (void)ret_at;
    return blosc_cbuffer_validate(in, len, &made) == 0 && made == want &&
           blosc_decompress_ctx(in, out, want, 1) == (int)want;
}
#else
#define NO_BLOSC   "weir was built without libblosc"
#define undo_blosc NULL
#endif

#ifdef WR_HAVE_ZSTD
#define NO_ZSTD NULL
#else
#define NO_ZSTD "weir was built without libzstd"
#endif

/* One line per filter. */
static const struct {
    const char *name;
    const char *missing; /* why it was not built, NULL when it was */
    bool inflates;
    bool shuffles;  /* `argument` counts */
    whole_fn whole; /* inflates; NULL: a piece at a time */
} filters[WR_FILTER_COUNT] = {
    [WR_FILTER_NONE] = {"none", NULL, false, false, NULL},
    [WR_FILTER_GZIP] = {"gzip", NULL, true, false, NULL},
    [WR_FILTER_ZLIB] = {"zlib", NULL, true, false, NULL},
    [WR_FILTER_DEFLATE] = {"deflate", NULL, true, false, NULL},
    [WR_FILTER_ZSTD] = {"zstd", NO_ZSTD, true, false, NULL},
    [WR_FILTER_SHUFFLE] = {"shuffle", NULL, false, true, NULL},
    [WR_FILTER_FLETCHER32] = {"fletcher32", NULL, false, false, NULL},
    [WR_FILTER_LZF] = {"lzf", NULL, true, false, undo_lzf},
    [WR_FILTER_FILL] = {"fill", NULL, true, false, NULL},
    [WR_FILTER_LZ4] = {"lz4", NO_LZ4, true, false, undo_lz4},
    [WR_FILTER_BLOSC] = {"blosc", NO_BLOSC, true, false, undo_blosc},
    [WR_FILTER_BITSHUFFLE] = {"bitshuffle", NULL, false, true, NULL},
    [WR_FILTER_BITSHUFFLE_LZ4] = {"bitshuffle-lz4", NO_LZ4, true, true,
                                  undo_bits},
};

const char *wr_filter_name(unsigned filter)
{
    return filter < WR_FILTER_COUNT ? filters[filter].name : "unknown";
}

const char *wr_filter_missing(enum wr_filter filter)
{
    return filters[filter].missing;
}

static unsigned filter_at(uint32_t list, unsigned k)
{
    return k < WR_FILTERS_MAX ? list >> 8 * k & 0xff : WR_FILTER_NONE;
}

static unsigned filter_count(uint32_t list)
{
    unsigned n = 0;

    while (filter_at(list, n))
        n++;
    return n;
}

/* The one that inflates; WR_FILTERS_MAX: none. */
static unsigned find_inflater(uint32_t list)
{
    unsigned k = 0, f;

    for (; k < WR_FILTERS_MAX; k++) {
        f = filter_at(list, k);
        if (f < WR_FILTER_COUNT && filters[f].inflates)
            break;
    }
    return k;
}

/* Bytes that filters [first, last) take away. */
static uint64_t tails(uint32_t list, unsigned first, unsigned last)
{
    uint64_t sum = 0;

    for (unsigned k = first; k < last; k++)
        sum += filter_at(list, k) == WR_FILTER_FLETCHER32 ? WR_FLETCHER32_BYTES
                                                          : 0;
    return sum;
}

/* --- which lists there are --- */

static int check_list(const struct wr_packing *p, weir_err *err)
{
    unsigned inflaters = 0;

    for (unsigned k = 0; k < filter_count(p->filters); k++) {
        unsigned f = filter_at(p->filters, k);

        if (f >= WR_FILTER_COUNT)
            return wr_fail(err, WEIR_ENOTSUP, "packed by filter %u: not known",
                           f);
        if (filters[f].missing)
            return wr_fail(err, WEIR_ENOTSUP, "packed by %s: %s",
                           filters[f].name, filters[f].missing);
        if (f == WR_FILTER_FILL)
            return wr_fail(err, WEIR_EFORMAT, "a fill value among filters");
        if (filters[f].shuffles && !p->argument)
            return wr_fail(err, WEIR_EFORMAT, "shuffled elements of 0 bytes");
        inflaters += filters[f].inflates;
    }
    if (inflaters > 1)
        return wr_fail(err, WEIR_ENOTSUP, "packed twice");
    return 0;
}

static bool is_fill(const struct wr_packing *p)
{
    return p->filters == WR_FILTERS(WR_FILTER_FILL, 0, 0, 0);
}

static int check_fill(const struct wr_packing *p, weir_err *err)
{
    if (p->stored || !p->argument || 8 % p->argument ||
        p->inflated > WR_INFLATE_MAX)
        return wr_fail(err, WEIR_EFORMAT, "a fill value that is none");
    return 0;
}

/* A few bytes that are to be many: data that are worth unpacking seldom grow
 * 64-fold, and what is small is no harm. */
static int check_growth(const struct wr_packing *p, weir_err *err)
{
    if (p->inflated <= WR_FILTERS_FREE ||
        p->inflated / WR_FILTERS_RATIO <= p->stored)
        return 0;
    return wr_fail(err, WEIR_ELIMIT,
                   "%" PRIu64 " stored bytes claim to be %" PRIu64
                   ": more than %u MiB may be %u times as many at most; unpack "
                   "them first if that is meant",
                   p->stored, p->inflated, (unsigned)(WR_FILTERS_FREE >> 20),
                   WR_FILTERS_RATIO);
}

int wr_filters_check(const struct wr_packing *p, weir_err *err)
{
    unsigned n = filter_count(p->filters);
    unsigned z;
    uint64_t sums;
    int r = check_growth(p, err);

    if (r < 0)
        return r;
    if (is_fill(p))
        return check_fill(p, err);
    r = check_list(p, err);
    if (r < 0)
        return r;
    if (n < WR_FILTERS_MAX && p->filters >> 8 * n)
        return wr_fail(err, WEIR_EFORMAT, "a list of filters with a gap");
    if (p->inflated > WR_INFLATE_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "inflates to %" PRIu64 " bytes, more than %" PRIu64,
                       p->inflated, WR_INFLATE_MAX);
    z = find_inflater(p->filters);
    sums = tails(p->filters, 0, WR_MIN(z, n));
    if (p->stored < sums + (z < n) ||
        (z >= n && p->stored - sums != p->inflated))
        return wr_fail(err, WEIR_EFORMAT,
                       "%" PRIu64 " stored bytes cannot be %" PRIu64 " bytes",
                       p->stored, p->inflated);
    return 0;
}

/* --- beginning and end --- */

/* Filters behind the one that inflates; all of them where none does. */
static unsigned first_behind(const struct wr_packing *p)
{
    unsigned z = find_inflater(p->filters);

    return z == WR_FILTERS_MAX ? 0 : z + 1;
}

static bool has_before(const struct wr_packing *p)
{
    unsigned z = find_inflater(p->filters);

    return z > 0 && z < WR_FILTERS_MAX;
}

/* Must all stored bytes lie together before they are inflated? */
static bool needs_all(const struct wr_packing *p)
{
    return has_before(p) ||
           filters[filter_at(p->filters, find_inflater(p->filters))].whole;
}

/* Bytes before the filters behind the inflater are undone. */
static uint64_t made_bytes(const struct wr_packing *p)
{
    return p->inflated +
           tails(p->filters, first_behind(p), filter_count(p->filters));
}

size_t wr_unfilter_memory(const struct wr_packing *p)
{
    bool behind = first_behind(p) < filter_count(p->filters);

    /* zstd keeps a window of what it made. */
    return STATE_BYTES +
           (filter_at(p->filters, find_inflater(p->filters)) == WR_FILTER_ZSTD
                ? (size_t)WR_MIN(p->inflated, ZSTD_WINDOW)
                : 0) +
           (needs_all(p) ? 2 * (size_t)p->stored : 0) +
           (behind ? 2 * (size_t)made_bytes(p) : 0);
}

void wr_unfilter_free(struct wr_unfilter *u)
{
    if (!u)
        return;
    wr_inflate_free(u->z);
#ifdef WR_HAVE_ZSTD
    ZSTD_freeDCtx(u->zstd);
#endif
    free(u->stored);
    free(u->made);
    free(u);
}

static int start_inflater(struct wr_unfilter *u, weir_err *err)
{
    unsigned f = filter_at(u->p.filters, u->inflater);
    int r = 0;

#ifdef WR_HAVE_ZSTD
    if (f == WR_FILTER_ZSTD) {
        u->zstd = ZSTD_createDCtx();
        return u->zstd ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
#endif
    if (f && !filters[f].whole && f != WR_FILTER_FILL)
        r = wr_inflate_new(&u->z, err);
    if (r == 0 && f == WR_FILTER_DEFLATE)
        wr_inflate_set_raw(u->z);
    return r;
}

int wr_unfilter_new(const struct wr_packing *p, void *out,
                    struct wr_unfilter **ret, weir_err *err)
{
    bool behind = first_behind(p) < filter_count(p->filters);
    struct wr_unfilter *u;
    int r;

    r = wr_filters_check(p, err);
    if (r < 0)
        return r;
    u = malloc(sizeof(*u));
    if (!u)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *u = (struct wr_unfilter){.p = *p,
                              .out = out,
                              .to = out,
                              .count = filter_count(p->filters),
                              .inflater = find_inflater(p->filters),
                              .want = made_bytes(p)};
    /* One byte more, so that none at all is memory, too. */
    if (needs_all(p))
        u->stored = malloc((size_t)p->stored + 1);
    if (behind)
        u->to = u->made = malloc((size_t)u->want + 1);
    if ((needs_all(p) && !u->stored) || (behind && !u->made))
        r = wr_fail(err, WEIR_ENOMEM, "no memory for %" PRIu64 " bytes",
                    p->stored + u->want);
    else
        r = start_inflater(u, err);
    if (r < 0)
        wr_unfilter_free(u);
    else
        *ret = u;
    return r;
}

/* --- filters that do not inflate --- */

struct bytes {
    uint8_t *at;
    size_t len;
};

static int check_sum(struct bytes *io, weir_err *err)
{
    io->len -= WR_FLETCHER32_BYTES; /* wr_filters_check saw to it */
    if (wr_fletcher32_holds(io->at, io->len))
        return 0;
    return wr_fail(err, WEIR_EFORMAT,
                   "fletcher32: checksum mismatch at or before offset %zu",
                   io->len);
}

/* The last of the list leaves its bytes where they belong, others in place. */
static int unshuffle(const struct wr_unfilter *u, unsigned k, struct bytes *io,
                     weir_err *err)
{
    bool last = k + 1 == u->count;
    uint8_t *to = last ? u->out : malloc(io->len + 1);

    if (!to)
        return wr_fail(err, WEIR_ENOMEM, "no memory for %zu bytes", io->len);
    if (filter_at(u->p.filters, k) == WR_FILTER_SHUFFLE)
        wr_unshuffle(io->at, to, io->len, u->p.argument);
    else
        wr_bitunshuffle_blocks(io->at, to, io->len, u->p.argument);
    if (last) {
        io->at = u->out;
        return 0;
    }
    memcpy(io->at, to, io->len);
    free(to);
    return 0;
}

/* Undoes filters [first, last). */
static int undo_plain(const struct wr_unfilter *u, unsigned first,
                      unsigned last, struct bytes *io, weir_err *err)
{
    int r = 0;

    for (unsigned k = first; k < last && r == 0; k++)
        r = filters[filter_at(u->p.filters, k)].shuffles
                ? unshuffle(u, k, io, err)
                : check_sum(io, err);
    return r;
}

/* --- the one that inflates --- */

#ifdef WR_HAVE_ZSTD
static int64_t zstd_read(struct wr_unfilter *u, void *buf, size_t cap,
                         weir_err *err)
{
    ZSTD_inBuffer in = {.src = u->in, .size = u->in_len};
    ZSTD_outBuffer out = {.dst = buf, .size = cap};
    size_t before;

    do {
        size_t r;

        before = in.pos;
        r = ZSTD_decompressStream(u->zstd, &out, &in);
        if (ZSTD_isError(r) &&
            ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation)
            return wr_fail(err, WEIR_ENOMEM, "zstd: out of memory");
        if (ZSTD_isError(r))
            return wr_fail(err, WEIR_EFORMAT,
                           "zstd: %s at or before offset %" PRIu64,
                           ZSTD_getErrorName(r), u->fed - u->in_len + in.pos);
        if (in.pos > before || out.pos)
            u->zstd_left = r;
    } while (!out.pos && in.pos > before && in.pos < in.size);
    u->in += in.pos;
    u->in_len -= in.pos;
    return (int64_t)out.pos;
}
#endif

/* Up to `cap` more bytes of the stream; 0: feed more. */
static int64_t make_some(struct wr_unfilter *u, uint8_t *buf, size_t cap,
                         weir_err *err)
{
    size_t n = WR_MIN(u->in_len, cap);

    if (u->z)
        return wr_inflate_read(u->z, buf, cap, err);
#ifdef WR_HAVE_ZSTD
    if (u->zstd)
        return zstd_read(u, buf, cap, err);
#endif
    memcpy(buf, u->in, n);
    u->in += n;
    u->in_len -= n;
    return (int64_t)n;
}

static bool has_ended(const struct wr_unfilter *u)
{
    return u->z ? wr_inflate_is_done(u->z) : u->zstd_left == 0;
}

/* All stored bytes were fed: is that what they should be? */
static int check_end(const struct wr_unfilter *u, weir_err *err)
{
    unsigned f = filter_at(u->p.filters, u->inflater);

    if (f == WR_FILTER_GZIP)
        return wr_fail(err, WEIR_ECHANGED,
                       "inflates to %" PRIu64 " bytes, not %" PRIu64
                       " as indexed",
                       u->done, u->want);
    if (!has_ended(u))
        return wr_fail(err, WEIR_EFORMAT, "%s: cut off at offset %" PRIu64,
                       filters[f].name, u->fed);
    if (u->done != u->want)
        return wr_fail(err, WEIR_EFORMAT,
                       "%s: %" PRIu64 " bytes, not %" PRIu64
                       ", at offset %" PRIu64,
                       filters[f].name, u->done, u->want, u->fed);
    if (f == WR_FILTER_DEFLATE && u->crc != u->p.argument)
        return wr_fail(err, WEIR_EFORMAT,
                       "deflate: checksum mismatch at or before offset "
                       "%" PRIu64,
                       u->fed);
    return 1;
}

static int inflate_whole(struct wr_unfilter *u, const uint8_t *bytes,
                         size_t len, weir_err *err)
{
    unsigned f = filter_at(u->p.filters, u->inflater);
    size_t at = 0;

    if (!filters[f].whole(&u->p, bytes, len, u->to, (size_t)u->want, &at))
        return wr_fail(err, WEIR_EFORMAT, "%s: damaged at offset %zu",
                       filters[f].name, at);
    return 1;
}

/* 1: all is made. */
static int inflate(struct wr_unfilter *u, const uint8_t *bytes, size_t len,
                   weir_err *err)
{
    unsigned f = filter_at(u->p.filters, u->inflater);
    uint8_t more;
    int64_t n;

    if (filters[f].whole)
        return inflate_whole(u, bytes, len, err);
    u->in = bytes;
    u->in_len = len;
    if (u->z)
        wr_inflate_feed(u->z, bytes, len);
    for (;;) {
        bool full = u->done == u->want;

        if (full && f == WR_FILTER_GZIP)
            return 1;
        /* Behind the last byte, the end and its checksum are to come. */
        n = make_some(u, full ? &more : u->to + u->done,
                      full ? 1 : (size_t)(u->want - u->done), err);
        if (n <= 0)
            break;
        if (full)
            return wr_fail(err, WEIR_EFORMAT,
                           "%s: more than %" PRIu64
                           " bytes, at or before offset %" PRIu64,
                           filters[f].name, u->want, u->fed);
        if (f == WR_FILTER_DEFLATE)
            u->crc = crc32_gzip_refl(u->crc, u->to + u->done, (uint64_t)n);
        u->done += (uint64_t)n;
    }
    if (n < 0)
        return (int)n;
    return u->fed < u->p.stored ? 0 : check_end(u, err);
}

/* --- all of them --- */

static int finish(struct wr_unfilter *u, weir_err *err)
{
    struct bytes b = {u->to, (size_t)u->want};
    int r = undo_plain(u, first_behind(&u->p), u->count, &b, err);

    if (r == 0 && b.at != u->out)
        memcpy(u->out, b.at, b.len);
    return r < 0 ? r : 1;
}

static int fill(const struct wr_unfilter *u)
{
    uint64_t pattern;

    for (size_t k = 0; k < sizeof(pattern); k++) /* as elements lie in memory */
        ((uint8_t *)&pattern)[k] =
            ((const uint8_t *)&u->p.fill)[k % u->p.argument];
    if (!pattern) {
        memset(u->out, 0, (size_t)u->p.inflated);
        return 1;
    }
    for (size_t at = 0; at < u->p.inflated; at += sizeof(pattern))
        memcpy(u->out + at, &pattern,
               WR_MIN(sizeof(pattern), (size_t)u->p.inflated - at));
    return 1;
}

int wr_unfilter_feed(struct wr_unfilter *u, const void *bytes, size_t len,
                     weir_err *err)
{
    struct bytes b = {u->stored, (size_t)u->p.stored};
    int r;

    if (is_fill(&u->p))
        return fill(u);
    if (u->stored)
        memcpy(u->stored + u->fed, bytes, len);
    u->fed += len;
    if (!u->stored) {
        r = inflate(u, bytes, len, err);
    } else if (u->fed < u->p.stored) {
        return 0;
    } else {
        r = undo_plain(u, 0, u->inflater, &b, err);
        r = r < 0 ? r : inflate(u, b.at, b.len, err);
    }
    return r == 1 ? finish(u, err) : r;
}

int wr_filters_undo(const struct wr_packing *p, const void *stored, void *out,
                    weir_err *err)
{
    struct wr_unfilter *u = NULL;
    int r = wr_unfilter_new(p, out, &u, err);

    if (r == 0)
        r = wr_unfilter_feed(u, stored, (size_t)p->stored, err);
    wr_unfilter_free(u);
    return r < 0 ? r : 0;
}
