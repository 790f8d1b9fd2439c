/* explain.c - why batches take the time they took: the cause that fits.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What each cause leaves in the times:
 * - workers in turns, each a whole batch: one stall per round, as long as loading
 *   less the steps that hide it; the others were loaded meanwhile and come at
 *   once, or scatter where their workers were a little late;
 * - a straggler: the same, but the others were ready long ago: nothing of them
 *   scatters, and the stall is moderate;
 * - saves and epoch starts: a stall by itself at a long period;
 * - a shallow queue: many short stalls without a period;
 * - hiccups: a few long ones. */
#include "plan/explain.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"
#include "plan/stalls.h"

/* What the words need besides the numbers of the result. */
struct wr_explain_facts {
    const struct wr_plan_hints *hints;   /* borrowed */
    const struct wr_plan_stalls *stalls; /* borrowed */
    uint64_t stride;                     /* from line to line of the log */
    double step_ms;                      /* given, or the usual time */
    double first_ms;                     /* of a slow start; 0: none */
    size_t batches;
    bool doubtful; /* another cause looks alike */
};

#define VARIES 0.5 /* of the usual times: that is not steady */

/* A word made of a number; lives until the end of the expression. */
struct term {
    char text[32];
};

/* "1.04 s" */
static struct term span(double ms)
{
    struct term w;

    if (ms < 0.0005)
        snprintf(w.text, sizeof(w.text), "0 ms");
    else
        wr_format_ns(w.text, sizeof(w.text), ms * 1e6);
    return w;
}

/* "4th" */
static struct term ordinal(uint64_t n)
{
    static const char *const ends[] = {"th", "st", "nd", "rd"};
    bool teens = n / 10 % 10 == 1;
    struct term w;

    snprintf(w.text, sizeof(w.text), "%" PRIu64 "%s", n,
             n % 10 > 3 || teens ? "th" : ends[n % 10]);
    return w;
}

/* Appends; what does not fit is cut. */
#define WHAT(e, ...)   say((e)->what, sizeof((e)->what), __VA_ARGS__)
#define WHY(e, ...)    say((e)->why, sizeof((e)->why), __VA_ARGS__)
#define CHANGE(e, ...) say((e)->change, sizeof((e)->change), __VA_ARGS__)

__attribute__((format(printf, 3, 4))) static void say(char *buf, size_t cap,
                                                      const char *fmt, ...)
{
    size_t n = strlen(buf);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(buf + n, cap - n, fmt, ap);
    va_end(ap);
}

static void say_lost(struct wr_plan_explained *e)
{
    WHAT(e, ": %.*f %% of the time.", e->lost_share < 0.0995,
         100 * e->lost_share);
}

/* The step in commands, which take no digits that nobody needs. */
static struct term step_of(const struct wr_explain_facts *f)
{
    struct term w;

    snprintf(w.text, sizeof(w.text), "%.3g", f->step_ms);
    return w;
}

static bool step_known(const struct wr_explain_facts *f)
{
    return f->hints->step_ms > 0;
}

static void say_turns(struct wr_plan_explained *e,
                      const struct wr_explain_facts *f)
{
    uint64_t p = e->period;

    WHAT(e, "Every %s batch waits about %s, the %s at once (%s)",
         ordinal(p).text, span(e->stall_ms).text,
         p == 2 ? "one after it comes" : "others after it come",
         span(e->usual_ms).text);
    say_lost(e);
    WHY(e,
        "%" PRIu64 " workers load whole batches in turns, and batches are "
        "delivered in order. One takes a worker about %s, but %" PRIu64
        " steps of the accelerator take only %s: then all have to be waited "
        "for.",
        p, span(e->load_ms).text, p, span((double)p * f->step_ms).text);
    if (f->doubtful)
        WHY(e, " One very slow worker of them would look alike.");
    if (f->hints->workers && f->hints->workers != p)
        WHY(e,
            " (That the period is %" PRIu64 " and there are %" PRIu32
            " workers does not fit well.)",
            p, f->hints->workers);
    CHANGE(e,
           "More workers or cheaper samples; deeper prefetch does not help. "
           "PyTorch: num_workers=%" PRIu32 " would keep up%s; tf.data: "
           "num_parallel_calls=%" PRIu32 ". weir divides each batch among all "
           "workers: weir bench DATASET --threads %" PRIu32
           " --accelerator ms=%s",
           e->workers_needed,
           step_known(f) ? "" : " (fewer if a step takes longer: --step-ms)",
           e->workers_needed, e->workers_needed, step_of(f).text);
}

static void say_straggler(struct wr_plan_explained *e,
                          const struct wr_explain_facts *f)
{
    uint64_t p = e->period;

    WHAT(e, "Every %s batch waits about %s, the others come steadily (%s)",
         ordinal(p).text, span(e->stall_ms).text, span(e->usual_ms).text);
    say_lost(e);
    WHY(e,
        "One of %" PRIu64 " workers is slow: it takes about %s for a batch, "
        "which %" PRIu64 " steps (%s) do not hide. Batches are delivered in "
        "order, so all wait for it.",
        p, span(e->load_ms).text, p, span((double)p * f->step_ms).text);
    if (f->doubtful)
        WHY(e,
            " Workers that are all a little too slow, or something that "
            "training does every %" PRIu64 " batches, would look alike.",
            p);
    CHANGE(e,
           "See what this worker has that others have not: larger files, a "
           "busy core. PyTorch: num_workers=%" PRIu32 " hides it, and "
           "in_order=False goes on without it; tf.data: deterministic=False. "
           "weir divides each batch among all workers: weir bench DATASET "
           "--accelerator ms=%s",
           e->workers_needed, step_of(f).text);
}

static void say_shallow(struct wr_plan_explained *e,
                        const struct wr_explain_facts *f)
{
    const struct wr_plan_stalls *s = f->stalls;

    if (e->period)
        WHAT(e, "Every %s batch waits about %s", ordinal(e->period).text,
             span(e->stall_ms).text);
    else
        WHAT(e, "%.0f %% of the batches wait about %s, without a rhythm",
             100 * (double)(s->count - s->lead) / (double)f->batches,
             span(e->stall_ms).text);
    say_lost(e);
    WHY(e,
        "Most batches are there in time (%s each), so loading is fast enough "
        "on average; but its time varies, and with too few batches kept "
        "ahead the queue runs dry.",
        span(e->usual_ms).text);
    if (!step_known(f))
        WHY(e,
            " If a step takes the accelerator less than that, loading is too "
            "slow instead: say it with --step-ms.");
    CHANGE(e,
           "Keep more batches ahead. PyTorch: prefetch_factor=%" PRIu32
           "; tf.data: prefetch(%" PRIu32 "). weir: weir bench DATASET "
           "--prefetch 1,2,4,8 --accelerator ms=%s",
           WR_MAX(2 * f->hints->prefetch, 4u),
           WR_MAX(2 * f->hints->prefetch, 8u), step_of(f).text);
}

static void say_saving(struct wr_plan_explained *e,
                       const struct wr_explain_facts *f)
{
    bool named = f->hints->save_every == e->period;

    WHAT(e, "Every %s batch takes about %s longer, the others do not (%s)",
         ordinal(e->period).text, span(e->stall_ms).text,
         span(e->usual_ms).text);
    say_lost(e);
    if (named)
        WHY(e,
            "Training stops for the checkpoint that is saved every %" PRIu64
            " batches.",
            e->period);
    else
        WHY(e,
            "Training itself does something every %" PRIu64
            " batches: a checkpoint, most likely, or an evaluation or a "
            "log.",
            e->period);
    if (f->doubtful)
        WHY(e,
            " The first batch of each epoch would look alike, if an epoch "
            "has %" PRIu64 ".",
            e->period);
    CHANGE(e, "Save in the background or to a fast tier first. PyTorch: "
              "torch.distributed.checkpoint.async_save; weir: weir ckpt bench "
              "FAST SLOW shows what a save costs with a fast tier.");
}

static void say_epochs(struct wr_plan_explained *e,
                       const struct wr_explain_facts *f)
{
    bool named = f->hints->epoch_batches == e->period;

    WHAT(e,
         "The first batch of every epoch (%" PRIu64
         " batches) is slow: it waits about %s",
         e->period, span(e->stall_ms).text);
    say_lost(e);
    WHY(e, "Workers are started anew in each epoch, and nothing is prefetched "
           "across its end: the first batch waits until they have started and "
           "loaded a whole batch.");
    if (!named && f->doubtful)
        WHY(e, " A checkpoint every %" PRIu64 " batches would look alike.",
            e->period);
    CHANGE(e, "PyTorch: persistent_workers=True; tf.data: one iterator, "
              "repeat() before prefetch(). weir keeps its workers and "
              "prefetches across epochs: weir bench DATASET --epochs 3");
}

static void say_bound(struct wr_plan_explained *e,
                      const struct wr_explain_facts *f)
{
    uint32_t n = e->workers_needed;

    if (step_known(f)) {
        WHAT(e,
             "All batches wait alike: one takes %s, a step of the "
             "accelerator %s; it waits",
             span(f->stalls->median_ms).text, span(f->step_ms).text);
    } else {
        WHAT(e,
             "Most batches wait, without a rhythm: about %s, others %s; that "
             "is",
             span(e->stall_ms + e->usual_ms).text, span(e->usual_ms).text);
    }
    say_lost(e);
    WHY(e, "Loading is slower than the accelerator: the queue is always empty, "
           "and a deeper one would be too.");
    CHANGE(e, "More workers or cheaper samples (smaller, packed, precached). ");
    if (n)
        CHANGE(e,
               "PyTorch: num_workers=%" PRIu32
               "; tf.data: num_parallel_calls=%" PRIu32 ". ",
               n, n);
    CHANGE(e,
           "weir bench DATASET --accelerator ms=%s says whether storage or "
           "decoding limits.",
           step_of(f).text);
}

static void say_irregular(struct wr_plan_explained *e,
                          const struct wr_explain_facts *f)
{
    const struct wr_plan_stalls *s = f->stalls;
    double ahead = ceil(e->stall_ms / fmax(f->step_ms, 1e-3));

    WHAT(e,
         "%zu of %zu batches wait about %s, without a rhythm; the others "
         "take %s",
         s->count - s->lead, f->batches, span(e->stall_ms).text,
         span(e->usual_ms).text);
    say_lost(e);
    WHY(e, "Nothing periodic: hiccups of storage or network, other jobs on "
           "the machine, single samples that are very large, pauses of the "
           "garbage collector.");
    if (ahead <= 32)
        CHANGE(e,
               "%.0f batches kept ahead would hide most of them "
               "(prefetch_factor, prefetch(), --prefetch). ",
               WR_MAX(ahead, 2.0));
    CHANGE(e,
           "weir trace -- python3 train.py names the slowest calls and their "
           "files; weir probe FOLDER measures how even storage is.");
}

static void say_steady(struct wr_plan_explained *e,
                       const struct wr_explain_facts *f)
{
    if (f->stalls->usual_vary > VARIES)
        WHAT(e,
             "Batches take %s, a tenth of them over %s; none stalls by "
             "itself.",
             span(e->usual_ms).text,
             span(e->usual_ms * (1 + f->stalls->usual_vary)).text);
    else
        WHAT(e, "Batches come steadily, one in %s.", span(e->usual_ms).text);
    if (f->first_ms > 0)
        WHAT(e, " (The first took %s: starting up.)", span(f->first_ms).text);
    if (step_known(f)) {
        WHY(e,
            "That is about the step of the accelerator (%s): the input keeps "
            "up.",
            span(f->step_ms).text);
        CHANGE(e, "Nothing: faster input would change nothing.");
        return;
    }
    WHY(e, "Either the input keeps up, or all batches wait alike: the times "
           "alone cannot tell.");
    CHANGE(e,
           "Say how long a step takes without loading (synthetic data, the "
           "same batch again): --step-ms. weir bench DATASET --accelerator "
           "ms=%s tells whether the input could keep up.",
           step_of(f).text);
}

/* Fills in what, why and change. */
static void explain_words(struct wr_plan_explained *e,
                          const struct wr_explain_facts *f)
{
    static void (*const by_cause[WR_PLAN_CAUSES])(
        struct wr_plan_explained *, const struct wr_explain_facts *) = {
        [WR_PLAN_STEADY] = say_steady,     [WR_PLAN_TURNS] = say_turns,
        [WR_PLAN_SHALLOW] = say_shallow,   [WR_PLAN_STRAGGLER] = say_straggler,
        [WR_PLAN_SAVING] = say_saving,     [WR_PLAN_EPOCH_STARTS] = say_epochs,
        [WR_PLAN_INPUT_BOUND] = say_bound, [WR_PLAN_IRREGULAR] = say_irregular,
    };

    e->what[0] = e->why[0] = e->change[0] = '\0';
    by_cause[e->cause](e, f);
    if (f->stride > 1)
        WHY(e,
            " The log has only every %s batch: shorter periods cannot be "
            "seen.",
            ordinal(f->stride).text);
}

#define BATCHES_MIN   8
#define LOST_MIN      0.01 /* of the time: less is not worth a word */
#define BOUND_FACTOR  1.2  /* the usual time over the accelerator's: it waits */
#define AT_ONCE       0.75 /* of a step: a batch that nobody computed on yet */
#define BIG_ROUND     2.5  /* usual times of all its batches: not one worker */
#define STALLS_ROUND  1.35 /* per round: not one worker either */
#define SCATTER       0.15 /* of the usual times */
#define MOVING        0.8  /* share of the phase below which stalls move */
#define TURNS_LIKELY  16   /* more workers than that are rarer than saves */
#define SAVE_LOST     0.3  /* of the time: nobody saves that often */
#define SAVE_VARY     0.3  /* a save takes about the same each time */
#define SHALLOW_LEAST 0.04 /* of the batches stall */
#define SHALLOW_MOST  6.0  /* steps: more than a deeper queue could hide */
#define SHORT_STALL   2.5  /* steps: a queue hides it, however rare it is */
#define DEEP          8    /* batches ahead: not a shallow queue */

static const char *const cause_names[WR_PLAN_CAUSES] = {
    [WR_PLAN_STEADY] = "steady",
    [WR_PLAN_TURNS] = "workers in turns",
    [WR_PLAN_SHALLOW] = "shallow prefetch",
    [WR_PLAN_STRAGGLER] = "slow worker",
    [WR_PLAN_SAVING] = "checkpoints",
    [WR_PLAN_EPOCH_STARTS] = "epoch starts",
    [WR_PLAN_INPUT_BOUND] = "input bound",
    [WR_PLAN_IRREGULAR] = "irregular",
};

const char *wr_plan_cause_name(enum wr_plan_cause cause)
{
    return cause < WR_PLAN_CAUSES ? cause_names[cause] : "?";
}

/* Everything that the choice of a cause looks at. */
struct evidence {
    const struct wr_plan_times *t;
    struct wr_plan_hints hints;
    struct wr_plan_stalls stalls;
    struct wr_plan_period period;
    uint64_t stride;
    double step_ms; /* given; 0: not known */
    bool doubtful;
    double sure; /* of the cause, given the period */
};

static enum wr_plan_cause choose(struct evidence *e, enum wr_plan_cause cause,
                                 double sure)
{
    e->sure = sure;
    e->doubtful = sure < 0.7;
    return cause;
}

/* Whether the batches between the stalls waited too, or stalls move from one
 * place in the round to another: workers that are all late, not one. */
static bool others_wait(const struct evidence *e)
{
    const struct wr_plan_stalls *s = &e->stalls;
    double rounds = (double)e->t->count / (double)e->period.period;

    return s->usual_vary > SCATTER || e->period.share < MOVING ||
           (double)s->count > STALLS_ROUND * rounds;
}

/* One stall per round of workers: are all late, or one of them? */
static enum wr_plan_cause of_workers(struct evidence *e)
{
    const struct wr_plan_stalls *s = &e->stalls;
    uint64_t w = e->hints.workers, p = e->period.period;
    double more = w == p ? 0.05 : w ? -0.1 : 0;

    if (e->step_ms > 0 && s->usual_ms < AT_ONCE * e->step_ms)
        return choose(e, WR_PLAN_TURNS, 0.9 + more);
    if (others_wait(e))
        return choose(e, WR_PLAN_TURNS, 0.85 + more);
    /* Nothing but its size: one very slow worker would do that too. */
    if (s->total_ms > BIG_ROUND * s->usual_ms * (double)e->t->count)
        return choose(e, WR_PLAN_TURNS, 0.6 + more);
    return choose(e, WR_PLAN_STRAGGLER, 0.6 + more);
}

/* As people choose for saves; workers are 8, 24 or 64 rather. */
static bool is_round_number(uint64_t p)
{
    return p % 25 == 0 || p % 10 == 0;
}

/* A stall by itself: the first batches of epochs, or a save? An epoch begins
 * with the log's first batch, before which nothing is saved; and its first
 * batches may be slow too. */
static enum wr_plan_cause of_training(struct evidence *e)
{
    const struct wr_plan_times *t = e->t;
    uint64_t p = e->period.period;
    bool from_start = t->batch[0] <= 1;
    bool first = t->batch[0] % p == e->period.phase;

    if (from_start && first && e->stalls.stalled[0])
        return choose(e, WR_PLAN_EPOCH_STARTS, 0.75);
    if (from_start)
        return choose(e, WR_PLAN_SAVING, 0.75);
    if (e->period.run >= 1.5)
        return choose(e, WR_PLAN_EPOCH_STARTS, 0.7);
    return is_round_number(p) ? choose(e, WR_PLAN_SAVING, 0.6)
                              : choose(e, WR_PLAN_EPOCH_STARTS, 0.55);
}

/* Whether the period is one that was named: itself, or some of its places. */
static bool is_named(const struct evidence *e, uint64_t named)
{
    return named && e->period.period == named;
}

static enum wr_plan_cause of_period(struct evidence *e)
{
    uint64_t p = e->period.period, w = e->hints.workers;
    bool short_one = p <= WR_PLAN_SHORT_PERIOD && e->stride == 1;

    if (is_named(e, e->hints.save_every))
        return choose(e, WR_PLAN_SAVING, w == p ? 0.7 : 0.95);
    if (is_named(e, e->hints.epoch_batches) || is_named(e, e->t->epoch_batches))
        return choose(e, WR_PLAN_EPOCH_STARTS, w == p ? 0.7 : 0.95);
    if (!short_one)
        return of_training(e);
    if (w && (p % w == 0 || w % p == 0))
        return of_workers(e);
    if (w && p == 2)
        return choose(e, WR_PLAN_SHALLOW, 0.6);
    if (w)
        return choose(e, WR_PLAN_SAVING, 0.65);
    if (p > TURNS_LIKELY && is_round_number(p) && !others_wait(e) &&
        e->stalls.stall_vary < SAVE_VARY &&
        e->stalls.lost_ms < SAVE_LOST * e->stalls.total_ms)
        return choose(e, WR_PLAN_SAVING, 0.6);
    return of_workers(e);
}

/* Stalls without a period. */
static enum wr_plan_cause of_irregular(struct evidence *e)
{
    const struct wr_plan_stalls *s = &e->stalls;
    double part = (double)(s->count - s->lead) / (double)e->t->count;
    double steps = s->stall_ms / fmax(s->usual_ms, 1e-9);
    bool hidden = steps <= (part < SHALLOW_LEAST ? SHORT_STALL : SHALLOW_MOST);

    if (part > 0.5)
        return choose(e, WR_PLAN_INPUT_BOUND, 0.6);
    if (hidden && e->hints.prefetch < DEEP)
        return choose(e, WR_PLAN_SHALLOW, e->hints.prefetch ? 0.75 : 0.65);
    return choose(e, WR_PLAN_IRREGULAR, part < SHALLOW_LEAST ? 0.8 : 0.6);
}

/* Whether most batches wait longer than a step takes, and longer in all than
 * those wait that stall at a period. */
static bool all_wait(const struct evidence *e)
{
    const struct wr_plan_stalls *s = &e->stalls;
    double usual = e->period.period ? s->usual_ms : s->median_ms;
    double wait = (usual - e->step_ms) * (double)e->t->count;

    return e->step_ms > 0 && usual > BOUND_FACTOR * e->step_ms &&
           (!e->period.period || wait > s->lost_ms);
}

/* Stalls of the start alone are no pattern. */
static void forgive_start(struct evidence *e)
{
    struct wr_plan_stalls *s = &e->stalls;

    for (size_t i = 0; i < s->lead; i++) {
        double lost = e->t->ms[i] - s->usual_ms;

        s->lost_ms -= lost;
        s->total_ms -= lost;
    }
}

static enum wr_plan_cause find_cause(struct evidence *e)
{
    const struct wr_plan_stalls *s = &e->stalls;
    bool bound = all_wait(e);

    if (!e->period.period && s->count)
        forgive_start(e);
    if (bound)
        return choose(e, WR_PLAN_INPUT_BOUND, 0.9);
    if (s->count == (e->period.period ? 0 : s->lead) ||
        s->lost_ms < LOST_MIN * s->total_ms)
        return choose(e, WR_PLAN_STEADY, e->step_ms > 0 ? 0.95 : 0.85);
    return e->period.period ? of_period(e) : of_irregular(e);
}

/* Of whole rounds: a part of one has its stall or not, which matters in a short
 * log. */
static double mean_ms(const struct wr_plan_times *t, uint64_t round)
{
    size_t n = t->count;
    double sum = 0;

    if (round > 0 && round <= n)
        n -= n % round;
    for (size_t i = 0; i < n; i++)
        sum += t->ms[i];
    return sum / (double)n;
}

/* What loading takes, and how many workers would hide it. */
static void size_workers(const struct evidence *e, struct wr_plan_explained *r)
{
    double mean = mean_ms(e->t, r->period);
    double step = e->step_ms > 0 ? e->step_ms : r->usual_ms, need;

    r->load_ms = NAN;
    if (r->cause == WR_PLAN_TURNS || r->cause == WR_PLAN_STRAGGLER)
        r->load_ms = mean * (double)r->period;
    else if (r->cause == WR_PLAN_INPUT_BOUND && e->hints.workers)
        r->load_ms = mean * e->hints.workers;
    need = ceil(r->load_ms / step - 1e-6);
    if (need >= 1 && need <= UINT32_MAX)
        r->workers_needed = (uint32_t)need;
}

static double lost_share(const struct evidence *e, enum wr_plan_cause cause)
{
    const struct wr_plan_stalls *s = &e->stalls;
    double lost = s->lost_ms;

    if (cause == WR_PLAN_INPUT_BOUND && e->step_ms > 0)
        lost = s->total_ms - e->step_ms * (double)e->t->count;
    return s->total_ms > 0 ? fmin(fmax(lost / s->total_ms, 0), 1) : 0;
}

static void conclude(struct evidence *e, struct wr_plan_explained *ret)
{
    const struct wr_plan_stalls *s = &e->stalls;
    struct wr_plan_explained r = {.cause = find_cause(e)};
    struct wr_explain_facts f;
    bool periodic = r.cause == WR_PLAN_TURNS || r.cause == WR_PLAN_STRAGGLER ||
                    r.cause == WR_PLAN_SAVING ||
                    r.cause == WR_PLAN_EPOCH_STARTS ||
                    (r.cause == WR_PLAN_SHALLOW && e->period.period);

    if (periodic) {
        r.period = e->period.period;
        r.phase = e->period.phase;
    }
    r.usual_ms = s->usual_ms;
    r.stall_ms = s->stall_ms;
    r.lost_share = lost_share(e, r.cause);
    r.sure = e->sure * (periodic ? e->period.sure : 1);
    size_workers(e, &r);
    f = (struct wr_explain_facts){
        .hints = &e->hints,
        .stalls = s,
        .stride = e->stride,
        .step_ms = e->step_ms > 0 ? e->step_ms : r.usual_ms,
        .first_ms = s->lead && !periodic ? e->t->ms[0] : 0,
        .batches = e->t->count,
        .doubtful = e->doubtful,
    };
    explain_words(&r, &f);
    *ret = r;
}

static int check_hints(const struct wr_plan_hints *h, weir_err *err)
{
    if (h->step_ms < 0 || isinf(h->step_ms))
        return wr_fail(err, WEIR_EINVAL,
                       "step of %g ms: a number above 0 is needed", h->step_ms);
    return 0;
}

int wr_plan_explain(const struct wr_plan_times *t,
                    const struct wr_plan_hints *hints,
                    struct wr_plan_explained *ret, weir_err *err)
{
    struct evidence e = {.t = t};
    uint64_t known[2];
    int r;

    if (hints)
        e.hints = *hints;
    r = check_hints(&e.hints, err);
    if (r < 0)
        return r;
    if (t->count < BATCHES_MIN)
        return wr_fail(err, WEIR_EINVAL,
                       "times of %zu batches say nothing: at least %d are "
                       "needed, three stalls of what is periodic",
                       t->count, BATCHES_MIN);
    e.step_ms = e.hints.step_ms > 0 ? e.hints.step_ms : 0;
    e.stride = wr_plan_period_stride(t);
    known[0] = e.hints.save_every;
    known[1] = e.hints.epoch_batches ? e.hints.epoch_batches : t->epoch_batches;
    r = wr_plan_stalls_find(t, &e.stalls, err);
    if (r == 0)
        r = wr_plan_period_find(t, &e.stalls, known, &e.period, err);
    if (r == 0)
        conclude(&e, ret);
    wr_plan_stalls_done(&e.stalls);
    return r;
}
