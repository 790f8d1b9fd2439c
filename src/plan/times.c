/* times.c - the times of batches, from the log of any training.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/times.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"
#include "plan/times_line.h"

#define BATCH_MAX                                                              \
    1e12            /* a number; WR_PLAN_TIMES_MAX epochs of it fit 64 bits */
#define MS_MAX 1e10 /* 115 days */

void wr_plan_times_done(struct wr_plan_times *t)
{
    free(t->ms);
    free(t->batch);
    *t = (struct wr_plan_times){0};
}

struct times_log {
    const char *name; /* borrowed */
    struct wr_plan_times t;
    size_t ms_cap, batch_cap;
    struct wr_times_heading heading;
    uint64_t line;
    uint64_t base;     /* added to numbers of this epoch */
    uint64_t last;     /* number, of this epoch */
    uint64_t stride;   /* from the one before to the last one */
    uint64_t least;    /* of all */
    bool uneven;       /* epochs have different lengths */
    uint64_t bad_line; /* the first that has no batch; 0: none */
    char bad_text[40];
};

/* Numbers that begin again where they began, or at 0 or 1, are a new epoch's.
 * What goes back elsewhere is two logs in one. */
static int begin_epoch(struct times_log *p, uint64_t batch, weir_err *err)
{
    uint64_t length = p->last + p->stride - batch;

    if (batch > p->least && batch > 1)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': line %" PRIu64 ": batch %" PRIu64
                       " comes after batch %" PRIu64
                       ": the log of one process is needed, whose numbers rise "
                       "or start anew with an epoch",
                       wr_show(p->name).text, p->line, batch, p->last);
    p->uneven |= p->t.epoch_batches && p->t.epoch_batches != length;
    p->t.epoch_batches = length;
    p->base += length;
    return 0;
}

static int check_pair(const struct times_log *p,
                      const struct wr_times_pair *pair, weir_err *err)
{
    const char *name = p->name;

    if (pair->ms < 0)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': line %" PRIu64 ": a batch cannot take %g ms",
                       wr_show(name).text, p->line, pair->ms);
    if (pair->ms > MS_MAX)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': line %" PRIu64 ": a time of %g ms: at most %g is "
                       "possible",
                       wr_show(name).text, p->line, pair->ms, MS_MAX);
    if (!(pair->batch >= 0 && pair->batch <= BATCH_MAX) ||
        pair->batch != floor(pair->batch))
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': line %" PRIu64 ": batch %.15g: a whole number "
                       "from 0 to %g is needed",
                       wr_show(name).text, p->line, pair->batch, BATCH_MAX);
    return 0;
}

static int add(struct times_log *p, const struct wr_times_pair *pair,
               weir_err *err)
{
    struct wr_plan_times *t = &p->t;
    uint64_t batch;
    int r = check_pair(p, pair, err);

    if (r < 0)
        return r;
    batch = (uint64_t)pair->batch;
    if (t->count == WR_PLAN_TIMES_MAX)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': line %" PRIu64 ": more than %zu batches",
                       wr_show(p->name).text, p->line, WR_PLAN_TIMES_MAX);
    if (t->count == 0) {
        p->least = batch;
        p->stride = 1;
    } else if (batch > p->last) {
        p->stride = batch - p->last;
    } else {
        r = begin_epoch(p, batch, err);
        if (r < 0)
            return r;
    }
    if (!wr_grow(&t->ms, &p->ms_cap, t->count + 1, sizeof(*t->ms)) ||
        !wr_grow(&t->batch, &p->batch_cap, t->count + 1, sizeof(*t->batch)))
        return wr_fail(err, WEIR_ENOMEM, "'%s': out of memory for %zu batches",
                       wr_show(p->name).text, t->count);
    t->ms[t->count] = pair->ms;
    t->batch[t->count++] = p->base + batch;
    p->least = WR_MIN(p->least, batch);
    p->last = batch;
    return 0;
}

/* Blank, or a comment: nothing that a batch could have been expected in. */
static bool is_void(const char *line, size_t len)
{
    while (len && (*line == ' ' || *line == '\t')) {
        line++;
        len--;
    }
    return len == 0 || *line == '#' ||
           (len > 1 && line[0] == '/' && line[1] == '/');
}

static int take_line(struct times_log *p, const char *line, size_t len,
                     weir_err *err)
{
    struct wr_times_pair pair;

    if (len && line[len - 1] == '\r')
        len--;
    if (is_void(line, len))
        return 0;
    if (wr_times_line(line, len, &p->heading, &pair))
        return add(p, &pair, err);
    if (wr_times_heading(line, len, &p->heading))
        return 0;
    p->t.skipped++;
    if (!p->bad_line) {
        p->bad_line = p->line;
        snprintf(p->bad_text, sizeof(p->bad_text), "%.*s",
                 (int)WR_MIN(len, sizeof(p->bad_text) - 1), line);
    }
    return 0;
}

/* A text in which most lines have no batch is not such a log. */
static int check_whole(const struct times_log *p, weir_err *err)
{
    if (!p->bad_line && p->t.count == 0)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': empty: lines with the number of a batch and its "
                       "time in ms are needed",
                       wr_show(p->name).text);
    if (p->t.skipped > p->t.count)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': line %" PRIu64 ": no batch and its time in '%s', "
                       "nor in %zu of %zu lines",
                       wr_show(p->name).text, p->bad_line,
                       wr_show(p->bad_text).text, p->t.skipped,
                       p->t.skipped + p->t.count);
    return 0;
}

int wr_plan_times_parse(const char *text, size_t len, const char *name,
                        struct wr_plan_times *ret, weir_err *err)
{
    struct times_log p = {.name = name};
    const char *end = text + len;
    int r = 0;

    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3; /* the mark that spreadsheets begin UTF-8 with */
    while (text < end && r == 0) {
        const char *next = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((next ? next : end) - text);

        p.line++;
        r = take_line(&p, text, n, err);
        text += n + (next != NULL);
    }
    if (r == 0)
        r = check_whole(&p, err);
    if (r < 0) {
        wr_plan_times_done(&p.t);
        return r;
    }
    if (p.uneven || p.t.epoch_batches < 2)
        p.t.epoch_batches = 0;
    *ret = p.t;
    return 0;
}
