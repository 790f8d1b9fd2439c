/* cmd_stage.c - weir stage: fills folder tiers before training starts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/shown.h"
#include "base/units.h"
#include "cli/answers.h"
#include "cli/feed_args.h"
#include "cli/interrupt.h"
#include "cli/record_json.h"
#include "cli/session.h"
#include "weir/pipeline.h"

/* What it answers. */
struct staged {
    const char *dataset, *tiers, *what; /* as given; "decoded" or "encoded" */
    uint64_t samples;                   /* of the data set */
    uint64_t before, kept; /* that the tiers hold: at first, and now */
    uint64_t staged;       /* between; by others, too */
    uint64_t not_fitted;
    weir_stats stats;
    double seconds, mb_per_s, bytes_per_s;
    json_t *bad; /* owned: samples that could not be read, by name */
};

#define THIS struct staged
static const struct wr_vals staged_vals = WR_VALS_OF(
    WR_VAL_IS(TEXT, dataset), WR_VAL_IS(TEXT, tiers), WR_VAL_IS(TEXT, what),
    WR_VAL_IS(U64, samples), WR_VAL_IS(U64, kept, .help = "in the tiers now"),
    WR_VAL_IS(U64, staged, .help = "by this run"),
    WR_VAL_OF(U64, "already_there", before), WR_VAL_IS(U64, not_fitted),
    WR_VAL_OF(U64, "bad_count", stats.bad),
    WR_VAL_OF(U64, "damaged", stats.cache_damaged),
    WR_VAL_OF(U64, "tier_bytes", stats.cache_dir_bytes),
    WR_VAL_OF(U64, "bytes_read", stats.bytes_read), WR_VAL_IS(REAL, seconds),
    WR_VAL_IS(REAL, mb_per_s), WR_VAL_IS(JSON, bad),
    WR_VAL_IS(REAL, bytes_per_s, .flags = WR_VAL_INSIDE));
#undef THIS

const struct wr_answer wr_answer_stage = {
    .name = "stage",
    .of = &staged_vals,
    .screen = WR_SCREEN(
        {.say = "{tiers}: {kept:number} of {samples:number} samples staged, "
                "{tier_bytes:bytes}"},
        {.say = "staged {staged:number} now, {already_there:number} "
                "before[{?not_fitted>0}, {not_fitted:number} did not "
                "fit][{?bad_count>0}, {bad_count:number} bad "
                "sample{bad_count:plural} left out]"},
        {.say = "read {bytes_read:bytes} in {seconds:1} s, "
                "{bytes_per_s:bytes}/s"}),
};

#define SHOWN_BAD 20u

#define BATCH      64u
#define FULL_AFTER 1024u /* samples of which none was kept */
#define PREFETCH   2u
#define MOMENTS    20u
#define MOMENT_NS  (10 * WR_NS_PER_MS)

struct stage_args {
    weir_pipeline_config feed;
    int normalize;
    struct wr_open_args open;
    bool json;
};

/* One run, and what came of it. */
struct stage {
    struct wr_session s;
    weir_pipeline_config cfg;
    weir_pipeline *p;  /* owned */
    weir_err tier_err; /* why a tier takes nothing more; code 0: it does */
    struct staged res;
};

static const struct wr_choice crop_choices[] = {
    {"none", WEIR_CROP_NONE, "all of it"},
    {"center", WEIR_CROP_CENTER, "the middle, in the shape of the output"},
    {NULL, 0, NULL}};

/* --- its report --- */

/* Names the bad samples on stderr, at most 20, and returns them all for the
 * JSON (to be given back). */
static json_t *stage_note_bad(const struct wr_cli *cli, const weir_pipeline *p)
{
    uint64_t count = weir_pipeline_bad_count(p), k = 0;
    json_t *list = json_array();
    const weir_bad_sample *b;

    for (; (b = weir_pipeline_bad(p, k)); k++) {
        const char *text = b->text ? b->text : "out of memory";

        if (k < SHOWN_BAD)
            wr_cli_note(cli, "left out: %s", wr_show_path(text).text);
        json_array_append_new(list, wr_text_json(text));
    }
    if (count > SHOWN_BAD)
        wr_cli_note(cli, "and %" PRIu64 " more (--json names up to 1,000)",
                    count - SHOWN_BAD);
    return list;
}

/* --- settings --- */

static int check_tiers(const struct wr_cli *cli)
{
    const char *part = cli->operands[1];

    do {
        if (!strncmp(part, "ram:", 4))
            return wr_cli_usage(cli,
                                "tier '%.*s': memory is gone when this command "
                                "ends: only folders can be staged",
                                (int)strcspn(part, ","), part);
        part += strcspn(part, ",");
    } while (*part++);
    return WR_GO_ON;
}

static int stage_prepare(void *call)
{
    struct stage *s = call;
    const struct wr_cli *cli = s->s.cli;
    const struct stage_args *a = s->s.args;
    const char *pixels = wr_feed_given_pixels(cli);
    weir_pipeline_config *cfg = &s->cfg;
    weir_err err;
    int code;

    if (a->feed.cache_what == WEIR_CACHE_ENCODED && pixels)
        return wr_cli_usage(cli,
                            "option --%s is for --cache-what decoded: "
                            "encoded samples are kept as they are",
                            pixels);
    code = check_tiers(cli);
    *cfg = a->feed;
    cfg->cache = cli->operands[1];
    cfg->stages = cfg->cache_what == WEIR_CACHE_DECODED ? WEIR_STAGES_ALL
                                                        : WEIR_STAGES_READ;
    cfg->batch = BATCH;
    cfg->prefetch = PREFETCH;
    wr_settings_normalize((enum wr_normalize)a->normalize, &cfg->picture);
    if (code == WR_GO_ON && wr_feed_check(cli->cmd->options, cfg, &err) < 0)
        return wr_cli_usage(cli, "%s", err.msg);
    return code;
}

static void stage_defaults(void *args)
{
    weir_pipeline_defaults(&((struct stage_args *)args)->feed);
}

/* --- the run --- */

static int stage_begin(void *call)
{
    struct stage *s = call;
    uint64_t n = weir_dataset_issue_count(s->s.ds);
    const weir_issue *first = weir_dataset_issue(s->s.ds, 0);

    if (n && first)
        wr_cli_note(s->s.cli,
                    "the data set has %" PRIu64 " problem%s (weir inspect "
                    "lists them), the first: '%s': %s",
                    n, n == 1 ? "" : "s", first->name, first->reason);
    s->res.dataset = s->s.cli->operands[0];
    s->res.tiers = s->s.cli->operands[1];
    s->res.what = s->cfg.cache_what == WEIR_CACHE_DECODED ? "decoded"
                                                          : "encoded";
    s->res.samples = weir_dataset_count(s->s.ds);
    return WR_GO_ON;
}

/* What is there before anything is read: a pipeline without prefetching waits
 * for its first batch to be asked for. */
static int count_before(struct stage *s, weir_pipeline_config cfg,
                        weir_err *err)
{
    weir_pipeline *p = NULL;
    weir_stats stats;
    int r;

    cfg.prefetch = 0;
    r = weir_pipeline_open(&p, s->s.ds, &cfg, err);
    if (r < 0)
        return r;
    weir_pipeline_stats(p, &stats);
    s->res.before = WR_MIN(stats.cache_dir_entries, s->res.samples);
    weir_pipeline_close(&p);
    return 0;
}

/* Was there something to keep for long, and nothing of it kept? */
static bool is_full(struct stage *s, uint64_t *bytes, uint64_t *since)
{
    uint64_t read;

    weir_pipeline_stats(s->p, &s->res.stats);
    read = s->res.stats.samples -
           WR_MIN(s->res.stats.cache_dir_hits, s->res.stats.samples);
    if (s->res.stats.cache_dir_bytes != *bytes) {
        *bytes = s->res.stats.cache_dir_bytes;
        *since = read;
    }
    return read > *since + FULL_AFTER;
}

static int is_stopped(void *unused)
{
    (void)unused;
    return wr_interrupted();
}

/* One epoch, whose batches nobody wants. */
static int run_epoch(struct stage *s, weir_err *err)
{
    uint64_t bytes = 0, since = 0;
    const weir_batch *b;
    int r;

    do {
        r = weir_pipeline_next(s->p, &b, err);
        if (r <= 0)
            break;
        wr_progress_add(&s->s.line, b->count);
        weir_batch_release(b);
    } while (!wr_interrupted() && !is_full(s, &bytes, &since));
    return r < 0 && !wr_interrupted() ? r : 0; /* what is there counts */
}

static void count_once(struct stage *s)
{
    struct staged *res = &s->res;
    uint64_t good;

    weir_pipeline_stats(s->p, &res->stats);
    good = res->samples - WR_MIN(res->stats.bad, res->samples);
    res->kept = WR_MIN(res->stats.cache_dir_entries, res->samples);
    res->staged = res->kept - WR_MIN(res->before, res->kept);
    res->not_fitted = good - WR_MIN(res->kept, good);
}

/* What another process has begun to write is passed over here, and counts once
 * it is written: the last ones get a moment. */
static void count_kept(struct stage *s)
{
    s->tier_err.code = weir_pipeline_cache_error(s->p, &s->tier_err);
    count_once(s);
    for (unsigned n = 0; n < MOMENTS && s->res.not_fitted &&
                         !s->tier_err.code && !wr_interrupted();
         n++) {
        wr_clock_sleep_until(wr_clock_ns() + MOMENT_NS);
        count_once(s);
    }
}

/* Samples that are not there because the budget ended are as good as a result
 * can be; those that could not be written are not. */
static int judge(const struct stage *s)
{
    char a[32];

    if (!s->res.not_fitted)
        return WR_EXIT_DONE;
    wr_format_count(a, sizeof(a), s->res.not_fitted);
    if (s->tier_err.code)
        return wr_cli_fail(s->s.cli, "%s samples could not be kept: %s", a,
                           s->tier_err.msg);
    wr_cli_note(s->s.cli,
                "%s samples did not fit: they will be read from the data set "
                "in every epoch",
                a);
    return WR_EXIT_DONE;
}

static int stage_finish(void *call)
{
    struct stage *s = call;
    const struct stage_args *a = s->s.args;
    char n[32], of[32];
    int r, verdict;

    s->res.bad = stage_note_bad(s->s.cli, s->p);
    if (wr_interrupted())
        return wr_cli_fail(s->s.cli,
                           "interrupted: %s of %s samples are there; the same "
                           "command goes on with the others",
                           wr_format_count(n, sizeof(n), s->res.kept),
                           wr_format_count(of, sizeof(of), s->res.samples));
    r = wr_cli_answer(s->s.cli, &wr_answer_stage, &s->res, a->json);
    verdict = judge(s);
    return r ? r : verdict;
}

static int stage_work(void *call, weir_err *err)
{
    struct stage *s = call;
    uint64_t start = wr_clock_ns();
    int r = count_before(s, s->cfg, err);

    wr_progress_total(&s->s.line, s->res.samples);
    s->cfg.stopped = is_stopped;
    if (r == 0)
        r = weir_pipeline_open(&s->p, s->s.ds, &s->cfg, err);
    if (r == 0)
        r = run_epoch(s, err);
    if (r < 0)
        return r;
    s->res.seconds = (double)(wr_clock_ns() - start) / (double)WR_NS_PER_SEC;
    count_kept(s);
    s->res.bytes_per_s = (double)s->res.stats.bytes_read /
                         WR_MAX(s->res.seconds, 1e-9);
    s->res.mb_per_s = s->res.bytes_per_s / 1e6;
    return 0;
}

static void stage_done(void *call)
{
    struct stage *s = call;

    json_decref(s->res.bad);
    weir_pipeline_close(&s->p);
}

static const struct wr_session_job job = {
    .call_bytes = sizeof(struct stage),
    .label = "staging",
    .unit = "samples",
    .open_args = offsetof(struct stage_args, open),
    .prepare = stage_prepare,
    .begin = stage_begin,
    .work = stage_work,
    .finish = stage_finish,
    .done = stage_done};

#define A struct stage_args
static const struct wr_option options[] = {
    {WR_FEED(A, cache_what), .group = "What to keep"},
    {WR_FEED_NAME(A, order), WR_FEED_RANGE(order), WR_FEED_DEF(order),
     .help =
         "order of the first epoch; its first samples are kept if not all fit"},
    {WR_FEED(A, seed)},

    {WR_FEED(A, size),
     .group = "Form of decoded samples, as the pipeline will ask for them"},
    {WR_FEED(A, channels)},
    {WR_FEED(A, dtype)},
    {WR_FEED(A, layout)},
    WR_NORMALIZE_OPTION(A),
    {WR_FEED(A, resize)},
    {WR_FEED(A, decode)},
    {WR_FEED(A, orient)},
    {WR_FEED_NAME(A, crop), .choices = crop_choices, WR_FEED_DEF(crop),
     .help = "part of each picture to use; random crops need encoded samples"},
    {WR_FEED(A, crop_center)},

    {WR_FEED_NAME(A, threads), .letter = 't', .choices = wr_auto_choices,
     .min = 1, .max = 1024, WR_FEED_NOTE(threads), .group = "How to read",
     WR_FEED_HELP(threads)},
    {WR_FEED(A, depth), .letter = 'd'},
    {WR_FEED(A, io)},
    {WR_FEED_NAME(A, direct), WR_FEED_HELP(direct)},
    WR_OPEN_OPTIONS(A, "the data set"),
    {WR_OPT_FLAG(A, json), .name = "json", .help = "print the summary as JSON"},
    WR_OPTIONS_END};
#undef A

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("DATASET", WR_OPERAND_PATH),
     .help = "a data set of any format that weir reads"},
    {WR_ARGUMENT("TIERS", WR_OPERAND_PATH),
     .help = "existing folders with the bytes they may hold, fastest first: "
             "/fast/dir:200GiB"},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir stage photos /nvme/cache:200GiB",
     "copy the files of 'photos' to a faster disk, up to 200 GiB"},
    {"weir bench photos --cache /nvme/cache:200GiB",
     "what training then gets, with samples from /nvme/cache"},
    {"weir stage photos /nvme/cache:200GiB --cache-what decoded --dtype u8",
     "keep tensors of 224x224x3 bytes: nothing is decoded during training"},
    {"weir stage photos /nvme/cache:20GiB --seed 7",
     "too small for all: keep what a run with seed 7 reads first"},
    {NULL, NULL}};

const struct wr_command wr_cmd_stage = {
    .name = "stage",
    .group = WR_GROUP_DATA,
    .summary = "copy a data set to folders on fast disks before training",
    .description =
        "Reads the data set once and keeps its samples in the given folders "
        "until they are full. A pipeline whose cache names these folders (weir "
        "bench --cache, cfg.cache in C) then reads them from there from its "
        "first epoch on, and the rest from the data set. Without staging, the "
        "first epoch fills the tiers, as fast as the data set can be read.\n\n"
        "Encoded samples suit every pipeline. Decoded ones save the decoding "
        "too, but take the space of the tensors (600 KB for 224x224x3 f32, 150 "
        "KB as u8), and only serve a pipeline that asks for the same size, "
        "type, layout, normalization, filter, decoder and crop.\n\n"
        "The size limits everything that weir keeps in the folder. Nothing is "
        "ever evicted; a data set that has changed is staged again, and its "
        "old copy removed. Several processes may stage into a folder and read "
        "from it at the same time. After Ctrl-C or a crash the samples already "
        "staged stay valid, and the same command continues with the rest. To "
        "empty a folder, remove weir-cache-UID in it.\n\n"
        "Only this user can look into what is kept. With "
        "FOLDER:SIZE:share=group "
        "(share=all) it is kept in weir-cache-shared, where the folder's group "
        "(everybody) can read it; those who name it so, too, trust the user "
        "who "
        "made it.",
    .operands = operands,
    .options = options,
    .args_size = sizeof(struct stage_args),
    .defaults = stage_defaults,
    .examples = examples,
    .job = &job,
};
