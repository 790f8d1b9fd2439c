/* test_probe.c - every test of a probe, its numbers, and what it leaves.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "measure/probe.h"
#include "../format/tmpdir.h"

#define MIB ((uint64_t)1 << 20)

static struct wr_probe_test tests[] = {
    {WR_PROBE_WRITE, WR_PROBE_SEQUENTIAL, 65536, 4, 1, true},
    {WR_PROBE_WRITE, WR_PROBE_SEQUENTIAL, 65536, 1, 2, false},
    {WR_PROBE_WRITE, WR_PROBE_RANDOM, 65536, 4, 1, false},
    {WR_PROBE_READ, WR_PROBE_SEQUENTIAL, 65536, 4, 2, true},
    {WR_PROBE_READ, WR_PROBE_SEQUENTIAL, 65536, 1, 1, false},
    {WR_PROBE_READ, WR_PROBE_SEQUENTIAL, 65536, 4, 1, false},
    {WR_PROBE_READ, WR_PROBE_RANDOM, 4096, 1, 1, true},
    {WR_PROBE_READ, WR_PROBE_RANDOM, 4096, 8, 2, true},
    {WR_PROBE_READ, WR_PROBE_RANDOM, 4096, 1, 2, false},
    {WR_PROBE_READ, WR_PROBE_RANDOM, 0, 4, 1, true},
    {WR_PROBE_READ, WR_PROBE_RANDOM, 0, 4, 1, false},
    {WR_PROBE_FILES, WR_PROBE_RANDOM, 0, 1, 2, false},
    {WR_PROBE_FILES, WR_PROBE_RANDOM, 0, 8, 1, false},
    {WR_PROBE_FILES, WR_PROBE_RANDOM, 0, 8, 1, true},
    {WR_PROBE_CREATE, WR_PROBE_RANDOM, 0, 1, 2, false},
    {WR_PROBE_SYNC, WR_PROBE_SEQUENTIAL, 0, 1, 2, false},
};

static int setup(void **state)
{
    struct tmpdir *t = calloc(1, sizeof(*t));

    tmpdir_init(t);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    tmpdir_done(*state);
    free(*state);
    return 0;
}

static void set_plan(struct wr_probe_plan *p, const char *url)
{
    *p = (struct wr_probe_plan){.url = url,
                                .file_bytes = 4 * MIB,
                                .small_files = 40,
                                .tests = tests,
                                .test_count = WR_ARRAY_LEN(tests),
                                .passes = 1,
                                .seconds = 0.02,
                                .seed = 7};
    wr_probe_mix_imagenet(&p->mix);
}

static void assert_empty(const struct tmpdir *t)
{
    assert_int_equal(tmpdir_count(t, ""), 0);
}

/* Bytes of all small files. */
static uint64_t small_bytes(const struct wr_probe_plan *p)
{
    /* 40 files in the shares 1 2 4 8 13 38 33 1: the largest remainders get
     * what is left, the smaller sizes first. */
    static const unsigned count[] = {1, 1, 2, 3, 5, 15, 13, 0};
    uint64_t sum = 0;

    assert_int_equal(p->small_files, 40);
    for (unsigned i = 0; i < 8; i++)
        sum += count[i] * ((uint64_t)3072 << i);
    return sum;
}

static void check_run(const struct wr_probe_plan *p,
                      const struct wr_probe_test *t,
                      const struct wr_probe_run *run)
{
    uint64_t block = t->op == WR_PROBE_SYNC ? 4096 : t->block;

    assert_true(run->v.ops > 0);
    assert_true(run->v.seconds > 0);
    assert_true(run->start_ns > 0);
    assert_int_equal(run->latency->count, run->v.ops);
    if (block)
        assert_int_equal(run->v.bytes, run->v.ops * block);
    assert_float_equal(run->v.ops_per_s, run->v.ops / run->v.seconds,
                       1e-6 * run->v.ops_per_s);
    assert_float_equal(run->v.bytes_per_s, run->v.bytes / run->v.seconds,
                       1e-6 * run->v.bytes_per_s);
    assert_true(run->v.cpu_s >= 0);
    /* What goes through the page cache is met at most once. */
    if (!t->direct && (t->op == WR_PROBE_READ || t->op == WR_PROBE_WRITE))
        assert_true(run->v.bytes <= p->file_bytes);
    if (t->op == WR_PROBE_FILES || t->op == WR_PROBE_CREATE) {
        assert_true(run->v.ops <= p->small_files);
        if (run->v.ops == p->small_files)
            assert_int_equal(run->v.bytes, small_bytes(p));
        if (t->depth == 1 && !t->direct) {
            assert_int_equal(run->open->count, run->v.ops);
            assert_int_equal(run->transfer->count, run->v.ops);
            assert_int_equal(run->close->count, run->v.ops);
            assert_true(run->open->sum + run->transfer->sum + run->close->sum ==
                        run->latency->sum);
        }
    }
}

static void run_everything(struct wr_probe_plan *p)
{
    struct wr_probe_report r;
    weir_err err;

    if (wr_probe(p, &r, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(r.count, p->test_count);
    assert_int_equal(r.small_files, p->small_files);
    assert_int_equal(r.file_bytes, p->file_bytes);
    for (size_t i = 0; i < r.count; i++) {
        if (r.results[i].skipped) {
            assert_false(r.cache.direct_works);
            assert_true(p->tests[i].direct);
            assert_true(r.results[i].reason[0]);
            continue;
        }
        assert_int_equal(r.results[i].run_count, p->passes);
        for (unsigned k = 0; k < p->passes; k++)
            check_run(p, &p->tests[i], &r.results[i].runs[k]);
        assert_true(r.results[i].v.ops_per_s_min <= r.results[i].v.ops_per_s);
        assert_true(r.results[i].v.ops_per_s_max >= r.results[i].v.ops_per_s);
    }
    wr_probe_report_done(&r);
}

static void test_all_tests(void **state)
{
    struct tmpdir *t = *state;
    struct wr_probe_plan p;

    set_plan(&p, t->path);
    p.passes = 2;
    run_everything(&p);
    assert_empty(t);
}

static void test_blocking(void **state)
{
    struct tmpdir *t = *state;
    struct wr_probe_plan p;

    set_plan(&p, t->path);
    p.io = WEIR_IO_BLOCKING;
    run_everything(&p);
    assert_empty(t);
}

/* Where the page cache is the medium, nothing goes past it. */
static void test_tmpfs(void **state)
{
    struct tmpdir t;
    struct wr_probe_plan p;

    snprintf(t.path, sizeof(t.path), "/dev/shm/weir-test-XXXXXX");
    if (!mkdtemp(t.path))
        skip();
    set_plan(&p, t.path);
    run_everything(&p);
    assert_empty(&t);
    rmdir(t.path);
}

static void test_resident(void **state)
{
    struct tmpdir *t = *state;
    struct wr_probe_report r = {0};
    struct wr_probe_plan p;

    set_plan(&p, t->path);
    /* A page that the kernel works on at that moment is not dropped: of some
     * probes, one meets none. */
    for (int i = 0; i < 10 && (i == 0 || r.cache.resident > 0); i++) {
        wr_probe_report_done(&r);
        assert_int_equal(wr_probe(&p, &r, NULL), 0);
    }
    /* The page cache tells the owner of a file. */
    assert_true(r.cache.resident >= 0);
    if (r.cache.direct_works)
        assert_true(r.cache.resident == 0);
    assert_true(r.cache.dropped);
    assert_true(r.free_bytes > 0);
    wr_probe_report_done(&r);
}

static void test_existing_file(void **state)
{
    struct tmpdir *t = *state;
    static char bytes[2 * MIB];
    struct wr_probe_report r;
    struct wr_probe_plan p;
    size_t len;
    char *now;

    memset(bytes, 'x', sizeof(bytes));
    tmpdir_put(t, "mine", bytes, sizeof(bytes));
    set_plan(&p, t->path);
    p.file = tmpdir_at(t, "mine");
    assert_int_equal(wr_probe(&p, &r, NULL), 0);
    assert_int_equal(r.file_bytes, sizeof(bytes));
    assert_true(r.results[4].runs[0].v.bytes <= sizeof(bytes));
    wr_probe_report_done(&r);
    now = tmpdir_get(t, "mine", &len);
    assert_int_equal(len, sizeof(bytes));
    assert_memory_equal(now, bytes, len);
    free(now);
    assert_int_equal(tmpdir_count(t, ""), 1);
}

/* Reading an existing file needs no folder. */
static void test_only_reads(void **state)
{
    struct tmpdir *t = *state;
    static char bytes[MIB];
    struct wr_probe_report r;
    struct wr_probe_plan p;

    tmpdir_put(t, "mine", bytes, sizeof(bytes));
    set_plan(&p, t->path);
    p.file = tmpdir_at(t, "mine");
    p.tests = &tests[4];
    p.test_count = 1;
    p.file_bytes = UINT64_MAX / 4;
    assert_int_equal(wr_probe_space(&p), 0);
    assert_int_equal(wr_probe(&p, &r, NULL), 0);
    wr_probe_report_done(&r);
}

/* --- what goes wrong --- */

static void expect(struct wr_probe_plan *p, int code, const char *word)
{
    struct wr_probe_report r;
    weir_err err = {0};

    assert_int_equal(wr_probe(p, &r, &err), code);
    if (!strstr(err.msg, word))
        fail_msg("'%s' is not in '%s'", word, err.msg);
}

static void test_bad_plans(void **state)
{
    struct tmpdir *t = *state;
    struct wr_probe_test one = tests[6];
    struct wr_probe_plan p;

    tmpdir_put_text(t, "file", "x");
    set_plan(&p, tmpdir_at(t, "none"));
    expect(&p, WEIR_ENOENT, "none");
    p.url = tmpdir_at(t, "file");
    expect(&p, WEIR_EINVAL, "not a folder");
    p.url = t->path;
    p.file = t->path;
    expect(&p, WEIR_EINVAL, "not a file");
    set_plan(&p, t->path);
    p.file_bytes = UINT64_MAX / 4;
    expect(&p, WEIR_ENOSPC, "are needed");
    expect(&p, WEIR_ENOSPC, "are free");
    set_plan(&p, t->path);
    p.tests = &one;
    p.test_count = 1;
    one.block = 8 * MIB;
    expect(&p, WEIR_EINVAL, "too small");
    one.block = 4096;
    one.depth = 0;
    expect(&p, WEIR_EINVAL, "depth");
    one.depth = 1;
    one.workers = 0;
    expect(&p, WEIR_EINVAL, "workers");
    one.workers = 1;
    one.block = 0;
    p.mix.count = 0;
    expect(&p, WEIR_EINVAL, "mix");
    p.passes = 0;
    expect(&p, WEIR_EINVAL, "nothing");
    assert_int_equal(tmpdir_count(t, ""), 1);
}

static void test_read_only(void **state)
{
    struct tmpdir *t = *state;
    struct wr_probe_plan p;

    if (geteuid() == 0)
        skip(); /* root may write everywhere */
    assert_int_equal(chmod(t->path, 0500), 0);
    set_plan(&p, t->path);
    expect(&p, WEIR_EACCES, t->path);
    assert_int_equal(chmod(t->path, 0700), 0);
}

/* Each storage failure is told with the file's name, and nothing stays. */
static void test_faults(void **state)
{
    static const struct {
        const char *rule;
        int code;
        const char *word;
    } cases[] = {
        {"eio@~big", WEIR_EIO, "big"},
        {"eio@~s000", WEIR_EIO, "s000"},
        {"write-enospc@~write", WEIR_ENOSPC, "write"},
        {"write-enospc@~big", WEIR_ENOSPC, "big"},
        {"write-enospc@~s000", WEIR_ENOSPC, "s000"},
        {"write-enospc@~c000", WEIR_ENOSPC, "c000"},
        {"write-enospc@60+", WEIR_ENOSPC, ""},
        {"sync-eio@~write", WEIR_EIO, "write"},
        {"short=0@~big", WEIR_ECHANGED, "big"},
    };
    struct tmpdir *t = *state;
    struct wr_probe_plan p;
    char url[512];

    for (unsigned i = 0; i < WR_ARRAY_LEN(cases); i++) {
        snprintf(url, sizeof(url), "fault:%s:%s", cases[i].rule, t->path);
        set_plan(&p, url);
        expect(&p, cases[i].code, cases[i].word);
        assert_empty(t);
    }
}

/* --- stopping --- */

static atomic_uint polls, polls_until;

/* Threads that drop pages ask, too. */
static bool stop_later(void)
{
    return ++polls > polls_until;
}

/* Stopped at the first, second, ... time that it asks. */
static void test_stopped_anywhere(void **state)
{
    struct tmpdir *t = *state;
    struct wr_probe_report r;
    struct wr_probe_plan p;
    int code;

    for (polls_until = 0;; polls_until += 1 + polls_until / 3) {
        set_plan(&p, t->path);
        p.stopped = stop_later;
        polls = 0;
        code = wr_probe(&p, &r, NULL);
        assert_empty(t);
        if (code == 0)
            break;
        assert_int_equal(code, WEIR_ECANCELED);
    }
    assert_true(polls_until > 10);
    wr_probe_report_done(&r);
}

struct told {
    double last;
    unsigned calls;
    bool fell, lay_out, test;
};

static void note(void *arg, const char *what, double part)
{
    struct told *t = arg;

    t->fell |= part < t->last - 1e-9 || part < 0 || part > 1;
    t->last = part;
    t->calls++;
    t->lay_out |= !strcmp(what, "lay out");
    t->test |= strstr(what, "random read 4 KiB") != NULL;
}

static void test_progress(void **state)
{
    struct tmpdir *t = *state;
    struct told told = {0};
    struct wr_probe_report r;
    struct wr_probe_plan p;

    set_plan(&p, t->path);
    p.progress = note;
    p.progress_arg = &told;
    assert_int_equal(wr_probe(&p, &r, NULL), 0);
    assert_false(told.fell);
    assert_true(told.lay_out);
    assert_true(told.test);
    assert_true(told.calls >= p.test_count);
    wr_probe_report_done(&r);
}

/* --- what a killed probe left --- */

static void put_leftover(const struct tmpdir *t, const char *name)
{
    char path[64];

    tmpdir_mkdir(t, name);
    snprintf(path, sizeof(path), "%s/lock", name);
    tmpdir_put_text(t, path, "");
    snprintf(path, sizeof(path), "%s/big", name);
    tmpdir_put_text(t, path, "x");
    snprintf(path, sizeof(path), "%s/s000", name);
    tmpdir_mkdir(t, path);
    snprintf(path, sizeof(path), "%s/s000/017", name);
    tmpdir_put_text(t, path, "x");
}

static void test_leftovers(void **state)
{
    struct tmpdir *t = *state;
    struct wr_probe_report r;
    struct wr_probe_plan p;
    int lock;

    put_leftover(t, "weir-probe.dead01");
    put_leftover(t, "weir-probe.live01");
    lock = open(tmpdir_at(t, "weir-probe.live01/lock"), O_RDONLY | O_CLOEXEC);
    assert_true(lock >= 0);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    put_leftover(t, "weir-probe.mixed1");
    tmpdir_put_text(t, "weir-probe.mixed1/thesis.txt", "x");
    put_leftover(t, "weir-probe.toolong");
    put_leftover(t, "weir-probe.no-pro");
    tmpdir_mkdir(t, "weir-probe.nolock");
    tmpdir_put_text(t, "weir-probe.afile1", "x");
    tmpdir_mkdir(t, "weir-probe.apipe1");
    assert_int_equal(mkfifo(tmpdir_at(t, "weir-probe.apipe1/lock"), 0600), 0);

    set_plan(&p, t->path);
    p.tests = &tests[6];
    p.test_count = 1;
    assert_int_equal(wr_probe(&p, &r, NULL), 0);
    wr_probe_report_done(&r);
    assert_int_equal(tmpdir_count(t, "weir-probe.dead01"), -1);
    assert_int_equal(tmpdir_count(t, "weir-probe.live01"), 3);
    assert_int_equal(tmpdir_count(t, "weir-probe.mixed1"), 4);
    assert_int_equal(tmpdir_count(t, ""), 7);

    close(lock); /* as the kernel does it when the process dies */
    assert_int_equal(wr_probe(&p, &r, NULL), 0);
    wr_probe_report_done(&r);
    assert_int_equal(tmpdir_count(t, "weir-probe.live01"), -1);
}

/* Whether a probe has begun to lay out its files, after its lock. */
static bool has_big_file(const struct tmpdir *t)
{
    DIR *dir = opendir(t->path);
    struct dirent *d;
    char path[512];
    bool found = false;

    assert_non_null(dir);
    while ((d = readdir(dir))) {
        snprintf(path, sizeof(path), "%s/big", d->d_name);
        found |= d->d_name[0] == 'w' && access(tmpdir_at(t, path), F_OK) == 0;
    }
    closedir(dir);
    return found;
}

/* A real one: killed while it works. */
static void test_killed(void **state)
{
    struct tmpdir *t = *state;
    struct wr_probe_report r;
    struct wr_probe_plan p;
    pid_t child;
    int status;

    set_plan(&p, t->path);
    p.tests = &tests[6];
    p.test_count = 1;
    p.seconds = 60;
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        wr_probe(&p, &r, NULL);
        _exit(0);
    }
    while (!has_big_file(t))
        assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    p.seconds = 0.02;
    assert_int_equal(wr_probe(&p, &r, NULL), 0);
    wr_probe_report_done(&r);
    assert_empty(t);
}

/* A link in the folder goes; what it points to stays. */
static void test_leftover_links(void **state)
{
    struct tmpdir *t = *state;
    struct wr_probe_report r;
    struct wr_probe_plan p;
    char target[512];

    tmpdir_mkdir(t, "data");
    tmpdir_put_text(t, "data/001", "x");
    put_leftover(t, "weir-probe.dead01");
    snprintf(target, sizeof(target), "%s", tmpdir_at(t, "data"));
    assert_int_equal(symlink(target, tmpdir_at(t, "weir-probe.dead01/s001")),
                     0);
    assert_int_equal(symlink(target, tmpdir_at(t, "weir-probe.link01")), 0);
    set_plan(&p, t->path);
    p.tests = &tests[6];
    p.test_count = 1;
    assert_int_equal(wr_probe(&p, &r, NULL), 0);
    wr_probe_report_done(&r);
    assert_int_equal(tmpdir_count(t, "weir-probe.dead01"), -1);
    assert_int_equal(tmpdir_count(t, "data"), 1);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(test_all_tests, setup, teardown),
        cmocka_unit_test_setup_teardown(test_blocking, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tmpfs, setup, teardown),
        cmocka_unit_test_setup_teardown(test_resident, setup, teardown),
        cmocka_unit_test_setup_teardown(test_existing_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_only_reads, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_plans, setup, teardown),
        cmocka_unit_test_setup_teardown(test_read_only, setup, teardown),
        cmocka_unit_test_setup_teardown(test_faults, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stopped_anywhere, setup, teardown),
        cmocka_unit_test_setup_teardown(test_progress, setup, teardown),
        cmocka_unit_test_setup_teardown(test_leftovers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_killed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_leftover_links, setup, teardown),
    };

    return cmocka_run_group_tests(all, NULL, NULL);
}
