/* dlio_output.c - the files that DLIO leaves, for the tools that read them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/dlio_output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "result/record.h"
#include "run/dlio_summary.h"

/* --- DLIO's files of one rank: its steps and its epochs --- */

#define KEY 40

char *wr_dlio_time(uint64_t wall_ns, char *buf, size_t cap)
{
    time_t seconds = (time_t)(wall_ns / WR_NS_PER_SEC);
    struct tm local;
    size_t used = 0;

    if (localtime_r(&seconds, &local))
        used = strftime(buf, cap, "%Y-%m-%dT%H:%M:%S", &local);
    snprintf(buf + used, cap - used, ".%06" PRIu64,
             wall_ns % WR_NS_PER_SEC / 1000);
    return buf;
}

/* Blocks of an epoch by number; evaluations have one name. */
static char *block_name(const struct wr_run_block *b, char *buf)
{
    if (b->block)
        snprintf(buf, KEY, "block%" PRIu64, b->block);
    else
        snprintf(buf, KEY, "eval");
    return buf;
}

/* One of the times of each step, which lies at `offset`. */
static json_t *steps_json(const struct wr_run_result *res,
                          const struct wr_run_block *b, size_t offset)
{
    json_t *list = json_array();
    uint64_t end = WR_MIN(b->first + b->count, (uint64_t)res->step_time_count);

    for (uint64_t k = b->first; k < end; k++) {
        const char *step = (const char *)&res->step_times[k];
        const float *seconds = (const float *)(step + offset);

        json_array_append_new(list, json_real(*seconds));
    }
    return list;
}

static void put_block(json_t *epoch, const struct wr_run_result *res,
                      const struct wr_run_block *b)
{
    static const struct {
        const char *key;
        size_t offset;
    } times[] = {{"load", offsetof(struct wr_run_step, load_s)},
                 {"proc", offsetof(struct wr_run_step, proc_s)},
                 {"compute", offsetof(struct wr_run_step, compute_s)}};
    char name[KEY];

    block_name(b, name);
    for (size_t i = 0; i < WR_ARRAY_LEN(times); i++)
        json_object_set_new(json_object_get(epoch, times[i].key), name,
                            steps_json(res, b, times[i].offset));
    json_object_set_new(json_object_get(epoch, "throughput"), name,
                        json_real(b->per_s));
    json_object_set_new(json_object_get(epoch, "au"), name,
                        json_real(100 * b->au));
}

json_t *wr_dlio_rank_json(const struct wr_dlio_source *src)
{
    const struct wr_run_result *res = src->res;
    json_t *to = json_object();
    char key[KEY], time[KEY];

    wr_dlio_put_host(to, src, /* per_host= */ false);
    for (uint64_t e = 1; e <= res->epoch_count; e++) {
        json_t *epoch = json_pack("{s:{}, s:{}, s:{}, s:{}, s:{}}", "load",
                                  "proc", "throughput", "au", "compute");

        for (size_t k = 0; k < res->block_count; k++)
            if (res->blocks[k].epoch == e)
                put_block(epoch, res, &res->blocks[k]);
        json_object_set_new(epoch, "host_meminfo", wr_dlio_meminfo());
        json_object_set_new(
            epoch, "end",
            json_string(wr_dlio_time(res->epochs[e - 1].end_wall_ns, time,
                                     sizeof(time))));
        snprintf(key, sizeof(key), "%" PRIu64, e);
        json_object_set_new(to, key, epoch);
    }
    return to;
}

/* --- epochs --- */

static void put_times(json_t *to, uint64_t start_ns, uint64_t end_ns)
{
    double seconds = (double)(int64_t)(end_ns - start_ns) * 1e-9;
    char text[KEY];

    json_object_set_new(to, "start",
                        json_string(wr_dlio_time(start_ns, text, KEY)));
    json_object_set_new(to, "end",
                        json_string(wr_dlio_time(end_ns, text, KEY)));
    snprintf(text, sizeof(text), "%.2f", seconds);
    json_object_set_new(to, "duration", json_string(text));
}

double wr_dlio_save_s(const struct wr_saved *save)
{
    return fmax(save->stall_s, isnan(save->fast_s) ? 0 : save->fast_s);
}

/* Saves or restores of an epoch; those that belong to none are of the first. */
static void put_saves(json_t *to, const struct wr_saved *saves, size_t count,
                      uint64_t epoch, const char *name)
{
    unsigned number = 0;
    char key[KEY];

    for (size_t k = 0; k < count; k++) {
        const struct wr_saved *s = &saves[k];
        double seconds = wr_dlio_save_s(s);
        json_t *one;

        if (WR_MAX(s->epoch, (uint64_t)1) != epoch)
            continue;
        one = json_object();
        put_times(one, s->start_wall_ns,
                  s->start_wall_ns +
                      (uint64_t)(seconds * (double)WR_NS_PER_SEC));
        json_object_set_new(one, "duration", json_real(seconds));
        json_object_set_new(
            one, "throughput",
            json_real(seconds > 0 ? (double)s->bytes / WR_DLIO_GB / seconds
                                  : 0));
        snprintf(key, sizeof(key), "%s%u", name, ++number);
        json_object_set_new(to, key, one);
    }
}

json_t *wr_dlio_epochs_json(const struct wr_dlio_source *src)
{
    const struct wr_run_result *res = src->res;
    /* A description that only saves has one epoch all the same. */
    uint64_t count = WR_MAX(res->epoch_count, (uint64_t)1);
    json_t *to = json_object();
    char key[KEY], name[KEY];

    for (uint64_t e = 1; e <= count; e++) {
        json_t *epoch = json_object();

        if (e <= res->epoch_count)
            put_times(epoch, res->epochs[e - 1].start_wall_ns,
                      res->epochs[e - 1].end_wall_ns);
        for (size_t k = 0; k < res->block_count; k++) {
            const struct wr_run_block *b = &res->blocks[k];
            json_t *one;

            if (b->epoch != e)
                continue;
            one = json_object();
            put_times(one, b->start_wall_ns, b->end_wall_ns);
            json_object_set_new(epoch, block_name(b, name), one);
        }
        put_saves(epoch, res->saves, res->save_count, e, "save_ckpt");
        put_saves(epoch, res->restores, res->restore_count, e, "load_ckpt");
        snprintf(key, sizeof(key), "%" PRIu64, e);
        json_object_set_new(to, key, epoch);
    }
    return to;
}

/* --- the files that DLIO leaves, for the tools that read them --- */

#define CONFIG "dlio_config" /* where MLPerf's tools look for it */

/* --- files --- */

/* Makes and opens a folder; what the user named may be a link. */
static int enter_folder(int around, const char *name, int flags, int *ret,
                        weir_err *err)
{
    struct stat sb;
    int fd;

    if (mkdirat(around, name, 0777) < 0 && errno != EEXIST)
        return wr_fail_errno(err, errno, "'%s': cannot create folder", name);
    fd = openat(around, name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
    if (fd < 0 && fstatat(around, name, &sb, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(sb.st_mode) && flags & O_NOFOLLOW)
        return wr_fail(err, WEIR_EACCES,
                       "'%s': is a link of user %u: it is not followed", name,
                       (unsigned)sb.st_uid);
    if (fd < 0)
        return wr_fail_errno(err, errno, "'%s'", name);
    *ret = fd;
    return 0;
}

/* Takes `json`; NULL: there was no memory for it. */
static int write_json(int folder, const char *name, json_t *json, weir_err *err)
{
    int r = json ? wr_record_write_in(json, folder, name, err)
                 : wr_fail(err, WEIR_ENOMEM, "out of memory");

    json_decref(json);
    return r;
}

/* What `print` prints. */
static int write_text(int folder, const char *name,
                      void (*print)(FILE *, const struct wr_dlio_source *),
                      const struct wr_dlio_source *src, weir_err *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    int r;

    if (!to)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    print(to, src);
    r = fclose(to) ? wr_fail(err, WEIR_ENOMEM, "out of memory")
                   : wr_record_write_text_in(text, folder, name, err);
    free(text);
    return r;
}

/* --- the log --- */

/* Means with their deviations: "KEY: 81.2 (0.4)". */
static void print_metric(FILE *to, const json_t *metric, const char *mean,
                         const char *deviation)
{
    const json_t *m = json_object_get(metric, mean);

    if (!json_is_number(m))
        return;
    fprintf(to, "[METRIC] %s: %.4f (%.4f)\n", mean, json_number_value(m),
            json_number_value(json_object_get(metric, deviation)));
}

static void print_metrics(FILE *to, const struct wr_dlio_source *src)
{
    static const char *const keys[][2] = {
        {"train_au_mean_percentage", "train_au_stdev_percentage"},
        {"train_throughput_mean_samples_per_second",
         "train_throughput_stdev_samples_per_second"},
        {"train_io_mean_MB_per_second", "train_io_stdev_MB_per_second"},
        {"eval_au_mean_percentage", "eval_au_stdev_percentage"},
        {"eval_throughput_mean_samples_per_second",
         "eval_throughput_stdev_samples_per_second"},
        {"eval_io_mean_MB_per_second", "eval_io_stdev_MB_per_second"},
        {"save_checkpoint_duration_mean_seconds",
         "save_checkpoint_duration_stdev_seconds"},
        {"save_checkpoint_io_mean_GB_per_second",
         "save_checkpoint_io_stdev_GB_per_second"},
        {"load_checkpoint_duration_mean_seconds",
         "load_checkpoint_duration_stdev_seconds"},
        {"load_checkpoint_io_mean_GB_per_second",
         "load_checkpoint_io_stdev_GB_per_second"},
    };
    json_t *summary = wr_dlio_summary_json(src);
    const json_t *metric = json_object_get(summary, "metric");
    const json_t *meets = json_object_get(metric, "train_au_meet_expectation");

    fprintf(to, "[METRIC] num_accelerators: %" PRIu64 "\n", src->res->world);
    for (size_t i = 0; i < WR_ARRAY_LEN(keys); i++)
        print_metric(to, metric, keys[i][0], keys[i][1]);
    if (json_is_string(meets))
        fprintf(to, "[METRIC] train_au_meet_expectation: %s\n",
                json_string_value(meets));
    json_decref(summary);
}

static void print_log(FILE *to, const struct wr_dlio_source *src)
{
    const struct wr_run_result *res = src->res;
    char time[WR_DLIO_TIME];

    for (uint64_t e = 0; e < res->epoch_count; e++) {
        const struct wr_run_epoch *one = &res->epochs[e];

        fprintf(to, "[OUTPUT] %s epoch %" PRIu64 " begins\n",
                wr_dlio_time(one->start_wall_ns, time, sizeof(time)), e + 1);
        fprintf(to, "[OUTPUT] %s epoch %" PRIu64 " ends: %" PRIu64 " steps\n",
                wr_dlio_time(one->end_wall_ns, time, sizeof(time)), e + 1,
                one->steps);
    }
    print_metrics(to, src);
}

/* --- the configuration, as Hydra leaves it --- */

static void print_config(FILE *to, const struct wr_dlio_source *src)
{
    char *yaml = wr_workload_yaml(src->w), *rest = yaml, *line;

    fputs("workload:\n", to);
    while (yaml && (line = strsep(&rest, "\n")))
        if (*line)
            fprintf(to, "  %s\n", line);
    free(yaml);
}

/* "workload=NAME" and "++workload.section.key=value". */
static json_t *overrides_json(const struct wr_dlio_source *src)
{
    json_t *list = json_array();
    char *text;

    for (size_t i = 0; i <= src->override_count; i++) {
        const char *one = i ? src->overrides[i - 1] : src->name;
        bool whole = !strncmp(one, "++", 2);
        const char *front = !i ? "workload=" : whole ? "" : "++workload.";

        if (asprintf(&text, "%s%s", front, one) < 0)
            continue;
        json_array_append_new(list, wr_text_json(text));
        free(text);
    }
    return list;
}

/* JSON is YAML. */
static void print_json(FILE *to, json_t *json)
{
    wr_record_dump(json, JSON_INDENT(2) | JSON_ENCODE_ANY, to);
    fputc('\n', to);
    json_decref(json);
}

static void print_overrides(FILE *to, const struct wr_dlio_source *src)
{
    json_t *list = overrides_json(src);

    for (size_t i = 0; i < json_array_size(list); i++) {
        fputs("- ", to);
        print_json(to, json_incref(json_array_get(list, i)));
    }
    json_decref(list);
}

static void print_hydra(FILE *to, const struct wr_dlio_source *src)
{
    print_json(to, json_pack("{s:{s:s, s:{s:s}, s:{s:{s:o}}, s:{s:[], s:o}}}",
                             "hydra", "output_subdir", CONFIG, "job", "name",
                             "weir", "runtime", "choices", "workload",
                             wr_text_json(src->name), "overrides", "hydra",
                             "task", overrides_json(src)));
}

/* --- all of it --- */

static int write_config(int folder, const struct wr_dlio_source *src,
                        weir_err *err)
{
    static const struct {
        const char *name;
        void (*print)(FILE *, const struct wr_dlio_source *);
    } texts[] = {{"config.yaml", print_config},
                 {"hydra.yaml", print_hydra},
                 {"overrides.yaml", print_overrides}};
    int config = -1;
    int r = enter_folder(folder, CONFIG, O_NOFOLLOW, &config, err);

    for (size_t i = 0; r == 0 && i < WR_ARRAY_LEN(texts); i++)
        r = write_text(config, texts[i].name, texts[i].print, src, err);
    if (config >= 0)
        close(config);
    return r;
}

static int write_whole_run(int folder, const struct wr_dlio_source *src,
                           weir_err *err)
{
    int r = write_config(folder, src, err);

    if (r == 0)
        r = write_text(folder, "dlio.log", print_log, src, err);
    if (r == 0) /* last: tools take it for a run that is complete */
        r = write_json(folder, "summary.json", wr_dlio_summary_json(src), err);
    return r;
}

static int write_all(int folder, const struct wr_dlio_source *src,
                     weir_err *err)
{
    char name[64];
    int r;

    snprintf(name, sizeof(name), "%" PRIu32 "_output.json", src->rank);
    r = write_json(folder, name, wr_dlio_rank_json(src), err);
    snprintf(name, sizeof(name), "%" PRIu32 "_per_epoch_stats.json", src->rank);
    if (r == 0)
        r = write_json(folder, name, wr_dlio_epochs_json(src), err);
    if (r == 0 && src->rank == 0)
        r = write_whole_run(folder, src, err);
    return r;
}

int wr_dlio_output(const char *folder, const struct wr_dlio_source *src,
                   weir_err *err)
{
    int fd = -1;
    int r = enter_folder(AT_FDCWD, folder, 0, &fd, err);

    if (r < 0)
        return r;
    r = write_all(fd, src, err);
    close(fd);
    return r < 0 ? wr_fail_prefix(err, r, "in '%s'", folder) : 0;
}
