/* cmd_convert.c - weir convert: a data set in another form.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/shown.h"
#include "cli/answers.h"
#include "cli/feed_args.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/record_json.h"
#include "cli/session.h"
#include "convert/convert.h"
#include "format/writer.h"

#define SHOWN_BAD 20u

/* What weir has itself, and every writer. */
enum {
    TO_JPEG,
    TO_TENSOR,
    TO_NPY,
#define WRITER(name, help) TO_##name,
#include "format/formats.def"
    TO_FIELDS, /* behind it: those of several fields */
#define ARRAY_WRITER(name, help) TO_##name,
#define FIELD_WRITER(name, help) TO_##name,
#include "format/formats.def"
};

struct convert_args {
    int to;
    struct wr_convert_config cfg; /* as far as options alone say it */
    weir_pipeline_config feed;    /* of the tensors */
    int normalize;
    struct wr_open_args open;
    bool json;
};

static const struct wr_choice to_choices[] = {
#define WRITER(name, help) {#name, TO_##name, help},
#include "format/formats.def"
    {"jpeg", TO_JPEG, "a tree of JPEGs, one folder per class"},
    {"tensor", TO_TENSOR, "decoded and resized, .wt files"},
    {"npy", TO_NPY, "the same as NumPy's .npy files"},
#define ARRAY_WRITER(name, help) {#name, TO_##name, help},
#define FIELD_WRITER(name, help) {#name, TO_##name, help},
#include "format/formats.def"
    {NULL, 0, NULL}};

static const struct wr_choice order_choices[] = {
    {"sequential", WEIR_ORDER_SEQUENTIAL, "as in the source"},
    {"shuffle", WEIR_ORDER_SHUFFLE, "mixed once: each shard holds all classes"},
    {NULL, 0, NULL}};

static const struct wr_choice dtype_choices[] = {
    {"u8", WEIR_U8, "bytes, as decoded"},
    {"f16", WEIR_F16, "normalized, half precision"},
    {"f32", WEIR_F32, "normalized"},
    {NULL, 0, NULL}};

static const struct wr_choice crop_choices[] = {
    {"none", WEIR_CROP_NONE, "all of the picture"},
    {"center", WEIR_CROP_CENTER, "its middle, in the shape of the tensor"},
    {NULL, 0, NULL}};

static const struct wr_choice error_choices[] = {
    {"skip", WEIR_ON_ERROR_SKIP, "name it, count it, leave it out"},
    {"fail", WEIR_ON_ERROR_FAIL, "stop"},
    {NULL, 0, NULL}};

/* Options that only pictures have. */
static const char *const picture_options[] = {"max-side", "quality", "check"};

/* Options that only formats of several fields have. */
static const char *const field_options[] = {"fields", "deflate"};

/* --- its report --- */

/* What decoding costs, per sample and per epoch. */
struct saving {
    double samples, before_ms, after_ms, core_seconds_per_epoch;
};

/* What it answers. */
struct converted {
    const char *path, *to;
    struct wr_convert_result res;
    uint64_t shards, shards_kept; /* a tree has none */
    double ratio, seconds, mb_per_s, bytes_per_s;
    struct saving decode; /* NaN: not measured */
    bool costs;           /* decoding takes more than it did */
    double core_seconds;  /* or less */
};

static json_t *bad_json(const void *converted)
{
    const struct converted *c = converted;
    json_t *list = json_array();

    for (size_t k = 0; k < c->res.bad_count; k++)
        json_array_append_new(list, wr_text_json(c->res.bad_text[k]));
    return list;
}

#define THIS struct saving
static const struct wr_vals wr_saving_vals = WR_VALS_OF(
    WR_VAL_IS(COUNT, samples), WR_VAL_IS(REAL, before_ms),
    WR_VAL_IS(REAL, after_ms),
    WR_VAL_IS(REAL, core_seconds_per_epoch,
              .help = "saved; negative: it costs more"));
#undef THIS

#define THIS struct converted
static const struct wr_vals converted_vals = WR_VALS_OF(
    WR_VAL_IS(TEXT, path), WR_VAL_IS(TEXT, to),
    WR_VAL_OF(U64, "samples", res.samples), WR_VAL_IS(U64, shards),
    WR_VAL_IS(U64, shards_kept,
              .help = "by an earlier run that was interrupted"),
    WR_VAL_OF(U64, "bytes_in", res.bytes_in),
    WR_VAL_OF(U64, "bytes_out", res.bytes_out), WR_VAL_IS(REAL, ratio),
    WR_VAL_OF(U64, "bytes_read", res.read),
    WR_VAL_OF(U32, "threads", res.threads), WR_VAL_IS(REAL, seconds),
    WR_VAL_IS(REAL, mb_per_s),
    WR_VAL_IS(GROUP(saving), decode, .flags = WR_VAL_NULL),
    WR_VAL_BY(JSON, "bad", .json = bad_json),
    WR_VAL_OF(U64, "bad_count", res.bad),
    WR_VAL_IS(REAL, bytes_per_s, .flags = WR_VAL_INSIDE),
    WR_VAL_OF(U64, "kept", res.kept, .flags = WR_VAL_INSIDE),
    WR_VAL_IS(FLAG, costs, .flags = WR_VAL_INSIDE),
    WR_VAL_IS(REAL, core_seconds, .flags = WR_VAL_INSIDE));
#undef THIS

const struct wr_answer wr_answer_convert = {
    .name = "convert",
    .of = &converted_vals,
    .screen = WR_SCREEN(
        {.say = "{path}: {samples:number} samples{!to=jpeg? in {shards:number} "
                "shard{shards:plural}}, {bytes_in:bytes} -> {bytes_out:bytes} "
                "({ratio:2})[{?bad_count>0}, {bad_count:number} bad "
                "sample{bad_count:plural} left out]"},
        {.say = "made in {seconds:1} s by {threads} thread{threads:plural}: "
                "{bytes_per_s:bytes}/s read[{?kept>0}; an earlier run had made "
                "{kept:number} of the {to=jpeg?pieces|shards}]"},
        {.say =
             "{decode?decode: {decode.before_ms:ms} -> "
             "[{?decode.after_ms>0}{decode.after_ms:ms}|none] per sample on "
             "one core (measured on {decode.samples} samples); "
             "{costs?costs|saves} {core_seconds:1} core-seconds per epoch}"}),
};

/* One call of the command. */
struct convert_call {
    struct wr_session s;
    struct wr_convert_config cfg;
    struct converted c;
};

/* What follows from the result. */
static void sum_up(struct converted *c)
{
    const struct wr_convert_result *res = &c->res;
    const struct wr_convert_saving *m = &res->saving;
    bool tree = !strcmp(c->to, "jpeg");
    struct saving *d = &c->decode;

    c->shards = tree ? 0 : res->shards;
    c->shards_kept = tree ? 0 : res->kept;
    c->ratio = res->bytes_in ? (double)res->bytes_out / (double)res->bytes_in
                             : 0;
    c->seconds = (double)WR_MAX(res->elapsed_ns, (uint64_t)1) /
                 (double)WR_NS_PER_SEC;
    c->bytes_per_s = (double)res->read / c->seconds;
    c->mb_per_s = c->bytes_per_s / 1e6;
    wr_vals_clear(&wr_saving_vals, d);
    if (!m->samples)
        return;
    d->samples = (double)m->samples;
    d->before_ms = (double)m->before_ns / d->samples / 1e6;
    d->after_ms = (double)m->after_ns / d->samples / 1e6;
    d->core_seconds_per_epoch = (d->before_ms - d->after_ms) *
                                (double)res->samples / 1e3;
    c->costs = d->core_seconds_per_epoch < 0;
    c->core_seconds = fabs(d->core_seconds_per_epoch);
}

/* Names the bad samples on stderr, at most 20 of them. */
static void convert_note_bad(const struct wr_cli *cli,
                             const struct wr_convert_result *res)
{
    if (*res->left_out)
        wr_cli_note(cli,
                    "fields of bytes are left out unless --fields names "
                    "them: %s",
                    wr_show_path(res->left_out).text);
    for (size_t k = 0; k < res->bad_count && k < SHOWN_BAD; k++)
        wr_cli_note(cli, "left out: %s", wr_show_path(res->bad_text[k]).text);
    if (res->bad > SHOWN_BAD)
        wr_cli_note(cli, "and %" PRIu64 " more (--json names up to %d)",
                    res->bad - SHOWN_BAD, WR_CONVERT_BAD_KEPT);
}

/* --- the command --- */

static bool has_fields(const struct convert_args *a)
{
    return a->to > TO_FIELDS;
}

static bool is_tensor(const struct convert_args *a)
{
    return a->to == TO_TENSOR || a->to == TO_NPY || has_fields(a);
}

static int check_options(const struct wr_cli *cli)
{
    const struct convert_args *a = cli->args;
    const char *pixels = wr_feed_given_pixels(cli);

    if (!wr_cli_given(cli, "to"))
        return wr_cli_usage(cli, "option --to is missing: what to make of it");
    for (size_t k = 0; k < WR_ARRAY_LEN(picture_options) && is_tensor(a); k++)
        if (wr_cli_given(cli, picture_options[k]))
            return wr_cli_usage(cli,
                                "option --%s is for pictures, not for "
                                "tensors",
                                picture_options[k]);
    if (pixels && !is_tensor(a) && strcmp(pixels, "orient"))
        return wr_cli_usage(cli,
                            "option --%s is for tensors only (--to tensor, "
                            "--to npy, --to npz)",
                            pixels);
    for (size_t k = 0; k < WR_ARRAY_LEN(field_options) && !has_fields(a); k++)
        if (wr_cli_given(cli, field_options[k]))
            return wr_cli_usage(cli,
                                "option --%s is for formats of several fields "
                                "(--to npz)",
                                field_options[k]);
    if (wr_cli_given(cli, "orient") && !is_tensor(a) &&
        !wr_cli_given(cli, "max-side") && !wr_cli_given(cli, "quality"))
        return wr_cli_usage(cli, "option --orient: pictures are kept as they "
                                 "are without --max-side or --quality");
    if (wr_cli_given(cli, "normalize") && a->feed.picture.dtype == WEIR_U8)
        return wr_cli_usage(cli, "option --normalize is for --dtype f32 and "
                                 "f16");
    if (a->to == TO_JPEG && wr_cli_given(cli, "shard-size"))
        return wr_cli_usage(cli, "option --shard-size: a tree has no shards");
    return WR_EXIT_DONE;
}

static int convert_prepare(void *call)
{
    struct convert_call *c = call;
    const struct wr_cli *cli = c->s.cli;
    const struct convert_args *a = c->s.args;
    struct wr_convert_config *cfg = &c->cfg;
    int code = check_options(cli);
    weir_err err;

    if (code != WR_EXIT_DONE)
        return code;
    *cfg = a->cfg;
    cfg->target = cli->operands[1];
    cfg->to = wr_choice_name(to_choices, a->to);
    cfg->shuffle = a->feed.order == WEIR_ORDER_SHUFFLE;
    cfg->seed = a->feed.seed;
    cfg->threads = a->feed.threads;
    cfg->fail_on_bad = a->feed.on_error == WEIR_ON_ERROR_FAIL;
    cfg->tensor.holdout = a->feed.holdout;
    cfg->tensor.split_seed = a->feed.split_seed;
    cfg->tensor.part = a->feed.part;
    cfg->tensor.fields = a->feed.fields;
    cfg->tensor.picture = a->feed.picture;
    wr_settings_normalize((enum wr_normalize)a->normalize,
                          &cfg->tensor.picture);
    return wr_feed_check(cli->cmd->options, &cfg->tensor, &err) < 0
               ? wr_cli_usage(cli, "%s", err.msg)
               : WR_GO_ON;
}

static void convert_defaults(void *args)
{
    struct convert_args *a = args;

    wr_convert_defaults(&a->cfg);
    weir_pipeline_defaults(&a->feed);
}

static int on_progress(void *arg, uint64_t done, uint64_t total)
{
    return total ? wr_session_count(arg, done, total) : wr_interrupted();
}

/* What is in the data set and cannot be converted because it was not even
 * indexed. */
static int convert_begin(void *call)
{
    const struct convert_call *c = call;
    uint64_t n = weir_dataset_issue_count(c->s.ds);
    const weir_issue *first = weir_dataset_issue(c->s.ds, 0);

    if (n && first)
        wr_cli_note(c->s.cli,
                    "the source has %" PRIu64 " problem%s, the first: "
                    "'%s': %s",
                    n, n == 1 ? "" : "s", first->name, first->reason);
    return WR_GO_ON;
}

static int convert_fail(void *call, int code, const weir_err *err)
{
    struct convert_call *c = call;
    const struct wr_cli *cli = c->s.cli;
    const struct wr_convert_result *res = &c->c.res;

    if (code == WEIR_ECANCELED)
        wr_cli_fail(cli, "interrupted");
    else
        wr_cli_fail(cli, "%s", err->msg);
    if (res->kept)
        wr_cli_note(cli,
                    "%" PRIu64 " of %" PRIu64
                    " parts are complete and kept: the same command continues "
                    "after them",
                    res->kept, res->shards);
    return WR_EXIT_FAILED;
}

static int convert_work(void *call, weir_err *err)
{
    struct convert_call *c = call;

    c->cfg.ds = c->s.ds;
    c->cfg.progress = on_progress;
    c->cfg.progress_arg = &c->s;
    return wr_convert_run(&c->cfg, &c->c.res, err);
}

static int convert_finish(void *call)
{
    struct convert_call *c = call;
    const struct convert_args *a = c->s.args;

    convert_note_bad(c->s.cli, &c->c.res);
    c->c.path = c->cfg.target;
    c->c.to = c->cfg.to;
    sum_up(&c->c);
    return wr_cli_answer(c->s.cli, &wr_answer_convert, &c->c, a->json);
}

static void convert_done(void *call)
{
    struct convert_call *c = call;

    wr_convert_result_done(&c->c.res);
}

static const struct wr_session_job job = {
    .call_bytes = sizeof(struct convert_call),
    .label = "converting",
    .bytes = true,
    .open_args = offsetof(struct convert_args, open),
    .prepare = convert_prepare,
    .begin = convert_begin,
    .work = convert_work,
    .fail = convert_fail,
    .finish = convert_finish,
    .done = convert_done};

#define A struct convert_args
static const struct wr_option options[] = {
    {.name = "to",
     WR_OPT_ENUM(A, to),
     .arg = "FORMAT",
     .choices = to_choices,
     .group = "Output",
     .help = "output format; required"},
    {.name = "name",
     WR_OPT_STRING(A, cfg.name),
     .arg = "NAME",
     .def_note = "the source's",
     .help = "base name of the shards: NAME-00000-of-00012.tfrecord"},
    {.name = "shard-size",
     WR_OPT_SIZE(A, cfg.shard_bytes),
     .arg = "SIZE",
     .def = "256MiB",
     .help = "largest size of a shard (in bytes of the source's samples; for "
             "tensors, in bytes written); 0: one shard"},
    {WR_FEED_NAME(A, order), .choices = order_choices, .def = "sequential",
     .help = "order of the samples"},
    {WR_FEED(A, seed)},
    {WR_FEED(A, holdout), .with = "part"},
    {WR_FEED(A, split_seed), .with = "holdout"},
    {WR_FEED(A, part), .with = "holdout"},

    {.name = "max-side",
     WR_OPT_U32(A, cfg.max_side),
     .arg = "N",
     .min = 1,
     .max = 65500,
     .group = "Pictures (tfrecord, tar, jpeg)",
     .def_note = "as they are",
     .help = "scale larger pictures down to N pixels on the longer side, as "
             "JPEG; smaller JPEGs keep their bytes"},
    {.name = "quality",
     WR_OPT_U32(A, cfg.quality),
     .arg = "Q",
     .min = 1,
     .max = 100,
     .def_note = "90 for what is encoded",
     .help = "encode all pictures as JPEG of this quality; without it and "
             "--max-side only arrays of pixels are encoded, and with --to jpeg "
             "what is not a JPEG; other bytes are copied"},
    {.name = "check",
     WR_OPT_FLAG(A, cfg.check),
     .help = "decode pictures whose bytes are copied, too: damaged ones are "
             "named and left out"},

    {WR_FEED(A, size),
     .group = "Tensors and fields (tensor, npy, npz, hdf5, ...)"},
    {WR_FEED_NAME(A, dtype), .choices = dtype_choices, .def = "u8",
     WR_FEED_HELP(dtype)},
    {WR_FEED(A, layout)},
    WR_NORMALIZE_OPTION(A),
    {WR_FEED(A, resize)},
    {WR_FEED(A, decode)},
    {WR_FEED_NAME(A, orient), WR_FEED_RANGE(orient), WR_FEED_DEF(orient),
     .help = "orientation of tensors and of pictures that are encoded again"},
    {WR_FEED_NAME(A, crop), .choices = crop_choices, WR_FEED_DEF(crop),
     .help = "which part of each picture to use"},
    {WR_FEED(A, fields)},
    {.name = "deflate",
     WR_OPT_FLAG(A, cfg.packed),
     .help = "deflate the arrays, where the format can (npz)"},

    {WR_FEED_NAME(A, threads), .letter = 't', .max = WR_CONVERT_THREADS_MAX,
     .def = "0", .group = "How to do it",
     .help = "worker threads, 0: one per core; the result does not depend on "
             "it"},
    {WR_FEED_NAME(A, on_error), .choices = error_choices, WR_FEED_DEF(on_error),
     WR_FEED_HELP(on_error)},
    WR_OPEN_OPTIONS(A, "the source"),
    {.name = "force",
     .letter = 'f',
     WR_OPT_FLAG(A, cfg.force),
     .help = "replace a folder that weir convert made and that holds nothing "
             "else, once the new one is complete"},
    {.name = "restart",
     WR_OPT_FLAG(A, cfg.restart),
     .help = "discard what an interrupted run left and start over"},
    {.name = "json", WR_OPT_FLAG(A, json), .help = "print the summary as JSON"},
    WR_OPTIONS_END};
#undef A

static const struct wr_operand operands[] = {
    {.name = "SOURCE",
     .flags = WR_OPERAND_PATH,
     .help = "a data set of any format that weir reads"},
    {.name = "TARGET",
     .flags = WR_OPERAND_PATH,
     .help = "the folder to create"},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir convert photos records --to tfrecord --order shuffle",
     "many small files into shards of 256 MiB, shuffled once"},
    {"weir convert photos small --to jpeg --max-side 500",
     "the same tree with pictures of at most 500 pixels"},
    {"weir convert photos ready --to tensor --size 224x224",
     "decoded once: training only reads"},
    {"weir convert photos held --to tfrecord --holdout 0.1 --part held-out",
     "a tenth of the samples, for validation; --part train: the others"},
    {"weir convert scans arrays --to npz --fields volume,mask --deflate",
     "two fields of each sample as arrays of NumPy's archives"},
    {"weir convert train.csv lines --to jsonl",
     "rows as JSON lines; --to hdf5, npz: as arrays"},
    {"weir convert records tars --to tar --shard-size 1GiB",
     "from one record format to another; pictures keep their bytes"},
    {NULL, NULL}};

const struct wr_command wr_cmd_convert = {
    .name = "convert",
    .group = WR_GROUP_DATA,
    .summary =
        "repack a data set: shards, smaller JPEGs, tensors, arrays, text",
    .description =
        "Converts a data set to another form. Shards (tfrecord, tar) turn "
        "millions of small reads into large ones; smaller JPEGs cost less to "
        "read and to decode; tensors are decoded once instead of in every "
        "epoch. Formats of numbers (npz, hdf5, csv, jsonl) take all fields but "
        "those that 'weir inspect' says are to be asked for, or those of "
        "--fields: tensors, numbers and labels as they are, pictures decoded. "
        "Labels and keys are kept, and the class names are written to "
        "TARGET/classes.txt, one per line in the order of the labels.\n\n"
        "The same source and options give the same bytes, whatever the number "
        "of threads and however often the work was interrupted. TARGET appears "
        "once all of it is written and synced. Until then the work is in "
        ".TARGET.part next to it; if the command is interrupted, killed or "
        "fails, the complete shards stay there and the same command continues "
        "after them.\n\n"
        "A sample that cannot be read is named, counted and left out. Where "
        "the cost of decoding changes, it is measured before and after and "
        "printed: of all samples that are decoded for tensors and arrays, of "
        "about 200 pictures that are encoded again.",
    .operands = operands,
    .options = options,
    .args_size = sizeof(struct convert_args),
    .defaults = convert_defaults,
    .examples = examples,
    .job = &job,
};
