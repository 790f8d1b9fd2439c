/* explain.c - what follows from a description, as lines for a person.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload/explain.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "workload/choices.h"

struct text32 {
    char s[32];
};

static struct text32 bytes(double n)
{
    struct text32 t;

    wr_format_bytes(t.s, sizeof(t.s), n);
    return t;
}

static struct text32 count(uint64_t n)
{
    struct text32 t;

    wr_format_count(t.s, sizeof(t.s), n);
    return t;
}

static struct text32 seconds(double s)
{
    struct text32 t;

    wr_format_ns(t.s, sizeof(t.s), s * 1e9);
    if (s >= 7200)
        snprintf(t.s, sizeof(t.s), "%.1f hours", s / 3600);
    else if (s >= 120)
        snprintf(t.s, sizeof(t.s), "%.1f minutes", s / 60);
    return t;
}

static struct text32 rate(double n)
{
    struct text32 t;

    snprintf(t.s, sizeof(t.s), n >= 100 ? "%.0f/s" : "%.3g/s", n);
    return t;
}

static struct text32 byte_rate(double n)
{
    struct text32 t = bytes(n);
    size_t len = strlen(t.s);

    snprintf(t.s + len, sizeof(t.s) - len, "/s");
    return t;
}

static void add(struct wr_explain *e, const char *group, const char *name,
                const char *value, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

static void add(struct wr_explain *e, const char *group, const char *name,
                const char *value, const char *fmt, ...)
{
    struct wr_explain_row *r = &e->row[e->count];
    va_list args;

    if (e->count == WR_EXPLAIN_ROWS)
        return;
    e->count++;
    r->group = group;
    snprintf(r->name, sizeof(r->name), "%s", name);
    snprintf(r->value, sizeof(r->value), "%s", value);
    va_start(args, fmt);
    vsnprintf(r->note, sizeof(r->note), fmt, args);
    va_end(args);
}

static void explain_data(const struct wr_workload *w,
                         const struct wr_derived *d, struct wr_explain *e)
{
    static const char group[] = "data set";
    const char *format = wr_choice_name(wr_wl_formats, (int)w->dataset.format);

    if (!w->workflow.train && !w->workflow.generate_data)
        return;
    if (w->dataset.format == WR_WL_SYNTHETIC) {
        add(e, group, "files", "none", "synthetic: nothing is read");
        return;
    }
    add(e, group, "files",
        count(w->dataset.files_train + w->dataset.files_eval).s,
        "%s, %s for training and %s for evaluation", format,
        count(w->dataset.files_train).s, count(w->dataset.files_eval).s);
    add(e, group, "samples", count(d->samples_train + d->samples_eval).s,
        "%s in each file", count(w->dataset.samples_per_file).s);
    add(e, group, "sample size", bytes(d->sample_bytes).s, "%s%s",
        w->dataset.record_stdev > 0 ? "on average; deviation " : "",
        w->dataset.record_stdev > 0 ? bytes(w->dataset.record_stdev).s : "");
    add(e, group, "total size", bytes(d->dataset_bytes).s,
        "without the headers of the files");
}

/* What stands around the batch in the formula of the steps. */
static const char *dealt(const struct wr_workload *w)
{
    if (w->reader.access == WR_WL_ACCESS_SAME)
        return ": all get the same samples";
    if (w->reader.access == WR_WL_ACCESS_MULTI)
        return " / accelerators, which have whole files";
    return " / accelerators";
}

static void explain_training(const struct wr_workload *w,
                             const struct wr_derived *d, struct wr_explain *e)
{
    static const char group[] = "training";
    bool capped = w->train.steps >= 0 && d->steps == (uint64_t)w->train.steps;

    if (!w->workflow.train)
        return;
    add(e, group, "accelerators", count(d->world).s, "%s", "");
    if (capped)
        add(e, group, "steps per epoch", count(d->steps).s,
            "as total_training_steps says");
    else
        add(e, group, "steps per epoch", count(d->steps).s,
            "samples / batch of %s%s", count(w->reader.batch).s, dealt(w));
    add(e, group, "epochs", count(w->train.epochs).s, "%s", "");
    add(e, group, "computing per step", seconds(d->step_s).s, "%s",
        d->step_s > 0 ? "of every accelerator, at the same time" : "none");
    add(e, group, "read per epoch", bytes(d->epoch_bytes).s, "%s",
        w->reader.read_type == WR_WL_MEMORY
            ? "by all of them, once; then it stays in memory"
            : "by all accelerators");
    if (d->eval_steps)
        add(e, group, "steps per evaluation", count(d->eval_steps).s,
            "batches of %s", count(w->reader.batch_eval).s);
}

static void explain_demand(const struct wr_workload *w,
                           const struct wr_derived *d, struct wr_explain *e)
{
    static const char one[] = "one accelerator needs";
    static const char all[] = "all of them need";
    double world = (double)d->world;

    if (d->bytes_per_s <= 0)
        return;
    add(e, one, "bytes", byte_rate(d->bytes_per_s).s, "%s in each step of %s",
        bytes(d->batch_bytes).s, seconds(d->step_s).s);
    add(e, one, "samples", rate(d->samples_per_s).s, "%s", "");
    add(e, one, "files", rate(d->files_per_s).s, "%s", "");
    if (d->world == 1)
        return;
    add(e, all, "bytes", byte_rate(d->bytes_per_s * world).s,
        "at a utilization of 100 %%; the target is %.0f %%",
        100 * w->metric.au);
    add(e, all, "samples", rate(d->samples_per_s * world).s, "%s", "");
    add(e, all, "files", rate(d->files_per_s * world).s, "%s", "");
}

static void explain_memory(const struct wr_workload *w,
                           const struct wr_derived *d, struct wr_explain *e)
{
    static const char group[] = "memory";
    double ready = (double)(w->reader.prefetch + 1) * (double)d->world;

    if (!w->workflow.train || d->batch_bytes <= 0)
        return;
    add(e, group, "one batch", bytes(d->batch_bytes).s, "as it is stored");
    add(e, group, "prefetched batches", bytes(d->batch_bytes * ready).s,
        "%s and the one in use, for each accelerator",
        count(w->reader.prefetch).s);
}

static void explain_checkpoints(const struct wr_workload *w,
                                const struct wr_derived *d,
                                struct wr_explain *e)
{
    static const char group[] = "checkpoints";
    struct text32 parameters;

    if (!w->workflow.checkpoint)
        return;
    add(e, group, "saved per run", count(d->checkpoints).s, "%s", "");
    if (w->checkpoint.reads > 0)
        add(e, group, "read back", count((uint64_t)w->checkpoint.reads).s, "%s",
            "");
    if (d->checkpoint_bytes >= 0x1p30)
        add(e, group, "size of one", bytes(d->checkpoint_bytes).s,
            "%.1f GiB, of all ranks", d->checkpoint_bytes / 0x1p30);
    else
        add(e, group, "size of one", bytes(d->checkpoint_bytes).s,
            "of all ranks");
    add(e, group, "largest share of one rank",
        bytes(d->rank_checkpoint_bytes).s, "%s", "");
    if (d->parameters > 0) {
        snprintf(parameters.s, sizeof(parameters.s), "%.2f billion",
                 d->parameters / 1e9);
        add(e, group, "parameters", parameters.s, "%s", "");
    }
}

static void explain_rule(const struct wr_workload *w,
                         const struct wr_derived *d, struct wr_explain *e)
{
    static const char group[] = "MLPerf Storage requires";
    uint64_t each = w->dataset.samples_per_file;
    uint64_t files = d->rule_samples / each + !!(d->rule_samples % each);

    if (!w->workflow.train || w->dataset.format == WR_WL_SYNTHETIC)
        return;
    add(e, group, "samples", count(d->rule_samples).s,
        "500 steps and 5 times the memory of all hosts: %s",
        d->rule_samples > d->samples_train ? "too few here" : "enough here");
    add(e, group, "files", count(files).s, "dataset.num_files_train=%" PRIu64,
        files);
    add(e, group, "bytes", bytes((double)d->rule_samples * d->sample_bytes).s,
        "%s", "");
}

void wr_workload_explain(const struct wr_workload *w,
                         const struct wr_derived *d, struct wr_explain *ret)
{
    memset(ret, 0, sizeof(*ret));
    explain_data(w, d, ret);
    explain_training(w, d, ret);
    explain_demand(w, d, ret);
    explain_memory(w, d, ret);
    explain_checkpoints(w, d, ret);
    if (w->weir.final_files)
        add(ret, "at the end", "files of each rank",
            count(w->weir.final_files).s, "of %s each",
            bytes((double)w->weir.final_bytes).s);
    if (d->seconds > 0)
        add(ret, "run", "takes at least", seconds(d->seconds).s,
            "if no accelerator ever waits");
    explain_rule(w, d, ret);
}
