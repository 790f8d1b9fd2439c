/* many.c - what a save costs when a store has many steps.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ckpt-many [FEW MANY [FOLDER]]
 *
 * Saves to stores that have FEW and MANY steps (10 and 400), one way of keeping
 * steps after the other, and prints a line for each: system calls and CPU time of
 * all threads per save, and their ratios. Fails when there are more than 1.2
 * times as many system calls: that number does not depend on how busy the machine
 * is. FOLDER is where to save to; the default is a folder in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "killstep.h"
#include "scratch.h"
#include "weir/ckpt_manage.h"

#define SAVES  20  /* measured by their calls */
#define TIMED  200 /* measured by their time */
#define FLOATS 64
#define MORE   1.2
#define SKIP   77

static const struct way {
    const char *name;
    bool two;       /* tiers */
    bool all;       /* keep_last 0, else as many as there are */
    uint64_t every; /* keep_every */
    bool pinned;    /* every tenth step */
    bool fast;      /* all stay on the fast tier, too */
    bool waiting;   /* nobody drains */
    bool again;     /* the run goes back, and comes by numbers that it left */
} ways[] = {
    {.name = "one tier, all kept", .all = true},
    {.name = "one tier, the last ones kept"},
    {.name = "one tier, multiples kept", .every = 1},
    {.name = "one tier, pins", .pinned = true},
    {.name = "two tiers, all kept", .two = true, .all = true},
    {.name = "two tiers, the last ones kept", .two = true},
    {.name = "two tiers, kept on both", .two = true, .all = true, .fast = true},
    {.name = "two tiers, nobody drains",
     .two = true,
     .all = true,
     .waiting = true},
    {.name = "two tiers, saved anew", .two = true, .all = true, .again = true},
};

struct run {
    const struct way *way;
    char fast[200], slow[200];
    uint64_t steps; /* that are there */
    uint64_t saves;
    bool traced;
    double *cpu_s; /* of all saves; shared */
};

static int fail(const char *what, const weir_err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->msg);
    return 1;
}

static int open_store(const struct run *r, weir_ckpt **ret)
{
    weir_ckpt_config cfg;
    weir_err err;

    weir_ckpt_defaults(&cfg);
    cfg.fast = r->fast;
    cfg.slow = r->way->two ? r->slow : NULL;
    cfg.keep_last = r->way->all ? 0 : (uint32_t)r->steps;
    if (r->way->every) {
        cfg.keep_last = 2;
        cfg.keep_every = r->way->every;
    }
    if (r->way->fast)
        cfg.keep_fast = UINT32_MAX;
    cfg.drain = !r->way->waiting;
    if (r->way->waiting)
        cfg.max_behind = 0;
    cfg.threads = 1;
    return weir_ckpt_open(ret, &cfg, &err) < 0 ? fail("open", &err) : 0;
}

static int save(weir_ckpt *c, uint64_t step, enum weir_level level)
{
    float memory[FLOATS] = {(float)step};
    const weir_tensor t = {.name = "w",
                           .dtype = WEIR_F32,
                           .ndim = 1,
                           .shape = {FLOATS},
                           .data = memory};
    const weir_ckpt_state state = {.step = step, .tensors = &t, .count = 1};
    weir_err err;

    return weir_ckpt_save(c, &state, level, &err) < 0 ? fail("save", &err) : 0;
}

/* Between two steps there is room for the one with which a run leaves them. */
static uint64_t number_of(const struct run *r, uint64_t i)
{
    return r->way->again ? 2 * i : i;
}

static int fill(const struct run *r)
{
    uint64_t count = r->steps + (r->way->again ? SAVES + TIMED + 10 : 0);
    weir_ckpt *c;
    weir_err err;
    int bad = open_store(r, &c);

    for (uint64_t i = 0; i < count && !bad; i++) {
        bad = save(c, number_of(r, i), WEIR_LEVEL_FAST);
        if (!bad && r->way->pinned && i % 10 == 0 &&
            weir_ckpt_pin(c, i, 1, &err) < 0)
            bad = fail("pin", &err);
    }
    if (!bad && !r->way->waiting &&
        weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED, -1, &err) < 0)
        bad = fail("wait", &err);
    if (!bad && weir_ckpt_close(&c, &err) < 0)
        bad = fail("close", &err);
    return bad;
}

static double cpu_now(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static int go_back(const struct run *r, weir_ckpt *c)
{
    uint64_t back = number_of(r, r->steps - 1);
    weir_err err;

    if (weir_ckpt_restore(c, back, NULL, 0, NULL, &err) != 1)
        return fail("restore", &err);
    return save(c, back + 1, WEIR_LEVEL_VERIFIED);
}

/* Saves with an open store; the first ones look at what is there. */
static int measured(void *arg)
{
    struct run *r = arg;
    enum weir_level level = r->way->waiting ? WEIR_LEVEL_FAST
                                            : WEIR_LEVEL_VERIFIED;
    uint64_t step = r->steps;
    weir_ckpt *c;
    double begun;

    if (open_store(r, &c) || (r->way->again && go_back(r, c)))
        return 1;
    for (int i = 0; i < 3; i++)
        if (save(c, number_of(r, step++), level))
            return 1;
    if (r->traced && !killstep_go())
        return SKIP;
    begun = cpu_now();
    for (uint64_t i = 0; i < r->saves; i++)
        if (save(c, number_of(r, step++), level))
            return 1;
    *r->cpu_s = cpu_now() - begun;
    if (r->traced)
        _exit(0); /* closing is not what is counted */
    return weir_ckpt_close(&c, NULL) < 0;
}

/* Calls and CPU seconds of a save; false: it failed. */
static bool count_costs(struct run *r, double *ret_calls, double *ret_cpu_s)
{
    struct killstep_seen seen;
    double cpu_s = 0;

    r->cpu_s = &cpu_s;
    r->traced = true;
    r->saves = SAVES;
    if (killstep(measured, r, 0, &seen) != KILLSTEP_ENDED)
        return false;
    *ret_calls = (double)seen.calls / SAVES;
    r->steps += SAVES + 3;
    r->traced = false;
    r->saves = TIMED;
    if (measured(r))
        return false;
    *ret_cpu_s = cpu_s / TIMED;
    return true;
}

static bool compare(const char *dir, const struct way *way, uint64_t few,
                    uint64_t many)
{
    const uint64_t counts[] = {few, many};
    double calls[2], cpu_s[2];

    for (int i = 0; i < 2; i++) {
        struct run r = {.way = way, .steps = counts[i]};

        snprintf(r.fast, sizeof(r.fast), "%.150s/fast", dir);
        snprintf(r.slow, sizeof(r.slow), "%.150s/slow", dir);
        if (fill(&r) || !count_costs(&r, &calls[i], &cpu_s[i]))
            return false;
        scratch_remove(r.fast);
        scratch_remove(r.slow);
    }
    printf("%s: calls %.1f %.1f ratio %.3f cpu_us %.0f %.0f ratio %.3f\n",
           way->name, calls[0], calls[1], calls[1] / calls[0], 1e6 * cpu_s[0],
           1e6 * cpu_s[1], cpu_s[1] / cpu_s[0]);
    fflush(stdout);
    return calls[1] <= MORE * calls[0];
}

int main(int argc, char **argv)
{
    uint64_t few = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
    uint64_t many = argc > 2 ? strtoull(argv[2], NULL, 10) : 400;
    char dir[160];
    bool good = true;

    if (argc > 3)
        snprintf(dir, sizeof(dir), "%s", argv[3]);
    else if (!scratch_make(dir, sizeof(dir), "weir-many", /* memory= */ true))
        return 1;
    for (size_t i = 0; i < WR_ARRAY_LEN(ways); i++)
        good &= compare(dir, &ways[i], few, many);
    if (argc <= 3)
        scratch_remove(dir);
    return !good;
}
