/* filter.c - the taps of one axis of a resampling, made once per size.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

#define GROUP 8u /* outputs a kernel may handle at once */

/* Taps in double precision, before they are quantized. */
struct taps {
    uint32_t first, count;
    double *w; /* borrowed from build_filter's scratch */
};

static double triangle(double x)
{
    x = fabs(x);
    return x < 1.0 ? 1.0 - x : 0.0;
}

/* Range of samples [first, last) of [0, n), at least one. */
static void clamp_range(double from, double to, uint32_t n, struct taps *t)
{
    double lo = WR_MIN(WR_MAX(from, 0.0), (double)n - 1);
    double hi = WR_MIN(WR_MAX(to, lo + 1), (double)n);

    t->first = (uint32_t)lo;
    t->count = WR_MAX((uint32_t)hi - t->first, 1u);
}

/* Half-pixel centres; `stretch` > 1 widens the triangle when shrinking. */
static void taps_triangle(double center, double stretch, uint32_t n,
                          struct taps *t)
{
    clamp_range(floor(center - stretch + 0.5), floor(center + stretch + 0.5), n,
                t);
    for (uint32_t i = 0; i < t->count; i++)
        t->w[i] = triangle((t->first + i + 0.5 - center) / stretch);
}

static void taps_area(double from, double to, uint32_t n, struct taps *t)
{
    clamp_range(floor(from), ceil(to), n, t);
    for (uint32_t i = 0; i < t->count; i++) {
        double left = WR_MAX(from, (double)(t->first + i));
        double right = WR_MIN(to, (double)(t->first + i + 1));

        t->w[i] = WR_MAX(right - left, 0.0);
    }
}

static void normalize(struct taps *t)
{
    double sum = 0;

    for (uint32_t i = 0; i < t->count; i++)
        sum += t->w[i];
    if (sum <= 0) { /* a box thinner than rounding: its nearest sample */
        t->w[0] = 1;
        t->count = 1;
        sum = 1;
    }
    for (uint32_t i = 0; i < t->count; i++)
        t->w[i] /= sum;
}

/* Taps of output `o` in the (upsampled) input of `n` samples. */
static void taps_of(const struct wr_filter_key *k, uint32_t n, uint32_t o,
                    struct taps *t)
{
    double scale = (k->hi - k->lo) / k->out;
    double center = k->lo + (o + 0.5) * scale;

    if (k->resize == WEIR_RESIZE_AREA)
        taps_area(k->lo + o * scale, k->lo + (o + 1.0) * scale, n, t);
    else if (k->resize == WEIR_RESIZE_BILINEAR_NOAA)
        taps_triangle(center, 1.0, n, t);
    else
        taps_triangle(center, WR_MAX(scale, 1.0), n, t);
    normalize(t);
}

/* Moves taps on doubled samples to the samples they were made of: sample 2i
 * is 3/4 i + 1/4 (i-1), sample 2i+1 is 3/4 i + 1/4 (i+1), ends repeated. */
static void fold_upsampling(uint32_t in, struct taps *t, double *to)
{
    uint32_t first = t->first / 2, last = (t->first + t->count - 1) / 2;

    first = first > 0 ? first - 1 : 0;
    last = WR_MIN(last + 1, in - 1);
    memset(to, 0, (last - first + 1) * sizeof(*to));
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t at = t->first + i, near = WR_MIN(at / 2, in - 1);
        uint32_t far = at & 1 ? WR_MIN(near + 1, in - 1)
                              : (near > 0 ? near - 1 : 0);

        to[near - first] += 0.75 * t->w[i];
        to[far - first] += 0.25 * t->w[i];
    }
    t->first = first;
    t->count = last - first + 1;
    t->w = to;
}

/* Rounds the running sum, not each weight, so that they sum up to one. */
static void quantize(const struct taps *t, int16_t *out)
{
    double sum = 0;
    long before = 0;

    for (uint32_t i = 0; i < t->count; i++) {
        long now;

        sum += t->w[i];
        now = i + 1 == t->count ? WR_WEIGHT_ONE : lround(sum * WR_WEIGHT_ONE);
        now = WR_MIN(now, (long)WR_WEIGHT_ONE);
        out[i] = (int16_t)(now - before);
        before = now;
    }
}

/* Leaves out taps of no weight at both ends. */
static void trim(struct wr_taps *f, uint32_t o)
{
    int16_t *w = f->weight + (size_t)o * f->padded;
    uint32_t lead = 0;

    while (f->count[o] > 1 && !w[f->count[o] - 1])
        f->count[o]--;
    while (lead + 1 < f->count[o] && !w[lead])
        lead++;
    f->first[o] += lead;
    f->count[o] -= lead;
    memmove(w, w + lead, f->count[o] * sizeof(*w));
    memset(w + f->count[o], 0, lead * sizeof(*w));
}

/* The upper halves are rounded running sums too: no sum of products of a pair
 * leaves int16. */
static void pack_rows(struct wr_taps *f)
{
    for (uint32_t o = 0; o < f->key.out; o++) {
        const int16_t *w = f->weight + (size_t)o * f->padded;
        int8_t *p = (int8_t *)f->packed + (size_t)o * f->padded * 2;
        int sum = 0, upper_sum = 0;

        for (uint32_t t = 0; t < f->count[o]; t++) {
            int8_t *pair = p + t / 2 * 4 + (t & 1);
            int upper, now;

            sum += w[t];
            now = (sum + 64) >> 7;
            upper = WR_MIN(now - upper_sum, 127);
            upper_sum = now;
            pair[0] = (int8_t)upper;
            pair[2] = (int8_t)(w[t] - upper * 128);
        }
        if (f->count[o] == 1) {
            p[0] = p[1] = 64;
            p[2] = p[3] = 0;
        }
    }
}

static void pack_rgb(struct wr_taps *f, uint32_t rows)
{
    int16_t *p = f->packed;

    for (uint32_t o = 0; o < rows; o += 2)
        for (uint32_t j = 0; j < f->pairs; j++)
            for (uint32_t lane = 0; lane < 16; lane++)
                *p++ = f->weight[(size_t)(o + lane / 8) * f->padded + 2 * j +
                                 (lane & 1)];
}

static void pack_blocks(struct wr_taps *f, uint32_t rows)
{
    int16_t *p = f->packed;

    for (uint32_t o = 0; o < rows; o += 8)
        for (uint32_t b = 0; b < f->padded; b += 8)
            for (uint32_t t = 0; t < 4; t++) {
                const int16_t *w = f->weight + (size_t)(o + t) * f->padded + b;

                memcpy(p, w, 8 * sizeof(*p));
                memcpy(p + 8, w + 4 * (size_t)f->padded, 8 * sizeof(*p));
                p += 16;
            }
}

/* Where output o's taps begin in the window of its four. */
static uint32_t window_offset(const struct wr_taps *f, uint32_t o)
{
    return f->first[o] - f->window[o / WR_WINDOW_OUTPUTS];
}

/* A window begins with the first input of its outputs; that is the last
 * output's in a mirrored filter. */
static bool fits_windows(struct wr_taps *f)
{
    for (uint32_t o = 0; o < f->key.out; o++) {
        uint32_t *w = &f->window[o / WR_WINDOW_OUTPUTS];

        if (o % WR_WINDOW_OUTPUTS == 0 || f->first[o] < *w)
            *w = f->first[o];
    }
    for (uint32_t o = 0; o < f->key.out; o++)
        if (window_offset(f, o) + f->count[o] > WR_WINDOW_INPUTS)
            return false;
    return true;
}

static void pack_windows(struct wr_taps *f)
{
    struct wr_window *windows = f->packed;

    for (uint32_t o = 0; o < f->key.out; o++)
        for (uint32_t t = 0; t < f->count[o]; t++) {
            struct wr_window *w = &windows[o / 8 * f->pairs + t / 2];
            uint32_t lane = o % 8 * 2 + t % 2, at = window_offset(f, o) + t;

            w->order[2 * lane] = (uint8_t)(2 * at);
            w->order[2 * lane + 1] = (uint8_t)(2 * at + 1);
            w->weight[lane] = f->weight[(size_t)o * f->padded + t];
        }
}

static void filter_free(struct wr_taps *f)
{
    if (!f)
        return;
    free(f->first);
    free(f->count);
    free(f->window);
    free(f->weight);
    free(f->packed);
    free(f);
}

/* Most taps an output can have, in the upsampled input. */
static uint32_t most_taps(const struct wr_filter_key *k)
{
    double scale = WR_MAX((k->hi - k->lo) / k->out, 1.0);
    double most = 2 * scale + 3;

    return (uint32_t)WR_MIN(most, (double)k->in * k->upsample);
}

static struct wr_taps *filter_alloc(const struct wr_filter_key *k)
{
    struct wr_taps *f = calloc(1, sizeof(*f));
    size_t rows = WR_ALIGN_UP((size_t)k->out, GROUP);
    size_t padded = WR_ALIGN_UP((size_t)most_taps(k) + 2, WR_TAPS_ALIGN);

    if (!f)
        return NULL;
    f->key = *k;
    f->padded = (uint32_t)padded;
    f->first = calloc(rows, sizeof(*f->first));
    f->count = calloc(rows, sizeof(*f->count));
    f->window = calloc(rows / WR_WINDOW_OUTPUTS, sizeof(*f->window));
    f->weight = calloc(rows * padded, sizeof(*f->weight));
    if (!f->first || !f->count || !f->window || !f->weight) {
        filter_free(f);
        return NULL;
    }
    return f;
}

/* Weights at their final stride: as many places as the widest output needs. */
static void tighten(struct wr_taps *f, uint32_t rows)
{
    uint32_t most = 1;
    size_t old = f->padded;

    for (uint32_t o = 0; o < f->key.out; o++)
        most = WR_MAX(most, f->count[o]);
    f->pairs = (most + 1) / 2;
    f->padded = WR_ALIGN_UP(most, WR_TAPS_ALIGN);
    for (size_t o = 1; o < rows; o++)
        memmove(f->weight + o * f->padded, f->weight + o * old,
                f->padded * sizeof(*f->weight));
}

static size_t packed_bytes(const struct wr_taps *f, uint32_t rows)
{
    if (f->key.use == WR_FILTER_RGB)
        return (size_t)rows / 2 * f->pairs * 16 * sizeof(int16_t);
    if (f->is_windowed)
        return (size_t)rows / 8 * f->pairs * sizeof(struct wr_window);
    return (size_t)rows * f->padded * sizeof(int16_t);
}

static bool pack(struct wr_taps *f, uint32_t rows)
{
    size_t size;

    f->is_windowed = f->key.use == WR_FILTER_ONE && fits_windows(f);
    size = WR_ALIGN_UP(packed_bytes(f, rows), (size_t)64);
    f->packed = aligned_alloc(64, size);
    if (!f->packed)
        return false;
    memset(f->packed, 0, size);
    if (f->key.use == WR_FILTER_ROWS)
        pack_rows(f);
    else if (f->key.use == WR_FILTER_RGB)
        pack_rgb(f, rows);
    else if (f->is_windowed)
        pack_windows(f);
    else
        pack_blocks(f, rows);
    return true;
}

static struct wr_taps *build_filter(const struct wr_filter_key *k)
{
    struct wr_taps *f = filter_alloc(k);
    uint32_t rows = WR_ALIGN_UP(k->out, GROUP);
    size_t most = (size_t)most_taps(k) + 4;
    double *scratch = calloc(2 * most, sizeof(*scratch));

    if (!f || !scratch)
        goto fail;
    for (uint32_t o = 0; o < k->out; o++) {
        struct taps t = {.w = scratch};

        taps_of(k, k->in * k->upsample, k->mirror ? k->out - 1 - o : o, &t);
        if (k->upsample == 2)
            fold_upsampling(k->in, &t, scratch + most);
        quantize(&t, f->weight + (size_t)o * f->padded);
        f->first[o] = t.first;
        f->count[o] = t.count;
        trim(f, o);
    }
    tighten(f, rows);
    if (!pack(f, rows))
        goto fail;
    free(scratch);
    return f;
fail:
    free(scratch);
    filter_free(f);
    return NULL;
}

static bool is_same(const struct wr_filter_key *a,
                    const struct wr_filter_key *b)
{
    return a->in == b->in && a->out == b->out && a->lo == b->lo &&
           a->hi == b->hi && a->upsample == b->upsample &&
           a->mirror == b->mirror && a->resize == b->resize && a->use == b->use;
}

int wr_filter_find(struct wr_filter_cache *c, const struct wr_filter_key *key,
                   const struct wr_taps **ret, weir_err *err)
{
    struct wr_taps *f;
    uint32_t oldest = 0;

    c->clock++;
    for (uint32_t i = 0; i < WR_FILTER_CACHE; i++) {
        f = c->filter[i];
        if (f && is_same(&f->key, key)) {
            f->used_at = c->clock;
            *ret = f;
            return 0;
        }
        if (!f ||
            (c->filter[oldest] && f->used_at < c->filter[oldest]->used_at))
            oldest = i;
    }
    f = build_filter(key);
    if (!f)
        return wr_fail(err, WEIR_ENOMEM,
                       "no memory for the resampling of %u to %u samples",
                       key->in, key->out);
    f->used_at = c->clock;
    filter_free(c->filter[oldest]);
    c->filter[oldest] = f;
    *ret = f;
    return 0;
}

void wr_filter_cache_done(struct wr_filter_cache *c)
{
    for (uint32_t i = 0; i < WR_FILTER_CACHE; i++)
        filter_free(c->filter[i]);
    memset(c, 0, sizeof(*c));
}
