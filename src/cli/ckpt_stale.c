/* ckpt_stale.c - weir ckpt adopt, discard and rm: decisions about steps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ckpt.h"

#include <inttypes.h>
#include <jansson.h>

#include "base/shown.h"
#include "base/units.h"
#include "cli/record_json.h"

/* What was decided about one copy after the other. */
struct told {
    const struct wr_cli *cli;
    const char *done;  /* "adopted" */
    const char *would; /* "would be ", of a dry run; "" */
    json_t *list;      /* owned: with --json; NULL without */
    unsigned count, left;
};

static void on_stale(void *arg, const weir_ckpt_stale *s)
{
    struct told *t = arg;
    char size[32];

    t->count += s->code == 0;
    t->left += s->code < 0;
    if (t->list)
        json_array_append_new(t->list,
                              json_pack("{s:I, s:I, s:b, s:s}", "step",
                                        (json_int_t)s->step, "bytes",
                                        (json_int_t)s->bytes, "done",
                                        s->code == 0, "problem", s->text));
    else if (s->code < 0)
        wr_cli_put(t->cli, "step %" PRIu64 " %s %s: %s\n", s->step,
                   *t->would ? "would not be" : "was not", t->done, s->text);
    else if (*t->would)
        wr_cli_put(t->cli, "step %" PRIu64 " %s%s, %s\n", s->step, t->would,
                   t->done,
                   wr_format_bytes(size, sizeof(size), (double)s->bytes));
    else
        wr_cli_put(t->cli, "%s step %" PRIu64 ", %s\n", t->done, s->step,
                   wr_format_bytes(size, sizeof(size), (double)s->bytes));
}

static int finish(struct told *t, weir_ckpt *c, int r, weir_err *err)
{
    int q = weir_ckpt_close(&c, r < 0 ? NULL : err);
    int code = t->left ? WR_EXIT_FAILED : WR_EXIT_DONE;

    if (r < 0 || q < 0)
        code = wr_ckpt_cli_failed(t->cli, r < 0 ? r : q, err);
    else if (t->list)
        wr_json_print(t->cli, json_incref(t->list));
    else if (t->count + t->left == 0)
        wr_cli_put(t->cli, "no stale steps\n");
    json_decref(t->list);
    return code;
}

static void say_joined(const struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    const char *is = a->dry_run ? "would be" : "is";

    if (wr_ckpt_cli_slow(cli))
        wr_cli_put(cli, "'%s' %s the fast tier of '%s'\n",
                   wr_show_path(wr_ckpt_cli_fast(cli)).text, is,
                   wr_show_path(wr_ckpt_cli_slow(cli)).text);
    else
        wr_cli_put(cli, "'%s' %s a store of its own\n",
                   wr_show_path(wr_ckpt_cli_fast(cli)).text, is);
}

static int adopt_run(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    struct told t = {
        .cli = cli, .done = "adopted", .would = a->dry_run ? "would be " : ""};
    struct wr_progress line;
    weir_ckpt *c;
    weir_err err;
    int code, r;

    wr_ckpt_cli_line(&line, cli, "adopting");
    code = wr_ckpt_cli_open(cli, WEIR_CKPT_ADOPT, &line, &c);
    if (code != WR_EXIT_DONE)
        return code;
    t.list = a->json ? json_array() : NULL;
    r = weir_ckpt_adopt(c, wr_ckpt_cli_step(cli), on_stale, &t, &err);
    wr_progress_end(&line);
    code = finish(&t, c, r, &err);
    if (code == WR_EXIT_DONE && !a->json && !wr_cli_given(cli, "step"))
        say_joined(cli);
    return code;
}

static int discard_run(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    struct told t = {
        .cli = cli, .done = "removed", .would = a->dry_run ? "would be " : ""};
    weir_ckpt *c;
    weir_err err;
    int code = wr_ckpt_cli_open(cli, WEIR_CKPT_MANAGE, NULL, &c), r;

    if (code != WR_EXIT_DONE)
        return code;
    t.list = a->json ? json_array() : NULL;
    r = weir_ckpt_discard(c, wr_ckpt_cli_step(cli), on_stale, &t, &err);
    return finish(&t, c, r, &err);
}

static int rm_run(struct wr_cli *cli)
{
    static const char *const tiers[] = {[CKPT_TIER_BOTH] = NULL,
                                        [CKPT_TIER_FAST] = "fast",
                                        [CKPT_TIER_SLOW] = "slow"};
    const struct ckpt_args *a = cli->args;
    weir_ckpt *c;
    weir_err err;
    int code = wr_ckpt_cli_open(cli, WEIR_CKPT_MANAGE, NULL, &c), r, q;

    if (code != WR_EXIT_DONE)
        return code;
    r = weir_ckpt_remove(c, a->step, tiers[a->tier], &err);
    q = weir_ckpt_close(&c, r < 0 ? NULL : &err);
    if (r < 0 || q < 0)
        return wr_ckpt_cli_failed(cli, r < 0 ? r : q, &err);
    if (a->json)
        return wr_json_print(
            cli, json_pack("{s:I}", "removed", (json_int_t)a->step));
    wr_cli_put(cli, "removed step %" PRIu64 "\n", a->step);
    return WR_EXIT_DONE;
}

static int id_run(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    char id[WEIR_STORE_ID];
    weir_ckpt *c;
    weir_err err;
    int code = wr_ckpt_cli_open(cli, WEIR_CKPT_READ, NULL, &c), r;

    if (code != WR_EXIT_DONE)
        return code;
    r = weir_ckpt_store_id(c, id, &err);
    weir_ckpt_close(&c, NULL);
    if (r < 0)
        return wr_ckpt_cli_failed(cli, r, &err);
    if (a->json)
        return wr_json_print(cli, json_pack("{s:s}", "store", id));
    wr_cli_put(cli, "%s\n", wr_show(id).text);
    return WR_EXIT_DONE;
}

/* --- tables --- */

static const char *const id_options[] = {"json", NULL};
static const char *const adopt_options[] = {"step", "dry-run", "json", NULL};
static const char *const discard_options[] = {"step", "dry-run", "store",
                                              "json", NULL};
static const char *const rm_options[] = {"step", "tier", "store", "json", NULL};
static const char *const rm_needs[] = {"step", NULL};

static const struct wr_help_example adopt_examples[] = {
    {"weir ckpt adopt /nvme/run7 /lustre/run7",
     "drain what another node left on its fast tier, and link the two tiers"},
    {"weir ckpt adopt /nvme/run7 /lustre/run7 --dry-run",
     "what would happen to which step"},
    {"weir ckpt adopt /nvme/run7",
     "make a former fast tier a store of its own"},
    {NULL, NULL}};

static const struct wr_help_example discard_examples[] = {
    {"weir ckpt discard /nvme/run7 /lustre/run7",
     "remove the steps that the job went on without"},
    {NULL, NULL}};

static const struct wr_help_example rm_examples[] = {
    {"weir ckpt rm /nvme/run7 /lustre/run7 --step 4000",
     "remove step 4000 from both tiers"},
    {NULL, NULL}};

const struct wr_action wr_ckpt_action_adopt = {
    .name = "adopt",
    .summary = "drain stale steps after all, and link two tiers",
    .description =
        "A fast tier is stale when the job went on elsewhere before all of its "
        "steps were drained. They are never drained automatically, since they "
        "would replace newer ones. This command drains them: they still rank "
        "below everything saved later, and are pinned. Without --step it also "
        "links the two folders, whatever store they belonged to.",
    .operands = wr_ckpt_operands_store,
    .options = adopt_options,
    .examples = adopt_examples,
    .failed = "A step was not adopted, or a trainer uses the store.",
    .run = adopt_run,
};

const struct wr_action wr_ckpt_action_discard = {
    .name = "discard",
    .summary = "remove stale steps from a fast tier",
    .description = "Removes the steps that 'weir ckpt ls' shows as stale, and "
                   "no others.",
    .operands = wr_ckpt_operands_store,
    .options = discard_options,
    .examples = discard_examples,
    .failed = "Something could not be removed, or a trainer uses the store.",
    .run = discard_run,
};

const struct wr_action wr_ckpt_action_rm = {
    .name = "rm",
    .summary = "remove one step",
    .description = "Removes the step that --step names, whatever retention "
                   "says, unless it is pinned.",
    .operands = wr_ckpt_operands_store,
    .options = rm_options,
    .needs = rm_needs,
    .examples = rm_examples,
    .failed =
        "The step does not exist, is pinned, or a trainer uses the store.",
    .run = rm_run,
};

static const struct wr_help_example id_examples[] = {
    {"weir ckpt id /nvme/run7 /lustre/run7",
     "the id to put into weir_ckpt_config.store"},
    {NULL, NULL}};

const struct wr_action wr_ckpt_action_id = {
    .name = "id",
    .summary = "print the id of a store",
    .description =
        "A program that demands this id (weir_ckpt_config.store) opens no "
        "other store, and does not take an empty folder for a new one, as it "
        "would when a file system is not mounted.",
    .operands = wr_ckpt_operands_store,
    .options = id_options,
    .examples = id_examples,
    .failed = "The store has no id yet, or cannot be read.",
    .ranks = WR_RANKS_FIRST,
    .run = id_run,
};
