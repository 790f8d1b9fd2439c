/* train_words.c - a run of training: its tables, and what limits it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/train_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "result/get.h"
#include "record/view_monitor.h"
#include "record/view_say.h"

#define VALIDATIONS_SHOWN 20  /* rows of their table, the last ones */
#define UNEVEN            1.2 /* times its share: a class is told to be common */
#define LATE              0.02  /* of the time: the first batch took long */
#define SEEN              0.005 /* a cost below that is none */
#define NOISE             0.1   /* rounds that differ by more tell nothing */

enum { COMPUTED = 1, SAVED = 2, VALIDATED = 4 };

const struct wr_column wr_train_run_columns[] = {
    {.head = "iterations",
     .help = "batches that were trained on in this run",
     .side = '>'},
    {.head = "time", .help = "from the first to the last of them", .side = '>'},
    {.head = "images/s", .help = "without the time of validation", .side = '>'},
    {.head = "waiting",
     .help = "part of the time spent waiting for input",
     .side = '>'},
    {.head = "computing", .help = "part spent computing", .side = '>'},
    {.head = "saving",
     .help = "part in which a checkpoint held training up",
     .side = '>',
     .only = SAVED},
    {.head = "validating",
     .help = "part spent on the held-out samples",
     .side = '>',
     .only = VALIDATED},
    {.head = "first loss",
     .help = "cross entropy of the first batch",
     .side = '>',
     .only = COMPUTED},
    {.head = "last loss",
     .help = "mean of the last 10 batches",
     .side = '>',
     .only = COMPUTED},
    {.head = NULL}};

static const struct wr_column validation_columns[] = {
    {.head = "iteration",
     .help = "after which the held-out samples were classified",
     .side = '>'},
    {.head = "accuracy", .help = "part of them that was right", .side = '>'},
    {.head = "loss",
     .help = "mean cross entropy of the held-out samples",
     .side = '>'},
    {.head = NULL}};

static const struct wr_column save_columns[] = {
    {.head = "saves", .help = "checkpoints written", .side = '>'},
    {.head = "size", .help = "of one of them", .side = '>'},
    {.head = "stall",
     .help = "how long training stood still, mean",
     .side = '>'},
    {.head = "longest", .help = "the longest stall", .side = '>'},
    {.head = "on fast",
     .help =
         "from the call until it was on the fast tier, or the only one; mean",
     .side = '>'},
    {.head = "on slow",
     .help = "and on the slow tier",
     .side = '>',
     .only = SAVED},
    {.head = "at the end",
     .help = "waited after the last iteration, until all was safe",
     .side = '>'},
    {.head = NULL}};

const struct wr_columns wr_train_columns[] = {
    {"the run", wr_train_run_columns},
    {"validation", validation_columns},
    {"checkpoints", save_columns},
    {NULL, NULL}};

static double result(const json_t *record, const char *key)
{
    return wr_get_number(wr_get_object(record, "result"), key);
}

void wr_train_run_table(struct wr_doc_section *s, const char *title,
                        const json_t *j)
{
    static const struct {
        const char *key;
        unsigned only;
    } parts[] = {{"wait_s", 0},
                 {"step_s", 0},
                 {"save_s", SAVED},
                 {"validate_s", VALIDATED}};
    double done = result(j, "iterations") - fmax(0, result(j, "resumed_at"));
    double seconds = result(j, "seconds");
    unsigned which = (isnan(result(j, "loss_first")) ? 0 : COMPUTED) |
                     (result(j, "saves") > 0 ? SAVED : 0) |
                     (result(j, "validate_s") > 0 ? VALIDATED : 0);
    struct wr_doc_table *t;

    if (!(done > 0))
        return;
    t = wr_doc_table_of(s, title, wr_train_run_columns, which);
    wr_doc_number(t, done, 0);
    wr_say_time_cell(t, seconds);
    wr_doc_number(t, result(j, "samples_per_s"), 1);
    for (size_t i = 0; i < WR_ARRAY_LEN(parts); i++)
        if (!parts[i].only || parts[i].only & which)
            wr_doc_percent(t, 100 * result(j, parts[i].key) / seconds, 1);
    if (which & COMPUTED) {
        double first = result(j, "loss_first"), last = result(j, "loss_last");

        wr_doc_shown(t, first, "%.4g", first);
        wr_doc_shown(t, last, "%.4g", last);
    }
}

void wr_train_validation_table(struct wr_doc_section *s, const char *title,
                               const json_t *j)
{
    const json_t *list = wr_get_list(j, "validations");
    size_t n = json_array_size(list);
    struct wr_doc_table *t;

    if (n < 2)
        return;
    t = wr_doc_table_of(s, title, validation_columns, 0);
    for (size_t i = n - WR_MIN(n, (size_t)VALIDATIONS_SHOWN); i < n; i++) {
        const json_t *v = json_array_get(list, i);
        double loss = wr_get_number(v, "loss");

        wr_doc_number(t, wr_get_number(v, "iteration"), 0);
        wr_doc_percent(t, 100 * wr_get_number(v, "accuracy"), 1);
        wr_doc_shown(t, loss, "%.4g", loss);
    }
}

/* Mean of what is known of the saves that were kept; NaN: nothing is. */
static double mean_of(const json_t *saves, const char *key)
{
    double sum = 0;
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(saves); i++) {
        double v = wr_get_number(json_array_get(saves, i), key);

        sum += isnan(v) ? 0 : v;
        count += !isnan(v);
    }
    return count ? sum / (double)count : NAN;
}

void wr_train_save_table(struct wr_doc_section *s, const char *title,
                         const json_t *j)
{
    const json_t *saves = wr_get_list(j, "saves");
    double count = result(j, "saves");
    double bytes = wr_get_number(j, "network.state_bytes");
    bool slow = *wr_get_text(j, "settings.slow");
    struct wr_doc_table *t;
    char size[32];

    if (!(count > 0))
        return;
    t = wr_doc_table_of(s, title, save_columns, slow ? SAVED : 0);
    wr_doc_number(t, count, 0);
    wr_doc_shown(t, bytes, "%s",
                 wr_format_bytes(size, sizeof(size), fmax(0, bytes)));
    wr_say_time_cell(t, result(j, "save_s") / count);
    wr_say_time_cell(t, result(j, "save_max_s"));
    wr_say_time_cell(t, mean_of(saves, "fast_s"));
    if (slow)
        wr_say_time_cell(t, mean_of(saves, "slow_s"));
    wr_say_time_cell(t, result(j, "flush_s"));
}

/* --- in words --- */

static bool is_cpu(const json_t *j)
{
    return !strcmp(wr_get_text(j, "accelerator.name"), "cpu");
}

static bool is_limit(const json_t *j, const char *limit)
{
    return !strcmp(wr_get_text(j, "result.limit"), limit);
}

bool wr_train_needs_cores(const json_t *j)
{
    bool emulated = wr_get(j, "accelerator.fixed_ms") != NULL;

    return !emulated || !is_limit(j, "compute");
}

static void say_accuracy(struct wr_doc_section *s, const json_t *j)
{
    double count = result(j, "held_out"), chance = result(j, "chance");
    double most = result(j, "most_common");
    char common[96] = "";

    if (!(count > 0))
        return;
    if (most > UNEVEN * chance)
        snprintf(common, sizeof(common),
                 "; always the most common class: %.1f %%", 100 * most);
    wr_doc_note(s, false,
                "Held-out accuracy %.1f %% of %.0f sample%s (chance: %.1f "
                "%%%s), loss %.3g.",
                100 * result(j, "accuracy"), count, count == 1 ? "" : "s",
                100 * chance, common, result(j, "held_out_loss"));
}

/* Why the input was late, from what its workers did. */
static const char *input_reason(const json_t *j)
{
    static const char *const reasons[][2] = {
        {"storage-bound", "the storage is too slow for it"},
        {"decode-bound", "decoding takes the cores"},
        {"convert-bound", "converting tensors takes the cores"}};

    for (size_t i = 0; i < WR_ARRAY_LEN(reasons); i++)
        if (!strcmp(wr_get_text(j, "input.verdict"), reasons[i][0]))
            return reasons[i][1];
    return is_cpu(j) ? "it shares the cores with computing"
                     : "its workers had little to do";
}

static void say_limit(struct wr_doc_section *s, const json_t *j)
{
    double first = fmax(0, result(j, "first_wait_s"));
    double waited = result(j, "wait_s") - first, saved = result(j, "save_s");
    double all = waited + result(j, "step_s") + saved;
    double wait = all > 0 ? 100 * waited / all : 0;
    double save = all > 0 ? 100 * saved / all : 0;
    bool snapshot = !strcmp(wr_get_text(j, "settings.level"), "snapshot");
    char saving[48] = "";

    if (result(j, "saves") > 0)
        snprintf(saving, sizeof(saving), ", saving %.1f %%", save);
    if (is_limit(j, "compute"))
        wr_doc_note(
            s, false,
            "Computing limits: the input cost %.1f %% of the time%s%s.", wait,
            first > LATE * result(j, "seconds") ? " after the first batch" : "",
            saving);
    else if (is_limit(j, "input") &&
             !strcmp(wr_get_text(j, "accelerator.name"), "none"))
        wr_doc_note(s, false, "Input alone: %.1f images/s; %s.",
                    result(j, "samples_per_s"), input_reason(j));
    else if (is_limit(j, "input"))
        wr_doc_note(s, false,
                    "The input limits: training waited for it %.0f %% of the "
                    "time; %s%s.",
                    wait, input_reason(j),
                    wr_get_number(j, "input.prefetch") > 0
                        ? ""
                        : ", and nothing is prefetched (--prefetch 1)");
    else if (is_limit(j, "saving"))
        wr_doc_note(s, false,
                    "Saving limits: training stood still %.0f %% of the time; "
                    "%s it less.",
                    save,
                    snapshot ? "saving less often (--save-every) or a fast "
                               "tier holds"
                             : "--level snapshot or a fast tier holds");
}

void wr_train_words(struct wr_doc_section *s, const json_t *j)
{
    double from = wr_get_number(j, "start_s");
    char machine[WR_VIEW_NAME];

    say_accuracy(s, j);
    say_limit(s, j);
    if (wr_meanwhile(j, from, from + result(j, "seconds"), machine,
                     sizeof(machine)))
        wr_doc_note(s, false, "%s", machine);
    if (*wr_get_text(j, "result.weights_digest"))
        wr_doc_note(s, false, "Digest of the weights: %s",
                    wr_get_text(j, "result.weights_digest"));
}

/* --- input alone, computing alone, everything --- */

/* Why, where the numbers tell. */
static const char *cost_reason(const json_t *j)
{
    if (wr_get_number(j, "compare.input.images_per_s") <
        wr_get_number(j, "compare.synthetic.images_per_s"))
        return "Alone it delivers less than computing takes: 'weir bench' says "
               "what limits it.";
    if (!(wr_get_number(j, "input.prefetch") > 0))
        return "It is fast enough, but nothing is prefetched: --prefetch 1.";
    if (is_cpu(j))
        return "It is fast enough alone: what it costs is the cores that it "
               "shares with computing.";
    return "It is fast enough on average, but batches come too late now and "
           "then: a larger --prefetch may help.";
}

void wr_train_cost(struct wr_doc_section *s, const json_t *j)
{
    const json_t *c = wr_get_object(j, "compare");
    double cost = wr_get_number(c, "cost.median");
    double min = wr_get_number(c, "cost.min"),
           max = wr_get_number(c, "cost.max");
    double rounds = wr_get_number(c, "rounds");
    double n = wr_get_number(c, "iterations");
    /* What is smaller than what the rounds differ by cannot be told from
     * none. */
    bool seen = cost >= SEEN && (min > 0 || max == min);
    char told[96] = "What the input pipeline costs cannot be told, the times "
                    "differ too much",
         spread[96], with[32], without[32], alone[32];

    if (!c || isnan(cost))
        return;
    if (seen)
        snprintf(told, sizeof(told),
                 "The input pipeline costs %.1f %% of the training time",
                 100 * cost);
    else if (fabs(cost) < NOISE && cost < SEEN && max - min < NOISE)
        snprintf(told, sizeof(told),
                 "The input pipeline costs nothing that can be seen here");
    if (rounds > 1)
        snprintf(spread, sizeof(spread), "%.1f to %.1f %% in %.0f rounds",
                 100 * min, 100 * max, rounds);
    else
        snprintf(spread, sizeof(spread), "%.1f %% in one round", 100 * cost);
    wr_doc_note(
        s, false,
        "%s (%s of %.0f iteration%s): %s images/s with it, %s without; alone "
        "it delivers %s images/s.",
        told, spread, n, n == 1 ? "" : "s",
        wr_say_number(wr_get_number(c, "full.images_per_s"), with,
                      sizeof(with)),
        wr_say_number(wr_get_number(c, "synthetic.images_per_s"), without,
                      sizeof(without)),
        wr_say_number(wr_get_number(c, "input.images_per_s"), alone,
                      sizeof(alone)));
    if (seen)
        wr_doc_note(s, false, "%s", cost_reason(j));
}
