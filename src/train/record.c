/* record.c - the record of a run of training.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/thread.h"
#include "format/format.h"
#include "measure/parts.h"
#include "result/record.h"
#include "result/train.h"

/* Samples per second, without the time of validation; 0: there were none. */
static double train_rate(const struct wr_train_result *res)
{
    double seconds = res->seconds - res->validate_s;

    return seconds > 0 ? (double)res->samples / seconds : 0;
}

static void put_number(json_t *to, const char *key, uint64_t value)
{
    json_object_set_new(to, key, json_integer((json_int_t)value));
}

/* --- what was asked for --- */

static void put_ckpt(json_t *to, const struct wr_train_plan *p)
{
    if (!p->ckpt.fast)
        return;
    json_object_set_new(to, "ckpt", wr_text_json(p->ckpt.fast));
    if (p->ckpt.slow)
        json_object_set_new(to, "slow", wr_text_json(p->ckpt.slow));
    put_number(to, "save_every", p->save_every);
    json_object_set_new(
        to, "level",
        json_string(wr_choice_name(wr_level_choices, (int)p->level)));
    put_number(to, "keep", p->ckpt.keep_last);
    json_object_set_new(to, "verify", json_boolean(p->ckpt.verify));
    json_object_set_new(to, "resume", json_boolean(p->resume));
}

static void put_feed(json_t *to, const struct wr_train_plan *p)
{
    for (const struct wr_setting *s = wr_settings; s->name; s++)
        if (!p->is_setting || p->is_setting(s))
            wr_setting_json(to, s, &p->feed);
    json_object_set_new(to, "holdout", json_real((double)p->feed.holdout));
}

static json_t *settings_json(const struct wr_train_plan *p)
{
    json_t *to = json_object();

    put_number(to, "iterations", p->iterations);
    put_number(to, "epochs", p->epochs);
    put_number(to, "seed", p->seed);
    json_object_set_new(to, "synthetic", json_boolean(p->synthetic));
    if (p->engine) {
        json_object_set_new(to, "engine", json_string(p->engine->name));
        put_number(to, "compute_threads",
                   p->compute_threads ? p->compute_threads : wr_cpu_count());
        json_object_set_new(to, "learning_rate", json_real(p->learning_rate));
    }
    put_feed(to, p);
    put_ckpt(to, p);
    return to;
}

static struct wr_train_network_values
network_of(const struct wr_train_plan *p, const struct wr_train_result *res)
{
    return (struct wr_train_network_values){
        .name = "alexnet",
        .width = p->width,
        .parameters = (double)res->parameters,
        .classes = res->classes,
        .cols = p->feed.picture.width,
        .rows = p->feed.picture.height,
        .state_bytes = (double)res->state_bytes};
}

/* --- what came out --- */

static double accuracy_of(const struct wr_train_validation *v)
{
    return v->samples ? (double)v->right / (double)v->samples : NAN;
}

static bool fill_validations(const struct wr_train_result *res,
                             struct wr_list *to)
{
    struct wr_train_validation_values *v = wr_list_new(
        &wr_train_validation_vals, to, res->validation_kept);

    for (size_t i = 0; i < to->count; i++) {
        const struct wr_train_validation *x = &res->validations[i];

        v[i] = (struct wr_train_validation_values){
            .iteration = (double)x->step,
            .t_s = x->at_s,
            .seconds = x->seconds,
            .samples = (double)x->samples,
            .right = (double)x->right,
            .accuracy = accuracy_of(x),
            .loss = x->loss};
    }
    return v;
}

static bool fill_saves(const struct wr_train_result *res, struct wr_list *to)
{
    struct wr_train_save_values *v = wr_list_new(&wr_train_save_vals, to,
                                                 res->save_kept);

    for (size_t i = 0; i < to->count; i++) {
        const struct wr_saved *s = &res->saves[i];

        v[i] = (struct wr_train_save_values){.step = (double)s->step,
                                             .bytes = (double)s->bytes,
                                             .t_s = s->at_s,
                                             .stall_s = s->stall_s,
                                             .blocked_s = s->blocked_s,
                                             .fast_s = s->fast_s,
                                             .slow_s = s->slow_s,
                                             .verified_s = s->verified_s,
                                             .drain_s = s->drain_s};
    }
    return v;
}

static json_t *series_json(const struct wr_series *s)
{
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "merged",
                     (json_int_t)s->merge, "t_s", wr_series_json(s, -1, 4),
                     "loss", wr_series_json(s, WR_TRAIN_LOSS, 6), "wait_ms",
                     wr_series_json(s, WR_TRAIN_WAIT_MS, 3), "step_ms",
                     wr_series_json(s, WR_TRAIN_STEP_MS, 3), "save_ms",
                     wr_series_json(s, WR_TRAIN_SAVE_MS, 3));
}

/* Without what only a validation knows; `hex` is for the digest. */
static struct wr_train_result_values
result_of(const struct wr_train_result *res, char hex[24])
{
    snprintf(hex, 24, "%016" PRIx64, res->digest);
    return (struct wr_train_result_values){
        .resumed_at = (double)res->from,
        .iterations = (double)res->done,
        .iterations_per_epoch = (double)res->per_epoch,
        .samples = (double)res->samples,
        .samples_per_s = train_rate(res),
        .seconds = res->seconds,
        .wait_s = res->wait_s,
        .first_wait_s = res->first_wait_s,
        .step_s = res->step_s,
        .save_s = res->save_s,
        .save_max_s = res->save_max_s,
        .validate_s = res->validate_s,
        .flush_s = res->flush_s,
        .loss_first = res->loss_first,
        .loss_last = res->loss_last,
        .accuracy = NAN,
        .chance = NAN,
        .most_common = NAN,
        .held_out_loss = NAN,
        .held_out = NAN,
        .saves = (double)res->save_count,
        .saved_step = res->has_saved ? (double)res->saved : NAN,
        .weights_digest = res->has_digest ? hex : "",
        .limit = wr_train_limits[res->limit]};
}

static void fill_validated(const struct wr_train_result *res,
                           struct wr_train_result_values *to)
{
    const struct wr_train_validation *last = &res->last;

    if (!last->samples)
        return;
    to->accuracy = accuracy_of(last);
    to->chance = 1.0 / res->classes;
    to->most_common = (double)last->most / (double)last->samples;
    to->held_out_loss = last->loss;
    to->held_out = (double)last->samples;
}

static struct wr_train_input_values input_of(const struct wr_train_result *res)
{
    const weir_stats *s = &res->stats;

    return (struct wr_train_input_values){
        .io = s->io,
        .bytes = (double)s->bytes_read,
        .requests = (double)s->requests,
        .threads = s->workers,
        .prefetch = s->prefetch,
        .verdict = wr_verdict_name(weir_stats_verdict(s)),
        .times = wr_input_values(s),
        .first_batch_ms = (double)s->first_batch_ns / 1e6,
        .tuning = res->tuning};
}

static struct wr_train_rate_values rate_of(const struct wr_train_compared *c,
                                           enum wr_train_way way)
{
    const struct wr_train_spread *s = &c->rate[way];

    return (struct wr_train_rate_values){.images_per_s = s->median,
                                         .min = s->min,
                                         .max = s->max,
                                         .runs = c->rounds};
}

static json_t *compare_json(const struct wr_train_compared *c)
{
    const struct wr_train_compare_values v = {
        .rounds = c->rounds,
        .warm_up_runs = 1,
        .iterations = (double)c->iterations,
        .cost = {c->cost.median, c->cost.min, c->cost.max},
        .input = rate_of(c, WR_TRAIN_WAY_INPUT),
        .synthetic = rate_of(c, WR_TRAIN_WAY_SYNTHETIC),
        .full = rate_of(c, WR_TRAIN_WAY_FULL)};

    return wr_vals_json(&wr_train_compare_vals, &v, WR_FOR_RECORD);
}

static json_t *values_json(const struct wr_train_plan *plan,
                           const struct wr_train_result *res,
                           const struct wr_monitor *m)
{
    struct wr_train_values v;
    char hex[24];
    bool whole;

    wr_vals_clear(&wr_train_vals, &v);
    v.accelerator = wr_accelerator_values(&plan->accelerator, plan->feed.batch);
    v.network = network_of(plan, res);
    v.settings = settings_json(plan);
    v.result = result_of(res, hex);
    fill_validated(res, &v.result);
    if (!plan->synthetic)
        v.input = input_of(res);
    v.series = series_json(&res->series);
    whole = fill_validations(res, &v.validations) && fill_saves(res, &v.saves);
    v.bad_count = (double)res->bad_count;
    v.bad = wr_bad_json(res->bad, res->bad_kept);
    v.start_s = wr_monitor_at(m, res->start_ns);
    return wr_vals_give(&wr_train_vals, &v, whole);
}

/* Sets keys of `record`; nonzero when memory is short. */
static int put_all(json_t *record, const struct wr_train_plan *plan,
                   const struct wr_train_result *res,
                   const struct wr_monitor *m)
{
    int bad = 0;

    if (plan->ds) {
        bad |= json_object_set_new(record, "host",
                                   wr_host_json_of(plan->ds->store));
        bad |= json_object_set_new(record, "dataset",
                                   wr_dataset_json(plan->ds));
    }
    bad |= json_object_update_new(record, values_json(plan, res, m));
    bad |= wr_monitor_record(m, record);
    return bad;
}

json_t *wr_train_record(const struct wr_train_plan *plan,
                        const struct wr_train_result *res,
                        const struct wr_train_compared *compared,
                        const struct wr_monitor *m)
{
    json_t *record = wr_record_new("train");

    if (put_all(record, plan, res, m) ||
        (compared->rounds &&
         json_object_set_new(record, "compare", compare_json(compared)))) {
        json_decref(record);
        return NULL;
    }
    return record;
}
