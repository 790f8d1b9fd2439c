/* judge.c - claims become one verdict and one sentence after the other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/figure.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void say(struct wr_judgement *j, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));

static void say(struct wr_judgement *j, const char *fmt, va_list args)
{
    size_t at = strlen(j->why);

    if (at && at + 2 < sizeof(j->why)) {
        strcpy(j->why + at, "; ");
        at += 2;
    }
    vsnprintf(j->why + at, sizeof(j->why) - at, fmt, args);
}

static void hold(struct wr_judgement *j)
{
    if (j->ruling == WR_RULING_UNSEEN)
        j->ruling = WR_RULING_HOLDS;
}

void wr_judge_holds(struct wr_judgement *j, const char *fmt, ...)
{
    va_list args;

    hold(j);
    va_start(args, fmt);
    say(j, fmt, args);
    va_end(args);
}

void wr_judge_fails(struct wr_judgement *j, const char *fmt, ...)
{
    va_list args;

    j->ruling = WR_RULING_FAILS;
    va_start(args, fmt);
    say(j, fmt, args);
    va_end(args);
}

void wr_judge_unseen(struct wr_judgement *j, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(j, fmt, args);
    va_end(args);
}

void wr_judge(struct wr_judgement *j, bool holds, const char *fmt, ...)
{
    va_list args;

    if (holds)
        hold(j);
    else
        j->ruling = WR_RULING_FAILS;
    va_start(args, fmt);
    say(j, fmt, args);
    va_end(args);
}

/* Whether other programs had the cores in at least half of a figure's cells. */
static bool is_starved(const struct wr_study *st, const struct wr_figure *f)
{
    size_t starved = 0, all = 0;

    for (size_t k = 0; k < st->point_count; k++) {
        const struct wr_point *p = &st->points[k];
        struct wr_spread s;

        if (p->figure != f || !p->cell)
            continue;
        s = wr_cell_spread(p->cell, "starved");
        all += s.count > 0;
        starved += s.count > 0 && s.median >= 0.5;
    }
    return all && 2 * starved >= all;
}

void wr_figure_judge(const struct wr_study *st, const struct wr_figure *f,
                     struct wr_judgement *ret)
{
    *ret = (struct wr_judgement){.ruling = WR_RULING_UNSEEN};
    f->judge(st, f, ret);
    if (ret->ruling == WR_RULING_FAILS && is_starved(st, f)) {
        ret->ruling = WR_RULING_UNSEEN;
        wr_judge_unseen(ret, "but other programs had the cores meanwhile: "
                             "measure again (--fresh) on an idle machine");
    }
}

const char *wr_ruling_name(enum wr_ruling r)
{
    return r == WR_RULING_HOLDS   ? "holds"
           : r == WR_RULING_FAILS ? "does not hold"
                                  : "cannot be seen here";
}
