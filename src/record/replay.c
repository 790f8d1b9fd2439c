/* replay.c - records of weir probe --replay as sections of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/view.h"

#include <stdio.h>

#include "base/mem.h"
#include "result/get.h"
#include "record/view_say.h"

#define REPLAYS_MAX 24 /* that have a table of their own */
#define US          1e-6

static const char *where(const json_t *j, char *buf, size_t cap)
{
    const char *path = wr_get_text(j, "path");

    snprintf(buf, cap, "%s", *path ? path : "the traced paths");
    return buf;
}

/* --- what it says --- */

static void say(struct wr_doc *d, const struct wr_view_record *r, bool named)
{
    double traced = wr_get_number(r->json, "traced_io_s");
    double here = wr_get_number(r->json, "replayed_io_s");
    char place[WR_VIEW_NAME], a[32], b[32];

    if (!(traced > 0) || !(here >= 0))
        return;
    wr_doc_summary(d,
                   "%s%sThe traced I/O took %s in all threads; on %s it takes "
                   "%s, %.2f times that.",
                   named ? r->label : "", named ? ": " : "",
                   wr_say_time(traced, a, sizeof(a)),
                   where(r->json, place, sizeof(place)),
                   wr_say_time(here, b, sizeof(b)), here / traced);
}

static void replay_summarize(struct wr_doc *d, const struct wr_view_record *r,
                             size_t n, size_t room)
{
    for (size_t i = 0; i < n && i < room; i++)
        say(d, &r[i], n > 1);
}

/* --- tables --- */

static void times(struct wr_doc_table *t, const json_t *op, const char *what,
                  double unit)
{
    static const char *const sides[] = {"traced", "replayed"};

    for (size_t k = 0; k < WR_ARRAY_LEN(sides); k++)
        wr_say_time_cell(t, wr_get_number(wr_get_object(op, sides[k]), what) *
                                unit);
}

static void operations(struct wr_doc_section *s, const json_t *j)
{
    const json_t *list = wr_get_list(j, "operations");
    struct wr_doc_table *t = wr_doc_table(
        s, "",
        "<operation|>requests|>MB|>traced|>here|>p50 traced|>p50 here|"
        ">p99 traced|>p99 here");

    for (size_t i = 0; i < json_array_size(list) && i < WR_VIEW_ROWS; i++) {
        const json_t *op = json_array_get(list, i);

        wr_doc_cell(t, "%s", wr_get_text(op, "operation"));
        wr_doc_number(t, wr_get_number(op, "requests"), 0);
        wr_doc_number(t, wr_get_number(op, "bytes") / 1e6, 1);
        times(t, op, "sum_s", 1);
        times(t, op, "p50_us", US);
        times(t, op, "p99_us", US);
    }
}

static void span(struct wr_doc_section *s, const json_t *j)
{
    double traced = wr_get_number(j, "traced_io_s");
    double here = wr_get_number(j, "replayed_io_s");
    char a[32], b[32];

    if (traced > 0 && here >= 0)
        wr_doc_note(s, false,
                    "I/O of all threads: %s traced, %s here (%.2f times)",
                    wr_say_time(traced, a, sizeof(a)),
                    wr_say_time(here, b, sizeof(b)), here / traced);
    wr_doc_note(s, false,
                "From the first request to the last: %s traced, %s here%s",
                wr_say_time(wr_get_number(j, "traced_span_s"), a, sizeof(a)),
                wr_say_time(wr_get_number(j, "replayed_span_s"), b, sizeof(b)),
                wr_get_true(j, "asap") ? " without pauses" : "");
}

static void facts(struct wr_doc_section *s, const json_t *j)
{
    char place[WR_VIEW_NAME];

    wr_doc_fact(s, "Replay", "%s on %s", wr_get_text(j, "replay_of"),
                where(j, place, sizeof(place)));
    if (*wr_get_text(j, "traced_folder"))
        wr_doc_fact(s, "Traced folder", "%s", wr_get_text(j, "traced_folder"));
    wr_doc_fact(s, "Requests", "%.0f; threads: %.0f%s",
                wr_get_number(j, "requests"), wr_get_number(j, "threads"),
                wr_get_true(j, "computed") ? "; computed" : "");
}

static void lost(struct wr_doc_section *s, const json_t *j)
{
    static const struct {
        const char *key, *text;
    } kinds[] = {{"missing", "are left out: their files are not there"},
                 {"short", "got fewer bytes: their files are shorter"},
                 {"failed", "failed"}};

    for (size_t k = 0; k < WR_ARRAY_LEN(kinds); k++)
        if (wr_get_number(j, kinds[k].key) > 0)
            wr_doc_note(s, true, "%.0f requests %s",
                        wr_get_number(j, kinds[k].key), kinds[k].text);
}

static void replay_build(struct wr_doc *d, const struct wr_view_record *r,
                         size_t n)
{
    char title[WR_VIEW_NAME];

    for (size_t i = 0; i < n && i < REPLAYS_MAX; i++) {
        struct wr_doc_section *s;

        snprintf(title, sizeof(title), "Replay%s%.200s", n > 1 ? ": " : "",
                 n > 1 ? r[i].label : "");
        s = wr_view_section(d, title, &r[i], 1);
        wr_view_host(s, &r[i]);
        facts(s, r[i].json);
        operations(s, r[i].json);
        span(s, r[i].json);
        lost(s, r[i].json);
    }
}

static void replay_result(struct wr_doc *d, const struct wr_view_record *r)
{
    struct wr_doc_section *s = wr_doc_section(d, "");

    facts(s, r->json);
    operations(s, r->json);
    span(wr_doc_section(d, ""), r->json);
}

const struct wr_view wr_view_replay = {.command = "replay",
                                       .summarize = replay_summarize,
                                       .build = replay_build,
                                       .result = replay_result};
