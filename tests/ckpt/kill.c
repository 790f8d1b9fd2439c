/* kill.c - kill -9 at every system call of saving, draining, pruning, restoring.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     kill [SCENARIO [VARIANT]]
 *
 * Runs the short workloads again and again, killed before the first system call
 * behind their mark, the second, and so on, until they come to their end; and
 * the long ones in wider steps. After each kill the store is opened as by a
 * trainer that starts again: all that was promised must be there, nothing torn,
 * leftovers gone, and once more for the slow tier alone.
 *
 * A store that writes steps where they will be seen, and one that promises
 * before it has saved, must be caught. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "killstep.h"
#include "lax.h"
#include "scenario.h"
#include "scratch.h"

#define EVENTS     256
#define EVERY_LONG 61
#define SKIP       77
#define WRONG_MAX  10 /* of one workload: then it ends */

/* The wrong ones, to see that they are caught. */
enum variant {
    AS_IT_IS,
    NO_RENAME, /* steps are written where they will be seen */
    TOO_EARLY, /* a promise when a save begins */
};

/* Shared by the workers, the killed and the checkers. */
struct tally {
    _Atomic uint64_t kills, wrong;
    _Atomic int cannot;
};

struct heard {
    struct scn_event events[EVENTS];
    _Atomic size_t count;
    char text[1000]; /* what the check found */
};

/* One worker's round. */
struct round {
    const struct scenario *s;
    enum variant variant;
    bool marked; /* calls count from SCN_GO on */
    uint64_t every;
    struct tally *tally; /* shared */
    struct heard *heard; /* shared with the round's children */
    char fast[120], slow[120], alone[120], nothing[120];
    bool far; /* the check of the slow tier alone */
};

/* --- the one that is killed --- */

static struct wr_store *open_tier(void *arg, const char *tier)
{
    const struct round *r = arg;
    bool fast = !strcmp(tier, "fast");
    const char *path = r->far ? (fast ? r->nothing : r->alone)
                              : (fast ? r->fast : r->slow);
    struct wr_store *st;
    weir_err err;

    if (mkdir(path, 0777) < 0 && errno != EEXIST)
        return NULL;
    if (wr_store_open_own(path, &st, &err) < 0)
        return NULL;
    return r->variant == NO_RENAME ? lax_wrap(st, LAX_NO_RENAME) : st;
}

static void add(struct heard *h, const struct scn_event *e)
{
    if (h->count == EVENTS)
        abort();
    h->events[h->count] = *e;
    h->count++; /* heard from here on */
}

static void hear(void *arg, const struct scn_event *e)
{
    const struct round *r = arg;

    if (e->what == SCN_GO && r->marked && !killstep_go())
        abort();
    add(r->heard, e);
    if (e->what == SCN_BEGUN && r->variant == TOO_EARLY) {
        struct scn_event early = *e;

        early.what = SCN_REACHED;
        add(r->heard, &early);
    }
}

static int play(void *arg)
{
    struct round *r = arg;
    struct scn_place at = {open_tier, r};
    struct scn_listener to = {hear, r};
    weir_err err;

    if (!r->marked && !killstep_go())
        return 1;
    if (scn_run(r->s, &at, &to, &err) < 0) {
        snprintf(r->heard->text, sizeof(r->heard->text), "the workload: %s",
                 err.msg);
        return 1;
    }
    return 0;
}

/* --- the one that starts again --- */

static bool check_part(struct round *r, const struct scn_ledger *l, bool far)
{
    static const char *const troubles[] = {"fine", "lost", "torn", "wrong"};
    struct scn_place at = {open_tier, r};
    struct scn_verdict v;

    r->far = far;
    v = scn_check(r->s, &at, l, far ? SCN_FAR : SCN_WHOLE, NULL);
    if (v.trouble == SCN_FINE)
        return true;
    snprintf(r->heard->text, sizeof(r->heard->text), "%s%s: %s",
             far ? "slow tier alone, " : "", troubles[v.trouble], v.text);
    return false;
}

static int check(void *arg)
{
    struct round *r = arg;
    struct scn_ledger l = {.keep_last = r->s->keep_last};

    for (size_t i = 0; i < r->heard->count; i++)
        scn_note(&l, &r->heard->events[i]);
    if (access(r->slow, F_OK) == 0) {
        if (!scratch_copy(r->slow, r->alone)) {
            snprintf(r->heard->text, sizeof(r->heard->text),
                     "the slow tier cannot be copied");
            return 1;
        }
        if (!check_part(r, &l, /* far= */ true))
            return 1;
    }
    return !check_part(r, &l, /* far= */ false);
}

/* In a process of its own: what it leaks or breaks ends with it. */
static bool check_in_child(struct round *r)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(check(r));
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return false;
    if (WIFSIGNALED(status))
        snprintf(r->heard->text, sizeof(r->heard->text),
                 "the check ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) && !r->heard->text[0])
        snprintf(r->heard->text, sizeof(r->heard->text),
                 "the check ended with %d", WEXITSTATUS(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* --- rounds --- */

static void clear(struct round *r)
{
    scratch_remove(r->fast);
    scratch_remove(r->slow);
    scratch_remove(r->alone);
    scratch_remove(r->nothing);
    r->heard->count = 0;
    r->heard->text[0] = '\0';
}

/* Kills at call `at`; false: there is no such call, or it is no use. */
static bool kill_at(struct round *r, uint64_t at)
{
    enum killstep_end end;
    uint64_t calls;
    bool good;

    clear(r);
    end = killstep(play, r, at, &calls);
    if (end == KILLSTEP_CANNOT) {
        r->tally->cannot = 1;
        return false;
    }
    if (end == KILLSTEP_FAILED && !r->heard->text[0])
        snprintf(r->heard->text, sizeof(r->heard->text),
                 "the workload ended by itself");
    good = end != KILLSTEP_FAILED && check_in_child(r);
    if (end == KILLSTEP_KILLED)
        r->tally->kills++;
    if (!good && r->tally->wrong++ < WRONG_MAX && r->variant == AS_IT_IS)
        printf("%s, call %" PRIu64 "%s: %s\n", r->s->name, at,
               end == KILLSTEP_ENDED ? " (not reached)" : "", r->heard->text);
    return end == KILLSTEP_KILLED && r->tally->wrong < WRONG_MAX;
}

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

static void work(struct round r, const char *dir, unsigned me, unsigned jobs)
{
    uint64_t at = 1 + me * r.every;

    r.heard = shared(sizeof(*r.heard));
    snprintf(r.fast, sizeof(r.fast), "%s/%u-fast", dir, me);
    snprintf(r.slow, sizeof(r.slow), "%s/%u-slow", dir, me);
    snprintf(r.alone, sizeof(r.alone), "%s/%u-alone", dir, me);
    snprintf(r.nothing, sizeof(r.nothing), "%s/%u-nothing", dir, me);
    while (kill_at(&r, at))
        at += jobs * r.every;
    clear(&r);
}

/* All kills of a workload, shared among the cores. Returns an exit code. */
static int walk(struct round *r, const char *dir)
{
    unsigned jobs = (unsigned)WR_MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L);
    int status;

    r->tally = shared(sizeof(*r->tally));
    fflush(NULL);
    for (unsigned i = 0; i < jobs; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            work(*r, dir, i, jobs);
            fflush(NULL);
            _exit(0);
        }
        if (pid < 0)
            r->tally->wrong++;
    }
    while (wait(&status) > 0)
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            r->tally->wrong++;
    if (r->tally->cannot)
        return SKIP;
    if (r->variant == AS_IT_IS)
        printf("%s: killed %" PRIu64 " times, %" PRIu64 " wrong\n", r->s->name,
               r->tally->kills, r->tally->wrong);
    else
        printf("%s, %s: %s\n", r->s->name,
               r->variant == NO_RENAME ? "no-rename" : "too-early",
               r->tally->wrong ? "caught" : "NOT CAUGHT");
    if (r->tally->kills == 0)
        return 1;
    return (r->variant == AS_IT_IS) != (r->tally->wrong == 0);
}

struct order {
    const char *dir, *scenario; /* NULL: all */
    enum variant variant;
    uint64_t every;
};

static int worse(int a, int b)
{
    return a > b ? a : b;
}

static int walk_list(const struct order *o, const struct scenario *list,
                     bool marked)
{
    int code = 0;

    for (const struct scenario *s = list; s->name && code != SKIP; s++) {
        struct round r = {.s = s,
                          .variant = o->variant,
                          .marked = marked,
                          .every = marked ? o->every : o->every * EVERY_LONG};

        if (!o->scenario || !strcmp(o->scenario, s->name))
            code = worse(code, walk(&r, o->dir));
    }
    return code;
}

static int walk_all(void *arg)
{
    struct order o = *(const struct order *)arg;
    int code;

    code = walk_list(&o, scn_short, /* marked= */ true);
    if (code != SKIP)
        code = worse(code, walk_list(&o, scn_all, /* marked= */ false));
    if (o.scenario || code == SKIP)
        return code;
    o.scenario = scn_short[0].name;
    for (o.variant = NO_RENAME; o.variant <= TOO_EARLY; o.variant++)
        code = worse(code, walk_list(&o, scn_short, /* marked= */ true));
    return code;
}

int main(int argc, char **argv)
{
    const char *every = getenv("WEIR_KILL_EVERY");
    char dir[100];
    struct order o = {.dir = dir,
                      .scenario = argc > 1 ? argv[1] : NULL,
                      .variant = argc > 2 ? (enum variant)atoi(argv[2])
                                          : AS_IT_IS,
                      .every = every ? strtoull(every, NULL, 10) : 1};
    int code;

    /* A kill takes no power: memory does, and syncs cost nothing there. */
    if (o.every == 0 || !scratch_make(dir, sizeof(dir), "weir-kill", true))
        return 1;
    code = scratch_guard(walk_all, &o);
    scratch_remove(dir);
    return code < 0 ? 1 : code;
}
