/* convert.c - a data set in another form, whole or not at all.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/convert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "convert/engine.h"
#include "convert/sample.h"

/* All that a run holds. */
struct convert_run {
    struct wr_convert_plan plan;
    struct wr_sink *sink; /* owned */
    bool *complete;       /* owned: by shard */
    uint64_t kept;
};

void wr_convert_defaults(struct wr_convert_config *cfg)
{
    *cfg = (struct wr_convert_config){.shard_bytes = UINT64_C(256) << 20};
    weir_pipeline_defaults(&cfg->tensor);
    cfg->tensor.picture.dtype = WEIR_U8;
}

void wr_convert_result_done(struct wr_convert_result *res)
{
    for (size_t k = 0; k < res->bad_count; k++)
        free(res->bad_text[k]);
    free(res->bad_text);
    *res = (struct wr_convert_result){0};
}

static const char *const file_names[] = {"*.jpg", WR_CLASSES_FILE,
                                         "*-[0-9]*-of-[0-9]*.*", NULL};

static const struct wr_sink_maker converter = {
    .command = "weir convert",
    .job_file = ".weir-convert",
    .comment = "",
    .replaces = "what weir convert has made",
    .other = "an unfinished conversion with other settings or of other data; "
             "--restart discards it and starts over",
    .files = file_names,
    .synced = true,
};

/* --- before --- */

static int check_config(const struct wr_convert_config *cfg, weir_err *err)
{
    if (cfg->quality > 100)
        return wr_fail(err, WEIR_EINVAL, "quality %u is over 100",
                       cfg->quality);
    if (cfg->tensor.picture.crop == WEIR_CROP_RANDOM ||
        cfg->tensor.picture.flip)
        return wr_fail(err, WEIR_EINVAL,
                       "what is random belongs into training, not into the "
                       "data");
    return 0;
}

static int put_classes(struct convert_run *run, weir_err *err)
{
    struct wr_bytes text = {0};
    int r = wr_classes_text(&run->plan.classes, &text, err);

    if (r == 0 && text.len)
        r = wr_sink_put(run->sink, WR_CLASSES_FILE, text.bytes, text.len, err);
    free(text.bytes);
    return r;
}

static int find_complete(struct convert_run *run, uint64_t *ret_todo,
                         weir_err *err)
{
    const struct wr_convert_plan *p = &run->plan;
    struct wr_part place;
    char name[WR_CONVERT_NAME_MAX];

    run->complete = calloc(p->shards, sizeof(*run->complete));
    if (!run->complete)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *ret_todo = p->bytes;
    for (uint64_t k = 0; k < p->shards; k++) {
        wr_convert_plan_shard_name(p, k, name);
        run->complete[k] = wr_sink_size(run->sink, name, NULL) >= 0;
        run->kept += run->complete[k];
        for (uint64_t i = p->first[k]; run->complete[k] && i < p->first[k + 1];
             i++) {
            wr_index_part(p->ds->index, 0, wr_convert_plan_sample(p, i),
                          &place);
            *ret_todo -= place.length;
        }
    }
    return 0;
}

static int open_run(struct convert_run *run,
                    const struct wr_convert_config *cfg, weir_err *err)
{
    const struct wr_sink_config sink = {
        .maker = &converter,
        .url = cfg->target,
        .job = run->plan.job,
        .force = cfg->force,
        .restart = cfg->restart,
        .step = cfg->step,
        .step_arg = cfg->step_arg,
    };

    return wr_sink_open(&run->sink, &sink, err);
}

/* --- after --- */

static int keep_bad(struct wr_convert_result *res, char *text)
{
    char *save = NULL;

    for (char *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        res->bad++;
        if (res->bad_count == WR_CONVERT_BAD_KEPT)
            continue;
        if (!res->bad_text)
            res->bad_text = calloc(WR_CONVERT_BAD_KEPT, sizeof(char *));
        if (!res->bad_text || !(res->bad_text[res->bad_count] = strdup(line)))
            return WEIR_ENOMEM;
        res->bad_count++;
    }
    return 0;
}

static int read_bad(struct convert_run *run, uint64_t shard,
                    struct wr_convert_result *res, weir_err *err)
{
    char name[WR_CONVERT_NAME_MAX], *text = NULL;
    size_t len;
    int r;

    wr_engine_bad_name(shard, name);
    if (wr_sink_size(run->sink, name, NULL) < 0)
        return 0;
    r = wr_sink_slurp(run->sink, name, &text, &len, err);
    if (r < 0)
        return r;
    r = keep_bad(res, text);
    free(text);
    return r < 0 ? wr_fail(err, r, "out of memory") : 0;
}

/* The note of a kind without shards says how much a range has become. */
static uint64_t shard_bytes(struct convert_run *run, uint64_t shard)
{
    char name[WR_CONVERT_NAME_MAX], *text = NULL;
    uint64_t bytes = 0, files;
    size_t len;

    wr_convert_plan_shard_name(&run->plan, shard, name);
    if (!run->plan.kind->singles)
        wr_sink_file_look(run->sink, name, &run->plan.form, &files, &bytes);
    else if (wr_sink_slurp(run->sink, name, &text, &len, NULL) == 0)
        bytes = strtoull(text, NULL, 10);
    free(text);
    return bytes;
}

static int sum_up(struct convert_run *run, struct wr_convert_result *res,
                  weir_err *err)
{
    int r = 0;

    for (uint64_t k = 0; k < run->plan.shards && r == 0; k++) {
        r = read_bad(run, k, res, err);
        res->bytes_out += shard_bytes(run, k);
    }
    if (r < 0)
        return r;
    res->samples = run->plan.count - res->bad;
    if (!res->samples)
        return wr_fail(err, WEIR_EFORMAT,
                       "no sample could be converted; the first: %s",
                       res->bad_count ? res->bad_text[0] : "?");
    return 0;
}

static int convert(struct convert_run *run, struct wr_convert_result *res,
                   weir_err *err)
{
    const struct wr_convert_kind *kind = run->plan.kind;
    struct wr_engine_config engine = {
        .plan = &run->plan,
        .sink = run->sink,
        .threads = res->threads,
    };
    struct wr_engine_result done = {0};
    int r = wr_convert_find_names(&run->plan, res->threads, err);

    if (r == 0)
        r = find_complete(run, &engine.total, err);
    if (r == 0)
        r = put_classes(run, err);
    if (r == 0 && kind->begin)
        r = kind->begin(&run->plan, run->sink, err);
    if (r < 0)
        return r;
    engine.complete = run->complete;
    r = wr_engine_run(&engine, &done, err);
    res->read = done.bytes;
    res->saving = done.saving;
    if (r == 0)
        r = sum_up(run, res, err);
    if (r == 0)
        r = wr_sink_sync_folders(run->sink, err);
    return r < 0 ? r : wr_sink_commit(run->sink, err);
}

/* How far it came, for who goes on; hidden files are of no use any more. */
static void leave(struct convert_run *run, struct wr_convert_result *res)
{
    char name[WR_CONVERT_NAME_MAX];

    wr_sink_sweep(run->sink, NULL);
    res->kept = 0;
    for (uint64_t k = 0; k < run->plan.shards; k++) {
        wr_convert_plan_shard_name(&run->plan, k, name);
        res->kept += wr_sink_size(run->sink, name, NULL) >= 0;
    }
}

static void close_run(struct convert_run *run, bool drop)
{
    wr_sink_close(run->sink, drop);
    wr_convert_plan_done(&run->plan);
    free(run->complete);
}

/* What a kind that takes fields does not take unless it is named. */
static void name_left_out(const struct wr_convert_plan *p, char *buf,
                          size_t cap)
{
    const struct wr_schema *s = wr_index_schema(p->ds->index);
    size_t at = 0;

    if (!p->kind->fields || p->cfg->tensor.fields)
        return;
    for (unsigned k = 0; k < s->count && at < cap; k++)
        if (s->fields[k].pub.kind == WEIR_FIELD_BYTES)
            at += (size_t)snprintf(buf + at, cap - at, "%s%s", at ? ", " : "",
                                   s->fields[k].name);
}

int wr_convert_run(const struct wr_convert_config *cfg,
                   struct wr_convert_result *ret, weir_err *err)
{
    uint64_t start = wr_clock_ns();
    struct convert_run run = {0};
    int r;

    *ret = (struct wr_convert_result){.threads = cfg->threads ? cfg->threads
                                                              : wr_cpu_count()};
    /* Each keeps the file open that it writes. */
    ret->threads = WR_MIN(ret->threads, wr_fd_share());
    r = check_config(cfg, err);
    if (r == 0)
        r = wr_convert_plan_init(&run.plan, cfg, err);
    if (r < 0)
        return r;
    ret->shards = run.plan.shards;
    ret->bytes_in = run.plan.bytes;
    name_left_out(&run.plan, ret->left_out, sizeof(ret->left_out));
    r = open_run(&run, cfg, err);
    if (r == 0) {
        r = convert(&run, ret, err);
        ret->kept = run.kept;
        if (r < 0)
            leave(&run, ret);
    }
    close_run(&run, /* drop= */ r < 0 && !ret->kept);
    ret->elapsed_ns = wr_clock_ns() - start;
    return r;
}
