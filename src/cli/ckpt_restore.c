/* ckpt_restore.c - weir ckpt restore: copies a step out, for other programs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ckpt.h"

#include <inttypes.h>
#include <jansson.h>

#include "base/shown.h"
#include "cli/record_json.h"

static int print_json(const struct wr_cli *cli, const weir_ckpt_found *found)
{
    const struct ckpt_args *a = cli->args;
    json_t *over = json_array();

    for (size_t i = 0; i < found->passed_over_count; i++)
        json_array_append_new(over, wr_text_json(found->passed_over[i]));
    return wr_json_print(
        cli,
        json_pack("{s:I, s:s, s:o, s:I, s:I, s:o}", "step",
                  (json_int_t)found->step, "tier", found->tier, "folder",
                  wr_text_json(a->into), "time_ns", (json_int_t)found->time_ns,
                  "world", (json_int_t)found->world, "passed_over", over));
}

static int print_found(const struct wr_cli *cli, const weir_ckpt_found *found)
{
    const struct ckpt_args *a = cli->args;
    char where[CKPT_TIER_TEXT];

    for (size_t i = 0; i < found->passed_over_count; i++)
        wr_cli_note(cli, "passed over: %s", found->passed_over[i]);
    if (a->json)
        return print_json(cli, found);
    wr_cli_put(cli, "step %" PRIu64 "%s is in '%s'\n", found->step,
               wr_ckpt_cli_tier(cli, "from", found->tier, where),
               wr_show_path(a->into).text);
    return WR_EXIT_DONE;
}

static int restore_run(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    struct wr_progress line;
    weir_ckpt_found *found = NULL;
    weir_ckpt *c;
    weir_err err;
    int code, r;

    wr_ckpt_cli_line(&line, cli, "restore");
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
    code = print_found(cli, found);
    weir_ckpt_found_free(&found);
    return code;
}

static const char *const options[] = {"into", "step", "store", "json", NULL};
static const char *const needs[] = {"into", NULL};

static const struct wr_help_example examples[] = {
    {"weir ckpt restore /nvme/run7 /lustre/run7 --into out",
     "the newest good step, as safetensors files"},
    {"weir ckpt restore /lustre/run7 --step 4000 --into step4000",
     "a copy of step 4000, for other programs"},
    {NULL, NULL}};

const struct wr_action wr_ckpt_action_restore = {
    .name = "restore",
    .summary = "copy the newest good step (or a given one) out, checked",
    .description = "Makes a new folder with the step's safetensors files and "
                   "manifest; every byte is checked on the way. A damaged copy "
                   "is passed over with a remark: the other tier's copy is "
                   "used, then (without --step) an older step.",
    .operands = wr_ckpt_operands_store,
    .options = options,
    .needs = needs,
    .examples = examples,
    .failed = "No step exists, none is good, or the folder already exists.",
    .run = restore_run,
};
