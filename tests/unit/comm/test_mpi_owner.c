/* test_mpi_owner.c - the thread that calls MPI, with an MPI that is none.
 * SPDX-License-Identifier: Apache-2.0
 *
 * There is one in a process: each case is a process. */
#include "comm/mpi_owner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/error.h"
#include "ranks.h"

#define LONG_MS 300000

/* What the other MPI was asked for; shared with the test. */
struct fake {
    atomic_int starts, shares, finishes;
    bool hang_start, hang_share, fail_share;
};

static struct fake *fake;

static int fake_start(struct wr_mpi_args *a, weir_err *err)
{
    fake->starts++;
    while (fake->hang_start)
        usleep(1000);
    a->rank = 3;
    a->world = 5;
    a->ours = true;
    a->state = fake;
    return 0;
}

/* Polls as the real one does, or hangs. */
static int fake_share(struct wr_mpi_args *a, weir_err *err)
{
    fake->shares++;
    if (a->state != fake)
        return wr_fail(err, WEIR_EINVAL, "no state");
    if (fake->fail_share)
        return wr_fail(err, WEIR_EIO, "it failed");
    while (fake->hang_share)
        usleep(1000);
    memset(a->buf, 'x', a->len);
    return 0;
}

static int fake_wait(struct wr_mpi_args *a, weir_err *err)
{
    while (!atomic_load(&a->cancel) && wr_clock_ns() < a->deadline_ns)
        usleep(1000);
    return wr_fail(err, WEIR_ETIMEDOUT, "gave up");
}

static int fake_read(struct wr_mpi_args *a, weir_err *err)
{
    a->harmless = true;
    return wr_fail(err, WEIR_ENOENT, "'%s': no such file", a->path);
}

static int fake_finish(struct wr_mpi_args *a, weir_err *err)
{
    fake->finishes++;
    return 0;
}

static const struct wr_mpi_module module = {.made = {WEIR_VERSION, 0},
                                            .name = "fake",
                                            .start = fake_start,
                                            .share = fake_share,
                                            .read = fake_read,
                                            .finish = fake_finish};
static const struct wr_mpi_module other = {.name = "other"};
static const struct wr_mpi_patience patient = {.timeout_ms = LONG_MS};

static int share(char *buf, size_t len, const struct wr_mpi_patience *p,
                 weir_err *err)
{
    struct wr_mpi_args args = {.buf = buf, .len = len};

    return wr_mpi_run(module.share, &args, p, err);
}

static void start(void)
{
    struct wr_mpi_args got;

    CHECK(wr_mpi_start(&module, LONG_MS, &got, NULL) == 0);
    CHECK(got.rank == 3 && got.world == 5);
}

/* One process; what it asked for is in `fake`. */
static void in_process(rank_fn fn, struct fake what)
{
    *fake = what;
    assert_int_equal(run_ranks(1, fn, NULL), 0);
}

/* --- it goes well --- */

static void *share_often(void *arg)
{
    char buf[8];

    for (int k = 0; k < 200; k++)
        CHECK(share(buf, 8, &patient, NULL) == 0);
    return NULL;
}

static void goes_well(uint32_t k, void *arg)
{
    struct wr_mpi_args args = {.path = "f"}, got;
    pthread_t threads[3];
    char buf[4] = "abc";
    weir_err err;

    start();
    start(); /* the same again */
    CHECK(share(buf, 2, &patient, NULL) == 0);
    CHECK(!strcmp(buf, "xxc"));
    CHECK(wr_mpi_start(&other, LONG_MS, &got, &err) == WEIR_EINVAL);
    CHECK_TEXT(err.msg, "uses fake already");
    /* a file that cannot be read does no harm */
    CHECK(wr_mpi_run(module.read, &args, &patient, &err) == 1);
    CHECK(err.code == WEIR_ENOENT);
    CHECK_TEXT(err.msg, "'f': no such file");
    for (int n = 0; n < 3; n++)
        CHECK(pthread_create(&threads[n], NULL, share_often, NULL) == 0);
    for (int n = 0; n < 3; n++)
        CHECK(pthread_join(threads[n], NULL) == 0);
}

static void well(void **state)
{
    (void)state;
    in_process(goes_well, (struct fake){0});
    assert_int_equal(fake->starts, 1);
    assert_int_equal(fake->shares, 601);
    assert_int_equal(fake->finishes, 1);
}

/* --- it does not --- */

static void fails(uint32_t k, void *arg)
{
    char buf[4];
    weir_err err;

    start();
    CHECK(share(buf, 4, &patient, &err) == WEIR_EIO);
    CHECK_TEXT(err.msg, "it failed");
    CHECK(share(buf, 4, &patient, &err) == WEIR_ESTATE);
    CHECK_TEXT(err.msg, "cannot be used again");
}

static int two_looks(void *arg, weir_err *err)
{
    int *left = arg;

    return --*left < 0 ? wr_fail(err, WEIR_EIO, "rank 7 is gone") : 0;
}

static void rank_dies(uint32_t k, void *arg)
{
    int left = 2;
    struct wr_mpi_patience p = {
        .timeout_ms = LONG_MS, .look = two_looks, .arg = &left};
    struct wr_mpi_args args = {0};
    weir_err err;

    start();
    CHECK(wr_mpi_run(fake_wait, &args, &p, &err) == WEIR_EIO);
    CHECK_TEXT(err.msg, "rank 7 is gone");
    CHECK(wr_mpi_run(fake_wait, &args, &p, &err) == WEIR_ESTATE);
}

/* The thread never comes back: the caller does. */
static void hangs(uint32_t k, void *arg)
{
    struct wr_mpi_patience p = {.timeout_ms = 100};
    static char buf[4];
    weir_err err;

    start();
    CHECK(share(buf, 4, &p, &err) == WEIR_ETIMEDOUT);
    CHECK_TEXT(err.msg, "did not come within 100 ms");
    CHECK(share(buf, 4, &p, &err) == WEIR_ESTATE);
}

static void hangs_at_start(uint32_t k, void *arg)
{
    struct wr_mpi_args got;
    weir_err err;

    CHECK(wr_mpi_start(&module, 100, &got, &err) == WEIR_ETIMEDOUT);
    CHECK(wr_mpi_start(&module, 100, &got, &err) == WEIR_ESTATE);
}

/* Neither a bad status nor a child of fork() finalizes. */
static void exits_badly(uint32_t k, void *arg)
{
    int status;

    if (fork() == 0) {
        start();
        if (fork() == 0)
            exit(0);
        wait(NULL);
        exit(5);
    }
    CHECK(wait(&status) > 0 && WEXITSTATUS(status) == 5);
}

static void badly(void **state)
{
    (void)state;
    in_process(fails, (struct fake){.fail_share = true});
    assert_int_equal(fake->finishes, 0);
    in_process(rank_dies, (struct fake){0});
    assert_int_equal(fake->finishes, 0);
    in_process(hangs, (struct fake){.hang_share = true});
    assert_int_equal(fake->finishes, 0);
    in_process(hangs_at_start, (struct fake){.hang_start = true});
    assert_int_equal(fake->finishes, 0);
    in_process(exits_badly, (struct fake){0});
    assert_int_equal(fake->starts, 1);
    assert_int_equal(fake->finishes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well),
        cmocka_unit_test(badly),
    };

    fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
