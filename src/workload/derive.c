/* derive.c - what follows from a description, for so many accelerators.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload/derive.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "workload/choices.h"
#include "workload/workload.h"

#define RULE_STEPS  500 /* of each epoch, by the rules of MLPerf Storage */
#define RULE_MEMORY 5.0 /* times the memory of all hosts is the data */

/* Characters of one element and its comma, of noise over the whole type. */
static double text_bytes(const char *type)
{
    static const double whole[] = {
        [1] = 3.57, [2] = 5.83, [4] = 10.74, [8] = 20.4};
    static const double real[] = {[2] = 8, [4] = 11, [8] = 20};
    unsigned bytes = wr_wl_element_bytes(type);

    return strstr(type, "float") || *type == 'f' || !strcmp(type, "half") ||
                   !strcmp(type, "single") || !strcmp(type, "double")
               ? real[bytes]
               : whole[bytes];
}

static double sample_bytes(const struct wr_workload *w)
{
    bool text = w->dataset.format == WR_WL_CSV ||
                w->dataset.format == WR_WL_JSONL;
    double elements = 1, side = floor(sqrt(w->dataset.record_bytes));

    if (w->dataset.format == WR_WL_SYNTHETIC)
        return 0;
    for (unsigned i = 0; i < w->dataset.record_dims.count; i++)
        elements *= (double)w->dataset.record_dims.dim[i];
    if (!w->dataset.record_dims.count) /* sides vary around the same root */
        elements = w->dataset.record_stdev > 0 ? w->dataset.record_bytes
                                               : side * side;
    return elements * (text ? text_bytes(w->dataset.element_type)
                            : wr_wl_element_bytes(w->dataset.element_type));
}

/* Steps of each accelerator. All get the same samples, or whole files, or the
 * samples are dealt out one by one. */
static uint64_t count_steps(const struct wr_workload *w, uint64_t files,
                            uint64_t batch, uint64_t world)
{
    uint64_t each = w->dataset.samples_per_file;

    if (w->reader.access == WR_WL_ACCESS_SAME)
        return files * each / batch;
    if (w->reader.access == WR_WL_ACCESS_MULTI)
        return files / world * each / batch;
    return files * each / batch / world;
}

static int derive_steps(const struct wr_workload *w, struct wr_derived *d,
                        weir_err *err)
{
    uint64_t cap = (uint64_t)w->train.steps;

    d->samples_train = w->dataset.files_train * w->dataset.samples_per_file;
    d->samples_eval = w->dataset.files_eval * w->dataset.samples_per_file;
    if (w->workflow.evaluation)
        d->eval_steps = count_steps(w, w->dataset.files_eval,
                                    w->reader.batch_eval, d->world);
    if (!w->workflow.train)
        return 0;
    d->steps = count_steps(w, w->dataset.files_train, w->reader.batch,
                           d->world);
    /* What is in memory is used again and again. */
    if (w->train.steps >= 0 &&
        (cap < d->steps || w->reader.read_type == WR_WL_MEMORY ||
         w->dataset.format == WR_WL_SYNTHETIC))
        d->steps = cap;
    if (!d->steps && w->reader.access == WR_WL_ACCESS_MULTI)
        return wr_fail(
            err, WEIR_EINVAL,
            "%" PRIu64 " files of %" PRIu64 " samples give no batch of %" PRIu64
            " to each of %" PRIu64 " accelerators, which share no file",
            w->dataset.files_train, w->dataset.samples_per_file,
            w->reader.batch, d->world);
    if (!d->steps)
        return wr_fail(err, WEIR_EINVAL,
                       "%" PRIu64 " samples are less than one batch of %" PRIu64
                       " for each of %" PRIu64 " accelerators",
                       d->samples_train, w->reader.batch, d->world);
    return 0;
}

static void derive_demand(const struct wr_workload *w, struct wr_derived *d)
{
    double batch = (double)w->reader.batch, samples;

    d->sample_bytes = sample_bytes(w);
    d->dataset_bytes = d->sample_bytes *
                       ((double)d->samples_train + (double)d->samples_eval);
    d->batch_bytes = d->sample_bytes * batch;
    d->step_s = wr_wl_time_mean(&w->train.computation);
    samples = (double)d->steps * batch * (double)d->world;
    if (w->reader.read_type == WR_WL_MEMORY)
        samples = (double)d->samples_train *
                  (w->reader.access == WR_WL_ACCESS_SAME ? (double)d->world
                                                         : 1);
    d->epoch_bytes = w->workflow.train ? samples * d->sample_bytes : 0;
    if (d->step_s <= 0 || !w->workflow.train)
        return;
    d->samples_per_s = batch / d->step_s;
    if (w->reader.read_type == WR_WL_MEMORY)
        return;
    d->bytes_per_s = d->samples_per_s * d->sample_bytes;
    if (d->sample_bytes > 0)
        d->files_per_s = d->samples_per_s / (double)w->dataset.samples_per_file;
}

/* Of the epochs 1, 2, ...: those from `first` on, each `every` of them. */
static uint64_t count_epochs(uint64_t epochs, uint64_t first, uint64_t every)
{
    first = WR_MAX(first, UINT64_C(1));
    return epochs < first ? 0 : (epochs - first) / every + 1;
}

static uint64_t count_checkpoints(const struct wr_workload *w,
                                  const struct wr_derived *d)
{
    uint64_t count;

    if (!w->workflow.checkpoint)
        return 0;
    if (!w->workflow.train)
        return w->checkpoint.writes > 0 ? (uint64_t)w->checkpoint.writes : 0;
    if (w->checkpoint.steps_between > 0)
        return __builtin_mul_overflow(
                   w->train.epochs,
                   d->steps / (uint64_t)w->checkpoint.steps_between, &count)
                   ? UINT64_MAX
                   : count;
    return count_epochs(w->train.epochs, w->checkpoint.after_epoch,
                        w->checkpoint.epochs_between);
}

static int rank_bytes(const struct wr_workload *w, uint64_t rank,
                      uint64_t world, double *ret, weir_err *err)
{
    struct wr_wl_tensor *list = NULL;
    size_t count = 0;
    double sum = 0;
    int r = wr_workload_tensors(w, rank, world, &list, &count, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < count; i++)
        sum += (double)list[i].bytes;
    free(list);
    *ret = sum;
    return 0;
}

/* Of the ranks [0, n) of copies of the model: those of this pipeline stage. */
static uint64_t ranks_of_stage(const struct wr_workload *w, uint64_t stage,
                               uint64_t n)
{
    uint64_t tensor = w->model.tensor, model = tensor * w->model.pipeline;
    uint64_t rest = n % model, begin = stage * tensor;

    return n / model * tensor +
           (rest > begin ? WR_MIN(rest - begin, tensor) : 0);
}

/* Ranks of a stage save alike, but those of the first copy of the model may save
 * more than those of the others. So one of each is asked. */
static int derive_checkpoint(const struct wr_workload *w, struct wr_derived *d,
                             weir_err *err)
{
    uint64_t model = w->model.tensor * w->model.pipeline;

    d->parameters = wr_workload_parameters(w);
    d->checkpoints = count_checkpoints(w, d);
    if (!w->workflow.checkpoint)
        return 0;
    for (unsigned i = 0; i < w->weir.checkpoint_files.count; i++)
        d->checkpoint_bytes += (double)w->weir.checkpoint_files.item[i];
    for (uint64_t k = 0; k < 2 * w->model.pipeline; k++) {
        uint64_t stage = k / 2, copy = k % 2;
        uint64_t rank = copy * model + stage * w->model.tensor;
        uint64_t first = ranks_of_stage(w, stage, WR_MIN(d->world, model));
        uint64_t all = ranks_of_stage(w, stage, d->world);
        double bytes;
        int r;

        if (rank >= d->world)
            continue;
        r = rank_bytes(w, rank, d->world, &bytes, err);
        if (r < 0)
            return r;
        /* The first rank writes the other files as well. */
        if (rank == 0)
            d->rank_checkpoint_bytes = d->checkpoint_bytes + bytes;
        d->checkpoint_bytes += bytes * (double)(copy ? all - first : first);
        d->rank_checkpoint_bytes = WR_MAX(d->rank_checkpoint_bytes, bytes);
    }
    return 0;
}

static void derive_seconds(const struct wr_workload *w, struct wr_derived *d)
{
    uint64_t evals = w->workflow.evaluation && w->workflow.train
                         ? count_epochs(w->train.epochs, w->eval.after_epoch,
                                        w->eval.epochs_between)
                         : 0;
    uint64_t reads = w->checkpoint.reads > 0 ? (uint64_t)w->checkpoint.reads
                                             : 0;

    d->seconds = (double)w->train.epochs * (double)d->steps * d->step_s +
                 (double)evals * (double)d->eval_steps *
                     wr_wl_time_mean(&w->eval.time);
    if (w->workflow.checkpoint && !w->workflow.train)
        d->seconds += (double)(d->checkpoints + reads) *
                      w->checkpoint.time_between;
}

/* The rules count with the length that is written down, not with that of the
 * square it becomes. */
static void derive_rule(const struct wr_workload *w, double memory_bytes,
                        struct wr_derived *d)
{
    double length = w->dataset.record_dims.count ? d->sample_bytes
                                                 : w->dataset.record_bytes;
    double rule = (double)RULE_STEPS * (double)w->reader.batch *
                  (double)d->world;

    if (length > 0)
        rule = WR_MAX(rule, ceil(RULE_MEMORY * memory_bytes / length));
    d->rule_samples = rule < 1e18 ? (uint64_t)rule : UINT64_C(1) << 60;
}

int wr_workload_derive(const struct wr_workload *w, uint64_t world,
                       double memory_bytes, struct wr_derived *ret,
                       weir_err *err)
{
    struct wr_derived d = {.world = world};
    int r;

    if (!world)
        return wr_fail(err, WEIR_EINVAL, "there are no accelerators");
    r = derive_steps(w, &d, err);
    if (r < 0)
        return wr_fail_prefix(err, r, "'%s'", w->file);
    derive_demand(w, &d);
    r = derive_checkpoint(w, &d, err);
    if (r < 0)
        return wr_fail_prefix(err, r, "'%s'", w->file);
    derive_seconds(w, &d);
    derive_rule(w, memory_bytes, &d);
    *ret = d;
    return 0;
}

#define MIN_STEPS 2

/* Part of `n`, at least `least`, never more than there is. */
static uint64_t part_of(uint64_t n, double factor, double least)
{
    double part = WR_MAX(ceil((double)n * factor), least);

    return part < (double)n ? (uint64_t)part : n;
}

/* Files for `samples`: whole ones while they last. */
static uint64_t files_for(const struct wr_workload *w, uint64_t samples,
                          uint64_t files, uint64_t world)
{
    uint64_t each = w->dataset.samples_per_file;
    uint64_t need = samples / each + !!(samples % each);

    /* Where ranks share no file, all need as many. */
    if (w->reader.access == WR_WL_ACCESS_MULTI)
        need += (world - need % world) % world;
    return WR_MIN(files, need);
}

static void scale_data(struct wr_workload *w, const struct wr_derived *d,
                       double factor)
{
    double sharing = w->reader.access == WR_WL_ACCESS_SAME ? 1
                                                           : (double)d->world;
    uint64_t steps = w->train.steps >= 0 && w->reader.read_type != WR_WL_MEMORY
                         ? WR_MAX((uint64_t)w->train.steps, (uint64_t)MIN_STEPS)
                         : MIN_STEPS;
    uint64_t samples = part_of(d->samples_train, factor,
                               (double)steps * (double)w->reader.batch *
                                   sharing);
    uint64_t eval = part_of(d->samples_eval, factor,
                            (double)w->reader.batch_eval * sharing);

    w->dataset.files_train = files_for(w, samples, w->dataset.files_train,
                                       d->world);
    w->dataset.files_eval = files_for(w, eval, w->dataset.files_eval, d->world);
    if (w->dataset.files_train && w->dataset.samples_per_file > 1) {
        uint64_t files = w->dataset.files_train;
        uint64_t each = samples / files + !!(samples % files);

        w->dataset.samples_per_file = WR_MIN(w->dataset.samples_per_file,
                                             WR_MAX(each, UINT64_C(1)));
    }
    w->dataset.subfolders_train = WR_MIN(w->dataset.subfolders_train,
                                         w->dataset.files_train);
    w->dataset.subfolders_eval = WR_MIN(w->dataset.subfolders_eval,
                                        w->dataset.files_eval);
}

int wr_workload_scale(struct wr_workload *w, double factor, uint64_t world,
                      weir_err *err)
{
    struct wr_derived before, after;
    int r;

    if (!(factor > 0 && factor <= 1))
        return wr_fail(err, WEIR_EINVAL,
                       "a scale of %g: it is over 0, and 1 at most", factor);
    r = wr_workload_derive(w, world, 0, &before, err);
    if (r < 0 || factor == 1)
        return r;
    if (w->train.steps >= 0)
        w->train.steps = (int64_t)part_of((uint64_t)w->train.steps, factor,
                                          MIN_STEPS);
    scale_data(w, &before, factor);
    r = wr_workload_derive(w, world, 0, &after, err);
    if (r < 0 || w->checkpoint.steps_between <= 0 || !before.steps)
        return r;
    /* As many checkpoints in an epoch as before. */
    w->checkpoint.steps_between = (int64_t)WR_MAX(
        (double)w->checkpoint.steps_between * (double)after.steps /
            (double)before.steps,
        1.0);
    return 0;
}

#define DRAW_STREAM UINT64_C(0x64726177)

/* In (0, 1]: its logarithm is finite. */
static double unit(struct wr_rng *r)
{
    return 1 - wr_rng_unit(r);
}

static double standard_normal(struct wr_rng *r)
{
    double radius = sqrt(-2 * log(unit(r)));

    return radius * cos(2 * M_PI * wr_rng_unit(r));
}

/* Marsaglia and Tsang, "A simple method for generating gamma variables" (2000);
 * a shape below 1 is brought above it as their section 6 says. */
static double standard_gamma(struct wr_rng *r, double shape)
{
    double boost = 1, d, c;

    if (shape <= 0)
        return 0;
    if (shape < 1) {
        boost = pow(unit(r), 1 / shape);
        shape += 1;
    }
    d = shape - 1.0 / 3;
    c = 1 / sqrt(9 * d);
    for (;;) {
        double x = standard_normal(r), v = 1 + c * x;

        v = v * v * v;
        if (v > 0 && log(unit(r)) < x * x / 2 + d - d * v + d * log(v))
            return d * v * boost;
    }
}

/* Counts arrivals; for many of them the normal law is as good. */
static double poisson(struct wr_rng *r, double mean)
{
    double left = mean, count = 0;

    if (mean > 100)
        return fmax(0, nearbyint(mean + sqrt(mean) * standard_normal(r)));
    while ((left += log(unit(r))) >= 0)
        count++;
    return count;
}

double wr_wl_time_mean(const struct wr_wl_time *t)
{
    switch (t->law) {
    case WR_WL_NONE:
        return 0;
    case WR_WL_UNIFORM:
        return (t->a + t->b) / 2;
    case WR_WL_GAMMA:
        return t->a * t->b;
    default:
        return t->a;
    }
}

double wr_wl_time_draw(const struct wr_wl_time *t, uint64_t seed,
                       uint64_t stream, uint64_t k)
{
    struct wr_rng r = {.seed = wr_rng_at(seed, stream, k),
                       .stream = DRAW_STREAM};

    switch (t->law) {
    case WR_WL_NONE:
        return 0;
    case WR_WL_FIXED:
        return t->a;
    case WR_WL_NORMAL:
        return fabs(t->a + t->b * standard_normal(&r));
    case WR_WL_UNIFORM:
        return t->a + (t->b - t->a) * wr_rng_unit(&r);
    case WR_WL_GAMMA:
        return t->b * standard_gamma(&r, t->a);
    case WR_WL_EXPONENTIAL:
        return -t->a * log(unit(&r));
    case WR_WL_POISSON:
        return poisson(&r, t->a);
    }
    return 0;
}

#define SIDE_STREAM UINT64_C(0x73696465)

static int digits(uint64_t n)
{
    return snprintf(NULL, 0, "%" PRIu64, n);
}

/* The end of a file's name: weir's own formats have the usual one. */
static const char *ending(const struct wr_workload *w)
{
    if (w->dataset.format == WR_WL_TENSOR)
        return "wt"; /* by which its readers know it */
    return wr_choice_name(wr_wl_formats, (int)w->dataset.format);
}

int wr_workload_file_name(const struct wr_workload *w, bool eval, uint64_t i,
                          char *buf, size_t cap)
{
    uint64_t files = eval ? w->dataset.files_eval : w->dataset.files_train;
    uint64_t folders = eval ? w->dataset.subfolders_eval
                            : w->dataset.subfolders_train;
    char folder[32] = "";

    if (folders > 1)
        snprintf(folder, sizeof(folder), "%0*" PRIu64 "/", digits(folders),
                 i % folders);
    return snprintf(buf, cap, "%s/%s%s_%0*" PRIu64 "_of_%" PRIu64 ".%s",
                    eval ? "valid" : "train", folder, w->dataset.file_prefix,
                    digits(files), i, files, ending(w));
}

/* One side: the root of the length, which varies as the length does. */
static uint64_t draw_side(const struct wr_workload *w, uint64_t seed,
                          uint64_t k)
{
    double mean = sqrt(w->dataset.record_bytes);
    struct wr_wl_time law = {WR_WL_NORMAL, mean,
                             w->dataset.record_stdev / (2 * mean)};

    if (law.b <= 0)
        return (uint64_t)WR_MAX(mean, 1.0);
    /* The law takes the sign away; DLIO makes a side of 1 of a negative one. */
    return (uint64_t)WR_MAX(wr_wl_time_draw(&law, seed, SIDE_STREAM, k), 1.0);
}

void wr_workload_sides(const struct wr_workload *w, uint64_t seed, uint64_t i,
                       struct wr_wl_dims *ret)
{
    if (w->dataset.record_dims.count) {
        *ret = w->dataset.record_dims;
        return;
    }
    *ret = (struct wr_wl_dims){
        .count = 2,
        .dim = {draw_side(w, seed, 2 * i), draw_side(w, seed, 2 * i + 1)},
    };
}
