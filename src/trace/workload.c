/* workload.c - a traced training as a description for weir run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/workload.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/mem.h"
#include "workload/choices.h"

#define RECORD_SHARE   0.9 /* of the reads have one size: these are records */
#define ASCENDING      0.8 /* of the steps from file to file: not shuffled */
#define FEW_BATCHES    3   /* and more are needed to tell their size */
#define IMPORTANT_SAVE 0.1 /* of the largest one: others are logs */

/* --- formats --- */

struct ending {
    const char *text;
    enum wr_wl_format format;
};

static const struct ending endings[] = {
    {".jpg", WR_WL_JPEG},
    {".jpeg", WR_WL_JPEG},
    {".png", WR_WL_PNG},
    {".npz", WR_WL_NPZ},
    {".npy", WR_WL_NPY},
    {".tfrecord", WR_WL_TFRECORD},
    {".tfrecords", WR_WL_TFRECORD},
    {".h5", WR_WL_HDF5},
    {".hdf5", WR_WL_HDF5},
    {".csv", WR_WL_CSV},
    {".jsonl", WR_WL_JSONL},
    {".tar", WR_WL_TAR},
    {".wt", WR_WL_TENSOR},
    {".bin", WR_WL_INDEXED_BINARY},
};

bool wr_traced_format(const char *path, enum wr_wl_format *ret)
{
    size_t n = strlen(path);

    for (size_t k = 0; k < WR_ARRAY_LEN(endings); k++) {
        size_t len = strlen(endings[k].text);

        if (n > len && !wr_strcasecmp(path + n - len, endings[k].text)) {
            *ret = endings[k].format;
            return true;
        }
    }
    if (!strstr(path, "tfrecord")) /* train.tfrecord-00001-of-01024 */
        return false;
    *ret = WR_WL_TFRECORD;
    return true;
}

/* --- the data set --- */

static bool in_set(const struct wr_trace_analysis *a, size_t k)
{
    return a->uses[k].role == WR_TRACE_ROLE_SET && a->uses[k].bytes_read > 0;
}

/* That of most bytes that were read. WR_WL_FORMATS stands for other endings. */
static enum wr_wl_format main_format(const struct wr_trace_analysis *a)
{
    uint64_t bytes[WR_WL_FORMATS + 1] = {0};
    unsigned best = WR_WL_FORMATS;

    for (size_t k = 0; k < a->use_count; k++) {
        enum wr_wl_format f = WR_WL_FORMATS;

        if (!in_set(a, k))
            continue;
        (void)wr_traced_format(wr_trace_file_name(a->file, k)->path, &f);
        bytes[f] += a->uses[k].bytes_read;
    }
    for (unsigned f = 0; f < WR_WL_FORMATS; f++)
        if (bytes[f] > bytes[best])
            best = f;
    return (enum wr_wl_format)best;
}

/* Whether a file is one of the data set: others that were read are scripts and
 * settings. */
static bool is_sample(const struct wr_trace_analysis *a,
                      enum wr_wl_format format, size_t k)
{
    enum wr_wl_format f = WR_WL_FORMATS;

    if (!in_set(a, k))
        return false;
    (void)wr_traced_format(wr_trace_file_name(a->file, k)->path, &f);
    return f == format;
}

static double size_of(const struct wr_trace_analysis *a, size_t k)
{
    uint64_t size = wr_trace_file_name(a->file, k)->size;

    return (double)(size && size != UINT64_MAX ? size : a->uses[k].end_read);
}

static void measure_files(const struct wr_trace_analysis *a,
                          enum wr_wl_format format, struct wr_traced_set *s)
{
    double sum = 0, squares = 0, n;

    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_use *u = &a->uses[k];
        double size = size_of(a, k);

        if (!is_sample(a, format, k))
            continue;
        sum += size;
        squares += size * size;
        if (u->evaluation) {
            s->files_eval++;
            continue;
        }
        s->files++;
        s->passes += size > 0 ? (double)u->bytes_read / size : 0;
    }
    n = (double)(s->files + s->files_eval);
    s->file_bytes = n > 0 ? sum / n : 0;
    if (n > 1)
        s->stdev = sqrt(fmax(0, squares / n - s->file_bytes * s->file_bytes));
}

/* Reads of one size that do not follow each other take records out of files. */
static void find_records(const struct wr_trace_analysis *a,
                         struct wr_traced_set *s)
{
    const struct wr_trace_common *c = &a->common_reads[0];

    s->samples_per_file = 1;
    if (!a->set_reads || !c->bytes || s->file_bytes < 2 * (double)c->bytes ||
        (double)c->count < RECORD_SHARE * (double)a->set_reads ||
        a->set_consecutive * 2 > a->set_reads)
        return;
    s->samples_per_file = (uint64_t)(s->file_bytes / (double)c->bytes);
    s->shuffled_samples = true;
}

/* --- the order of files, and how many make a batch --- */

struct order_at {
    uint32_t file;     /* the one before */
    uint64_t end_ns;   /* of its last call; UINT64_MAX: none yet */
    uint64_t in_batch; /* files since the last long pause */
};

struct order {
    const struct wr_trace_analysis *a;
    enum wr_wl_format format;
    struct order_at *at;            /* owned: by process */
    uint64_t steps, rising, later;  /* by bytes; by numbers in names */
    struct wr_hist batches, pauses; /* files in one; ns between two */
};

static void on_file(struct order *o, struct order_at *at, uint32_t file)
{
    const char *before, *now;

    if (at->file != WR_TRACE_NO_FILE) {
        before = wr_trace_file_name(o->a->file, at->file)->path;
        now = wr_trace_file_name(o->a->file, file)->path;
        o->steps++;
        o->rising += strcmp(before, now) < 0;
        o->later += strverscmp(before, now) < 0;
    }
    at->file = file;
}

static void on_sample(struct order *o, const struct wr_trace_event *e)
{
    struct order_at *at = &o->at[e->process];
    uint64_t split = o->a->gap_split_ns;

    if (e->op == WR_TRACE_OPEN) {
        if (split && at->end_ns < e->start_ns &&
            e->start_ns - at->end_ns >= split) {
            wr_hist_add(&o->batches, at->in_batch);
            wr_hist_add(&o->pauses, e->start_ns - at->end_ns);
            at->in_batch = 0;
        }
        at->in_batch++;
        if (e->file != at->file)
            on_file(o, at, e->file);
    }
    at->end_ns = e->start_ns + e->dur_ns;
}

static int on_events(void *arg, const struct wr_trace_event *e, size_t count)
{
    struct order *o = arg;

    for (size_t k = 0; k < count; k++)
        if (e[k].file != WR_TRACE_NO_FILE &&
            is_sample(o->a, o->format, e[k].file))
            on_sample(o, &e[k]);
    return 0;
}

static int find_order(const struct wr_trace_analysis *a,
                      struct wr_trace_file *f, enum wr_wl_format format,
                      struct wr_traced_set *s, weir_err *err)
{
    size_t n = wr_trace_file_processes(f);
    struct order *o = calloc(1, sizeof(*o));
    int r = WEIR_ENOMEM;

    if (o)
        o->at = calloc(n + 1, sizeof(*o->at));
    if (!o || !o->at) {
        free(o);
        return wr_fail(err, r, "out of memory");
    }
    o->a = a;
    o->format = format;
    for (size_t k = 0; k < n; k++)
        o->at[k] = (struct order_at){WR_TRACE_NO_FILE, UINT64_MAX, 0};
    r = wr_trace_file_walk(f, on_events, o, err);
    s->shuffled_files = (double)WR_MAX(o->rising, o->later) <
                        ASCENDING * (double)o->steps;
    if (o->batches.count >= FEW_BATCHES) {
        s->files_in_batch = wr_hist_quantile(&o->batches, 0.5);
        s->pause_s = (double)wr_hist_quantile(&o->pauses, 0.5) * 1e-9;
    }
    free(o->at);
    free(o);
    return r;
}

static int find_set(const struct wr_trace_analysis *a, struct wr_trace_file *f,
                    struct wr_traced_set *s, weir_err *err)
{
    enum wr_wl_format format = main_format(a);

    measure_files(a, format, s);
    if (!s->files || s->file_bytes < 1)
        return wr_fail(err, WEIR_EINVAL, "the trace reads no data set");
    find_records(a, s);
    s->format_known = format != WR_WL_FORMATS;
    s->format = s->format_known ? format : WR_WL_NPY;
    return find_order(a, f, format, s, err);
}

/* --- steps --- */

static uint64_t reading_threads(const struct wr_trace_analysis *a)
{
    uint64_t n = 0;

    for (size_t k = 0; k < a->thread_count; k++)
        n += a->threads[k].gaps != NULL;
    return n;
}

/* Batches of all ranks: marks, or the pauses and the first one of each thread. */
static uint64_t batches_of(const struct wr_trace_analysis *a)
{
    if (a->steps)
        return a->steps;
    return a->batches ? a->batches + reading_threads(a) : 0;
}

static double mean_s(uint64_t ns, uint64_t count)
{
    return count ? (double)ns * 1e-9 / (double)count : 0;
}

/* The time of a step. One process that reads and computes pauses for it; with
 * workers it is the time from batch to batch, which reading is part of unless
 * they wait. */
static void find_times(const struct wr_trace_analysis *a, uint64_t batches,
                       struct wr_traced_run *run)
{
    uint64_t mains = WR_MAX(a->ranks, 1), longs = 0, long_ns = 0;
    uint64_t span = a->last_set_ns > a->first_set_ns
                        ? a->last_set_ns - a->first_set_ns
                        : 0;

    if (a->gap_split_ns)
        long_ns = wr_gaps_above(&a->gaps, a->gap_split_ns, &longs);
    if (a->workers || a->steps) {
        run->step_s = mean_s(span * mains, batches ? batches : a->set_files);
        run->step_at_most = true;
    } else if (longs) {
        run->step_s = run->set.pause_s > 0 ? run->set.pause_s
                                           : mean_s(long_ns, longs);
    } else {
        run->step_s = mean_s(a->gaps.total_ns, a->gaps.total);
        return;
    }
    run->decode_s = mean_s(a->gaps.total_ns - long_ns, a->gaps.total - longs);
}

static void find_steps(const struct wr_trace_analysis *a,
                       struct wr_traced_run *run)
{
    double samples = run->set.passes * (double)run->set.samples_per_file;
    uint64_t batches = batches_of(a);
    double batch = batches ? round(samples / (double)batches) : 0;

    if (!a->steps && run->set.files_in_batch)
        batch = (double)(run->set.files_in_batch * run->set.samples_per_file);
    if (batch >= 1)
        batches = (uint64_t)(samples / batch);

    run->batch_known = batch >= 1;
    run->batch = run->batch_known ? (uint64_t)batch : 1;
    run->epochs = WR_MAX((uint64_t)a->epoch_count, 1);
    run->readers = a->workers_at_once;
    if (!run->readers)
        run->readers = WR_MAX(1, reading_threads(a) / WR_MAX(1, a->mains));
    run->readers = WR_MIN(run->readers, 4096);
    find_times(a, batches, run);
}

/* --- saves --- */

static void find_saves(const struct wr_trace_analysis *a,
                       struct wr_traced_run *run)
{
    uint64_t largest = 0, bytes = 0, steps;
    uint64_t ranks = WR_MAX(a->ranks, 1);

    for (size_t k = 0; k < a->save_count; k++)
        largest = WR_MAX(largest, a->saves[k].bytes);
    for (size_t k = 0; k < a->save_count; k++) {
        const struct wr_trace_save *s = &a->saves[k];

        if ((double)s->bytes < IMPORTANT_SAVE * (double)largest)
            continue;
        run->saves++;
        bytes += s->bytes;
        run->save_syncs |= s->sync_ns > 0;
    }
    if (!run->saves)
        return;
    run->save_bytes = WR_MAX(bytes / run->saves, 1);
    if (run->saves <= run->epochs) {
        run->epochs_between = run->epochs / run->saves;
        return;
    }
    steps = (uint64_t)(run->set.passes * (double)run->set.samples_per_file) /
            (run->batch * ranks);
    run->steps_between = WR_MAX(steps / run->saves, 1);
}

int wr_traced_run_of(const struct wr_trace_analysis *a, struct wr_trace_file *f,
                     struct wr_traced_run *ret, weir_err *err)
{
    struct wr_traced_run run = {0};
    int r = find_set(a, f, &run.set, err);

    if (r < 0)
        return r;
    find_steps(a, &run);
    find_saves(a, &run);
    *ret = run;
    return 0;
}

static void print_set(FILE *to, const struct wr_traced_set *s)
{
    double per = s->file_bytes / (double)s->samples_per_file;

    fprintf(to, "\ndataset:\n  format: %s%s\n",
            wr_choice_name(wr_wl_formats, (int)s->format),
            s->format_known ? "" : " # the endings of the files say nothing");
    fprintf(to,
            "  num_files_train: %" PRIu64 "\n  num_files_eval: %" PRIu64
            "\n  num_samples_per_file: %" PRIu64 "%s\n",
            s->files, s->files_eval, s->samples_per_file,
            s->samples_per_file > 1 ? " # reads of one size, not in order"
                                    : "");
    fprintf(to, "  record_length_bytes: %.0f\n", per < 1 ? 1 : per);
    if (s->samples_per_file == 1 && s->stdev >= 1)
        fprintf(to, "  record_length_bytes_stdev: %.0f\n", s->stdev);
}

static void print_reader(FILE *to, const struct wr_trace_analysis *a,
                         const struct wr_traced_run *run)
{
    fprintf(to, "\nreader:\n  data_loader: pytorch\n");
    fprintf(to, "  batch_size: %" PRIu64 "%s\n", run->batch,
            run->batch_known ? "" : " # no batches were seen");
    fprintf(to,
            "  read_threads: %" PRIu64 "\n  computation_threads: %" PRIu64 "\n",
            run->readers, run->readers);
    fprintf(to, "  file_shuffle: \"%s\"\n  sample_shuffle: \"%s\"\n",
            run->set.shuffled_files ? "seed" : "off",
            run->set.shuffled_samples ||
                    (run->set.shuffled_files && run->set.samples_per_file == 1)
                ? "seed"
                : "off");
    if (a->ranks > 1 && !a->shared_files)
        fprintf(to, "  file_access: multi # no file is read by two ranks\n");
    if (run->decode_s > 0)
        fprintf(to, "  preprocess_time: %.6f # pause after a sample\n",
                run->decode_s);
}

static void print_train(FILE *to, const struct wr_traced_run *run)
{
    fprintf(to, "\ntrain:\n  epochs: %" PRIu64 "\n  computation_time: %.6f%s\n",
            run->epochs, run->step_s,
            run->step_at_most ? " # from batch to batch: at most" : "");
    if (run->set.files_eval)
        fprintf(to, "\nevaluation:\n  eval_time: %.6f # as of training\n",
                run->step_s);
    if (!run->saves)
        return;
    fprintf(to, "\ncheckpoint:\n  fsync: %s\n",
            run->save_syncs ? "true" : "false");
    if (run->steps_between)
        fprintf(to, "  steps_between_checkpoints: %" PRIu64 "\n",
                run->steps_between);
    else
        fprintf(to,
                "  checkpoint_after_epoch: %" PRIu64
                "\n  epochs_between_checkpoints: %" PRIu64 "\n",
                run->epochs_between, run->epochs_between);
}

/* The name stands in a comment and in quotes: nothing but plain characters. */
static void print_name(FILE *to, const char *name)
{
    const char *slash = strrchr(name, '/');

    for (const char *c = slash ? slash + 1 : name; *c; c++)
        putc((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || strchr("._-", *c)
                 ? *c
                 : '_',
             to);
}

static void print_all(FILE *to, const struct wr_trace_analysis *a,
                      const struct wr_traced_run *run, const char *trace)
{
    fputs("# What a traced program did, for weir run. From ", to);
    print_name(to, trace);
    fprintf(to, "\nmodel:\n  name: traced\n");
    if (run->saves)
        fprintf(to, "  model_size_bytes: %" PRIu64 "\n", run->save_bytes);
    fprintf(
        to, "\nworkflow:\n  train: true\n  evaluation: %s\n  checkpoint: %s\n",
        run->set.files_eval ? "true" : "false", run->saves ? "true" : "false");
    print_set(to, &run->set);
    print_reader(to, a, run);
    print_train(to, run);
    fputs("\nweir:\n  title: \"traced: ", to);
    print_name(to, trace);
    fprintf(to,
            "\"\n  consume: drop\n  figures:\n    io_percent: %.2f\n"
            "    ranks: %u\n",
            100 * a->io_share, a->ranks ? a->ranks : 1);
}

static int write_text(const struct wr_trace_analysis *a,
                      const struct wr_traced_run *run, const char *trace,
                      char **ret, weir_err *err)
{
    struct wr_workload *w = NULL;
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);
    int r;

    if (to)
        print_all(to, a, run, trace);
    if (!to || fclose(to) != 0) {
        free(text);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    r = wr_workload_parse("the description", text, len, NULL, 0, NULL, NULL, &w,
                          err);
    wr_workload_free(w);
    if (r < 0)
        free(text);
    else
        *ret = text;
    return r;
}

int wr_traced_workload(struct wr_trace_file *f, const char *trace, char **ret,
                       weir_err *err)
{
    struct wr_trace_analysis *a = NULL;
    struct wr_traced_run run;
    int r = wr_trace_analyse(f, &a, err);

    if (r == 0)
        r = wr_traced_run_of(a, f, &run, err);
    if (r == 0)
        r = write_text(a, &run, trace, ret, err);
    wr_trace_analysis_free(a);
    return r;
}
