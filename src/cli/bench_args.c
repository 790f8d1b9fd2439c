/* bench_args.c - the settings of `weir bench`, and the cases they make.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/units.h"
#include "cli/feed_args.h"
#include "cli/monitor.h"
#include "cli/open.h"
#include "cli/optvalue.h"

#define MAX_CASES 256

static const struct wr_choice stage_choices[] = {
    {"read", WEIR_STAGES_READ, "read the bytes and nothing else"},
    {"decode", WEIR_STAGES_DECODE, "read and decode, drop the picture"},
    {"all", WEIR_STAGES_ALL, "read, decode, resize, normalize, batch"},
    {NULL, 0, NULL}};

static const struct wr_choice cache_choices[] = {
    {"cold", WR_CACHE_COLD, "dropped before every run, and checked"},
    {"warm", WR_CACHE_WARM, "read before every run"},
    {"asis", WR_CACHE_ASIS, "left alone"},
    {NULL, 0, NULL}};

static const struct wr_choice crop_choices[] = {
    {"none", WEIR_CROP_NONE, "all of it"},
    {"center", WEIR_CROP_CENTER, "the middle, in the shape of the output"},
    {"random", WEIR_CROP_RANDOM, "a random area and shape in each epoch"},
    {NULL, 0, NULL}};

static const struct wr_choice remainder_choices[] = {
    {"keep", WEIR_REMAINDER_KEEP, "the last batch may be short"},
    {"drop", WEIR_REMAINDER_DROP, "only full batches"},
    {"pad", WEIR_REMAINDER_PAD, "filled up with repeated samples"},
    {NULL, 0, NULL}};

static const struct wr_choice error_choices[] = {
    {"skip", WEIR_ON_ERROR_SKIP, "name it and go on"},
    {"fail", WEIR_ON_ERROR_FAIL, "stop"},
    {NULL, 0, NULL}};

#define A struct bench_args
const struct wr_option wr_bench_options[] = {
    {.name = "stages",
     WR_OPT_ENUM_LIST(A, stages),
     .arg = "WHAT,...",
     .choices = stage_choices,
     .def = "all",
     .group = "What to measure",
     .help = "what is done to each sample"},
    {.name = "page-cache",
     WR_OPT_ENUM_LIST(A, page_cache),
     .arg = "STATE,...",
     .choices = cache_choices,
     .def = "warm",
     .help = "state of the page cache before every run"},
    {.name = "threads",
     .letter = 't',
     WR_OPT_UINT_LIST(A, threads),
     .arg = "N,...",
     .choices = wr_feed_auto,
     .min = 1,
     .max = 1024,
     .def_note = "one per core",
     .help = "workers; a list is swept"},
    {.name = "depth",
     .letter = 'd',
     WR_OPT_UINT_LIST(A, depth),
     .arg = "N,...",
     .choices = wr_feed_auto,
     .min = 1,
     .max = 4096,
     .def = "32",
     .help = "reads in flight per worker"},
    {.name = "prefetch",
     .letter = 'p',
     WR_OPT_UINT_LIST(A, prefetch),
     .arg = "N,...",
     .choices = wr_feed_auto,
     .max = 1024,
     .def = "1",
     .help = "finished batches kept ahead; 0: work only while the consumer "
             "waits"},
    {.name = "batch",
     .letter = 'b',
     WR_OPT_UINT_LIST(A, batch),
     .arg = "N,...",
     .min = 1,
     .max = 1 << 20,
     .def = "64",
     .help = "samples per batch"},
    {.name = "batches",
     WR_OPT_UINT(A, batches),
     .arg = "N",
     .def_note = "one epoch",
     .help = "stop each run after this many batches"},
    {.name = "epochs",
     WR_OPT_UINT(A, epochs),
     .arg = "N",
     .min = 1,
     .def = "1",
     .help = "epochs per run"},
    {.name = "repeat",
     .letter = 'r',
     WR_OPT_UINT(A, repeat),
     .arg = "N",
     .min = 2,
     .max = 1000,
     .def = "6",
     .help = "rounds; the first is a warm-up and not counted"},
    {.name = "accelerator",
     WR_OPT_STRING(A, accelerator),
     .arg = "NAME",
     .def = "none",
     .help = "what works on each batch, emulated: " WR_HELP_ACCELERATORS
             "; none: batches are taken as they come"},
    {.name = "consumer-ms",
     WR_OPT_DOUBLE(A, consumer_ms),
     .arg = "MS",
     .max = 1e6,
     .def = "0",
     .flags = WR_OPTION_HIDDEN,
     .help = "the old name of --accelerator ms=MS"},
    {.name = "limits",
     WR_OPT_FLAG(A, limits),
     .def = "yes",
     .help = "do not measure the limits of decoding alone and reading alone"},

    {.name = "size",
     WR_OPT_STRING(A, size),
     .arg = "WxH",
     .def = "224x224",
     .group = "Output",
     .help = "size of the pictures"},
    {.name = "channels",
     WR_OPT_UINT(A, channels),
     .arg = "N",
     .min = 1,
     .max = 3,
     .def = "3",
     .help = "3 for colour, 1 for grey"},
    {.name = "dtype",
     WR_OPT_ENUM(A, dtype),
     .arg = "TYPE",
     .choices = wr_feed_dtype,
     .def = "f32",
     .help = "element type"},
    {.name = "layout",
     WR_OPT_ENUM(A, layout),
     .arg = "ORDER",
     .choices = wr_feed_layout,
     .def = "nhwc",
     .help = "order of dimensions"},
    {.name = "normalize",
     WR_OPT_ENUM(A, normalize),
     .arg = "HOW",
     .choices = wr_feed_normalize,
     .def = "imagenet",
     .help = "mean and deviation of f32 and f16"},
    {.name = "resize",
     WR_OPT_ENUM(A, resize),
     .arg = "FILTER",
     .choices = wr_feed_resize,
     .def = "bilinear",
     .help = "filter"},
    {.name = "decode",
     WR_OPT_ENUM_LIST(A, decode),
     .arg = "HOW,...",
     .choices = wr_feed_decode,
     .def = "exact",
     .help = "how JPEG is decoded"},
    {.name = "orient",
     WR_OPT_ENUM(A, orient),
     .arg = "HOW",
     .choices = wr_feed_orient,
     .def = "ignore",
     .help = "which way up pictures are; crops come after"},
    {.name = "crop",
     WR_OPT_ENUM(A, crop),
     .arg = "HOW",
     .choices = crop_choices,
     .def = "none",
     .help = "part of each picture to use"},
    {.name = "crop-area",
     WR_OPT_STRING(A, crop_area),
     .arg = "A,B",
     .def = "0.08,1",
     .help = "crop random: its area as a fraction of the picture's"},
    {.name = "crop-ratio",
     WR_OPT_STRING(A, crop_ratio),
     .arg = "A,B",
     .def_note = "3/4 to 4/3",
     .help = "crop random: its width over its height"},
    {.name = "crop-center",
     WR_OPT_DOUBLE(A, crop_center),
     .arg = "F",
     .def = "0.875",
     .help = "crop center: its side as a fraction of the largest possible"},
    {.name = "flip",
     WR_OPT_FLAG(A, flip),
     .help = "mirror pictures at random, half of them"},

    {.name = "order",
     WR_OPT_ENUM(A, order),
     .arg = "ORDER",
     .choices = wr_feed_order,
     .def = "shuffle",
     .group = "Which samples, and in which order",
     .help = "order of an epoch"},
    {.name = "seed",
     WR_OPT_UINT(A, seed),
     .arg = "N",
     .def = "0",
     .help = "seed of the shuffle"},
    {.name = "block-samples",
     WR_OPT_UINT(A, block_samples),
     .arg = "N",
     .max = 1e9,
     .def = "0",
     .def_note = "about 1.5 MiB",
     .help = "order block: block size"},
    {.name = "block-window",
     WR_OPT_UINT(A, block_window),
     .arg = "N",
     .min = 1,
     .max = 1e6,
     .def = "16",
     .help = "order block: blocks mixed together"},
    {.name = "rank",
     WR_OPT_UINT(A, rank),
     .arg = "R",
     .max = 1e9,
     .def = "0",
     .help = "take the share of rank R"},
    {.name = "world",
     WR_OPT_UINT(A, world),
     .arg = "W",
     .min = 1,
     .max = 1e9,
     .def = "1",
     .help = "of W ranks"},
    {.name = "remainder",
     WR_OPT_ENUM(A, remainder),
     .arg = "HOW",
     .choices = remainder_choices,
     .def = "keep",
     .help = "what to do with the last, short batch"},
    {.name = "on-error",
     WR_OPT_ENUM(A, on_error),
     .arg = "HOW",
     .choices = error_choices,
     .def = "skip",
     .help = "what to do with a sample that cannot be read"},

    {.name = "cache",
     WR_OPT_STRING(A, cache),
     .arg = "TIERS",
     .group = "Where to read from",
     .help = "tiers that keep samples, fastest first, with their sizes: "
             "ram:4G,/fast/dir:200G"},
    {.name = "cache-what",
     WR_OPT_ENUM(A, cache_what),
     .arg = "WHAT",
     .choices = wr_feed_cache_what,
     .def = "encoded",
     .help = "what the tiers keep"},
    {.name = "memory",
     WR_OPT_SIZE(A, memory),
     .arg = "SIZE",
     .def_note = "a quarter of the machine's",
     .help = "memory that 'auto' may use for batches and reads"},

    {.name = "io",
     WR_OPT_ENUM(A, io),
     .arg = "ENGINE",
     .choices = wr_feed_io,
     .def = "auto",
     .group = "How to read",
     .help = "I/O engine"},
    {.name = "direct",
     WR_OPT_FLAG(A, direct),
     .help = "O_DIRECT: past the page cache"},
    {.name = "format",
     WR_OPT_STRING(A, format),
     .arg = "FORMAT",
     .def_note = "detected",
     .help = "format of the data set: " WR_HELP_FORMAT},
    {.name = "root",
     WR_OPT_STRING(A, root),
     .arg = "FOLDER",
     .flags = WR_OPTION_PATH,
     .help = "folder that relative paths in a list file start from"},
    WR_COLUMNS_OPTION(A),
    {.name = "index-dir",
     WR_OPT_STRING(A, index_dir),
     .arg = "FOLDER",
     .def_note = "weir/index in the user's cache folder",
     .flags = WR_OPTION_PATH,
     .help = "where indexes are kept and reopened"},
    {.name = "index-cache",
     WR_OPT_FLAG(A, index_cache),
     .def = "yes",
     .help = "neither use nor write an index file"},

    {.name = "digest",
     WR_OPT_FLAG(A, digest),
     .group = "Results",
     .help = "print a digest of everything delivered (takes some time)"},
    {.name = "csv",
     WR_OPT_STRING(A, csv),
     .arg = "FILE",
     .flags = WR_OPTION_PATH | WR_OPTION_OUTPUT,
     .help = "write the time of every batch"},
    {.name = "record",
     .letter = 'o',
     WR_OPT_STRING(A, record),
     .arg = "FILE",
     .flags = WR_OPTION_PATH | WR_OPTION_OUTPUT,
     .help = "write the run record (JSON)"},
    {.name = "json",
     WR_OPT_FLAG(A, json),
     .help = "print the run record instead of the table"},
    WR_MONITOR_OPTION(A),
    {.name = "min-rate",
     WR_OPT_DOUBLE(A, min_rate),
     .arg = "N",
     .def = "0",
     .help = "exit with 3 if a case delivers fewer samples per second"},
    {.name = "min-of-decode",
     WR_OPT_DOUBLE(A, min_of_decode),
     .arg = "R",
     .def = "0",
     .help = "exit with 3 below this fraction of the decode limit"},
    {.name = "min-of-read",
     WR_OPT_DOUBLE(A, min_of_read),
     .arg = "R",
     .def = "0",
     .help = "exit with 3 below this fraction of the read limit"},
    WR_OPTIONS_END};
#undef A

const char *wr_bench_choice(const char *option, int value)
{
    const struct wr_option *o = wr_bench_options;

    while (o->name && strcmp(o->name, option))
        o++;
    return o->name ? wr_choice_name(o->choices, value) : "?";
}

const char *wr_bench_verdict_name(enum weir_verdict v)
{
    static const char *const names[] = {
        [WEIR_VERDICT_NONE] = "unknown",
        [WEIR_VERDICT_STORAGE] = "storage-bound",
        [WEIR_VERDICT_DECODE] = "decode-bound",
        [WEIR_VERDICT_CONSUMER] = "consumer-bound",
        [WEIR_VERDICT_CONVERT] = "convert-bound",
    };

    return names[v];
}

/* "0.08,1"; an option that was not given leaves the default. */
static int parse_range(const char *option, const char *text, float ret[2],
                       weir_err *err)
{
    const char *comma = text ? strchr(text, ',') : NULL;
    char first[32];
    double a, b;

    if (!text)
        return 0;
    if (!comma)
        return wr_fail(err, WEIR_EINVAL,
                       "option --%s: '%s' is not two numbers with a comma "
                       "between them",
                       option, text);
    snprintf(first, sizeof(first), "%.*s", (int)(comma - text), text);
    if (wr_parse_double(first, 0, 1e6, &a, err) < 0 ||
        wr_parse_double(comma + 1, 0, 1e6, &b, err) < 0)
        return wr_fail_prefix(err, WEIR_EINVAL, "option --%s", option);
    ret[0] = (float)a;
    ret[1] = (float)b;
    return 0;
}

static int crop_config(const struct bench_args *a, weir_pipeline_config *cfg,
                       weir_err *err)
{
    int r = parse_range("crop-area", a->crop_area, cfg->crop_area, err);

    if (r >= 0)
        r = parse_range("crop-ratio", a->crop_ratio, cfg->crop_ratio, err);
    cfg->crop = (enum weir_crop)a->crop;
    cfg->crop_center = (float)a->crop_center;
    cfg->flip = a->flip;
    return r;
}

/* What all cases have in common. */
static int base_config(const struct bench_args *a, weir_pipeline_config *cfg,
                       weir_err *err)
{
    const struct wr_feed_pixels pixels = {
        .size = a->size,
        .channels = a->channels,
        .dtype = a->dtype,
        .layout = a->layout,
        .resize = a->resize,
        .normalize = a->normalize,
        .orient = a->orient,
    };

    weir_pipeline_defaults(cfg);
    cfg->order = (enum weir_order)a->order;
    cfg->seed = a->seed;
    cfg->block_samples = (uint32_t)a->block_samples;
    cfg->block_window = (uint32_t)a->block_window;
    cfg->epochs = a->epochs;
    cfg->max_batches = a->batches;
    cfg->rank = (uint32_t)a->rank;
    cfg->world = (uint32_t)a->world;
    cfg->remainder = (enum weir_remainder)a->remainder;
    cfg->on_error = (enum weir_on_error)a->on_error;
    cfg->io = (enum weir_io)a->io;
    cfg->cache = a->cache;
    cfg->cache_what = (enum weir_cache_what)a->cache_what;
    cfg->memory = a->memory;
    cfg->direct = a->direct;
    if (crop_config(a, cfg, err) < 0)
        return WEIR_EINVAL;
    return wr_feed_set_pixels(&pixels, cfg, err);
}

/* Case number k of the product of all lists; the last list turns fastest. */
static void pick_case(const struct bench_args *a, size_t k,
                      struct wr_bench_case *c)
{
    const struct {
        size_t count;
        const uint64_t *u;
        const int *e;
    } lists[] = {
        {a->stages.count, NULL, a->stages.v},
        {a->page_cache.count, NULL, a->page_cache.v},
        {a->decode.count, NULL, a->decode.v},
        {a->batch.count, a->batch.v, NULL},
        {a->prefetch.count, a->prefetch.v, NULL},
        {a->depth.count, a->depth.v, NULL},
        {a->threads.count, a->threads.v, NULL},
    };
    uint64_t v[WR_ARRAY_LEN(lists)];

    for (size_t i = WR_ARRAY_LEN(lists); i-- > 0;) {
        size_t n = WR_MAX(lists[i].count, (size_t)1);

        v[i] = !lists[i].count ? wr_cpu_count()
               : lists[i].u    ? lists[i].u[k % n]
                               : (uint64_t)lists[i].e[k % n];
        k /= n;
    }
    c->cfg.stages = (enum weir_stages)v[0];
    c->cache = (enum wr_cache_state)v[1];
    c->cfg.decode = (enum weir_decode)v[2];
    c->cfg.batch = (uint32_t)v[3];
    c->cfg.prefetch = (uint32_t)v[4];
    c->cfg.depth = (uint32_t)v[5];
    c->cfg.threads = (uint32_t)v[6];
}

int wr_bench_accelerator(const struct bench_args *a, struct wr_accelerator *ret,
                         weir_err *err)
{
    char old[32];

    snprintf(old, sizeof(old), "ms=%.9g", a->consumer_ms);
    if (wr_accelerator_parse(a->consumer_ms > 0 ? old : a->accelerator, ret,
                             err) < 0)
        return wr_fail_prefix(err, WEIR_EINVAL, "option --accelerator");
    if (ret->kind == WR_ACCELERATOR_CPU)
        return wr_fail(err, WEIR_EINVAL,
                       "option --accelerator: bench computes nothing; 'weir "
                       "train DATASET' trains on the CPU");
    return 0;
}

int wr_bench_cases(const struct bench_args *a, struct wr_bench_case **ret,
                   size_t *ret_count, weir_err *err)
{
    size_t n = a->stages.count * a->page_cache.count * a->decode.count *
               a->batch.count * a->prefetch.count * a->depth.count *
               WR_MAX(a->threads.count, (size_t)1);
    struct wr_bench_case *cases;
    int r;

    if (n > MAX_CASES)
        return wr_fail(err, WEIR_EINVAL,
                       "%zu combinations are too many; the limit is %d", n,
                       MAX_CASES);
    cases = calloc(n, sizeof(*cases));
    if (!cases)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < n; k++) {
        r = base_config(a, &cases[k].cfg, err);
        pick_case(a, k, &cases[k]);
        if (r == 0)
            r = wr_feed_check(wr_bench_options, &cases[k].cfg, err);
        if (r < 0) {
            free(cases);
            return r;
        }
    }
    *ret = cases;
    *ret_count = n;
    return 0;
}
