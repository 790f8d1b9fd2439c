/* tune.c - threads, depth and prefetch, adjusted from what was waited for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/tune.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/c_locale.h"
#include "base/mem.h"

#define STEP_NS      (150 * WR_NS_PER_MS)
#define STEP_BATCHES 4
#define STARVED      0.03 /* part of the time that the consumer waits */
#define ON_STORAGE   0.10 /* part of the workers' time */
#define IDLE         0.05
#define MOSTLY_IDLE  0.50
#define GAIN         1.02 /* what makes a trial worth keeping */
#define REST_STEPS   40

static const char *const names[] = {"threads", "depth", "prefetch"};

/* Parts of the interval that a step looks at. */
struct tune_look {
    double rate, starved, storage, idle;
};

static void note(struct wr_tune *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The beginning is kept: it tells how it came about. */
static void note(struct wr_tune *t, const char *fmt, ...)
{
    char line[200];
    va_list ap;
    size_t n;

    va_start(ap, fmt);
    wr_vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    n = strlen(line);
    if (t->log_len + n + 2 > sizeof(t->log))
        return;
    memcpy(t->log + t->log_len, line, n);
    t->log[t->log_len + n] = '\n';
    t->log_len += n + 1;
    t->log[t->log_len] = '\0';
}

void wr_tune_init(struct wr_tune *t, const struct wr_knobs *first,
                  const struct wr_knobs *most, const bool is_auto[3])
{
    *t = (struct wr_tune){.trial = WR_KNOB_NONE};
    memcpy(t->is_auto, is_auto, sizeof(t->is_auto));
    t->now[WR_KNOB_THREADS] = first->threads;
    t->now[WR_KNOB_DEPTH] = first->depth;
    t->now[WR_KNOB_PREFETCH] = first->prefetch;
    t->most[WR_KNOB_THREADS] = most->threads;
    t->most[WR_KNOB_DEPTH] = most->depth;
    t->most[WR_KNOB_PREFETCH] = most->prefetch;
}

bool wr_tune_is_on(const struct wr_tune *t)
{
    return t->is_auto[0] || t->is_auto[1] || t->is_auto[2];
}

bool wr_tune_is_due(const struct wr_tune *t, uint64_t now_ns, uint64_t batches)
{
    return now_ns - t->last.now_ns >= STEP_NS &&
           batches >= t->last.batches + STEP_BATCHES;
}

static struct tune_look look_at(const struct wr_tune *t,
                                const struct wr_tune_sums *s)
{
    double dt = (double)WR_MAX(s->now_ns - t->last.now_ns, (uint64_t)1);
    double work = dt * t->now[WR_KNOB_THREADS];

    return (struct tune_look){
        .rate = (double)(s->samples - t->last.samples) / dt * 1e9,
        .starved = (double)(s->consumer_wait_ns - t->last.consumer_wait_ns) /
                   dt,
        .storage = (double)(s->storage_wait_ns - t->last.storage_wait_ns) /
                   work,
        .idle = (double)(s->idle_ns - t->last.idle_ns) / work,
    };
}

static bool may(const struct wr_tune *t, enum wr_knob k)
{
    return t->is_auto[k] && !t->rest[k];
}

static void try(struct wr_tune *t, enum wr_knob k, uint32_t value,
                const struct tune_look *l)
{
    t->trial = k;
    t->before = t->now[k];
    t->rate_before = l->rate;
    t->now[k] = value;
}

/* The trial is over: is it worth keeping? */
static void judge(struct wr_tune *t, const struct tune_look *l)
{
    enum wr_knob k = t->trial;
    double gain = t->rate_before > 0 ? l->rate / t->rate_before : 1;
    bool fewer = t->now[k] < t->before;
    bool keep = fewer ? l->starved <= STARVED : gain >= GAIN;

    t->trial = WR_KNOB_NONE;
    if (keep) {
        note(t, "%s %" PRIu32 " -> %" PRIu32 ": %s; %+.0f %%", names[k],
             t->before, t->now[k], t->why, (gain - 1) * 100);
        return;
    }
    note(t,
         "%s stays %" PRIu32 " (%s, but %" PRIu32 " changed the rate by "
         "%+.0f %%)",
         names[k], t->before, t->why, t->now[k], (gain - 1) * 100);
    t->now[k] = t->before;
    t->rest[k] = REST_STEPS;
}

/* The consumer waits: who could do better? */
static void do_more(struct wr_tune *t, const struct tune_look *l)
{
    uint32_t depth = t->now[WR_KNOB_DEPTH];

    if (t->now[WR_KNOB_THREADS] < t->most[WR_KNOB_THREADS] &&
        may(t, WR_KNOB_THREADS)) {
        wr_snprintf(t->why, sizeof(t->why), "the consumer waits %.0f %%",
                    l->starved * 100);
        try(t, WR_KNOB_THREADS, t->most[WR_KNOB_THREADS], l);
    } else if (l->storage > ON_STORAGE && may(t, WR_KNOB_DEPTH) &&
               depth < t->most[WR_KNOB_DEPTH]) {
        wr_snprintf(t->why, sizeof(t->why), "workers wait %.0f %% for storage",
                    l->storage * 100);
        try(t, WR_KNOB_DEPTH, WR_MIN(2 * depth, t->most[WR_KNOB_DEPTH]), l);
    } else if (l->idle > IDLE && may(t, WR_KNOB_PREFETCH) &&
               t->now[WR_KNOB_PREFETCH] < t->most[WR_KNOB_PREFETCH]) {
        wr_snprintf(t->why, sizeof(t->why),
                    "the consumer waits %.0f %% while workers idle %.0f %%",
                    l->starved * 100, l->idle * 100);
        try(t, WR_KNOB_PREFETCH, t->now[WR_KNOB_PREFETCH] + 1, l);
    }
}

/* The consumer is the slow one: fewer workers disturb it less. */
static void do_less(struct wr_tune *t, const struct tune_look *l)
{
    t->idle_steps = l->idle > MOSTLY_IDLE ? t->idle_steps + 1 : 0;
    if (t->idle_steps < 4 || t->now[WR_KNOB_THREADS] < 2 ||
        !may(t, WR_KNOB_THREADS))
        return;
    wr_snprintf(t->why, sizeof(t->why), "workers idle %.0f %%", l->idle * 100);
    try(t, WR_KNOB_THREADS, t->now[WR_KNOB_THREADS] - 1, l);
    t->idle_steps = 0;
}

bool wr_tune_step(struct wr_tune *t, const struct wr_tune_sums *sums,
                  struct wr_knobs *ret)
{
    struct tune_look l = look_at(t, sums);
    uint32_t old[WR_KNOB_NONE];
    bool first = !t->last.now_ns;

    memcpy(old, t->now, sizeof(old));
    t->last = *sums;
    for (int k = 0; k < WR_KNOB_NONE; k++)
        if (t->rest[k])
            t->rest[k]--;
    if (first) /* the start is not like the rest */
        return false;
    t->steps++;
    t->starved = l.starved;
    t->storage = l.storage;
    t->idle = l.idle;
    if (t->trial != WR_KNOB_NONE)
        judge(t, &l);
    else if (l.starved > STARVED)
        do_more(t, &l);
    else
        do_less(t, &l);
    *ret = (struct wr_knobs){t->now[0], t->now[1], t->now[2]};
    return memcmp(old, t->now, sizeof(old)) != 0;
}

void wr_tune_refuse(struct wr_tune *t, const char *why)
{
    enum wr_knob k = t->trial;

    if (k == WR_KNOB_NONE)
        return;
    note(t, "%s stays %" PRIu32 " (%s, but %s)", names[k], t->before, t->why,
         why);
    t->now[k] = t->before;
    t->rest[k] = REST_STEPS;
    t->trial = WR_KNOB_NONE;
}

/* Why the consumer waits and nothing could be tried. */
static const char *no_way(const struct wr_tune *t)
{
    if (t->storage > ON_STORAGE)
        return t->is_auto[WR_KNOB_DEPTH] ? "but depth is the most there can be"
                                         : "but depth is fixed";
    if (t->idle > IDLE)
        return t->is_auto[WR_KNOB_PREFETCH]
                   ? "but prefetch is the most there can be"
                   : "but prefetch is fixed";
    return t->is_auto[WR_KNOB_THREADS] ||
                   t->now[WR_KNOB_THREADS] == t->most[WR_KNOB_THREADS]
               ? "but all threads are at work already"
               : "but the threads are at work, and their number is fixed";
}

/* Why the settings are as they were at first, or what was not judged yet. */
static void last_words(const struct wr_tune *t, char *buf, size_t cap)
{
    *buf = '\0';
    if (t->trial != WR_KNOB_NONE)
        snprintf(buf, cap,
                 "%s %" PRIu32 " -> %" PRIu32 ": %s; it ended before the gain "
                 "was known\n",
                 names[t->trial], t->before, t->now[t->trial], t->why);
    else if (t->log_len)
        return;
    else if (!t->steps)
        wr_snprintf(
            buf, cap,
            "nothing was changed: it ended before the first look (after "
            "%d batches and %.2f s, twice)\n",
            STEP_BATCHES, (double)STEP_NS / 1e9);
    else if (t->starved <= STARVED)
        wr_snprintf(
            buf, cap,
            "nothing was changed: the consumer waits only %.0f %% of the "
            "time\n",
            t->starved * 100);
    else
        wr_snprintf(
            buf, cap,
            "nothing was changed: the consumer waits %.0f %%, %s (workers "
            "wait %.0f %% for storage, idle %.0f %%)\n",
            t->starved * 100, no_way(t), t->storage * 100, t->idle * 100);
}

size_t wr_tune_text(const struct wr_tune *t, char *buf, size_t cap)
{
    char last[240];
    size_t n = 0;

    if (cap)
        buf[0] = '\0';
    if (!wr_tune_is_on(t))
        return 0;
    last_words(t, last, sizeof(last));
    for (int k = 0; k < WR_KNOB_NONE; k++)
        n += (size_t)snprintf(n < cap ? buf + n : NULL, n < cap ? cap - n : 0,
                              "%s%s %" PRIu32 "%s", k ? ", " : "", names[k],
                              t->now[k], t->is_auto[k] ? "" : " (fixed)");
    n += (size_t)snprintf(n < cap ? buf + n : NULL, n < cap ? cap - n : 0,
                          "\n%s%s", t->log, last);
    return n;
}
