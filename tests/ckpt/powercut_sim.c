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
 * Prints how many states were made, how many of them are unlike all others and
 * so were checked, and how many of both a second of the processors makes: the
 * clock says little about this where other tests run.
 *
 * WEIR_POWERCUT_SEED, WEIR_POWERCUT_RANDOMS: other states, and more of them;
 * WEIR_POWERCUT_EVERY=N: at one of N moments only; WEIR_POWERCUT_JOBS: media at
 * a time, one for each processor unless told. With WEIR_TEST_PART one of the
 * media that are honest is played, at one of MOMENTS moments. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/thread.h"
#include "lax.h"
#include "part.h"
#include "scenario.h"
#include "simcrash.h"

#define MOMENTS     90
#define PARTS       1000
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
    uint64_t sums[EVENTS + 1]; /* of the ledger after so many events */
};

struct result {
    struct sim_counts counts;
    struct sim_seen seen, seen_part; /* owned: states, parts of them */
    size_t checks[SCN_FAR + 1];      /* of the parts */
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
    const struct tape *t = ((struct job *)arg)->tape;

    return t->sums[events_at(t, at)];
}

static void explore(struct tape *t, struct job *j);

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

/* What counts for a part is its files, and what was promised of it: two states
 * that are alike in this are one. */
static bool is_new(struct job *j, const struct sim_fs *fs, enum scn_part part,
                   struct scn_ledger *l)
{
    uint64_t files = part == SCN_FAR ? sim_fs_hash_root(fs, "slow")
                                     : sim_fs_hash(fs);

    scn_from(l, part == SCN_FAR ? WEIR_LEVEL_SLOW : WEIR_LEVEL_FAST);
    return sim_seen_add(&j->result->seen_part,
                        wr_mix64(files + part) ^ wr_mix64(scn_sum(l)));
}

static void check_part(struct job *j, const struct sim_cut *cut,
                       struct tape *after, enum scn_part part)
{
    const struct scn_place place = {open_lax, after};
    const struct scn_listener to = {record, after};
    struct scn_ledger l = after->before;
    struct scn_verdict v;

    if (!is_new(j, &after->disk->fs, part, &l))
        return;
    v = scn_check(after->s, &place, &l, part, part == SCN_WHOLE ? &to : NULL);
    note(j, cut, &v, part == SCN_WHOLE ? "all tiers" : "slow tier alone");
    if (++j->result->checks[part] % NESTED_EACH == 0 && part == SCN_WHOLE &&
        !v.trouble && j->nest)
        nest(j, after);
}

static bool check(void *arg, const struct sim_cut *cut, struct sim_disk *state)
{
    struct job *j = arg;
    const struct tape *t = j->tape;
    struct tape after = {.s = t->s, .disk = state, .before = t->before};
    struct result *r = j->result;
    struct sim_fs copy;

    for (size_t i = 0, n = events_at(t, cut->at); i < n; i++)
        scn_note(&after.before, &t->events[i].e);
    sim_fs_copy(&state->fs, &copy);
    check_part(j, cut, &after, SCN_WHOLE);
    sim_disk_free(state);
    after.disk = sim_disk_of(&copy);
    if (t->s->two_tiers)
        check_part(j, cut, &after, SCN_FAR);
    sim_disk_free(after.disk);
    return !j->stop_after ||
           r->trouble[SCN_LOST] + r->trouble[SCN_TORN] < j->stop_after;
}

static void explore(struct tape *t, struct job *j)
{
    const struct sim_checker c = {expected, check, j, &j->result->seen};
    struct scn_ledger l = t->before;

    t->sums[0] = scn_sum(&l);
    for (size_t i = 0; i < t->count; i++) {
        scn_note(&l, &t->events[i].e);
        t->sums[i + 1] = scn_sum(&l);
    }
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

/* What a process tells the one that started it. */
struct tally {
    struct sim_counts counts;
    double cpu_s;
    bool good;
};

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Of an honest store nothing may be found, of a lax one something must. */
static bool judge(const struct tape *t, const struct medium *m,
                  const struct result *r, double cpu_s)
{
    bool caught = r->trouble[SCN_LOST] + r->trouble[SCN_TORN];
    bool good = m->lax ? caught : r->trouble[SCN_FINE] && !r->first[0];

    printf("%s %s, %s: %zu operations, %zu cuts (%zu with all their states),"
           " %zu states, %zu unlike (%zu nested), %.0f and %.0f a second;"
           " %zu + %zu checks: %zu lost, %zu torn, %zu other\n",
           good ? "ok  " : "FAIL", t->s->name, m->name, t->disk->count,
           r->counts.points, r->counts.whole, r->counts.states, r->counts.fresh,
           r->nested, (double)r->counts.states / cpu_s,
           (double)r->counts.fresh / cpu_s, r->checks[SCN_WHOLE],
           r->checks[SCN_FAR], r->trouble[SCN_LOST], r->trouble[SCN_TORN],
           r->trouble[SCN_OTHER]);
    if (r->first[0])
        printf("     %s\n", r->first);
    else if (m->lax)
        printf("     not caught\n");
    return good;
}

static void play(const struct scenario *s, const struct medium *m,
                 struct tally *ret)
{
    struct tape t = {.s = s, .lax = m->lax, .disk = sim_disk_new(m->sector)};
    struct result r = {0};
    const unsigned few = part_count(2) > 1 ? MOMENTS : 0;
    struct job j = {
        .tape = &t,
        .plan = {.seed = setting("WEIR_POWERCUT_SEED", 1 + part_index(PARTS)),
                 .singles = 32,
                 .randoms = (unsigned)setting("WEIR_POWERCUT_RANDOMS", 96),
                 /* a lax one ends with the first that is found */
                 .every = m->lax
                              ? 0
                              : (unsigned)setting("WEIR_POWERCUT_EVERY", few)},
        .result = &r,
        .stop_after = m->lax ? 1 : 0,
        .nest = !m->lax};
    double begun = cpu_seconds();

    t.disk->bad_sync = m->bad_sync;
    ret->good = run(&t);
    if (ret->good) {
        explore(&t, &j);
        ret->cpu_s = cpu_seconds() - begun;
        ret->counts = r.counts;
        ret->good = judge(&t, m, &r, ret->cpu_s);
    }
    sim_disk_free(t.disk);
    sim_seen_done(&r.seen);
    sim_seen_done(&r.seen_part);
}

/* --- media, several at a time, each in a process --- */

#define MEDIA 16

struct media {
    const struct scenario *s;
    struct medium all[MEDIA];
    FILE *said[MEDIA]; /* owned: what each printed */
    pid_t pids[MEDIA];
    struct tally *tallies; /* owned, shared with the processes */
    size_t count;
};

static void find_media(struct media *m)
{
    unsigned parts = WR_ARRAY_LEN(honest);

    for (size_t i = part_index(parts); i < parts; i += part_count(parts))
        m->all[m->count++] = honest[i];
    for (const struct lax_variant *v = lax_variants; v->name; v++)
        m->all[m->count++] = (struct medium){v->name, 4096, 0, v->flags};
    m->all[m->count++] = retrying;
    m->tallies = mmap(NULL, sizeof(*m->tallies) * MEDIA, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (m->tallies == MAP_FAILED)
        abort();
}

static void start(struct media *m, size_t i)
{
    m->said[i] = tmpfile();
    fflush(stdout);
    m->pids[i] = m->said[i] ? fork() : -1;
    if (m->pids[i] < 0) {
        perror("powercut-sim");
        exit(1);
    }
    if (m->pids[i])
        return;
    if (dup2(fileno(m->said[i]), STDOUT_FILENO) < 0)
        exit(1);
    play(m->s, &m->all[i], &m->tallies[i]);
    exit(fflush(stdout) == 0 && m->tallies[i].good ? 0 : 1);
}

static bool finish(struct media *m, size_t i)
{
    char line[1024];
    int status = 1;

    waitpid(m->pids[i], &status, 0);
    rewind(m->said[i]);
    while (fgets(line, sizeof(line), m->said[i]))
        fputs(line, stdout);
    fclose(m->said[i]);
    if (status && m->tallies[i].good)
        printf("FAIL %s, %s: ended with %#x\n", m->s->name, m->all[i].name,
               (unsigned)status);
    fflush(stdout);
    return status == 0;
}

static bool play_all(const struct scenario *s)
{
    size_t jobs = (size_t)setting("WEIR_POWERCUT_JOBS", wr_cpu_count());
    struct media m = {.s = s};
    struct tally sum = {.good = true};
    uint64_t begun = wr_clock_ns();
    double seconds;

    find_media(&m);
    for (size_t i = 0, next = 0; i < m.count; i++) {
        while (next < m.count && next < i + WR_MAX(jobs, (size_t)1))
            start(&m, next++);
        sum.good &= finish(&m, i);
        sum.counts.states += m.tallies[i].counts.states;
        sum.counts.fresh += m.tallies[i].counts.fresh;
        sum.cpu_s += m.tallies[i].cpu_s;
    }
    munmap(m.tallies, sizeof(*m.tallies) * MEDIA);
    seconds = (double)(wr_clock_ns() - begun) / 1e9;
    printf("%s %s: %zu states, %zu unlike: %.0f and %.0f a second in %.1f s,"
           " %.0f and %.0f a second of a processor\n",
           sum.good ? "ok  " : "FAIL", s->name, sum.counts.states,
           sum.counts.fresh, (double)sum.counts.states / seconds,
           (double)sum.counts.fresh / seconds, seconds,
           (double)sum.counts.states / sum.cpu_s,
           (double)sum.counts.fresh / sum.cpu_s);
    return sum.good;
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
