/* merge_check.c - opens traces that are to be merged, and brings their clocks
 * together.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/mem.h"
#include "trace/merge_private.h"

#define LAUNCH_NS  UINT64_C(5000000000) /* ranks start so far apart */
#define FEW_SPACES 511 /* times WR_MERGE_PIDS fits into a pid */

static void add_note(const struct wr_merge *m, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void add_note(const struct wr_merge *m, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    if (!m->cfg->note)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    m->cfg->note(m->cfg->arg, text);
}

/* --- the same trace twice --- */

/* A copy of a trace has another inode, and began at the same nanosecond. */
static bool is_same_run(const struct wr_merge_input *a,
                        const struct wr_merge_input *b)
{
    const struct wr_trace_info *x = wr_trace_file_info(a->file);
    const struct wr_trace_info *y = wr_trace_file_info(b->file);
    size_t n = wr_trace_file_processes(a->file);

    if (x->start_wall_ns != y->start_wall_ns || strcmp(a->host, b->host) != 0 ||
        n != wr_trace_file_processes(b->file))
        return false;
    return !n || wr_trace_file_process(a->file, 0)->pid ==
                     wr_trace_file_process(b->file, 0)->pid;
}

static int check_twice(const struct wr_merge *m, size_t k, weir_err *err)
{
    const struct wr_merge_input *b = &m->inputs[k];

    for (size_t i = 0; i < k; i++) {
        const struct wr_merge_input *a = &m->inputs[i];

        if (a->device == b->device && a->inode == b->inode)
            return wr_fail(err, WEIR_EINVAL, "'%s' and '%s' are the same file",
                           a->path, b->path);
        if (is_same_run(a, b))
            return wr_fail(err, WEIR_EINVAL,
                           "'%s' and '%s' are of the same run", a->path,
                           b->path);
    }
    return 0;
}

/* --- opening --- */

static int open_input(struct wr_merge *m, size_t k, weir_err *err)
{
    struct wr_merge_input *in = &m->inputs[k];
    const char *damage;
    struct stat st;
    int r;

    in->path = m->cfg->inputs[k];
    if (stat(in->path, &st) == 0) {
        in->device = st.st_dev;
        in->inode = st.st_ino;
    }
    r = wr_trace_file_open(&in->file, in->path, err);
    if (r < 0)
        return r;
    in->host = wr_trace_file_info(in->file)->host;
    in->host = in->host ? in->host : "";
    in->first_process = m->processes;
    m->processes += (uint32_t)wr_trace_file_processes(in->file);
    damage = wr_trace_file_damage(in->file);
    if (damage)
        add_note(m, "'%s': %s", in->path, damage);
    if (wr_trace_file_info(in->file)->anonymous && m->count > 1)
        add_note(m,
                 "'%s': its names are hashes of its own, which are never "
                 "those of another trace",
                 in->path);
    in->mounts = calloc(1, sizeof(*in->mounts));
    if (!in->mounts)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    in->mounts->file = in->file;
    r = wr_trace_mounts(in->mounts, err);
    return r < 0 ? r : check_twice(m, k, err);
}

/* --- pids --- */

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The pids of an input, sorted; NULL: no memory. */
static int64_t *pids_of(const struct wr_merge_input *in, size_t *ret)
{
    size_t n = wr_trace_file_processes(in->file);
    int64_t *list = calloc(n + 1, sizeof(*list));

    for (size_t k = 0; list && k < n; k++)
        list[k] = wr_trace_file_process(in->file, k)->pid;
    if (list)
        qsort(list, n, sizeof(*list), by_number);
    *ret = n;
    return list;
}

static bool has_common(const int64_t *a, size_t n, const int64_t *b, size_t m)
{
    while (n && m) {
        if (*a == *b)
            return true;
        if (*a < *b) {
            a++;
            n--;
        } else {
            b++;
            m--;
        }
    }
    return false;
}

/* Pids of one host differ, unless containers have their own ones. */
static int choose_spaces(struct wr_merge *m, weir_err *err)
{
    int64_t **pids = calloc(m->count, sizeof(*pids));
    size_t *counts = calloc(m->count, sizeof(*counts));
    uint32_t next = 0;
    bool good = pids && counts;

    for (size_t k = 0; good && k < m->count; k++) {
        struct wr_merge_input *in = &m->inputs[k];
        bool is_new = !*in->host;

        pids[k] = pids_of(in, &counts[k]);
        good = pids[k] != NULL;
        in->space = next;
        for (size_t i = 0; good && !is_new && i < k; i++) {
            struct wr_merge_input *o = &m->inputs[i];

            if (strcmp(o->host, in->host) != 0)
                continue;
            in->space = o->space;
            is_new = has_common(pids[i], counts[i], pids[k], counts[k]);
        }
        if (is_new || in->space == next)
            in->space = next++;
        in->space %= FEW_SPACES + 1;
    }
    for (size_t k = 0; pids && k < m->count; k++)
        free(pids[k]);
    free(pids);
    free(counts);
    return good ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
}

/* Two traces of one rank are of two jobs, or of one that was started twice. */
static void check_ranks(struct wr_merge *m)
{
    uint32_t *owner = calloc(65536, sizeof(*owner)); /* input + 1 */
    bool said = false;

    for (size_t k = 0; owner && k < m->count; k++) {
        const struct wr_trace_file *f = m->inputs[k].file;

        for (size_t i = 0; i < wr_trace_file_processes(f); i++) {
            int32_t rank = wr_trace_file_process(f, i)->rank;

            if (rank < 0 || rank >= 65536)
                continue;
            m->sum.ranks += !owner[rank];
            if (owner[rank] && owner[rank] != k + 1 && !said) {
                add_note(m, "rank %d is in both '%s' and '%s'", rank,
                         m->inputs[owner[rank] - 1].path, m->inputs[k].path);
                said = true;
            }
            if (!owner[rank])
                owner[rank] = (uint32_t)k + 1;
        }
    }
    free(owner);
}

static void count_hosts(struct wr_merge *m)
{
    for (size_t k = 0; k < m->count; k++) {
        size_t i = 0;

        while (i < k && strcmp(m->inputs[i].host, m->inputs[k].host) != 0)
            i++;
        m->sum.hosts += i == k || !*m->inputs[k].host;
    }
}

int wr_merge_open(struct wr_merge *m, weir_err *err)
{
    for (size_t k = 0; k < m->count; k++) {
        int r = open_input(m, k, err);

        if (r < 0)
            return r;
    }
    check_ranks(m);
    count_hosts(m);
    return choose_spaces(m, err);
}

/* --- clocks --- */

static uint64_t length_of(const struct wr_merge_input *in)
{
    uint64_t end = wr_trace_file_info(in->file)->end_ns;

    for (size_t k = 0; k < wr_trace_file_processes(in->file); k++) {
        const struct wr_trace_process *p = wr_trace_file_process(in->file, k);

        end = WR_MAX(end, p->start_ns);
        if (p->end_ns != UINT64_MAX)
            end = WR_MAX(end, p->end_ns);
    }
    return end;
}

/* Ranks of one job run at the same time: each of its traces shares at least
 * half of its own length, or of the other's, with the one that began first. */
static bool is_apart(uint64_t first_ns, const struct wr_merge_input *in)
{
    uint64_t own_ns = length_of(in), begin = in->offset_ns, common;

    if (begin < LAUNCH_NS)
        return false;
    if (begin >= first_ns)
        return true;
    common = WR_MIN(first_ns - begin, own_ns);
    return common < WR_MIN(first_ns, own_ns) / 2;
}

int wr_merge_align(struct wr_merge *m, weir_err *err)
{
    const struct wr_merge_input *first = &m->inputs[0];
    uint64_t from = UINT64_MAX, to = 0;

    for (size_t k = 0; k < m->count; k++) {
        uint64_t at = wr_trace_file_info(m->inputs[k].file)->start_wall_ns;

        if (at < from) {
            from = at;
            first = &m->inputs[k];
        }
        to = WR_MAX(to, at);
    }
    m->sum.spread_ns = to - from;
    if (m->cfg->align == WR_MERGE_START)
        return 0;
    for (size_t k = 0; k < m->count; k++)
        m->inputs[k].offset_ns =
            wr_trace_file_info(m->inputs[k].file)->start_wall_ns - from;
    for (size_t k = 0; m->cfg->align == WR_MERGE_AUTO && k < m->count; k++) {
        const struct wr_merge_input *in = &m->inputs[k];

        if (in != first && is_apart(length_of(first), in))
            return wr_fail(err, WEIR_EINVAL,
                           "by their wall clocks '%s' and '%s' did not run at "
                           "the same time: the second began %.1f s after the "
                           "first, which took %.1f s (--align start: they did, "
                           "and the clocks are wrong; --align wall: they did "
                           "not)",
                           first->path, in->path, (double)in->offset_ns * 1e-9,
                           (double)length_of(first) * 1e-9);
    }
    return 0;
}
