/* ckpt_prune.c - weir ckpt prune: removes steps that need not be kept.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ckpt.h"

#include <inttypes.h>
#include <jansson.h>

#include "base/units.h"
#include "cli/record_json.h"

struct prune {
    const struct wr_cli *cli;
    json_t *list; /* owned: what went, with --json; NULL without */
    uint64_t bytes;
    unsigned count;
};

static json_t *gone_json(uint64_t step, const char *tier, uint64_t bytes)
{
    bool spare = step == WEIR_LATEST;

    return json_pack("{s:o, s:b, s:s, s:I}", "step",
                     spare ? json_null() : json_integer((json_int_t)step),
                     "spare", spare, "tier", tier, "bytes", (json_int_t)bytes);
}

static void on_gone(void *arg, uint64_t step, const char *tier, uint64_t bytes)
{
    struct prune *p = arg;
    const struct ckpt_args *a = p->cli->args;
    const char *removed = a->dry_run ? "would remove" : "removed";
    char size[32], where[CKPT_TIER_TEXT];

    p->bytes += bytes;
    p->count++;
    if (p->list) {
        json_array_append_new(p->list, gone_json(step, tier, bytes));
        return;
    }
    wr_format_bytes(size, sizeof(size), (double)bytes);
    wr_ckpt_cli_tier(p->cli, "from", tier, where);
    if (step == WEIR_LATEST)
        wr_cli_put(p->cli, "%s spare files%s, %s\n", removed, where, size);
    else
        wr_cli_put(p->cli, "%s step %" PRIu64 "%s, %s\n", removed, step, where,
                   size);
}

static int prune_run(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    struct prune p = {.cli = cli};
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
    wr_ckpt_cli_notice(cli, c);
    p.list = a->json ? json_array() : NULL;
    r = weir_ckpt_prune(c, &plan, &err);
    q = weir_ckpt_close(&c, r < 0 ? NULL : &err);
    if (r < 0 || q < 0)
        code = wr_ckpt_cli_failed(cli, r < 0 ? r : q, &err);
    else if (p.list)
        code = wr_json_print(cli, json_pack("{s:b, s:O, s:I}", "dry_run",
                                            a->dry_run, "removed", p.list,
                                            "bytes", (json_int_t)p.bytes));
    else if (!p.count)
        wr_cli_put(cli, "nothing to remove\n");
    json_decref(p.list);
    return code;
}

static const char *const options[] = {
    "keep",  "every",   "keep-fast", "keep-abandoned", "after",
    "spare", "dry-run", "store",     "json",           NULL};

static const struct wr_help_example examples[] = {
    {"weir ckpt prune /lustre/run7 --keep 3 --every 1000 --dry-run",
     "what would be removed if three and every thousandth step stay"},
    {"weir ckpt prune /nvme/run7 /lustre/run7 --after 4000",
     "go back to step 4000"},
    {NULL, NULL}};

const struct wr_action wr_ckpt_action_prune = {
    .name = "prune",
    .summary = "remove steps that retention does not keep",
    .description = "The newest step, the newest verified copy, pinned steps "
                   "and steps not yet drained always stay (except with "
                   "--after). Prints one line per copy removed.",
    .operands = wr_ckpt_operands_store,
    .options = options,
    .examples = examples,
    .failed = "Something could not be removed, or a trainer uses the store.",
    .run = prune_run,
};
