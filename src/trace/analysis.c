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
#include "trace/counts.h"

/* --- covered time --- */

/* Takes stretches [first, end) out, and puts `s` in their place. */
static void replace(struct wr_cover *c, unsigned first, unsigned end,
                    struct wr_covered s)
{
    if (first == end && c->count == WR_COVER_DEPTH) { /* forget the oldest */
        c->floor = c->last[0].to;
        memmove(c->last, c->last + 1, (c->count - 1) * sizeof(s));
        c->count--;
        if (!first) {
            if (s.to <= c->floor)
                return;
            s.from = WR_MAX(s.from, c->floor);
        } else {
            first--;
            end--;
        }
    }
    memmove(c->last + first + 1, c->last + end, (c->count - end) * sizeof(s));
    c->count = c->count - (end - first) + 1;
    c->last[first] = s;
    c->total += s.to - s.from;
}

void wr_cover_add(struct wr_cover *c, uint64_t from, uint64_t to)
{
    struct wr_covered s = {WR_MAX(from, c->floor), to};
    unsigned end = c->count, first;

    if (s.to <= s.from)
        return;
    while (end && c->last[end - 1].from > s.to)
        end--;
    for (first = end; first && c->last[first - 1].to >= s.from; first--) {
        const struct wr_covered *o = &c->last[first - 1];

        s.from = WR_MIN(s.from, o->from);
        s.to = WR_MAX(s.to, o->to);
        c->total -= o->to - o->from;
    }
    replace(c, first, end, s);
}

/* What is kept of each process. */
#define PROCESS_BYTES                                                          \
    (sizeof(struct wr_trace_actor) +                                           \
     sizeof(*((struct wr_trace_walk *)0)->processes) + 2 * sizeof(uint64_t))

uint64_t wr_trace_size_edge(size_t k)
{
    return wr_counts_size_edge(k);
}

size_t wr_trace_size_index(uint64_t bytes)
{
    return wr_counts_size_class(bytes);
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

/* --- before the walk --- */

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

/* --- one event: whose it is, and where it counts --- */

static void io_add(struct wr_trace_io *io, const struct wr_trace_event *e,
                   enum wr_trace_class class)
{
    io->ops[class]++;
    io->ns[class] += e->dur_ns;
    io->opens += e->op == WR_TRACE_OPEN;
    io->stats += e->op == WR_TRACE_STAT || e->op == WR_TRACE_ACCESS;
    io->dirs += e->op == WR_TRACE_OPENDIR || e->op == WR_TRACE_READDIR;
    io->failed += !!(e->flags & WR_TRACE_FAILED);
    if (class == WR_TRACE_CLASS_READ) {
        io->zero_reads += !e->bytes;
        io->bytes_read += e->bytes;
    } else if (class == WR_TRACE_CLASS_WRITE) {
        io->bytes_written += e->bytes;
    }
}

/* Keeps the longest calls, the longest first. */
static void count_slow(struct wr_trace_analysis *a,
                       const struct wr_trace_event *e)
{
    size_t n = a->slowest_count, k;

    if (n == WR_TRACE_SLOWEST && e->dur_ns <= a->slowest[n - 1].dur_ns)
        return;
    if (n < WR_TRACE_SLOWEST)
        a->slowest_count = ++n;
    for (k = n - 1; k && a->slowest[k - 1].dur_ns < e->dur_ns; k--)
        a->slowest[k] = a->slowest[k - 1];
    a->slowest[k] = *e;
}

static void on_file(struct wr_trace_walk *w, const struct wr_trace_event *e,
                    struct wr_trace_thread *t, struct wr_trace_bin *bin)
{
    struct wr_trace_analysis *a = w->a;
    uint64_t end = e->start_ns + e->dur_ns;

    wr_cover_add(&w->run, e->start_ns, end);
    wr_cover_add(&w->processes[e->process], e->start_ns, end);
    t->ops++;
    t->ns += e->dur_ns;
    t->bytes += e->bytes * (wr_trace_op_class(e->op) <= WR_TRACE_CLASS_WRITE);
    count_slow(a, e);
    if (e->file != WR_TRACE_NO_FILE)
        wr_trace_use_event(w, e, t, bin);
}

static void on_code(struct wr_trace_walk *w, const struct wr_trace_event *e,
                    struct wr_trace_bin *bin)
{
    uint64_t end = e->start_ns + e->dur_ns;
    struct wr_trace_use *u = &w->a->uses[e->file];

    wr_cover_add(&w->run, e->start_ns, end);
    wr_cover_add(&w->processes[e->process], e->start_ns, end);
    bin->runtime_ops++;
    bin->runtime_ns += e->dur_ns;
    u->others++;
    u->meta_ns += e->dur_ns;
    u->first_ns = WR_MIN(u->first_ns, e->start_ns);
}

static void walk_event(struct wr_trace_walk *w, const struct wr_trace_event *e)
{
    struct wr_trace_analysis *a = w->a;
    enum wr_trace_class class = wr_trace_op_class(e->op);
    unsigned kind = e->file == WR_TRACE_NO_FILE ? WR_TRACE_DATA
                                                : w->kinds[e->file];
    unsigned shown = kind == WR_KIND_AMBIENT ? WR_TRACE_RUNTIME : kind;
    struct wr_trace_thread *t = wr_thread_of(w, e->process, e->thread);
    struct wr_trace_bin *bin;

    if (!t)
        return;
    a->end_ns = WR_MAX(a->end_ns, e->start_ns + e->dur_ns);
    t->first_ns = WR_MIN(t->first_ns, e->start_ns);
    t->last_ns = WR_MAX(t->last_ns, e->start_ns + e->dur_ns);
    bin = wr_trace_bin_at(a, e->start_ns);
    if (class == WR_TRACE_CLASS_MARK) {
        bin->marks++;
        a->steps++;
    }
    if (class >= WR_TRACE_CLASS_PROCESS)
        return;
    if (e->op == WR_TRACE_AIO_READ)
        a->async_read += e->bytes;
    io_add(&a->kinds[shown], e, class);
    io_add(kind == WR_TRACE_DATA ? &a->actors[e->process].data
                                 : &a->actors[e->process].ambient,
           e, class);
    if (kind == WR_TRACE_DATA)
        on_file(w, e, t, bin);
    else if (shown == WR_TRACE_RUNTIME)
        on_code(w, e, bin);
}

static int on_events(void *arg, const struct wr_trace_event *e, size_t n)
{
    struct wr_trace_walk *w = arg;

    for (size_t k = 0; k < n; k++)
        walk_event(w, &e[k]);
    w->a->events += n;
    return w->no_room ? WEIR_ELIMIT : w->no_memory ? WEIR_ENOMEM : 0;
}

/* --- sums over files, processes and threads, after the walk --- */

static void set_role(struct wr_trace_analysis *a, size_t k)
{
    struct wr_trace_use *u = &a->uses[k];

    if (wr_trace_file_name(a->file, k)->kind != WR_TRACE_DATA ||
        u->role == WR_TRACE_ROLE_AMBIENT)
        u->role = WR_TRACE_ROLE_AMBIENT;
    else if (u->bytes_written)
        u->role = WR_TRACE_ROLE_OUTPUT;
    else if (u->bytes_read || u->faults)
        u->role = WR_TRACE_ROLE_SET;
}

/* Bytes of the file that were read at least once, as far as is known. */
static uint64_t unique_of(const struct wr_trace_use *u, uint64_t size)
{
    uint64_t n = u->bytes_read;

    if (u->end_read)
        n = WR_MIN(n, u->end_read);
    return size == UINT64_MAX ? n : WR_MIN(n, size);
}

static void add_set(struct wr_trace_analysis *a, size_t k)
{
    const struct wr_trace_name *name = wr_trace_file_name(a->file, k);
    const struct wr_trace_use *u = &a->uses[k];

    a->set_files++;
    a->set_bytes += u->bytes_read;
    a->set_unique += unique_of(u, name->size);
    a->set_sizes += name->size == UINT64_MAX ? u->end_read : name->size;
    a->set_reads += u->reads - u->zero_reads;
    a->set_sequential += u->sequential;
    a->set_consecutive += u->consecutive;
    a->set_ns += u->read_ns;
    a->set_meta_ns += u->meta_ns;
    a->set_opens += u->opens;
    a->read_once += u->passes == 1 ||
                    (u->passes && name->size != UINT64_MAX &&
                     u->bytes_read < name->size + name->size / 4);
    if (name->resident != UINT64_MAX && name->size != UINT64_MAX) {
        a->resident += WR_MIN(name->resident, name->size);
        a->resident_of += name->size;
    }
}

/* Where events were dropped, the exact counts take their place. */
static int exact(void *arg, const struct wr_trace_counts *c)
{
    struct wr_trace_counts *sums = arg;

    wr_counts_merge(&sums[c->file], c);
    return 0;
}

static uint32_t most32(uint32_t a, uint64_t b)
{
    return b > UINT32_MAX ? UINT32_MAX : WR_MAX(a, (uint32_t)b);
}

static int use_counts(struct wr_trace_analysis *a, struct wr_trace_file *f,
                      weir_err *err)
{
    struct wr_trace_counts *sums;
    int r;

    if (!a->lost_events || !wr_trace_file_counts(f))
        return 0;
    sums = calloc(a->use_count + 1, sizeof(*sums));
    if (!sums)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_trace_file_walk_counts(f, exact, sums, err);
    for (size_t k = 0; r == 0 && k < a->use_count; k++) {
        struct wr_trace_use *u = &a->uses[k];

        u->opens = most32(u->opens, sums[k].opens);
        u->reads = most32(u->reads, sums[k].reads);
        u->writes = most32(u->writes, sums[k].writes);
        u->zero_reads = WR_MIN(most32(u->zero_reads, sums[k].zero_reads),
                               u->reads);
        u->bytes_read = WR_MAX(u->bytes_read, sums[k].bytes_read);
        u->bytes_written = WR_MAX(u->bytes_written, sums[k].bytes_written);
        u->read_ns = WR_MAX(u->read_ns, sums[k].read_ns);
        u->write_ns = WR_MAX(u->write_ns, sums[k].write_ns);
        u->meta_ns = WR_MAX(u->meta_ns, sums[k].meta_ns);
    }
    free(sums);
    return r;
}

/* Each process has its own counters, without its children's. Those of one that
 * executed another program go on in the new one, which has the same pid: the
 * larger of both counts. Later ones follow the ones they came from. */
static uint64_t whole_tree(const struct wr_trace_analysis *a,
                           uint64_t (*of)(const struct wr_trace_process *))
{
    uint64_t *later = calloc(a->actor_count + 1, sizeof(*later)), sum = 0;
    bool known = false;

    for (size_t k = a->actor_count; later && k-- > 0;) {
        const struct wr_trace_process *p = wr_trace_file_process(a->file, k);
        uint64_t own = of(p), all;
        size_t from = p->parent < 0 ? k : (size_t)p->parent;

        known |= own != UINT64_MAX;
        all = WR_MAX(own == UINT64_MAX ? 0 : own, later[k]);
        if (from < k && wr_trace_file_process(a->file, from)->pid == p->pid)
            later[from] = WR_MAX(later[from], all);
        else
            sum += all;
    }
    free(later);
    return known ? sum : UINT64_MAX;
}

static uint64_t device_read(const struct wr_trace_process *p)
{
    return p->read_bytes;
}

static uint64_t device_written(const struct wr_trace_process *p)
{
    return p->write_bytes;
}

static uint64_t counted_read(const struct wr_trace_process *p)
{
    return p->rchar;
}

/* Whether most bytes of the data set come from where the kernel counts; of a
 * thousand files, evenly. */
static bool set_is_counted(const struct wr_trace_analysis *a)
{
    size_t step = a->use_count / 1000 + 1;
    uint64_t all = 0, counted = 0;

    for (size_t k = 0; k < a->use_count; k += step) {
        const struct wr_trace_mount *m;

        if (a->uses[k].role != WR_TRACE_ROLE_SET)
            continue;
        m = wr_trace_mount_of(a, wr_trace_file_name(a->file, k)->path);
        all += a->uses[k].bytes_read;
        counted += !m || m->counted ? a->uses[k].bytes_read : 0;
    }
    return counted * 2 >= all;
}

/* Major faults whose time is not known, by the usual pause between them: a
 * quarter of the pauses is shorter, as what the program does in between is in
 * them too. */
static void time_faults(struct wr_trace_analysis *a)
{
    uint64_t each = wr_hist_quantile(a->latency[WR_TRACE_LAT_FAULT], 0.25);

    for (size_t k = 0; k < a->use_count; k++)
        if (a->uses[k].faults && !a->uses[k].fault_ns)
            a->uses[k].fault_ns = a->uses[k].faults * each;
}

static void kernel_counts(struct wr_trace_analysis *a)
{
    a->set_counted = set_is_counted(a);
    a->device_read = whole_tree(a, device_read);
    a->device_written = whole_tree(a, device_written);
    a->counted_read = whole_tree(a, counted_read);
    for (size_t k = 0; k < WR_TRACE_KINDS; k++)
        a->traced_read += a->kinds[k].bytes_read;
}

static void shares(struct wr_trace_walk *w)
{
    struct wr_trace_analysis *a = w->a;
    double sum = 0;
    unsigned n = 0;

    a->busy_ns = w->run.total;
    a->io_share = a->end_ns ? (double)a->busy_ns / (double)a->end_ns : 0;
    for (size_t k = 0; k < a->actor_count; k++) {
        const struct wr_trace_process *p = wr_trace_file_process(a->file, k);
        uint64_t end = WR_MIN(p->end_ns, a->end_ns);

        a->actors[k].busy_ns = w->processes[k].total;
        if (a->actors[k].job == WR_TRACE_JOB_OTHER || end <= p->start_ns)
            continue;
        sum += WR_MIN(1.0, (double)w->processes[k].total /
                               (double)(end - p->start_ns));
        n++;
    }
    a->process_share = n ? sum / n : a->io_share;
}

static void gaps(struct wr_trace_analysis *a)
{
    for (size_t k = 0; k < a->thread_count; k++)
        if (a->threads[k].gaps)
            wr_gaps_merge(&a->gaps, a->threads[k].gaps);
    a->gap_split_ns = wr_gaps_split(&a->gaps);
    if (a->gap_split_ns)
        (void)wr_gaps_above(&a->gaps, a->gap_split_ns, &a->batches);
}

static int most_often(const void *a, const void *b)
{
    const struct wr_trace_common *x = a, *y = b;

    return (x->count < y->count) - (x->count > y->count);
}

static int sum_up(struct wr_trace_walk *w, struct wr_trace_file *f,
                  weir_err *err)
{
    struct wr_trace_analysis *a = w->a;
    int r = use_counts(a, f, err);

    wr_trace_meanwhile_end(w);
    a->first_set_ns = UINT64_MAX;
    for (size_t k = 0; k < a->use_count; k++) {
        set_role(a, k);
        if (a->uses[k].role == WR_TRACE_ROLE_SET)
            add_set(a, k);
    }
    for (size_t k = 0; k < a->actor_count; k++) {
        const struct wr_trace_actor *p = &a->actors[k];

        a->first_set_ns = WR_MIN(a->first_set_ns, p->first_set_ns);
        if (p->last_set_ns != UINT64_MAX)
            a->last_set_ns = WR_MAX(a->last_set_ns, p->last_set_ns);
    }
    wr_trace_jobs(a);
    wr_pairs_finish(w);
    shares(w);
    gaps(a);
    kernel_counts(a);
    time_faults(a);
    qsort(w->common, WR_ARRAY_LEN(w->common), sizeof(w->common[0]), most_often);
    memcpy(a->common_reads, w->common, sizeof(a->common_reads));
    return r;
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
        r = sum_up(w, f, err);
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
