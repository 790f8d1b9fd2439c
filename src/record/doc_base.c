/* doc_base.c - memory and texts of a document, for those that build it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/doc_base.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* A piece of a document's memory. */
struct wr_doc_memory {
    struct wr_doc_memory *next;
    max_align_t bytes[];
};

void *wr_doc_alloc(struct wr_doc *d, size_t size)
{
    struct wr_doc_memory *m = calloc(1, sizeof(*m) + size);

    if (!m) {
        d->failed = true;
        return NULL;
    }
    m->next = d->memory;
    d->memory = m;
    return m->bytes;
}

void wr_doc_free(struct wr_doc *d)
{
    while (d && d->memory) {
        struct wr_doc_memory *m = d->memory;

        d->memory = m->next;
        free(m);
    }
    free(d);
}

bool wr_doc_grow(struct wr_doc *d, void *array, size_t *cap, size_t count,
                 size_t size)
{
    size_t bytes;
    void *old, *grown;

    if (d->failed || count < *cap)
        return !d->failed;
    if (!wr_mul_ok(WR_MAX(2 * *cap, (size_t)8), size, &bytes)) {
        d->failed = true;
        return false;
    }
    grown = wr_doc_alloc(d, bytes);
    if (!grown)
        return false;
    memcpy(&old, array, sizeof(old));
    if (old)
        memcpy(grown, old, *cap * size);
    memcpy(array, &grown, sizeof(grown));
    *cap = bytes / size;
    return true;
}

char *wr_doc_copy(struct wr_doc *d, const char *s)
{
    char *text = wr_text_clean(s ? s : ""), *copy = NULL;

    if (text)
        copy = wr_doc_alloc(d, strlen(text) + 1);
    if (copy)
        memcpy(copy, text, strlen(text));
    d->failed |= !copy;
    free(text);
    return copy;
}

char *wr_doc_format(struct wr_doc *d, const char *fmt, va_list ap)
{
    char *raw = NULL, *text;

    if (vasprintf(&raw, fmt, ap) < 0) {
        d->failed = true;
        return NULL;
    }
    text = wr_doc_copy(d, raw);
    free(raw);
    return text;
}

bool wr_doc_is_bars(const struct wr_doc_chart *c)
{
    return c->kind == WR_DOC_BARS || c->kind == WR_DOC_STACKED;
}

bool wr_doc_is_empty(const struct wr_doc_chart *c)
{
    for (size_t i = 0; i < c->series_count; i++)
        for (size_t k = 0; k < c->series[i]->count; k++)
            if (isfinite(c->series[i]->y[k]) &&
                (!c->log_y || c->series[i]->y[k] > 0))
                return false;
    return true;
}

double wr_doc_low(const struct wr_doc_series *s, size_t k)
{
    return k < s->range_count ? s->range[2 * k] : NAN;
}

double wr_doc_high(const struct wr_doc_series *s, size_t k)
{
    return k < s->range_count ? s->range[2 * k + 1] : NAN;
}
