/* record.c - the record of weir plan.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "plan/answer.h"
#include "plan/simulate.h"
#include "result/record.h"

#define STEPS_MAX 20000 /* times of steps or batches that are kept */
#define SPANS_MAX 50000

/* A number that is not known or has no end is null. */
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static void put(json_t *to, const char *key, double x)
{
    json_object_set_new(to, key, number(x));
}

static void put_count(json_t *to, const char *key, uint64_t n)
{
    json_object_set_new(to, key, json_integer((json_int_t)n));
}

static void put_text(json_t *to, const char *key, const char *text)
{
    json_object_set_new(to, key, text ? wr_text_json(text) : json_null());
}

/* --- what it was made from --- */

static json_t *inputs_json(const struct wr_plan_answer *a)
{
    json_t *list = json_array();

    for (size_t k = 0; k < a->input_count; k++) {
        json_t *o = json_object();

        put_text(o, "path", a->inputs[k].path);
        put_text(o, "kind", a->inputs[k].kind);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *facts_json(const struct wr_plan_draft *d)
{
    json_t *list = json_array();

    for (int k = 0; d && k < WR_PLAN_KEYS; k++) {
        const struct wr_plan_fact *f = &d->facts[k];
        json_t *o;

        if (!f->known || k == WR_PLAN_K_WORKERS_EACH ||
            (k == WR_PLAN_K_STATE && d->plan.save.way == WR_PLAN_NO_SAVES))
            continue;
        o = json_object();
        put_text(o, "key", wr_plan_key_name((enum wr_plan_key)k));
        put_text(o, "value", f->value);
        put_text(o, "source", f->source);
        json_object_set_new(o, "assumed",
                            json_boolean(f->rank == WR_PLAN_ASSUMED));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *config_json(const struct wr_plan_answer *a)
{
    const struct wr_plan *p = &a->draft->plan;
    json_t *o = json_object();

    put_count(o, "nodes", p->nodes);
    put_count(o, "accelerators", p->compute.accelerators);
    put_text(o, "accelerator", a->draft->facts[WR_PLAN_K_ACCELERATOR].value);
    put_text(o, "model", a->model);
    put_count(o, "workers", p->loader.workers);
    put_count(o, "depth", p->loader.depth);
    put_count(o, "prefetch", p->loader.prefetch);
    put_count(o, "batch", p->compute.batch);
    put_text(o, "style",
             p->loader.style == WR_PLAN_IN_TURNS ? "in turns" : "together");
    put_text(o, "storage", p->storage.profile.name);
    put_count(o, "epochs", p->epochs);
    put_count(o, "seed", p->seed);
    return o;
}

/* --- bounds --- */

static json_t *bounds_json(const struct wr_plan_bounds *b)
{
    json_t *o = json_object(), *limits = json_array();

    put(o, "samples_per_s", b->samples_per_s);
    put(o, "utilization", b->utilization);
    put(o, "step_s", b->step_s);
    put(o, "load_s", b->load_s);
    for (size_t k = 0; k < WR_PLAN_RESOURCES; k++) {
        json_t *l;

        if (!isfinite(b->limits[k].samples_per_s))
            continue;
        l = json_object();
        put_text(l, "resource", wr_plan_resource_name(b->limits[k].resource));
        put(l, "samples_per_s", b->limits[k].samples_per_s);
        json_array_append_new(limits, l);
    }
    json_object_set_new(o, "limits", limits);
    return o;
}

static json_t *demand_json(const struct wr_plan_answer *a)
{
    const struct wr_plan *p = &a->draft->plan;
    json_t *o = json_object();

    put_count(o, "accelerators", (uint64_t)p->nodes * p->compute.accelerators);
    put_text(o, "accelerator", a->draft->facts[WR_PLAN_K_ACCELERATOR].value);
    put(o, "samples_per_s", a->bounds.need_samples_per_s);
    put(o, "bytes_per_s", a->bounds.need_bytes_per_s);
    put(o, "opens_per_s", a->bounds.need_opens_per_s);
    put(o, "cores", a->bounds.need_cores);
    return o;
}

/* --- the result --- */

static json_t *epoch_json(const struct wr_plan_epoch *e)
{
    static const char *const names[WR_PLAN_PARTS] = {
        "computing", "storage", "cores", "others", "saves"};
    json_t *o = json_object(), *parts = json_object();

    put(o, "seconds", e->seconds);
    put_count(o, "steps", e->steps);
    put(o, "samples_per_s", e->samples_per_s);
    for (size_t k = 0; k < WR_PLAN_PARTS; k++)
        put(parts, names[k], e->part_s[k]);
    json_object_set_new(o, "parts", parts);
    return o;
}

static json_t *saves_json(const struct wr_plan_result *r)
{
    json_t *o = json_object();

    put_count(o, "count", r->saves);
    put_count(o, "blocked", r->saves_blocked);
    put(o, "stall_s", r->save_stall_s);
    put(o, "durable_s", r->save_durable_s);
    return o;
}

static void put_totals(json_t *o, const struct wr_plan_answer *a)
{
    const struct wr_plan_result *r = &a->result;
    const struct wr_plan *p = &a->draft->plan;

    put(o, "seconds", r->seconds);
    put(o, "samples_per_s", r->samples_per_s);
    put(o, "steady_per_s", r->steady_per_s);
    put(o, "utilization", r->utilization);
    put(o, "first_batch_s", r->first_batch_s);
    put(o, "storage_busy", r->storage_busy);
    put(o, "cores_busy", r->cores_busy);
    put_count(o, "steps", r->step_count);
    put_count(o, "steps_all", a->steps_all);
    put_count(o, "nodes", p->nodes);
    put_count(o, "accelerators", p->compute.accelerators);
    put(o, "epoch_s", wr_plan_epoch_s(p, r));
    put(o, "train_s",
        r->step_count >= a->steps_all ? r->seconds
                                      : wr_plan_epoch_s(p, r) * p->epochs);
}

static json_t *result_json(const struct wr_plan_answer *a)
{
    const struct wr_plan_result *r = &a->result;
    json_t *o = json_object(), *epochs = json_array();

    put_totals(o, a);
    for (size_t k = 0; k < r->epoch_count; k++)
        json_array_append_new(epochs, epoch_json(&r->epochs[k]));
    json_object_set_new(o, "epochs", epochs);
    if (r->saves)
        json_object_set_new(o, "saves", saves_json(r));
    json_object_set_new(o, "lumped", json_boolean(r->lumped));
    if (r->lumped)
        put_text(o, "lumped_why", r->lumped_why);
    return o;
}

static json_t *step_ms_json(const struct wr_plan_result *r)
{
    json_t *list = json_array();

    for (size_t k = 0; k < WR_MIN(r->step_count, (size_t)STEPS_MAX); k++)
        json_array_append_new(list, number(r->step_s[k] * 1e3));
    return list;
}

/* --- the other answers --- */

static json_t *capacity_json(const struct wr_plan_answer *a)
{
    const struct wr_plan_capacity *c = &a->capacity;
    json_t *o = json_object(), *points = json_array();

    put(o, "target", a->target);
    put_count(o, "accelerators", c->accelerators);
    json_object_set_new(o, "unlimited", json_boolean(c->unlimited));
    for (size_t k = 0; k < c->count; k++) {
        json_t *point = json_object();

        put_count(point, "accelerators", c->points[k].accelerators);
        put(point, "samples_per_s", c->points[k].samples_per_s);
        put(point, "utilization", c->points[k].utilization);
        json_array_append_new(points, point);
    }
    json_object_set_new(o, "points", points);
    return o;
}

static json_t *what_if_json(const struct wr_plan_answer *a)
{
    json_t *list = json_array();

    for (size_t k = 1; k < a->what_if_count; k++) {
        const struct wr_plan_outcome *w = &a->what_if[k];
        json_t *o = json_object();

        put_text(o, "name", w->change->name);
        put_text(o, "what", w->change->what);
        put_text(o, "how", w->change->how);
        put(o, "samples_per_s", w->samples_per_s);
        put(o, "utilization", w->utilization);
        put(o, "epoch_s", w->epoch_s);
        put(o, "gain", w->gain);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *saving_json(const struct wr_plan_saving *s)
{
    json_t *o = json_object();

    put(o, "mtbf_s", s->mtbf_s);
    put(o, "young_s", s->young_s);
    put(o, "daly_s", s->daly_s);
    put(o, "chosen_s", s->chosen_s);
    put(o, "stall_s", s->stall_s);
    put(o, "restore_s", s->restore_s);
    put(o, "drain_s", s->drain_s);
    put(o, "lost_s", s->lost_s);
    put(o, "waste", s->waste);
    put(o, "waste_best", s->waste_best);
    return o;
}

static json_t *scale_json(const struct wr_plan_answer *a)
{
    json_t *list = json_array();

    for (size_t k = 0; k < a->scale_count; k++) {
        json_t *o = json_object();

        put_count(o, "nodes", a->scale[k].nodes);
        put(o, "samples_per_s", a->scale[k].samples_per_s);
        put(o, "utilization", a->scale[k].utilization);
        json_array_append_new(list, o);
    }
    return list;
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

static json_t *explain_json(const struct wr_plan_answer *a)
{
    const struct wr_plan_explained *e = &a->explained;
    json_t *o = json_object(), *batches = json_array(), *ms = json_array();

    put_text(o, "cause", wr_plan_cause_name(e->cause));
    put_count(o, "period", e->period);
    put_count(o, "phase", e->phase);
    put(o, "usual_ms", e->usual_ms);
    put(o, "stall_ms", e->stall_ms);
    put(o, "lost_share", e->lost_share);
    put(o, "sure", e->sure);
    put(o, "load_ms", e->load_ms);
    put_count(o, "workers_needed", e->workers_needed);
    put_text(o, "what", e->what);
    put_text(o, "why", e->why);
    put_text(o, "change", e->change);
    for (size_t k = 0; k < WR_MIN(a->times.count, (size_t)STEPS_MAX); k++) {
        json_array_append_new(batches,
                              json_integer((json_int_t)a->times.batch[k]));
        json_array_append_new(ms, number(a->times.ms[k]));
    }
    json_object_set_new(o, "batches", batches);
    json_object_set_new(o, "ms", ms);
    return o;
}

static void put_plan(json_t *o, const struct wr_plan_answer *a)
{
    json_object_set_new(o, "config", config_json(a));
    json_object_set_new(o, "bounds", bounds_json(&a->bounds));
    json_object_set_new(o, "demand", demand_json(a));
    json_object_set_new(o, "result", result_json(a));
    if (a->target > 0)
        json_object_set_new(o, "capacity", capacity_json(a));
    if (a->what_if_count)
        json_object_set_new(o, "what_if", what_if_json(a));
    if (a->saving.mtbf_s > 0)
        json_object_set_new(o, "saving", saving_json(&a->saving));
    if (a->life.span_count)
        json_object_set_new(o, "life", life_json(a));
    if (a->scale_count)
        json_object_set_new(o, "scale", scale_json(a));
    json_object_set_new(o, "step_ms", step_ms_json(&a->result));
}

json_t *wr_plan_record(const struct wr_plan_answer *a)
{
    json_t *o = wr_record_new("plan");

    if (!o)
        return NULL;
    json_object_set_new(o, "inputs", inputs_json(a));
    json_object_set_new(o, "facts", facts_json(a->draft));
    if (a->draft)
        put_plan(o, a);
    if (a->times.count)
        json_object_set_new(o, "explain", explain_json(a));
    return o;
}
