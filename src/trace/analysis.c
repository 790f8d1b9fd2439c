/* analysis.c - what a trace says: one walk, then sums, epochs and phases.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/top.h"
#include "trace/analysis_private.h"

/* What is kept of each process. */
#define PROCESS_BYTES                                                          \
    (sizeof(struct wr_trace_actor) +                                           \
     sizeof(*((struct wr_trace_walk *)0)->processes) + 2 * sizeof(uint64_t))

static const uint64_t edges[WR_TRACE_SIZES] = {
    100,     1 << 10,  10 << 10,  100 << 10, 1 << 20,
    4 << 20, 10 << 20, 100 << 20, 1 << 30,   UINT64_MAX};

uint64_t wr_trace_size_edge(size_t k)
{
    return edges[k];
}

size_t wr_trace_size_index(uint64_t bytes)
{
    size_t k = 0;

    while (bytes > edges[k])
        k++;
    return k;
}

const char *wr_trace_job_name(int job)
{
    static const char *const names[] = {"other", "main", "worker"};

    return job >= 0 && job < 3 ? names[job] : "?";
}

void wr_trace_analysis_free(struct wr_trace_analysis *a)
{
    if (!a)
        return;
    for (size_t k = 0; k < a->thread_count; k++)
        free(a->threads[k].gaps);
    for (size_t k = 0; k < WR_TRACE_LATENCIES; k++)
        free(a->latency[k]);
    free(a->uses);
    free(a->actors);
    free(a->threads);
    free(a->bins);
    free(a->phases);
    free(a->epochs);
    free(a->saves);
    free(a->mounts);
    free(a->mount_text);
    free(a);
}

static void walk_done(struct wr_trace_walk *w)
{
    free(w->kinds);
    free(w->processes);
    free(w->groups);
    wr_map_done(&w->handles);
    wr_map_done(&w->threads);
    wr_map_done(&w->pairs);
    free(w->passes);
    free(w->saving);
}

/* Files that every program reads, and no training. */
static bool is_ambient(const char *path)
{
    static const char *const folders[] = {
        "/etc/", "/usr/", "/bin/", "/lib", "/sbin/", "/var/lib/", "/run/"};

    for (size_t k = 0; k < WR_ARRAY_LEN(folders); k++)
        if (!strncmp(path, folders[k], strlen(folders[k])))
            return true;
    return false;
}

/* A part of the path that says that the file is not for training. */
static bool is_evaluation(const char *path)
{
    static const char *const words[] = {"val",  "valid", "validation",
                                        "test", "eval",  "dev"};

    for (const char *s = path; *s;) {
        size_t len = strcspn(s, "/._-0123456789");

        for (size_t k = 0; k < WR_ARRAY_LEN(words); k++)
            if (len == strlen(words[k]) && !wr_strncasecmp(s, words[k], len))
                return true;
        s += len;
        s += *s != '\0';
    }
    return false;
}

static void init_names(struct wr_trace_walk *w)
{
    struct wr_trace_analysis *a = w->a;

    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_name *n = wr_trace_file_name(a->file, k);
        struct wr_trace_use *u = &a->uses[k];

        u->first_ns = u->last_ns = UINT64_MAX;
        w->kinds[k] = (uint8_t)n->kind;
        u->evaluation = n->kind == WR_TRACE_DATA && is_evaluation(n->path);
        if (n->kind == WR_TRACE_DATA && is_ambient(n->path)) {
            w->kinds[k] = WR_KIND_AMBIENT;
            u->role = WR_TRACE_ROLE_AMBIENT;
        }
    }
}

static void init_processes(struct wr_trace_walk *w)
{
    struct wr_trace_analysis *a = w->a;

    wr_trace_ranks(a);
    for (size_t k = 0; k < a->actor_count; k++) {
        const struct wr_trace_process *p = wr_trace_file_process(a->file, k);

        a->lost_events += p->lost_events;
        if (p->end_ns != UINT64_MAX)
            a->end_ns = WR_MAX(a->end_ns, p->end_ns);
        a->actors[k].first_set_ns = a->actors[k].last_set_ns = UINT64_MAX;
        w->groups[k] = a->actors[k].rank >= 0 ? (uint32_t)a->actors[k].rank
                                              : (uint32_t)k;
        w->saving[k] = -1;
    }
    a->end_ns = WR_MAX(a->end_ns, wr_trace_file_info(a->file)->end_ns);
    a->end_ns = WR_MIN(a->end_ns, UINT64_MAX >> 2);
    a->bin_ns = a->end_ns / (WR_TRACE_BINS - 1) + 1;
    a->bin_ns = WR_MAX(a->bin_ns, 1000000);
}

static int prepare(struct wr_trace_walk *w, weir_err *err)
{
    struct wr_trace_analysis *a = w->a;
    size_t files = a->use_count = wr_trace_file_names(a->file);
    size_t processes = a->actor_count = wr_trace_file_processes(a->file);
    int r = wr_trace_file_take(
        a->file, files * sizeof(*a->uses) + processes * PROCESS_BYTES, err);
    bool good;

    if (r < 0)
        return wr_fail_prefix(err, r, "the trace");
    a->uses = calloc(files + 1, sizeof(*a->uses));
    a->actors = calloc(processes + 1, sizeof(*a->actors));
    a->bins = calloc(WR_TRACE_BINS, sizeof(*a->bins));
    w->kinds = calloc(files + 1, 1);
    w->processes = calloc(processes + 1, sizeof(*w->processes));
    w->groups = calloc(processes + 1, sizeof(*w->groups));
    w->saving = calloc(processes + 1, sizeof(*w->saving));
    w->passes = calloc(WR_PASSES_MAX, sizeof(*w->passes));
    good = a->uses && a->actors && a->bins && w->kinds && w->processes &&
           w->groups && w->saving && w->passes;
    for (size_t k = 0; k < WR_TRACE_LATENCIES; k++)
        good &= (a->latency[k] = calloc(1, sizeof(*a->latency[k]))) != NULL;
    if (!good)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    init_names(w);
    init_processes(w);
    return wr_trace_mounts(a, err);
}

static int on_events(void *arg, const struct wr_trace_event *e, size_t n)
{
    struct wr_trace_walk *w = arg;

    for (size_t k = 0; k < n; k++)
        wr_trace_walk_event(w, &e[k]);
    w->a->events += n;
    return w->no_room ? WEIR_ELIMIT : w->no_memory ? WEIR_ENOMEM : 0;
}

static int analyse(struct wr_trace_walk *w, struct wr_trace_file *f,
                   weir_err *err)
{
    int r = prepare(w, err);

    if (r < 0)
        return r;
    r = wr_trace_file_walk(f, on_events, w, err);
    if (w->no_room)
        return wr_trace_file_take(f, 0, err);
    if (w->no_memory)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0)
        r = wr_trace_totals(w, f, err);
    if (r == 0)
        r = wr_trace_epochs(w, err);
    if (r == 0)
        r = wr_trace_phases(w->a, err);
    return r;
}

int wr_trace_analyse(struct wr_trace_file *f, struct wr_trace_analysis **ret,
                     weir_err *err)
{
    struct wr_trace_walk *w = calloc(1, sizeof(*w));
    struct wr_trace_analysis *a = calloc(1, sizeof(*a));
    int r;

    if (!w || !a) {
        free(w);
        free(a);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    a->file = f;
    a->baseline.utilisation = -1;
    w->a = a;
    w->handles.size = sizeof(struct wr_handle);
    w->threads.size = sizeof(struct wr_map_number);
    w->pairs.size = sizeof(struct wr_pair);
    r = analyse(w, f, err);
    walk_done(w);
    free(w);
    if (r < 0) {
        wr_trace_analysis_free(a);
        return r;
    }
    *ret = a;
    return 0;
}

uint64_t wr_trace_use_ns(const struct wr_trace_use *u)
{
    return u->read_ns + u->write_ns + u->sync_ns + u->meta_ns;
}

size_t wr_trace_top_files(const struct wr_trace_analysis *a, uint32_t *ret,
                          size_t cap)
{
    double scores[WR_TRACE_TOP_FILES];
    struct wr_top top = {ret, scores, sizeof(*ret),
                         WR_MIN(cap, (size_t)WR_TRACE_TOP_FILES), 0};

    for (size_t k = 0; k < a->use_count; k++) {
        uint64_t ns = wr_trace_use_ns(&a->uses[k]);
        uint32_t *at = NULL;

        if (ns && a->uses[k].role != WR_TRACE_ROLE_AMBIENT)
            at = wr_top_add(&top, (double)ns);
        if (at)
            *at = (uint32_t)k;
    }
    return top.count;
}
