/* record.c - the record of weir plan.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "plan/answer.h"
#include "plan/simulate.h"
#include "result/plan.h"
#include "result/record.h"

#define STEPS_MAX 20000 /* times of steps or batches that are kept */
#define SPANS_MAX 50000

/* A number that is not known or has no end is null. */
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* --- what it was made from --- */

static bool fill_inputs(const struct wr_plan_answer *a, struct wr_list *to)
{
    struct wr_plan_input_values *v = wr_list_new(&wr_plan_input_vals, to,
                                                 a->input_count);

    for (size_t k = 0; k < to->count; k++)
        v[k] = (struct wr_plan_input_values){a->inputs[k].path,
                                             a->inputs[k].kind};
    return v;
}

static bool fill_facts(const struct wr_plan_draft *d, struct wr_list *to)
{
    struct wr_plan_fact_values *v = wr_list_new(&wr_plan_fact_vals, to,
                                                WR_PLAN_KEYS);

    to->count = 0;
    for (int k = 0; v && d && k < WR_PLAN_KEYS; k++) {
        const struct wr_plan_fact *f = &d->facts[k];

        if (!f->known || k == WR_PLAN_K_WORKERS_EACH ||
            (k == WR_PLAN_K_STATE && d->plan.save.way == WR_PLAN_NO_SAVES))
            continue;
        v[to->count++] = (struct wr_plan_fact_values){
            .key = wr_plan_key_name((enum wr_plan_key)k),
            .value = f->value,
            .source = f->source,
            .assumed = f->rank == WR_PLAN_ASSUMED};
    }
    return v;
}

static struct wr_plan_config_values config_of(const struct wr_plan_answer *a)
{
    const struct wr_plan *p = &a->draft->plan;

    return (struct wr_plan_config_values){
        .nodes = p->nodes,
        .accelerators = p->compute.accelerators,
        .accelerator = a->draft->facts[WR_PLAN_K_ACCELERATOR].value,
        .model = a->model,
        .workers = p->loader.workers,
        .depth = p->loader.depth,
        .prefetch = p->loader.prefetch,
        .batch = p->compute.batch,
        .style = p->loader.style == WR_PLAN_IN_TURNS ? "in turns" : "together",
        .storage = p->storage.profile.name,
        .epochs = p->epochs,
        .seed = json_integer((json_int_t)p->seed)};
}

/* --- bounds --- */

static bool fill_bounds(const struct wr_plan_bounds *b,
                        struct wr_plan_bounds_values *to)
{
    struct wr_plan_limit_values *v;

    to->samples_per_s = b->samples_per_s;
    to->utilization = b->utilization;
    to->step_s = b->step_s;
    to->load_s = b->load_s;
    v = wr_list_new(&wr_plan_limit_vals, &to->limits, WR_PLAN_RESOURCES);
    to->limits.count = 0;
    for (size_t k = 0; v && k < WR_PLAN_RESOURCES; k++)
        if (isfinite(b->limits[k].samples_per_s))
            v[to->limits.count++] = (struct wr_plan_limit_values){
                wr_plan_resource_name(b->limits[k].resource),
                b->limits[k].samples_per_s};
    return v;
}

static struct wr_plan_demand_values demand_of(const struct wr_plan_answer *a)
{
    const struct wr_plan *p = &a->draft->plan;

    return (struct wr_plan_demand_values){
        .accelerators = (double)p->nodes * p->compute.accelerators,
        .accelerator = a->draft->facts[WR_PLAN_K_ACCELERATOR].value,
        .samples_per_s = a->bounds.need_samples_per_s,
        .bytes_per_s = a->bounds.need_bytes_per_s,
        .opens_per_s = a->bounds.need_opens_per_s,
        .cores = a->bounds.need_cores};
}

/* --- the result --- */

static bool fill_epochs(const struct wr_plan_result *r, struct wr_list *to)
{
    struct wr_plan_epoch_values *v = wr_list_new(&wr_plan_epoch_vals, to,
                                                 r->epoch_count);

    for (size_t k = 0; k < to->count; k++) {
        const struct wr_plan_epoch *e = &r->epochs[k];

        v[k] = (struct wr_plan_epoch_values){
            .seconds = e->seconds,
            .steps = (double)e->steps,
            .samples_per_s = e->samples_per_s,
            .parts = {.computing = e->part_s[WR_PLAN_COMPUTES],
                      .storage = e->part_s[WR_PLAN_FOR_STORAGE],
                      .cores = e->part_s[WR_PLAN_FOR_CORES],
                      .others = e->part_s[WR_PLAN_FOR_OTHERS],
                      .saves = e->part_s[WR_PLAN_FOR_SAVES]}};
    }
    return v;
}

static struct wr_plan_saves_values saves_of(const struct wr_plan_result *r)
{
    return (struct wr_plan_saves_values){
        .count = r->saves ? (double)r->saves : NAN,
        .blocked = r->saves ? (double)r->saves_blocked : NAN,
        .stall_s = r->saves ? r->save_stall_s : NAN,
        .durable_s = r->saves ? r->save_durable_s : NAN};
}

static bool fill_result(const struct wr_plan_answer *a,
                        struct wr_plan_result_values *to)
{
    const struct wr_plan_result *r = &a->result;
    const struct wr_plan *p = &a->draft->plan;
    double epoch_s = wr_plan_epoch_s(p, r);

    *to = (struct wr_plan_result_values){
        .seconds = r->seconds,
        .samples_per_s = r->samples_per_s,
        .steady_per_s = r->steady_per_s,
        .utilization = r->utilization,
        .first_batch_s = r->first_batch_s,
        .storage_busy = r->storage_busy,
        .cores_busy = r->cores_busy,
        .steps = (double)r->step_count,
        .steps_all = (double)a->steps_all,
        .nodes = p->nodes,
        .accelerators = p->compute.accelerators,
        .epoch_s = epoch_s,
        .train_s = r->step_count >= a->steps_all ? r->seconds
                                                 : epoch_s * p->epochs,
        .saves = saves_of(r),
        .lumped = r->lumped,
        .lumped_why = r->lumped ? r->lumped_why : ""};
    return fill_epochs(r, &to->epochs);
}

static json_t *step_ms_json(const struct wr_plan_result *r)
{
    json_t *list = json_array();

    for (size_t k = 0; k < WR_MIN(r->step_count, (size_t)STEPS_MAX); k++)
        json_array_append_new(list, number(r->step_s[k] * 1e3));
    return list;
}

/* --- the other answers --- */

static bool fill_capacity(const struct wr_plan_answer *a,
                          struct wr_plan_capacity_values *to)
{
    const struct wr_plan_capacity *c = &a->capacity;
    struct wr_plan_capacity_point_values *v = wr_list_new(
        &wr_plan_capacity_point_vals, &to->points, c->count);

    to->target = a->target;
    to->accelerators = c->accelerators;
    to->unlimited = c->unlimited;
    for (size_t k = 0; k < to->points.count; k++)
        v[k] = (struct wr_plan_capacity_point_values){
            .accelerators = c->points[k].accelerators,
            .samples_per_s = c->points[k].samples_per_s,
            .utilization = c->points[k].utilization};
    return v;
}

/* The first outcome is the plan itself. */
static bool fill_what_if(const struct wr_plan_answer *a, struct wr_list *to)
{
    size_t n = a->what_if_count ? a->what_if_count - 1 : 0;
    struct wr_plan_change_values *v = wr_list_new(&wr_plan_change_vals, to, n);

    for (size_t k = 0; k < to->count; k++) {
        const struct wr_plan_outcome *w = &a->what_if[k + 1];

        v[k] = (struct wr_plan_change_values){.name = w->change->name,
                                              .what = w->change->what,
                                              .how = w->change->how,
                                              .samples_per_s = w->samples_per_s,
                                              .utilization = w->utilization,
                                              .epoch_s = w->epoch_s,
                                              .gain = w->gain};
    }
    return v;
}

static struct wr_plan_saving_values saving_of(const struct wr_plan_saving *s)
{
    return (struct wr_plan_saving_values){.mtbf_s = s->mtbf_s,
                                          .young_s = s->young_s,
                                          .daly_s = s->daly_s,
                                          .chosen_s = s->chosen_s,
                                          .stall_s = s->stall_s,
                                          .restore_s = s->restore_s,
                                          .drain_s = s->drain_s,
                                          .lost_s = s->lost_s,
                                          .waste = s->waste,
                                          .waste_best = s->waste_best};
}

static bool fill_scale(const struct wr_plan_answer *a, struct wr_list *to)
{
    struct wr_plan_scale_values *v = wr_list_new(&wr_plan_scale_vals, to,
                                                 a->scale_count);

    for (size_t k = 0; k < to->count; k++)
        v[k] = (struct wr_plan_scale_values){
            .nodes = a->scale[k].nodes,
            .samples_per_s = a->scale[k].samples_per_s,
            .utilization = a->scale[k].utilization};
    return v;
}

/* --- the life of a batch --- */

static json_t *lanes_json(const struct wr_plan_answer *a)
{
    const struct wr_plan *p = &a->draft->plan;
    const char *name = a->draft->facts[WR_PLAN_K_ACCELERATOR].value;
    json_t *list = json_array();
    char text[160];

    if (!*name || !strncmp(name, "ms=", 3) || !strcmp(name, "none"))
        name = "accelerator";
    for (uint32_t k = 1; k <= p->loader.workers; k++) {
        snprintf(text, sizeof(text), "worker %u", k);
        json_array_append_new(list, json_string(text));
    }
    json_array_append_new(list, json_string("queue"));
    for (uint32_t k = 1; k <= p->compute.accelerators; k++) {
        snprintf(text, sizeof(text), "%s %u", name, k);
        json_array_append_new(list, wr_text_json(text));
    }
    json_array_append_new(list, json_string("saves"));
    return list;
}

static json_t *life_json(const struct wr_plan_answer *a)
{
    static const char *const kinds[WR_PLAN_SPAN_KINDS] = {
        "read", "decode", "queued", "compute", "wait", "save"};
    const struct wr_plan_result *r = &a->life;
    json_t *o = json_object(), *spans = json_array();

    for (size_t k = 0; k < WR_MIN(r->span_count, (size_t)SPANS_MAX); k++) {
        const struct wr_plan_span *s = &r->spans[k];
        json_t *span = json_array();

        json_array_append_new(span, number(s->from_s * 1e3));
        json_array_append_new(span, number(s->to_s * 1e3));
        json_array_append_new(span, json_integer(s->lane));
        json_array_append_new(span, json_integer(s->batch));
        json_array_append_new(span, json_string(kinds[s->kind]));
        json_array_append_new(spans, span);
    }
    json_object_set_new(o, "lanes", lanes_json(a));
    json_object_set_new(o, "spans", spans);
    return o;
}

/* --- what was seen --- */

static struct wr_plan_explain_values explain_of(const struct wr_plan_answer *a)
{
    const struct wr_plan_explained *e = &a->explained;
    struct wr_plan_explain_values v = {.cause = wr_plan_cause_name(e->cause),
                                       .period = (double)e->period,
                                       .phase = (double)e->phase,
                                       .usual_ms = e->usual_ms,
                                       .stall_ms = e->stall_ms,
                                       .lost_share = e->lost_share,
                                       .sure = e->sure,
                                       .load_ms = e->load_ms,
                                       .workers_needed = e->workers_needed,
                                       .what = e->what,
                                       .why = e->why,
                                       .change = e->change,
                                       .batches = json_array(),
                                       .ms = json_array()};

    for (size_t k = 0; k < WR_MIN(a->times.count, (size_t)STEPS_MAX); k++) {
        json_array_append_new(v.batches,
                              json_integer((json_int_t)a->times.batch[k]));
        json_array_append_new(v.ms, number(a->times.ms[k]));
    }
    return v;
}

/* Whether there was memory for all of it. */
static bool fill_plan(const struct wr_plan_answer *a, struct wr_plan_values *v)
{
    bool whole = fill_bounds(&a->bounds, &v->bounds) &&
                 fill_result(a, &v->result) && fill_what_if(a, &v->what_if) &&
                 fill_scale(a, &v->scale);

    v->config = config_of(a);
    v->demand = demand_of(a);
    if (a->target > 0)
        whole = whole && fill_capacity(a, &v->capacity);
    if (a->saving.mtbf_s > 0)
        v->saving = saving_of(&a->saving);
    if (a->life.span_count)
        v->life = life_json(a);
    v->step_ms = step_ms_json(&a->result);
    return whole;
}

static json_t *values_json(const struct wr_plan_answer *a)
{
    struct wr_plan_values v;
    bool whole;

    wr_vals_clear(&wr_plan_vals, &v);
    whole = fill_inputs(a, &v.inputs) && fill_facts(a->draft, &v.facts) &&
            (!a->draft || fill_plan(a, &v));
    if (a->times.count)
        v.explain = explain_of(a);
    return wr_vals_give(&wr_plan_vals, &v, whole);
}

json_t *wr_plan_record(const struct wr_plan_answer *a)
{
    json_t *o = wr_record_new("plan");

    if (!json_object_update_new(o, values_json(a)))
        return o;
    json_decref(o);
    return NULL;
}
