/* trace_series.c - what a traced program did when, as lists of a record.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace_record.h"

#include <math.h>

#include "base/mem.h"
#include "result/record.h"

#define BINS 400 /* of time, at most: a page is not wider */

/* --- the run --- */

struct run_sum {
    double read, written, calls, metadata;
};

static struct run_sum sum_of(const struct wr_trace_bin *b)
{
    return (struct run_sum){
        .read = (double)(b->set_bytes + b->other_read_bytes),
        .written = (double)b->written_bytes,
        .calls = (double)b->set_reads,
        .metadata = (double)b->meta_ops};
}

static struct run_sum sum_range(const struct wr_trace_analysis *a, size_t from,
                                size_t to)
{
    struct run_sum all = {0};

    for (size_t k = from; k < to; k++) {
        struct run_sum one = sum_of(&a->bins[k]);

        all.read += one.read;
        all.written += one.written;
        all.calls += one.calls;
        all.metadata += one.metadata;
    }
    return all;
}

/* The last stretch may be shorter: the run ends in it. */
static double seconds_of(const struct wr_trace_analysis *a, size_t from,
                         size_t to)
{
    uint64_t end = WR_MIN(to * a->bin_ns, a->end_ns);

    return (double)WR_MAX(end - WR_MIN(end, from * a->bin_ns), a->bin_ns) *
           1e-9;
}

json_t *wr_trace_over_time(const struct wr_trace_analysis *a)
{
    size_t step = (a->bin_count + BINS - 1) / BINS;
    json_t *at = json_array(), *read = json_array(), *written = json_array();
    json_t *calls = json_array(), *metadata = json_array();
    int bad = 0;

    for (size_t k = 0; k < a->bin_count; k += step) {
        size_t to = WR_MIN(k + step, a->bin_count);
        struct run_sum s = sum_range(a, k, to);
        double t = seconds_of(a, k, to);

        bad |= json_array_append_new(
            at, json_real((double)k * (double)a->bin_ns * 1e-9));
        bad |= json_array_append_new(read, json_real(s.read / t));
        bad |= json_array_append_new(written, json_real(s.written / t));
        bad |= json_array_append_new(calls, json_real(s.calls / t));
        bad |= json_array_append_new(metadata, json_real(s.metadata / t));
    }
    json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o}", "at_s", at,
                          "read_bytes_per_s", read, "written_bytes_per_s",
                          written, "reads_per_s", calls, "metadata_per_s",
                          metadata);

    if (bad) {
        json_decref(o);
        return NULL;
    }
    return o;
}

/* --- threads --- */

static double rounded(double v, double steps)
{
    return rint(v * steps) / steps;
}

/* In percent. A thread that is not there has null, not 0. */
static json_t *busy_list(const struct wr_trace_lanes *l,
                         const struct wr_trace_lane *lane)
{
    json_t *list = json_array();
    int bad = 0;

    for (size_t k = 0; k < l->bin_count; k++) {
        uint64_t from = k * l->bin_ns, to = from + l->bin_ns;
        double share = 100 * (double)lane->busy[k] / (double)l->bin_ns;
        bool there = to > lane->first_ns && from <= lane->last_ns;

        bad |= json_array_append_new(
            list,
            there ? json_real(rounded(fmin(100, share), 10)) : json_null());
    }
    if (bad) {
        json_decref(list);
        return NULL;
    }
    return list;
}

json_t *wr_trace_lane_list(const struct wr_trace_parts *p)
{
    const struct wr_trace_lanes *l = p->lanes;
    json_t *list = json_array();
    int bad = 0;

    for (size_t k = 0; k < l->count; k++) {
        const struct wr_trace_lane *lane = &l->lanes[k];
        const struct wr_trace_process *o = wr_trace_file_process(p->a->file,
                                                                 lane->process);
        const struct wr_trace_actor *actor = &p->a->actors[lane->process];

        bad |= json_array_append_new(
            list,
            json_pack("{s:i, s:I, s:s, s:i, s:o, s:o}", "pid", o->pid, "tid",
                      (json_int_t)lane->tid, "job",
                      wr_trace_job_name(actor->job), "rank", actor->rank,
                      "program", wr_text_json(o->program ? o->program : ""),
                      "busy", busy_list(l, lane)));
    }
    json_t *o = json_pack("{s:f, s:I, s:o}", "bin_s", (double)l->bin_ns * 1e-9,
                          "threads", (json_int_t)l->threads, "list", list);

    if (bad) {
        json_decref(o);
        return NULL;
    }
    return o;
}

/* --- latencies --- */

static json_t *level_list(const struct wr_trace_lanes *l, size_t level)
{
    json_t *list = json_array();
    int bad = 0;

    for (size_t k = 0; k < l->bin_count; k++)
        bad |= json_array_append_new(
            list, json_integer((json_int_t)l->reads[level][k]));
    if (bad) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static bool has_reads(const struct wr_trace_lanes *l, size_t level)
{
    for (size_t k = 0; k < l->bin_count; k++)
        if (l->reads[level][k])
            return true;
    return false;
}

json_t *wr_trace_read_heat(const struct wr_trace_lanes *l)
{
    json_t *list = json_array();
    size_t from = 0, to = WR_LANE_LEVELS;
    int bad = 0;

    while (to && !has_reads(l, to - 1))
        to--;
    while (from < to && !has_reads(l, from))
        from++;
    for (size_t k = from; k < to; k++)
        bad |= json_array_append_new(
            list, json_pack("{s:f, s:o}", "below_s",
                            ldexp(1e-9, (int)(k + WR_LANE_LOWEST + 1)), "reads",
                            level_list(l, k)));
    json_t *o = json_pack("{s:f, s:o}", "bin_s", (double)l->bin_ns * 1e-9,
                          "levels", list);

    if (bad) {
        json_decref(o);
        return NULL;
    }
    return o;
}
