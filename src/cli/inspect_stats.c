/* inspect_stats.c - sizes and classes of a data set, counted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/inspect_stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hist.h"
#include "base/mem.h"
#include "base/top.h"
#include "cli/interrupt.h"

#define MAX_CLASSES 10000000u /* that are counted one by one */
#define POLL_EVERY  65536u    /* samples between two looks for Ctrl-C */
#define LINEAR_BINS 20

/* Bytes of all parts of a sample, of which *ret is the first. */
static uint64_t sample_length(const struct wr_index *ix, uint64_t i,
                              struct wr_part *ret)
{
    uint64_t sum = 0;

    for (unsigned c = wr_index_columns(ix); c-- > 0; sum += ret->length)
        wr_index_part(ix, c, i, ret);
    return sum;
}

static int first_pass(const weir_dataset *ds, struct wr_inspect_stats *s,
                      struct wr_hist *h, weir_err *err)
{
    for (uint64_t i = 0; i < s->count; i++) {
        struct wr_part p;

        if (i % POLL_EVERY == 0 && wr_interrupted())
            return wr_fail(err, WEIR_ECANCELED, "interrupted");
        wr_hist_add(h, sample_length(ds->index, i, &p));
        if (p.label == WEIR_NO_LABEL)
            s->unlabelled++;
        else if (s->class_samples)
            s->class_samples[p.label]++;
    }
    return 0;
}

/* 1, 2 or 5 times a power of ten, not below x. */
static uint64_t nice_width(uint64_t x)
{
    static const uint64_t steps[] = {1, 2, 5};
    uint64_t ten = 1;

    for (;; ten *= 10)
        for (unsigned k = 0; k < 3; k++)
            if (ten * steps[k] >= x || ten > UINT64_MAX / 100)
                return ten * steps[k];
}

static void add_bin(struct wr_inspect_stats *s, uint64_t from, uint64_t to)
{
    if (s->bins < WR_INSPECT_BINS)
        s->bin[s->bins++] = (struct wr_inspect_bin){from, to, 0};
}

/* Equal bins where most sizes are of one order, powers of two where not. */
static void make_bins(struct wr_inspect_stats *s)
{
    if (s->min == s->max)
        return;
    if (s->p99 / 8 <= s->median) {
        uint64_t width = nice_width(WR_MAX(s->p99 / LINEAR_BINS, UINT64_C(1)));
        uint64_t from = s->min / width * width;

        for (; from <= s->p99; from += width)
            add_bin(s, from, from + width);
        if (from <= s->max)
            add_bin(s, from, 0);
    } else {
        uint64_t from = 0, to = 1024;

        while (to <= s->min && to < UINT64_C(1) << 62) {
            from = to;
            to *= 2;
        }
        for (; from <= s->max && to < UINT64_C(1) << 62; to *= 2) {
            add_bin(s, from, to);
            from = to;
        }
    }
    s->bin[s->bins - 1].to = 0;
}

static void count_size(struct wr_inspect_stats *s, uint64_t size)
{
    unsigned lo = 0, hi = s->bins;

    while (hi - lo > 1) {
        unsigned mid = (lo + hi) / 2;

        if (s->bin[mid].from <= size)
            lo = mid;
        else
            hi = mid;
    }
    s->bin[lo].count++;
}

static int fill_bins(const weir_dataset *ds, struct wr_inspect_stats *s,
                     weir_err *err)
{
    for (uint64_t i = 0; s->bins && i < s->count; i++) {
        struct wr_part p;

        if (i % POLL_EVERY == 0 && wr_interrupted())
            return wr_fail(err, WEIR_ECANCELED, "interrupted");
        count_size(s, sample_length(ds->index, i, &p));
    }
    return 0;
}

static void find_extreme_classes(struct wr_inspect_stats *s)
{
    for (uint32_t c = 1; s->class_samples && c < s->classes; c++) {
        if (s->class_samples[c] < s->class_samples[s->smallest])
            s->smallest = c;
        if (s->class_samples[c] > s->class_samples[s->largest])
            s->largest = c;
    }
}

static void take_quantiles(struct wr_inspect_stats *s, const struct wr_hist *h)
{
    s->min = h->min;
    s->max = h->max;
    s->median = wr_hist_quantile(h, 0.5);
    s->p90 = wr_hist_quantile(h, 0.9);
    s->p99 = wr_hist_quantile(h, 0.99);
    s->mean = s->count ? (double)s->bytes / (double)s->count : 0;
}

int wr_inspect_stats(const weir_dataset *ds, struct wr_inspect_stats *ret,
                     weir_err *err)
{
    struct wr_inspect_stats s = {
        .count = weir_dataset_count(ds),
        .bytes = weir_dataset_bytes(ds),
        .classes = weir_dataset_class_count(ds),
    };
    struct wr_hist *h = calloc(1, sizeof(*h));
    int r;

    if (s.classes && s.classes <= MAX_CLASSES)
        s.class_samples = calloc(s.classes, sizeof(*s.class_samples));
    if (!h || (s.classes && s.classes <= MAX_CLASSES && !s.class_samples)) {
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
        goto out;
    }
    r = first_pass(ds, &s, h, err);
    if (r < 0)
        goto out;
    take_quantiles(&s, h);
    find_extreme_classes(&s);
    make_bins(&s);
    r = fill_bins(ds, &s, err);
    if (r < 0)
        goto out;
    *ret = s;
    s.class_samples = NULL;
out:
    free(h);
    wr_inspect_stats_done(&s);
    return r;
}

void wr_inspect_stats_done(struct wr_inspect_stats *s)
{
    free(s->class_samples);
    s->class_samples = NULL;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return x < y ? -1 : x > y;
}

/* The most common dimensions, most common first; returns how many different
 * ones there are, or WEIR_ENOMEM. */
static int64_t find_dims(const struct wr_inspect_found *found, uint64_t count,
                         struct wr_inspect_dim ret[WR_INSPECT_TOP_DIMS])
{
    double scores[WR_INSPECT_TOP_DIMS];
    struct wr_top top = {ret, scores, sizeof(*ret), WR_INSPECT_TOP_DIMS, 0};
    struct wr_inspect_dim *at;
    uint64_t *keys = malloc((count + 1) * sizeof(*keys));
    int64_t distinct = 0;
    uint64_t n = 0;

    if (!keys)
        return WEIR_ENOMEM;
    for (uint64_t k = 0; k < count; k++)
        if (found[k].width)
            keys[n++] = (uint64_t)found[k].width << 32 | found[k].height;
    qsort(keys, n, sizeof(*keys), compare_u64);
    memset(ret, 0, WR_INSPECT_TOP_DIMS * sizeof(*ret));
    for (uint64_t from = 0, to = 0; from < n; from = to, distinct++) {
        while (to < n && keys[to] == keys[from])
            to++;
        at = wr_top_add(&top, (double)(to - from));
        if (at)
            *at = (struct wr_inspect_dim){(uint32_t)(keys[from] >> 32),
                                          (uint32_t)keys[from], to - from};
    }
    free(keys);
    return distinct;
}

static void take_range(struct wr_inspect_range *r, uint32_t x)
{
    r->min = fmin(r->min, x);
    r->max = fmax(r->max, x);
}

void wr_inspect_count_pictures(const struct wr_inspect_found *found,
                               uint64_t count, struct wr_inspect_pictures *ret)
{
    struct wr_inspect_pictures p = {.width = {NAN, NAN}, .height = {NAN, NAN}};
    int64_t distinct = find_dims(found, count, p.dims);

    for (uint64_t k = 0; k < count; k++) {
        const struct wr_inspect_found *f = &found[k];

        if (!f->width)
            continue;
        p.good++;
        p.of_kind[f->kind]++;
        p.turned += f->turned;
        p.gray += f->components <= 2;
        p.colour += f->components == 3;
        p.four += f->components == 4;
        take_range(&p.width, f->width);
        take_range(&p.height, f->height);
    }
    p.distinct = distinct < 0 ? NAN : (double)distinct;
    p.others = fmax(p.distinct - WR_INSPECT_TOP_DIMS, 0);
    *ret = p;
}

/* A sorted list of labels into one of classes, in place of `list`. */
static void sum_up(const uint64_t *labels, uint64_t n,
                   struct wr_inspect_labels *out)
{
    for (uint64_t from = 0, to = 0; from < n; from = to) {
        struct wr_inspect_class *c = &out->list[out->count];

        while (to < n && labels[to] == labels[from])
            to++;
        *c = (struct wr_inspect_class){(uint32_t)labels[from], to - from};
        if (c->samples < out->list[out->smallest].samples)
            out->smallest = out->count;
        if (c->samples > out->list[out->largest].samples)
            out->largest = out->count;
        out->count++;
    }
}

int wr_inspect_count_labels(const struct wr_inspect_found *found,
                            uint64_t count, struct wr_inspect_labels *ret,
                            weir_err *err)
{
    uint64_t *labels = malloc((count + 1) * sizeof(*labels));
    struct wr_inspect_labels out = {0};
    uint64_t n = 0;

    out.list = calloc(count + 1, sizeof(*out.list));
    if (!labels || !out.list) {
        free(labels);
        free(out.list);
        return wr_fail(err, WEIR_ENOMEM, "no memory for %" PRIu64 " labels",
                       count);
    }
    for (uint64_t k = 0; k < count; k++) {
        if (found[k].label != WEIR_NO_LABEL)
            labels[n++] = found[k].label;
        else
            out.unlabelled += found[k].width != 0;
    }
    qsort(labels, n, sizeof(*labels), compare_u64);
    sum_up(labels, n, &out);
    free(labels);
    *ret = out;
    return 0;
}
