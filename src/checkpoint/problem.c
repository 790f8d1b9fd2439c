/* problem.c - what a program that trains does with errors of the background.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/problem.h"

#include "base/error.h"
#include "checkpoint/store.h"
#include "weir/ckpt_stats.h"

static void say_text(const struct wr_ckpt_listener *to, const char *text)
{
    if (to->say)
        to->say(to->arg, text);
}

/* As weir_ckpt_problem; *ret_ends: it ends a run. */
static int take_problem(weir_ckpt *c, bool *ret_ends, weir_err *err)
{
    struct wr_log_entry *e;
    int r = 0;

    pthread_mutex_lock(&c->lock);
    e = c->cfg.rank == 0 ? wr_log_due(&c->log) : NULL;
    if (e) {
        e->due = false;
        *ret_ends = e->err.code == WEIR_EFENCED ||
                    (e->kind == WR_LOG_END && e->level <= WEIR_LEVEL_FAST);
        r = wr_fail_as(err, e->err.code, &e->err);
    }
    pthread_mutex_unlock(&c->lock);
    return r;
}

int wr_ckpt_tell_problems(weir_ckpt *c, const struct wr_ckpt_listener *to,
                          weir_err *err)
{
    bool ends = false;
    weir_err why;
    int r;

    while ((r = take_problem(c, &ends, &why)) < 0) {
        if (ends)
            return wr_fail_as(err, r, &why);
        say_text(to, why.msg);
    }
    return 0;
}

int wr_ckpt_tell_save(weir_ckpt *c, uint64_t step, int r,
                      const struct wr_ckpt_listener *to, weir_err *err)
{
    weir_ckpt_times t;

    if (r >= 0 || r == WEIR_EFENCED || r == WEIR_ECANCELED ||
        weir_ckpt_times_of(c, step, &t) < 0 || !t.fast_ns)
        return r;
    say_text(to, err->msg);
    return 0;
}

const char *wr_ckpt_notice(const weir_ckpt *c)
{
    return c->notice;
}
