/* ranks.c - a rank for tests and measurements: whoever started it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: comm-ranks MODE [ARGUMENT]
 *
 *     calls          what every backend does, on two channels, and the barrier
 *     die RANK       that rank is killed in the middle of barriers
 *     die-sharing RANK  ... in the middle of wr_comm_share
 *     exit RANK      that rank leaves with status 0 and says nothing
 *     silent SECONDS the second half of the ranks sleeps, the others wait
 *     read FILE      by MPI-IO
 *     ckpt FOLDER    saves and restores a checkpoint
 *     share N        milliseconds to give N MiB to all
 *     open           meets the others and leaves
 *     time N         microseconds of a barrier
 *
 * With OUT=FILE each rank prints to FILE.RANK.
 * With RANKS=N and URL=... in the environment it starts N processes itself. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/comm/calls.h"
#include "base/clock.h"
#include "comm/barrier.h"
#include "comm/comm.h"
#include "comm/launch.h"
#include "weir/checkpoint.h"

#define TIMEOUT_MS 60000

static struct wr_comm *open_comm(const struct wr_launch *l, const char *channel)
{
    struct wr_comm_config cfg = {.url = l->url,
                                 .channel = channel,
                                 .rank = l->rank,
                                 .world = l->world,
                                 .timeout_ms = TIMEOUT_MS};
    struct wr_comm *c;
    weir_err err;

    if (wr_comm_open(&cfg, &c, &err) == 0)
        return c;
    printf("rank %u: cannot open: %s\n", l->rank, err.msg);
    exit(3);
}

static struct wr_barrier *open_barrier(struct wr_comm *c)
{
    struct wr_barrier *b;
    weir_err err;

    if (wr_barrier_open(c, &b, &err) == 0)
        return b;
    printf("rank %u: no barrier: %s\n", c->rank, err.msg);
    exit(3);
}

static void run_calls(const struct wr_launch *l)
{
    struct wr_comm *a = open_comm(l, "a"), *b = open_comm(l, "b");
    struct wr_barrier *bar = open_barrier(a);
    uint64_t most;

    all_together(a);
    all_together(b);
    for (uint64_t k = 0; k < 500; k++) {
        CHECK(wr_barrier_max(bar, k * 10 + (l->rank + k) % l->world, &most,
                             NULL) == 0);
        CHECK(most == k * 10 + l->world - 1);
    }
    if (l->rank == 0)
        printf("ok: %u ranks by %s, %s%s\n", l->world, l->by ? l->by : "fork",
               wr_barrier_one_host(bar) ? "one host" : "several hosts",
               wr_barrier_is_shared(bar) ? ", shared memory" : "");
    wr_barrier_close(bar);
    wr_comm_close(a);
    agree_some(b);
    wr_comm_close(b);
}

/* How long it took to learn of the death is measured from it. */
static void run_die(const struct wr_launch *l, uint32_t victim, bool sharing)
{
    struct wr_comm *c = open_comm(l, NULL);
    struct wr_barrier *bar = open_barrier(c);
    size_t len = (size_t)1 << 20;
    char *buf = calloc(1, len);
    uint64_t most, last = wr_clock_ns();
    weir_err err;
    int r = 0;

    for (int k = 0; r == 0; k++) {
        last = wr_clock_ns();
        if (k == 50 && l->rank == victim)
            die_now();
        r = sharing ? wr_comm_share(c, buf, len, (uint32_t)k % l->world, &err)
                    : wr_barrier_max(bar, 1, &most, &err);
    }
    printf("rank %u: %s, after %s\n", l->rank, err.msg,
           wr_clock_ns() - last < 10 * WR_NS_PER_SEC ? "less than 10 s"
                                                     : "too long");
    fflush(stdout);
    wr_barrier_close(bar);
    wr_comm_close(c);
    /* The buffer is MPI's until the process ends. */
    _exit(4);
}

static void run_exit(const struct wr_launch *l, uint32_t leaver)
{
    struct wr_comm *c = open_comm(l, NULL);
    struct wr_barrier *bar = open_barrier(c);
    uint64_t most;
    weir_err err;

    CHECK(wr_barrier_max(bar, 1, &most, NULL) == 0);
    if (l->rank == leaver) {
        wr_comm_close(c);
        exit(5);
    }
    CHECK(wr_barrier_max(bar, 1, &most, &err) < 0);
    printf("rank %u: %s\n", l->rank, err.msg);
    wr_barrier_close(bar);
    wr_comm_close(c);
    exit(5);
}

/* The second half of the ranks stays away. */
static void run_silent(const struct wr_launch *l, unsigned seconds)
{
    struct wr_comm *c = open_comm(l, NULL);
    struct wr_barrier *bar = open_barrier(c);
    uint64_t most;
    weir_err err;

    CHECK(wr_barrier_max(bar, 1, &most, NULL) == 0);
    if (l->rank >= l->world / 2) {
        while (seconds-- > 0 && wr_comm_alive(c, NULL) == 0)
            sleep(1);
        _exit(0);
    }
    printf("rank %u: waits\n", l->rank);
    fflush(stdout);
    CHECK(wr_barrier_max(bar, 1, &most, &err) < 0);
    printf("rank %u: %s\n", l->rank, err.msg);
    wr_barrier_close(bar);
    wr_comm_close(c);
}

/* The file is made of bytes (offset * 31) % 251; so is what is read. */
static void run_read(const struct wr_launch *l, const char *path)
{
    struct wr_comm *c = open_comm(l, NULL);
    size_t len = 5000001;
    unsigned char *buf = malloc(len);
    struct wr_comm_read what = {.path = path, .offset = 1234, .len = len};
    weir_err err;

    for (what.readers = 0; what.readers < 3; what.readers++) {
        memset(buf, 0, len);
        if (wr_comm_read_all(c, &what, buf, &err) < 0) {
            printf("rank %u: %s\n", l->rank, err.msg);
            exit(3);
        }
        for (size_t k = 0; k < len; k++)
            CHECK(buf[k] == (k + 1234) * 31 % 251);
    }
    what.offset = UINT64_C(1) << 40;
    CHECK(wr_comm_read_all(c, &what, buf, &err) == WEIR_EFORMAT && !c->failed);
    CHECK_TEXT(err.msg, "has 5002000 bytes");
    what.path = "no/such/file";
    CHECK(wr_comm_read_all(c, &what, buf, &err) < 0 && !c->failed);
    CHECK_TEXT(err.msg, "no/such/file");
    share_some(c, 1000);
    if (l->rank == 0)
        printf("ok: read by %u ranks\n", l->world);
    free(buf);
    wr_comm_close(c);
}

/* A store of all ranks: each saves and gets back its own. */
static void run_ckpt(const struct wr_launch *l, const char *folder)
{
    uint64_t model[2] = {l->rank, 77};
    weir_tensor t = {"model", WEIR_U64, 1, {2}, model};
    weir_ckpt_state st = {.step = 5, .tensors = &t, .count = 1};
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err;

    weir_ckpt_defaults(&cfg);
    cfg.fast = folder;
    cfg.rank = l->rank;
    cfg.world = l->world;
    cfg.comm = l->url;
    if (weir_ckpt_open(&c, &cfg, &err) < 0 ||
        weir_ckpt_save(c, &st, WEIR_LEVEL_FAST, &err) < 0) {
        printf("rank %u: %s\n", l->rank, err.msg);
        exit(3);
    }
    model[0] = model[1] = 0;
    CHECK(weir_ckpt_restore(c, WEIR_LATEST, &t, 1, NULL, &err) > 0);
    CHECK(model[0] == l->rank && model[1] == 77);
    CHECK(weir_ckpt_close(&c, &err) == 0);
    if (l->rank == 0)
        printf("ok: saved by %u ranks\n", l->world);
}

static void run_share(const struct wr_launch *l, size_t megabytes)
{
    struct wr_comm *c = open_comm(l, NULL);
    size_t len = megabytes << 20;
    char *buf = malloc(len);
    struct wr_barrier *bar = open_barrier(c);
    uint64_t begin, ns[2];

    memset(buf, (int)l->rank, len);
    for (int way = 0; way < 2; way++) {
        begin = wr_clock_ns();
        for (int k = 0; k < 5; k++)
            CHECK((way ? wr_barrier_share(bar, buf, len, 0, NULL)
                       : wr_comm_share(c, buf, len, 0, NULL)) == 0);
        CHECK(wr_comm_max(c, NULL, wr_clock_ns() - begin, &ns[way], NULL) == 0);
    }
    if (l->rank == 0)
        printf("share: %.1f ms by the comm, %.1f ms by the barrier (%u ranks, "
               "%zu MiB)\n",
               (double)ns[0] / 5e6, (double)ns[1] / 5e6, l->world, megabytes);
    free(buf);
    wr_barrier_close(bar);
    wr_comm_close(c);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void run_time(const struct wr_launch *l, int rounds)
{
    struct wr_comm *c = open_comm(l, NULL);
    struct wr_barrier *bar = open_barrier(c);
    double us[5];
    uint64_t most;

    for (int rep = 0; rep < 5; rep++) {
        uint64_t begin = wr_clock_ns();

        for (int k = 0; k < rounds; k++)
            CHECK(wr_barrier_max(bar, begin, &most, NULL) == 0);
        us[rep] = (double)(wr_clock_ns() - begin) / 1000 / rounds;
    }
    qsort(us, 5, sizeof(us[0]), by_value);
    if (l->rank == 0)
        printf("barrier: %.2f us (%u ranks, %s)\n", us[2], l->world, l->url);
    wr_barrier_close(bar);
    wr_comm_close(c);
}

/* Launchers lose what ranks print when one of them has died. */
static void print_to_file(uint32_t rank)
{
    const char *name = getenv("OUT");
    char path[512];

    if (!name)
        return;
    snprintf(path, sizeof(path), "%s.%u", name, rank);
    CHECK(freopen(path, "w", stdout));
}

static void be_rank(const struct wr_launch *l, int argc, char **argv)
{
    const char *mode = argv[1], *arg = argc > 2 ? argv[2] : "0";

    print_to_file(l->rank);
    if (!strcmp(mode, "calls"))
        run_calls(l);
    else if (!strcmp(mode, "die"))
        run_die(l, (uint32_t)atoi(arg), /* sharing= */ false);
    else if (!strcmp(mode, "die-sharing"))
        run_die(l, (uint32_t)atoi(arg), /* sharing= */ true);
    else if (!strcmp(mode, "exit"))
        run_exit(l, (uint32_t)atoi(arg));
    else if (!strcmp(mode, "silent"))
        run_silent(l, (unsigned)atoi(arg));
    else if (!strcmp(mode, "read"))
        run_read(l, arg);
    else if (!strcmp(mode, "ckpt"))
        run_ckpt(l, arg);
    else if (!strcmp(mode, "share"))
        run_share(l, (size_t)atoi(arg));
    else if (!strcmp(mode, "open"))
        wr_comm_close(open_comm(l, NULL));
    else if (!strcmp(mode, "time"))
        run_time(l, atoi(arg));
    else
        exit(2);
}

/* Processes that are started here. */
static int start_own(uint32_t count, int argc, char **argv)
{
    int failed = 0, status;

    fflush(NULL);
    for (uint32_t k = 0; k < count; k++) {
        pid_t pid = fork();

        if (pid == 0) {
            struct wr_launch l = {.rank = k, .world = count};

            snprintf(l.url, sizeof(l.url), "%s", getenv("URL"));
            be_rank(&l, argc, argv);
            exit(0);
        }
    }
    while (wait(&status) > 0 || errno == EINTR)
        failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct wr_launch l;
    weir_err err;

    if (argc < 2)
        return 2;
    if (getenv("RANKS") && getenv("URL"))
        return start_own((uint32_t)atoi(getenv("RANKS")), argc, argv);
    if (wr_launch_find(&l, &err) < 0) {
        printf("launch: %s\n", err.msg);
        return 3;
    }
    be_rank(&l, argc, argv);
    return 0;
}
