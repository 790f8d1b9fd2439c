/* finding.c - all findings, in order of what they cost, and what their rules share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/top.h"
#include "trace/finding_private.h"

#define MATTERS   0.005
#define LEAST     16      /* pauses */
#define CALL_NS   2000.0  /* of a read that finds its pages in memory */
#define WORK_NS   1000000 /* between samples: it does something with them */
#define COPY_RATE 2e9     /* bytes per second, out of the page cache */

static const struct wr_trace_finding_rule rules[] = {
#define FINDING(code, name, title, over) {code, title, over, wr_find_##name},
#include "trace/findings.def"
};

/* --- what the rules share --- */

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

bool wr_find_is_main(const struct wr_trace_analysis *a,
                     const struct wr_trace_thread *t)
{
    return a->actors[t->process].job == WR_TRACE_JOB_MAIN &&
           t->tid == (uint32_t)wr_trace_file_process(a->file, t->process)->pid;
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

double wr_find_cached(double reads, double bytes)
{
    return reads * CALL_NS + bytes / COPY_RATE * 1e9;
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

void wr_find_cost(struct wr_trace_finding *f, double seconds, double share,
                  int sure)
{
    f->seconds = seconds;
    f->gain = share * seconds;
    f->sure = sure;
}

void wr_find_what(struct wr_trace_finding *f, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(f->what, sizeof(f->what), fmt, ap);
    va_end(ap);
}

void wr_find_evidence(struct wr_trace_finding *f, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(f->evidence, sizeof(f->evidence), fmt, ap);
    va_end(ap);
}

void wr_find_change(struct wr_trace_finding *f, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(f->change, sizeof(f->change), fmt, ap);
    va_end(ap);
}

/* --- the findings --- */

const char *wr_finding_sure_name(int sure)
{
    static const char *const names[] = {"maybe", "likely", "sure"};

    return sure >= 0 && sure < 3 ? names[sure] : "?";
}

double wr_trace_finding_cost(const struct wr_trace_analysis *a,
                             const struct wr_trace_finding *f)
{
    return f->once ? f->seconds : f->seconds * wr_find_epochs(a);
}

static int by_cost(const void *x, const void *y, void *arg)
{
    const struct wr_trace_finding *p = x, *q = y;
    double a = wr_trace_finding_cost(arg, p), b = wr_trace_finding_cost(arg, q);

    if (p->risk != q->risk)
        return p->risk - q->risk;
    if (a != b)
        return a < b ? 1 : -1;
    return strcmp(p->rule->code, q->rule->code);
}

/* Whether one that is told itself stands in for it. */
static bool is_covered(const struct wr_trace_findings *f, size_t which)
{
    for (size_t k = 0; k < f->count; k++)
        if (strstr(f->list[k].over, f->list[which].rule->code) &&
            !is_covered(f, k))
            return true;
    return false;
}

static void drop_covered(struct wr_trace_findings *f)
{
    bool covered[WR_ARRAY_LEN(rules)];
    size_t n = 0;

    for (size_t k = 0; k < f->count; k++)
        covered[k] = is_covered(f, k);
    for (size_t k = 0; k < f->count; k++)
        if (!covered[k])
            f->list[n++] = f->list[k];
    f->count = n;
}

int wr_trace_findings_of(const struct wr_trace_analysis *a,
                         struct wr_trace_findings *ret, weir_err *err)
{
    struct wr_trace_findings f = {
        .list = calloc(WR_ARRAY_LEN(rules), sizeof(*f.list))};

    if (!f.list)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < WR_ARRAY_LEN(rules); k++) {
        struct wr_trace_finding one = {.rule = &rules[k],
                                       .over = rules[k].over};

        if (rules[k].look(a, &one))
            f.list[f.count++] = one;
    }
    drop_covered(&f);
    qsort_r(f.list, f.count, sizeof(*f.list), by_cost,
            (void *)(uintptr_t)a); /* which is only read */
    *ret = f;
    return 0;
}

void wr_trace_findings_done(struct wr_trace_findings *f)
{
    free(f->list);
    *f = (struct wr_trace_findings){0};
}
