/* ckpt_pin.c - weir ckpt pin and unpin: steps that stay for good.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ckpt.h"

#include <inttypes.h>
#include <jansson.h>

#include "cli/record_json.h"

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
    if (a->json)
        return wr_json_print(cli, json_pack("{s:I, s:b}", "step",
                                            (json_int_t)a->step, "pinned", on));
    wr_cli_put(cli, "step %" PRIu64 " is %s\n", a->step,
               on ? "pinned" : "no longer pinned");
    return WR_EXIT_DONE;
}

static int pin_run(struct wr_cli *cli)
{
    return set_pin(cli, 1);
}

static int unpin_run(struct wr_cli *cli)
{
    return set_pin(cli, 0);
}

static const char *const options[] = {"step", "store", "json", NULL};
static const char *const needs[] = {"step", NULL};

static const struct wr_help_example examples[] = {
    {"weir ckpt pin /lustre/run7 --step 4000",
     "retention and prune leave step 4000 alone"},
    {"weir ckpt unpin /lustre/run7 --step 4000", "undo that"},
    {NULL, NULL}};

const struct wr_action wr_ckpt_action_pin = {
    .name = "pin",
    .summary = "keep a step permanently",
    .description = "A pin is a separate file: it may be set and removed while "
                   "a trainer saves.",
    .operands = wr_ckpt_operands_store,
    .options = options,
    .needs = needs,
    .examples = examples,
    .run = pin_run,
};

const struct wr_action wr_ckpt_action_unpin = {
    .name = "unpin",
    .summary = "undo that",
    .operands = wr_ckpt_operands_store,
    .options = options,
    .needs = needs,
    .examples = examples,
    .run = unpin_run,
};
