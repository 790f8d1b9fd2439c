/* totals.c - sums over files, processes and threads, when the walk is done.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "trace/analysis_private.h"
#include "trace/counts.h"

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

int wr_trace_totals(struct wr_trace_walk *w, struct wr_trace_file *f,
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
