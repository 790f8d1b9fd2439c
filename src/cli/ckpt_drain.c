/* ckpt_drain.c - weir ckpt drain: brings steps from the fast tier to the slow one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ckpt.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/interrupt.h"
#include "cli/record_json.h"

#define WATCH_MS 500 /* between two looks */

/* What was drained before. */
struct drained {
    uint64_t steps, bytes, verified;
};

static void print_drained(const struct wr_cli *cli, const struct drained *d,
                          double took_ns)
{
    char size[32], took[32];

    if (d->steps)
        wr_cli_put(cli, "drained %" PRIu64 " step%s, %s in %s%s\n", d->steps,
                   d->steps == 1 ? "" : "s",
                   wr_format_bytes(size, sizeof(size), (double)d->bytes),
                   wr_format_ns(took, sizeof(took), took_ns),
                   d->verified ? ", read back" : "");
    else if (d->verified) /* an earlier drain was interrupted before that */
        wr_cli_put(cli, "read back %" PRIu64 " drained step%s\n", d->verified,
                   d->verified == 1 ? "" : "s");
}

/* With --watch one line per drain, so that a program can follow. */
static void print_drained_json(const struct wr_cli *cli,
                               const struct drained *d, double took_ns)
{
    const struct ckpt_args *a = cli->args;
    json_t *j = json_pack("{s:I, s:I, s:I, s:f}", "steps", (json_int_t)d->steps,
                          "bytes", (json_int_t)d->bytes, "verified",
                          (json_int_t)d->verified, "seconds", took_ns * 1e-9);

    if (a->watch)
        wr_json_print_line(cli, j);
    else
        wr_json_print(cli, j);
}

/* Since `before`, which is brought up to date. False: nothing was to be done. */
static bool say_drained(const struct wr_cli *cli, weir_ckpt *c,
                        struct drained *before, uint64_t since_ns)
{
    double took_ns = (double)(wr_clock_ns() - since_ns);
    const struct ckpt_args *a = cli->args;
    weir_ckpt_stats stats;
    struct drained d;

    weir_ckpt_get_stats(c, &stats);
    d = (struct drained){stats.drained - before->steps,
                         stats.bytes_drained - before->bytes,
                         stats.verified - before->verified};
    *before = (struct drained){stats.drained, stats.bytes_drained,
                               stats.verified};
    if (!a->json)
        print_drained(cli, &d, took_ns);
    else if (!a->watch || d.steps || d.verified)
        print_drained_json(cli, &d, took_ns);
    fflush(cli->out);
    return d.steps || d.verified;
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

        wr_ckpt_cli_line(line, cli, "drain");
        r = weir_ckpt_drain(c, &err);
        wr_progress_end(line);
        if (r == WEIR_ECANCELED)
            break;
        if (r == WEIR_EFENCED)
            return wr_cli_fail(cli, "%s", err.msg);
        if (r < 0)
            wr_cli_note(cli, "%s; retrying in %" PRIu64 " s", err.msg,
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
    const struct ckpt_args *a = cli->args;
    uint64_t start = wr_clock_ns();
    struct drained before = {0};
    weir_err err;
    bool any;
    int r = weir_ckpt_drain(c, &err);

    wr_progress_end(line);
    any = say_drained(cli, c, &before, start);
    if (r < 0)
        return wr_ckpt_cli_failed(cli, r, &err);
    if (!any && !a->json)
        wr_cli_put(cli, "nothing to drain\n");
    return WR_EXIT_DONE;
}

/* The trainer makes the folders, and may be started after who watches them.
 * False: interrupted. What else is wrong is told when they are opened. */
static bool await_folder(const struct wr_cli *cli, const char *folder)
{
    bool told = false;

    while (!wr_interrupted()) {
        struct wr_store *st;
        char *leaf;
        int r = wr_store_open(folder, &st, &leaf, NULL);

        if (r == 0) {
            free(leaf);
            wr_store_close(st);
        }
        if (r != WEIR_ENOENT)
            return true;
        if (!told)
            wr_cli_note(cli, "waiting for '%s'; Ctrl-C ends it", folder);
        told = true;
        wr_clock_sleep_until(wr_clock_ns() + 50 * WR_NS_PER_MS);
    }
    return false;
}

static int drain_run(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    struct wr_progress line;
    weir_ckpt *c;
    weir_err err;
    int code, r;

    if (a->watch && (!await_folder(cli, wr_ckpt_cli_fast(cli)) ||
                     !await_folder(cli, wr_ckpt_cli_slow(cli))))
        return WR_EXIT_DONE;
    wr_ckpt_cli_line(&line, cli, "drain");
    code = wr_ckpt_cli_open(cli, WEIR_CKPT_DRAIN, &line, &c);
    if (code != WR_EXIT_DONE)
        return code;
    wr_ckpt_cli_notice(cli, c);
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

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("FAST", WR_OPERAND_PATH),
     .help = "folder (or URL) of the fast tier"},
    {WR_ARGUMENT("SLOW", WR_OPERAND_PATH),
     .help = "folder (or URL) of the slow tier"},
    {.name = NULL}};

static const char *const options[] = {
    "watch",     "take-over",      "verify", "keep", "every",
    "keep-fast", "keep-abandoned", "store",  "json", NULL};

static const struct wr_help_example examples[] = {
    {"weir ckpt drain /nvme/run7 /lustre/run7",
     "finish what a dead trainer left on the fast tier"},
    {"weir ckpt drain --watch /nvme/run7 /lustre/run7",
     "drain next to a trainer that does not drain itself"},
    {NULL, NULL}};

const struct wr_action wr_ckpt_action_drain = {
    .name = "drain",
    .summary = "copy steps from the fast tier to the slow one",
    .description =
        "Copies every step that only the fast tier has to the slow one, checks "
        "checksums on the way, reads the copy back, and applies retention. It "
        "can be interrupted at any time and continues where it stopped. With "
        "--json --watch, prints one line of JSON per drain.",
    .operands = operands,
    .options = options,
    .examples = examples,
    .failed = "A step could not be drained; steps drained before stay.",
    .run = drain_run,
};
