/* data.c - the data sets that a study measures with.
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/data.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "study/folder.h"
#include "study/forms.h"
#include "gen/generate.h"

/* Weights of TF-slim's alexnet_v2 with 102 classes; each is there three times,
 * in four bytes. */
#define ALEXNET_BYTES (46.62e6 * 3 * 4)
#define STATE_COPIES  8    /* steps on both tiers, files that are reused */
#define BLOCK_BYTES   2048 /* of the file system, lost per file on average */

static const struct wr_data_kind kinds[] = {
    {"imagenet", 113e3, 1 / 650.0, 1 / 200.0, 0, NULL},
    {"caltech101", 14e3, 1 / 2500.0, 1 / 800.0, 0, NULL},
    {"tensor-224", 150528, 1 / 20000.0, 1 / 500.0, 224, "tensor"},
    {"png-224", 100e3, 1 / 500.0, 1 / 100.0, 224, "png"},
    {"jpeg-224", 25e3, 1 / 1500.0, 1 / 400.0, 224, "jpeg"},
    {"tensor-768", 1769472, 1 / 1000.0, 1 / 100.0, 768, "tensor"},
    {"png-768", 900e3, 1 / 60.0, 1 / 10.0, 768, "png"},
    {"jpeg-768", 150e3, 1 / 150.0, 1 / 60.0, 768, "jpeg"},
};

const struct wr_data_kind *wr_data_find(const char *name)
{
    return wr_named_find(WR_NAMED(kinds), name);
}

double wr_data_state_bytes(double width)
{
    return ALEXNET_BYTES * width * width;
}

void wr_data_path(const struct wr_study *st, const struct wr_cell_job *job,
                  char *buf)
{
    char below[80];

    snprintf(below, sizeof(below), "data/%s-%" PRIu64, job->data, job->samples);
    wr_folder_path(st, below, buf);
}

/* --- what is missing --- */

static bool is_there(const struct wr_study *st, const struct wr_cell_job *job)
{
    char path[WR_FOLDER_PATH];

    wr_data_path(st, job, path);
    return access(path, F_OK) == 0;
}

/* Whether cell k is the first of those to be run that needs its data set, and
 * the set has to be made. */
static bool needs_data(const struct wr_study *st, size_t k)
{
    const struct wr_cell *c = st->cells[k];

    if (!*c->job.data || wr_cell_runs(c) >= c->rounds || is_there(st, &c->job))
        return false;
    for (size_t i = 0; i < k; i++)
        if (!strcmp(st->cells[i]->job.data, c->job.data) &&
            st->cells[i]->job.samples == c->job.samples &&
            wr_cell_runs(st->cells[i]) < st->cells[i]->rounds)
            return false;
    return true;
}

static double seconds_of(const struct wr_cell_job *job)
{
    const struct wr_data_kind *kind = wr_data_find(job->data);

    return kind ? kind->make_s * (double)job->samples : 0;
}

double wr_data_seconds(const struct wr_study *st)
{
    double s = 0;

    for (size_t k = 0; k < st->cell_count; k++)
        if (needs_data(st, k))
            s += seconds_of(&st->cells[k]->job);
    return s;
}

uint64_t wr_data_bytes(const struct wr_study *st)
{
    double bytes = 0, aside = 0;

    for (size_t k = 0; k < st->cell_count; k++) {
        const struct wr_cell *c = st->cells[k];
        const struct wr_data_kind *kind = wr_data_find(c->job.data);

        if (wr_cell_runs(c) >= c->rounds)
            continue;
        if (kind && needs_data(st, k))
            bytes += (kind->sample_bytes + BLOCK_BYTES) *
                     (double)c->job.samples;
        /* One after the other: the largest counts. */
        aside = WR_MAX(aside, 2 * (double)c->job.bytes);
        if (*c->job.saves_to)
            aside = WR_MAX(aside,
                           STATE_COPIES * wr_data_state_bytes(c->job.width));
    }
    return (uint64_t)(bytes + aside);
}

/* --- making it --- */

struct making {
    const struct wr_data_watch *watch;
    const char *what;
    double before_s, whole_s; /* of all that was made before; of this one */
};

static int on_progress(void *arg, uint64_t done, uint64_t total)
{
    const struct making *m = arg;
    double part = total ? (double)done / (double)total : 0;

    return !m->watch->told(m->watch->arg, m->what,
                           m->before_s + part * m->whole_s);
}

static int generate(const struct wr_cell_job *job, const char *path,
                    struct making *m, weir_err *err)
{
    struct wr_gen_config cfg = {
        .kind = job->data,
        .target = path,
        .samples = job->samples,
        /* as few classes as pictures, if they are few */
        .classes = job->samples < 102 ? (uint32_t)job->samples : 0,
        .force = true,
        .progress = on_progress,
        .progress_arg = m};
    struct wr_gen_result made;

    return wr_gen_run(&cfg, &made, err);
}

static int make_one(const struct wr_study *st, const struct wr_cell_job *job,
                    struct making *m, weir_err *err)
{
    const struct wr_data_kind *kind = wr_data_find(job->data);
    char path[WR_FOLDER_PATH];

    wr_data_path(st, job, path);
    m->what = job->data;
    m->whole_s = seconds_of(job);
    if (kind && kind->form)
        return wr_forms_make(kind, job->samples, path,
                             &(struct wr_forms_watch){on_progress, m}, err);
    return generate(job, path, m, err);
}

int wr_data_make(const struct wr_study *st, const struct wr_data_watch *watch,
                 weir_err *err)
{
    struct making m = {.watch = watch};

    for (size_t k = 0; k < st->cell_count; k++) {
        int r;

        if (!needs_data(st, k))
            continue;
        r = make_one(st, &st->cells[k]->job, &m, err);
        if (r < 0)
            return r;
        m.before_s += m.whole_s;
    }
    return 0;
}
