/* beside.c - a drain stands still while another one takes over beside a trainer.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ckpt-beside [CALL]
 *
 * A trainer saves and another process drains. That one is stopped before its first
 * system call, its second, and so on. Another one takes over the slow tier and
 * drains, the trainer goes back and saves a step anew that has left its fast tier.
 * Then the first drain continues: what it looked at before must not make it take
 * the new save away. The trainer's claim is the same all the time.
 *
 * `make test` takes some calls, others with each commit (part.h); `make check-full`
 * each EVERY-th one; with CALL it is that one. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "killstep.h"
#include "part.h"
#include "scratch.h"
#include "weir/ckpt_manage.h"

#define SKIP    77
#define EVERY   5
#define PARTS   20 /* of those */
#define LIMIT_S 30
#define FLOATS  40
#define NEW     777 /* what the new save of step 100 holds */

struct beside {
    char dir[100], fast[120], slow[120];
    uint64_t at;
    bool one;
    unsigned keep_fast;
    int trainer; /* a socket */
};

/* --- the trainer --- */

static void end_with(const char *what, const weir_err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->msg);
    _exit(1);
}

static void configure(const struct beside *b, enum weir_ckpt_role role,
                      weir_ckpt_config *cfg)
{
    weir_ckpt_defaults(cfg);
    cfg->fast = b->fast;
    cfg->slow = b->slow;
    cfg->role = role;
    cfg->drain = 0;
    cfg->threads = 1;
    cfg->keep_last = 0;
    cfg->max_behind = 0;
    cfg->keep_fast = b->keep_fast;
}

static weir_ckpt *open_store(const weir_ckpt_config *cfg)
{
    weir_ckpt *c = NULL;
    weir_err err;

    if (weir_ckpt_open(&c, cfg, &err) < 0)
        end_with("open", &err);
    return c;
}

static weir_tensor tensor_on(float *memory)
{
    return (weir_tensor){.name = "w",
                         .dtype = WEIR_F32,
                         .ndim = 1,
                         .shape = {FLOATS},
                         .data = memory};
}

static void save(weir_ckpt *c, uint64_t step, float value)
{
    float memory[FLOATS];
    weir_tensor t = tensor_on(memory);
    weir_ckpt_state state = {.step = step, .tensors = &t, .count = 1};
    weir_err err;

    for (size_t i = 0; i < FLOATS; i++)
        memory[i] = value;
    if (weir_ckpt_save(c, &state, WEIR_LEVEL_FAST, &err) < 0)
        end_with("save", &err);
}

/* The value of a step, as it is restored. */
static float restore(weir_ckpt *c, uint64_t step)
{
    float memory[FLOATS];
    weir_tensor t = tensor_on(memory);
    weir_err err;

    if (weir_ckpt_restore(c, step, &t, 1, NULL, &err) != 1)
        end_with("restore", &err);
    return memory[0];
}

enum part { FIRST, MORE, BACK, AGAIN, END };

static int train(const struct beside *b, int orders)
{
    weir_ckpt_config cfg;
    weir_ckpt *c;
    char part = END;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGALRM, SIG_IGN);
    configure(b, WEIR_CKPT_SAVE, &cfg);
    c = open_store(&cfg);
    while (read(orders, &part, 1) == 1 && part != END) {
        switch ((enum part)part) {
        case FIRST:
            save(c, 50, 50);
            save(c, 100, 100);
            break;
        case MORE:
            save(c, 101, 101);
            break;
        case BACK:
            restore(c, 50);
            save(c, 60, 60);
            break;
        default:
            save(c, 100, NEW);
        }
        if (write(orders, &part, 1) != 1)
            return 1;
    }
    weir_ckpt_close(&c, NULL);
    return 0;
}

static bool order(const struct beside *b, enum part part)
{
    char c = (char)part;

    return write(b->trainer, &c, 1) == 1 &&
           (part == END || TEMP_FAILURE_RETRY(read(b->trainer, &c, 1)) == 1);
}

/* --- the others --- */

static int drain(const struct beside *b, bool stops)
{
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;
    int r;

    configure(b, WEIR_CKPT_DRAIN, &cfg);
    cfg.take_over = !stops;
    c = open_store(&cfg);
    if (stops && !killstep_go())
        abort();
    r = weir_ckpt_drain(c, &err);
    if (r < 0 && !stops)
        end_with("drain", &err);
    weir_ckpt_close(&c, NULL);
    return 0;
}

static int drain_stopped(void *arg)
{
    return drain(arg, /* stops= */ true);
}

static int drain_all(const struct beside *b)
{
    return drain(b, /* stops= */ false);
}

static int check(const struct beside *b)
{
    weir_ckpt_config cfg;
    weir_ckpt *c;
    float value;

    configure(b, WEIR_CKPT_READ, &cfg);
    c = open_store(&cfg);
    value = restore(c, WEIR_LATEST);
    if (value != NEW)
        printf("call %" PRIu64 ": the newest step holds %g, not %d\n", b->at,
               (double)value, NEW);
    fflush(stdout);
    weir_ckpt_close(&c, NULL);
    return value != NEW;
}

/* In a process of its own. */
static bool do_apart(const struct beside *b, int (*work)(const struct beside *))
{
    pid_t pid = fork();
    int status = 1;

    if (pid == 0) {
        signal(SIGALRM, SIG_IGN);
        _exit(work(b));
    }
    return pid > 0 && TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) == pid &&
           status == 0;
}

/* --- a round --- */

static bool drain_keeping(struct beside *b, unsigned keep_fast)
{
    b->keep_fast = keep_fast;
    return do_apart(b, drain_all);
}

/* 1: it was stopped, and all is well; 0: there is no such call. */
static int go_around(struct beside *b)
{
    struct killstep k;
    enum killstep_end end;
    int r = -1;

    if (!order(b, FIRST) || !drain_keeping(b, 3) || !order(b, MORE))
        return -1;
    b->keep_fast = 0;
    end = killstep_stop(&k, drain_stopped, b, b->at, LIMIT_S);
    if (end != KILLSTEP_STOPPED)
        return end == KILLSTEP_ENDED ? 0 : end == KILLSTEP_CANNOT ? -SKIP : -1;
    if (drain_keeping(b, 0) && order(b, BACK) && drain_keeping(b, 0) &&
        order(b, AGAIN) && do_apart(b, check)) {
        end = killstep_resume(&k, 0, LIMIT_S);
        r = end == KILLSTEP_ENDED && do_apart(b, check) ? 1 : -1;
    }
    killstep_end(&k);
    return r;
}

static int play_round(struct beside *b)
{
    int ends[2], r;
    pid_t pid;

    scratch_remove(b->dir);
    if (mkdir(b->dir, 0777) || mkdir(b->fast, 0777) || mkdir(b->slow, 0777) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        _exit(train(b, ends[1]));
    }
    close(ends[1]);
    b->trainer = ends[0];
    r = pid > 0 ? go_around(b) : -1;
    (void)order(b, END);
    close(ends[0]);
    if (pid > 0)
        (void)TEMP_FAILURE_RETRY(waitpid(pid, NULL, 0));
    return r;
}

static void tick(int sig)
{
    (void)sig;
}

static int play_all(void *arg)
{
    struct sigaction act = {.sa_handler = tick};
    struct itimerval second = {{1, 0}, {1, 0}};
    unsigned wrong = 0, rounds = 0;
    struct beside *b = arg;
    int r = 1;

    sigaction(SIGALRM, &act, NULL); /* for killstep */
    setitimer(ITIMER_REAL, &second, NULL);
    if (!b->one)
        b->at = 1 + EVERY * part_index(PARTS);
    while (r != 0 && r != -SKIP && wrong < 3) {
        r = play_round(b);
        if (r == -1)
            printf("again: ckpt-beside %" PRIu64 "\n", b->at);
        wrong += r == -1;
        rounds += r != 0;
        if (b->one)
            break;
        b->at += EVERY * part_count(PARTS);
    }
    printf("stopped %u times, %u wrong\n", rounds, wrong);
    return r == -SKIP ? SKIP : wrong > 0 || rounds == 0;
}

int main(int argc, char **argv)
{
    char dir[80];
    struct beside b = {.one = argc > 1};
    int code;

    if (!scratch_make(dir, sizeof(dir), "weir-beside", /* memory= */ true))
        return 1;
    snprintf(b.dir, sizeof(b.dir), "%s/round", dir);
    snprintf(b.fast, sizeof(b.fast), "%s/fast", b.dir);
    snprintf(b.slow, sizeof(b.slow), "%s/slow", b.dir);
    b.at = b.one ? strtoull(argv[1], NULL, 10) : 0;
    code = scratch_guard(play_all, &b);
    scratch_remove(dir);
    return code < 0 ? 1 : code;
}
