/* cmd_ckpt.c - weir ckpt: lists, checks, drains, restores, prunes checkpoints,
 * and measures what saving them costs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "checkpoint/problem.h"
#include "cli/ckpt.h"
#include "cli/interrupt.h"
#include "cli/session.h"
#include "cli/options.h"
#include "measure/ckpt_bench.h"
#include "tier/name.h"

/* How long a save to the fast tier alone waits for room that nobody may make;
 * any slow tier that works answers by then. */
#define UNDRAINED_MS 3000

/* X(name): the table wr_ckpt_action_<name>, in one of the ckpt_*.c. An action is
 * one such table and one line here. */
#define ACTION_MAP(X)                                                          \
    X(ls)                                                                      \
    X(show)                                                                    \
    X(verify)                                                                  \
    X(drain)                                                                   \
    X(restore)                                                                 \
    X(save)                                                                    \
    X(prune)                                                                   \
    X(pin)                                                                     \
    X(unpin)                                                                   \
    X(adopt)                                                                   \
    X(discard)                                                                 \
    X(rm)                                                                      \
    X(id)                                                                      \
    X(bench)

#define DECLARE(name) extern const struct wr_action wr_ckpt_action_##name;
ACTION_MAP(DECLARE)
#undef DECLARE

static const struct wr_action *const actions[] = {
#define ENTRY(name) &wr_ckpt_action_##name,
    ACTION_MAP(ENTRY)
#undef ENTRY
        NULL};

/* --- what the actions share --- */

const char *wr_ckpt_cli_fast(const struct wr_cli *cli)
{
    return cli->operands[0];
}

const char *wr_ckpt_cli_slow(const struct wr_cli *cli)
{
    return cli->operand_count > 1 ? cli->operands[1] : NULL;
}

uint64_t wr_ckpt_cli_step(const struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;

    return wr_cli_given(cli, "step") ? a->step : WEIR_LATEST;
}

void wr_ckpt_cli_line(struct wr_progress *line, const struct wr_cli *cli,
                      const char *label)
{
    wr_progress_start(
        line, cli, &(struct wr_progress_spec){.label = label, .bytes = true});
}

int wr_ckpt_cli_progress(void *arg, uint64_t done, uint64_t total)
{
    wr_progress_callback(arg, done, total);
    return wr_interrupted();
}

int wr_ckpt_cli_open(const struct wr_cli *cli, enum weir_ckpt_role role,
                     struct wr_progress *line, weir_ckpt **ret)
{
    const struct ckpt_args *a = cli->args;
    weir_ckpt_config cfg;
    weir_err err;
    int r;

    weir_ckpt_defaults(&cfg);
    cfg.fast = wr_ckpt_cli_fast(cli);
    cfg.slow = wr_ckpt_cli_slow(cli);
    cfg.role = role;
    cfg.verify = a->verify;
    cfg.drain = a->level > WEIR_LEVEL_FAST;
    if (!cfg.drain) { /* it was asked for: as many as there is room for */
        cfg.max_behind = UINT32_MAX;
        cfg.drain_timeout_ms = UNDRAINED_MS;
    }
    cfg.keep_last = (uint32_t)a->keep;
    cfg.keep_every = a->every;
    cfg.keep_fast = (uint32_t)a->keep_fast;
    cfg.keep_abandoned = (uint32_t)a->keep_abandoned;
    cfg.store = a->store;
    cfg.take_over = a->take_over;
    cfg.dry_run = a->dry_run && role != WEIR_CKPT_READ;
    if (line) {
        cfg.progress = wr_ckpt_cli_progress;
        cfg.progress_arg = line;
    }
    r = weir_ckpt_open(ret, &cfg, &err);
    if (r < 0 && line)
        wr_progress_end(line);
    if (r == WEIR_EBUSY)
        return wr_cli_fail(cli,
                           "%s: a trainer (or a child that it forked), or a "
                           "weir ckpt; wait for its end "
                           "(ls, show, verify, restore and pin need not)",
                           err.msg);
    return r < 0 ? wr_ckpt_cli_failed(cli, r, &err) : WR_EXIT_DONE;
}

void wr_ckpt_cli_notice(const struct wr_cli *cli, const weir_ckpt *c)
{
    if (*wr_ckpt_notice(c))
        wr_cli_note(cli, "%s", wr_ckpt_notice(c));
}

int wr_ckpt_cli_file_or_store(struct wr_cli *cli,
                              int (*file)(struct wr_cli *cli,
                                          struct wr_store *st,
                                          const char *leaf),
                              int (*store)(struct wr_cli *cli))
{
    struct wr_store *st;
    char *leaf;
    weir_err err;
    int code;

    if (wr_store_open(wr_ckpt_cli_fast(cli), &st, &leaf, &err) < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    code = leaf ? file(cli, st, leaf) : store(cli);
    free(leaf);
    wr_store_close(st);
    return code;
}

bool wr_ckpt_cli_is_step(const struct wr_cli *cli)
{
    const char *path = wr_ckpt_cli_fast(cli);
    size_t len = strlen(path);
    char name[WR_TIER_PATH];
    uint64_t step;

    while (len > 0 && path[len - 1] == '/')
        len--;
    while (len > 0 && path[len - 1] != '/')
        len--;
    snprintf(name, sizeof(name), "%s", path + len);
    name[strcspn(name, "/")] = '\0';
    return wr_name_in_root(name, &step) == WR_NAME_STEP;
}

int wr_ckpt_cli_no_steps(const struct wr_cli *cli)
{
    return wr_cli_fail(cli,
                       wr_ckpt_cli_is_step(cli)
                           ? "'%s': this is a step; give the folder that it is "
                             "in (and --step)"
                           : "'%s': no steps",
                       wr_ckpt_cli_fast(cli));
}

int wr_ckpt_cli_failed(const struct wr_cli *cli, int r, const weir_err *err)
{
    return r == WEIR_ECANCELED && wr_interrupted()
               ? wr_cli_fail(cli, "interrupted")
               : wr_cli_fail(cli, "%s", err->msg);
}

/* --- tables --- */

static const struct wr_choice level_choices[] = {
    {"fast", WEIR_LEVEL_FAST, "on the fast tier (or the only folder)"},
    {"slow", WEIR_LEVEL_SLOW, "on the slow tier"},
    {"verified", WEIR_LEVEL_VERIFIED, "and read back from there"},
    {NULL, 0, NULL}};

static const struct wr_choice tier_choices[] = {
    {"both", CKPT_TIER_BOTH, "wherever it is"},
    {"fast", CKPT_TIER_FAST, "the fast tier (or the only folder)"},
    {"slow", CKPT_TIER_SLOW, "the slow tier"},
    {NULL, 0, NULL}};

static const struct wr_choice way_choices[] = {
    {"slow", WR_CKPT_SLOW, "durable on the slow tier"},
    {"fast", WR_CKPT_FAST, "durable on the fast tier, not drained"},
    {"burst", WR_CKPT_BURST,
     "durable on the fast tier, drained in the background"},
    {"async", WR_CKPT_ASYNC,
     "a snapshot, written and drained in the background"},
    {NULL, 0, NULL}};

#define A struct ckpt_args
static const struct wr_option options[] = {
    {WR_OPT_UINT(A, step), .name = "step", .letter = 's', .arg = "N",
     .def_note = "the newest; verify, adopt, discard: all",
     .help = "the step (show, verify, restore, save, pin, unpin, adopt, "
             "discard, rm)"},
    {WR_OPT_FLAG(A, json), .name = "json",
     .help = "print the result as JSON (bench: the record)"},
    {WR_OPT_STRING(A, store), .name = "store", .arg = "ID",
     .help = "demand this store (weir ckpt id): refuse any other one, and an "
             "empty folder"},

    {WR_OPT_STRING(A, from), .name = "from", .arg = "FILE",
     .flags = WR_OPTION_PATH, .group = "save", .help = "the .safetensors file"},
    {WR_OPT_ENUM(A, level), .name = "level", .arg = "LEVEL",
     .choices = level_choices, .def = "verified",
     .help = "how far the step gets before the command ends"},

    {WR_OPT_ENUM(A, tier), .name = "tier", .arg = "TIER",
     .choices = tier_choices, .def = "both", .group = "rm",
     .help = "the tier to remove the step from"},

    {WR_OPT_FLAG(A, watch), .name = "watch", .letter = 'w', .group = "drain",
     .help = "keep draining new steps until Ctrl-C"},
    {WR_OPT_FLAG(A, take_over), .name = "take-over",
     .help = "take the slow tier from another process that drains to it, for "
             "example one of another machine that hangs; that one is told"},
    {WR_OPT_FLAG(A, verify), .name = "verify", .def = "yes",
     .help = "do not read drained steps back before they leave the fast tier "
             "(save: before it ends; bench reads back only with --verify)"},

    {WR_OPT_STRING(A, into), .name = "into", .old = "to", .arg = "FOLDER",
     .flags = WR_OPTION_PATH, .group = "restore",
     .help = "a new folder for the safetensors files and the manifest"},

    {WR_OPT_UINT(A, keep), .name = "keep", .letter = 'k', .arg = "N",
     .max = 1000000, .def = "5",
     .group = "prune (and save and drain, after it)",
     .help = "newest steps to keep; 0: all"},
    {WR_OPT_UINT(A, every), .name = "every", .arg = "M",
     .help = "also keep every step that is a multiple of this"},
    {WR_OPT_UINT(A, keep_fast), .name = "keep-fast", .arg = "N", .max = 1000000,
     .def = "1", .help = "drained steps to keep on the fast tier too; 0: none"},
    {WR_OPT_UINT(A, keep_abandoned), .name = "keep-abandoned", .arg = "N",
     .max = 1000000, .def = "1",
     .help = "newest steps to keep of those that the run has left by going "
             "back; 0: none"},
    {WR_OPT_UINT(A, after), .name = "after", .arg = "STEP",
     .help = "go back to this step: remove all newer ones, even if pinned"},
    {WR_OPT_FLAG(A, spare), .name = "spare",
     .help = "also remove files kept for reuse by later saves"},
    {WR_OPT_FLAG(A, dry_run), .name = "dry-run",
     .help = "change nothing, only print what would be done (prune, adopt, "
             "discard)"},

    {WR_OPT_STRING(A, state), .name = "state", .old = "like", .arg = "WHAT",
     .def = "alexnet", .flags = WR_OPTION_PATH, .group = "bench",
     .help = "the state: alexnet, vgg16, small, a .safetensors file, or a text "
             "file with lines 'NAME DTYPE SHAPE' (fc.weight F32 10x20)"},
    {WR_OPT_UINT(A, moments), .name = "moments", .arg = "N", .max = 16,
     .def = "2",
     .help = "copies of each tensor that the optimizer keeps (Adam: 2)"},
    {WR_OPT_UINT(A, saves), .name = "saves", .arg = "N", .min = 1, .max = 10000,
     .def = "5", .help = "measured saves per way; medians are shown"},
    {WR_OPT_UINT(A, warmups), .name = "warmups", .arg = "N", .max = 1000,
     .def = "2",
     .help = "saves before that: the first ones write new files, later ones "
             "reuse them"},
    {WR_OPT_DOUBLE(A, interval), .name = "interval", .arg = "S", .max = 86400,
     .def_note = "until the last save is drained",
     .help = "seconds of (emulated) training between two saves"},
    {WR_OPT_ENUM_LIST(A, ways), .name = "ways", .arg = "WAY,...",
     .choices = way_choices, .def_note = "all of them",
     .help = "measure only these ways of saving"},
    {WR_OPT_STRING(A, fast_device), .name = "fast-device", .arg = "PROFILE",
     .def = "optane",
     .help = "with one folder: the device emulated as the fast tier"},
    {WR_OPT_STRING(A, slow_device), .name = "slow-device", .arg = "PROFILE",
     .def = "hdd", .help = "and as the slow one"},
    {WR_OPT_FLAG(A, read_back), .name = "read-back", .def = "yes",
     .help = "do not measure a restore"},
    WR_MONITOR_OPTION(A),
    {WR_OPT_RECORD(A),
     .help = "write the record (JSON) to FILE, for weir report"},
    WR_OPTIONS_END};
#undef A

#define STORE                                                                  \
    "the store: its folder, or the fast tier's (or a URL: emu:hdd:FOLDER)"

const struct wr_operand wr_ckpt_operands_store[] = {
    {WR_ARGUMENT("FOLDER", WR_OPERAND_PATH), .help = STORE},
    {WR_ARGUMENT("SLOW", WR_OPERAND_OPTIONAL | WR_OPERAND_PATH),
     .help = "the slow tier's folder, if there are two tiers"},
    {.name = NULL}};

const struct wr_operand wr_ckpt_operands_file[] = {
    {WR_ARGUMENT("FOLDER", WR_OPERAND_PATH),
     .help = STORE "; or a .safetensors file"},
    {WR_ARGUMENT("SLOW", WR_OPERAND_OPTIONAL | WR_OPERAND_PATH),
     .help = "the slow tier's folder, if there are two tiers"},
    {.name = NULL}};

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("ACTION", WR_OPERAND_ACTION), .help = "what to do"},
    {WR_ARGUMENT("FOLDER",
                 WR_OPERAND_MANY | WR_OPERAND_OPTIONAL | WR_OPERAND_PATH),
     .help = "the store: its folder, or the fast and the slow one (or URLs: "
             "emu:hdd:FOLDER)"},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir ckpt ls /nvme/run7 /lustre/run7",
     "the steps of a run, and where they are"},
    {"weir ckpt verify /lustre/run7", "read everything, check every byte"},
    {"weir ckpt drain /nvme/run7 /lustre/run7",
     "finish what a dead trainer left on the fast tier"},
    {"weir ckpt drain --watch /nvme/run7 /lustre/run7",
     "drain next to a trainer that does not drain itself"},
    {"weir ckpt restore /lustre/run7 --step 4000 --into step4000",
     "a copy of step 4000, for other programs"},
    {"weir ckpt save /lustre/run7 --from model.safetensors --step 0",
     "weights from elsewhere as the first step"},
    {"weir ckpt prune /lustre/run7 --keep 3 --every 1000 --dry-run",
     "what would be removed if three and every thousandth step stay"},
    {"weir ckpt bench /data",
     "the paper's experiment on an emulated Optane and hard disk"},
    {"weir ckpt bench /nvme /lustre -o ckpt.json", "the same on real ones"},
    {NULL, NULL}};

const struct wr_command wr_cmd_ckpt = {
    .name = "ckpt",
    .group = WR_GROUP_SAVE,
    .summary = "list, check, drain, restore and prune checkpoints; measure "
               "saving",
    .description =
        "Works on checkpoint stores written by libweir's weir_ckpt_save: one "
        "folder, or a fast and a slow one. A step is complete with matching "
        "checksums, or it is called damaged. Files that do not belong to the "
        "store are never touched. ls, show, verify, restore and pin may be "
        "used while a trainer saves; drain too, if the trainer does not drain "
        "itself; prune may not.",
    .operands = operands,
    .options = options,
    .args_size = sizeof(struct ckpt_args),
    .actions = actions,
    .examples = examples,
};
