/* dlio_summary.c - DLIO's summary.json: the metrics by its formulas.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Of an epoch the utilization is the mean over all accelerators and the samples
 * per second are their sum; of a run both are the plain mean of the epochs, with
 * the deviation of a population. Bytes are samples times the described size. */
#include "run/dlio_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/procfs.h"
#include "monitor/host.h"
#include "result/record.h"
#include "run/dlio_output.h"

/* --- what DLIO's files say about the machine --- */

#define TEXT_MAX ((size_t)1 << 20) /* of /proc/cpuinfo: hundreds of cores */

/* Hosts of the ranks that the result has. */
static uint32_t dlio_hosts(const struct wr_run_result *res)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < res->rank_count; i++) {
        uint32_t k = 0;

        while (k < i && strcmp(res->ranks[k].host, res->ranks[i].host))
            k++;
        count += k == i;
    }
    return WR_MAX(count, 1u);
}

/* A line without blanks and tabs around name and value. */
static void add_field(json_t *to, char *line)
{
    char *colon = strchr(line, ':'), *end, *value;

    if (!colon)
        return;
    for (end = colon; end > line && strchr(" \t", end[-1]); end--)
        ;
    *end = '\0';
    value = colon + 1 + strspn(colon + 1, " \t");
    json_object_set_new(to, line, wr_text_json(value));
}

json_t *wr_dlio_fields(const char *text)
{
    json_t *to = json_object();
    char *copy = strdup(text), *rest = copy, *line;

    while (copy && (line = strsep(&rest, "\n"))) {
        if (*line)
            add_field(to, line);
        else if (rest && *rest) /* another paragraph */
            json_object_clear(to);
    }
    free(copy);
    return to;
}

static json_t *fields_of(const char *path)
{
    char *text = malloc(TEXT_MAX);
    json_t *to = text && wr_procfs_read_path(path, text, TEXT_MAX) > 0
                     ? wr_dlio_fields(text)
                     : json_object();

    free(text);
    return to;
}

json_t *wr_dlio_meminfo(void)
{
    return fields_of("/proc/meminfo");
}

/* The number, or a list that has it for each host. */
static void put(json_t *to, const char *key, json_t *number, uint32_t hosts)
{
    json_t *list;

    if (!hosts) {
        json_object_set_new(to, key, number);
        return;
    }
    list = json_array();
    for (uint32_t i = 0; i < hosts; i++)
        json_array_append(list, number);
    json_decref(number);
    json_object_set_new(to, key, list);
}

void wr_dlio_put_host(json_t *to, const struct wr_dlio_source *src,
                      bool per_host)
{
    uint32_t hosts = dlio_hosts(src->res);
    double data = (double)src->w->dataset.files_train *
                  (double)src->w->dataset.samples_per_file *
                  src->w->dataset.record_bytes / hosts;
    uint32_t copies = per_host ? hosts : 0;
    struct wr_host host;

    wr_host_info(&host);
    json_object_set_new(to, "hostname", wr_text_json(host.name));
    json_object_set_new(to, "host_processor_name", wr_text_json(host.cpu));
    json_object_set_new(to, "host_cpuinfo", fields_of("/proc/cpuinfo"));
    json_object_set_new(to, "host_meminfo", wr_dlio_meminfo());
    json_object_set_new(to, "data_size_per_host_GB",
                        json_real(data / WR_DLIO_GB));
    put(to, "host_cpu_count", json_integer(host.cores), copies);
    put(to, "host_memory_GB", json_real((double)host.memory_bytes / WR_DLIO_GB),
        copies);
    put(to, "potential_caching", json_integer((double)host.memory_bytes > data),
        copies);
}

/* --- DLIO's summary.json: the metrics by its formulas --- */

#define KEY 80

/* Values of each epoch, or of each save. */
struct values {
    double *v; /* owned */
    size_t count, cap;
};

static void add(struct values *to, double v)
{
    if (wr_grow(&to->v, &to->cap, to->count + 1, sizeof(*to->v)))
        to->v[to->count++] = v;
}

static double mean_of(const struct values *of)
{
    double sum = 0;

    for (size_t i = 0; i < of->count; i++)
        sum += of->v[i];
    return of->count ? sum / (double)of->count : 0;
}

static double deviation_of(const struct values *of)
{
    double mean = mean_of(of), sum = 0;

    for (size_t i = 0; i < of->count; i++)
        sum += (of->v[i] - mean) * (of->v[i] - mean);
    return of->count ? sqrt(sum / (double)of->count) : 0;
}

/* "train" and "_au_percentage" become one key. */
static void put_real(json_t *to, const char *phase, const char *key,
                     double value)
{
    char name[KEY];

    snprintf(name, sizeof(name), "%s_%s", phase, key);
    json_object_set_new(to, name,
                        isfinite(value) ? json_real(value) : json_null());
}

static void put_list(json_t *to, const char *phase, const char *key,
                     const struct values *of)
{
    json_t *list = json_array();
    char name[KEY];

    for (size_t i = 0; i < of->count; i++)
        json_array_append_new(list, json_real(of->v[i]));
    snprintf(name, sizeof(name), "%s_%s", phase, key);
    json_object_set_new(to, name, list);
}

/* --- training and evaluation --- */

static void put_phase(json_t *to, const char *phase,
                      const struct wr_workload *w, const struct values *au,
                      const struct values *per_s)
{
    double mb = w->dataset.record_bytes / WR_DLIO_MB;
    char name[KEY];

    if (!au->count)
        return;
    put_list(to, phase, "au_percentage", au);
    put_real(to, phase, "au_mean_percentage", mean_of(au));
    snprintf(name, sizeof(name), "%s_au_meet_expectation", phase);
    json_object_set_new(
        to, name,
        json_string(mean_of(au) >= 100 * w->metric.au ? "success" : "fail"));
    put_real(to, phase, "au_stdev_percentage", deviation_of(au));
    put_list(to, phase, "throughput_samples_per_second", per_s);
    put_real(to, phase, "throughput_mean_samples_per_second", mean_of(per_s));
    put_real(to, phase, "throughput_stdev_samples_per_second",
             deviation_of(per_s));
    put_real(to, phase, "io_mean_MB_per_second", mean_of(per_s) * mb);
    put_real(to, phase, "io_stdev_MB_per_second", deviation_of(per_s) * mb);
}

static void put_train(json_t *to, const struct wr_dlio_source *src)
{
    const struct wr_run_result *res = src->res;
    struct values au = {0}, per_s = {0};

    for (uint64_t e = 0; e < res->epoch_count; e++) {
        double sum = 0, rate = 0;

        for (uint32_t k = 0; k < res->rank_count; k++) {
            const struct wr_run_epoch *one =
                &res->epochs[k * res->epoch_count + e];

            sum += isfinite(one->au_dlio) ? one->au_dlio : 0;
            rate += isfinite(one->dlio_per_s) ? one->dlio_per_s : 0;
        }
        add(&au, res->world ? 100 * sum / (double)res->world : 0);
        add(&per_s, rate);
    }
    put_phase(to, "train", src->w, &au, &per_s);
    free(au.v);
    free(per_s.v);
}

/* Evaluations of this rank stand for those of all. */
static void put_eval(json_t *to, const struct wr_dlio_source *src)
{
    const struct wr_run_result *res = src->res;
    struct values au = {0}, per_s = {0};

    for (size_t k = 0; k < res->block_count; k++) {
        const struct wr_run_block *b = &res->blocks[k];
        double seconds = (double)(int64_t)(b->end_wall_ns - b->start_wall_ns) *
                         1e-9;
        double samples = (double)b->count * (double)src->w->reader.batch_eval *
                         (double)res->world;

        if (b->block)
            continue;
        add(&au, 100 * b->au);
        add(&per_s, seconds > 0 ? samples / seconds : 0);
    }
    put_phase(to, "eval", src->w, &au, &per_s);
    free(au.v);
    free(per_s.v);
}

/* --- checkpoints --- */

static void put_checkpoints(json_t *to, const char *phase, double gb,
                            const struct wr_saved *saves, size_t count)
{
    struct values seconds = {0}, rates = {0};

    for (size_t k = 0; k < count; k++) {
        double took = wr_dlio_save_s(&saves[k]);

        add(&seconds, took);
        add(&rates, took > 0 ? gb / took : 0);
    }
    if (count) {
        put_real(to, phase, "io_mean_GB_per_second", mean_of(&rates));
        put_real(to, phase, "io_stdev_GB_per_second", deviation_of(&rates));
        put_real(to, phase, "duration_mean_seconds", mean_of(&seconds));
        put_real(to, phase, "duration_stdev_seconds", deviation_of(&seconds));
        json_object_set_new(to, "checkpoint_size_GB", json_real(gb));
    }
    free(seconds.v);
    free(rates.v);
}

static json_t *metric_json(const struct wr_dlio_source *src)
{
    const struct wr_run_result *res = src->res;
    double gb = res->state_bytes * res->rank_count / WR_DLIO_GB;
    json_t *to = json_object();

    put_train(to, src);
    put_eval(to, src);
    put_checkpoints(to, "save_checkpoint", gb, res->saves, res->save_count);
    put_checkpoints(to, "load_checkpoint", gb, res->restores,
                    res->restore_count);
    return to;
}

/* When all ranks were done; of runs that only save, the last of these. */
static uint64_t end_of(const struct wr_run_result *res)
{
    uint64_t end = res->start_wall_ns;

    for (uint64_t e = 0; e < res->epoch_count * res->rank_count; e++)
        end = WR_MAX(end, res->epochs[e].end_wall_ns);
    for (size_t k = 0; k < res->save_count; k++)
        end = WR_MAX(
            end, res->saves[k].start_wall_ns +
                     (uint64_t)(res->saves[k].stall_s * (double)WR_NS_PER_SEC));
    return end;
}

json_t *wr_dlio_summary_json(const struct wr_dlio_source *src)
{
    const struct wr_run_result *res = src->res;
    json_t *to = json_object();
    char start[WR_DLIO_TIME], end[WR_DLIO_TIME];

    json_object_update_new(
        to, json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "start",
                      wr_dlio_time(res->start_wall_ns, start, sizeof(start)),
                      "num_accelerators", (json_int_t)res->world, "num_hosts",
                      (json_int_t)dlio_hosts(res), "epochs",
                      (json_int_t)res->epoch_count, "num_files_train",
                      (json_int_t)src->w->dataset.files_train, "num_files_eval",
                      (json_int_t)src->w->dataset.files_eval,
                      "num_samples_per_file",
                      (json_int_t)src->w->dataset.samples_per_file, "end",
                      wr_dlio_time(end_of(res), end, sizeof(end))));
    wr_dlio_put_host(to, src, /* per_host= */ true);
    json_object_set_new(to, "metric", metric_json(src));
    return to;
}
