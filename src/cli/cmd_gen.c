/* cmd_gen.c - weir gen: makes a data set from a seed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/options.h"
#include "cli/record_json.h"
#include "cli/screen.h"
#include "cli/session.h"
#include "format/writer.h"
#include "gen/dataset.h"
#include "gen/generate.h"
#include "workload/workload.h"

#define PREFIX "workload:" /* in front of a name that is a kind's, too */

struct gen_args {
    uint64_t samples, classes, seed, threads, samples_per_file, vary, drawn;
    double scale;
    uint64_t accelerators;
    const char *list;  /* borrowed from argv */
    const char *shape; /* borrowed from argv */
    int to;            /* of to_choices */
    int dtype;         /* enum weir_dtype */
    bool force, json;
};

/* How tensors are written: what weir has itself, then every writer. */
enum {
    TO_WT,
    TO_NPY,
    TO_NPZ_DEFLATED,
#define ARRAY_WRITER(name, help) TO_##name,
#define FIELD_WRITER(name, help) TO_##name,
#include "format/formats.def"
};

static const struct wr_choice to_choices[] = {
    {"wt", TO_WT, "weir's own: labels inside, samples page-aligned"},
    {"npy", TO_NPY, "NumPy's, labels in a second file"},
#define ARRAY_WRITER(name, help) {#name, TO_##name, help},
#include "format/formats.def"
    {"npz-deflated", TO_NPZ_DEFLATED, "the same as npz, deflated"},
#define FIELD_WRITER(name, help) {#name, TO_##name, help},
#include "format/formats.def"
    {NULL, 0, NULL}};

/* One call of the command. */
struct gen_call {
    struct wr_session s;
    /* of a kind */
    struct wr_gen_config cfg;
    struct wr_gen_result res;
    /* of a workload */
    struct wr_workload *workload; /* owned */
    struct wr_dataset_result made;
};

/* Options that only tensors have. */
static const char *const tensor_options[] = {"to", "shape", "dtype",
                                             "samples-per-file", "vary"};

/* Options that no workload has: its description says all of it. */
static const char *const kind_options[] = {
    "samples", "classes", "write-list",       "drawn", "to",
    "shape",   "dtype",   "samples-per-file", "vary"};

/* Quantiles in the summary. */
static const struct {
    const char *name;
    double q;
} quantiles[] = {{"min", 0.0},  {"p10", 0.10}, {"p50", 0.50},
                 {"p90", 0.90}, {"p99", 0.99}, {"max", 1.0}};

static uint64_t size_at(const struct wr_hist *sizes, double q)
{
    return q <= 0.0   ? sizes->min
           : q >= 1.0 ? sizes->max
                      : wr_hist_quantile(sizes, q);
}

static uint64_t size_mean(const struct wr_hist *sizes)
{
    return sizes->count ? sizes->sum / sizes->count : 0;
}

/* Whether what is written says of which class a sample is. */
static bool has_labels(const struct wr_gen_config *cfg)
{
    const struct wr_array_writer_ops *ops = wr_array_writer_find(cfg->to);

    return wr_gen_kind_find(cfg->kind)->pictures || !ops || !ops->single;
}

static void print_text(const struct wr_cli *cli,
                       const struct wr_gen_config *cfg,
                       const struct wr_gen_result *res)
{
    double seconds = (double)res->elapsed_ns / (double)WR_NS_PER_SEC;
    char a[32], b[32], c[32];

    wr_cli_put(cli, "%s: %s sample%s", wr_show_path(cfg->target).text,
               wr_format_count(a, sizeof(a), res->samples),
               res->samples == 1 ? "" : "s");
    if (has_labels(cfg))
        wr_cli_put(cli, " of %u class%s", res->classes,
                   res->classes == 1 ? "" : "es");
    wr_cli_put(cli, " in %s file%s, %s\n",
               wr_format_count(b, sizeof(b), res->files),
               res->files == 1 ? "" : "s",
               wr_format_bytes(c, sizeof(c), (double)res->bytes));
    wr_cli_put(cli, "sample sizes: mean %s",
               wr_format_bytes(a, sizeof(a), (double)size_mean(&res->sizes)));
    for (size_t k = 0; k < WR_ARRAY_LEN(quantiles); k++)
        wr_cli_put(
            cli, ", %s %s", quantiles[k].name,
            wr_format_bytes(a, sizeof(a),
                            (double)size_at(&res->sizes, quantiles[k].q)));
    wr_cli_put(cli, "\nmade in %.1f s by %u thread%s: %.0f samples/s, %s/s\n",
               seconds, res->threads, res->threads == 1 ? "" : "s",
               (double)res->samples / seconds,
               wr_format_bytes(a, sizeof(a), (double)res->bytes / seconds));
}

static int print_json(const struct wr_cli *cli, const struct wr_gen_config *cfg,
                      const struct wr_gen_result *res)
{
    json_t *sizes = json_object(), *root;
    char path[4 * PATH_MAX + 8]; /* each byte as \xNN */
    int bad = 0;

    for (size_t k = 0; k < WR_ARRAY_LEN(quantiles); k++)
        bad |= json_object_set_new(
            sizes, quantiles[k].name,
            json_integer((json_int_t)size_at(&res->sizes, quantiles[k].q)));
    bad |= json_object_set_new(
        sizes, "mean", json_integer((json_int_t)size_mean(&res->sizes)));
    root = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o}", "kind", cfg->kind,
        "path", wr_text_show(cfg->target, false, path, sizeof(path)), "seed",
        (json_int_t)cfg->seed, "samples", (json_int_t)res->samples, "classes",
        (json_int_t)res->classes, "files", (json_int_t)res->files, "bytes",
        (json_int_t)res->bytes, "threads", (json_int_t)res->threads, "seconds",
        (double)res->elapsed_ns / (double)WR_NS_PER_SEC, "sample_bytes", sizes);
    if (bad) {
        json_decref(root);
        root = NULL;
    }
    return wr_json_print(cli, root);
}

/* Checks what no table can say; fills the rest of the settings. */
static int check_args(const struct wr_cli *cli, struct wr_gen_config *cfg)
{
    const struct gen_args *a = cli->args;
    const struct wr_gen_kind *kind = wr_gen_kind_find(cfg->kind);
    weir_err err;

    for (size_t k = 0; k < WR_ARRAY_LEN(tensor_options) && kind->pictures; k++)
        if (wr_cli_given(cli, tensor_options[k]))
            return wr_cli_usage(cli, "option --%s is for tensors only",
                                tensor_options[k]);
    if (wr_cli_given(cli, "scale") || wr_cli_given(cli, "accelerators") ||
        cli->operand_count > 2)
        return wr_cli_usage(cli,
                            "--scale and KEY=VALUE are for workloads only");
    if (a->list && !kind->pictures)
        return wr_cli_usage(cli, "option --write-list is for pictures only");
    if (wr_cli_given(cli, "drawn") && !kind->pictures)
        return wr_cli_usage(cli, "option --drawn is for pictures only");
    if (wr_gen_shape_parse(a->shape, &cfg->shape, &err) < 0)
        return wr_cli_usage(cli, "option --shape: %s", err.msg);
    if (a->to == TO_WT && a->dtype > WEIR_U8)
        return wr_cli_usage(cli, "option --dtype %s is not for --to wt",
                            wr_dtype_text((enum weir_dtype)a->dtype));
    if (a->vary && a->samples_per_file != 1)
        return wr_cli_usage(cli, "option --vary needs --samples-per-file 1");
    return WR_EXIT_DONE;
}

/* Made in one process: on others than the first rank nothing happens, and the
 * first one fails and says why. */
static int kind_prepare(void *call)
{
    struct gen_call *c = call;
    const struct wr_cli *cli = c->s.cli;
    const struct gen_args *a = c->s.args;
    int code;

    if (!wr_ranks_speaks(&c->s.ranks))
        return WR_EXIT_DONE;
    if (wr_ranks_several(&c->s.ranks))
        return wr_cli_usage(cli,
                            "%s is made in one process: start it without %s "
                            "(several ranks make data sets of workloads)",
                            cli->operands[0], c->s.ranks.launch.by);
    c->cfg = (struct wr_gen_config){
        .kind = cli->operands[0],
        .target = cli->operands[1],
        .list = a->list,
        .samples = a->samples,
        .classes = (uint32_t)a->classes,
        .seed = a->seed,
        .threads = (unsigned)a->threads,
        .force = a->force,
        .drawn = (uint32_t)a->drawn,
        .to = a->to == TO_NPZ_DEFLATED ? "npz"
                                       : wr_choice_name(to_choices, a->to),
        .packed = a->to == TO_NPZ_DEFLATED,
        .shape = {.dtype = a->dtype},
        .samples_per_file = a->samples_per_file,
        .vary = (unsigned)a->vary,
        .progress = wr_session_count,
        .progress_arg = &c->s,
    };
    code = check_args(cli, &c->cfg);
    return code == WR_EXIT_DONE ? WR_GO_ON : code;
}

static int kind_work(void *call, weir_err *err)
{
    struct gen_call *c = call;

    return wr_gen_run(&c->cfg, &c->res, err);
}

static int kind_finish(void *call)
{
    struct gen_call *c = call;
    const struct gen_args *a = c->s.args;
    struct wr_screen screen;

    if (a->json)
        return print_json(c->s.cli, &c->cfg, &c->res);
    print_text(wr_screen_start(&screen, c->s.cli), &c->cfg, &c->res);
    wr_screen_end(&screen);
    return WR_EXIT_DONE;
}

static const struct wr_session_job kind_job = {
    .call_bytes = sizeof(struct gen_call),
    .ranks = WR_JOB_LATER,
    .interrupted = "nothing was left",
    .label = "generating",
    .unit = "samples",
    .prepare = kind_prepare,
    .work = kind_work,
    .finish = kind_finish};

/* --- data sets of workloads --- */

/* What all ranks made, in the time of the slowest; on rank 0. */
static int add_up(struct wr_ranks *ranks, struct wr_dataset_result *res,
                  weir_err *err)
{
    struct wr_comm_part *parts;
    struct wr_dataset_result one;
    int r = wr_comm_gather(ranks->comm, res, sizeof(*res), &parts, err);

    if (r < 0)
        return r;
    for (uint32_t k = 1; parts && k < ranks->launch.world; k++) {
        if (parts[k].len != sizeof(one)) {
            r = wr_fail(err, WEIR_EFORMAT, "what rank %u sent cannot be read",
                        k);
            break;
        }
        memcpy(&one, parts[k].bytes, sizeof(one));
        res->made_files += one.made_files;
        res->made_bytes += one.made_bytes;
        res->kept_files += one.kept_files;
        res->elapsed_ns = WR_MAX(res->elapsed_ns, one.elapsed_ns);
    }
    free(parts);
    return r;
}

static void print_made(const struct wr_cli *cli, uint32_t world,
                       const struct wr_dataset_result *res)
{
    double seconds = (double)res->elapsed_ns / (double)WR_NS_PER_SEC;
    char b[32], c[32], by[32] = "";

    wr_cli_put(cli, "%s: %s file%s to train on",
               wr_show_path(cli->operands[1]).text,
               wr_format_count(b, sizeof(b), res->train_files),
               res->train_files == 1 ? "" : "s");
    if (res->eval_files)
        wr_cli_put(cli, ", %s to evaluate",
                   wr_format_count(b, sizeof(b), res->eval_files));
    wr_cli_put(cli, ", %s sample%s\n",
               wr_format_count(c, sizeof(c), res->samples),
               res->samples == 1 ? "" : "s");
    if (res->kept_files)
        wr_cli_put(cli, "%s of the files %s there already\n",
                   wr_format_count(b, sizeof(b), res->kept_files),
                   res->kept_files == 1 ? "was" : "were");
    if (world > 1)
        snprintf(by, sizeof(by), "%u ranks of ", world);
    wr_cli_put(cli, "made %s in %.1f s by %s%u thread%s: %s/s, %.0f files/s\n",
               wr_format_bytes(b, sizeof(b), (double)res->made_bytes), seconds,
               by, res->threads, res->threads == 1 ? "" : "s",
               wr_format_bytes(c, sizeof(c), (double)res->made_bytes / seconds),
               (double)res->made_files / seconds);
}

static int print_made_json(const struct wr_cli *cli, uint32_t world,
                           const struct wr_dataset_result *res)
{
    const struct gen_args *a = cli->args;
    char path[4 * PATH_MAX + 8]; /* each byte as \xNN */
    char name[4 * PATH_MAX + 8];
    json_t *root = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}",
        "workload", wr_text_show(cli->operands[0], false, name, sizeof(name)),
        "path", wr_text_show(cli->operands[1], false, path, sizeof(path)),
        "seed", (json_int_t)a->seed, "samples", (json_int_t)res->samples,
        "files", (json_int_t)res->files, "train_files",
        (json_int_t)res->train_files, "eval_files", (json_int_t)res->eval_files,
        "made_files", (json_int_t)res->made_files, "kept_files",
        (json_int_t)res->kept_files, "bytes", (json_int_t)res->made_bytes,
        "threads", (json_int_t)res->threads, "seconds",
        (double)res->elapsed_ns / (double)WR_NS_PER_SEC);

    if (root && world > 1)
        json_object_set_new(root, "ranks", json_integer(world));
    return wr_json_print(cli, root);
}

static int load_workload(struct gen_call *c, weir_err *err)
{
    const struct gen_args *a = c->s.args;
    const struct wr_cli *cli = c->s.cli;
    const char *name = cli->operands[0];
    int r;

    if (!strncmp(name, PREFIX, strlen(PREFIX)))
        name += strlen(PREFIX);
    r = wr_workload_load(name, (const char *const *)cli->operands + 2,
                         cli->operand_count - 2, wr_session_note, &c->s,
                         &c->workload, err);
    if (r < 0 || a->scale == 1.0)
        return r;
    return wr_workload_scale(c->workload, a->scale, a->accelerators, err);
}

static int workload_prepare(void *call)
{
    struct gen_call *c = call;
    const struct wr_cli *cli = c->s.cli;
    weir_err err;
    int r;

    for (size_t k = 0; k < WR_ARRAY_LEN(kind_options); k++)
        if (wr_cli_given(cli, kind_options[k]))
            return wr_cli_usage(cli,
                                "option --%s is not for workloads: their "
                                "description says it (KEY=VALUE changes it)",
                                kind_options[k]);
    r = load_workload(c, &err);
    if (r == WEIR_ENOENT)
        return wr_cli_usage(cli,
                            "%s, and no kind of data set (imagenet, "
                            "caltech101, tensors)",
                            err.msg);
    return r < 0 ? wr_cli_usage(cli, "%s", err.msg) : WR_GO_ON;
}

/* Files are in the label of the line, bytes are its count. */
static int on_files(void *arg, const struct wr_dataset_state *s)
{
    struct wr_session *to = arg;
    char a[32], b[32];

    snprintf(to->label, sizeof(to->label), "generating %s of %s files",
             wr_format_count(a, sizeof(a), s->files_done),
             wr_format_count(b, sizeof(b), s->files));
    return wr_session_count(to, s->bytes_done, s->bytes);
}

static int workload_work(void *call, weir_err *err)
{
    struct gen_call *c = call;
    const struct gen_args *a = c->s.args;
    bool several = wr_ranks_several(&c->s.ranks);
    struct wr_dataset_config cfg = {
        .workload = c->workload,
        .target = c->s.cli->operands[1],
        .seed = a->seed,
        .threads = several && !a->threads ? wr_ranks_threads(&c->s.ranks)
                                          : (unsigned)a->threads,
        .force = a->force,
        .comm = several ? c->s.ranks.comm : NULL,
        .progress = on_files,
        .progress_arg = &c->s};
    int r = wr_gen_workload(&cfg, &c->made, err);

    return r == 0 && cfg.comm ? add_up(&c->s.ranks, &c->made, err) : r;
}

static int workload_fail(void *call, int r, const weir_err *err)
{
    struct gen_call *c = call;

    return r == WEIR_ECANCELED && !wr_ranks_several(&c->s.ranks)
               ? wr_cli_fail(c->s.cli,
                             "interrupted %s: the same command continues",
                             err->msg)
               : wr_ranks_failed(&c->s.ranks, c->s.cli, r, err);
}

static int workload_finish(void *call)
{
    struct gen_call *c = call;
    const struct gen_args *a = c->s.args;
    uint32_t world = c->s.ranks.launch.world;
    struct wr_screen screen;

    if (!wr_ranks_speaks(&c->s.ranks))
        return WR_EXIT_DONE;
    if (a->json)
        return print_made_json(c->s.cli, world, &c->made);
    print_made(wr_screen_start(&screen, c->s.cli), world, &c->made);
    wr_screen_end(&screen);
    return WR_EXIT_DONE;
}

static void workload_done(void *call)
{
    struct gen_call *c = call;

    wr_workload_free(c->workload);
}

static const struct wr_session_job workload_job = {
    .call_bytes = sizeof(struct gen_call),
    .ranks = WR_JOB_RANKS,
    .interrupted = "the same command continues",
    .label = "generating",
    .bytes = true,
    .prepare = workload_prepare,
    .work = workload_work,
    .fail = workload_fail,
    .finish = workload_finish,
    .done = workload_done};

static int gen_run(struct wr_cli *cli)
{
    return wr_session(cli, wr_gen_kind_find(cli->operands[0]) ? &kind_job
                                                              : &workload_job);
}

static const struct wr_choice kind_choices[] = {
#define CHOICE(name, help) {#name, 0, help},
    WR_GEN_KIND_MAP(CHOICE)
#undef CHOICE
        {NULL, 0, NULL}};

static const struct wr_choice dtype_choices[] = {
    {"u8", WEIR_U8, "bytes, 0 to 255"},
    {"f16", WEIR_F16, "half precision, 0 to 1"},
    {"f32", WEIR_F32, "single precision, 0 to 1"},
    {"f64", WEIR_F64, "double precision, 0 to 1; not for wt"},
    {"i8", WEIR_I8, "0 to 127; not for wt"},
    {"i16", WEIR_I16, "0 to 255; not for wt"},
    {"u16", WEIR_U16, "0 to 255; not for wt"},
    {"i32", WEIR_I32, "0 to 255; not for wt"},
    {"u32", WEIR_U32, "0 to 255; not for wt"},
    {"i64", WEIR_I64, "0 to 255; not for wt"},
    {"u64", WEIR_U64, "0 to 255; not for wt"},
    {NULL, 0, NULL}};

static const struct wr_option options[] = {
    {.name = "samples",
     .letter = 'n',
     WR_OPT_UINT(struct gen_args, samples),
     .arg = "N",
     .min = 1,
     .max = 1e9,
     .def_note = "4096; caltech101: 9144",
     .help = "samples to generate"},
    {.name = "classes",
     .letter = 'c',
     WR_OPT_UINT(struct gen_args, classes),
     .arg = "N",
     .min = 1,
     .max = WR_GEN_CLASSES_MAX,
     .def_note = "100; caltech101: 102",
     .help = "classes that they belong to, in turn"},
    {.name = "seed",
     WR_OPT_UINT(struct gen_args, seed),
     .arg = "N",
     .def = "0",
     .max = 9007199254740992.0,
     .help = "another seed gives other samples of the same classes"},
    {.name = "write-list",
     .old = "list",
     WR_OPT_STRING(struct gen_args, list),
     .arg = "FILE",
     .flags = WR_OPTION_PATH,
     .help = "also write 'path,label' lines of all pictures to FILE"},
    {.name = "drawn",
     WR_OPT_UINT(struct gen_args, drawn),
     .arg = "N",
     .min = 1,
     .max = 1e6,
     .def_note = "1024",
     .help = "pictures that are drawn, one of each class at least; further "
             "ones are put together from rows of these, a hundred times as "
             "fast"},
    {.name = "scale",
     WR_OPT_DOUBLE(struct gen_args, scale),
     .arg = "F",
     .min = 1e-9,
     .max = 1e9,
     .def = "1",
     .help = "make a workload's data set smaller: 0.01 is a hundredth of its "
             "samples"},
    {.name = "accelerators",
     .letter = 'g',
     WR_OPT_UINT(struct gen_args, accelerators),
     .arg = "N",
     .min = 1,
     .max = 1e6,
     .def = "1",
     .help =
         "with --scale: accelerators that will read it, of all ranks; there "
         "are batches for each"},
    {.name = "force",
     .letter = 'f',
     WR_OPT_FLAG(struct gen_args, force),
     .help = "replace an existing data set once the new one is complete; do "
             "not continue an earlier run"},
    {.name = "threads",
     .letter = 't',
     WR_OPT_UINT(struct gen_args, threads),
     .arg = "N",
     .max = WR_GEN_THREADS_MAX,
     .def = "0",
     .help = "worker threads, 0: one per core; the result does not depend on "
             "it"},
    {.name = "json",
     WR_OPT_FLAG(struct gen_args, json),
     .help = "print the summary as JSON"},
    {.name = "to",
     .old = "format",
     WR_OPT_ENUM(struct gen_args, to),
     .arg = "FORMAT",
     .choices = to_choices,
     .def = "wt",
     .group = "Tensors",
     .help = "how files are written; those of several arrays or columns have "
             "x, and y for the labels"},
    {.name = "shape",
     WR_OPT_STRING(struct gen_args, shape),
     .arg = "AxBxC",
     .def = "224x224x3",
     .help = "dimensions of one sample"},
    {.name = "dtype",
     WR_OPT_ENUM(struct gen_args, dtype),
     .arg = "TYPE",
     .choices = dtype_choices,
     .def = "u8",
     .help = "type of the elements"},
    {.name = "samples-per-file",
     WR_OPT_UINT(struct gen_args, samples_per_file),
     .arg = "N",
     .min = 1,
     .max = 16777216,
     .def = "1024",
     .help = "samples in each file"},
    {.name = "vary",
     WR_OPT_UINT(struct gen_args, vary),
     .arg = "PERCENT",
     .max = 95,
     .def = "0",
     .help = "let the first dimension differ from sample to sample, up to so "
             "much up and down; with --samples-per-file 1"},
    WR_OPTIONS_END};

static const struct wr_operand operands[] = {
    {.name = "WHAT",
     .choices = kind_choices,
     .flags = WR_OPERAND_OTHERS,
     .help = "a workload (a name that 'weir run --list' shows, or a YAML "
             "file), or one of these kinds"},
    {.name = "FOLDER",
     .flags = WR_OPERAND_PATH,
     .help = "where to put it; must be empty or not exist"},
    {.name = "KEY=VALUE",
     .flags = WR_OPERAND_OPTIONAL | WR_OPERAND_MANY,
     .help = "of a workload: says otherwise than its description, for example "
             "dataset.num_files_train=10"},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir gen imagenet photos --samples 4096",
     "4,096 pictures with the sizes of ImageNet's, about 460 MB"},
    {"weir gen unet3d_h100 data --scale 0.01",
     "a hundredth of the data that unet3d reads, in data/train"},
    {"mpirun -n 4 weir gen unet3d_h100 /lustre/data",
     "all of it, by four processes"},
    {"weir gen caltech101 small --write-list small.csv",
     "9,144 small pictures in 102 classes, and a list of them"},
    {"weir gen tensors raw --shape 3x224x224 --dtype f32 --to npy",
     "pictures of the same classes as raw NumPy arrays"},
    {"weir gen tensors v --to npz --shape 88x960x960 --samples-per-file 1 "
     "--vary 73",
     "volumes of 22 to 140 MB, a file each, like those of unet3d"},
    {NULL, NULL}};

const struct wr_command wr_cmd_gen = {
    .name = "gen",
    .group = WR_GROUP_DATA,
    .summary = "generate a data set from a seed",
    .description =
        "Generates a data set to measure with or to train on. The same options "
        "give the same bytes, whatever the number of threads.\n\n"
        "The data set of a workload has the folders, names and layout that "
        "DLIO gives it (FOLDER/train, FOLDER/valid). What is in a file is a "
        "function of seed, file and offset: 'weir inspect --verify FOLDER' "
        "makes it again and compares. If the command is interrupted or killed, "
        "the same command continues. Lack of space is noticed before anything "
        "is written. A name that is both a kind's and a workload's is the "
        "kind's; 'workload:imagenet' is the workload. Under mpirun, srun or "
        "torchrun the ranks share the files, of the same bytes.\n\n"
        "The kinds: "
        "a sample's class decides what it shows (a shape, its colours and "
        "textures), and a small network can learn the classes; place, size, "
        "angle, light, clutter and noise differ from sample to sample. Class 7 "
        "looks like class 7 under every seed. The pictures are as detailed as "
        "photographs: their file sizes follow the data set they stand in for, "
        "and they cost as much to decode.\n\n"
        "The folder appears once all of it is written. If the command is "
        "interrupted or fails, nothing is left of a kind; if it was killed, "
        "the "
        "same command continues. If only the list cannot be written at the "
        "end, "
        "the data set stays.",
    .operands = operands,
    .options = options,
    .args_size = sizeof(struct gen_args),
    .examples = examples,
    .ranks = WR_RANKS_ALL,
    .run = gen_run,
};
