/* data.c - the data sets that a study measures with.
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/data.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/pool.h"
#include "base/thread.h"
#include "codec/jpegenc.h"
#include "codec/pngenc.h"
#include "dataset/sink.h"
#include "gen/generate.h"
#include "gen/synth.h"
#include "gen/texture.h"
#include "study/folder.h"

/* --- the same pictures as tensors, PNG and JPEG of one size --- */

/* Called about ten times a second; a return other than 0 cancels. */
struct wr_forms_watch {
    int (*progress)(void *arg, uint64_t done, uint64_t total);
    void *arg;
};

#define CLASSES 8u
#define QUALITY 90
#define GRAIN   20 /* about as photographs have: 2 bits a pixel as JPEG */
#define DETAIL  170

#define HANDS_MAX 64u

/* What one thread needs. */
struct hand {
    struct wr_jpegenc *jpeg; /* owned */
    uint8_t *pixels;         /* owned */
};

/* What all threads make pictures with. */
struct form_making {
    const struct wr_data_kind *kind;
    uint64_t samples;
    const struct wr_forms_watch *watch;
    struct wr_textures *textures; /* owned, as the next two */
    struct wr_sink *sink;
    struct hand hands[HANDS_MAX];
    _Atomic uint64_t done;
    pthread_mutex_t lock; /* guards the two below */
    int r;                /* of the first picture that failed */
    weir_err err;
};

static const char *const file_names[] = {"*.jpg", "*.png", NULL};

static const struct wr_sink_maker form_maker = {.command = "weir study",
                                                .job_file = ".weir-study",
                                                .comment = "",
                                                .replaces = "it",
                                                .files = file_names};

bool wr_forms_can(const char *form, const char **ret_why)
{
    *ret_why = "weir was built without libspng";
    return strcmp(form, "png") || wr_pngenc_is_there();
}

static int write_picture(struct form_making *m, const struct hand *h,
                         const char *path, weir_err *err)
{
    const uint8_t *lent = NULL;
    uint8_t *own = NULL;
    size_t len = 0;
    int r;

    if (!strcmp(m->kind->form, "png")) {
        r = wr_pngenc_encode(&(struct wr_pngenc_picture){h->pixels,
                                                         m->kind->side,
                                                         m->kind->side},
                             &own, &len, err);
        lent = own;
    } else {
        r = wr_jpegenc_encode(
            h->jpeg,
            &(struct wr_jpegenc_picture){.pixels = h->pixels,
                                         .width = m->kind->side,
                                         .height = m->kind->side,
                                         .channels = 3,
                                         .quality = QUALITY},
            &lent, &len, err);
    }
    if (r == 0)
        r = wr_sink_put(m->sink, path, lent, len, err);
    free(own);
    return r;
}

static int make_picture(struct form_making *m, const struct hand *h, uint64_t k,
                        weir_err *err)
{
    unsigned label = (unsigned)(k % CLASSES);
    char path[WR_GEN_PATH_MAX];

    wr_synth_draw(m->textures,
                  &(struct wr_synth_picture){.label = label,
                                             .key = k,
                                             .width = m->kind->side,
                                             .height = m->kind->side,
                                             .channels = 3,
                                             .grain = GRAIN,
                                             .detail = DETAIL},
                  h->pixels);
    snprintf(path, sizeof(path), "class_%04u/%08" PRIu64 ".%s", label, k,
             !strcmp(m->kind->form, "png") ? "png" : "jpg");
    return write_picture(m, h, path, err);
}

static bool has_failed(struct form_making *m)
{
    bool failed;

    pthread_mutex_lock(&m->lock);
    failed = m->r < 0;
    pthread_mutex_unlock(&m->lock);
    return failed;
}

static void fail(struct form_making *m, int r, const weir_err *err)
{
    pthread_mutex_lock(&m->lock);
    if (m->r == 0) {
        m->r = r;
        m->err = *err;
    }
    pthread_mutex_unlock(&m->lock);
}

/* Thread 0 is the caller's, which alone is told how far it is. */
static void make_part(void *arg, size_t k, unsigned thread)
{
    struct form_making *m = arg;
    weir_err err;
    int r = 0;

    if (has_failed(m))
        return;
    if (thread == 0 && m->watch->progress(m->watch->arg, m->done, m->samples))
        r = wr_fail(&err, WEIR_ECANCELED, "stopped");
    if (r == 0)
        r = make_picture(m, &m->hands[thread], k, &err);
    if (r < 0)
        fail(m, r, &err);
    m->done++;
}

static int make_pictures(struct form_making *m, struct wr_pool *pool,
                         weir_err *err)
{
    char folder[32];
    int r = 0;

    for (unsigned c = 0; r == 0 && c < CLASSES && c < m->samples; c++) {
        snprintf(folder, sizeof(folder), "class_%04u", c);
        r = wr_sink_mkdir(m->sink, folder, err);
    }
    if (r < 0)
        return r;
    wr_pool_run(pool, m->samples, make_part, m);
    if (m->r < 0) {
        *err = m->err;
        return m->r;
    }
    return wr_sink_commit(m->sink, err);
}

static int make_hands(struct form_making *m, unsigned threads, weir_err *err)
{
    int r = 0;

    for (unsigned k = 0; r == 0 && k < threads; k++) {
        r = wr_jpegenc_new(&m->hands[k].jpeg, err);
        m->hands[k].pixels = malloc((size_t)m->kind->side * m->kind->side * 3);
        if (r == 0 && !m->hands[k].pixels)
            r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    return r;
}

static void maker_done(struct form_making *m)
{
    for (unsigned k = 0; k < HANDS_MAX; k++) {
        wr_jpegenc_free(m->hands[k].jpeg);
        free(m->hands[k].pixels);
    }
    wr_textures_free(m->textures);
    wr_sink_close(m->sink, /* drop= */ true);
    pthread_mutex_destroy(&m->lock);
}

static int make_tensors(const struct wr_data_kind *kind, uint64_t samples,
                        const char *path, const struct wr_forms_watch *watch,
                        weir_err *err)
{
    struct wr_gen_config cfg = {.kind = "tensors",
                                .target = path,
                                .samples = samples,
                                .shape = {.dtype = WEIR_U8,
                                          .ndim = 3,
                                          .dims = {kind->side, kind->side, 3}},
                                .samples_per_file = 128,
                                .force = true,
                                .progress = watch->progress,
                                .progress_arg = watch->arg};
    struct wr_gen_result made;

    return wr_gen_run(&cfg, &made, err);
}

/* Makes `samples` pictures of kind->form and kind->side at `path`, which
 * appears whole or not at all. */
static int forms_make(const struct wr_data_kind *kind, uint64_t samples,
                      const char *path, const struct wr_forms_watch *watch,
                      weir_err *err)
{
    struct form_making m = {.kind = kind, .samples = samples, .watch = watch};
    unsigned threads = WR_MIN(wr_cpu_count(), HANDS_MAX);
    struct wr_pool *pool = NULL;
    int r;

    if (!strcmp(kind->form, "tensor"))
        return make_tensors(kind, samples, path, watch, err);
    pthread_mutex_init(&m.lock, NULL);
    r = wr_sink_open(&m.sink,
                     &(struct wr_sink_config){.maker = &form_maker,
                                              .url = path,
                                              .job = "weir study\n",
                                              .force = true,
                                              .restart = true},
                     err);
    if (r == 0)
        r = wr_textures_new(&m.textures, 0, err);
    if (r == 0)
        r = make_hands(&m, threads, err);
    if (r == 0)
        r = wr_pool_new(&pool, threads, "forms", err);
    if (r == 0)
        r = make_pictures(&m, pool, err);
    wr_pool_free(pool);
    maker_done(&m);
    return r;
}

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
        return forms_make(kind, job->samples, path,
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
