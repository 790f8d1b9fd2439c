/* ckpt_move.c - weir ckpt drain, save and restore: steps get somewhere.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ckpt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "cli/answers.h"
#include "cli/interrupt.h"
#include "cli/record_json.h"
#include "safetensors/head.h"
#include "storage/storage.h"

/* --- drain --- */

#define WATCH_MS 500 /* between two looks */

struct drained {
    uint64_t steps, bytes, verified;
    double seconds;
    bool idle; /* there was nothing to be done, and that is to be said */
};

#define THIS struct drained
static const struct wr_vals drained_vals = WR_VALS_OF(
    WR_VAL_IS(U64, steps, .help = "that were drained"), WR_VAL_IS(U64, bytes),
    WR_VAL_IS(U64, verified, .help = "steps that were read back"),
    WR_VAL_IS(REAL, seconds), WR_VAL_IS(FLAG, idle, .flags = WR_VAL_INSIDE));
#undef THIS

/* What an earlier drain had copied before it was interrupted is read back alone. */
const struct wr_answer wr_answer_ckpt_drain = {
    .name = "ckpt-drain",
    .of = &drained_vals,
    .say = "[{?steps>0}drained {steps} step{steps:plural}, {bytes:bytes} in "
           "{seconds:s}{verified>0?, read back}|{?verified>0}read back "
           "{verified} drained step{verified:plural}|{?idle}nothing to drain]",
};

/* Since `before`, which is brought up to date. With --watch one line of JSON per
 * drain, so that a program can follow. */
static int say_drained(const struct wr_cli *cli, weir_ckpt *c,
                       struct drained *before, uint64_t since_ns, bool ended)
{
    const struct ckpt_args *a = cli->args;
    weir_ckpt_stats stats;
    struct drained d;
    int code = WR_EXIT_DONE;

    weir_ckpt_get_stats(c, &stats);
    d = (struct drained){
        stats.drained - before->steps, stats.bytes_drained - before->bytes,
        stats.verified - before->verified,
        (double)(wr_clock_ns() - since_ns) * 1e-9, ended && !a->watch};
    *before = (struct drained){.steps = stats.drained,
                               .bytes = stats.bytes_drained,
                               .verified = stats.verified};
    if (!a->json || !a->watch)
        code = wr_cli_answer(cli, &wr_answer_ckpt_drain, &d, a->json);
    else if (d.steps || d.verified)
        code = wr_json_print_line(cli,
                                  wr_answer_json(&wr_answer_ckpt_drain, &d));
    fflush(cli->out);
    return code;
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
        say_drained(cli, c, &before, start, r == 0);
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
    int r = weir_ckpt_drain(c, &err), code;

    wr_progress_end(line);
    code = say_drained(cli, c, &before, start, r >= 0);
    return r < 0 ? wr_ckpt_cli_failed(cli, r, &err) : code;
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

static const struct wr_operand drain_operands[] = {
    {WR_ARGUMENT("FAST", WR_OPERAND_PATH),
     .help = "folder (or URL) of the fast tier"},
    {WR_ARGUMENT("SLOW", WR_OPERAND_PATH),
     .help = "folder (or URL) of the slow tier"},
    {.name = NULL}};

static const char *const drain_options[] = {
    "watch",     "take-over",      "verify", "keep", "every",
    "keep-fast", "keep-abandoned", "store",  "json", NULL};

static const struct wr_help_example drain_examples[] = {
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
    .operands = drain_operands,
    .options = drain_options,
    .examples = drain_examples,
    .failed = "A step could not be drained; steps drained before stay.",
    .run = drain_run,
};

/* --- save --- */

#define READ_STEP ((size_t)8 << 20)

struct saved {
    uint64_t step;
    uint32_t tensors;
    uint64_t bytes;
    const char *level;
};

#define THIS struct saved
static const struct wr_vals saved_vals = WR_VALS_OF(
    WR_VAL_IS(U64, step), WR_VAL_IS(U32, tensors), WR_VAL_IS(U64, bytes),
    WR_VAL_IS(TEXT, level, .help = "how far it is"));
#undef THIS

const struct wr_answer wr_answer_ckpt_save = {
    .name = "ckpt-save",
    .of = &saved_vals,
    .say = "saved step {step}: {tensors} tensor{tensors:plural}, {bytes:bytes}",
};

/* A file in memory. */
struct loaded {
    struct wr_st_head head;
    uint8_t *data;        /* owned: head.data_bytes */
    weir_tensor *tensors; /* owned */
    weir_pair *pairs;     /* owned: those that are not weir's own */
    size_t pair_count;
};

static void loaded_done(struct loaded *l)
{
    wr_big_free(l->data, l->head.data_bytes + 1);
    free(l->tensors);
    free(l->pairs);
    wr_st_done(&l->head);
}

static int read_data(struct wr_object *o, const char *leaf, struct loaded *l,
                     struct wr_progress *line, weir_err *err)
{
    uint64_t done = 0, total = l->head.data_bytes;

    while (done < total && !wr_interrupted()) {
        int64_t n = o->ops->read(o, l->data + done,
                                 WR_MIN(READ_STEP, total - done),
                                 l->head.data_offset + done, err);

        if (n < 0)
            return (int)n;
        if (n == 0)
            return wr_fail(err, WEIR_ECHANGED, "'%s': became shorter", leaf);
        done += (uint64_t)n;
        wr_progress_callback(line, done, total);
    }
    return done < total ? WEIR_ECANCELED : 0;
}

static void name_contents(struct loaded *l)
{
    for (size_t i = 0; i < l->head.count; i++) {
        l->tensors[i] = l->head.tensors[i].t;
        l->tensors[i].data = l->data + l->head.tensors[i].begin;
    }
    for (size_t i = 0; i < l->head.metadata_count; i++)
        if (strncmp(l->head.metadata[i].key, "weir.", 5))
            l->pairs[l->pair_count++] = (weir_pair){l->head.metadata[i].key,
                                                    l->head.metadata[i].value};
}

static int load(struct wr_store *st, const char *leaf, struct loaded *ret,
                struct wr_progress *line, weir_err *err)
{
    struct wr_object *o;
    int r = wr_st_read(st, leaf, &ret->head, NULL, err);

    if (r < 0)
        return r;
    ret->data = wr_big_alloc(ret->head.data_bytes + 1);
    ret->tensors = calloc(ret->head.count + 1, sizeof(*ret->tensors));
    ret->pairs = calloc(ret->head.metadata_count + 1, sizeof(*ret->pairs));
    if (!ret->data || !ret->tensors || !ret->pairs)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = st->ops->object_open(st, leaf, WR_OPEN_READ, &o, err);
    if (r < 0)
        return r;
    r = read_data(o, leaf, ret, line, err);
    o->ops->close(o, /* sync= */ false, NULL);
    if (r == 0)
        name_contents(ret);
    return r;
}

/* Waits step by step, so that Ctrl-C is seen and the line is drawn. */
static int wait_for(const struct wr_cli *cli, weir_ckpt *c,
                    enum weir_level level, weir_err *err)
{
    static const char *const labels[] = {
        [WEIR_LEVEL_FAST] = "writing",
        [WEIR_LEVEL_SLOW] = "draining",
        [WEIR_LEVEL_VERIFIED] = "reading back",
    };
    const struct ckpt_args *a = cli->args;
    struct wr_progress line;
    int r = WEIR_ETIMEDOUT;

    wr_progress_start(&line, cli,
                      &(struct wr_progress_spec){.label = labels[level]});
    while (r == WEIR_ETIMEDOUT && !wr_interrupted()) {
        r = weir_ckpt_wait(c, a->step, level, 100, err);
        wr_progress_set(&line, 0);
    }
    wr_progress_end(&line);
    return r == WEIR_ETIMEDOUT ? WEIR_ECANCELED : r;
}

/* Closing waits until it is on the fast tier, whatever happens. */
static int close_saved(const struct wr_cli *cli, weir_ckpt *c, bool stopped)
{
    const struct ckpt_args *a = cli->args;
    weir_err err;
    int r;

    if (stopped && weir_ckpt_wait(c, a->step, WEIR_LEVEL_FAST, 0, NULL) < 0)
        wr_cli_note(cli, "finishing what is being written; Ctrl-C again drops "
                         "it");
    r = weir_ckpt_close(&c, &err);
    if (r < 0)
        return wr_ckpt_cli_failed(cli, r, &err);
    if (!stopped)
        return WR_EXIT_DONE;
    return wr_cli_fail(cli,
                       wr_ckpt_cli_slow(cli)
                           ? "interrupted: step %" PRIu64
                             " is on the fast tier; weir ckpt drain continues"
                           : "interrupted: step %" PRIu64 " is saved, but was "
                             "not read back",
                       a->step);
}

static int print_saved(const struct wr_cli *cli, const struct loaded *l,
                       int level)
{
    static const char *const names[] = {[WEIR_LEVEL_FAST] = "fast",
                                        [WEIR_LEVEL_SLOW] = "slow",
                                        [WEIR_LEVEL_VERIFIED] = "verified"};
    const struct ckpt_args *a = cli->args;
    const struct saved s = {a->step, (uint32_t)l->head.count,
                            l->head.data_bytes, names[level]};

    return wr_cli_answer(cli, &wr_answer_ckpt_save, &s, a->json);
}

static int save(struct wr_cli *cli, const struct loaded *l)
{
    const struct ckpt_args *a = cli->args;
    weir_ckpt_state state = {.step = a->step,
                             .tensors = l->tensors,
                             .count = l->head.count,
                             .metadata = l->pairs,
                             .metadata_count = l->pair_count};
    int last = a->verify ? a->level : WR_MIN(a->level, WEIR_LEVEL_SLOW);
    weir_ckpt *c;
    weir_err err;
    int code = wr_ckpt_cli_open(cli, WEIR_CKPT_SAVE, NULL, &c), r;

    if (code != WR_EXIT_DONE)
        return code;
    r = weir_ckpt_save(c, &state, WEIR_LEVEL_SNAPSHOT, &err);
    for (int level = WEIR_LEVEL_FAST; level <= last && r == 0; level++)
        r = wait_for(cli, c, (enum weir_level)level, &err);
    if (r < 0 && !(r == WEIR_ECANCELED && wr_interrupted())) {
        weir_ckpt_close(&c, NULL);
        return wr_ckpt_cli_failed(cli, r, &err);
    }
    code = close_saved(cli, c, r < 0);
    return code == WR_EXIT_DONE ? print_saved(cli, l, last) : code;
}

static int save_run(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    struct wr_progress line;
    struct loaded l = {0};
    struct wr_store *st;
    char *leaf;
    weir_err err;
    int code, r;

    if (wr_store_open(a->from, &st, &leaf, &err) < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    if (!leaf) {
        wr_store_close(st);
        return wr_cli_fail(cli, "'%s': a folder; give a file", a->from);
    }
    wr_progress_start(
        &line, cli,
        &(struct wr_progress_spec){.label = "reading", .bytes = true});
    r = load(st, leaf, &l, &line, &err);
    wr_progress_end(&line);
    code = r < 0 ? wr_ckpt_cli_failed(cli, r, &err) : save(cli, &l);
    loaded_done(&l);
    free(leaf);
    wr_store_close(st);
    return code;
}

static const char *const save_options[] = {
    "from",      "step",           "level", "verify", "keep", "every",
    "keep-fast", "keep-abandoned", "store", "json",   NULL};
static const char *const save_needs[] = {"from", "step", NULL};

static const struct wr_help_example save_examples[] = {
    {"weir ckpt save /lustre/run7 --from model.safetensors --step 0",
     "weights from elsewhere as the first step"},
    {NULL, NULL}};

const struct wr_action wr_ckpt_action_save = {
    .name = "save",
    .summary = "make a step from a .safetensors file",
    .operands = wr_ckpt_operands_store,
    .options = save_options,
    .needs = save_needs,
    .examples = save_examples,
    .failed = "The step was not saved, or did not reach --level; the message "
              "says which.",
    .run = save_run,
};

/* --- restore --- */

struct restored {
    weir_ckpt_found found;
    const char *folder;
    bool two; /* tiers */
};

static json_t *passed_over(const void *restored)
{
    const struct restored *r = restored;
    json_t *over = json_array();

    for (size_t i = 0; i < r->found.passed_over_count; i++)
        json_array_append_new(over, wr_text_json(r->found.passed_over[i]));
    return over;
}

#define THIS struct restored
static const struct wr_vals restored_vals = WR_VALS_OF(
    WR_VAL_OF(U64, "step", found.step), WR_VAL_OF(TEXT, "tier", found.tier),
    WR_VAL_IS(TEXT, folder), WR_VAL_OF(U64, "time_ns", found.time_ns),
    WR_VAL_OF(U32, "world", found.world),
    WR_VAL_BY(JSON, "passed_over", .json = passed_over),
    WR_VAL_IS(FLAG, two, .flags = WR_VAL_INSIDE));
#undef THIS

const struct wr_answer wr_answer_ckpt_restore = {
    .name = "ckpt-restore",
    .of = &restored_vals,
    .say = "step {step}{two? from the {tier} tier} is in '{folder}'",
};

static int print_found(const struct wr_cli *cli, const weir_ckpt_found *found)
{
    const struct ckpt_args *a = cli->args;
    const struct restored r = {*found, a->into, wr_ckpt_cli_slow(cli) != NULL};

    for (size_t i = 0; i < found->passed_over_count; i++)
        wr_cli_note(cli, "passed over: %s", found->passed_over[i]);
    return wr_cli_answer(cli, &wr_answer_ckpt_restore, &r, a->json);
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

static const char *const restore_options[] = {"into", "step", "store", "json",
                                              NULL};
static const char *const restore_needs[] = {"into", NULL};

static const struct wr_help_example restore_examples[] = {
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
    .options = restore_options,
    .needs = restore_needs,
    .examples = restore_examples,
    .failed = "No step exists, none is good, or the folder already exists.",
    .run = restore_run,
};
