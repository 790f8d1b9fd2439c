/* find.c - what the rules of findings share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/top.h"
#include "base/units.h"

#define MATTERS   0.005
#define LEAST     16      /* pauses */
#define CALL_NS   2000.0  /* of a read that finds its pages in memory */
#define WORK_NS   1000000 /* between samples: it does something with them */
#define COPY_RATE 2e9     /* bytes per second, out of the page cache */

double wr_find_epochs(const struct wr_trace_analysis *a)
{
    return a->epoch_count ? (double)a->epoch_count : 1;
}

double wr_find_run(const struct wr_trace_analysis *a)
{
    return (double)a->end_ns * 1e-9;
}

/* Threads that do a tenth of the busiest one's work, of one generation. */
double wr_find_readers(const struct wr_trace_analysis *a)
{
    uint64_t most = 0;
    double n = 0;

    for (size_t k = 0; k < a->thread_count; k++)
        most = WR_MAX(most, a->threads[k].set_ns);
    for (size_t k = 0; k < a->thread_count; k++)
        n += a->threads[k].set_ns && a->threads[k].set_ns >= most / 10;
    if (a->generations > 1)
        n /= a->generations;
    return n > 1 ? n : 1;
}

static bool of_worker(const struct wr_trace_analysis *a,
                      const struct wr_trace_thread *t)
{
    return a->actors[t->process].job == WR_TRACE_JOB_WORKER;
}

double wr_find_busy(const struct wr_trace_analysis *a)
{
    struct wr_gaps all = {0};
    double idle, window = 0;
    uint64_t split;

    for (size_t k = 0; k < a->thread_count; k++) {
        const struct wr_trace_thread *t = &a->threads[k];

        if (!t->gaps || !of_worker(a, t))
            continue;
        wr_gaps_merge(&all, t->gaps);
        window += (double)(t->last_set - t->first_set);
    }
    if (window <= 0)
        return -1;
    split = wr_gaps_split(&all);
    idle = split ? (double)wr_gaps_above(&all, split, NULL) : 0;
    return 1 - idle / window;
}

double wr_find_exposed(const struct wr_trace_analysis *a)
{
    double busy = wr_find_busy(a);

    if (busy < 0)
        return 1;
    return busy >= 0.9 ? 1 : busy <= 0.5 ? 0 : (busy - 0.5) / 0.4;
}

double wr_find_lost(const struct wr_trace_analysis *a, double ns)
{
    return ns * 1e-9 / wr_find_readers(a) / wr_find_epochs(a) *
           wr_find_exposed(a);
}

bool wr_find_matters(const struct wr_trace_analysis *a, double seconds)
{
    return seconds * wr_find_epochs(a) >= MATTERS * wr_find_run(a) &&
           seconds >= 0.001;
}

double wr_find_main(const struct wr_trace_analysis *a, double *ret_window)
{
    double ns = 0, window = 0;
    unsigned n = 0;

    for (size_t k = 0; k < a->thread_count; k++) {
        const struct wr_trace_thread *t = &a->threads[k];
        const struct wr_trace_process *p = wr_trace_file_process(a->file,
                                                                 t->process);

        if (!t->set_ns || a->actors[t->process].job != WR_TRACE_JOB_MAIN ||
            t->tid != (uint32_t)p->pid)
            continue;
        ns += (double)t->set_ns;
        window += (double)(t->last_set - WR_MIN(t->first_set, t->last_set));
        n++;
    }
    *ret_window = n ? window / n * 1e-9 : 0;
    return n ? ns / n * 1e-9 : 0;
}

double wr_find_cached(double reads, double bytes)
{
    return reads * CALL_NS + bytes / COPY_RATE * 1e9;
}

/* The mean of its processes: they need not begin together. */
double wr_find_window(const struct wr_trace_analysis *a)
{
    int job = a->workers ? WR_TRACE_JOB_WORKER : WR_TRACE_JOB_MAIN;
    double sum = 0;
    unsigned n = 0;

    for (size_t k = 0; k < a->actor_count; k++) {
        const struct wr_trace_actor *p = &a->actors[k];

        if (p->job != job || p->last_set_ns == UINT64_MAX)
            continue;
        sum += (double)(p->last_set_ns - p->first_set_ns) * 1e-9;
        n++;
    }
    return n ? sum / n * WR_MAX(1, a->generations) / wr_find_epochs(a) : 0;
}

bool wr_find_trains(const struct wr_trace_analysis *a)
{
    uint64_t count = a->gaps.total, ns = a->gaps.total_ns;

    if (a->steps || a->workers)
        return true;
    if (a->epoch_count < 2 &&
        a->kinds[WR_TRACE_DATA].bytes_written > a->set_bytes / 2)
        return false; /* it copies, or converts */
    if (a->gap_split_ns)
        ns = wr_gaps_above(&a->gaps, a->gap_split_ns, &count);
    return a->gaps.total >= LEAST && count && ns / count >= WORK_NS;
}

bool wr_find_loads(const struct wr_trace_analysis *a)
{
    return a->epoch_count > 1 || wr_find_trains(a);
}

void wr_find_files(const struct wr_trace_analysis *a,
                   struct wr_trace_finding *f,
                   uint64_t (*score)(const struct wr_trace_use *))
{
    double scores[WR_TRACE_FINDING_EXAMPLES];
    struct wr_top top = {f->examples, scores, sizeof(*f->examples),
                         WR_TRACE_FINDING_EXAMPLES, 0};

    for (size_t k = 0; k < a->use_count; k++) {
        uint64_t s = a->uses[k].role == WR_TRACE_ROLE_AMBIENT
                         ? 0
                         : score(&a->uses[k]);
        struct wr_trace_finding_example *x = s ? wr_top_add(&top, (double)s)
                                               : NULL;

        if (x)
            *x = (struct wr_trace_finding_example){.at_ns = a->uses[k].first_ns,
                                                   .file = (uint32_t)k};
    }
    f->example_count = top.count;
}

/* The part of a path behind `len` bytes, up to the next slash; its length. */
static size_t part_at(const char *path, size_t len)
{
    return strcspn(path + len, "/");
}

/* The part that most bytes of files below `root` have next, by the vote of Boyer
 * and Moore; NULL: none, or it is the file itself. */
static const char *majority(const struct wr_trace_analysis *a, const char *root,
                            size_t len, size_t *ret_len)
{
    const char *best = NULL;
    uint64_t votes = 0, all = 0, own = 0;

    for (int round = 0; round < 2; round++)
        for (size_t k = 0; k < a->use_count; k++) {
            const char *path = wr_trace_file_name(a->file, k)->path;
            uint64_t n = a->uses[k].bytes_read;
            bool same;

            if (a->uses[k].role != WR_TRACE_ROLE_SET ||
                strncmp(path, root, len) != 0)
                continue;
            same = best && part_at(path, len) == *ret_len &&
                   !strncmp(path + len, best, *ret_len);
            if (round) {
                all += n;
                own += same ? n : 0;
            } else if (same) {
                votes += n;
            } else if (votes >= n && best) {
                votes -= n;
            } else {
                best = path + len;
                *ret_len = part_at(path, len);
                votes = n - votes;
            }
        }
    return best && best[*ret_len] == '/' && (double)own > 0.6 * (double)all
               ? best
               : NULL;
}

const char *wr_find_root(const struct wr_trace_analysis *a, char *buf,
                         size_t cap)
{
    size_t len = 1, part = 0;
    const char *next;

    snprintf(buf, cap, "/");
    while ((next = majority(a, buf, len, &part)) && len + part + 2 < cap) {
        memcpy(buf + len, next, part + 1); /* with its slash */
        len += part + 1;
        buf[len] = '\0';
    }
    if (len > 1)
        buf[len - 1] = '\0';
    return buf;
}

const struct wr_trace_mount *wr_find_mount(const struct wr_trace_analysis *a)
{
    char root[512];

    return wr_trace_mount_of(a, wr_find_root(a, root, sizeof(root)));
}

const char *wr_find_quote(const char *path, char *buf, size_t cap)
{
    char shown[600];
    bool plain = path[0] != '\0';

    wr_text_show(path, /* controls= */ true, shown, sizeof(shown));
    for (const char *s = shown; *s; s++)
        plain &= strchr("/._-+=:,@%", *s) || (*s >= 'a' && *s <= 'z') ||
                 (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9');
    snprintf(buf, cap, plain ? "%s" : "'%s'", shown);
    return buf;
}

bool wr_find_is_checkpoint(const struct wr_trace_save *s)
{
    return s->main_thread && s->read_bytes < s->bytes / 4;
}

double wr_find_pauses(const struct wr_trace_analysis *a, bool network,
                      struct wr_trace_finding *f)
{
    double scores[WR_TRACE_FINDING_EXAMPLES];
    struct wr_top top = {f->examples, scores, sizeof(*f->examples),
                         WR_TRACE_FINDING_EXAMPLES, 0};
    unsigned bursts = 0;
    double sum = 0;

    for (size_t k = 0; k < a->save_count; k++) {
        const struct wr_trace_save *s = &a->saves[k];
        const struct wr_trace_mount *m = wr_trace_mount_of(
            a, wr_trace_file_name(a->file, s->file)->path);
        struct wr_trace_finding_example *x;
        double ns = (double)s->pause_ns;

        if (!wr_find_is_checkpoint(s) || (network && !(m && m->network)))
            continue;
        bursts += s->bursts;
        sum += ns * 1e-9;
        x = wr_top_add(&top, ns);
        if (!x)
            continue;
        *x = (struct wr_trace_finding_example){.at_ns = s->start_ns,
                                               .file = s->file};
        wr_format_ns(x->detail, sizeof(x->detail), ns);
    }
    f->example_count = top.count;
    if (bursts < 2) /* one output at the end, perhaps */
        return 0;
    return sum / (a->mains ? a->mains : 1);
}
