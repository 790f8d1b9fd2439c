/* bench_say.c - what benchmarks come to, in sentences.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/bench_say.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/named.h"
#include "record/bench_charts.h"
#include "record/bench_tables.h"
#include "result/get.h"
#include "record/view_say.h"

#define MB         1e6
#define NOTES_MAX  3
#define PLACES_MAX 4             /* devices in a sentence */
#define PAIRS_MAX  ((size_t)512) /* cases that are looked through in pairs */

/* Whether two rows have the same settings but for the prefetch. */
static bool twins(const struct wr_case *a, const struct wr_case *b)
{
    json_t *x = json_copy((json_t *)(uintptr_t)a->settings);
    json_t *y = json_copy((json_t *)(uintptr_t)b->settings);
    bool same;

    json_object_del(x, "prefetch");
    json_object_del(y, "prefetch");
    same = a->record == b->record && x && y && json_equal(x, y);
    json_decref(x);
    json_decref(y);
    return same;
}

/* A run time without prefetching and its twin with it. */
struct case_pair {
    size_t off, on; /* cases */
    double off_s, on_s;
};

/* The pairs of an experiment, at most `cap`. */
static size_t find_pairs(const struct wr_cases *c, struct case_pair *ret,
                         size_t cap)
{
    size_t n = 0, cases = WR_MIN(c->count, PAIRS_MAX);

    for (size_t k = 0; k < cases; k++) {
        if (wr_bench_setting(&c->v[k], "prefetch") != 0)
            continue;
        for (size_t i = 0; i < cases && n < cap; i++) {
            struct case_pair p = {k, i, wr_bench_median(&c->v[k])->seconds,
                                  wr_bench_median(&c->v[i])->seconds};

            if (wr_bench_setting(&c->v[i], "prefetch") >= 1 && p.off_s > 0 &&
                p.on_s > 0 && twins(&c->v[k], &c->v[i]))
                ret[n++] = p;
        }
    }
    return n;
}

void wr_bench_prefetch_notes(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
    struct case_pair pairs[NOTES_MAX];
    size_t n = find_pairs(c, pairs, NOTES_MAX);
    char label[WR_VIEW_NAME];

    for (size_t i = 0; i < n; i++) {
        const struct case_pair *p = &pairs[i];

        wr_cases_label(c, p->off, "prefetch", label, sizeof(label));
        wr_doc_note(v->s, false,
                    "%s%sPrefetch %.0f instead of none: %.2f s instead of "
                    "%.2f s (%.0f %% %s).",
                    label, *label ? ": " : "",
                    wr_bench_setting(&c->v[p->on], "prefetch"), p->on_s,
                    p->off_s, fabs(1 - p->on_s / p->off_s) * 100,
                    p->on_s <= p->off_s ? "less" : "more");
    }
}

/* --- the top of the page --- */

/* The cases of one experiment. */
struct time_part {
    const struct wr_view_group *e;
    struct wr_cases c;
};

/* The fastest case of all that read alone, or that did not. */
struct best_case {
    const struct time_part *part;
    size_t row;
    double rate;
};

static struct best_case fastest(const struct time_part *p, size_t n, bool read)
{
    struct best_case b = {.rate = 0};

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < p[i].c.count; k++) {
            const struct wr_case *row = &p[i].c.v[k];
            double rate = read ? wr_bench_median(row)->bytes_per_s
                               : wr_bench_median(row)->samples_per_s;

            if (wr_bench_is_read(&p[i].c) == read && rate > b.rate)
                b = (struct best_case){&p[i], k, rate};
        }
    return b;
}

/* What limits a case, in words; NULL when that is not known. */
static const char *limit_of(const struct wr_case *row)
{
    static const struct {
        const char *verdict, *word;
    } words[] = {{"storage-bound", "storage"},
                 {"decode-bound", "decoding"},
                 {"convert-bound", "converting"},
                 {"consumer-bound", "the consumer"}};
    int k = wr_named_index(WR_NAMED(words), wr_bench_case(row)->result.verdict);

    return k < 0 || wr_bench_is_starved(row) ? NULL : words[k].word;
}

static size_t say_pipeline(struct wr_doc *d, const struct time_part *p,
                           size_t n, size_t room)
{
    struct best_case b = fastest(p, n, /* read= */ false);
    char label[WR_VIEW_NAME], rate[32];
    const struct wr_case *row;
    const char *limit;

    if (!b.part)
        return 0;
    row = &b.part->c.v[b.row];
    limit = limit_of(row);
    wr_cases_label(&b.part->c, b.row, NULL, label, sizeof(label));
    wr_say_number(b.rate, rate, sizeof(rate));
    wr_doc_summary(d, "The pipeline delivers up to %s samples/s%s%s%s%s%s.",
                   rate, *label ? " (" : "", label, *label ? ")" : "",
                   limit ? "; what limits it is " : "", limit ? limit : "");
    wr_doc_headline(d, "samples/s fed, at best", "%s", rate);
    if (limit && room > 2)
        wr_doc_headline(d, "limits it", "%s", limit);
    if (wr_bench_is_starved(row))
        wr_doc_summary(d, "Other programs had the cores then: it is too low.");
    return 1;
}

static size_t say_read(struct wr_doc *d, const struct time_part *p, size_t n,
                       size_t room)
{
    struct best_case b = fastest(p, n, /* read= */ true);
    char label[WR_VIEW_NAME], rate[32];

    if (!b.part)
        return 0;
    wr_cases_label(&b.part->c, b.row, NULL, label, sizeof(label));
    wr_say_number(b.rate / MB, rate, sizeof(rate));
    wr_doc_summary(d, "Reading alone reaches %s MB/s%s%s%s.", rate,
                   *label ? " (" : "", label, *label ? ")" : "");
    wr_doc_headline(d, "reading alone", "%s MB/s", rate);
    return 1;
}

static size_t say_prefetch(struct wr_doc *d, const struct time_part *p,
                           size_t n, size_t room)
{
    struct case_pair best = {0}, pairs[NOTES_MAX];
    double change;

    for (size_t i = 0; i < n; i++) {
        size_t found = find_pairs(&p[i].c, pairs, NOTES_MAX);

        for (size_t k = 0; k < found; k++)
            if (!(best.on_s > 0) ||
                pairs[k].off_s / pairs[k].on_s > best.off_s / best.on_s)
                best = pairs[k];
    }
    if (!(best.on_s > 0))
        return 0;
    change = 100 * (1 - best.on_s / best.off_s);
    wr_doc_summary(d,
                   "Prefetching makes a run %.0f %% %s: %.2f s instead of "
                   "%.2f s.",
                   fabs(change), change >= 0 ? "shorter" : "longer", best.on_s,
                   best.off_s);
    wr_doc_headline(d, "run time by prefetching", "%s%.0f %%",
                    change >= 0 ? "\u2212" : "+", fabs(change));
    return 1;
}

/* The case of a record with the fewest or the most threads. */
static const struct wr_case *at_threads(const struct wr_cases *c, size_t record,
                                        bool most)
{
    const struct wr_case *found = NULL;

    for (size_t k = 0; k < c->count; k++) {
        double v = wr_bench_setting(&c->v[k], "threads");
        double best = found ? wr_bench_setting(found, "threads") : NAN;

        if (c->v[k].record == record && v > 0 &&
            (!found || (most ? v > best : v < best)))
            found = &c->v[k];
    }
    return found;
}

/* "8 threads read 2.3 times as fast as 1 on hdd, 7.8 times on lustre". */
static size_t say_threads(struct wr_doc *d, const struct time_part *p, size_t n,
                          size_t room)
{
    for (size_t i = 0; i < n; i++) {
        const struct wr_cases *c = &p[i].c;
        const struct wr_case *few = at_threads(c, 0, false);
        const struct wr_case *many = at_threads(c, 0, true);
        char text[WR_VIEW_NAME] = "";

        if (c->varying_count != 1 || !wr_cases_varies(c, "threads") || !few)
            continue;
        for (size_t r = 0; r < c->record_count && r < PLACES_MAX; r++) {
            const struct wr_case *a = at_threads(c, r, false);
            const struct wr_case *b = at_threads(c, r, true);
            double ratio = a && b ? wr_bench_median(b)->samples_per_s /
                                        wr_bench_median(a)->samples_per_s
                                  : NAN;
            const char *on = c->record_count > 1 ? c->records[r].label : "";

            if (isfinite(ratio))
                wr_say(text, sizeof(text), "%.1f times%s%s", ratio,
                       *on ? " on " : "", on);
        }
        if (!*text)
            continue;
        wr_doc_summary(d, "%.0f threads against %.0f: %s.",
                       wr_bench_setting(many, "threads"),
                       wr_bench_setting(few, "threads"), text);
        return 1;
    }
    return 0;
}

void wr_bench_say(struct wr_doc *d, const struct wr_view_group *e, size_t n,
                  size_t room)
{
    static size_t (*const say[])(struct wr_doc *, const struct time_part *,
                                 size_t, size_t) = {say_pipeline, say_prefetch,
                                                    say_read, say_threads};
    struct time_part *parts = calloc(n + 1, sizeof(*parts));

    if (!parts) {
        wr_doc_fail(d);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        parts[i].e = &e[i];
        wr_cases_init(&parts[i].c, e[i].records, e[i].count, &wr_bench_spec);
    }
    for (size_t i = 0; i < WR_ARRAY_LEN(say) && room; i++)
        room -= say[i](d, parts, n, room);
    for (size_t i = 0; i < n; i++)
        wr_cases_done(&parts[i].c);
    free(parts);
}
