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

static const char *limit_name(enum wr_train_limit limit)
{
    static const char *const names[] = {
        [WR_TRAIN_LIMIT_NONE] = "unknown",
        [WR_TRAIN_LIMIT_COMPUTE] = "compute",
        [WR_TRAIN_LIMIT_INPUT] = "input",
        [WR_TRAIN_LIMIT_SAVE] = "saving",
    };

    return names[limit];
}

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
    wr_put_real(to, "holdout", (double)p->feed.holdout);
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
        wr_put_real(to, "learning_rate", p->learning_rate);
    }
    put_feed(to, p);
    put_ckpt(to, p);
    return to;
}

static json_t *network_json(const struct wr_train_plan *p,
                            const struct wr_train_result *res)
{
    return json_pack(
        "{s:s, s:f, s:I, s:I, s:I, s:I, s:I}", "name", "alexnet", "width",
        p->width, "parameters", (json_int_t)res->parameters, "classes",
        (json_int_t)res->classes, "cols", (json_int_t)p->feed.picture.width,
        "rows", (json_int_t)p->feed.picture.height, "state_bytes",
        (json_int_t)res->state_bytes);
}

/* --- what came out --- */

static double accuracy_of(const struct wr_train_validation *v)
{
    return v->samples ? (double)v->right / (double)v->samples : NAN;
}

static json_t *validation_json(const struct wr_train_validation *v)
{
    json_t *j = json_object();

    put_number(j, "iteration", v->step);
    wr_put_real(j, "t_s", v->at_s);
    wr_put_real(j, "seconds", v->seconds);
    put_number(j, "samples", v->samples);
    put_number(j, "right", v->right);
    wr_put_real(j, "accuracy", accuracy_of(v));
    wr_put_real(j, "loss", v->loss);
    return j;
}

static json_t *validations_json(const struct wr_train_result *res)
{
    json_t *list = json_array();

    for (size_t i = 0; i < res->validation_kept; i++)
        json_array_append_new(list, validation_json(&res->validations[i]));
    return list;
}

static json_t *saves_json(const struct wr_train_result *res)
{
    json_t *list = json_array();

    for (size_t i = 0; i < res->save_kept; i++) {
        const struct wr_saved *s = &res->saves[i];
        json_t *j = json_object();

        put_number(j, "step", s->step);
        put_number(j, "bytes", s->bytes);
        wr_put_real(j, "t_s", s->at_s);
        wr_put_real(j, "stall_s", s->stall_s);
        wr_put_real(j, "blocked_s", s->blocked_s);
        wr_put_real(j, "fast_s", s->fast_s);
        wr_put_real(j, "slow_s", s->slow_s);
        wr_put_real(j, "verified_s", s->verified_s);
        wr_put_real(j, "drain_s", s->drain_s);
        json_array_append_new(list, j);
    }
    return list;
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

static void put_times(json_t *to, const struct wr_train_result *res)
{
    wr_put_real(to, "seconds", res->seconds);
    wr_put_real(to, "wait_s", res->wait_s);
    wr_put_real(to, "first_wait_s", res->first_wait_s);
    wr_put_real(to, "step_s", res->step_s);
    wr_put_real(to, "save_s", res->save_s);
    wr_put_real(to, "save_max_s", res->save_max_s);
    wr_put_real(to, "validate_s", res->validate_s);
    wr_put_real(to, "flush_s", res->flush_s);
}

static json_t *result_json(const struct wr_train_result *res)
{
    json_t *j = json_object();
    char hex[24];

    put_number(j, "resumed_at", res->from);
    put_number(j, "iterations", res->done);
    put_number(j, "iterations_per_epoch", res->per_epoch);
    put_number(j, "samples", res->samples);
    wr_put_real(j, "samples_per_s", train_rate(res));
    put_times(j, res);
    wr_put_real(j, "loss_first", res->loss_first);
    wr_put_real(j, "loss_last", res->loss_last);
    if (res->last.samples) {
        wr_put_real(j, "accuracy", accuracy_of(&res->last));
        wr_put_real(j, "chance", 1.0 / res->classes);
        wr_put_real(j, "most_common",
                    (double)res->last.most / (double)res->last.samples);
        wr_put_real(j, "held_out_loss", res->last.loss);
        put_number(j, "held_out", res->last.samples);
    }
    put_number(j, "saves", res->save_count);
    if (res->has_saved)
        put_number(j, "saved_step", res->saved);
    if (res->has_digest) {
        snprintf(hex, sizeof(hex), "%016" PRIx64, res->digest);
        json_object_set_new(j, "weights_digest", json_string(hex));
    }
    json_object_set_new(j, "limit", json_string(limit_name(res->limit)));
    return j;
}

static json_t *input_json(const struct wr_train_result *res)
{
    const weir_stats *s = &res->stats;
    json_t *j = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:s, s:o, s:f}", "io", s->io ? s->io : "",
        "bytes", (json_int_t)s->bytes_read, "requests", (json_int_t)s->requests,
        "threads", (json_int_t)s->workers, "prefetch", (json_int_t)s->prefetch,
        "verdict", wr_verdict_name(weir_stats_verdict(s)), "times",
        wr_input_json(s), "first_batch_ms", (double)s->first_batch_ns / 1e6);

    if (j && *res->tuning)
        json_object_set_new(j, "tuning", wr_text_json(res->tuning));
    return j;
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
    bad |= json_object_set_new(
        record, "accelerator",
        wr_accelerator_json(&plan->accelerator, plan->feed.batch));
    bad |= json_object_set_new(record, "network", network_json(plan, res));
    bad |= json_object_set_new(record, "settings", settings_json(plan));
    bad |= json_object_set_new(record, "result", result_json(res));
    if (!plan->synthetic)
        bad |= json_object_set_new(record, "input", input_json(res));
    bad |= json_object_set_new(record, "series", series_json(&res->series));
    bad |= json_object_set_new(record, "validations", validations_json(res));
    bad |= json_object_set_new(record, "saves", saves_json(res));
    put_number(record, "bad_count", res->bad_count);
    bad |= json_object_set_new(record, "bad",
                               wr_bad_json(res->bad, res->bad_kept));
    wr_put_real(record, "start_s", wr_monitor_at(m, res->start_ns));
    bad |= wr_monitor_record(m, record);
    return bad;
}

static json_t *rate_json(const struct wr_train_spread *s, unsigned runs)
{
    return json_pack("{s:f, s:f, s:f, s:i}", "images_per_s", s->median, "min",
                     s->min, "max", s->max, "runs", (int)runs);
}

json_t *wr_train_compared_json(const struct wr_train_compared *c)
{
    return json_pack(
        "{s:i, s:i, s:I, s:{s:f, s:f, s:f}, s:o, s:o, s:o}", "rounds",
        (int)c->rounds, "warm_up_runs", 1, "iterations",
        (json_int_t)c->iterations, "cost", "median", c->cost.median, "min",
        c->cost.min, "max", c->cost.max, "input",
        rate_json(&c->rate[WR_TRAIN_WAY_INPUT], c->rounds), "synthetic",
        rate_json(&c->rate[WR_TRAIN_WAY_SYNTHETIC], c->rounds), "full",
        rate_json(&c->rate[WR_TRAIN_WAY_FULL], c->rounds));
}

json_t *wr_train_record(const struct wr_train_plan *plan,
                        const struct wr_train_result *res,
                        const struct wr_monitor *m)
{
    json_t *record = wr_record_new("train");

    if (record && put_all(record, plan, res, m)) {
        json_decref(record);
        record = NULL;
    }
    return record;
}
