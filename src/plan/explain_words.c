/* explain_words.c - what was found, in words that users have for it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/explain_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"

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

void wr_explain_words(struct wr_plan_explained *e,
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
