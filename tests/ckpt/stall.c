/* stall.c - a process stops at any system call while another takes over.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ckpt-stall [SCENARIO [CALL [MORE]]]
 *
 * A process that opens, saves, drains, prunes or adopts is stopped, with all of
 * its threads, before its first system call, its second, and so on. Another one
 * takes over the store, restores, saves. Then the first one continues as if
 * nothing had been: to its end, or until it is killed MORE calls later. Nothing
 * that the new writer was promised may be lost, outranked, replaced or
 * forgotten by that, and it may not be fenced off.
 *
 * `make test` takes a few calls of each scenario, evenly, others with each commit
 * (part.h); `make check-full` each tenth one; WEIR_STALL_EVERY=N each N-th one, 1
 * all of them, which takes an hour of CPU time. WEIR_STALL_OFFSET=N begins N calls
 * later. */
#include "stall.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "killstep.h"
#include "part.h"
#include "said.h"
#include "scratch.h"

#define SKIP      77
#define ROUNDS    2  /* of a scenario, in a part */
#define EVERY     10 /* so many calls one, else */
#define PARTS     1000
#define LIMIT_S   30 /* of a process: it hangs */
#define WRONG_MAX 20 /* of one scenario: then it ends */
#define SHOWN     3

static const struct stall_scenario scenarios[] = {
    /* one tier */
    {"open-one", STALL_OPEN, STALL_ONE, STALL_NEXT, 0},
    {"open-one-closed", STALL_OPEN, STALL_ONE, STALL_APART, STALL_CLOSES},
    {"force-one", STALL_OPEN_FORCE, STALL_ONE, STALL_APART, 0},
    {"save-one-next", STALL_SAVE, STALL_ONE, STALL_NEXT, 0},
    {"save-one-again", STALL_SAVE, STALL_ONE, STALL_AGAIN, 0},
    {"save-one-back", STALL_SAVE, STALL_ONE, STALL_BACK, 0},
    {"save-one-apart", STALL_SAVE, STALL_ONE, STALL_APART, 0},
    {"save-one-closed", STALL_SAVE, STALL_ONE, STALL_NEXT, STALL_CLOSES},
    {"retain-one", STALL_RETAIN, STALL_ONE, STALL_NEXT, 0},
    {"retain-one-back", STALL_RETAIN, STALL_ONE, STALL_BACK, 0},
    {"prune-one", STALL_PRUNE, STALL_ONE, STALL_NEXT, 0},
    {"prune-one-back", STALL_PRUNE, STALL_ONE, STALL_BACK, 0},
    {"remove-one", STALL_REMOVE, STALL_ONE, STALL_APART, 0},
    {"remove-one-back", STALL_REMOVE, STALL_ONE, STALL_BACK, 0},

    /* two tiers, the same fast one */
    {"open-two", STALL_OPEN, STALL_TWO, STALL_NEXT, 0},
    {"open-two-idle", STALL_OPEN, STALL_TWO, STALL_APART, STALL_IDLE},
    {"force-two", STALL_OPEN_FORCE, STALL_TWO, STALL_NEXT, 0},
    {"save-two-next", STALL_SAVE, STALL_TWO, STALL_NEXT, 0},
    {"save-two-apart", STALL_SAVE, STALL_TWO, STALL_APART, STALL_CLOSES},
    {"save-two-again", STALL_SAVE, STALL_TWO, STALL_AGAIN, 0},
    {"save-two-back", STALL_SAVE, STALL_TWO, STALL_BACK, 0},
    {"save-two-idle", STALL_SAVE, STALL_TWO, STALL_NEXT, STALL_IDLE},
    {"fast-next", STALL_SAVE_FAST, STALL_TWO, STALL_NEXT, 0},
    {"fast-again", STALL_SAVE_FAST, STALL_TWO, STALL_AGAIN, 0},
    {"retain-two", STALL_RETAIN, STALL_TWO, STALL_NEXT, 0},
    {"retain-two-again", STALL_RETAIN, STALL_TWO, STALL_AGAIN, STALL_CLOSES},
    {"retain-two-back", STALL_RETAIN, STALL_TWO, STALL_BACK, 0},
    {"drain-next", STALL_DRAIN, STALL_WAITING, STALL_NEXT, 0},
    {"drain-again", STALL_DRAIN, STALL_WAITING, STALL_AGAIN, 0},
    {"drain-back", STALL_DRAIN, STALL_WAITING, STALL_BACK, 0},
    {"drain-reopen", STALL_DRAIN, STALL_WAITING, STALL_BACK, STALL_REOPENS},
    {"drain-reopen-again", STALL_DRAIN, STALL_WAITING, STALL_AGAIN,
     STALL_REOPENS},
    {"drain-idle", STALL_DRAIN, STALL_WAITING, STALL_NEXT, STALL_IDLE},
    {"open-drain", STALL_OPEN_DRAIN, STALL_WAITING, STALL_APART, 0},
    {"prune-two", STALL_PRUNE, STALL_TWO, STALL_NEXT, 0},
    {"prune-two-again", STALL_PRUNE, STALL_TWO, STALL_AGAIN, STALL_CLOSES},
    {"prune-two-back", STALL_PRUNE, STALL_TWO, STALL_BACK, 0},
    {"open-prune", STALL_OPEN_PRUNE, STALL_TWO, STALL_NEXT, 0},
    {"go-back", STALL_GO_BACK, STALL_TWO, STALL_NEXT, 0},
    {"go-back-apart", STALL_GO_BACK, STALL_WAITING, STALL_APART, 0},
    {"go-back-back", STALL_GO_BACK, STALL_TWO, STALL_BACK, 0},
    {"remove-two", STALL_REMOVE, STALL_TWO, STALL_NEXT, 0},
    {"remove-two-back", STALL_REMOVE, STALL_TWO, STALL_BACK, 0},
    {"adopt-same", STALL_ADOPT, STALL_STALE, STALL_NEXT, 0},
    {"discard-same", STALL_DISCARD, STALL_STALE, STALL_NEXT, 0},

    /* two tiers, another fast one */
    {"open-other", STALL_OPEN, STALL_TWO, STALL_NEXT, STALL_OTHER},
    {"save-other-next", STALL_SAVE, STALL_TWO, STALL_NEXT, STALL_OTHER},
    {"save-other-again", STALL_SAVE, STALL_TWO, STALL_AGAIN, STALL_OTHER},
    {"save-other-idle", STALL_SAVE, STALL_TWO, STALL_NEXT,
     STALL_OTHER | STALL_IDLE},
    {"save-other-died", STALL_SAVE, STALL_TWO, STALL_NEXT,
     STALL_OTHER | STALL_DIES},
    {"fast-other", STALL_SAVE_FAST, STALL_TWO, STALL_NEXT, STALL_OTHER},
    {"fast-other-idle", STALL_SAVE_FAST, STALL_TWO, STALL_NEXT,
     STALL_OTHER | STALL_IDLE},
    {"retain-other", STALL_RETAIN, STALL_TWO, STALL_NEXT, STALL_OTHER},
    {"retain-other-back", STALL_RETAIN, STALL_TWO, STALL_BACK, STALL_OTHER},
    {"drain-other", STALL_DRAIN, STALL_WAITING, STALL_NEXT, STALL_OTHER},
    {"drain-other-back", STALL_DRAIN, STALL_WAITING, STALL_BACK, STALL_OTHER},
    {"drain-other-closed", STALL_DRAIN, STALL_WAITING, STALL_NEXT,
     STALL_OTHER | STALL_CLOSES},
    {"drain-other-died", STALL_DRAIN, STALL_WAITING, STALL_NEXT,
     STALL_OTHER | STALL_DIES},
    {"prune-other", STALL_PRUNE, STALL_TWO, STALL_NEXT, STALL_OTHER},
    {"prune-other-back", STALL_PRUNE, STALL_TWO, STALL_BACK, STALL_OTHER},
    {"go-back-other", STALL_GO_BACK, STALL_TWO, STALL_NEXT, STALL_OTHER},
    {"go-back-other-back", STALL_GO_BACK, STALL_TWO, STALL_BACK, STALL_OTHER},
    {"remove-other", STALL_REMOVE, STALL_TWO, STALL_NEXT, STALL_OTHER},
    {"remove-other-back", STALL_REMOVE, STALL_TWO, STALL_BACK, STALL_OTHER},
    {"adopt-other", STALL_ADOPT, STALL_STALE, STALL_NEXT, STALL_OTHER},
    {"discard-other", STALL_DISCARD, STALL_STALE, STALL_NEXT, STALL_OTHER},
    {NULL, STALL_OPEN, STALL_ONE, STALL_NEXT, 0},
};

/* Shared by the workers. */
struct tally {
    _Atomic uint64_t rounds;
    _Atomic uint64_t wrong;
    _Atomic uint64_t calls; /* when nobody comes */
    _Atomic int cannot;
};

struct order {
    char dir[100];
    const char *scenario; /* NULL: all */
    uint64_t call;        /* 0: all */
    uint64_t more;
    bool has_more;
    uint64_t every; /* 0: so that there are ROUNDS */
    uint64_t offset;
    bool whole;
};

/* One worker's. */
struct walk {
    const struct order *o;
    struct tally *tally;
    struct stall st;
    uint64_t every;
    char dir[STALL_PATH - 10];
};

bool stall_fail(struct stall *st, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (!st->log->why[0])
        vsnprintf(st->log->why, sizeof(st->log->why), fmt, ap);
    va_end(ap);
    return false;
}

/* --- children --- */

static void *shared(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return p;
}

static void tick(int sig)
{
    (void)sig;
}

/* Waits that take too long are noticed once a second. */
static void start_timer(void)
{
    struct sigaction act = {.sa_handler = tick};
    struct itimerval second = {{1, 0}, {1, 0}};

    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &second, NULL);
}

static void stop_timer(void)
{
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
}

/* Waits for a child; after LIMIT_S it is killed. */
static void await_child(struct stall *st, pid_t pid, const char *who)
{
    time_t end = time(NULL) + LIMIT_S;
    char how[100];
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) {
            stall_fail(st, "%s is missing", who);
            return;
        } else if (time(NULL) > end) {
            stall_fail(st, "%s hangs", who);
            kill(pid, SIGKILL);
        }
    if (WIFEXITED(status) && WEXITSTATUS(status) <= 1)
        return; /* it has told why */
    said_end(status, how, sizeof(how));
    stall_fail(st, "%s %s", who, how);
}

static pid_t start_child(struct stall *st, int (*work)(struct stall *st),
                         int other_end)
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGALRM, SIG_DFL);
        if (other_end >= 0)
            close(other_end);
        _exit(work(st));
    }
    if (pid < 0) {
        perror("fork");
        exit(1);
    }
    return pid;
}

/* Until the new writer has done its part, or has ended. */
static void await_ready(struct stall *st, int gate, pid_t pid)
{
    time_t end = time(NULL) + LIMIT_S;
    char c;

    while (read(gate, &c, 1) < 0 && errno == EINTR)
        if (time(NULL) > end) {
            stall_fail(st, "the new writer hangs");
            kill(pid, SIGKILL);
        }
}

/* --- a round --- */

static void note_stop(struct stall_log *log)
{
    for (size_t i = 0; i < log->count[STALL_OLD]; i++) {
        struct stall_call *call = &log->calls[STALL_OLD][i];

        call->begun = true;
        call->in_time = call->returned;
    }
}

static void resume_old(struct stall *st, struct killstep *k, uint64_t more)
{
    char how[100];

    switch (killstep_resume(k, more, LIMIT_S)) {
    case KILLSTEP_HANGS:
        stall_fail(st, "the stalled one hangs when it continues");
        break;
    case KILLSTEP_FAILED:
        said_end(k->seen.status, how, sizeof(how));
        stall_fail(st, "the stalled one %s", how);
        break;
    default:
        break;
    }
}

/* The process stands still. */
static void take_over(struct stall *st, struct killstep *k, uint64_t more)
{
    int gate[2];
    pid_t pid;
    char c = 0;

    note_stop(st->log);
    if ((st->s->how & STALL_DIES))
        killstep_end(k);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) < 0) {
        perror("socketpair");
        exit(1);
    }
    st->gate = gate[0];
    pid = start_child(st, stall_new, gate[1]);
    close(gate[0]);
    await_ready(st, gate[1], pid);
    if ((st->s->how & STALL_CLOSES))
        await_child(st, pid, "the new writer");
    if (!(st->s->how & STALL_DIES))
        resume_old(st, k, more);
    if (!(st->s->how & STALL_CLOSES)) {
        (void)!send(gate[1], &c, 1, MSG_NOSIGNAL);
        await_child(st, pid, "the new writer");
    }
    close(gate[1]);
    if (!st->log->why[0])
        await_child(st, start_child(st, stall_check, -1), "the check");
}

static void set_up(struct walk *w)
{
    struct stall *st = &w->st;
    char from[STALL_PATH + 40];

    memset(st->log, 0, sizeof(*st->log));
    scratch_remove(w->dir);
    snprintf(from, sizeof(from), "%s/prep-%d", w->o->dir, (int)st->s->prep);
    if (!scratch_copy(from, w->dir)) {
        perror(from);
        exit(1);
    }
}

static void print_calls(const struct stall_log *log)
{
    static const char *const whats[] = {"open", "save", "its job", "close"};

    for (int who = STALL_OLD; who <= STALL_NEW; who++)
        for (size_t i = 0; i < log->count[who]; i++) {
            const struct stall_call *c = &log->calls[who][i];

            printf("    %s%s: %s %" PRIu64 ": %d %s\n",
                   who == STALL_OLD ? "stalled" : "new",
                   c->in_time ? ", before" : "", whats[c->what], c->step,
                   c->returned ? c->r : -999, c->text);
        }
}

/* Stops at call `at`; false: there is no such call, or it is no use. */
static bool stall_at(struct walk *w, uint64_t at)
{
    static const uint64_t mores[] = {0, 0, 1, 0, 9, 0, 40};
    const struct order *o = w->o;
    uint64_t more = o->has_more ? o->more
                                : mores[at / w->every % WR_ARRAY_LEN(mores)];
    struct stall *st = &w->st;
    struct killstep k;
    enum killstep_end end;
    uint64_t before;
    bool wrong;

    set_up(w);
    end = killstep_stop(&k, stall_old, st, at, LIMIT_S);
    if (end == KILLSTEP_CANNOT) {
        w->tally->cannot = 1;
        return false;
    }
    if (end == KILLSTEP_STOPPED)
        take_over(st, &k, more);
    else if (end != KILLSTEP_ENDED)
        stall_fail(st, "undisturbed it %s",
                   end == KILLSTEP_HANGS ? "hangs" : "fails");
    if (said_print(st->said))
        stall_fail(st, "said what is above");
    wrong = st->log->why[0];
    w->tally->rounds += end == KILLSTEP_STOPPED;
    before = w->tally->wrong;
    w->tally->wrong += wrong;
    if (wrong && (before < SHOWN || o->whole))
        printf("%s: %s\n  again: ckpt-stall %s %" PRIu64 " %" PRIu64 "\n",
               st->s->name, st->log->why, st->s->name, at, more);
    if (o->call)
        print_calls(st->log);
    fflush(stdout); /* whatever becomes of this process */
    return end == KILLSTEP_STOPPED && !o->call &&
           (o->whole || before + wrong < WRONG_MAX);
}

/* --- all of them --- */

static void name_folders(struct stall *st, const char *dir)
{
    snprintf(st->fast, sizeof(st->fast), "%s/fast", dir);
    snprintf(st->other, sizeof(st->other), "%s/other", dir);
    snprintf(st->slow, sizeof(st->slow), "%s/slow", dir);
}

static void set_out(struct walk *w, unsigned me)
{
    w->st.log = shared(sizeof(*w->st.log));
    w->st.said = said_new();
    snprintf(w->dir, sizeof(w->dir), "%.80s/%u", w->o->dir, me);
    name_folders(&w->st, w->dir);
    start_timer();
}

/* How many calls it is when nobody comes. */
static void count_calls(struct walk *w)
{
    struct killstep k;

    set_up(w);
    if (killstep_stop(&k, stall_old, &w->st, 0, LIMIT_S) == KILLSTEP_CANNOT)
        w->tally->cannot = 1;
    w->tally->calls = k.seen.calls;
}

static void work(struct walk *w, unsigned me, unsigned jobs)
{
    const struct order *o = w->o;
    uint64_t at = 1 +
                  (o->offset + 17 * (uint64_t)(w->st.s - scenarios)) % w->every;

    at += me * w->every;
    if (o->call)
        stall_at(w, o->call);
    else
        while (stall_at(w, at))
            at += jobs * w->every;
}

/* Runs workers; jobs = 0: one that counts. Returns whether all is well with
 * them. */
static bool run_workers(struct walk *w, unsigned jobs)
{
    bool good = true;
    int status;

    fflush(NULL);
    for (unsigned i = 0; i < WR_MAX(jobs, 1U); i++) {
        pid_t pid = fork();

        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            set_out(w, i);
            if (jobs)
                work(w, i, jobs);
            else
                count_calls(w);
            stop_timer();
            scratch_remove(w->dir);
            fflush(NULL);
            _exit(0);
        }
        good &= pid > 0;
    }
    while (wait(&status) > 0)
        good &= status == 0;
    return good;
}

/* All calls of a scenario, shared among the cores. Returns an exit code. */
static int walk_scenario(const struct order *o, const struct stall_scenario *s)
{
    unsigned jobs = (unsigned)WR_MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L);
    struct tally *t = shared(sizeof(*t));
    struct walk w = {.o = o, .tally = t, .st = {.s = s}, .every = o->every};
    bool good = true;

    if (!w.every)
        good = run_workers(&w, 0);
    if (!w.every)
        w.every = t->calls / ROUNDS + 1;
    if (good && !t->cannot)
        good = run_workers(&w, o->call ? 1 : jobs);
    if (t->cannot)
        return SKIP;
    printf("%s: stopped %" PRIu64 " times, %" PRIu64 " wrong%s%s\n", s->name,
           t->rounds, t->wrong, good ? "" : ", BROKEN",
           t->rounds ? "" : ": NEVER STOPPED");
    return !good || t->wrong || !t->rounds;
}

static bool prepare_all(const struct order *o)
{
    struct stall st = {.log = shared(sizeof(*st.log))};

    for (int i = 0; i < STALL_PREPS; i++) {
        char dir[STALL_PATH - 10];
        pid_t pid;
        int status;

        snprintf(dir, sizeof(dir), "%.90s/prep-%d", o->dir, i);
        mkdir(dir, 0777);
        name_folders(&st, dir);
        pid = fork();
        if (pid == 0)
            _exit(stall_prepare(&st, (enum stall_prep)i) ? 0 : 1);
        if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) {
            fprintf(stderr, "%s\n", st.log->why);
            return false;
        }
    }
    return true;
}

static int walk_all(void *arg)
{
    const struct order *o = arg;
    bool any = false;
    int code = 0;

    if (!prepare_all(o))
        return 1;
    for (const struct stall_scenario *s = scenarios; s->name; s++) {
        int one;

        if (o->scenario && strcmp(o->scenario, s->name) != 0)
            continue;
        any = true;
        one = walk_scenario(o, s);
        if (one == SKIP)
            return SKIP;
        code |= one;
    }
    if (!any)
        fprintf(stderr, "there is no scenario '%s'\n", o->scenario);
    return any ? code : 1;
}

static uint64_t number_of(const char *env, uint64_t unless)
{
    const char *text = getenv(env);

    return text && *text ? strtoull(text, NULL, 10) : unless;
}

int main(int argc, char **argv)
{
    bool few = part_count(2) > 1;
    struct order o = {.every = number_of("WEIR_STALL_EVERY", few ? 0 : EVERY)};
    int code;

    o.offset = number_of("WEIR_STALL_OFFSET", part_index(PARTS));
    o.whole = o.every == 1;
    o.scenario = argc > 1 ? argv[1] : NULL;
    o.call = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    o.has_more = argc > 3;
    o.more = o.has_more ? strtoull(argv[3], NULL, 10) : 0;
    if (!scratch_make(o.dir, sizeof(o.dir), "weir-stall", /* memory= */ true))
        return 1;
    code = scratch_guard(walk_all, &o);
    scratch_remove(o.dir);
    return code < 0 ? 1 : code;
}
