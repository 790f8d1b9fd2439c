/* test_merge.c - traces of several ranks or hosts become one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/finding.h"
#include "trace/merge.h"

#define WALL UINT64_C(1700000000000000000)

/* Each rank reads everything, without a second thread. */
static const struct script rank_script = {.epochs = 3,
                                          .files = 200,
                                          .batch = 20,
                                          .size = 100 * KB,
                                          .read_ns = 2 * MS,
                                          .decode_ns = MS,
                                          .compute_ns = 10 * MS,
                                          .start_ns = 20 * MS};

struct part {
    struct maker m;
    const char *host;
    int rank;
    uint64_t wall_ns;
};

/* One trace of one rank: the maker writes the host into each process. */
static void make(struct part *p, const struct script *s)
{
    struct wr_trace_file *f;

    maker_open(&p->m);
    p->m.info.host = p->host;
    p->m.info.start_wall_ns = p->wall_ns;
    script_run(&p->m, s);
    for (uint32_t k = 0; k < p->m.process_count; k++) {
        p->m.processes[k].rank = p->rank;
        p->m.processes[k].world = 2;
        p->m.processes[k].host = p->host;
        maker_again(&p->m, k);
    }
    f = maker_read(&p->m);
    wr_trace_file_close(f);
}

struct notes {
    int count;
    char last[1024];
};

static void on_note(void *arg, const char *text)
{
    struct notes *n = arg;

    n->count++;
    snprintf(n->last, sizeof(n->last), "%s", text);
}

static int merge(struct part *parts, size_t count, int align, const char *out,
                 struct notes *notes, struct wr_merge_sum *sum, weir_err *err)
{
    char *paths[8];

    for (size_t k = 0; k < count; k++)
        paths[k] = parts[k].m.path;
    return wr_trace_merge(&(struct wr_merge_config){.output = out,
                                                    .inputs = paths,
                                                    .count = count,
                                                    .align = align,
                                                    .note = on_note,
                                                    .arg = notes},
                          sum, err);
}

static void out_of(const struct part *p, char buf[400])
{
    snprintf(buf, 400, "%s.merged", p->m.path);
}

static struct wr_trace_analysis *analyse(const char *path,
                                         struct wr_trace_file **ret)
{
    struct wr_trace_analysis *a = NULL;
    weir_err err;

    if (wr_trace_file_open(ret, path, &err) < 0 ||
        wr_trace_analyse(*ret, &a, &err) < 0)
        fail_msg("%s", err.msg);
    assert_null(wr_trace_file_damage(*ret));
    return a;
}

static bool has(const struct wr_trace_analysis *a, const char *code)
{
    struct wr_trace_findings found = {0};
    bool is_there = false;
    weir_err err;

    assert_int_equal(wr_trace_findings_of(a, &found, &err), 0);
    for (size_t k = 0; k < found.count; k++)
        is_there |= !strcmp(found.list[k].rule->code, code);
    wr_trace_findings_done(&found);
    return is_there;
}

/* What one trace says, its merge says. */
static void test_one(void **state)
{
    struct part p = {.host = "node1", .rank = 0, .wall_ns = WALL};
    struct wr_trace_analysis *a, *b;
    struct wr_trace_file *f, *g;
    struct wr_merge_sum sum;
    struct notes notes = {0};
    char out[400];
    weir_err err;

    make(&p, &rank_script);
    out_of(&p, out);
    assert_int_equal(merge(&p, 1, WR_MERGE_AUTO, out, &notes, &sum, &err), 0);
    assert_int_equal(notes.count, 0);
    a = analyse(p.m.path, &f);
    b = analyse(out, &g);
    assert_int_equal(sum.events, a->events);
    assert_int_equal(b->events, a->events);
    assert_int_equal(b->end_ns, a->end_ns);
    assert_int_equal(b->set_bytes, a->set_bytes);
    assert_int_equal(b->set_unique, a->set_unique);
    assert_int_equal(b->set_ns, a->set_ns);
    assert_int_equal(b->epoch_count, a->epoch_count);
    assert_int_equal(b->busy_ns, a->busy_ns);
    assert_int_equal(wr_trace_file_info(g)->merged, 1);
    assert_string_equal(wr_trace_file_info(g)->host, "node1");
    assert_int_equal(wr_trace_file_process(g, 0)->pid, 1000);
    wr_trace_analysis_free(a);
    wr_trace_analysis_free(b);
    wr_trace_file_close(f);
    wr_trace_file_close(g);
    unlink(out);
    maker_done(&p.m);
}

/* Two ranks that read the same, on one host or two; and two that do not. */
static void test_ranks(void **state)
{
    for (int hosts = 1; hosts <= 2; hosts++)
        for (int shared = 0; shared < 2; shared++) {
            struct script s[2] = {rank_script, rank_script};
            struct part p[2] = {{.host = "node1", .rank = 0, .wall_ns = WALL},
                                {.host = hosts == 2 ? "node2" : "node1",
                                 .rank = 1,
                                 .wall_ns = WALL + 30 * MS}};
            struct wr_trace_analysis *a;
            struct wr_trace_file *f;
            struct wr_merge_sum sum;
            struct notes notes = {0};
            char out[400];
            weir_err err;

            s[1].folder = shared ? NULL : "/data/other"; /* /data: nfs4 */
            make(&p[0], &s[0]);
            make(&p[1], &s[1]);
            out_of(&p[0], out);
            assert_int_equal(
                merge(p, 2, WR_MERGE_AUTO, out, &notes, &sum, &err), 0);
            assert_int_equal(sum.hosts, hosts);
            assert_int_equal(sum.ranks, 2);
            assert_int_equal(sum.spread_ns, 30 * MS);
            a = analyse(out, &f);
            assert_int_equal(a->ranks, 2);
            assert_int_equal(a->mains, 2);
            assert_int_equal(a->set_files, shared ? 200 : 400);
            assert_int_equal(a->shared_files, shared ? 200 : 0);
            assert_int_equal(has(a, "D05") || has(a, "S02"), shared);
            assert_int_equal(wr_trace_file_process(f, 1)->start_ns, 30 * MS);
            assert_string_equal(wr_trace_file_process(f, 1)->host, p[1].host);
            assert_int_not_equal(wr_trace_file_process(f, 0)->pid,
                                 wr_trace_file_process(f, 1)->pid);
            wr_trace_analysis_free(a);
            wr_trace_file_close(f);
            unlink(out);
            maker_done(&p[0].m);
            maker_done(&p[1].m);
        }
}

/* A local path of two hosts is two files; that of one host is one. */
static void test_local(void **state)
{
    for (int hosts = 1; hosts <= 2; hosts++) {
        struct script s = rank_script;
        struct part p[2] = {{.host = "node1", .rank = 0, .wall_ns = WALL},
                            {.host = hosts == 2 ? "node2" : "node1",
                             .rank = 1,
                             .wall_ns = WALL}};
        struct wr_trace_analysis *a;
        struct wr_trace_file *f;
        struct wr_merge_sum sum;
        struct notes notes = {0};
        char out[400];
        weir_err err;

        s.folder = "/scratch"; /* ext4 */
        make(&p[0], &s);
        p[1].wall_ns++; /* or they are of the same run */
        make(&p[1], &s);
        out_of(&p[0], out);
        assert_int_equal(merge(p, 2, WR_MERGE_AUTO, out, &notes, &sum, &err),
                         0);
        a = analyse(out, &f);
        assert_int_equal(a->set_files, hosts * 200);
        wr_trace_analysis_free(a);
        wr_trace_file_close(f);
        unlink(out);
        maker_done(&p[0].m);
        maker_done(&p[1].m);
    }
}

/* Clocks that are an hour apart. */
static void test_clocks(void **state)
{
    struct part p[2] = {
        {.host = "node1", .rank = 0, .wall_ns = WALL + 3600000 * MS},
        {.host = "node2", .rank = 1, .wall_ns = WALL}};
    struct wr_trace_analysis *a;
    struct wr_trace_file *f;
    struct wr_merge_sum sum;
    struct notes notes = {0};
    char out[400];
    weir_err err;

    make(&p[0], &rank_script);
    make(&p[1], &rank_script);
    out_of(&p[0], out);
    assert_int_equal(merge(p, 2, WR_MERGE_AUTO, out, &notes, &sum, &err),
                     WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "--align start"));
    assert_int_not_equal(access(out, F_OK), 0);
    assert_int_equal(merge(p, 2, WR_MERGE_START, out, &notes, &sum, &err), 0);
    a = analyse(out, &f);
    assert_true(a->end_ns < 60000 * MS);
    assert_int_equal(a->epoch_count, 3);
    wr_trace_analysis_free(a);
    wr_trace_file_close(f);
    unlink(out);
    assert_int_equal(merge(p, 2, WR_MERGE_WALL, out, &notes, &sum, &err), 0);
    a = analyse(out, &f);
    assert_true(a->end_ns > 3600000 * MS);
    wr_trace_analysis_free(a);
    wr_trace_file_close(f);
    unlink(out);
    maker_done(&p[0].m);
    maker_done(&p[1].m);
}

static void cut(const char *path, long by)
{
    FILE *f = fopen(path, "r+b");

    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    assert_int_equal(ftruncate(fileno(f), ftell(f) - by), 0);
    fclose(f);
}

static void set_version(const char *path)
{
    FILE *f = fopen(path, "r+b");

    assert_non_null(f);
    fseek(f, 8, SEEK_SET);
    fputc(9, f);
    fclose(f);
}

/* What does not belong together, or cannot be read. */
static void test_refused(void **state)
{
    struct part p[3] = {{.host = "node1", .rank = 0, .wall_ns = WALL},
                        {.host = "node2", .rank = 0, .wall_ns = WALL},
                        {.host = "node1", .rank = 0, .wall_ns = WALL}};
    struct wr_merge_sum sum;
    struct notes notes = {0};
    char out[400];
    weir_err err;

    for (int k = 0; k < 3; k++)
        make(&p[k], &rank_script);
    out_of(&p[0], out);
    assert_int_equal(merge((struct part[]){p[0], p[0]}, 2, WR_MERGE_AUTO, out,
                           &notes, &sum, &err),
                     WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "the same file"));
    assert_int_equal(merge((struct part[]){p[0], p[2]}, 2, WR_MERGE_AUTO, out,
                           &notes, &sum, &err),
                     WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "the same run"));
    assert_int_equal(
        merge(p, 2, WR_MERGE_AUTO, p[1].m.path, &notes, &sum, &err),
        WEIR_EEXIST);
    notes.count = 0;
    assert_int_equal(merge(p, 2, WR_MERGE_AUTO, out, &notes, &sum, &err), 0);
    assert_int_equal(notes.count, 1);
    assert_non_null(strstr(notes.last, "rank 0 is in both"));
    unlink(out);
    cut(p[1].m.path, 20);
    notes.count = 0;
    assert_int_equal(merge(p, 2, WR_MERGE_AUTO, out, &notes, &sum, &err), 0);
    assert_int_equal(notes.count, 2); /* the first: what is cut off */
    unlink(out);
    set_version(p[1].m.path);
    assert_int_equal(merge(p, 2, WR_MERGE_AUTO, out, &notes, &sum, &err),
                     WEIR_ENOTSUP);
    assert_non_null(strstr(err.msg, p[1].m.path));
    assert_non_null(strstr(err.msg, "version 9"));
    assert_int_not_equal(access(out, F_OK), 0);
    for (int k = 0; k < 3; k++)
        maker_done(&p[k].m);
}

static bool at_once(void)
{
    return true;
}

/* Nothing is left of a merge that was interrupted. */
static void test_interrupted(void **state)
{
    struct part p = {.host = "node1", .rank = 0, .wall_ns = WALL};
    char *paths[1], out[400];
    struct wr_merge_sum sum;
    weir_err err;

    make(&p, &rank_script);
    paths[0] = p.m.path;
    out_of(&p, out);
    assert_int_equal(wr_trace_merge(&(struct wr_merge_config){.output = out,
                                                              .inputs = paths,
                                                              .count = 1,
                                                              .stop = at_once},
                                    &sum, &err),
                     WEIR_ECANCELED);
    maker_done(&p.m); /* the folder is empty */
}

/* Three traces of one merge and another one. */
static void test_again(void **state)
{
    struct part p[3] = {{.host = "node1", .rank = 0, .wall_ns = WALL},
                        {.host = "node2", .rank = 1, .wall_ns = WALL + MS},
                        {.host = "node3", .rank = 2, .wall_ns = WALL + 2 * MS}};
    struct wr_trace_analysis *a;
    struct wr_trace_file *f;
    struct wr_merge_sum sum;
    struct notes notes = {0};
    char first[400], out[410], *paths[2];
    weir_err err;

    for (int k = 0; k < 3; k++)
        make(&p[k], &rank_script);
    out_of(&p[0], first);
    snprintf(out, sizeof(out), "%s.2", first);
    assert_int_equal(merge(p, 2, WR_MERGE_AUTO, first, &notes, &sum, &err), 0);
    paths[0] = first;
    paths[1] = p[2].m.path;
    assert_int_equal(wr_trace_merge(&(struct wr_merge_config){.output = out,
                                                              .inputs = paths,
                                                              .count = 2},
                                    &sum, &err),
                     0);
    a = analyse(out, &f);
    assert_int_equal(a->ranks, 3);
    assert_int_equal(a->set_files, 200); /* /data is shared */
    assert_int_equal(wr_trace_file_info(f)->merged, 3);
    assert_int_equal(wr_trace_file_process(f, 2)->start_ns, 2 * MS);
    wr_trace_analysis_free(a);
    wr_trace_file_close(f);
    unlink(first);
    unlink(out);
    for (int k = 0; k < 3; k++)
        maker_done(&p[k].m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),     cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_local),   cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
