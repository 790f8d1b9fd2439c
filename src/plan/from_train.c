/* from_train.c - what records of weir train and weir run say of a plan.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "plan/from.h"
#include "result/get.h"

/* --- both --- */

/* A list of numbers of the record, said one after the other. */
struct said_path {
    enum wr_plan_key key;
    const char *path;
};

static int say_paths(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                     const json_t *record, const struct said_path *list,
                     weir_err *err)
{
    int r = 0;

    for (; list->path && r == 0; list++)
        r = wr_plan_say(d, who, list->key, wr_get_number(record, list->path),
                        err);
    return r;
}

/* What the workers were busy for each sample; it counts as CPU time, which it
 * is unless others had the cores. */
static double busy_s(const json_t *record, double samples)
{
    const json_t *t = wr_get_object(record, "input.times");

    return (wr_get_number(t, "decode_s") + wr_get_number(t, "resample_s") +
            wr_get_number(t, "submit_s")) /
           samples;
}

static int say_busy(struct wr_plan_draft *d, const struct wr_plan_record *r,
                    double seconds, weir_err *err)
{
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_MEASURED};

    snprintf(source, sizeof(source), "'%.100s': time of the workers%s", r->name,
             wr_get_true(r->json, "cores.starved")
                 ? ", too long: other programs had the cores"
                 : "");
    return wr_plan_say(d, &who, WR_PLAN_K_CPU, seconds, err);
}

static bool is_emulated(const char *url)
{
    struct wr_device_profile p;

    return wr_plan_emulated(url, &p, NULL) > 0;
}

/* The way of saving, by the tiers and the level that was waited for. */
static int say_way(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                   bool two_tiers, const char *level, weir_err *err)
{
    enum wr_plan_way way = !strcmp(level, "snapshot") ? WR_PLAN_ASYNC
                           : two_tiers && strcmp(level, "slow") != 0
                               ? WR_PLAN_BURST
                               : WR_PLAN_DIRECT;
    static const char *const names[] = {"none", "direct", "burst", "async"};
    int r = wr_plan_say_text(d, who, WR_PLAN_K_SAVES, names[way], err);

    if (r > 0) {
        d->plan.save.way = way;
        r = 0;
    }
    return r;
}

/* --- train --- */

static int say_train_saves(struct wr_plan_draft *d,
                           const struct wr_plan_saying *who,
                           const json_t *record, weir_err *err)
{
    const json_t *s = wr_get_object(record, "settings");
    const char *fast = wr_get_text(s, "ckpt"), *slow = wr_get_text(s, "slow");
    struct wr_device_profile p;
    int r;

    if (!*fast || !(wr_get_number(s, "save_every") > 0))
        return 0;
    r = say_way(d, who, *slow != '\0', wr_get_text(s, "level"), err);
    if (r == 0)
        r = wr_plan_say(d, who, WR_PLAN_K_EVERY, wr_get_number(s, "save_every"),
                        err);
    if (r == 0)
        r = wr_plan_say(d, who, WR_PLAN_K_STATE,
                        wr_get_number(record, "network.state_bytes"), err);
    if (r == 0 && wr_plan_emulated(*slow ? slow : fast, &p, NULL) > 0)
        r = wr_plan_say_profile(d, who, WR_PLAN_K_SLOW, &p, err);
    if (r == 0 && *slow && wr_plan_emulated(fast, &p, NULL) > 0)
        r = wr_plan_say_profile(d, who, WR_PLAN_K_FAST, &p, err);
    return r;
}

/* The step: as it was emulated, or as it was computed here. */
static int say_train_step(struct wr_plan_draft *d,
                          const struct wr_plan_saying *who,
                          const json_t *record, weir_err *err)
{
    double done = wr_get_number(record, "result.iterations") -
                  wr_get_number(record, "result.resumed_at");
    double s = wr_get_number(record, "accelerator.step_ms") / 1e3;
    int r;

    if (!(s > 0))
        s = wr_get_number(record, "result.step_s") / done;
    if (!(s > 0))
        return 0;
    r = wr_plan_say_text(d, who, WR_PLAN_K_ACCELERATOR,
                         wr_get_text(record, "accelerator.name"), err);
    if (r <= 0)
        return r;
    d->fixed_s = d->per_sample_s = 0;
    return wr_plan_say(d, who, WR_PLAN_K_STEP, s, err);
}

int wr_plan_from_train(struct wr_plan_draft *d, const struct wr_plan_record *r,
                       weir_err *err)
{
    static const struct said_path paths[] = {
        {WR_PLAN_K_BATCH, "settings.batch"},
        {WR_PLAN_K_WORKERS, "input.threads"},
        {WR_PLAN_K_PREFETCH, "input.prefetch"},
        {WR_PLAN_K_DEPTH, "settings.depth"},
        {WR_PLAN_K_EPOCHS, "settings.epochs"},
        {0, NULL}};
    double samples = wr_get_number(r->json, "result.samples");
    const char *order = wr_get_text(r->json, "settings.order");
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_MEASURED};
    int res = wr_plan_from_dataset(d, r, err);

    snprintf(source, sizeof(source), "'%.150s'", r->name);
    for (const struct said_path *p = paths; p->path && res == 0; p++) {
        double x = wr_get_number(r->json, p->path);

        if (p->key != WR_PLAN_K_EPOCHS || x > 0) /* 0: no limit */
            res = wr_plan_say(d, &who, p->key, x, err);
    }
    if (res == 0 && *order)
        res = wr_plan_say(d, &who, WR_PLAN_K_SEQUENTIAL,
                          strcmp(order, "shuffle") != 0, err);
    if (res == 0)
        res = say_busy(d, r, busy_s(r->json, samples), err);
    if (res == 0)
        res = say_train_step(d, &who, r->json, err);
    if (res == 0)
        res = say_train_saves(d, &who, r->json, err);
    return res;
}

/* --- run --- */

/* The data was in the page cache: the storage is memory, unless another input
 * knows better. */
static int guess_storage(struct wr_plan_draft *d,
                         const struct wr_plan_record *r, weir_err *err)
{
    struct wr_device_profile p;
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_ASSUMED};

    if (d->facts[WR_PLAN_K_STORAGE].known ||
        is_emulated(wr_get_text(r->json, "config.data")) ||
        !(wr_get_number(r->json, "result.resident") >= 0.99))
        return 0;
    wr_plan_memory_profile(&p);
    snprintf(source, sizeof(source), "'%.100s': the data was in the page cache",
             r->name);
    return wr_plan_say_profile(d, &who, WR_PLAN_K_STORAGE, &p, err);
}

static int say_run_saves(struct wr_plan_draft *d,
                         const struct wr_plan_saying *who, const json_t *record,
                         weir_err *err)
{
    const json_t *first = json_array_get(wr_get_list(record, "saves"), 0);
    const json_t *next = json_array_get(wr_get_list(record, "saves"), 1);
    double every = wr_get_number(next, "step") - wr_get_number(first, "step");
    int r;

    if (!first)
        return 0;
    r = wr_plan_say(d, who, WR_PLAN_K_STATE, wr_get_number(first, "bytes"),
                    err);
    if (r == 0 && every >= 1)
        r = wr_plan_say(d, who, WR_PLAN_K_EVERY, every, err);
    return r;
}

int wr_plan_from_run(struct wr_plan_draft *d, const struct wr_plan_record *r,
                     weir_err *err)
{
    static const struct said_path paths[] = {
        {WR_PLAN_K_BATCH, "config.batch"},
        {WR_PLAN_K_WORKERS_EACH, "config.threads"},
        {WR_PLAN_K_PREFETCH, "config.prefetch"},
        {WR_PLAN_K_DEPTH, "config.depth"},
        {WR_PLAN_K_EPOCHS, "config.epochs"},
        {WR_PLAN_K_STEP, "config.step_s"},
        {0, NULL}};
    const json_t *c = wr_get_object(r->json, "config");
    double cpu = wr_get_number(r->json, "result.cpu_s_per_gb") / 1e9 *
                 wr_get_number(r->json, "result.bytes") /
                 wr_get_number(r->json, "result.samples");
    double reads = wr_get_number(r->json, "reads.count");
    double samples = wr_get_number(r->json, "result.samples");
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_MEASURED};
    int res = wr_plan_from_dataset(d, r, err);

    snprintf(source, sizeof(source), "'%.150s'", r->name);
    if (res == 0)
        res = say_paths(d, &who, r->json, paths, err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_GPUS,
                          wr_get_number(c, "accelerators") /
                              WR_MAX(wr_get_number(c, "ranks"), 1),
                          err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_CPU, cpu, err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_SEQUENTIAL,
                          !strcmp(wr_get_text(c, "order"), "sequential"), err);
    if (res == 0 && reads > 0 && reads < 0.9 * samples)
        res = wr_plan_say(d, &who, WR_PLAN_K_UNIT,
                          round(wr_get_number(r->json, "reads.mean_bytes")),
                          err);
    if (res == 0)
        res = guess_storage(d, r, err);
    if (res == 0)
        res = say_run_saves(d, &who, r->json, err);
    return res;
}

/* --- any --- */

int wr_plan_from_record(struct wr_plan_draft *d, const struct wr_plan_record *r,
                        weir_err *err)
{
    static const struct {
        const char *command;
        int (*take)(struct wr_plan_draft *, const struct wr_plan_record *,
                    weir_err *);
    } takers[] = {{"bench", wr_plan_from_bench},
                  {"probe", wr_plan_from_probe},
                  {"ckpt", wr_plan_from_ckpt},
                  {"train", wr_plan_from_train},
                  {"run", wr_plan_from_run}};
    const char *command = wr_get_text(r->json, "command");
    int k = wr_named_index(WR_NAMED(takers), command);

    if (k >= 0)
        return takers[k].take(d, r, err);
    return wr_fail(err, WEIR_EINVAL,
                   "'%s': a record of 'weir %.40s' says nothing of a plan: "
                   "bench, probe, ckpt bench, train and run do",
                   r->name, command);
}
