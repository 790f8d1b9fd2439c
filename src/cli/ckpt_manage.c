/* ckpt_manage.c - weir ckpt prune, pin, adopt, discard, rm and id: which steps
 * stay.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ckpt.h"

#include <inttypes.h>

#include "cli/answers.h"
#include "cli/record_json.h"

/* --- prune --- */

/* A copy that went, or would go. */
struct gone {
    uint64_t step; /* WEIR_LATEST: spare files */
    bool spare, dry, two;
    const char *tier;
    uint64_t bytes;
};

static json_t *gone_step(const void *gone)
{
    const struct gone *g = gone;

    return g->spare ? json_null() : json_integer((json_int_t)g->step);
}

#define THIS struct gone
static const struct wr_vals wr_gone_vals = WR_VALS_OF(
    WR_VAL_BY(U64, "step", .json = gone_step, .flags = WR_VAL_NULL,
              .help = "null: spare files"),
    WR_VAL_IS(FLAG, spare), WR_VAL_IS(TEXT, tier), WR_VAL_IS(U64, bytes),
    WR_VAL_IS(FLAG, dry, .flags = WR_VAL_INSIDE),
    WR_VAL_IS(FLAG, two, .flags = WR_VAL_INSIDE));
#undef THIS

static const struct wr_answer gone_answer = {
    .of = &wr_gone_vals,
    .say = "{dry?would remove|removed} {spare?spare files|step {step}}{two? "
           "from the {tier} tier}, {bytes:bytes}",
};

struct pruned {
    const struct wr_cli *cli;
    bool dry_run;
    json_t *removed; /* owned: what went, for JSON */
    uint64_t bytes;
    uint32_t count;
};

#define THIS struct pruned
static const struct wr_vals pruned_vals = WR_VALS_OF(
    WR_VAL_IS(FLAG, dry_run), WR_VAL_IS(JSON, removed, .of = &wr_gone_vals),
    WR_VAL_IS(U64, bytes), WR_VAL_IS(U32, count, .flags = WR_VAL_INSIDE));
#undef THIS

const struct wr_answer wr_answer_ckpt_prune = {
    .name = "ckpt-prune",
    .of = &pruned_vals,
    .say = "[{?count=0}nothing to remove]",
};

/* A line for each copy, as soon as it went. */
static void on_gone(void *arg, uint64_t step, const char *tier, uint64_t bytes)
{
    struct pruned *p = arg;
    const struct ckpt_args *a = p->cli->args;
    const struct gone g = {step,       step == WEIR_LATEST,
                           a->dry_run, wr_ckpt_cli_slow(p->cli) != NULL,
                           tier,       bytes};

    p->bytes += bytes;
    p->count++;
    if (a->json)
        json_array_append_new(p->removed,
                              wr_vals_json(&wr_gone_vals, &g, WR_FOR_RECORD));
    else
        wr_cli_answer(p->cli, &gone_answer, &g, /* json= */ false);
}

static int prune_run(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    struct pruned p = {.cli = cli, .dry_run = a->dry_run};
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
    p.removed = json_array();
    r = weir_ckpt_prune(c, &plan, &err);
    q = weir_ckpt_close(&c, r < 0 ? NULL : &err);
    if (r < 0 || q < 0)
        code = wr_ckpt_cli_failed(cli, r < 0 ? r : q, &err);
    else
        code = wr_cli_answer(cli, &wr_answer_ckpt_prune, &p, a->json);
    json_decref(p.removed);
    return code;
}

static const char *const prune_options[] = {
    "keep",  "every",   "keep-fast", "keep-abandoned", "after",
    "spare", "dry-run", "store",     "json",           NULL};

static const struct wr_help_example prune_examples[] = {
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
    .options = prune_options,
    .examples = prune_examples,
    .failed = "Something could not be removed, or a trainer uses the store.",
    .run = prune_run,
};

/* --- pin and unpin --- */

struct pinned {
    uint64_t step;
    bool pinned;
};

#define THIS struct pinned
static const struct wr_vals pinned_vals = WR_VALS_OF(WR_VAL_IS(U64, step),
                                                     WR_VAL_IS(FLAG, pinned));
#undef THIS

const struct wr_answer wr_answer_ckpt_pin = {
    .name = "ckpt-pin",
    .of = &pinned_vals,
    .say = "step {step} is {pinned?pinned|no longer pinned}",
};

static int set_pin(struct wr_cli *cli, bool on)
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
    return wr_cli_answer(cli, &wr_answer_ckpt_pin,
                         &(struct pinned){a->step, on}, a->json);
}

static int pin_run(struct wr_cli *cli)
{
    return set_pin(cli, true);
}

static int unpin_run(struct wr_cli *cli)
{
    return set_pin(cli, false);
}

static const char *const pin_options[] = {"step", "store", "json", NULL};
static const char *const pin_needs[] = {"step", NULL};

static const struct wr_help_example pin_examples[] = {
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
    .options = pin_options,
    .needs = pin_needs,
    .examples = pin_examples,
    .run = pin_run,
};

const struct wr_action wr_ckpt_action_unpin = {
    .name = "unpin",
    .summary = "undo that",
    .operands = wr_ckpt_operands_store,
    .options = pin_options,
    .needs = pin_needs,
    .examples = pin_examples,
    .run = unpin_run,
};

/* --- adopt and discard --- */

/* What was decided about a stale copy. */
struct decided {
    weir_ckpt_stale stale;
    bool done, dry;
    const char *what; /* "adopted" */
};

#define THIS struct decided
static const struct wr_vals wr_decided_vals = WR_VALS_OF(
    WR_VAL_OF(U64, "step", stale.step), WR_VAL_OF(U64, "bytes", stale.bytes),
    WR_VAL_IS(FLAG, done, .help = "whether it was adopted or removed"),
    WR_VAL_OF(TEXT, "problem", stale.text,
              .help = "why not; empty when it was"),
    WR_VAL_IS(FLAG, dry, .flags = WR_VAL_INSIDE),
    WR_VAL_IS(TEXT, what, .flags = WR_VAL_INSIDE));
#undef THIS

static const struct wr_answer decided_answer = {
    .of = &wr_decided_vals,
    .say = "{done?{dry?step {step} would be {what}|{what} step {step}}, "
           "{bytes:bytes}|step {step} {dry?would not be|was not} {what}: "
           "{problem}}",
};

/* One copy after the other. */
struct told {
    const struct wr_cli *cli;
    const char *what, *fast, *slow;
    json_t *copies; /* owned: for JSON */
    uint32_t count, left;
    bool joined; /* the two folders were linked */
    bool dry;
};

static struct told begin_telling(const struct wr_cli *cli, const char *what,
                                 bool joined)
{
    const struct ckpt_args *a = cli->args;

    return (struct told){.cli = cli,
                         .what = what,
                         .fast = wr_ckpt_cli_fast(cli),
                         .slow = wr_ckpt_cli_slow(cli),
                         .copies = json_array(),
                         .joined = joined,
                         .dry = a->dry_run};
}

#define THIS struct told
static const struct wr_vals told_vals = WR_VALS_OF(
    WR_VAL_IS(JSON, copies, .of = &wr_decided_vals), WR_VAL_IS(U32, count),
    WR_VAL_IS(FLAG, joined), WR_VAL_IS(FLAG, dry), WR_VAL_IS(TEXT, fast),
    WR_VAL_IS(TEXT, slow));
#undef THIS

const struct wr_answer wr_answer_ckpt_stale = {
    .name = "ckpt-stale",
    .of = &told_vals,
    .alone = "copies",
    .screen = WR_SCREEN(
        {.say = "[{?count=0}no stale steps]"},
        {.say = "[{?joined}'{fast}' {dry?would be|is} {slow?the fast tier of "
                "'{slow}'|a store of its own}]"}),
};

static void on_stale(void *arg, const weir_ckpt_stale *s)
{
    struct told *t = arg;
    const struct ckpt_args *a = t->cli->args;
    const struct decided d = {*s, s->code == 0, t->dry, t->what};

    t->count++;
    t->left += s->code < 0;
    if (a->json)
        json_array_append_new(
            t->copies, wr_vals_json(&wr_decided_vals, &d, WR_FOR_RECORD));
    else
        wr_cli_answer(t->cli, &decided_answer, &d, /* json= */ false);
}

static int finish(struct told *t, weir_ckpt *c, int r, weir_err *err)
{
    const struct ckpt_args *a = t->cli->args;
    int q = weir_ckpt_close(&c, r < 0 ? NULL : err), code;

    t->joined &= !t->left;
    if (r < 0 || q < 0)
        code = wr_ckpt_cli_failed(t->cli, r < 0 ? r : q, err);
    else
        code = wr_cli_answer(t->cli, &wr_answer_ckpt_stale, t, a->json);
    json_decref(t->copies);
    return code == WR_EXIT_DONE && t->left ? WR_EXIT_FAILED : code;
}

static int adopt_run(struct wr_cli *cli)
{
    struct told t;
    struct wr_progress line;
    weir_ckpt *c;
    weir_err err;
    int code, r;

    wr_ckpt_cli_line(&line, cli, "adopting");
    code = wr_ckpt_cli_open(cli, WEIR_CKPT_ADOPT, &line, &c);
    if (code != WR_EXIT_DONE)
        return code;
    t = begin_telling(cli, "adopted", !wr_cli_given(cli, "step"));
    r = weir_ckpt_adopt(c, wr_ckpt_cli_step(cli), on_stale, &t, &err);
    wr_progress_end(&line);
    return finish(&t, c, r, &err);
}

static int discard_run(struct wr_cli *cli)
{
    struct told t;
    weir_ckpt *c;
    weir_err err;
    int code = wr_ckpt_cli_open(cli, WEIR_CKPT_MANAGE, NULL, &c), r;

    if (code != WR_EXIT_DONE)
        return code;
    t = begin_telling(cli, "removed", /* joined= */ false);
    r = weir_ckpt_discard(c, wr_ckpt_cli_step(cli), on_stale, &t, &err);
    return finish(&t, c, r, &err);
}

/* --- rm and id --- */

#define THIS struct ckpt_args
static const struct wr_vals removed_vals = WR_VALS_OF(
    WR_VAL_OF(U64, "removed", step));
#undef THIS

const struct wr_answer wr_answer_ckpt_rm = {
    .name = "ckpt-rm",
    .of = &removed_vals,
    .say = "removed step {removed}",
};

struct store_id {
    char store[WEIR_STORE_ID];
};

#define THIS struct store_id
static const struct wr_vals id_vals = WR_VALS_OF(WR_VAL_IS(CHARS, store));
#undef THIS

const struct wr_answer wr_answer_ckpt_id = {
    .name = "ckpt-id",
    .of = &id_vals,
    .say = "{store}",
};

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
    return wr_cli_answer(cli, &wr_answer_ckpt_rm, a, a->json);
}

static int id_run(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    struct store_id id;
    weir_ckpt *c;
    weir_err err;
    int code = wr_ckpt_cli_open(cli, WEIR_CKPT_READ, NULL, &c), r;

    if (code != WR_EXIT_DONE)
        return code;
    r = weir_ckpt_store_id(c, id.store, &err);
    weir_ckpt_close(&c, NULL);
    if (r < 0)
        return wr_ckpt_cli_failed(cli, r, &err);
    return wr_cli_answer(cli, &wr_answer_ckpt_id, &id, a->json);
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
