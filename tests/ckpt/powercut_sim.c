/* powercut_sim.c - power cuts on the simulated disk, in every workload.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: powercut-sim [SCENARIO]
 *
 * Each workload runs once; then the states that a cut may leave after each of
 * its operations are made, and a trainer starts again on each. Nothing promised
 * may be missing, nothing torn may be shown. The same check must find the fault
 * of each store that breaks a rule (lax.h), or it would be none.
 *
 * WEIR_POWERCUT_SEED, WEIR_POWERCUT_RANDOMS: other states, and more of them;
 * WEIR_POWERCUT_EVERY=N: at one of N moments only. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/mem.h"
#include "lax.h"
#include "scenario.h"
#include "simcrash.h"

#define EVENTS      256
#define NESTED_EACH 199 /* of the checks, one is cut itself */
#define LOG_SHOWN   40

/* A workload that has run, and what it was promised when. */
struct tape {
    const struct scenario *s;
    unsigned lax;
    struct sim_disk *disk; /* owned */
    struct scn_ledger before;
    struct {
        size_t at; /* operations before it */
        struct scn_event e;
    } events[EVENTS];
    size_t count;
};

struct result {
    struct sim_counts counts;
    size_t trouble[SCN_OTHER + 1];
    size_t nested;
    char first[800]; /* trouble */
};

struct job {
    const struct tape *tape;
    struct sim_plan plan;
    struct result *result;
    size_t stop_after; /* of lost or torn ones; 0: never */
    bool nest;
};

/* --- running --- */

static void record(void *arg, const struct scn_event *e)
{
    struct tape *t = arg;

    if (t->count == EVENTS)
        abort();
    t->events[t->count].at = sim_disk_now(t->disk);
    t->events[t->count++].e = *e;
}

static struct wr_store *open_lax(void *arg, const char *tier)
{
    struct tape *t = arg;
    struct wr_store *st = sim_store_new(t->disk, tier);

    return t->lax ? lax_wrap(st, t->lax) : st;
}

static bool run(struct tape *t)
{
    const struct scn_place at = {open_lax, t};
    const struct scn_listener to = {record, t};
    weir_err err = {0};

    t->before.keep_last = t->s->keep_last;
    t->before.keep_every = t->s->keep_every;
    /* Both roots are there from the beginning. */
    wr_store_close(sim_store_new(t->disk, "fast"));
    wr_store_close(sim_store_new(t->disk, "slow"));
    if (scn_run(t->s, &at, &to, &err) == 0)
        return true;
    printf("%s %s\n", t->lax ? "    " : "FAIL", err.msg);
    return t->lax; /* then what there is until then is enough */
}

/* --- checking --- */

static size_t events_at(const struct tape *t, size_t at)
{
    size_t n = 0;

    while (n < t->count && t->events[n].at <= at)
        n++;
    return n;
}

static uint64_t expected(void *arg, size_t at)
{
    return events_at(((struct job *)arg)->tape, at);
}

static void explore(const struct tape *t, struct job *j);

/* The check itself is cut. */
static void nest(struct job *j, struct tape *t)
{
    struct job inner = {
        .tape = t,
        .plan = {.seed = j->plan.seed + 1, .singles = 2, .randoms = 2},
        .result = j->result,
        .stop_after = j->stop_after};
    size_t fresh = j->result->counts.fresh;

    explore(t, &inner);
    j->result->nested += j->result->counts.fresh - fresh;
}

static void note(struct job *j, const struct sim_cut *cut,
                 const struct scn_verdict *v, const char *part)
{
    struct result *r = j->result;

    if (v->trouble && !r->first[0])
        snprintf(r->first, sizeof(r->first), "after operation %zu, %s: %s",
                 cut->at, part, v->text);
    if (v->trouble && !r->trouble[v->trouble] && !j->tape->lax) {
        printf("%s: %s\n", part, v->text);
        sim_cut_print(cut, LOG_SHOWN, stdout);
    }
    r->trouble[v->trouble]++;
}

static bool check(void *arg, const struct sim_cut *cut, struct sim_disk *state)
{
    struct job *j = arg;
    const struct tape *t = j->tape;
    struct tape after = {.s = t->s, .disk = state, .before = t->before};
    const struct scn_place place = {open_lax, &after};
    const struct scn_listener to = {record, &after};
    struct result *r = j->result;
    struct scn_verdict v;
    struct sim_fs copy;

    for (size_t i = 0, n = events_at(t, cut->at); i < n; i++)
        scn_note(&after.before, &t->events[i].e);
    sim_fs_copy(&state->fs, &copy);
    v = scn_check(t->s, &place, &after.before, SCN_WHOLE, &to);
    note(j, cut, &v, "all tiers");
    if (!v.trouble && j->nest && r->counts.fresh % NESTED_EACH == 0)
        nest(j, &after);
    sim_disk_free(state);
    if (t->s->two_tiers) {
        after.disk = sim_disk_of(&copy);
        v = scn_check(t->s, &place, &after.before, SCN_FAR, NULL);
        note(j, cut, &v, "slow tier alone");
        sim_disk_free(after.disk);
    } else {
        sim_fs_done(&copy);
    }
    return !j->stop_after ||
           r->trouble[SCN_LOST] + r->trouble[SCN_TORN] < j->stop_after;
}

static void explore(const struct tape *t, struct job *j)
{
    const struct sim_checker c = {expected, check, j};

    sim_explore(t->disk, &j->plan, &c, &j->result->counts);
}

/* --- the whole --- */

/* What a workload runs on. */
struct medium {
    const char *name;
    unsigned sector, bad_sync, lax;
};

static const struct medium honest[] = {
    {"4096-byte sectors", 4096, 0, 0},
    {"512-byte sectors", 512, 0, 0},
    {"syncs that fail", 4096, 4, 0},
};

static const struct medium retrying = {"syncs tried again", 4096, 4,
                                       LAX_RETRY_SYNC};

static uint64_t setting(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 10) : fallback;
}

/* Of an honest store nothing may be found, of a lax one something must. */
static bool judge(const struct tape *t, const struct medium *m,
                  const struct result *r, double seconds)
{
    bool caught = r->trouble[SCN_LOST] + r->trouble[SCN_TORN];
    bool good = m->lax ? caught : r->trouble[SCN_FINE] && !r->first[0];

    printf("%s %s, %s: %zu operations, %zu cuts, %zu states, %zu unlike"
           " (%zu nested), %.0f/s; %zu lost, %zu torn, %zu other\n",
           good ? "ok  " : "FAIL", t->s->name, m->name, t->disk->count,
           r->counts.points, r->counts.states, r->counts.fresh, r->nested,
           (double)r->counts.states / seconds, r->trouble[SCN_LOST],
           r->trouble[SCN_TORN], r->trouble[SCN_OTHER]);
    if (r->first[0])
        printf("     %s\n", r->first);
    else if (m->lax)
        printf("     not caught\n");
    fflush(stdout);
    return good;
}

static bool play(const struct scenario *s, const struct medium *m)
{
    struct tape t = {.s = s, .lax = m->lax, .disk = sim_disk_new(m->sector)};
    struct result r = {0};
    struct job j = {
        .tape = &t,
        .plan = {.seed = setting("WEIR_POWERCUT_SEED", 1),
                 .singles = 16,
                 .randoms = (unsigned)setting("WEIR_POWERCUT_RANDOMS", 16),
                 /* a lax one ends with the first that is found */
                 .every = m->lax ? 0
                                 : (unsigned)setting("WEIR_POWERCUT_EVERY", 0)},
        .result = &r,
        .stop_after = m->lax ? 1 : 0,
        .nest = !m->lax};
    uint64_t begun = wr_clock_ns();
    bool good;

    t.disk->bad_sync = m->bad_sync;
    good = run(&t);
    if (good) {
        explore(&t, &j);
        good = judge(&t, m, &r, (double)(wr_clock_ns() - begun) / 1e9);
    }
    sim_disk_free(t.disk);
    return good;
}

static bool play_all(const struct scenario *s)
{
    bool good = true;

    for (size_t i = 0; i < WR_ARRAY_LEN(honest); i++)
        good &= play(s, &honest[i]);
    for (const struct lax_variant *v = lax_variants; v->name; v++) {
        struct medium m = {v->name, 4096, 0, v->flags};

        good &= play(s, &m);
    }
    return play(s, &retrying) && good;
}

int main(int argc, char **argv)
{
    bool good = true, any = false;

    /* Tensors are small, and clearing huge pages for them takes most of the
     * time. */
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    for (const struct scenario *s = scn_all; s->name; s++) {
        if (argc > 1 && strcmp(argv[1], s->name) != 0)
            continue;
        any = true;
        good &= play_all(s);
    }
    if (!any)
        printf("no scenario '%s'\n", argv[1]);
    return good && any ? 0 : 1;
}
