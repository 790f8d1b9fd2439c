/* test_saves.c - bursts of writing are saves; traces whose clocks do not agree.
 * SPDX-License-Identifier: Apache-2.0 */
#include "maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/analysis.h"
#include "trace/merge.h"

#define SEC_MS 1000
#define KIB    UINT64_C(1024)

/* --- saves --- */

/* What a process does with a file; times in milliseconds. */
struct deed {
    char what;     /* o: opens to write, t: and cuts, w: writes, s: syncs,
                      c: closes, r: renames onto file 1, R: reads file 2 */
    unsigned file; /* 0 and 1: outputs, 2: data */
    uint64_t kib, at_ms, dur_ms;
    bool other_thread;
};

/* What a save is to be. */
struct save_is {
    uint64_t from_ms, to_ms, kib, write_ms, sync_ms, pause_ms;
    unsigned files, bursts;
    bool beside; /* not by the first thread */
};

struct saved {
    struct maker m;
    struct wr_trace_file *f;
    struct wr_trace_analysis *a;
    uint32_t files[3];
};

static void do_one(struct saved *s, const struct deed *d, uint64_t *offset)
{
    static const struct {
        char what;
        int op, flags;
    } ops[] = {{'o', WR_TRACE_OPEN, WR_TRACE_WRITES},
               {'t', WR_TRACE_OPEN, WR_TRACE_WRITES | WR_TRACE_TRUNC},
               {'w', WR_TRACE_WRITE, 0},
               {'f', WR_TRACE_WRITE, WR_TRACE_FAILED},
               {'s', WR_TRACE_SYNC, 0},
               {'c', WR_TRACE_CLOSE, 0},
               {'r', WR_TRACE_RENAME, 0},
               {'R', WR_TRACE_READ, 0}};
    struct wr_trace_event e = {.file = s->files[d->file],
                               .bytes = d->kib * KIB,
                               .offset = UINT64_MAX,
                               .start_ns = d->at_ms * MS,
                               .dur_ns = d->dur_ms * MS,
                               .thread = d->other_thread ? 7777 : 0};

    for (size_t k = 0; k < WR_ARRAY_LEN(ops); k++)
        if (ops[k].what == d->what) {
            e.op = (uint8_t)ops[k].op;
            e.flags = (uint8_t)ops[k].flags;
        }
    if (d->what == 'w' || d->what == 'R') {
        e.offset = offset[d->file];
        offset[d->file] += e.bytes;
    }
    if (d->what == 'r')
        e.file2 = s->files[1];
    maker_event(&s->m, e);
}

static void saved_of(struct saved *s, const struct deed *list)
{
    uint64_t offset[3] = {0};
    weir_err err;

    *s = (struct saved){0};
    maker_open(&s->m);
    maker_process(&s->m, -1, 0, 20 * SEC_MS);
    s->files[0] = maker_name(&s->m, UINT64_MAX, "/out/a.pt");
    s->files[1] = maker_name(&s->m, UINT64_MAX, "/out/b.pt");
    s->files[2] = maker_name(&s->m, 90000 * KIB, "/in/data.bin");
    for (; list->what; list++)
        do_one(s, list, offset);
    s->f = maker_read(&s->m);
    if (wr_trace_analyse(s->f, &s->a, &err) < 0)
        fail_msg("%s", err.msg);
}

static void saved_done(struct saved *s)
{
    wr_trace_analysis_free(s->a);
    wr_trace_file_close(s->f);
    maker_done(&s->m);
}

static void expect_save(const char *what, const struct wr_trace_save *s,
                        const struct save_is *want)
{
    if (s->start_ns != want->from_ms * MS || s->end_ns != want->to_ms * MS ||
        s->bytes != want->kib * KIB || s->write_ns != want->write_ms * MS ||
        s->sync_ns != want->sync_ms * MS ||
        s->pause_ns != want->pause_ms * MS || s->files != want->files ||
        s->bursts != want->bursts || s->main_thread != !want->beside)
        fail_msg("%s: %g-%g ms, %g KiB, write %g, sync %g, pause %g, %u files, "
                 "%u bursts, main thread %d",
                 what, (double)s->start_ns / 1e6, (double)s->end_ns / 1e6,
                 (double)s->bytes / 1024, (double)s->write_ns / 1e6,
                 (double)s->sync_ns / 1e6, (double)s->pause_ns / 1e6, s->files,
                 s->bursts, s->main_thread);
}

static void test_saves(void **state)
{
    static const struct {
        const char *what;
        struct deed deeds[12];
        struct save_is saves[3];
        size_t count;
    } cases[] = {
        {"a log",
         {{'o', 0, 0, 10, 1, false},
          {'w', 0, 255, 20, 5, false},
          {'s', 0, 0, 30, 5, false},
          {'c', 0, 0, 40, 1, false}},
         {{0}},
         0},
        {"one write that is large enough",
         {{'o', 0, 0, 10, 1, false},
          {'w', 0, 256, 20, 5, false},
          {'s', 0, 0, 30, 7, false},
          {'c', 0, 0, 40, 1, false}},
         {{20, 41, 256, 5, 7, 21, 1, 1, false}},
         1},
        /* The first write counts with its bytes, not with its time. */
        {"two writes that are",
         {{'o', 0, 0, 10, 1, false},
          {'w', 0, 200, 20, 5, false},
          {'w', 0, 200, 30, 6, false},
          {'c', 0, 0, 40, 1, false}},
         {{20, 41, 400, 6, 0, 21, 1, 1, false}},
         1},
        /* What was there is gone from then on: it begins with the open. */
        {"a file that is cut first",
         {{'t', 0, 0, 10, 1, false},
          {'w', 0, 300, 20, 5, false},
          {'c', 0, 0, 30, 1, false}},
         {{10, 31, 300, 5, 0, 21, 1, 1, false}},
         1},
        {"a write that fails",
         {{'o', 0, 0, 10, 1, false},
          {'w', 0, 200, 20, 5, false},
          {'f', 0, 200, 30, 6, false},
          {'c', 0, 0, 40, 1, false}},
         {{0}},
         0},
        {"two files, one after the other",
         {{'o', 0, 0, 10, 1, false},
          {'w', 0, 300, 20, 5, false},
          {'c', 0, 0, 30, 1, false},
          {'o', 1, 0, 40, 1, false},
          {'w', 1, 400, 50, 5, false},
          {'c', 1, 0, 60, 1, false}},
         {{20, 61, 700, 10, 0, 41, 2, 1, false}},
         1},
        /* A tenth of a second apart: training went on in between. */
        {"two bursts",
         {{'o', 0, 0, 10, 1, false},
          {'w', 0, 300, 20, 5, false},
          {'w', 0, 300, 125, 5, false},
          {'c', 0, 0, 140, 1, false}},
         {{20, 141, 600, 10, 0, 21, 1, 2, false}},
         1},
        {"two saves, more than a second apart",
         {{'o', 0, 0, 10, 1, false},
          {'w', 0, 300, 20, 5, false},
          {'c', 0, 0, 30, 1, false},
          {'o', 1, 0, 1032, 1, false},
          {'w', 1, 300, 1040, 5, false},
          {'c', 1, 0, 1050, 1, false}},
         {{20, 31, 300, 5, 0, 11, 1, 1, false},
          {1040, 1051, 300, 5, 0, 11, 1, 1, false}},
         2},
        {"by another thread",
         {{'o', 0, 0, 10, 1, true},
          {'w', 0, 300, 20, 5, true},
          {'c', 0, 0, 30, 1, true}},
         {{20, 31, 300, 5, 0, 11, 1, 1, true}},
         1},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct saved s;

        saved_of(&s, cases[k].deeds);
        if (s.a->save_count != cases[k].count)
            fail_msg("%s: %zu saves", cases[k].what, s.a->save_count);
        for (size_t i = 0; i < cases[k].count; i++)
            expect_save(cases[k].what, &s.a->saves[i], &cases[k].saves[i]);
        saved_done(&s);
    }
}

/* Whether what is saved would be there after a crash. */
static void test_faults(void **state)
{
    static const struct {
        const char *what;
        struct deed deeds[14];
        unsigned fault; /* of the first file */
    } cases[] = {
        {"synced",
         {{'o', 0, 0, 10, 1, false},
          {'w', 0, 300, 20, 5, false},
          {'s', 0, 0, 30, 1, false},
          {'c', 0, 0, 40, 1, false},
          {'r', 0, 0, 50, 1, false}},
         WR_TRACE_SAVED | WR_TRACE_SYNCED},
        {"renamed before a sync",
         {{'o', 0, 0, 10, 1, false},
          {'w', 0, 300, 20, 5, false},
          {'c', 0, 0, 40, 1, false},
          {'r', 0, 0, 50, 1, false}},
         WR_TRACE_SAVED | WR_TRACE_UNSAFE_RENAME},
        {"written after the sync",
         {{'o', 0, 0, 10, 1, false},
          {'w', 0, 300, 20, 5, false},
          {'s', 0, 0, 30, 1, false},
          {'w', 0, 1, 35, 1, false},
          {'r', 0, 0, 50, 1, false}},
         WR_TRACE_SAVED | WR_TRACE_SYNCED | WR_TRACE_UNSAFE_RENAME},
        {"written over, the only copy",
         {{'t', 0, 0, 10, 1, false},
          {'w', 0, 300, 20, 5, false},
          {'c', 0, 0, 40, 1, false},
          {'t', 0, 0, 3000, 1, false},
          {'w', 0, 300, 3020, 5, false},
          {'c', 0, 0, 3040, 1, false}},
         WR_TRACE_SAVED | WR_TRACE_UNSAFE_IN_PLACE},
        {"another one each time",
         {{'t', 0, 0, 10, 1, false},
          {'w', 0, 300, 20, 5, false},
          {'s', 0, 0, 30, 1, false},
          {'c', 0, 0, 40, 1, false},
          {'r', 0, 0, 50, 1, false},
          {'t', 0, 0, 3000, 1, false},
          {'w', 0, 300, 3020, 5, false},
          {'s', 0, 0, 3030, 1, false},
          {'c', 0, 0, 3040, 1, false},
          {'r', 0, 0, 3050, 1, false}},
         WR_TRACE_SAVED | WR_TRACE_SYNCED},
        {"a log", {{'o', 0, 0, 10, 1, false}, {'w', 0, 9, 20, 5, false}}, 0},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        struct saved s;

        saved_of(&s, cases[k].deeds);
        if (s.a->uses[0].fault != cases[k].fault)
            fail_msg("%s: %#x", cases[k].what, s.a->uses[0].fault);
        saved_done(&s);
    }
}

/* Reads that began during a write are told apart from the others, though the
 * write is known only when it has ended; and the bytes that a save read. */
static void test_meanwhile(void **state)
{
    static const struct deed deeds[] = {
        {'R', 2, 100, 10, 1, false},  {'o', 0, 0, 20, 1, false},
        {'R', 2, 100, 35, 2, true},   {'w', 0, 400, 30, 40, false},
        {'c', 0, 0, 75, 1, false},    {'R', 2, 100, 80, 1, true},
        {'R', 2, 100, 3000, 1, true}, {0}};
    struct saved s;

    (void)state;
    saved_of(&s, deeds);
    assert_int_equal(s.a->latency[WR_TRACE_LAT_READ_SAVING]->count, 1);
    assert_int_equal(s.a->latency[WR_TRACE_LAT_READ_QUIET]->count, 3);
    assert_int_equal(s.a->save_count, 1);
    assert_int_equal(s.a->saves[0].read_bytes, 100 * KIB);
    assert_int_equal(s.a->saves[0].largest, 400 * KIB);
    assert_int_equal(s.a->saves[0].file, s.files[0]);
    saved_done(&s);
}

/* --- which traces can be of one job --- */

#define WALL UINT64_C(1700000000000000000)

/* A trace of one process that began and lasted so long, in seconds. */
struct ran {
    double from, seconds;
    int rank;
    const char *host;
};

static void make(struct maker *m, const struct ran *ran)
{
    maker_open(m);
    m->info.start_wall_ns = WALL + (uint64_t)(ran->from * 1e9);
    m->info.host = ran->host;
    maker_process(m, -1, 0, (uint64_t)(ran->seconds * 1000));
    m->processes[0].rank = ran->rank;
    maker_again(m, 0);
    wr_trace_file_close(maker_read(m));
}

static void on_note(void *arg, const char *text)
{
    snprintf(arg, 500, "%s", text);
}

static void test_clocks(void **state)
{
    static const struct {
        struct ran a, b;
        int align, result;
        double offset; /* of b, in seconds */
        size_t hosts, ranks;
        bool noted;
    } cases[] = {
        {{0, 100, 0, "x"}, {1, 100, 1, "x"}, WR_MERGE_AUTO, 0, 1, 1, 2, false},
        {{0, 100, 0, "x"}, {1, 100, 1, "y"}, WR_MERGE_AUTO, 0, 1, 2, 2, false},
        {{0, 100, 0, ""}, {1, 100, 1, ""}, WR_MERGE_AUTO, 0, 1, 2, 2, false},
        {{0, 100, 3, "x"}, {1, 100, 3, "y"}, WR_MERGE_AUTO, 0, 1, 2, 1, true},
        {{0, 100, -1, "x"}, {1, 100, 2, "y"}, WR_MERGE_AUTO, 0, 1, 2, 1, false},
        /* A rank may be late by some seconds, whatever it shares then. */
        {{0, 1, 0, "x"}, {4.9, 1, 1, "y"}, WR_MERGE_AUTO, 0, 4.9, 2, 2, false},
        {{0, 1, 0, "x"},
         {5.1, 1, 1, "y"},
         WR_MERGE_AUTO,
         WEIR_EINVAL,
         0,
         0,
         0,
         false},
        /* Half of the shorter one at the same time. */
        {{0, 100, 0, "x"},
         {50, 100, 1, "y"},
         WR_MERGE_AUTO,
         0,
         50,
         2,
         2,
         false},
        {{0, 100, 0, "x"},
         {51, 100, 1, "y"},
         WR_MERGE_AUTO,
         WEIR_EINVAL,
         0,
         0,
         0,
         false},
        {{0, 100, 0, "x"}, {90, 20, 1, "y"}, WR_MERGE_AUTO, 0, 90, 2, 2, false},
        {{0, 100, 0, "x"}, {80, 20, 1, "y"}, WR_MERGE_AUTO, 0, 80, 2, 2, false},
        {{0, 100, 0, "x"},
         {91, 20, 1, "y"},
         WR_MERGE_AUTO,
         WEIR_EINVAL,
         0,
         0,
         0,
         false},
        {{0, 100, 0, "x"},
         {500, 9, 1, "y"},
         WR_MERGE_WALL,
         0,
         500,
         2,
         2,
         false},
        {{0, 100, 0, "x"}, {500, 9, 1, "y"}, WR_MERGE_START, 0, 0, 2, 2, false},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        char out[400], note[500] = "", *paths[2];
        struct wr_trace_file *f = NULL;
        struct wr_merge_sum sum;
        struct maker m[2];
        weir_err err;
        int r;

        make(&m[0], &cases[k].a);
        make(&m[1], &cases[k].b);
        paths[0] = m[0].path;
        paths[1] = m[1].path;
        snprintf(out, sizeof(out), "%s/out.wtrace", m[0].dir);
        r = wr_trace_merge(&(struct wr_merge_config){.output = out,
                                                     .inputs = paths,
                                                     .count = 2,
                                                     .align = cases[k].align,
                                                     .note = on_note,
                                                     .arg = note},
                           &sum, &err);
        if (r != cases[k].result)
            fail_msg("%zu: %d %s", k, r, r < 0 ? err.msg : "");
        assert_int_equal(*note != 0, cases[k].noted);
        if (r == 0) {
            assert_int_equal(sum.hosts, cases[k].hosts);
            assert_int_equal(sum.ranks, cases[k].ranks);
            assert_int_equal(wr_trace_file_open(&f, out, &err), 0);
            assert_int_equal(wr_trace_file_process(f, 1)->start_ns,
                             (uint64_t)(cases[k].offset * 1e9));
            wr_trace_file_close(f);
            unlink(out);
        } else {
            assert_non_null(strstr(err.msg, "did not run at the same time"));
        }
        maker_done(&m[0]);
        maker_done(&m[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saves),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_meanwhile),
        cmocka_unit_test(test_clocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
