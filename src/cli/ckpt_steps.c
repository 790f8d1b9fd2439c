/* ckpt_steps.c - weir ckpt ls, show and verify: the steps of a store.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ckpt.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/mem.h"
#include "checkpoint/export.h"
#include "cli/answers.h"
#include "cli/interrupt.h"
#include "cli/record_json.h"
#include "safetensors/head.h"
#include "storage/storage.h"
#include "tier/step.h"

/* --- ls --- */

enum { ONE = 1, TWO = 2 }; /* tiers */

/* Of the slow copy, with one tier: there is nothing to say. */
#define NO_TIER ((enum weir_copy)INT_MIN)

static const char *copy_name(enum weir_copy copy)
{
    switch (copy) {
    case WEIR_COPY_UNKNOWN:
        return "unreadable";
    case WEIR_COPY_STALE:
        return "stale";
    case WEIR_COPY_NONE:
        return "-";
    case WEIR_COPY_DAMAGED:
        return "damaged";
    case WEIR_COPY_COMPLETE:
        return "complete";
    case WEIR_COPY_VERIFIED:
        return "verified";
    }
    return "";
}

static const char *fast_name(const void *entry)
{
    return copy_name(((const weir_ckpt_entry *)entry)->fast);
}

static const char *slow_name(const void *entry)
{
    return copy_name(((const weir_ckpt_entry *)entry)->slow);
}

static const char *const copies[] = {
    "-", "damaged", "unreadable", "stale", "complete", "verified", NULL};

#define THIS weir_ckpt_entry
static const struct wr_vals wr_entry_vals = WR_VALS_OF(
    WR_VAL_IS(U64, step), WR_VAL_IS(U64, bytes, .help = "of one copy"),
    WR_VAL_IS(U64, time_ns, .help = "of the save, since 1970"),
    WR_VAL_IS(U32, world, .help = "ranks"),
    WR_VAL_BY(TEXT, "fast", .text = fast_name, .words = copies,
              .help = "with one folder: its state"),
    WR_VAL_IS(TRUTH, pinned),
    WR_VAL_IS(U64, generation,
              .help = "of the writer: counts openings for saving; 0 for steps "
                      "of earlier versions"),
    WR_VAL_IS(TRUTH, abandoned,
              .help = "the run went back to an older step and on from there, "
                      "without this one"),
    WR_VAL_BY(TEXT, "slow", .text = slow_name, .words = copies,
              .flags = WR_VAL_SPARE, .help = "left out with one folder"),
    WR_VAL_IS(CHARS, problem, .flags = WR_VAL_SPARE,
              .help = "of a damaged copy"));
#undef THIS

/* All of them, and what they come to. */
struct listed {
    struct wr_list steps;
    uint32_t tiers, count, to_drain, abandoned;
    uint64_t fast_bytes, slow_bytes, abandoned_bytes;
};

#define THIS struct listed
static const struct wr_vals listed_vals = WR_VALS_OF(
    WR_VAL_IS(LIST(entry), steps), WR_VAL_IS(U32, tiers), WR_VAL_IS(U32, count),
    WR_VAL_IS(U32, to_drain), WR_VAL_IS(U32, abandoned),
    WR_VAL_IS(U64, fast_bytes), WR_VAL_IS(U64, slow_bytes),
    WR_VAL_IS(U64, abandoned_bytes));
#undef THIS

static const struct wr_column ls_columns[] = {
    WR_SAY_COLUMN('<', "step", "{step}", "number given by the trainer"),
    WR_SAY_COLUMN('<', "saved", "{time_ns:date}",
                  "when it was saved, local time"),
    WR_SAY_COLUMN('>', "size", "{bytes:bytes}", "bytes of one copy"),
    WR_SAY_COLUMN('>', "ranks", "{world}", "processes that saved it together"),
    WR_SAY_COLUMN(
        '<', "state", "{fast}",
        "'complete': published, with all files; 'verified': also read "
        "back once; 'damaged': its manifest or a file is missing or "
        "wrong; 'unreadable': it cannot be read now; 'stale': the job "
        "went on without it, see weir ckpt adopt and discard",
        .only = ONE),
    WR_SAY_COLUMN('<', "fast", "{fast}",
                  "the same for the copy on the fast tier; '-': none",
                  .only = TWO),
    WR_SAY_COLUMN('<', "slow", "{slow}", "and on the slow tier", .only = TWO),
    WR_SAY_COLUMN(
        '<', "note", "<{?pinned}pinned|{?abandoned}abandoned>",
        "'pinned' if it is kept permanently; 'abandoned' if the run went "
        "back to an older step and on from there: retention keeps the "
        "newest of those"),
    {.head = NULL}};

const struct wr_answer wr_answer_ckpt_ls = {
    .name = "ckpt-ls",
    .of = &listed_vals,
    .alone = "steps",
    .screen = WR_SCREEN(
        {.each = "steps", .table = ls_columns, .which = "tiers"},
        {.section = ""},
        {.say =
             "{count>0?{count} step{count:plural}, {fast_bytes:bytes}{tiers=2? "
             "on the fast tier, {slow_bytes:bytes} on the slow one, {to_drain} "
             "to drain}{abandoned>0?; {abandoned} abandoned, "
             "{abandoned_bytes:bytes}}|no steps}"}),
};

static bool is_good(enum weir_copy copy)
{
    return copy >= WEIR_COPY_COMPLETE;
}

static struct listed sum_up(weir_ckpt_entry *e, size_t count, bool two)
{
    struct listed l = {.steps = {e, count, sizeof(*e)},
                       .tiers = two ? TWO : ONE,
                       .count = (uint32_t)count};

    for (size_t i = 0; i < count; i++) {
        l.fast_bytes += e[i].fast ? e[i].bytes : 0;
        l.slow_bytes += e[i].slow ? e[i].bytes : 0;
        l.to_drain += two && is_good(e[i].fast) && !is_good(e[i].slow);
        l.abandoned += e[i].abandoned != 0;
        l.abandoned_bytes += e[i].abandoned ? e[i].bytes : 0;
        if (!two)
            e[i].slow = NO_TIER;
    }
    return l;
}

/* Of the copy that e->problem is about: the first that has one. */
static const char *problem_verb(const weir_ckpt_entry *e)
{
    bool fast = e->fast < WEIR_COPY_COMPLETE && e->fast != WEIR_COPY_NONE;
    enum weir_copy bad = fast ? e->fast : e->slow;

    return bad == WEIR_COPY_UNKNOWN ? "cannot be read"
           : bad == WEIR_COPY_STALE ? "is stale"
                                    : "is damaged";
}

static int list_steps(const struct wr_cli *cli, weir_ckpt_entry *e,
                      size_t count)
{
    const struct ckpt_args *a = cli->args;
    struct listed l = sum_up(e, count, wr_ckpt_cli_slow(cli) != NULL);
    int code;

    if (!count && !a->json && wr_ckpt_cli_is_step(cli))
        return wr_ckpt_cli_no_steps(cli);
    code = wr_cli_answer(cli, &wr_answer_ckpt_ls, &l, a->json);
    for (size_t i = 0; i < count && !a->json; i++)
        if (*e[i].problem)
            wr_cli_note(cli, "step %" PRIu64 " %s: %s", e[i].step,
                        problem_verb(&e[i]), e[i].problem);
    return code;
}

static int ls_run(struct wr_cli *cli)
{
    weir_ckpt_entry *entries;
    weir_ckpt *c;
    weir_err err;
    size_t count;
    int code, r;

    code = wr_ckpt_cli_open(cli, WEIR_CKPT_READ, NULL, &c);
    if (code != WR_EXIT_DONE)
        return code;
    wr_ckpt_cli_notice(cli, c);
    r = weir_ckpt_list(c, &entries, &count, &err);
    weir_ckpt_close(&c, NULL);
    if (r < 0)
        return wr_ckpt_cli_failed(cli, r, &err);
    code = list_steps(cli, entries, count);
    free(entries);
    return code;
}

static const char *const ls_options[] = {"store", "json", NULL};
static const struct wr_columns ls_tables[] = {{NULL, ls_columns}, {NULL, NULL}};
static const struct wr_help_example ls_examples[] = {
    {"weir ckpt ls /nvme/run7 /lustre/run7",
     "the steps of a run, and where they are"},
    {"weir ckpt ls /lustre/run7 --json", "the same for a program"},
    {NULL, NULL}};

const struct wr_action wr_ckpt_action_ls = {
    .name = "ls",
    .summary = "list the steps, their size, and where they are",
    .description = "Reads names, sizes and manifests, not the tensors: verify "
                   "checks those. May be used while a trainer saves.",
    .operands = wr_ckpt_operands_store,
    .options = ls_options,
    .columns = ls_tables,
    .examples = ls_examples,
    .ranks = WR_RANKS_FIRST,
    .run = ls_run,
};

/* --- show --- */

static const char *dtype_name(const void *tensor)
{
    return wr_dtype_name(((const weir_tensor *)tensor)->dtype);
}

static json_t *shape_json(const void *tensor)
{
    const weir_tensor *t = tensor;
    json_t *shape = json_array();

    for (uint32_t k = 0; k < t->ndim; k++)
        json_array_append_new(shape, json_integer((json_int_t)t->shape[k]));
    return shape;
}

static double tensor_bytes(const void *tensor)
{
    uint64_t bytes;

    return wr_tensor_bytes(tensor, &bytes, NULL) == 0 ? (double)bytes : 0;
}

#define THIS weir_tensor
static const struct wr_vals wr_tensor_vals = WR_VALS_OF(
    WR_VAL_IS(TEXT, name), WR_VAL_BY(TEXT, "dtype", .text = dtype_name),
    WR_VAL_BY(JSON, "shape", .json = shape_json),
    WR_VAL_BY(COUNT, "bytes", .derive = tensor_bytes));
#undef THIS

#define THIS weir_pair
static const struct wr_vals wr_pair_vals = WR_VALS_OF(WR_VAL_IS(TEXT, key),
                                                      WR_VAL_IS(TEXT, value));
#undef THIS

/* What a store or a lone file holds. */
struct shown {
    weir_ckpt_found found; /* of a file its tensors and metadata */
    struct wr_list tensors, pairs;
    uint32_t count; /* of tensors */
    uint64_t bytes;
    bool two, pipeline;
};

static json_t *metadata_json(const void *shown)
{
    const struct shown *s = shown;
    json_t *pairs = json_object();

    for (size_t i = 0; i < s->found.metadata_count; i++)
        json_object_set_new(pairs, s->found.metadata[i].key,
                            wr_text_json(s->found.metadata[i].value));
    return pairs;
}

#define CONTENTS                                                               \
    WR_VAL_IS(LIST(tensor), tensors),                                          \
        WR_VAL_BY(JSON, "metadata", .json = metadata_json),                    \
        WR_VAL_IS(LIST(pair), pairs, .flags = WR_VAL_INSIDE),                  \
        WR_VAL_IS(U32, count, .flags = WR_VAL_INSIDE),                         \
        WR_VAL_IS(U64, bytes, .flags = WR_VAL_INSIDE)

#define THIS struct shown
static const struct wr_vals file_vals = WR_VALS_OF(CONTENTS);
static const struct wr_vals shown_vals = WR_VALS_OF(
    WR_VAL_OF(U64, "step", found.step),
    WR_VAL_OF(U64, "time_ns", found.time_ns),
    WR_VAL_OF(U32, "world", found.world),
    WR_VAL_OF(TEXT, "tier", found.tier,
              .help = "the only folder counts as fast"),
    WR_VAL_IS(FLAG, pipeline, .help = "the pipeline's position is there"),
    CONTENTS, WR_VAL_IS(FLAG, two, .flags = WR_VAL_INSIDE));
#undef THIS

static const struct wr_column show_columns[] = {
    WR_SAY_COLUMN('<', "tensor", "{name}", "its name"),
    WR_SAY_COLUMN('<', "type", "{dtype}",
                  "of the elements, as safetensors names it"),
    WR_SAY_COLUMN('<', "shape", "[{shape:x}|scalar]",
                  "dimensions, outermost first"),
    WR_SAY_COLUMN('>', "size", "{bytes:bytes}", "bytes"),
    {.head = NULL}};

static const struct wr_answer_part show_screen[] = {
    {.say = "[{?tier}step {step}{two? on the {tier} tier}, saved "
            "{time_ns:date} by {world} rank{world:plural}{pipeline?, with the "
            "pipeline's position}]"},
    {.section = ""},
    {.each = "tensors", .table = show_columns},
    {.section = ""},
    {.say = "{count} tensor{count:plural}, {bytes:bytes}"},
    {.each = "pairs", .say = "{key}: {value}"},
    {.say = NULL}};

const struct wr_answer wr_answer_ckpt_show = {
    .name = "ckpt-show", .of = &shown_vals, .screen = show_screen};

const struct wr_answer wr_answer_ckpt_show_file = {
    .name = "ckpt-show-file", .of = &file_vals, .screen = &show_screen[1]};

static int show_contents(const struct wr_cli *cli, const struct wr_answer *as,
                         const weir_ckpt_found *f)
{
    const struct ckpt_args *a = cli->args;
    struct shown s = {
        .found = *f,
        .tensors = {(void *)(uintptr_t)f->tensors, f->count,
                    sizeof(*f->tensors)},
        .pairs = {(void *)(uintptr_t)f->metadata, f->metadata_count,
                  sizeof(*f->metadata)},
        .count = (uint32_t)f->count,
        .two = wr_ckpt_cli_slow(cli) != NULL,
        .pipeline = f->pipeline_count > 0,
    };

    for (size_t i = 0; i < f->count; i++)
        s.bytes += (uint64_t)tensor_bytes(&f->tensors[i]);
    for (size_t i = 0; i < f->passed_over_count; i++)
        wr_cli_note(cli, "passed over: %s", f->passed_over[i]);
    return wr_cli_answer(cli, as, &s, a->json);
}

/* A lone file. */
static int show_file(struct wr_cli *cli, struct wr_store *st, const char *leaf)
{
    struct wr_st_head head;
    weir_tensor *tensors;
    weir_pair *pairs;
    weir_err err;
    int code;

    if (wr_st_read(st, leaf, &head, NULL, &err) < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    tensors = calloc(head.count + 1, sizeof(*tensors));
    pairs = calloc(head.metadata_count + 1, sizeof(*pairs));
    if (tensors && pairs) {
        for (size_t i = 0; i < head.count; i++)
            tensors[i] = head.tensors[i].t;
        for (size_t i = 0; i < head.metadata_count; i++)
            pairs[i] = (weir_pair){head.metadata[i].key,
                                   head.metadata[i].value};
        code = show_contents(
            cli, &wr_answer_ckpt_show_file,
            &(weir_ckpt_found){.tensors = tensors,
                               .count = head.count,
                               .metadata = pairs,
                               .metadata_count = head.metadata_count});
    } else {
        code = wr_cli_fail(cli, "out of memory");
    }
    free(tensors);
    free(pairs);
    wr_st_done(&head);
    return code;
}

static int show_store(struct wr_cli *cli)
{
    weir_ckpt_found *found = NULL;
    weir_ckpt *c;
    weir_err err;
    int code = wr_ckpt_cli_open(cli, WEIR_CKPT_READ, NULL, &c), r;

    if (code != WR_EXIT_DONE)
        return code;
    r = weir_ckpt_look(c, wr_ckpt_cli_step(cli), &found, &err);
    weir_ckpt_close(&c, NULL);
    if (r < 0)
        return wr_ckpt_cli_failed(cli, r, &err);
    if (r == 0)
        return wr_ckpt_cli_no_steps(cli);
    code = show_contents(cli, &wr_answer_ckpt_show, found);
    weir_ckpt_found_free(&found);
    return code;
}

static int show_run(struct wr_cli *cli)
{
    return wr_ckpt_cli_file_or_store(cli, show_file, show_store);
}

static const char *const show_options[] = {"step", "store", "json", NULL};
static const struct wr_columns show_tables[] = {{NULL, show_columns},
                                                {NULL, NULL}};
static const struct wr_help_example show_examples[] = {
    {"weir ckpt show /lustre/run7 --step 4000", "what step 4000 holds"},
    {"weir ckpt show model.safetensors", "what a file holds"},
    {NULL, NULL}};

const struct wr_action wr_ckpt_action_show = {
    .name = "show",
    .summary = "show what a step (the newest) or a .safetensors file holds",
    .description = "Tensors with their types and shapes, and the metadata. "
                   "Headers are read and checked, data are not.",
    .operands = wr_ckpt_operands_file,
    .options = show_options,
    .columns = show_tables,
    .examples = show_examples,
    .ranks = WR_RANKS_FIRST,
    .run = show_run,
};

/* --- verify --- */

/* A copy that was read. */
struct checked {
    weir_ckpt_checked copy;
    const char *problem;
    bool good, unreadable, two;
};

#define THIS struct checked
static const struct wr_vals wr_checked_vals = WR_VALS_OF(
    WR_VAL_OF(U64, "step", copy.step), WR_VAL_OF(TEXT, "tier", copy.tier),
    WR_VAL_OF(U64, "bytes", copy.bytes), WR_VAL_IS(FLAG, good),
    WR_VAL_IS(TEXT, problem, .flags = WR_VAL_SPARE),
    WR_VAL_IS(
        FLAG, unreadable, .flags = WR_VAL_SPARE,
        .help = "it could not be read, which says nothing about the data"),
    WR_VAL_IS(FLAG, two, .flags = WR_VAL_INSIDE));
#undef THIS

static const struct wr_answer checked_answer = {
    .of = &wr_checked_vals,
    .screen = WR_SCREEN(
        {.say =
             "{good?step {step:,-8} {two?{tier:,-5} }{bytes:bytes,9}  good}"},
        {.say = "{!good?step {step:,-8} {two?{tier:,-5} }{bytes:bytes,9}  "
                "{unreadable?UNREADABLE|DAMAGED}: {problem}}",
         .warns = true}),
};

struct verify {
    const struct wr_cli *cli;
    struct wr_progress *line;
    bool json, two;
    json_t *copies; /* owned: all of them, for JSON */
    uint32_t count, damaged, unread;
    uint64_t bytes;
    double seconds, bytes_per_s;
};

#define THIS struct verify
static const struct wr_vals verify_vals = WR_VALS_OF(
    WR_VAL_IS(JSON, copies, .of = &wr_checked_vals), WR_VAL_IS(U32, damaged),
    WR_VAL_OF(U32, "unreadable", unread), WR_VAL_IS(U64, bytes),
    WR_VAL_IS(REAL, seconds), WR_VAL_IS(U32, count, .flags = WR_VAL_INSIDE),
    WR_VAL_IS(FLAG, two, .flags = WR_VAL_INSIDE),
    WR_VAL_IS(REAL, bytes_per_s, .flags = WR_VAL_INSIDE));
#undef THIS

const struct wr_answer wr_answer_ckpt_verify = {
    .name = "ckpt-verify",
    .of = &verify_vals,
    .say = "{count} {two?{count=1?copy|copies}|step{count:plural}} good, "
           "{bytes:bytes} at {bytes_per_s:bytes}/s",
};

struct verified_file {
    const char *file;
    bool good;
    const char *problem;
};

#define THIS struct verified_file
static const struct wr_vals file_verify_vals = WR_VALS_OF(
    WR_VAL_IS(TEXT, file), WR_VAL_IS(FLAG, good),
    WR_VAL_IS(TEXT, problem, .flags = WR_VAL_SPARE));
#undef THIS

const struct wr_answer wr_answer_ckpt_verify_file = {
    .name = "ckpt-verify-file",
    .of = &file_verify_vals,
    .say = "[{?good}good]",
};

/* A line for each copy, as soon as it was read. */
static void on_checked(void *arg, const weir_ckpt_checked *c)
{
    struct verify *v = arg;
    const struct checked of = {*c, c->code ? c->text : "", !c->code,
                               wr_step_is_unread(c->code), v->two};

    v->count++;
    v->unread += of.unreadable;
    v->bytes += c->bytes;
    if (v->json) {
        json_array_append_new(
            v->copies, wr_vals_json(&wr_checked_vals, &of, WR_FOR_RECORD));
        return;
    }
    wr_progress_hide(v->line);
    wr_cli_answer(v->cli, &checked_answer, &of, /* json= */ false);
    fflush(v->cli->out);
}

static int verify_file(struct wr_cli *cli, struct wr_store *st,
                       const char *leaf)
{
    const struct ckpt_args *a = cli->args;
    struct wr_progress line;
    struct verified_file v;
    weir_err err;
    int r;

    wr_ckpt_cli_line(&line, cli, "verify");
    r = wr_export_check(
        &(struct wr_shard_at){st, leaf},
        &(struct wr_byte_count){.progress = wr_ckpt_cli_progress, .arg = &line},
        &err);
    wr_progress_end(&line);
    v = (struct verified_file){wr_ckpt_cli_fast(cli), r >= 0,
                               r < 0 ? err.msg : ""};
    if (a->json ? !wr_interrupted() : r >= 0)
        wr_cli_answer(cli, &wr_answer_ckpt_verify_file, &v, a->json);
    return r < 0 ? wr_ckpt_cli_failed(cli, r, &err) : WR_EXIT_DONE;
}

/* What the copies come to, behind their lines. */
static int say_sum(struct verify *v)
{
    const char *what = v->two          ? v->count == 1 ? "copy" : "copies"
                       : v->count == 1 ? "step"
                                       : "steps";

    v->bytes_per_s = (double)v->bytes / v->seconds;
    if (v->json || !(v->damaged || v->unread))
        wr_cli_answer(v->cli, &wr_answer_ckpt_verify, v, v->json);
    if (v->damaged && v->unread)
        return wr_cli_fail(v->cli, "%u of %u %s damaged, %u unreadable",
                           v->damaged, v->count, what, v->unread);
    if (v->damaged || v->unread)
        return wr_cli_fail(v->cli, "%u of %u %s %s",
                           v->damaged ? v->damaged : v->unread, v->count, what,
                           v->damaged ? "damaged" : "unreadable");
    return WR_EXIT_DONE;
}

static int verify_store(struct wr_cli *cli)
{
    const struct ckpt_args *a = cli->args;
    struct wr_progress line;
    struct verify v = {.cli = cli,
                       .line = &line,
                       .json = a->json,
                       .two = wr_ckpt_cli_slow(cli) != NULL};
    uint64_t start = wr_clock_ns();
    weir_ckpt *c;
    weir_err err;
    int code, bad;

    wr_ckpt_cli_line(&line, cli, "verify");
    code = wr_ckpt_cli_open(cli, WEIR_CKPT_READ, &line, &c);
    if (code != WR_EXIT_DONE)
        return code;
    wr_ckpt_cli_notice(cli, c);
    v.copies = json_array();
    bad = weir_ckpt_verify(c, wr_ckpt_cli_step(cli), on_checked, &v, &err);
    wr_progress_end(&line);
    weir_ckpt_close(&c, NULL);
    v.damaged = (uint32_t)WR_MAX(bad, 0);
    v.seconds = (double)(wr_clock_ns() - start) * 1e-9;
    if (bad < 0 && (v.unread == 0 || bad == WEIR_ECANCELED))
        code = wr_ckpt_cli_failed(cli, bad, &err);
    else if (!v.count)
        code = wr_ckpt_cli_no_steps(cli);
    else /* that copies are unreadable was told, one by one */
        code = say_sum(&v);
    json_decref(v.copies);
    return code;
}

static int verify_run(struct wr_cli *cli)
{
    return wr_ckpt_cli_file_or_store(cli, verify_file, verify_store);
}

static const char *const verify_options[] = {"step", "store", "json", NULL};

static const struct wr_help_example verify_examples[] = {
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
    .options = verify_options,
    .examples = verify_examples,
    .failed = "A copy is damaged, or could not be read.",
    .ranks = WR_RANKS_FIRST,
    .run = verify_run,
};
