/* cmd_probe.c - weir probe: what the storage behind a path can do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/feed_args.h"
#include "cli/interrupt.h"
#include "cli/probe_plan.h"
#include "cli/probe_replay.h"
#include "cli/record_json.h"
#include "cli/session.h"
#include "cli/screen.h"
#include "measure/probe.h"
#include "measure/probe_fit.h"
#include "measure/probe_record.h"
#include "monitor/host.h"
#include "result/get.h"
#include "report/probe_tables.h"
#include "result/record.h"

#define LABEL 9 /* width of "Path" and the like */

#define PARTS        1000 /* of the progress */
#define QUICK_PASSES 3
#define FULL_PASSES  5
#define QUICK_S      0.3
#define FULL_S       0.6
#define QUICK_FILES  1000
#define FULL_FILES   4000

struct probe_args {
    bool quick, dry_run, json;
    struct wr_enum_list only;
    int access, io;
    struct wr_uint_list depth, block, threads;
    uint64_t file_size, files, passes, seed;
    double seconds, monitor_hz;
    const char *like, *file; /* borrowed from argv, as all texts */
    const char *record, *profile;
    struct wr_replay_args replay;
};

/* One run of the command. */
struct probe {
    struct wr_session s;
    struct wr_probe_tests tests;
    struct wr_probe_plan plan;
    struct wr_store *store; /* owned */
    struct wr_probe_report report;
};

/* --- its report --- */

static void print_fact(const struct wr_cli *cli, const char *label,
                       const char *text)
{
    wr_cli_put(cli, "%s%-*s%s", wr_cli_style(cli, WR_STYLE_BOLD), LABEL, label,
               wr_cli_style(cli, WR_STYLE_END));
    wr_text_print(cli->out, text,
                  (struct wr_text_wrap){LABEL, LABEL, cli->width});
}

static double mix_mean(const struct wr_probe_mix *m)
{
    double sum = 0;

    for (size_t k = 0; k < m->count; k++)
        sum += (double)m->part[k].bytes * m->part[k].share;
    return sum;
}

/* "ext4 on vda (QEMU HARDDISK, rotating)"; "" where nothing is known. */
static void describe_place(const char *url, struct wr_store *st, char *buf,
                           size_t cap)
{
    struct wr_host_fs fs;
    char path[4096], device[128];
    const char *kind;

    buf[0] = '\0';
    if (wr_emulated(url, device, sizeof(device))) {
        snprintf(buf, cap, ": %s", device);
        return;
    }
    if (!st->ops->local_path ||
        !st->ops->local_path(st, "", path, sizeof(path)) ||
        wr_host_fs_of(path, &fs, NULL) < 0)
        return;
    kind = fs.rotational == 1   ? "says it rotates"
           : fs.rotational == 0 ? "does not rotate"
                                : "";
    snprintf(buf, cap, ": %s%s%s", fs.type, *fs.device ? " on " : "",
             *fs.device ? fs.device : "");
    if (*fs.model || *kind) {
        size_t used = strlen(buf);

        snprintf(buf + used, cap - used, " (%s%s%s)", fs.model,
                 *fs.model && *kind ? ", " : "", kind);
    }
}

static bool has_op(const struct wr_probe_plan *plan, enum wr_probe_op op)
{
    for (size_t k = 0; k < plan->test_count; k++)
        if (plan->tests[k].op == op)
            return true;
    return false;
}

/* "a fresh one of 537 MB; 1,000 small ones as in imagenet, ..." */
static void describe_files(const struct wr_probe_plan *plan, char *buf,
                           size_t cap)
{
    bool small = has_op(plan, WR_PROBE_FILES) || has_op(plan, WR_PROBE_CREATE);
    char name[4096], a[32], b[32];
    int n;

    if (plan->file)
        n = snprintf(buf, cap, "%s is read",
                     wr_text_show(plan->file, true, name, sizeof(name)));
    else
        n = snprintf(buf, cap, "a fresh one of %s",
                     wr_format_bytes(a, sizeof(a), (double)plan->file_bytes));
    if (small && n >= 0 && (size_t)n < cap)
        snprintf(buf + n, cap - (size_t)n,
                 "; %s small ones as in %s, %s on average",
                 wr_format_count(a, sizeof(a), plan->small_files),
                 wr_text_show(plan->mix.name, true, name, sizeof(name)),
                 wr_format_bytes(b, sizeof(b), mix_mean(&plan->mix)));
}

/* Before anything is done: what will be probed, and with what. */
static void probe_print_head(const struct wr_cli *cli,
                             const struct wr_probe_plan *plan,
                             struct wr_store *st)
{
    char place[512], text[8192], name[4096], a[32];
    uint64_t space;

    describe_place(plan->url, st, place, sizeof(place));
    wr_text_show(plan->url, true, name, sizeof(name));
    if (st->ops->space && st->ops->space(st, &space, NULL) == 0)
        snprintf(text, sizeof(text), "%s%s, %s free", name, place,
                 wr_format_bytes(a, sizeof(a), (double)space));
    else
        snprintf(text, sizeof(text), "%s%s", name, place);
    print_fact(cli, "Path", text);
    describe_files(plan, text, sizeof(text));
    print_fact(cli, "Files", text);
    snprintf(text, sizeof(text), "%zu, each %u time%s for %g s: about %.0f s",
             plan->test_count, plan->passes, plan->passes == 1 ? "" : "s",
             plan->seconds,
             ceil((double)plan->test_count * plan->passes * plan->seconds));
    print_fact(cli, "Tests", text);
}

/* Instead of doing it: the tests, bytes and seconds. */
static int probe_print_plan(const struct wr_cli *cli,
                            const struct wr_probe_plan *plan, weir_err *err)
{
    struct wr_doc_table *t = wr_doc_list("<");
    char name[WR_PROBE_NAME], bytes[32];
    struct wr_screen screen;
    int r;

    for (size_t k = 0; k < plan->test_count; k++)
        wr_doc_cell(t, "%s",
                    wr_probe_test_name(&plan->tests[k], name, sizeof(name)));
    wr_cli_put(cli, "\n");
    r = wr_cli_list(cli, t, 2, err);
    wr_cli_put(
        wr_screen_start(&screen, cli),
        "\nNothing was done. It would write %s below the path, and remove "
        "it.\n",
        wr_format_bytes(bytes, sizeof(bytes), (double)wr_probe_space(plan)));
    wr_screen_end(&screen);
    return r;
}

/* --- settings --- */

static int probe_prepare(void *call)
{
    struct probe *p = call;
    const struct probe_args *a = p->s.args;
    struct wr_probe_wish w = {
        .quick = a->quick,
        .access = (enum wr_probe_access)a->access,
        .depth = a->depth,
        .block = a->block,
        .workers = a->threads,
    };
    weir_err err;

    for (size_t k = 0; k < a->only.count; k++)
        w.groups |= 1u << a->only.v[k];
    return wr_probe_plan_tests(&w, &p->tests, &err) < 0
               ? wr_cli_usage(p->s.cli, "%s", err.msg)
               : WR_GO_ON;
}

/* The folder must be there before anything else is done. */
static int open_place(struct probe *p, weir_err *err)
{
    const char *url = p->s.cli->operands[0];
    char *leaf = NULL;
    struct wr_stat sb;
    int r = wr_store_open(url, &p->store, &leaf, err);

    if (r == 0 && leaf)
        r = wr_fail(err, WEIR_EINVAL,
                    "'%s': a file: give a folder, and the file by --file", url);
    free(leaf);
    if (r == 0)
        r = p->store->ops->stat(p->store, "", &sb, err);
    if (r == 0 && sb.kind != WR_KIND_DIR)
        r = wr_fail(err, WEIR_EINVAL, "'%s': not a folder", url);
    return r;
}

static int take_mix(struct probe *p, weir_err *err)
{
    const struct probe_args *a = p->s.args;
    int r;

    wr_probe_mix_imagenet(&p->plan.mix);
    if (!a->like)
        return 0;
    r = wr_cli_open(p->s.cli, a->like, &(struct wr_open_args){0}, &p->s.ds,
                    err);
    if (r < 0)
        return r;
    if (weir_dataset_count(p->s.ds) == 0)
        r = wr_fail(err, WEIR_EINVAL, "'%s': no samples in it", a->like);
    else
        r = wr_probe_mix_of(p->s.ds, &p->plan.mix, err);
    weir_dataset_close(&p->s.ds);
    return r;
}

static int probe_open(void *call, weir_err *err)
{
    int r = open_place(call, err);

    return r < 0 ? r : take_mix(call, err);
}

static void fill_plan(struct probe *p)
{
    const struct probe_args *a = p->s.args;
    struct wr_probe_plan *plan = &p->plan;
    uint64_t space = 0;

    if (p->store->ops->space)
        (void)p->store->ops->space(p->store, &space, NULL);
    plan->url = p->s.cli->operands[0];
    plan->file = a->file;
    plan->file_bytes = a->file_size
                           ? a->file_size
                           : wr_probe_plan_size(&p->tests, a->quick, space);
    plan->small_files = a->files   ? (unsigned)a->files
                        : a->quick ? QUICK_FILES
                                   : FULL_FILES;
    plan->tests = p->tests.v;
    plan->test_count = p->tests.count;
    plan->passes = a->passes  ? (unsigned)a->passes
                   : a->quick ? QUICK_PASSES
                              : FULL_PASSES;
    plan->seconds = a->seconds > 0 ? a->seconds : a->quick ? QUICK_S : FULL_S;
    plan->io = (enum weir_io)a->io;
    plan->seed = a->seed;
}

/* --- the run --- */

static void on_progress(void *arg, const char *what, double part)
{
    struct probe *p = arg;

    snprintf(p->s.label, sizeof(p->s.label), "%s", what);
    wr_progress_set(&p->s.line, (uint64_t)(part * PARTS));
}

static int probe_work(void *call, weir_err *err)
{
    struct probe *p = call;

    p->plan.progress = on_progress;
    p->plan.progress_arg = p;
    p->plan.stopped = wr_interrupted;
    return wr_probe(&p->plan, &p->report, err);
}

static int write_profile(const struct probe *p, weir_err *err)
{
    const struct probe_args *a = p->s.args;
    struct wr_device_profile profile;
    char *text;
    int r;

    if (!a->profile)
        return 0;
    r = wr_probe_fit(&p->plan, &p->report, &profile, err);
    if (r < 0)
        return r;
    text = wr_device_profile_text(&profile);
    if (!text)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_record_write_text(text, a->profile, err);
    free(text);
    return r;
}

static json_t *probe_record(void *call)
{
    const struct probe *p = call;
    const struct wr_probe_record of = {.plan = &p->plan,
                                       .report = &p->report,
                                       .store = p->store,
                                       .monitor = &p->s.monitor};

    return wr_probe_record(&of);
}

static int probe_finish(void *call)
{
    const struct probe *p = call;
    weir_err err;

    return write_profile(p, &err) < 0 ? wr_cli_fail(p->s.cli, "%s", err.msg)
                                      : WR_EXIT_DONE;
}

static int probe_begin(void *call)
{
    struct probe *p = call;
    const struct probe_args *a = p->s.args;
    weir_err err;

    fill_plan(p);
    if (a->profile && wr_probe_fit_check(&p->plan, &err) < 0)
        return wr_cli_usage(p->s.cli, "--fit: %s", err.msg);
    if (a->dry_run && a->json)
        return wr_json_print(p->s.cli, wr_probe_plan_json(&p->plan));
    if (!a->json)
        probe_print_head(p->s.cli, &p->plan, p->store);
    if (a->dry_run)
        return probe_print_plan(p->s.cli, &p->plan, &err) < 0
                   ? wr_cli_fail(p->s.cli, "%s", err.msg)
                   : WR_EXIT_DONE;
    p->s.watched.store = p->store;
    return WR_GO_ON;
}

static void probe_done(void *call)
{
    struct probe *p = call;

    wr_probe_report_done(&p->report);
    wr_store_close(p->store);
}

static const struct wr_session_job job = {
    .call_bytes = sizeof(struct probe),
    .interrupted = "no result, and what was written is removed",
    .label = "probing",
    .total = PARTS,
    .monitor_hz = offsetof(struct probe_args, monitor_hz),
    WR_JOB_RECORD(struct probe_args),
    .prepare = probe_prepare,
    .open = probe_open,
    .begin = probe_begin,
    .work = probe_work,
    .record = probe_record,
    .finish = probe_finish,
    .done = probe_done};

static int replay_run(struct wr_cli *cli)
{
    const struct probe_args *a = cli->args;
    struct wr_replay_args replay = a->replay;

    if (a->profile)
        return wr_cli_usage(cli, "--fit: a replay measures no device");
    replay.record = a->record;
    return wr_probe_replay(
        cli, &replay, cli->operand_count ? cli->operands[0] : NULL, a->json);
}

static int probe_run(struct wr_cli *cli)
{
    const struct probe_args *a = cli->args;

    if (a->replay.trace)
        return replay_run(cli);
    if (!cli->operand_count)
        return wr_cli_usage(cli, "PATH is missing");
    return wr_session(cli, &job);
}

/* --- tables --- */

static const struct wr_choice group_choices[] = {
    {"seq", WR_PROBE_GROUP_SEQ, "sequential reads and writes"},
    {"random", WR_PROBE_GROUP_RANDOM, "random reads over sizes and depths"},
    {"mix", WR_PROBE_GROUP_MIX, "random reads of the sizes of samples"},
    {"files", WR_PROBE_GROUP_FILES, "small files: read and create"},
    {"sync", WR_PROBE_GROUP_SYNC, "how long a sync takes"},
    {NULL, 0, NULL}};

static const struct wr_choice access_choices[] = {
    {"both", WR_PROBE_BOTH, "big files directly, and a few tests buffered"},
    {"direct", WR_PROBE_DIRECT, "past the page cache (O_DIRECT)"},
    {"buffered", WR_PROBE_BUFFERED, "through it, dropped before each test"},
    {NULL, 0, NULL}};

static const struct wr_choice speed_choices[] = {
    {"traced", WR_REPLAY_TRACED, "as long as they were"},
    {"asap", WR_REPLAY_ASAP, "none"},
    {NULL, 0, NULL}};

#define A struct probe_args
static const struct wr_option options[] = {
    {WR_OPT_FLAG(A, quick), .name = "quick", .group = "What to measure",
     .help = "fewer and shorter tests: about 20 s instead of 3 minutes"},
    {WR_OPT_ENUM_LIST(A, only), .name = "only", .arg = "WHAT,...",
     .choices = group_choices, .def_note = "all of them",
     .help = "run only these groups of tests"},
    {WR_OPT_STRING(A, like), .name = "like", .arg = "DATASET",
     .def_note = "the sizes of ImageNet", .flags = WR_OPTION_PATH,
     .help = "give small files and the mix the sample sizes of this data set"},
    {WR_OPT_UINT_LIST(A, depth), .name = "depth", .letter = 'd', .arg = "N,...",
     .min = 1, .max = 4096, .def_note = "1 to 128",
     .help = "requests in flight per thread"},
    {WR_OPT_UINT_LIST(A, block), .name = "block", .arg = "SIZE,...", .min = 512,
     .max = 64 << 20, .def_note = "4KiB to 1MiB", .flags = WR_OPTION_BYTES,
     .help = "sizes of the random reads"},
    {WR_OPT_UINT_LIST(A, threads), .name = "threads", .old = "workers",
     .letter = 't', .arg = "N,...", .min = 1, .max = 256,
     .def_note = "1, for small files up to 8",
     .help = "threads that read or write at once"},
    {WR_OPT_ENUM(A, access), .name = "access", .arg = "HOW",
     .choices = access_choices, .def = "both",
     .help = "bypass the page cache or go through it"},

    {WR_OPT_STRING(A, file), .name = "file", .arg = "FILE",
     .flags = WR_OPTION_PATH, .group = "How",
     .help = "read this file instead of a fresh one: data written long ago "
             "show the disk's own speed, not that of a cache below it"},
    {WR_OPT_SIZE(A, file_size), .name = "file-size", .old = "size",
     .arg = "SIZE", .min = 1 << 20,
     .def_note = "4GiB, quick 512MiB, at most an eighth of the free space",
     .help = "size of the fresh big file"},
    {WR_OPT_UINT(A, files), .name = "files", .arg = "N", .min = 1,
     .max = 10000000, .def_note = "4000, quick 1000",
     .help = "how many small files"},
    {WR_OPT_UINT(A, passes), .name = "passes", .arg = "N", .min = 1, .max = 100,
     .def_note = "5, quick 3",
     .help = "passes over all tests; results are medians"},
    {WR_OPT_DOUBLE(A, seconds), .name = "seconds", .arg = "S", .min = 0.01,
     .max = 3600, .def_note = "0.6, quick 0.3",
     .help = "length of one test in one pass"},
    {WR_OPT_ENUM(A, io), .name = "io", .arg = "ENGINE",
     .choices = wr_io_choices, .def = "auto", .help = "I/O engine"},
    {WR_OPT_UINT(A, seed), .name = "seed", .arg = "N", .def = "0",
     .help = "seed of the random offsets and sizes"},
    {WR_OPT_FLAG(A, dry_run), .name = "dry-run",
     .help = "only print what would be done: tests, bytes and seconds"},
    WR_MONITOR_OPTION(A),

    {WR_OPT_STRING(A, replay.trace), .name = "replay", .arg = "TRACE",
     .flags = WR_OPTION_PATH, .group = "Replay",
     .help = "instead of the tests issue the requests of a trace (weir trace) "
             "on the files below PATH, or where they were traced"},
    {WR_OPT_ENUM(A, replay.speed), .name = "replay-speed", .arg = "HOW",
     .choices = speed_choices, .def = "traced",
     .help = "pauses between the requests of a thread"},
    {WR_OPT_FLAG(A, replay.writes), .name = "replay-writes",
     .help = "also write and sync, into files of a folder below PATH that is "
             "removed at the end"},
    {WR_OPT_STRING(A, replay.from), .name = "replay-from", .arg = "FOLDER",
     .flags = WR_OPTION_PATH, .def_note = "found by the files that are there",
     .help = "the traced folder whose files lie below PATH now"},

    {WR_OPT_RECORD(A), .group = "Results",
     .help = "write the record (JSON) to FILE"},
    {WR_OPT_OUTPUT(A, profile), .name = "fit", .old = "profile",
     .help = "fit a device profile, for emu: paths and weir mount"},
    {WR_OPT_FLAG(A, json), .name = "json",
     .help = "print the record instead of the tables"},
    WR_OPTIONS_END};
#undef A

static const struct wr_columns tables[] = {
    {"of the tests", wr_probe_test_columns + 1},
    {"of Saturation", wr_probe_depth_columns + 1},
    {NULL, NULL}};

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("PATH", WR_OPERAND_PATH | WR_OPERAND_OPTIONAL),
     .help = "a folder on the storage to measure; emu:PROFILE:FOLDER emulates "
             "a device; may be left out with --replay only"},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir probe /data --quick", "what the storage at /data can do, in 20 s"},
    {"weir probe /data --like photos -o disk.json",
     "all tests, small files sized as in 'photos', kept as a record"},
    {"weir probe /data --file /data/old.tar --only seq,random",
     "how fast data written long ago are read"},
    {"weir probe /data --only random --block 4KiB,128KiB -d 1,8,32",
     "random reads of two sizes at three depths"},
    {"weir probe /data --fit disk.profile",
     "a profile to emulate this disk elsewhere: emu:./disk.profile:/ssd/data"},
    {"weir probe --replay run.wtrace emu:hdd:/data",
     "how long a traced training's I/O would take on a hard disk"},
    {NULL, NULL}};

const struct wr_command wr_cmd_probe = {
    .name = "probe",
    .group = WR_GROUP_MEASURE,
    .summary = "measure what the storage at a path can do",
    .description =
        "Runs the storage tests that matter for deep learning: sequential "
        "reads and writes of 1 MiB, random reads over sizes and depths, the "
        "request sizes of a data set, many small files (opened, read, closed; "
        "created), and syncs. All tests are run in several passes. Results are "
        "medians; half of the passes are within '+-' of them. Latencies are "
        "over all passes.\n\n"
        "Everything is written to one folder below PATH, which is removed at "
        "the end, also after Ctrl-C. The page cache is kept out (direct "
        "requests, or pages dropped before a test), and the kernel is asked to "
        "confirm it. A cache below the kernel cannot be dropped: if the passes "
        "show one, the output says so.\n\n"
        "With --replay the requests of a traced program are issued instead, by "
        "one thread for each of its threads, and their times are put beside "
        "the traced ones. On an emulated device all that is computed, and "
        "takes "
        "no time. Nothing is written unless --replay-writes is given, and "
        "never "
        "into traced folders.",
    .operands = operands,
    .options = options,
    .args_size = sizeof(struct probe_args),
    .columns = tables,
    .examples = examples,
    .run = probe_run,
};
