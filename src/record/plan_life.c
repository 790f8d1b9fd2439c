/* plan_life.c - the life of a batch: lanes of workers, queue, accelerators.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/plan_life.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "result/get.h"

#define LANES_MAX 64
#define SPANS_MAX 20000

/* Kinds of spans in a record. */
static const struct {
    const char *kind;
    enum wr_doc_look look;
    const char *name;
} kinds[] = {{"read", WR_DOC_LOOK_DOTTED, "reading"},
             {"decode", WR_DOC_LOOK_STRIPED, "decoding"},
             {"compute", WR_DOC_LOOK_SOLID, "computing"},
             {"queued", WR_DOC_LOOK_THIN, "ready, in the queue"},
             {"wait", WR_DOC_LOOK_HATCHED, "waiting"},
             {"save", WR_DOC_LOOK_CROSSED, "saving"}};

static bool look_of(const char *kind, enum wr_doc_look *ret)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(kinds); i++)
        if (!strcmp(kind, kinds[i].kind)) {
            *ret = kinds[i].look;
            return true;
        }
    return false;
}

/* A span of a record: [from_ms, to_ms, lane, batch, kind]. */
static bool take_span(const json_t *o, struct wr_doc_span *ret)
{
    double lane = wr_get_at(o, 2);
    const char *kind = json_string_value(json_array_get(o, 4));

    *ret = (struct wr_doc_span){.from = wr_get_at(o, 0),
                                .to = wr_get_at(o, 1),
                                .number = wr_get_at(o, 3)};
    if (!(lane >= 0) || !(lane < LANES_MAX) || !kind ||
        !look_of(kind, &ret->look))
        return false;
    ret->lane = (size_t)lane;
    return isfinite(ret->from) && isfinite(ret->to);
}

static int by_begin(const void *a, const void *b)
{
    const struct wr_doc_span *x = a, *y = b;

    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                              : (x->to > y->to) - (x->to < y->to);
}

static double end_of(const json_t *j)
{
    const json_t *list = wr_get_list(j, "life.spans");
    double end = 0;

    for (size_t i = 0; i < json_array_size(list) && i < SPANS_MAX; i++)
        end = fmax(end, wr_get_at(json_array_get(list, i), 1));
    return end;
}

static void add_spans(struct wr_doc *d, struct wr_doc_lanes *l,
                      const json_t *list)
{
    size_t n = WR_MIN(json_array_size(list), (size_t)SPANS_MAX), count = 0;
    struct wr_doc_span *v = calloc(n + 1, sizeof(*v));

    if (!v) {
        wr_doc_fail(d);
        return;
    }
    for (size_t i = 0; i < n; i++)
        count += take_span(json_array_get(list, i), &v[count]);
    qsort(v, count, sizeof(*v), by_begin);
    for (size_t i = 0; i < count; i++)
        wr_doc_span(l, &v[i]);
    free(v);
}

/* The last lane is of saves: without any it tells nothing. */
static size_t count_lanes(const json_t *j)
{
    const json_t *spans = wr_get_list(j, "life.spans");
    size_t n = json_array_size(wr_get_list(j, "life.lanes"));

    for (size_t i = 0; n > 1 && i < json_array_size(spans); i++)
        if (wr_get_at(json_array_get(spans, i), 2) == (double)(n - 1))
            return n;
    return n > 1 ? n - 1 : n;
}

static void one_life(struct wr_doc *d, struct wr_doc_section *s,
                     const struct wr_view_record *r, bool many, double most)
{
    const json_t *names = wr_get_list(r->json, "life.lanes");
    const json_t *spans = wr_get_list(r->json, "life.spans");
    size_t n = count_lanes(r->json);
    char title[WR_VIEW_NAME], note[WR_VIEW_NAME];
    struct wr_doc_lanes *l;

    if (!n || !json_array_size(spans))
        return;
    snprintf(title, sizeof(title), "The life of a batch%s%.200s",
             many ? ": " : "", many ? r->label : "");
    snprintf(note, sizeof(note), "Hatched time is lost.");
    if (n > LANES_MAX || json_array_size(spans) > SPANS_MAX)
        snprintf(note, sizeof(note),
                 "Hatched time is lost. Of %zu lanes and %zu spans the first "
                 "are drawn.",
                 n, json_array_size(spans));
    l = wr_doc_lanes(s, &(struct wr_doc_lanes_spec){.title = title,
                                                    .x = "time (ms)",
                                                    .thing = "batch",
                                                    .note = note,
                                                    .most = most});
    for (size_t i = 0; i < n && i < LANES_MAX; i++) {
        const char *name = json_string_value(json_array_get(names, i));

        wr_doc_lane(l, name ? name : "");
    }
    for (size_t i = 0; i < WR_ARRAY_LEN(kinds); i++)
        wr_doc_lanes_look(l, kinds[i].look, kinds[i].name);
    add_spans(d, l, spans);
}

void wr_plan_life(struct wr_doc *d, struct wr_doc_section *s,
                  const struct wr_view_record *r, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, end_of(r[i].json));
    for (size_t i = 0; i < n; i++)
        one_life(d, s, &r[i], n > 1, n > 1 ? most : 0);
}
