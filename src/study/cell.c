/* cell.c - one measured point of a study, and the file that keeps it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "result/get.h"
#include "result/record.h"
#include "result/stats.h"

#define RUNS_MAX  1000
#define PATH_CAP  4400
#define CELL_MARK "weir-study-cell"

static const char *const kind_names[] = {[WR_CELL_PROBE] = "probe",
                                         [WR_CELL_FEED] = "feed",
                                         [WR_CELL_TRAIN] = "train"};

/* --- names and settings --- */

/* Adds "-TEXT", or nothing of an empty text. */
static void add(char buf[WR_CELL_ID], const char *text)
{
    size_t at = strlen(buf);

    if (*text)
        snprintf(buf + at, WR_CELL_ID - at, "-%s", text);
}

static void add_number(char buf[WR_CELL_ID], const char *name, unsigned n)
{
    char text[24];

    snprintf(text, sizeof(text), "%s%u", name, n);
    add(buf, text);
}

void wr_cell_job_id(const struct wr_cell_job *job, char buf[WR_CELL_ID])
{
    snprintf(buf, WR_CELL_ID, "%s", kind_names[job->kind]);
    add(buf, job->data);
    add(buf, job->device);
    if (job->kind == WR_CELL_PROBE)
        return;
    add_number(buf, "t", job->threads);
    if (job->kind == WR_CELL_FEED) {
        add(buf, job->read_only ? "read" : "all");
        return;
    }
    add_number(buf, "b", job->batch);
    add_number(buf, "p", job->prefetch);
    add_number(buf, "i", job->iterations);
    add(buf, job->accelerator);
    if (job->save_every) {
        add(buf, "save");
        add(buf, *job->saves_to ? job->saves_to : "none");
    }
}

static void put_text(json_t *to, const char *key, const char *text)
{
    json_object_set_new(to, key, json_string(text));
}

static void put_count(json_t *to, const char *key, uint64_t n)
{
    json_object_set_new(to, key, json_integer((json_int_t)n));
}

json_t *wr_cell_job_json(const struct wr_cell_job *j)
{
    json_t *o = json_object();

    put_text(o, "kind", kind_names[j->kind]);
    put_text(o, "device", j->device);
    put_text(o, "data", j->data);
    put_count(o, "threads", j->threads);
    put_count(o, "batch", j->batch);
    put_count(o, "prefetch", j->prefetch);
    put_count(o, "iterations", j->iterations);
    put_count(o, "samples", j->samples);
    json_object_set_new(o, "read_only", json_boolean(j->read_only));
    put_text(o, "accelerator", j->accelerator);
    put_text(o, "saves_to", j->saves_to);
    put_count(o, "save_every", j->save_every);
    json_object_set_new(o, "width", json_real(j->width));
    put_count(o, "bytes", j->bytes);
    json_object_set_new(o, "seconds", json_real(j->seconds));
    return o;
}

/* --- what the runs say --- */

unsigned wr_cell_runs(const struct wr_cell *c)
{
    size_t n = json_array_size(c->runs);

    return (unsigned)WR_MIN(n, (size_t)c->rounds);
}

struct wr_spread wr_cell_spread(const struct wr_cell *c, const char *key)
{
    struct wr_spread s = {NAN, NAN, NAN, 0};
    double v[RUNS_MAX];
    size_t n = c ? wr_cell_runs(c) : 0;
    /* The warm-up is not counted, but where it is all that is wanted. */
    size_t first = n && c->rounds > 1 ? 1 : 0;

    for (size_t k = first; k < n && s.count < RUNS_MAX; k++)
        v[s.count++] = wr_get_number(json_array_get(c->runs, k), key);
    s.count = wr_stats_sort(v, s.count);
    if (s.count) {
        s.median = wr_stats_quantile(v, s.count, 0.5);
        s.low = v[0];
        s.high = v[s.count - 1];
    }
    return s;
}

static const json_t *last_run(const struct wr_cell *c)
{
    return c && wr_cell_runs(c) ? json_array_get(c->runs, wr_cell_runs(c) - 1)
                                : NULL;
}

const json_t *wr_cell_list(const struct wr_cell *c, const char *key)
{
    return wr_get_list(last_run(c), key);
}

/* --- its file --- */

static void file_of(const struct wr_cell *c, const char *folder, char *buf)
{
    snprintf(buf, PATH_CAP, "%s/%s.json", folder, c->id);
}

int wr_cell_add(struct wr_cell *c, const char *folder, json_t *run,
                weir_err *err)
{
    char path[PATH_CAP];
    json_t *file;
    int r;

    if (!c->runs)
        c->runs = json_array();
    if (!c->runs || json_array_append_new(c->runs, run) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    file = json_pack("{s:s, s:s, s:o, s:O}", "schema", CELL_MARK, "cell", c->id,
                     "settings", wr_cell_job_json(&c->job), "runs", c->runs);
    if (!file)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    file_of(c, folder, path);
    r = wr_record_write(file, path, err);
    json_decref(file);
    return r;
}

/* The first setting that differs; NULL: none does. */
static const char *differing(const json_t *is, const json_t *wanted)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)wanted, key, value)
    {
        const json_t *had = json_object_get(is, key);

        if (json_is_number(value) && json_is_number(had)
                ? fabs(json_number_value(value) - json_number_value(had)) > 1e-9
                : !json_equal(value, had))
            return key;
    }
    return NULL;
}

/* Every run is an object. */
static bool are_runs(const json_t *runs)
{
    const json_t *run;
    size_t k;

    if (!json_is_array(runs))
        return false;
    json_array_foreach(runs, k, run) if (!json_is_object(run)) return false;
    return true;
}

static int take(struct wr_cell *c, const json_t *file, const char *path,
                weir_err *err)
{
    json_t *runs = json_object_get(file, "runs"), *wanted;
    const json_t *had = json_object_get(file, "settings");
    const char *key;
    char a[64], b[64], shown[sizeof(a)];

    if (strcmp(wr_get_text(file, "schema"), CELL_MARK) ||
        !json_is_object(had) || !are_runs(runs))
        return wr_fail(err, WEIR_EFORMAT, "'%s': not a cell of a study", path);
    wanted = wr_cell_job_json(&c->job);
    if (!wanted)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    key = differing(had, wanted);
    if (key)
        wr_fail(
            err, WEIR_ESTATE,
            "'%s' was measured with %s = %s, and %s is asked for", path, key,
            wr_text_show(wr_get_shown(json_object_get(had, key), a, sizeof(a)),
                         true, shown, sizeof(shown)),
            wr_get_shown(json_object_get(wanted, key), b, sizeof(b)));
    json_decref(wanted);
    if (key)
        return WEIR_ESTATE;
    c->runs = json_incref(runs);
    return 0;
}

int wr_cell_parse(struct wr_cell *c, const char *bytes, size_t size,
                  const char *name, weir_err *err)
{
    json_t *file = NULL;
    int r = wr_record_json(bytes, size, name, &file, err);

    if (r == 0)
        r = take(c, file, name, err);
    json_decref(file);
    return r;
}

int wr_cell_load(struct wr_cell *c, const char *folder, weir_err *err)
{
    char path[PATH_CAP], *bytes = NULL;
    size_t size = 0;
    int r;

    file_of(c, folder, path);
    r = wr_record_read(path, &bytes, &size, err);
    if (r == WEIR_ENOENT)
        return 1;
    if (r == 0)
        r = wr_cell_parse(c, bytes, size, path, err);
    free(bytes);
    return r;
}

void wr_cell_done(struct wr_cell *c)
{
    json_decref(c->runs);
    c->runs = NULL;
}
