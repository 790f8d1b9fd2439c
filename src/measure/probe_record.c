/* probe_record.c - the results of a probe for programs: the record.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/probe_record.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/emu_url.h"
#include "base/mem.h"
#include "measure/parts.h"
#include "result/record.h"

static const char *const op_names[] = {[WR_PROBE_READ] = "read",
                                       [WR_PROBE_WRITE] = "write",
                                       [WR_PROBE_FILES] = "files",
                                       [WR_PROBE_CREATE] = "create",
                                       [WR_PROBE_SYNC] = "sync"};

static const char *const pattern_names[] = {
    [WR_PROBE_SEQUENTIAL] = "sequential", [WR_PROBE_RANDOM] = "random"};

/* With what only a record needs. NULL: memory is short. */
static struct wr_probe_run_values *runs_of(const struct wr_probe_result *res,
                                           const struct wr_monitor *m)
{
    struct wr_probe_run_values *v = calloc(res->run_count + 1, sizeof(*v));

    for (unsigned i = 0; v && i < res->run_count; i++) {
        const struct wr_probe_run *run = &res->runs[i];

        v[i] = run->v;
        v[i].start_s = wr_monitor_at(m, run->start_ns);
        v[i].latency_us = wr_latency_of(run->latency);
        v[i].open_us = wr_latency_of(run->open);
        v[i].transfer_us = wr_latency_of(run->transfer);
        v[i].close_us = wr_latency_of(run->close);
    }
    return v;
}

static struct wr_latency_values
latency_of_all(const struct wr_probe_result *res, enum wr_probe_step step)
{
    struct wr_hist all;

    wr_probe_latency(res, step, &all);
    return wr_latency_of(all.count ? &all : NULL);
}

static json_t *test_json(const struct wr_probe_record *p, size_t k)
{
    const struct wr_probe_test *t = &p->plan->tests[k];
    const struct wr_probe_result *res = &p->report->results[k];
    struct wr_probe_run_values *runs = runs_of(res, p->monitor);
    struct wr_probe_test_values v;
    char name[WR_PROBE_NAME];
    json_t *j;

    wr_vals_clear(&wr_probe_test_vals, &v);
    v.name = wr_probe_test_name(t, name, sizeof(name));
    v.op = op_names[t->op];
    v.pattern = pattern_names[t->pattern];
    v.block = (double)t->block;
    v.depth = t->depth;
    v.workers = t->workers;
    v.direct = t->direct;
    if (res->skipped) {
        v.skipped = res->reason;
    } else {
        v.result = res->v;
        v.result.latency_us = latency_of_all(res, WR_PROBE_ALL_STEPS);
        v.result.open_us = latency_of_all(res, WR_PROBE_OPEN);
        v.result.transfer_us = latency_of_all(res, WR_PROBE_TRANSFER);
        v.result.close_us = latency_of_all(res, WR_PROBE_CLOSE);
        v.runs = (struct wr_list){runs, res->run_count, sizeof(*runs)};
    }
    j = runs ? wr_vals_json(&wr_probe_test_vals, &v, WR_FOR_RECORD) : NULL;
    free(runs);
    return j;
}

static json_t *mix_json(const struct wr_probe_mix *mix)
{
    json_t *parts = json_array();

    for (size_t k = 0; k < mix->count; k++)
        json_array_append_new(parts, json_pack("{s:I, s:f}", "bytes",
                                               (json_int_t)mix->part[k].bytes,
                                               "share", mix->part[k].share));
    return json_pack("{s:o, s:o}", "name", wr_text_json(mix->name), "parts",
                     parts);
}

static json_t *cache_json(const struct wr_probe_cache *c)
{
    return json_pack("{s:b, s:b, s:f, s:b, s:o}", "direct",
                     (int)c->direct_works, "dropped", (int)c->dropped,
                     "resident", c->resident, "below", (int)c->below, "signs",
                     wr_text_json(c->signs));
}

static bool fill_saturation(const struct wr_probe_record *p, struct wr_list *to)
{
    struct wr_probe_saturation_values *v = wr_list_new(
        &wr_probe_saturation_vals, to, p->plan->test_count);

    to->count = 0;
    for (size_t k = 0; v && k < p->plan->test_count; k++) {
        const struct wr_probe_test *t = &p->plan->tests[k];
        bool reached;
        unsigned depth = wr_probe_saturation(p->plan, p->report, t, &reached);

        if (depth && depth == t->depth)
            v[to->count++] = (struct wr_probe_saturation_values){
                .op = op_names[t->op],
                .pattern = pattern_names[t->pattern],
                .block = (double)t->block,
                .direct = t->direct,
                .workers = t->workers,
                .depth = depth,
                .reached = reached,
                .ops_per_s = p->report->results[k].v.ops_per_s,
                .bytes_per_s = p->report->results[k].v.bytes_per_s};
    }
    return v;
}

/* "emu:hdd:/data" is emulated by the profile "hdd"; "": it is not. */
static const char *profile_of(const char *url, char *buf, size_t cap)
{
    struct wr_emu_url emu;

    snprintf(buf, cap, "%s", wr_emu_url(url, &emu) ? emu.profile : "");
    return buf;
}

json_t *wr_probe_record(const struct wr_probe_record *p)
{
    const struct wr_probe_plan *plan = p->plan;
    const struct wr_probe_report *rep = p->report;
    json_t *record = wr_record_new("probe");
    char profile[PATH_MAX];
    struct wr_probe_head_values v = {
        .path = plan->url,
        .device_profile = profile_of(plan->url, profile, sizeof(profile)),
        .file = plan->file,
        .file_bytes = (double)rep->file_bytes,
        .small_files = rep->small_files,
        .passes = plan->passes,
        .seconds = plan->seconds,
        .engine = rep->engine,
        .sizes = mix_json(&plan->mix),
        .cache = cache_json(&rep->cache),
        .tests = json_array()};
    bool whole = fill_saturation(p, &v.saturation);
    int bad = 0;

    for (size_t k = 0; k < plan->test_count; k++)
        bad |= json_array_append_new(v.tests, test_json(p, k));
    bad |= json_object_set_new(record, "host", wr_host_json_of(p->store));
    bad |= json_object_update_new(record,
                                  wr_vals_give(&wr_probe_head_vals, &v, whole));
    bad |= wr_monitor_record(p->monitor, record);
    if (!bad)
        return record;
    json_decref(record);
    return NULL;
}

json_t *wr_probe_plan_json(const struct wr_probe_plan *plan)
{
    json_t *tests = json_array();
    char name[WR_PROBE_NAME];

    for (size_t k = 0; k < plan->test_count; k++)
        json_array_append_new(tests, json_string(wr_probe_test_name(
                                         &plan->tests[k], name, sizeof(name))));
    return json_pack(
        "{s:o, s:i, s:f, s:f, s:I, s:o}", "path", wr_text_json(plan->url),
        "passes", (int)plan->passes, "seconds_per_test", plan->seconds,
        "seconds", (double)plan->test_count * plan->passes * plan->seconds,
        "bytes_written", (json_int_t)wr_probe_space(plan), "tests", tests);
}
