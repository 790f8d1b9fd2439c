/* test_session.c - unit tests of session.c, with jobs that only say what is done.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/session.h"

struct toy_args {
    int prepared, opened, begun, worked, finished; /* what each hook returns */
    const char *record;
    bool json;
    struct wr_open_args open;
};

struct toy_call {
    struct wr_session s;
    char dirt[64]; /* must be zeros */
};

/* What was called, one letter each. */
static char calls[32];

static void add_call(char letter)
{
    size_t n = strlen(calls);

    assert_true(n + 1 < sizeof(calls));
    calls[n] = letter;
    calls[n + 1] = '\0';
}

static const struct toy_args *args_of(void *call)
{
    return ((struct wr_session *)call)->args;
}

static int toy_prepare(void *call)
{
    static const char zeros[64];
    struct toy_call *c = call;

    add_call('p');
    assert_memory_equal(c->dirt, zeros, sizeof(c->dirt));
    memset(c->dirt, 1, sizeof(c->dirt));
    return args_of(call)->prepared;
}

static int toy_open(void *call, weir_err *err)
{
    int r = args_of(call)->opened;

    add_call('o');
    return r < 0 ? wr_fail(err, r, "cannot be opened") : 0;
}

static int toy_begin(void *call)
{
    add_call('b');
    return args_of(call)->begun;
}

static int toy_work(void *call, weir_err *err)
{
    int r = args_of(call)->worked;

    add_call('w');
    assert_string_equal(((struct wr_session *)call)->label, "toying");
    wr_session_note(call, "a note");
    return r < 0 ? wr_fail(err, r, "did not work") : 0;
}

static int toy_fail(void *call, int code, const weir_err *err)
{
    add_call('f');
    assert_int_equal(code, err->code);
    return wr_cli_fail(((struct wr_session *)call)->cli, "own: %s", err->msg);
}

static json_t *toy_record(void *call)
{
    (void)call;
    add_call('r');
    return json_pack("{s:s}", "command", "toy");
}

static int toy_finish(void *call)
{
    add_call('g');
    return args_of(call)->finished;
}

static void toy_done(void *call)
{
    add_call('d');
    assert_non_null(((struct wr_session *)call)->cli);
}

static const struct wr_session_job toy = {.call_bytes = sizeof(struct toy_call),
                                          .label = "toying",
                                          WR_JOB_RECORD(struct toy_args),
                                          .prepare = toy_prepare,
                                          .open = toy_open,
                                          .begin = toy_begin,
                                          .work = toy_work,
                                          .record = toy_record,
                                          .finish = toy_finish,
                                          .done = toy_done};

/* All goes well, unless a test says otherwise. */
static struct toy_args good(void)
{
    return (struct toy_args){
        .prepared = WR_GO_ON, .begun = WR_GO_ON, .json = true};
}

static char *out, *said; /* of the last run; freed by the next one */

static int run_as(const struct wr_session_job *job, const struct toy_args *a)
{
    static const struct wr_command cmd = {.name = "toy"};
    static char path[] = "/nowhere/at/all";
    static char *nothing[] = {path, NULL};
    size_t out_len, said_len;
    FILE *to, *errors;
    struct wr_cli cli = {.cmd = &cmd,
                         .args = a,
                         .operands = nothing,
                         .operand_count = 1,
                         .width = 80};
    int code;

    free(out);
    free(said);
    cli.out = to = open_memstream(&out, &out_len);
    cli.err = errors = open_memstream(&said, &said_len);
    calls[0] = '\0';
    code = wr_session(&cli, job);
    fclose(to);
    fclose(errors);
    return code;
}

static void expect(const struct toy_args *a, int code, const char *want)
{
    assert_int_equal(run_as(&toy, a), code);
    assert_string_equal(calls, want);
}

static void test_order(void **state)
{
    struct toy_args a = good();

    (void)state;
    expect(&a, WR_EXIT_DONE, "pobwrgd");
    assert_non_null(strstr(out, "\"command\": \"toy\""));
    assert_string_equal(said, "weir toy: a note\n");
    a.finished = WR_EXIT_MISSED;
    expect(&a, WR_EXIT_MISSED, "pobwrgd");
}

/* What ends early calls nothing more, but what it made is freed. */
static void test_early(void **state)
{
    struct toy_args a = good();

    (void)state;
    a.prepared = WR_EXIT_USAGE;
    expect(&a, WR_EXIT_USAGE, "pd");
    a.prepared = WR_EXIT_DONE; /* --list, say */
    expect(&a, WR_EXIT_DONE, "pd");
    a = good();
    a.opened = WEIR_ENOENT;
    expect(&a, WR_EXIT_FAILED, "pod");
    assert_string_equal(said, "weir toy: cannot be opened\n");
    a = good();
    a.begun = WR_EXIT_USAGE;
    expect(&a, WR_EXIT_USAGE, "pobd");
    assert_string_equal(out, "");
}

static void test_not_there(void **state)
{
    struct wr_session_job job = toy;
    struct toy_args a = good();

    (void)state;
    job.not_there_is_usage = true;
    a.opened = WEIR_ENOENT;
    assert_int_equal(run_as(&job, &a), WR_EXIT_USAGE);
    a.opened = WEIR_EACCES; /* it is there */
    assert_int_equal(run_as(&job, &a), WR_EXIT_FAILED);
}

static void test_failure(void **state)
{
    struct wr_session_job job = toy;
    struct toy_args a = good();

    (void)state;
    a.worked = WEIR_EIO;
    expect(&a, WR_EXIT_FAILED, "pobwd");
    assert_string_equal(said, "weir toy: a note\nweir toy: did not work\n");
    a.worked = WEIR_ECANCELED;
    expect(&a, WR_EXIT_FAILED, "pobwd");
    assert_non_null(strstr(said, "weir toy: interrupted: no result\n"));
    job.interrupted = "half of it is there";
    assert_int_equal(run_as(&job, &a), WR_EXIT_FAILED);
    assert_non_null(strstr(said, "interrupted: half of it is there\n"));
    job.fail = toy_fail;
    assert_int_equal(run_as(&job, &a), WR_EXIT_FAILED);
    assert_string_equal(calls, "pobwfd");
    assert_non_null(strstr(said, "weir toy: own: did not work\n"));
}

/* A record that cannot be written costs no other result, but is a failure. */
static void test_record(void **state)
{
    char folder[] = "/tmp/weir-session-XXXXXX", path[64];
    struct toy_args a = good();
    struct stat st;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/record.json", folder);
    a.record = path;
    expect(&a, WR_EXIT_DONE, "pobwrgd");
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > 10);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    expect(&a, WR_EXIT_FAILED, "pobwrgd"); /* the folder is gone */
    assert_non_null(strstr(said, "record.json"));
    assert_non_null(strstr(out, "\"command\": \"toy\""));
    a.finished = WR_EXIT_MISSED; /* less than a failure */
    expect(&a, WR_EXIT_FAILED, "pobwrgd");
}

/* The session opens the first operand itself, before the hook. */
static void test_dataset(void **state)
{
    struct wr_session_job job = toy;
    struct toy_args a = good();

    (void)state;
    job.open_args = offsetof(struct toy_args, open);
    assert_int_equal(run_as(&job, &a), WR_EXIT_FAILED);
    assert_string_equal(calls, "pd");
    assert_non_null(strstr(said, "/nowhere/at/all"));
}

static void as_rank(const char *rank, const char *world)
{
    if (!rank) {
        unsetenv("RANK");
        unsetenv("WORLD_SIZE");
        unsetenv("LOCAL_RANK");
        unsetenv("LOCAL_WORLD_SIZE");
        unsetenv("MASTER_ADDR");
        unsetenv("MASTER_PORT");
        return;
    }
    setenv("RANK", rank, 1);
    setenv("LOCAL_RANK", rank, 1);
    setenv("WORLD_SIZE", world, 1);
    setenv("LOCAL_WORLD_SIZE", world, 1);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", "1", 1);
}

static int prepare_rank_1(void *call)
{
    const struct wr_session *s = call;

    add_call('p');
    assert_int_equal(s->ranks.launch.rank, 1);
    wr_cli_note(s->cli, "nobody hears this");
    wr_cli_put(s->cli, "nor this");
    return WR_EXIT_DONE;
}

/* A job that runs alone does not ask who started it; one that has ranks does, and
 * the others than the first are silent. */
static void test_ranks(void **state)
{
    struct wr_session_job job = toy;
    struct toy_args a = good();

    (void)state;
    as_rank("1", "2");
    expect(&a, WR_EXIT_DONE, "pobwrgd");
    assert_non_null(strstr(said, "a note"));
    job.ranks = WR_JOB_LATER;
    job.prepare = prepare_rank_1;
    assert_int_equal(run_as(&job, &a), WR_EXIT_DONE);
    assert_string_equal(calls, "pd");
    assert_string_equal(said, "");
    assert_string_equal(out, "");
    as_rank(NULL, NULL);
}

static void test_watched(void **state)
{
    struct wr_session s = {0};
    char names[WR_SAMPLER_DISKS + 2][8];

    (void)state;
    wr_session_watch(&s, NULL);
    assert_int_equal(s.watched.path_count, 0);
    for (size_t k = 0; k < WR_SAMPLER_DISKS + 2; k++) {
        snprintf(names[k], sizeof(names[k]), "/d%zu", k);
        wr_session_watch(&s, names[k]);
    }
    assert_int_equal(s.watched.path_count, WR_SAMPLER_DISKS);
    assert_ptr_equal(s.watched.paths[0], names[0]);
    assert_ptr_equal(s.watched.paths[WR_SAMPLER_DISKS - 1],
                     names[WR_SAMPLER_DISKS - 1]);
}

#ifndef __SANITIZE_ADDRESS__
/* Says so, and ends the process with 1. */
static void test_no_memory(void **state)
{
    static const struct wr_command cmd = {.name = "toy"};
    int pipes[2], status;
    char text[64] = "";
    pid_t child;

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct wr_cli cli = {.cmd = &cmd, .err = fdopen(pipes[1], "w")};
        volatile size_t huge = SIZE_MAX / 4;

        (void)wr_new(&cli, 2, huge);
        _exit(7);
    }
    close(pipes[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), WR_EXIT_FAILED);
    assert_true(read(pipes[0], text, sizeof(text) - 1) > 0);
    assert_string_equal(text, "weir toy: out of memory\n");
    close(pipes[0]);
}
#endif

static void test_new(void **state)
{
    struct wr_cli cli = {0};
    char *memory = wr_new(&cli, 0, 16), *text;

    (void)state;
    for (size_t k = 0; k < 16; k++)
        assert_int_equal(memory[k], 0);
    free(memory);
    text = wr_new_text(&cli, "%s-%d", "a", 7);
    assert_string_equal(text, "a-7");
    free(text);
}

/* The last one: from then on the process is told to stop. */
static void test_count(void **state)
{
    struct wr_session s = {0};

    (void)state;
    assert_int_equal(wr_session_count(&s, 3, 10), 0);
    assert_int_equal(s.line.done, 3);
    assert_int_equal(s.line.total, 10);
    wr_interrupt_stop();
    assert_int_not_equal(wr_session_count(&s, 4, 10), 0);
    free(out);
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_early),
        cmocka_unit_test(test_not_there),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_dataset),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_watched),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(test_no_memory),
#endif
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_count), /* the last */
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
