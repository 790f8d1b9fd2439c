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

int wr_ckpt_tell_problems(weir_ckpt *c, const struct wr_ckpt_listener *to,
                          weir_err *err)
{
    bool ends = false;
    weir_err why;
    int r;

    while ((r = wr_ckpt_take_trouble(c, &ends, &why)) < 0) {
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
