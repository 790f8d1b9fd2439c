/* record.c - a trace as a record, which views of src/record show.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/mem.h"
#include "result/record.h"
#include "trace/baseline.h"

#define BINS     400 /* of time, at most: a page is not wider */
#define ROWS_MAX 500 /* of phases, epochs, saves */

struct run_sum {
    double read, written, calls, metadata;
};

/* --- series --- */

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

static json_t *trace_over_time(const struct wr_trace_analysis *a)
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

static json_t *trace_lane_list(const struct wr_trace_parts *p)
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

static json_t *trace_read_heat(const struct wr_trace_lanes *l)
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

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

/* JSON has no other numbers. */
static double finite_of(double v)
{
    return isfinite(v) ? v : 0;
}

static json_int_t whole(uint64_t n)
{
    return (json_int_t)WR_MIN(n, (uint64_t)INT64_MAX);
}

static json_t *path_json(const struct wr_trace_analysis *a, uint32_t file)
{
    return wr_text_json(file == WR_TRACE_NO_FILE
                            ? ""
                            : wr_trace_file_name(a->file, file)->path);
}

/* A list of `count` items; NULL: no memory. */
static json_t *list_of(const struct wr_trace_parts *p, size_t count,
                       json_t *(*item)(const struct wr_trace_parts *, size_t))
{
    json_t *list = json_array();

    for (size_t k = 0; k < count && k < ROWS_MAX; k++)
        if (json_array_append_new(list, item(p, k)) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static uint64_t beyond(size_t count)
{
    return count > ROWS_MAX ? count - ROWS_MAX : 0;
}

/* --- findings --- */

static json_t *example_json(const struct wr_trace_analysis *a,
                            const struct wr_trace_finding_example *e)
{
    return json_pack("{s:f, s:o, s:o}", "at_s", seconds(e->at_ns), "path",
                     path_json(a, e->file), "detail", wr_text_json(e->detail));
}

static json_t *finding_json(const struct wr_trace_parts *p, size_t k)
{
    const struct wr_trace_finding *f = &p->findings->list[k];
    json_t *examples = json_array();
    int bad = 0;

    for (size_t i = 0; i < f->example_count; i++)
        bad |= json_array_append_new(examples,
                                     example_json(p->a, &f->examples[i]));
    json_t *o = json_pack(
        "{s:s, s:s, s:f, s:f, s:f, s:b, s:b, s:s, s:o, s:o, s:o, s:o}", "code",
        f->rule->code, "title", f->rule->title, "seconds",
        finite_of(f->seconds), "run_seconds",
        finite_of(wr_trace_finding_cost(p->a, f)), "gain", finite_of(f->gain),
        "once", (int)f->once, "risk", (int)f->risk, "sure",
        wr_finding_sure_name(f->sure), "what", wr_text_json(f->what),
        "evidence", wr_text_json(f->evidence), "change",
        wr_text_json(f->change), "examples", examples);

    if (bad) {
        json_decref(o);
        return NULL;
    }
    return o;
}

/* --- the run --- */

static json_t *run_json(const struct wr_trace_analysis *a)
{
    const struct wr_trace_info *info = wr_trace_file_info(a->file);
    const char *damage = wr_trace_file_damage(a->file);

    return json_pack(
        "{s:o, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
        "s:o}",
        "program", wr_text_json(info->command ? info->command : "?"), "seconds",
        seconds(a->end_ns), "io_share", finite_of(a->io_share), "process_share",
        finite_of(a->process_share), "mains", whole(a->mains), "workers",
        whole(a->workers), "workers_at_once", whole(a->workers_at_once),
        "processes", whole(a->actor_count), "ranks", whole(a->ranks), "events",
        whole(a->events), "lost_events", whole(a->lost_events), "batches",
        whole(a->batches), "left_out",
        whole(beyond(a->epoch_count) + beyond(a->phase_count) +
              beyond(a->save_count)),
        "damage", wr_text_json(damage ? damage : ""));
}

static json_t *set_json(const struct wr_trace_analysis *a)
{
    char access[160];

    return json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:I}",
        "access", wr_trace_access_text(a, access, sizeof(access)), "files",
        whole(a->set_files), "file_bytes", whole(a->set_sizes), "read_bytes",
        whole(a->set_bytes), "unique_bytes", whole(a->set_unique), "reads",
        whole(a->set_reads), "sequential", whole(a->set_sequential),
        "consecutive", whole(a->set_consecutive), "opens", whole(a->set_opens),
        "read_s", seconds(a->set_ns), "metadata_s", seconds(a->set_meta_ns),
        "read_once", whole(a->read_once));
}

static json_t *phase_json(const struct wr_trace_parts *p, size_t k)
{
    const struct wr_trace_phase *o = &p->a->phases[k];

    return json_pack(
        "{s:s, s:f, s:f, s:I, s:I, s:I}", "kind", wr_trace_phase_name(o->kind),
        "from_s", seconds(o->start_ns), "to_s", seconds(o->end_ns),
        "read_bytes", whole(o->sums.set_bytes + o->sums.other_read_bytes),
        "written_bytes", whole(o->sums.written_bytes), "metadata",
        whole(o->sums.meta_ops));
}

static json_t *epoch_json(const struct wr_trace_parts *p, size_t k)
{
    const struct wr_trace_epoch *e = &p->a->epochs[k];

    return json_pack("{s:f, s:f, s:I, s:I, s:I, s:f}", "from_s",
                     seconds(e->start_ns), "to_s", seconds(e->end_ns), "files",
                     whole(e->files), "read_bytes", whole(e->set_bytes),
                     "reads", whole(e->set_reads), "read_s",
                     seconds(e->set_ns));
}

static json_t *save_json(const struct wr_trace_parts *p, size_t k)
{
    const struct wr_trace_save *s = &p->a->saves[k];

    return json_pack("{s:f, s:f, s:I, s:f, s:f, s:I, s:b, s:o}", "from_s",
                     seconds(s->start_ns), "to_s", seconds(s->end_ns), "bytes",
                     whole(s->bytes), "write_s", seconds(s->write_ns), "sync_s",
                     seconds(s->sync_ns), "files", whole(s->files), "waits",
                     (int)s->main_thread, "path", path_json(p->a, s->file));
}

/* --- requests --- */

static json_t *size_json(const struct wr_trace_size *s, size_t k)
{
    uint64_t edge = wr_trace_size_edge(k);

    return json_pack("{s:I, s:I, s:I, s:f}", "to_bytes",
                     edge == UINT64_MAX ? (json_int_t)-1 : whole(edge), "count",
                     whole(s->count), "bytes", whole(s->bytes), "seconds",
                     seconds(s->ns));
}

static json_t *read_size_json(const struct wr_trace_parts *p, size_t k)
{
    return size_json(&p->a->read_sizes[k], k);
}

static json_t *write_size_json(const struct wr_trace_parts *p, size_t k)
{
    return size_json(&p->a->write_sizes[k], k);
}

/* Calls by powers of two of their time, from the first to the last that has
 * any. */
static json_t *counts_json(const struct wr_hist *h)
{
    json_t *list = json_array();
    int bad = 0;

    for (unsigned k = 8; k < 40; k++) {
        uint64_t from = k == 8 ? 0 : UINT64_C(1) << k;
        uint64_t n = wr_hist_count_between(h, from, UINT64_C(2) << k);

        if (n || json_array_size(list))
            bad |= json_array_append_new(
                list, json_pack("[f, I]", ldexp(1e-9, (int)k + 1), whole(n)));
        if ((UINT64_C(2) << k) > h->max)
            break;
    }
    if (bad) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *latency_json(const struct wr_trace_parts *p, size_t k)
{
    static const char *const names[] = {"read (data set)", "open", "stat",
                                        "write", "sync"};
    const struct wr_hist *h = p->a->latency[k];

    return json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:o}", "call",
                     names[k], "count", whole(h->count), "total_s",
                     seconds(h->sum), "p50_s",
                     seconds(wr_hist_quantile(h, 0.5)), "p99_s",
                     seconds(wr_hist_quantile(h, 0.99)), "p999_s",
                     seconds(wr_hist_quantile(h, 0.999)), "max_s",
                     seconds(h->max), "below", counts_json(h));
}

/* --- files --- */

static json_t *files_json(const struct wr_trace_analysis *a)
{
    uint32_t top[WR_TRACE_TOP_FILES];
    size_t n = wr_trace_top_files(a, top, WR_TRACE_TOP_FILES);
    json_t *list = json_array();
    int bad = 0;

    for (size_t k = 0; k < n; k++) {
        const struct wr_trace_use *u = &a->uses[top[k]];

        bad |= json_array_append_new(
            list,
            json_pack("{s:o, s:f, s:I, s:I, s:I, s:I, s:I}", "path",
                      path_json(a, top[k]), "seconds",
                      seconds(wr_trace_use_ns(u)), "opens", whole(u->opens),
                      "reads", whole(u->reads), "writes", whole(u->writes),
                      "read_bytes", whole(u->bytes_read), "written_bytes",
                      whole(u->bytes_written)));
    }
    if (bad) {
        json_decref(list);
        return NULL;
    }
    return list;
}

/* --- all of it --- */

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
    return json_pack("{s:o, s:o, s:I, s:I}", "name",
                     wr_text_json(info->host ? info->host : ""), "kernel",
                     wr_text_json(info->kernel ? info->kernel : ""), "cores",
                     whole(info->cores), "memory_bytes",
                     whole(info->memory_bytes));
}

/* What the machine did meanwhile, as other records have it. */
static int add_monitor(json_t *o, const struct wr_trace_info *info)
{
    json_t *m = info->monitor ? json_loads(info->monitor, 0, NULL) : NULL;
    int bad = json_is_object(m) ? json_object_update_missing(o, m) : 0;

    json_decref(m);
    return bad;
}

static json_t *record_of(const struct wr_trace_parts *p)
{
    const struct wr_trace_analysis *a = p->a;
    const struct wr_trace_info *info = wr_trace_file_info(a->file);
    json_t *o = wr_record_new("trace");
    const struct {
        const char *key;
        json_t *value;
    } parts[] = {
        {"time", time_json(info)},
        {"weir", wr_text_json(info->weir ? info->weir : "")},
        {"host", host_json(info)},
        {"run", run_json(a)},
        {"findings", list_of(p, p->findings->count, finding_json)},
        {"data_set", set_json(a)},
        {"over_time", trace_over_time(a)},
        {"lanes", trace_lane_list(p)},
        {"read_heat", trace_read_heat(p->lanes)},
        {"latencies", list_of(p, WR_TRACE_LAT_SYNC + 1, latency_json)},
        {"read_sizes", list_of(p, WR_TRACE_SIZES, read_size_json)},
        {"write_sizes", list_of(p, WR_TRACE_SIZES, write_size_json)},
        {"epochs", list_of(p, a->epoch_count, epoch_json)},
        {"phases", list_of(p, a->phase_count, phase_json)},
        {"saves", list_of(p, a->save_count, save_json)},
        {"files", files_json(a)},
    };
    int bad = 0;

    for (size_t k = 0; k < WR_ARRAY_LEN(parts); k++)
        bad |= json_object_set_new(o, parts[k].key, parts[k].value);
    if (bad || add_monitor(o, info)) {
        json_decref(o);
        return NULL;
    }
    return o;
}

int wr_trace_record_load(const char *path, const json_t *probe, json_t **ret,
                         weir_err *err)
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
    if (r == 0)
        r = wr_trace_lanes_of(f, a, &lanes, err);
    if (r == 0) {
        *ret = record_of(&(struct wr_trace_parts){a, &findings, lanes});
        if (!*ret)
            r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    wr_trace_lanes_free(lanes);
    wr_trace_findings_done(&findings);
    wr_trace_analysis_free(a);
    wr_trace_file_close(f);
    return r;
}
