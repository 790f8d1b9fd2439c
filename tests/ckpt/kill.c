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
 * before it has saved, must be caught: by what is found, not by a process that
 * ends as none should or that says something on its standard error. That is
 * always a failure, and all that is known about it is printed.
 *
 * With WEIR_TEST_PART the right store is killed at one of PARTS calls only, the
 * wrong ones at one of WRONG_PARTS. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "killstep.h"
#include "lax.h"
#include "part.h"
#include "said.h"
#include "scenario.h"
#include "scratch.h"

#define EVENTS      256
#define EVERY_LONG  61
#define PARTS       128
#define WRONG_PARTS 16 /* the wrong ones show at fifty calls in a row */
#define SKIP        77
#define WRONG_MAX   10 /* of one workload: then it ends */
#define FOUND       1  /* exit code: struct heard says what */

/* The wrong ones, to see that they are caught. */
enum variant {
    AS_IT_IS,
    NO_RENAME, /* steps are written where they will be seen */
    TOO_EARLY, /* a promise when a save begins */
};

/* Shared by the workers, the killed and the checkers. */
struct tally {
    _Atomic uint64_t kills;
    _Atomic uint64_t found;  /* the store is not as it should be */
    _Atomic uint64_t broken; /* a process is not: nothing is known */
    _Atomic int cannot;
};

struct heard {
    struct scn_event events[EVENTS];
    _Atomic size_t count;
    char text[1000]; /* what was found */
};

/* One worker's round. */
struct round {
    const struct scenario *s;
    enum variant variant;
    bool marked;           /* calls count from SCN_GO on */
    uint64_t first, every; /* calls: 1 + first, 1 + first + every, ... */
    struct tally *tally;   /* shared */
    struct heard *heard;   /* shared with the round's children */
    char fast[120], slow[120], alone[120], nothing[120];
    bool far; /* the check of the slow tier alone */
    int said; /* what the round's children said */
};

/* --- the one that is killed --- */

static struct wr_store *open_tier(void *arg, const char *tier)
{
    const struct round *r = arg;
    bool fast = !strcmp(tier, "fast");
    const char *path = r->far ? (fast ? r->nothing : r->alone)
                              : (fast ? r->fast : r->slow);

    return lax_folder(path, r->variant == NO_RENAME ? LAX_NO_RENAME : 0,
                      stderr);
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

    said_by_me(r->said);
    if (!r->marked && !killstep_go())
        abort();
    if (scn_run(r->s, &at, &to, &err) < 0) {
        snprintf(r->heard->text, sizeof(r->heard->text), "the workload: %s",
                 err.msg);
        return FOUND;
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

static int check(struct round *r)
{
    struct scn_ledger l = {.keep_last = r->s->keep_last};

    said_by_me(r->said);
    for (size_t i = 0; i < r->heard->count; i++)
        scn_note(&l, &r->heard->events[i]);
    if (access(r->slow, F_OK) == 0) {
        if (!scratch_copy(r->slow, r->alone)) {
            perror("the slow tier cannot be copied");
            abort();
        }
        if (!check_part(r, &l, /* far= */ true))
            return FOUND;
    }
    return check_part(r, &l, /* far= */ false) ? 0 : FOUND;
}

/* In a process of its own: what it leaks or breaks ends with it. Returns how it
 * ended. */
static int check_in_child(struct round *r)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(check(r));
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        perror("the check");
        exit(1);
    }
    return status;
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

enum outcome { FINE, WRONG, BROKEN };

/* What came of a child, in words too. */
static enum outcome judge(struct round *r, const char *who, int status)
{
    struct heard *h = r->heard;
    size_t len = strlen(h->text);
    char how[100];

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return FINE;
    if (WIFEXITED(status) && WEXITSTATUS(status) == FOUND && len)
        return WRONG;
    said_end(status, how, sizeof(how));
    snprintf(h->text + len, sizeof(h->text) - len, "%s%s %s", len ? "; " : "",
             who, how);
    return BROKEN;
}

/* Kills at call `at`; false: it is no use to go on. *ret_calls: how many there
 * were, if the workload came to its end. */
static bool kill_at(struct round *r, uint64_t at, uint64_t *ret_calls)
{
    enum outcome out = FINE;
    struct killstep_seen seen;
    enum killstep_end end;
    uint64_t before;

    clear(r);
    end = killstep(play, r, at, &seen);
    if (end == KILLSTEP_CANNOT) {
        r->tally->cannot = 1;
        return false;
    }
    r->tally->kills += end == KILLSTEP_KILLED;
    *ret_calls = end == KILLSTEP_KILLED ? 0 : seen.calls;
    if (end == KILLSTEP_FAILED)
        out = judge(r, "the workload", seen.status);
    if (out == FINE)
        out = judge(r, "the check", check_in_child(r));
    if (said_print(r->said))
        out = BROKEN;
    before = r->tally->found + r->tally->broken;
    r->tally->found += out == WRONG;
    r->tally->broken += out == BROKEN;
    if (before < WRONG_MAX &&
        (out == BROKEN || (out == WRONG && r->variant == AS_IT_IS)))
        printf("%s, call %" PRIu64 " (%s after %" PRIu64 "): %s\n", r->s->name,
               at, end == KILLSTEP_KILLED ? "killed" : "ended", seen.calls,
               r->heard->text[0] ? r->heard->text : "said what is above");
    fflush(stdout); /* whatever becomes of this process */
    return end == KILLSTEP_KILLED && before + (out != FINE) < WRONG_MAX;
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
    uint64_t at = 1 + r.first + me * r.every, calls = 0;

    r.heard = shared(sizeof(*r.heard));
    r.said = said_new();
    snprintf(r.fast, sizeof(r.fast), "%s/%u-fast", dir, me);
    snprintf(r.slow, sizeof(r.slow), "%s/%u-slow", dir, me);
    snprintf(r.alone, sizeof(r.alone), "%s/%u-alone", dir, me);
    snprintf(r.nothing, sizeof(r.nothing), "%s/%u-nothing", dir, me);
    while (kill_at(&r, at, &calls))
        at += jobs * r.every;
    /* A part that begins after the last call takes an earlier one. */
    if (me == 0 && at == 1 + r.first && calls)
        kill_at(&r, 1 + r.first % calls, &calls);
    clear(&r);
}

/* Waits for the workers. */
static void wait_for_all(const struct round *r)
{
    int status;

    while (wait(&status) > 0) {
        char how[100];

        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            continue;
        said_end(status, how, sizeof(how));
        printf("%s: a worker %s\n", r->s->name, how);
        r->tally->broken++;
    }
}

/* Says what came of a workload. Returns an exit code. */
static int conclude(const struct round *r)
{
    static const char *const names[] = {"", ", no-rename", ", too-early"};
    const struct tally *t = r->tally;
    bool right = (r->variant == AS_IT_IS) == (t->found == 0);

    printf("%s%s: killed %" PRIu64 " times, %" PRIu64 " wrong", r->s->name,
           names[r->variant], t->kills, t->found);
    if (r->variant != AS_IT_IS)
        printf(": %s", right ? "caught" : "NOT CAUGHT");
    if (t->broken)
        printf(", %" PRIu64 " BROKEN", t->broken);
    printf("%s\n", t->kills ? "" : ": NEVER KILLED");
    return t->kills && !t->broken && right ? 0 : 1;
}

/* All kills of a workload, shared among the cores. Returns an exit code. */
static int walk(struct round *r, const char *dir)
{
    unsigned jobs = (unsigned)WR_MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L);

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
        if (pid < 0) {
            perror("fork");
            r->tally->broken++;
        }
    }
    wait_for_all(r);
    return r->tally->cannot ? SKIP : conclude(r);
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
        uint64_t every = marked ? o->every : o->every * EVERY_LONG;
        struct round r = {
            .s = s, .variant = o->variant, .marked = marked, .every = every};

        unsigned parts = o->variant == AS_IT_IS ? PARTS : WRONG_PARTS;

        r.first = every * part_index(parts);
        r.every = every * part_count(parts);
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
