/* workload.c - a traced training as a description for weir run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "workload/choices.h"

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
