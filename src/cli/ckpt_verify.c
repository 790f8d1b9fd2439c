/* ckpt_verify.c - weir ckpt verify: reads copies and checks every byte.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ckpt.h"

#include <inttypes.h>
#include <jansson.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "checkpoint/export.h"
#include "cli/interrupt.h"
#include "cli/record_json.h"
#include "tier/step.h"

struct verify {
    const struct wr_cli *cli;
    struct wr_progress *line;
    json_t *list; /* owned: of all copies, with --json; NULL without */
    unsigned copies, unread;
    uint64_t bytes;
};

static json_t *checked_json(const weir_ckpt_checked *c)
{
    json_t *j = json_pack("{s:I, s:s, s:I, s:b}", "step", (json_int_t)c->step,
                          "tier", c->tier, "bytes", (json_int_t)c->bytes,
                          "good", !c->code);

    if (c->code)
        json_object_set_new(j, "problem", wr_text_json(c->text));
    if (wr_step_is_unread(c->code))
        json_object_set_new(j, "unreadable", json_true());
    return j;
}

static void print_checked(const struct verify *v, const weir_ckpt_checked *c)
{
    const struct wr_cli *cli = v->cli;
    char size[32];

    wr_progress_hide(v->line);
    wr_cli_put(cli, "step %-8" PRIu64 " ", c->step);
    if (wr_ckpt_cli_slow(cli))
        wr_cli_put(cli, "%-5s ", c->tier);
    wr_cli_put(cli, "%9s  ",
               wr_format_bytes(size, sizeof(size), (double)c->bytes));
    if (c->code)
        wr_cli_put(cli, "%s%s%s: %s\n", wr_cli_style(cli, WR_STYLE_BAD),
                   wr_step_is_unread(c->code) ? "UNREADABLE" : "DAMAGED",
                   wr_cli_style(cli, WR_STYLE_END), c->text);
    else
        wr_cli_put(cli, "good\n");
    fflush(cli->out);
}

static void on_checked(void *arg, const weir_ckpt_checked *c)
{
    struct verify *v = arg;

    v->copies++;
    v->unread += wr_step_is_unread(c->code);
    v->bytes += c->bytes;
    if (v->list)
        json_array_append_new(v->list, checked_json(c));
    else
        print_checked(v, c);
}

static int print_file_json(const struct wr_cli *cli, const weir_err *problem)
{
    json_t *j = json_pack("{s:o, s:b}", "file",
                          wr_text_json(wr_ckpt_cli_fast(cli)), "good",
                          !problem);

    if (problem)
        json_object_set_new(j, "problem", wr_text_json(problem->msg));
    return wr_json_print(cli, j);
}

static int verify_file(struct wr_cli *cli, struct wr_store *st,
                       const char *leaf)
{
    const struct ckpt_args *a = cli->args;
    struct wr_progress line;
    weir_err err;
    int r;

    wr_ckpt_cli_line(&line, cli, "verify");
    r = wr_export_check(
        &(struct wr_shard_at){st, leaf},
        &(struct wr_byte_count){.progress = wr_ckpt_cli_progress, .arg = &line},
        &err);
    wr_progress_end(&line);
    if (a->json && !wr_interrupted())
        print_file_json(cli, r < 0 ? &err : NULL);
    if (r < 0)
        return wr_ckpt_cli_failed(cli, r, &err);
    if (!a->json)
        wr_cli_put(cli, "good\n");
    return WR_EXIT_DONE;
}

/* What the copies come to, behind their lines. */
static int say_sum(struct verify *v, int bad, double seconds)
{
    const struct wr_cli *cli = v->cli;
    const char *what = wr_ckpt_cli_slow(cli)
                           ? v->copies == 1 ? "copy" : "copies"
                       : v->copies == 1 ? "step"
                                        : "steps";
    char size[32], rate[32];

    if (v->list)
        wr_json_print(cli, json_pack("{s:O, s:i, s:i, s:I, s:f}", "copies",
                                     v->list, "damaged", bad, "unreadable",
                                     (int)v->unread, "bytes",
                                     (json_int_t)v->bytes, "seconds", seconds));
    if (bad && v->unread)
        return wr_cli_fail(cli, "%d of %u %s damaged, %u unreadable", bad,
                           v->copies, what, v->unread);
    if (bad || v->unread)
        return wr_cli_fail(cli, "%u of %u %s %s",
                           bad ? (unsigned)bad : v->unread, v->copies, what,
                           bad ? "damaged" : "unreadable");
    if (!v->list)
        wr_cli_put(
            cli, "%u %s good, %s at %s/s\n", v->copies, what,
            wr_format_bytes(size, sizeof(size), (double)v->bytes),
            wr_format_bytes(rate, sizeof(rate), (double)v->bytes / seconds));
    return WR_EXIT_DONE;
}

static int verify_store(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    struct wr_progress line;
    struct verify v = {.cli = cli, .line = &line};
    uint64_t start = wr_clock_ns();
    weir_ckpt *c;
    weir_err err;
    int code, bad;

    wr_ckpt_cli_line(&line, cli, "verify");
    code = wr_ckpt_cli_open(cli, WEIR_CKPT_READ, &line, &c);
    if (code != WR_EXIT_DONE)
        return code;
    wr_ckpt_cli_notice(cli, c);
    v.list = a->json ? json_array() : NULL;
    bad = weir_ckpt_verify(c, wr_ckpt_cli_step(cli), on_checked, &v, &err);
    wr_progress_end(&line);
    weir_ckpt_close(&c, NULL);
    if (bad < 0 && (v.unread == 0 || bad == WEIR_ECANCELED))
        code = wr_ckpt_cli_failed(cli, bad, &err);
    else if (!v.copies)
        code = wr_ckpt_cli_no_steps(cli);
    else /* that copies are unreadable was told, one by one */
        code = say_sum(&v, WR_MAX(bad, 0),
                       (double)(wr_clock_ns() - start) * 1e-9);
    json_decref(v.list);
    return code;
}

static int verify_run(struct wr_cli *cli)
{
    return wr_ckpt_cli_file_or_store(cli, verify_file, verify_store);
}

static const char *const options[] = {"step", "store", "json", NULL};

static const struct wr_help_example examples[] = {
    {"weir ckpt verify /lustre/run7", "read everything, check every byte"},
    {"weir ckpt verify /lustre/run7 --step 4000", "one step only"},
    {"weir ckpt verify model.safetensors", "a file that weir saved"},
    {NULL, NULL}};

const struct wr_action wr_ckpt_action_verify = {
    .name = "verify",
    .summary = "read steps, or a .safetensors file; check every byte",
    .description = "Reads past the page cache and compares with the checksums "
                   "in the manifest (for a file, with those in its header). "
                   "One line per copy: step, tier, size, and 'good' or what is "
                   "wrong with it. A copy that cannot be read (permissions, an "
                   "I/O error) is called unreadable, not damaged.",
    .operands = wr_ckpt_operands_file,
    .options = options,
    .examples = examples,
    .failed = "A copy is damaged, or could not be read.",
    .ranks = WR_RANKS_FIRST,
    .run = verify_run,
};
