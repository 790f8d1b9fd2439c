/* cmd_convert.c - weir convert: a data set in another form.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/shown.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/feed_args.h"
#include "cli/interrupt.h"
#include "cli/open.h"
#include "cli/optvalue.h"
#include "cli/progress.h"
#include "cli/record_json.h"
#include "cli/screen.h"
#include "convert/convert.h"
#include "format/writer.h"

#define SHOWN_BAD  20u
#define PATH_BYTES (4 * PATH_MAX + 8) /* each byte as \xNN */

/* What decoding costs, per sample and per epoch. */
struct saving {
    bool known;
    double before_ns, after_ns; /* of one sample */
    double core_seconds;        /* of one epoch */
};

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
    const char *name; /* borrowed from argv, as all texts */
    uint64_t shard_size;
    weir_pipeline_config feed; /* of the tensors */
    int normalize;
    uint64_t max_side, quality;
    struct wr_open_args open;
    bool check, deflate, force, restart, json;
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

static struct saving saving_of(const struct wr_convert_result *res)
{
    const struct wr_convert_saving *m = &res->saving;
    struct saving s = {.known = m->samples > 0};

    if (!s.known)
        return s;
    s.before_ns = (double)m->before_ns / (double)m->samples;
    s.after_ns = (double)m->after_ns / (double)m->samples;
    s.core_seconds = (s.before_ns - s.after_ns) * (double)res->samples /
                     (double)WR_NS_PER_SEC;
    return s;
}

static double seconds_of(const struct wr_convert_result *res)
{
    return (double)WR_MAX(res->elapsed_ns, (uint64_t)1) / (double)WR_NS_PER_SEC;
}

static double ratio_of(const struct wr_convert_result *res)
{
    return res->bytes_in ? (double)res->bytes_out / (double)res->bytes_in : 0;
}

/* Names the bad samples on stderr, at most 20 of them. */
static void convert_note_bad(const struct wr_cli *cli,
                             const struct wr_convert_result *res)
{
    char shown[PATH_BYTES];

    if (*res->left_out)
        wr_cli_note(cli,
                    "fields of bytes are left out unless --fields names "
                    "them: %s",
                    wr_text_show(res->left_out, true, shown, sizeof(shown)));
    for (size_t k = 0; k < res->bad_count && k < SHOWN_BAD; k++)
        wr_cli_note(cli, "left out: %s",
                    wr_text_show(res->bad_text[k], true, shown, sizeof(shown)));
    if (res->bad > SHOWN_BAD)
        wr_cli_note(cli, "and %" PRIu64 " more (--json names up to %d)",
                    res->bad - SHOWN_BAD, WR_CONVERT_BAD_KEPT);
}

static void print_saving(const struct wr_cli *cli,
                         const struct wr_convert_result *res)
{
    struct saving s = saving_of(res);
    char a[32], b[32];

    if (!s.known)
        return;
    wr_cli_put(cli,
               "decode: %s -> %s per sample on one core (measured on %" PRIu64
               " samples); %s %.1f core-seconds per epoch\n",
               wr_format_ns(a, sizeof(a), s.before_ns),
               s.after_ns > 0 ? wr_format_ns(b, sizeof(b), s.after_ns) : "none",
               res->saving.samples, s.core_seconds < 0 ? "costs" : "saves",
               s.core_seconds < 0 ? -s.core_seconds : s.core_seconds);
}

static void convert_print_text(const struct wr_cli *cli,
                               const struct wr_convert_config *cfg,
                               const struct wr_convert_result *res)
{
    bool tree = !strcmp(cfg->to, "jpeg");
    char a[32], b[32], c[32];

    wr_cli_put(cli, "%s: %s samples", wr_show_path(cfg->target).text,
               wr_format_count(a, sizeof(a), res->samples));
    if (!tree)
        wr_cli_put(cli, " in %s shard%s",
                   wr_format_count(b, sizeof(b), res->shards),
                   res->shards == 1 ? "" : "s");
    wr_cli_put(cli, ", %s -> %s (%.2f)",
               wr_format_bytes(b, sizeof(b), (double)res->bytes_in),
               wr_format_bytes(c, sizeof(c), (double)res->bytes_out),
               ratio_of(res));
    if (res->bad)
        wr_cli_put(cli, ", %s bad sample%s left out",
                   wr_format_count(a, sizeof(a), res->bad),
                   res->bad == 1 ? "" : "s");
    wr_cli_put(
        cli, "\nmade in %.1f s by %u thread%s: %s/s read", seconds_of(res),
        res->threads, res->threads == 1 ? "" : "s",
        wr_format_bytes(a, sizeof(a), (double)res->read / seconds_of(res)));
    if (res->kept)
        wr_cli_put(cli, "; an earlier run had made %s of the %s",
                   wr_format_count(b, sizeof(b), res->kept),
                   tree ? "pieces" : "shards");
    wr_cli_put(cli, "\n");
    print_saving(cli, res);
}

static json_t *saving_json(const struct wr_convert_result *res)
{
    struct saving s = saving_of(res);

    if (!s.known)
        return json_null();
    return json_pack("{s:I, s:f, s:f, s:f}", "samples",
                     (json_int_t)res->saving.samples, "before_ms",
                     s.before_ns / 1e6, "after_ms", s.after_ns / 1e6,
                     "core_seconds_per_epoch", s.core_seconds);
}

static json_t *bad_json(const struct wr_convert_result *res)
{
    json_t *list = json_array();
    char shown[PATH_BYTES];

    for (size_t k = 0; k < res->bad_count; k++)
        json_array_append_new(list,
                              json_string(wr_text_show(res->bad_text[k], false,
                                                       shown, sizeof(shown))));
    return list;
}

/* Returns enum wr_exit. */
static int convert_print_json(const struct wr_cli *cli,
                              const struct wr_convert_config *cfg,
                              const struct wr_convert_result *res)
{
    bool tree = !strcmp(cfg->to, "jpeg"); /* has no shards */
    char path[PATH_BYTES];
    json_t *root = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:f, s:f, s:o, "
        "s:o}",
        "path", wr_text_show(cfg->target, false, path, sizeof(path)), "to",
        cfg->to, "samples", (json_int_t)res->samples, "shards",
        tree ? (json_int_t)0 : (json_int_t)res->shards, "shards_kept",
        tree ? (json_int_t)0 : (json_int_t)res->kept, "bytes_in",
        (json_int_t)res->bytes_in, "bytes_out", (json_int_t)res->bytes_out,
        "ratio", ratio_of(res), "bytes_read", (json_int_t)res->read, "threads",
        (json_int_t)res->threads, "seconds", seconds_of(res), "mb_per_s",
        (double)res->read / 1e6 / seconds_of(res), "decode", saving_json(res),
        "bad", bad_json(res));

    if (root && json_object_set_new(root, "bad_count",
                                    json_integer((json_int_t)res->bad)) < 0) {
        json_decref(root);
        root = NULL;
    }
    return wr_json_print(cli, root);
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
    weir_err err;

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
    if (wr_feed_check_split(cli, &err) < 0)
        return wr_cli_usage(cli, "%s", err.msg);
    return WR_EXIT_DONE;
}

static int fill_config(const struct wr_cli *cli, struct wr_convert_config *cfg,
                       weir_err *err)
{
    const struct convert_args *a = cli->args;

    wr_convert_defaults(cfg);
    cfg->target = cli->operands[1];
    cfg->to = wr_choice_name(to_choices, a->to);
    cfg->name = a->name;
    cfg->shard_bytes = a->shard_size;
    cfg->max_side = (uint32_t)a->max_side;
    cfg->quality = (unsigned)a->quality;
    cfg->shuffle = a->feed.order == WEIR_ORDER_SHUFFLE;
    cfg->seed = a->feed.seed;
    cfg->threads = a->feed.threads;
    cfg->fail_on_bad = a->feed.on_error == WEIR_ON_ERROR_FAIL;
    cfg->packed = a->deflate;
    cfg->check = a->check;
    cfg->force = a->force;
    cfg->restart = a->restart;
    cfg->tensor.holdout = a->feed.holdout;
    cfg->tensor.split_seed = a->feed.split_seed;
    cfg->tensor.part = a->feed.part;
    cfg->tensor.fields = a->feed.fields;
    cfg->tensor.picture = a->feed.picture;
    wr_settings_normalize((enum wr_normalize)a->normalize,
                          &cfg->tensor.picture);
    return wr_feed_check(cli->cmd->options, &cfg->tensor, err);
}

static void convert_defaults(void *args)
{
    weir_pipeline_defaults(&((struct convert_args *)args)->feed);
}

static int on_progress(void *arg, uint64_t done, uint64_t total)
{
    if (total)
        wr_progress_callback(arg, done, total);
    return wr_interrupted();
}

static int open_source(struct wr_cli *cli, weir_dataset **ret, weir_err *err)
{
    const struct convert_args *a = cli->args;

    return wr_cli_open(cli, cli->operands[0], &a->open, ret, err);
}

/* What is in the data set and cannot be converted because it was not even
 * indexed. */
static void note_issues(const struct wr_cli *cli, const weir_dataset *ds)
{
    uint64_t n = weir_dataset_issue_count(ds);
    const weir_issue *first = weir_dataset_issue(ds, 0);

    if (n && first)
        wr_cli_note(cli,
                    "the source has %" PRIu64 " problem%s, the first: "
                    "'%s': %s",
                    n, n == 1 ? "" : "s", first->name, first->reason);
}

static int fail_run(const struct wr_cli *cli, int code,
                    const struct wr_convert_result *res, const weir_err *err)
{
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

static int convert_run(struct wr_cli *cli)
{
    const struct convert_args *a = cli->args;
    struct wr_convert_config cfg;
    struct wr_convert_result res;
    struct wr_progress progress;
    struct wr_screen screen;
    weir_dataset *ds = NULL;
    weir_err err;
    int r = check_options(cli);

    if (r)
        return r;
    if (fill_config(cli, &cfg, &err) < 0)
        return wr_cli_usage(cli, "%s", err.msg);
    if (open_source(cli, &ds, &err) < 0)
        return wr_cli_open_failed(cli, &err);
    note_issues(cli, ds);
    cfg.ds = ds;
    cfg.progress = on_progress;
    cfg.progress_arg = &progress;
    wr_progress_start(
        &progress, cli,
        &(struct wr_progress_spec){.label = "converting", .bytes = true});
    r = wr_convert_run(&cfg, &res, &err);
    wr_progress_end(&progress);
    if (r < 0) {
        r = fail_run(cli, r, &res, &err);
    } else {
        convert_note_bad(cli, &res);
        r = WR_EXIT_DONE;
        if (a->json) {
            r = convert_print_json(cli, &cfg, &res);
        } else {
            convert_print_text(wr_screen_start(&screen, cli), &cfg, &res);
            wr_screen_end(&screen);
        }
    }
    wr_convert_result_done(&res);
    weir_dataset_close(&ds);
    return r;
}

#define A struct convert_args
static const struct wr_option options[] = {
    {.name = "to",
     WR_OPT_ENUM(A, to),
     .arg = "FORMAT",
     .choices = to_choices,
     .group = "Output",
     .help = "output format; required"},
    {.name = "name",
     WR_OPT_STRING(A, name),
     .arg = "NAME",
     .def_note = "the source's",
     .help = "base name of the shards: NAME-00000-of-00012.tfrecord"},
    {.name = "shard-size",
     WR_OPT_SIZE(A, shard_size),
     .arg = "SIZE",
     .def = "256MiB",
     .help = "largest size of a shard (in bytes of the source's samples; for "
             "tensors, in bytes written); 0: one shard"},
    {WR_FEED_NAME(A, order), .choices = order_choices, .def = "sequential",
     .help = "order of the samples"},
    {WR_FEED(A, seed)},
    {WR_FEED(A, holdout)},
    {WR_FEED(A, split_seed)},
    {WR_FEED(A, part)},

    {.name = "max-side",
     WR_OPT_UINT(A, max_side),
     .arg = "N",
     .min = 1,
     .max = 65500,
     .group = "Pictures (tfrecord, tar, jpeg)",
     .def_note = "as they are",
     .help = "scale larger pictures down to N pixels on the longer side, as "
             "JPEG; smaller JPEGs keep their bytes"},
    {.name = "quality",
     WR_OPT_UINT(A, quality),
     .arg = "Q",
     .min = 1,
     .max = 100,
     .def_note = "90 for what is encoded",
     .help = "encode all pictures as JPEG of this quality; without it and "
             "--max-side only arrays of pixels are encoded, and with --to jpeg "
             "what is not a JPEG; other bytes are copied"},
    {.name = "check",
     WR_OPT_FLAG(A, check),
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
     WR_OPT_FLAG(A, deflate),
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
     WR_OPT_FLAG(A, force),
     .help = "replace a folder that weir convert made and that holds nothing "
             "else, once the new one is complete"},
    {.name = "restart",
     WR_OPT_FLAG(A, restart),
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
    .run = convert_run,
};
