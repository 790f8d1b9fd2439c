/* probe_record.c - the results of a probe for programs: the record.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/probe_record.h"

#include <string.h>

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

static json_t *hist_json(const struct wr_hist *h)
{
    static const struct {
        const char *name;
        double q;
    } quantiles[] = {
        {"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}};
    json_t *j = json_object();

    json_object_set_new(
        j, "mean",
        json_real(h->count ? (double)h->sum / (double)h->count / 1e3 : 0));
    for (size_t k = 0; k < sizeof(quantiles) / sizeof(quantiles[0]); k++)
        json_object_set_new(
            j, quantiles[k].name,
            json_real((double)wr_hist_quantile(h, quantiles[k].q) / 1e3));
    json_object_set_new(j, "max", json_real((double)h->max / 1e3));
    return j;
}

static void put_hist(json_t *to, const char *key, const struct wr_hist *h)
{
    if (h)
        json_object_set_new(to, key, hist_json(h));
}

static json_t *run_json(const struct wr_probe_run *run,
                        const struct wr_monitor *m)
{
    json_t *j = json_pack("{s:f, s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "seconds",
                          run->seconds, "bytes", (json_int_t)run->bytes, "ops",
                          (json_int_t)run->ops, "bytes_per_s", run->bytes_per_s,
                          "ops_per_s", run->ops_per_s, "cpu_s", run->cpu_s,
                          "resident", run->resident, "start_s",
                          wr_monitor_at(m, run->start_ns));

    put_hist(j, "latency_us", run->latency);
    put_hist(j, "open_us", run->open);
    put_hist(j, "transfer_us", run->transfer);
    put_hist(j, "close_us", run->close);
    return j;
}

static json_t *test_json(const struct wr_probe_record *p, size_t k)
{
    const struct wr_probe_test *t = &p->plan->tests[k];
    const struct wr_probe_result *res = &p->report->results[k];
    char name[WR_PROBE_NAME];
    json_t *j = json_pack("{s:s, s:s, s:s, s:I, s:i, s:i, s:b}", "name",
                          wr_probe_test_name(t, name, sizeof(name)), "op",
                          op_names[t->op], "pattern", pattern_names[t->pattern],
                          "block", (json_int_t)t->block, "depth", (int)t->depth,
                          "workers", (int)t->workers, "direct", (int)t->direct);
    static const struct {
        const char *key;
        enum wr_probe_step step;
    } steps[] = {{"latency_us", WR_PROBE_ALL_STEPS},
                 {"open_us", WR_PROBE_OPEN},
                 {"transfer_us", WR_PROBE_TRANSFER},
                 {"close_us", WR_PROBE_CLOSE}};
    json_t *runs, *result;

    if (res->skipped) {
        json_object_set_new(j, "skipped", wr_text_json(res->reason));
        return j;
    }
    runs = json_array();
    for (unsigned i = 0; i < res->run_count; i++)
        json_array_append_new(runs, run_json(&res->runs[i], p->monitor));
    result = json_pack("{s:f, s:f, s:f, s:f, s:f}", "bytes_per_s",
                       res->bytes_per_s, "ops_per_s", res->ops_per_s,
                       "ops_per_s_min", res->ops_min, "ops_per_s_max",
                       res->ops_max, "cpu_s_per_gb", res->cpu_s_per_gb);
    for (size_t i = 0; i < WR_ARRAY_LEN(steps); i++) {
        struct wr_hist all;

        wr_probe_latency(res, steps[i].step, &all);
        put_hist(result, steps[i].key, all.count ? &all : NULL);
    }
    json_object_set_new(j, "result", result);
    json_object_set_new(j, "runs", runs);
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

static json_t *saturation_json(const struct wr_probe_record *p)
{
    json_t *list = json_array();

    for (size_t k = 0; k < p->plan->test_count; k++) {
        const struct wr_probe_test *t = &p->plan->tests[k];
        bool reached;
        unsigned depth = wr_probe_saturation(p->plan, p->report, t, &reached);

        if (depth && depth == t->depth)
            json_array_append_new(
                list,
                json_pack("{s:s, s:s, s:I, s:b, s:i, s:i, s:b, s:f, s:f}", "op",
                          op_names[t->op], "pattern", pattern_names[t->pattern],
                          "block", (json_int_t)t->block, "direct",
                          (int)t->direct, "workers", (int)t->workers, "depth",
                          (int)depth, "reached", (int)reached, "ops_per_s",
                          p->report->results[k].ops_per_s, "bytes_per_s",
                          p->report->results[k].bytes_per_s));
    }
    return list;
}

/* "emu:hdd:/data" is played by the profile "hdd". */
static void put_profile(json_t *to, const char *url)
{
    const char *name, *end;

    if (strncmp(url, "emu:", 4))
        return;
    name = url + 4;
    end = strchr(name, ':');
    if (end)
        json_object_set_new(to, "device_profile",
                            json_stringn(name, (size_t)(end - name)));
}

json_t *wr_probe_record(const struct wr_probe_record *p)
{
    const struct wr_probe_plan *plan = p->plan;
    const struct wr_probe_report *rep = p->report;
    json_t *record = wr_record_new("probe"), *tests = json_array();
    int bad = 0;

    for (size_t k = 0; k < plan->test_count; k++)
        bad |= json_array_append_new(tests, test_json(p, k));
    bad |= json_object_set_new(record, "host", wr_host_json_of(p->store));
    bad |= json_object_set_new(record, "path", wr_text_json(plan->url));
    put_profile(record, plan->url);
    if (plan->file)
        bad |= json_object_set_new(record, "file", wr_text_json(plan->file));
    bad |= json_object_update_new(
        record, json_pack("{s:I, s:i, s:i, s:f, s:s}", "file_bytes",
                          (json_int_t)rep->file_bytes, "small_files",
                          (int)rep->small_files, "passes", (int)plan->passes,
                          "seconds", plan->seconds, "engine", rep->engine));
    bad |= json_object_set_new(record, "sizes", mix_json(&plan->mix));
    bad |= json_object_set_new(record, "cache", cache_json(&rep->cache));
    bad |= json_object_set_new(record, "tests", tests);
    bad |= json_object_set_new(record, "saturation", saturation_json(p));
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
