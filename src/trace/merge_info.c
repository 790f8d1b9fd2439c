/* merge_info.c - what a merged trace has once.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "trace/merge_private.h"

#define MANY_TEXTS 16 /* different commands or hosts that are written out */

static const struct wr_trace_info *info_of(const struct wr_merge *m, size_t k)
{
    return wr_trace_file_info(m->inputs[k].file);
}

static const char *text_of(const struct wr_merge *m, size_t k, bool is_host)
{
    const char *s = is_host ? m->inputs[k].host : info_of(m, k)->command;

    return s ? s : "";
}

/* The different texts, joined; NULL: no memory. */
static char *join(const struct wr_merge *m, bool is_host, const char *between)
{
    char *text = NULL;
    size_t len = 0, written = 0;
    FILE *to = open_memstream(&text, &len);

    for (size_t k = 0; to && k < m->count; k++) {
        const char *s = text_of(m, k, is_host);
        size_t i = 0;

        while (i < k && strcmp(text_of(m, i, is_host), s) != 0)
            i++;
        if (i < k)
            continue;
        if (written++ < MANY_TEXTS)
            fprintf(to, "%s%s", written > 1 ? between : "", s);
        else if (written == MANY_TEXTS + 1)
            fprintf(to, "%s...", between);
    }
    if (to && fclose(to) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static bool has_line(const char *text, const char *line, size_t len)
{
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n");

        if (n == len && !memcmp(at, line, n))
            return true;
        at += n + (at[n] == '\n');
    }
    return false;
}

/* Lines that all hosts have come once. */
static char *join_mounts(const struct wr_merge *m)
{
    char *text = strdup(""), *longer;

    for (size_t k = 0; text && k < m->count; k++) {
        const char *at = info_of(m, k)->mounts;

        while (at && *at && text) {
            size_t n = strcspn(at, "\n");

            if (n && !has_line(text, at, n)) {
                if (asprintf(&longer, "%s%.*s\n", text, (int)n, at) < 0)
                    longer = NULL;
                free(text);
                text = longer;
            }
            at += n + (at[n] == '\n');
        }
    }
    return text;
}

int wr_merge_info(const struct wr_merge *m, struct wr_trace_info *ret,
                  weir_err *err)
{
    struct wr_trace_info all = *info_of(m, 0);

    all.by_kernel = all.complete = true;
    all.anonymous = false;
    all.merged = 0;
    all.lost_records = all.end_ns = 0;
    for (size_t k = 0; k < m->count; k++) {
        const struct wr_trace_info *i = info_of(m, k);

        all.start_wall_ns = WR_MIN(all.start_wall_ns, i->start_wall_ns);
        all.end_ns = WR_MAX(all.end_ns, i->end_ns + m->inputs[k].offset_ns);
        /* What is said of a machine must be true of each. */
        all.cores = WR_MIN(all.cores, i->cores);
        all.memory_bytes = WR_MIN(all.memory_bytes, i->memory_bytes);
        all.available_bytes = WR_MIN(all.available_bytes, i->available_bytes);
        all.anonymous |= i->anonymous;
        all.complete &= i->complete;
        all.by_kernel &= i->by_kernel;
        all.lost_records += i->lost_records;
        all.merged += WR_MAX(i->merged, 1);
    }
    if (m->sum.hosts > 1 || m->inputs[0].offset_ns)
        all.monitor = NULL; /* it is of one machine, from the start on */
    all.command = join(m, /* is_host= */ false, "; ");
    all.host = join(m, /* is_host= */ true, ", ");
    all.mounts = join_mounts(m);
    if (!all.command || !all.host || !all.mounts) {
        wr_merge_info_done(&all);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    *ret = all;
    return 0;
}

void wr_merge_info_done(struct wr_trace_info *info)
{
    free((void *)(uintptr_t)info->command);
    free((void *)(uintptr_t)info->host);
    free((void *)(uintptr_t)info->mounts);
}
