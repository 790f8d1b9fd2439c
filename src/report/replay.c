/* replay.c - records of weir probe --replay as sections of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "report/columns.h"
#include "report/say.h"
#include "report/view.h"
#include "result/probe.h"

#define REPLAYS_MAX 24 /* that have a table of their own */

/* What sentences have beside the values of a replay. */
#define FACTS(V)                                                               \
    V(GROUP(replay), replay, FIRST, .flags = WR_SAY_OPEN)                      \
    V(TEXT, where, FIRST)                                                      \
    V(REAL, times, FIRST) /* that the traced I/O took */

struct replay_facts {
    FACTS(WR_VAL_MEMBER)
};
#define THIS struct replay_facts
static const struct wr_vals facts = WR_VALS(FACTS);
#undef THIS

static const struct wr_sentence summary[] = {
    {.text = "The traced I/O took {traced_io_s:time} in all threads; on "
             "{where} it takes {replayed_io_s:time}, {times:2} times that."},
    {NULL}};

static const struct wr_sentence described[] = {
    {"{replay_of} on {where}", .fact = "Replay"},
    {"{traced_folder}", .fact = "Traced folder"},
    {"{requests:0}; threads: {threads:0}; computed", .when = "computed",
     .fact = "Requests"},
    {"{requests:0}; threads: {threads:0}", .when = "!computed",
     .fact = "Requests"},
    {NULL}};

static const struct wr_sentence spans[] = {
    {.text = "I/O of all threads: {traced_io_s:time} traced, "
             "{replayed_io_s:time} here ({times:2} times)"},
    {"From the first request to the last: {traced_span_s:time} traced, "
     "{replayed_span_s:time} here without pauses",
     .when = "asap"},
    {"From the first request to the last: {traced_span_s:time} traced, "
     "{replayed_span_s:time} here",
     .when = "!asap"},
    {NULL}};

static const struct wr_sentence lost[] = {
    {"{missing:0} requests are left out: their files are not there",
     .when = "missing>0", .warning = true},
    {"{short:0} requests got fewer bytes: their files are shorter",
     .when = "short>0", .warning = true},
    {"{failed:0} requests failed", .when = "failed>0", .warning = true},
    {NULL}};

static const struct wr_sentence *const sentences[] = {summary, described, spans,
                                                      lost, NULL};

static void find_facts(const struct wr_cases *c, size_t record, void *ret)
{
    const struct wr_replay_values *v = wr_replay_values_of(&c->records[record]);
    struct replay_facts *f = ret;

    wr_vals_clear(&facts, f);
    f->replay = *v;
    f->where = *wr_text_at(&v->path, 0) ? v->path : "the traced paths";
    if (v->traced_io_s > 0)
        f->times = v->replayed_io_s / v->traced_io_s;
}

static void replay_summarize(struct wr_doc *d, const struct wr_view_record *r,
                             size_t n, size_t room)
{
    const struct wr_cases c = {.records = r, .record_count = n};
    struct replay_facts f;

    for (size_t i = 0; i < n && i < room; i++) {
        find_facts(&c, i, &f);
        wr_sentences_top(d, n > 1 ? r[i].label : "", summary, &facts, &f, 1);
    }
}

#define OF(member)                                                             \
    WR_COLUMN(RUN, wr_replay_operation_vals,                                   \
              struct wr_replay_operation_values, member)
#define TIME .show = WR_SHOW_TIME

static const struct wr_column columns[] = {
    {.head = "operation", .side = '<', OF(operation)},
    {.head = "requests", .side = '>', OF(requests)},
    {.head = "MB", .side = '>', OF(bytes)},
    {.head = "traced", .side = '>', OF(traced.sum_s), TIME},
    {.head = "here", .side = '>', OF(replayed.sum_s), TIME},
    {.head = "p50 traced", .side = '>', OF(traced.p50_us), TIME},
    {.head = "p50 here", .side = '>', OF(replayed.p50_us), TIME},
    {.head = "p99 traced", .side = '>', OF(traced.p99_us), TIME},
    {.head = "p99 here", .side = '>', OF(replayed.p99_us), TIME},
    {.head = NULL}};

static const struct wr_table_rule operations = {
    "", "operations", columns,
    .list = offsetof(struct wr_replay_values, operations)};

static const struct wr_section sections[] = {
    {"Replay", .of = WR_OF_EACH,
     .items = WR_ITEMS({.show = wr_show_host}, {.say = {described}},
                       {.table = &operations}, {.say = {spans, lost}})},
    {.items = NULL}};

static const struct wr_section printed[] = {
    {.items = WR_ITEMS({.say = {described}}, {.table = &operations})},
    {.items = WR_ITEMS({.say = {spans}})},
    {.items = NULL}};

const struct wr_view wr_view_replay = {.command = "replay",
                                       .summarize = replay_summarize,
                                       .rows = &wr_replay_spec,
                                       .sections = sections,
                                       .printed = printed,
                                       .facts = &facts,
                                       .find_facts = find_facts,
                                       .sentences = sentences,
                                       .most = REPLAYS_MAX};
