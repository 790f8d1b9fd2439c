/* ckpt_do.c - weir ckpt verify, drain, restore, prune, pin and unpin.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ckpt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "checkpoint/export.h"
#include "cli/interrupt.h"
#include "storage/storage.h"

#define WATCH_MS 500 /* between two looks */

static void start_line(struct wr_progress *line, const struct wr_cli *cli,
                       const char *label)
{
    wr_progress_start(
        line, cli, &(struct wr_progress_spec){.label = label, .bytes = true});
}

/* --- verify --- */

struct verify {
    const struct wr_cli *cli;
    struct wr_progress *line;
    unsigned copies;
    uint64_t bytes;
};

static void on_checked(void *arg, const weir_ckpt_checked *c)
{
    struct verify *v = arg;
    const struct wr_cli *cli = v->cli;
    char size[32];

    v->copies++;
    v->bytes += c->bytes;
    wr_progress_hide(v->line);
    fprintf(cli->out, "step %-8" PRIu64 " ", c->step);
    if (wr_ckpt_cli_slow(cli))
        fprintf(cli->out, "%-5s ", c->tier);
    fprintf(cli->out, "%9s  ",
            wr_format_bytes(size, sizeof(size), (double)c->bytes));
    if (c->code)
        fprintf(cli->out, "%sDAMAGED%s: %s\n", wr_cli_style(cli, WR_STYLE_BAD),
                wr_cli_style(cli, WR_STYLE_END), c->text);
    else
        fprintf(cli->out, "good\n");
    fflush(cli->out);
}

static int verify_file(struct wr_cli *cli, struct wr_store *st,
                       const char *leaf)
{
    struct wr_progress line;
    weir_err err;
    int r;

    start_line(&line, cli, "verify");
    r = wr_export_check(&(struct wr_place){st, leaf},
                        &(struct wr_export_meter){
                            .progress = wr_ckpt_cli_progress, .arg = &line},
                        &err);
    wr_progress_end(&line);
    if (r < 0)
        return wr_ckpt_cli_failed(cli, r, &err);
    fprintf(cli->out, "good\n");
    return WR_EXIT_DONE;
}

static int verify_store(struct wr_cli *cli)
{
    struct wr_progress line;
    struct verify v = {cli, &line, 0, 0};
    weir_ckpt *c;
    weir_err err;
    uint64_t start = wr_clock_ns();
    char size[32], rate[32];
    const char *what;
    double s;
    int code, bad;

    start_line(&line, cli, "verify");
    code = wr_ckpt_cli_open(cli, WEIR_CKPT_READ, &line, &c);
    if (code != WR_EXIT_DONE)
        return code;
    bad = weir_ckpt_verify(c, wr_ckpt_cli_step(cli), on_checked, &v, &err);
    wr_progress_end(&line);
    weir_ckpt_close(&c, NULL);
    if (bad < 0)
        return wr_ckpt_cli_failed(cli, bad, &err);
    if (!v.copies)
        return wr_ckpt_cli_no_steps(cli);
    s = (double)(wr_clock_ns() - start) * 1e-9;
    what = wr_ckpt_cli_slow(cli) ? v.copies == 1 ? "copy" : "copies"
           : v.copies == 1       ? "step"
                                 : "steps";
    if (bad)
        return wr_cli_fail(cli, "%d of %u %s damaged", bad, v.copies, what);
    fprintf(cli->out, "%u %s good, %s at %s/s\n", v.copies, what,
            wr_format_bytes(size, sizeof(size), (double)v.bytes),
            wr_format_bytes(rate, sizeof(rate), (double)v.bytes / s));
    return WR_EXIT_DONE;
}

int wr_ckpt_cli_verify(struct wr_cli *cli)
{
    return wr_ckpt_cli_file_or_store(cli, verify_file, verify_store);
}

/* --- drain --- */

/* What was drained before. */
struct drained {
    uint64_t steps, bytes, verified;
};

/* Since `before`, which is brought up to date. False: nothing was to be done. */
static bool say_drained(const struct wr_cli *cli, weir_ckpt *c,
                        struct drained *before, uint64_t since_ns)
{
    double took_ns = (double)(wr_clock_ns() - since_ns);
    weir_ckpt_stats stats;
    char size[32], took[32];
    uint64_t steps, bytes, verified;

    weir_ckpt_get_stats(c, &stats);
    steps = stats.drained - before->steps;
    bytes = stats.bytes_drained - before->bytes;
    verified = stats.verified - before->verified;
    *before = (struct drained){stats.drained, stats.bytes_drained,
                               stats.verified};
    if (steps)
        fprintf(cli->out, "drained %" PRIu64 " step%s, %s in %s%s\n", steps,
                steps == 1 ? "" : "s",
                wr_format_bytes(size, sizeof(size), (double)bytes),
                wr_format_ns(took, sizeof(took), took_ns),
                verified ? ", read back" : "");
    else if (verified) /* an earlier drain was interrupted before that */
        fprintf(cli->out, "read back %" PRIu64 " drained step%s\n", verified,
                verified == 1 ? "" : "s");
    fflush(cli->out);
    return steps || verified;
}

/* A slow tier that fails now may work again later: whoever watches goes on. */
static int watch(struct wr_cli *cli, weir_ckpt *c, struct wr_progress *line)
{
    uint64_t pause = WATCH_MS;
    struct drained before = {0};
    weir_err err;

    while (!wr_interrupted()) {
        uint64_t start = wr_clock_ns(), next;
        int r;

        start_line(line, cli, "drain");
        r = weir_ckpt_drain(c, &err);
        wr_progress_end(line);
        if (r == WEIR_ECANCELED)
            break;
        if (r == WEIR_EFENCED)
            return wr_cli_fail(cli, "%s", err.msg);
        if (r < 0)
            wr_cli_note(cli, "%s; tried again in %" PRIu64 " s", err.msg,
                        (pause = WR_MIN(pause * 2, 60000)) / 1000);
        else
            pause = WATCH_MS;
        say_drained(cli, c, &before, start);
        next = wr_clock_ns() + pause * WR_NS_PER_MS;
        while (!wr_interrupted() && wr_clock_ns() < next)
            wr_clock_sleep_until(wr_clock_ns() + 50 * WR_NS_PER_MS);
    }
    return WR_EXIT_DONE;
}

static int drain_once(struct wr_cli *cli, weir_ckpt *c,
                      struct wr_progress *line)
{
    uint64_t start = wr_clock_ns();
    struct drained before = {0};
    weir_err err;
    bool any;
    int r = weir_ckpt_drain(c, &err);

    wr_progress_end(line);
    any = say_drained(cli, c, &before, start);
    if (r < 0)
        return wr_ckpt_cli_failed(cli, r, &err);
    if (!any)
        fprintf(cli->out, "nothing to drain\n");
    return WR_EXIT_DONE;
}

int wr_ckpt_cli_drain(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    struct wr_progress line;
    weir_ckpt *c;
    weir_err err;
    int code, r;

    start_line(&line, cli, "drain");
    code = wr_ckpt_cli_open(cli, WEIR_CKPT_DRAIN, &line, &c);
    if (code != WR_EXIT_DONE)
        return code;
    if (a->watch) {
        wr_progress_end(&line);
        wr_cli_note(cli, "watching '%s'; Ctrl-C ends it",
                    wr_ckpt_cli_fast(cli));
    }
    code = a->watch ? watch(cli, c, &line) : drain_once(cli, c, &line);
    r = weir_ckpt_close(&c, &err);
    return code == WR_EXIT_DONE && r < 0 ? wr_ckpt_cli_failed(cli, r, &err)
                                         : code;
}

/* --- restore --- */

int wr_ckpt_cli_restore(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    struct wr_progress line;
    weir_ckpt_found *found = NULL;
    weir_ckpt *c;
    weir_err err;
    char where[CKPT_TIER_TEXT];
    int code, r;

    start_line(&line, cli, "restore");
    code = wr_ckpt_cli_open(cli, WEIR_CKPT_READ, &line, &c);
    if (code != WR_EXIT_DONE)
        return code;
    r = weir_ckpt_export(c, wr_ckpt_cli_step(cli), a->into, &found, &err);
    wr_progress_end(&line);
    weir_ckpt_close(&c, NULL);
    if (r < 0)
        return wr_ckpt_cli_failed(cli, r, &err);
    if (r == 0)
        return wr_ckpt_cli_no_steps(cli);
    for (size_t i = 0; i < found->passed_over_count; i++)
        wr_cli_note(cli, "passed over: %s", found->passed_over[i]);
    fprintf(cli->out, "step %" PRIu64 "%s is in '%s'\n", found->step,
            wr_ckpt_cli_tier(cli, "from", found->tier, where), a->into);
    weir_ckpt_found_free(&found);
    return WR_EXIT_DONE;
}

/* --- prune --- */

struct prune {
    const struct wr_cli *cli;
    uint64_t bytes;
    unsigned count;
};

static void on_gone(void *arg, uint64_t step, const char *tier, uint64_t bytes)
{
    struct prune *p = arg;
    const struct ckpt_args *a = p->cli->args;
    const char *removed = a->dry_run ? "would remove" : "removed";
    char size[32], where[CKPT_TIER_TEXT];

    p->bytes += bytes;
    p->count++;
    wr_format_bytes(size, sizeof(size), (double)bytes);
    wr_ckpt_cli_tier(p->cli, "from", tier, where);
    if (step == WEIR_LATEST)
        fprintf(p->cli->out, "%s spare files%s, %s\n", removed, where, size);
    else
        fprintf(p->cli->out, "%s step %" PRIu64 "%s, %s\n", removed, step,
                where, size);
}

int wr_ckpt_cli_prune(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    struct prune p = {cli, 0, 0};
    weir_ckpt_prune_plan plan = {
        .keep_last = (uint32_t)a->keep,
        .keep_every = a->every,
        .go_back = wr_cli_given(cli, "after"),
        .after = wr_cli_given(cli, "after") ? a->after : 0,
        .spare = a->spare,
        .dry_run = a->dry_run,
        .gone = on_gone,
        .arg = &p,
    };
    weir_ckpt *c;
    weir_err err;
    int code = wr_ckpt_cli_open(cli, WEIR_CKPT_MANAGE, NULL, &c), r, q;

    if (code != WR_EXIT_DONE)
        return code;
    r = weir_ckpt_prune(c, &plan, &err);
    q = weir_ckpt_close(&c, r < 0 ? NULL : &err);
    if (r < 0 || q < 0)
        return wr_ckpt_cli_failed(cli, r < 0 ? r : q, &err);
    if (!p.count)
        fprintf(cli->out, "nothing to remove\n");
    return WR_EXIT_DONE;
}

/* --- pins --- */

static int set_pin(struct wr_cli *cli, int on)
{
    const struct ckpt_args *a = cli->args;
    weir_ckpt *c;
    weir_err err;
    int code = wr_ckpt_cli_open(cli, WEIR_CKPT_READ, NULL, &c), r;

    if (code != WR_EXIT_DONE)
        return code;
    r = weir_ckpt_pin(c, a->step, on, &err);
    weir_ckpt_close(&c, NULL);
    if (r < 0)
        return wr_ckpt_cli_failed(cli, r, &err);
    fprintf(cli->out, "step %" PRIu64 " is %s\n", a->step,
            on ? "pinned" : "not pinned any more");
    return WR_EXIT_DONE;
}

int wr_ckpt_cli_pin(struct wr_cli *cli)
{
    return set_pin(cli, 1);
}

int wr_ckpt_cli_unpin(struct wr_cli *cli)
{
    return set_pin(cli, 0);
}
