/* record.c - a trace as a record, which views of src/report show.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/record.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/mem.h"
#include "result/head.h"
#include "result/record.h"
#include "result/trace.h"
#include "trace/baseline.h"
#include "trace/lanes.h"

#define BINS      400 /* of time, at most: a page is not wider */
#define ROWS_MAX  500 /* of phases, epochs, saves */
#define ACCESS    160 /* bytes of a text */
#define COMMON_OF 20  /* a size that one of so many reads asks for is common */

/* What a record is made of, while it is. */
struct record_work {
    const struct wr_trace_analysis *a;
    const struct wr_trace_findings *findings;
    const struct wr_trace_lanes *lanes; /* NULL: not wanted */
    struct wr_trace_values v;
    char access[ACCESS];
    bool lack; /* memory was short */
};

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

static double known(uint64_t n)
{
    return n == UINT64_MAX ? NAN : (double)n;
}

static const char *path_of(const struct record_work *w, uint32_t file)
{
    return file == WR_TRACE_NO_FILE
               ? ""
               : wr_trace_file_name(w->a->file, file)->path;
}

/* Room for `count` values; NULL: no memory, or there are none. */
static void *make_list(struct record_work *w, const struct wr_vals *of,
                       struct wr_list *l, size_t count)
{
    void *list = wr_list_new(of, l, count);

    w->lack |= !list;
    return list;
}

/* The same of the first rows of `count`. */
static void *make_rows(struct record_work *w, const struct wr_vals *of,
                       struct wr_list *l, size_t count)
{
    return make_list(w, of, l, WR_MIN(count, (size_t)ROWS_MAX));
}

static json_t *make_array(struct record_work *w)
{
    json_t *list = json_array();

    w->lack |= !list;
    return list;
}

static void append(struct record_work *w, json_t *list, json_t *item)
{
    w->lack |= json_array_append_new(list, item) < 0;
}

/* --- over time --- */

static struct wr_trace_bin sum_range(const struct wr_trace_analysis *a,
                                     size_t from, size_t to)
{
    struct wr_trace_bin all = {0};

    for (size_t k = from; k < to; k++) {
        const struct wr_trace_bin *b = &a->bins[k];

        all.set_bytes += b->set_bytes;
        all.other_read_bytes += b->other_read_bytes;
        all.written_bytes += b->written_bytes;
        all.set_reads += b->set_reads;
        all.meta_ops += b->meta_ops;
    }
    return all;
}

/* The last stretch may be shorter: the run ends in it. */
static double seconds_of(const struct wr_trace_analysis *a, size_t from,
                         size_t to)
{
    uint64_t end = WR_MIN(to * a->bin_ns, a->end_ns);

    return seconds(WR_MAX(end - WR_MIN(end, from * a->bin_ns), a->bin_ns));
}

static void add_times(struct record_work *w)
{
    const struct wr_trace_analysis *a = w->a;
    struct wr_trace_time_values *v = &w->v.over_time;
    size_t step = (a->bin_count + BINS - 1) / BINS;

    v->at_s = make_array(w);
    v->read_bytes_per_s = make_array(w);
    v->written_bytes_per_s = make_array(w);
    v->reads_per_s = make_array(w);
    v->metadata_per_s = make_array(w);
    for (size_t k = 0; k < a->bin_count; k += step) {
        size_t to = WR_MIN(k + step, a->bin_count);
        struct wr_trace_bin s = sum_range(a, k, to);
        double t = seconds_of(a, k, to);
        uint64_t read = s.set_bytes + s.other_read_bytes;

        append(w, v->at_s, json_real((double)k * (double)a->bin_ns * 1e-9));
        append(w, v->read_bytes_per_s, json_real((double)read / t));
        append(w, v->written_bytes_per_s,
               json_real((double)s.written_bytes / t));
        append(w, v->reads_per_s, json_real((double)s.set_reads / t));
        append(w, v->metadata_per_s, json_real((double)s.meta_ops / t));
    }
}

/* --- threads --- */

/* In percent, to a tenth. A thread that is not there has null, not 0. */
static json_t *busy_list(struct record_work *w,
                         const struct wr_trace_lane *lane)
{
    const struct wr_trace_lanes *l = w->lanes;
    json_t *list = make_array(w);

    for (size_t k = 0; k < l->bin_count; k++) {
        uint64_t from = k * l->bin_ns, to = from + l->bin_ns;
        double share = 100 * (double)lane->busy[k] / (double)l->bin_ns;
        bool there = to > lane->first_ns && from <= lane->last_ns;

        append(w, list,
               there ? json_real(rint(fmin(100, share) * 10) / 10)
                     : json_null());
    }
    return list;
}

static void add_lanes(struct record_work *w)
{
    const struct wr_trace_lanes *l = w->lanes;
    struct wr_trace_lane_values *v = make_list(w, &wr_trace_lane_vals,
                                               &w->v.lanes.list, l->count);

    w->v.lanes.bin_s = seconds(l->bin_ns);
    w->v.lanes.threads = (double)l->threads;
    for (size_t k = 0; v && k < l->count; k++, v++) {
        const struct wr_trace_lane *lane = &l->lanes[k];
        const struct wr_trace_process *p = wr_trace_file_process(w->a->file,
                                                                 lane->process);
        const struct wr_trace_actor *actor = &w->a->actors[lane->process];

        *v = (struct wr_trace_lane_values){
            .pid = p->pid,
            .tid = lane->tid,
            .job = wr_trace_job_name(actor->job),
            .rank = actor->rank < 0 ? NAN : actor->rank,
            .program = p->program,
            .busy = busy_list(w, lane)};
    }
}

/* --- times of calls --- */

static bool has_reads(const struct wr_trace_lanes *l, size_t level)
{
    for (size_t k = 0; k < l->bin_count; k++)
        if (l->reads[level][k])
            return true;
    return false;
}

/* From the first level that has any to the last. */
static void add_heat(struct record_work *w)
{
    const struct wr_trace_lanes *l = w->lanes;
    struct wr_trace_heat_values *h = &w->v.read_heat;
    struct wr_trace_level_values *v;
    size_t from = 0, to = WR_LANE_LEVELS;

    while (to && !has_reads(l, to - 1))
        to--;
    while (from < to && !has_reads(l, from))
        from++;
    h->bin_s = seconds(l->bin_ns);
    v = make_list(w, &wr_trace_level_vals, &h->levels, to - from);
    for (size_t k = from; v && k < to; k++, v++) {
        v->below_s = ldexp(1e-9, (int)(k + WR_LANE_LOWEST + 1));
        v->reads = make_array(w);
        for (size_t i = 0; i < l->bin_count; i++)
            append(w, v->reads, json_integer((json_int_t)l->reads[k][i]));
    }
}

/* Calls by powers of two of their time, from the first to the last that has
 * any. */
static json_t *counts_below(struct record_work *w, const struct wr_hist *h)
{
    json_t *list = make_array(w);

    for (unsigned k = 8; k < 40; k++) {
        uint64_t from = k == 8 ? 0 : UINT64_C(1) << k;
        uint64_t n = wr_hist_count_between(h, from, UINT64_C(2) << k);

        if (n || json_array_size(list))
            append(w, list,
                   json_pack("[f, I]", ldexp(1e-9, (int)k + 1), (json_int_t)n));
        if ((UINT64_C(2) << k) > h->max)
            break;
    }
    return list;
}

static void add_latencies(struct record_work *w)
{
    static const char *const names[] = {"read (data set)", "open", "stat",
                                        "write", "sync"};
    struct wr_trace_latency_values *v = make_list(
        w, &wr_trace_latency_vals, &w->v.latencies, WR_ARRAY_LEN(names));
    struct wr_list *l = &w->v.latencies;

    l->count = 0;
    for (size_t k = 0; v && k < WR_ARRAY_LEN(names); k++) {
        const struct wr_hist *h = w->a->latency[k];

        if (!h->count)
            continue;
        l->count++;
        *v++ = (struct wr_trace_latency_values){
            .call = names[k],
            .count = (double)h->count,
            .total_s = seconds(h->sum),
            .p50_s = seconds(wr_hist_quantile(h, 0.5)),
            .p99_s = seconds(wr_hist_quantile(h, 0.99)),
            .p999_s = seconds(wr_hist_quantile(h, 0.999)),
            .max_s = seconds(h->max),
            .below = counts_below(w, h)};
    }
}

static void add_sizes(struct record_work *w, const struct wr_trace_size *sizes,
                      struct wr_list *to)
{
    struct wr_trace_size_values *v = make_list(w, &wr_trace_size_vals, to,
                                               WR_TRACE_SIZES);

    for (size_t k = 0; v && k < WR_TRACE_SIZES; k++, v++)
        *v = (struct wr_trace_size_values){
            .to_bytes = known(wr_trace_size_edge(k)),
            .count = (double)sizes[k].count,
            .bytes = (double)sizes[k].bytes,
            .seconds = seconds(sizes[k].ns)};
}

/* --- findings --- */

static void add_examples(struct record_work *w,
                         const struct wr_trace_finding *f, struct wr_list *to)
{
    struct wr_trace_example_values *v = make_list(w, &wr_trace_example_vals, to,
                                                  f->example_count);

    for (size_t k = 0; v && k < f->example_count; k++, v++)
        *v = (struct wr_trace_example_values){
            .at_s = seconds(f->examples[k].at_ns),
            .path = path_of(w, f->examples[k].file),
            .detail = f->examples[k].detail};
}

static void add_findings(struct record_work *w)
{
    struct wr_trace_finding_values *v = make_list(
        w, &wr_trace_finding_vals, &w->v.findings, w->findings->count);

    for (size_t k = 0; v && k < w->findings->count; k++, v++) {
        const struct wr_trace_finding *f = &w->findings->list[k];

        *v = (struct wr_trace_finding_values){
            .code = f->rule->code,
            .title = f->rule->title,
            .seconds = f->seconds,
            .run_seconds = wr_trace_finding_cost(w->a, f),
            .gain = f->gain,
            .once = f->once,
            .risk = f->risk,
            .sure = wr_finding_sure_name(f->sure),
            .what = f->what,
            .evidence = f->evidence,
            .change = f->change};
        add_examples(w, f, &v->examples);
    }
}

/* --- the run --- */

static size_t beyond(size_t count)
{
    return count > ROWS_MAX ? count - ROWS_MAX : 0;
}

static void add_run(struct record_work *w)
{
    const struct wr_trace_analysis *a = w->a;
    const struct wr_trace_info *info = wr_trace_file_info(a->file);

    w->v.run = (struct wr_trace_run_values){
        .program = info->command ? info->command : "?",
        .seconds = seconds(a->end_ns),
        .io_share = a->io_share,
        .process_share = a->process_share,
        .mains = a->mains,
        .workers = a->workers,
        .workers_at_once = a->workers_at_once,
        .processes = (double)a->actor_count,
        .ranks = a->ranks,
        .events = (double)a->events,
        .lost_events = (double)a->lost_events,
        .lost_records = (double)info->lost_records,
        .merged = info->merged,
        .batches = (double)a->batches,
        .batch_gap_s = a->batches ? seconds(a->gap_split_ns) : NAN,
        .left_out = (double)(beyond(a->epoch_count) + beyond(a->phase_count) +
                             beyond(a->save_count)),
        .damage = wr_trace_file_damage(a->file)};
}

static void add_common(struct record_work *w)
{
    const struct wr_trace_common *c = w->a->common_reads;
    struct wr_trace_common_values *v;
    size_t n = 0;

    while (n < WR_TRACE_COMMON && c[n].count * COMMON_OF > w->a->set_reads)
        n++;
    v = make_list(w, &wr_trace_common_vals, &w->v.data_set.common, n);
    for (size_t k = 0; v && k < n; k++, v++)
        *v = (struct wr_trace_common_values){(double)c[k].bytes,
                                             (double)c[k].count};
}

static void add_set(struct record_work *w)
{
    const struct wr_trace_analysis *a = w->a;
    bool counted = a->set_counted && a->set_bytes;

    w->v.data_set = (struct wr_trace_set_values){
        .access = wr_trace_access_text(a, w->access, sizeof(w->access)),
        .files = (double)a->set_files,
        .file_bytes = (double)a->set_sizes,
        .read_bytes = (double)a->set_bytes,
        .unique_bytes = (double)a->set_unique,
        .reads = (double)a->set_reads,
        .sequential = (double)a->set_sequential,
        .consecutive = (double)a->set_consecutive,
        .opens = (double)a->set_opens,
        .read_s = seconds(a->set_ns),
        .metadata_s = seconds(a->set_meta_ns),
        .read_once = (double)a->read_once,
        .shared_files = (double)a->shared_files,
        .device_bytes = counted ? known(a->device_read) : NAN,
        .resident_bytes = a->resident_of ? (double)a->resident : NAN,
        .resident_of = a->resident_of ? (double)a->resident_of : NAN};
    add_common(w);
}

static void add_epochs(struct record_work *w)
{
    struct wr_trace_epoch_values *v = make_rows(
        w, &wr_trace_epoch_vals, &w->v.epochs, w->a->epoch_count);

    for (size_t k = 0; v && k < w->v.epochs.count; k++, v++) {
        const struct wr_trace_epoch *e = &w->a->epochs[k];

        *v = (struct wr_trace_epoch_values){.from_s = seconds(e->start_ns),
                                            .to_s = seconds(e->end_ns),
                                            .files = (double)e->files,
                                            .read_bytes = (double)e->set_bytes,
                                            .reads = (double)e->set_reads,
                                            .read_s = seconds(e->set_ns)};
    }
}

static void add_phases(struct record_work *w)
{
    struct wr_trace_phase_values *v = make_rows(
        w, &wr_trace_phase_vals, &w->v.phases, w->a->phase_count);

    for (size_t k = 0; v && k < w->v.phases.count; k++, v++) {
        const struct wr_trace_phase *p = &w->a->phases[k];
        const struct wr_trace_bin *s = &p->sums;

        *v = (struct wr_trace_phase_values){
            .kind = wr_trace_phase_name(p->kind),
            .from_s = seconds(p->start_ns),
            .to_s = seconds(p->end_ns),
            .read_bytes = (double)(s->set_bytes + s->other_read_bytes),
            .written_bytes = (double)s->written_bytes,
            .metadata = (double)s->meta_ops};
    }
}

static void add_saves(struct record_work *w)
{
    struct wr_trace_save_values *v = make_rows(w, &wr_trace_save_vals,
                                               &w->v.saves, w->a->save_count);

    for (size_t k = 0; v && k < w->v.saves.count; k++, v++) {
        const struct wr_trace_save *s = &w->a->saves[k];

        *v = (struct wr_trace_save_values){.from_s = seconds(s->start_ns),
                                           .to_s = seconds(s->end_ns),
                                           .bytes = (double)s->bytes,
                                           .write_s = seconds(s->write_ns),
                                           .sync_s = seconds(s->sync_ns),
                                           .files = s->files,
                                           .waits = s->main_thread,
                                           .path = path_of(w, s->file)};
    }
}

static void add_files(struct record_work *w)
{
    uint32_t top[WR_TRACE_TOP_FILES];
    size_t n = wr_trace_top_files(w->a, top, WR_TRACE_TOP_FILES);
    struct wr_trace_file_values *v = make_list(w, &wr_trace_file_vals,
                                               &w->v.files, n);

    for (size_t k = 0; v && k < n; k++, v++) {
        const struct wr_trace_use *u = &w->a->uses[top[k]];

        *v = (struct wr_trace_file_values){
            .path = path_of(w, top[k]),
            .seconds = seconds(wr_trace_use_ns(u)),
            .opens = u->opens,
            .reads = u->reads,
            .writes = u->writes,
            .read_bytes = (double)u->bytes_read,
            .written_bytes = (double)u->bytes_written};
    }
}

/* --- all of it --- */

static json_t *values_of(struct record_work *w)
{
    wr_vals_clear(&wr_trace_vals, &w->v);
    add_run(w);
    add_findings(w);
    add_set(w);
    add_times(w);
    if (w->lanes) {
        add_lanes(w);
        add_heat(w);
    }
    add_latencies(w);
    add_sizes(w, w->a->read_sizes, &w->v.read_sizes);
    add_sizes(w, w->a->write_sizes, &w->v.write_sizes);
    add_epochs(w);
    add_phases(w);
    add_saves(w);
    add_files(w);
    return wr_vals_give(&wr_trace_vals, &w->v, !w->lack);
}

static json_t *time_json(const struct wr_trace_info *info)
{
    time_t t = (time_t)(info->start_wall_ns / 1000000000);
    struct tm tm;
    char text[64] = "";

    if (gmtime_r(&t, &tm))
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    return json_string(text);
}

static json_t *host_json(const struct wr_trace_info *info)
{
    struct wr_host_values v;

    wr_vals_clear(&wr_host_vals, &v);
    v.name = info->host;
    v.kernel = info->kernel;
    v.cores = info->cores;
    v.memory_bytes = (double)info->memory_bytes;
    return wr_vals_json(&wr_host_vals, &v, WR_FOR_RECORD);
}

/* What the machine did meanwhile, as other records have it. */
static int add_monitor(json_t *o, const struct wr_trace_info *info)
{
    json_t *m = info->monitor ? json_loads(info->monitor, 0, NULL) : NULL;
    int bad = json_is_object(m) ? json_object_update_missing(o, m) : 0;

    json_decref(m);
    return bad;
}

static json_t *record_of(struct record_work *w)
{
    const struct wr_trace_info *info = wr_trace_file_info(w->a->file);
    json_t *o = wr_record_new("trace"), *values = values_of(w);
    int bad = json_object_set_new(o, "time", time_json(info)) |
              json_object_set_new(o, "weir",
                                  wr_text_json(info->weir ? info->weir : "")) |
              json_object_set_new(o, "host", host_json(info)) |
              json_object_update(o, values);

    json_decref(values);
    if (bad || add_monitor(o, info)) {
        json_decref(o);
        return NULL;
    }
    return o;
}

int wr_trace_record_load(const char *path, const json_t *probe, bool brief,
                         json_t **ret, weir_err *err)
{
    struct wr_trace_analysis *a = NULL;
    struct wr_trace_lanes *lanes = NULL;
    struct wr_trace_file *f = NULL;
    struct wr_trace_findings findings = {0};
    int r = wr_trace_file_open(&f, path, err);

    if (r == 0)
        r = wr_trace_analyse(f, &a, err);
    if (r == 0)
        r = wr_trace_judge(a, probe, &findings, err);
    if (r == 0 && !brief)
        r = wr_trace_lanes_of(f, a, &lanes, err);
    if (r == 0) {
        *ret = record_of(&(struct record_work){
            .a = a, .findings = &findings, .lanes = lanes});
        if (!*ret)
            r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    wr_trace_lanes_free(lanes);
    wr_trace_findings_done(&findings);
    wr_trace_analysis_free(a);
    wr_trace_file_close(f);
    return r;
}
