/* barrier.c - what the end of a step costs with several ranks.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: bench-barrier ROUNDS [RANKS URL]
 *
 * The ranks are those of the launcher; with RANKS and URL they are started here.
 * Prints two medians of five repetitions in microseconds: of barriers one after
 * the other, and from the arrival of the last rank to the departure of the
 * slowest, after steps of 0.4 ms. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "comm/barrier.h"
#include "comm/comm.h"
#include "comm/launch.h"

#define REPEATS    5
#define STEP_NS    UINT64_C(400000)
#define TIMEOUT_MS 60000

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Total nanoseconds of the slowest rank. */
static int repeat(struct wr_comm *c, struct wr_barrier *b, int rounds,
                  uint64_t step_ns, uint64_t *ret_ns, weir_err *err)
{
    uint64_t lost = 0, last = 0, begin;
    int r = wr_barrier_max(b, 0, &last, err);

    begin = wr_clock_ns();
    for (int k = 0; k < rounds && r == 0; k++) {
        if (step_ns)
            wr_clock_sleep_until(wr_clock_ns() + step_ns);
        r = wr_barrier_max(b, wr_clock_ns(), &last, err);
        lost += wr_clock_ns() - last;
    }
    if (r == 0)
        r = wr_comm_max(c, NULL, step_ns ? lost : wr_clock_ns() - begin, ret_ns,
                        err);
    return r;
}

static int measure(struct wr_comm *c, struct wr_barrier *b, int rounds,
                   weir_err *err)
{
    double us[2][REPEATS];

    for (int k = 0; k < 2 * REPEATS; k++) {
        uint64_t ns;
        int r = repeat(c, b, rounds, k < REPEATS ? 0 : STEP_NS, &ns, err);

        if (r < 0)
            return r;
        us[k / REPEATS][k % REPEATS] = (double)ns / 1000 / rounds;
    }
    qsort(us[0], REPEATS, sizeof(us[0][0]), by_value);
    qsort(us[1], REPEATS, sizeof(us[1][0]), by_value);
    if (c->rank == 0)
        printf("%.2f %.2f\n", us[0][REPEATS / 2], us[1][REPEATS / 2]);
    return 0;
}

static int be_rank(const struct wr_launch *l, int rounds)
{
    struct wr_comm_config cfg = {.url = l->url,
                                 .rank = l->rank,
                                 .world = l->world,
                                 .timeout_ms = TIMEOUT_MS};
    struct wr_barrier *b = NULL;
    struct wr_comm *c = NULL;
    weir_err err;
    int r = wr_comm_open(&cfg, &c, &err);

    if (r == 0)
        r = wr_barrier_open(c, &b, &err);
    if (r == 0)
        r = measure(c, b, rounds, &err);
    if (r < 0)
        fprintf(stderr, "bench-barrier: rank %u: %s\n", l->rank, err.msg);
    wr_barrier_close(b);
    wr_comm_close(c);
    return r < 0 ? 1 : 0;
}

static int start_own(int count, const char *url, int rounds)
{
    int failed = 0, status;

    for (int k = 0; k < count; k++) {
        struct wr_launch l = {.rank = (uint32_t)k, .world = (uint32_t)count};
        pid_t pid = fork();

        if (pid < 0)
            return 1;
        snprintf(l.url, sizeof(l.url), "%s", url);
        if (pid == 0)
            exit(be_rank(&l, rounds));
    }
    while (wait(&status) > 0)
        failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return failed;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 0;
    struct wr_launch l;
    weir_err err;

    if (rounds < 1 || (argc != 2 && argc != 4))
        return 2;
    if (argc == 4)
        return start_own(atoi(argv[2]), argv[3], rounds);
    if (wr_launch_find(&l, &err) < 0) {
        fprintf(stderr, "bench-barrier: %s\n", err.msg);
        return 1;
    }
    return be_rank(&l, rounds);
}
