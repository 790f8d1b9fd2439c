/* ckpt_bench.c - weir ckpt bench: what saving costs, as text and as a record.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ckpt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/shown.h"
#include "base/units.h"
#include "cli/interrupt.h"
#include "cli/record_json.h"
#include "cli/session.h"
#include "cli/worker.h"
#include "measure/ckpt_bench.h"
#include "report/ckpt.h"
#include "storage/storage.h"

#define PARTS   1000 /* of the progress */
#define LOST_MS 500
#define LOST    99 /* exit code of the process that measures */

/* What the process that measures tells the one that the user sees. */
struct news {
    char what[64];
    double part, next, seconds;
};

struct bench {
    struct wr_session s;
    char *fast, *slow;      /* owned: URLs */
    struct wr_store *store; /* owned: below the fast one, for the record */
    struct wr_ckpt_load load;
    struct wr_ckpt_bench_plan plan;
    struct wr_ckpt_bench_report report;
    struct wr_child worker;
    struct news news; /* the last one, and when it came */
    uint64_t since;
};

static void on_progress(void *arg, const struct wr_ckpt_bench_step *step)
{
    const struct bench *b = arg;
    struct news n = {
        .part = step->part, .next = step->next, .seconds = step->seconds};

    snprintf(n.what, sizeof(n.what), "%s", step->what);
    wr_cli_work_tell(&b->worker, &n, sizeof(n));
}

/* With one folder both tiers are devices that are played in it. */
static void choose_places(struct bench *b)
{
    const struct ckpt_args *a = b->s.args;
    const char *first = wr_ckpt_cli_fast(b->s.cli);
    const char *second = wr_ckpt_cli_slow(b->s.cli);

    b->fast = second
                  ? wr_new_text(b->s.cli, "%s", first)
                  : wr_new_text(b->s.cli, "emu:%s:%s", a->fast_device, first);
    b->slow = second
                  ? wr_new_text(b->s.cli, "%s", second)
                  : wr_new_text(b->s.cli, "emu:%s:%s", a->slow_device, first);
}

static int open_folder(const char *url, struct wr_store **ret, weir_err *err)
{
    char *leaf = NULL;
    int r = wr_store_open(url, ret, &leaf, err);

    if (r == 0 && leaf) {
        wr_store_close(*ret);
        *ret = NULL;
        r = wr_fail(err, WEIR_EINVAL, "'%s': not a folder", url);
    }
    free(leaf);
    return r;
}

static int check_places(struct bench *b)
{
    struct wr_store *slow;
    weir_err err;

    if (open_folder(b->fast, &b->store, &err) < 0 ||
        open_folder(b->slow, &slow, &err) < 0)
        return wr_ranks_fail(&b->s.ranks, b->s.cli, err.msg);
    wr_store_close(slow);
    return WR_EXIT_DONE;
}

static void make_plan(struct bench *b)
{
    const struct ckpt_args *a = b->s.args;
    struct wr_ckpt_bench_plan *p = &b->plan;

    *p = (struct wr_ckpt_bench_plan){
        .fast = b->fast,
        .slow = b->slow,
        .load = &b->load,
        .warmups = (unsigned)a->warmups,
        .saves = (unsigned)a->saves,
        .interval_s = a->interval,
        /* Reading back is not what training waits for: only when asked. */
        .verify = wr_cli_given(b->s.cli, "verify") && a->verify,
        .restore = a->read_back,
        .progress = on_progress,
        .progress_arg = b,
    };
    for (int w = 0; w < WR_CKPT_WAYS; w++)
        p->ways[w] = !a->ways.count;
    for (size_t i = 0; i < a->ways.count; i++)
        p->ways[a->ways.v[i]] = true;
}

/* --- text --- */

/* "about 2:40 min", from what the devices are said to do. */
static void print_duration(const struct bench *b)
{
    double s = wr_ckpt_bench_expect(&b->plan);

    if (isnan(s))
        wr_cli_put(b->s.cli, "how long depends on the disks");
    else if (s < 60)
        wr_cli_put(b->s.cli, "about %.0f s", ceil(s));
    else
        wr_cli_put(b->s.cli, "about %.0f:%02.0f min", floor(s / 60),
                   floor(fmod(s, 60)));
}

static void print_head(const struct bench *b)
{
    const struct ckpt_args *a = b->s.args;
    unsigned ways = 0, each = b->plan.warmups + b->plan.saves;
    char size[32];

    for (int w = 0; w < WR_CKPT_WAYS; w++)
        ways += b->plan.ways[w];
    wr_cli_put(b->s.cli, "state: %s, %zu tensors, %s\nfast:  %s\nslow:  %s\n",
               wr_show_path(a->state).text, b->load.count,
               wr_format_bytes(size, sizeof(size), (double)b->load.bytes),
               wr_show_path(b->fast).text, wr_show_path(b->slow).text);
    if (wr_ranks_several(&b->s.ranks))
        wr_cli_put(b->s.cli, "ranks: %u, each saves such a state\n",
                   b->s.ranks.launch.world);
    wr_cli_put(b->s.cli, "saves: %u in each of %u way%s; ", each, ways,
               ways == 1 ? "" : "s");
    print_duration(b);
    wr_cli_put(b->s.cli, "\n");
}

static int give_results(struct bench *b)
{
    const struct ckpt_args *a = b->s.args;
    const struct wr_ckpt_record of = {.plan = &b->plan,
                                      .report = &b->report,
                                      .like = a->state,
                                      .store = b->store,
                                      .monitor = &b->s.monitor};
    weir_err err;

    return wr_cli_give_record(b->s.cli, wr_ckpt_record(&of), a->json, a->record,
                              &err) < 0
               ? wr_cli_fail(b->s.cli, "%s", err.msg)
               : WR_EXIT_DONE;
}

/* --- running --- */

static int fill_state(void *arg, weir_err *err)
{
    struct bench *b = arg;
    const struct ckpt_args *a = b->s.args;
    int r = wr_ckpt_load_fill(&b->load, err);

    return r < 0 ? wr_fail_prefix(err, r, "--state %s", a->state) : 0;
}

/* A save cannot be interrupted: the process that measures ends, and the one that
 * waits for it cleans up. */
static void on_lost(void *arg)
{
    struct bench *b = arg;
    const weir_err *why = &b->s.ranks.watch.why;

    /* After Ctrl-C the others' processes are killed, and soon this one. */
    wr_clock_sleep_until(wr_clock_ns() + LOST_MS * WR_NS_PER_MS);
    wr_cli_work_take_terminal(&b->worker);
    wr_ranks_failed(&b->s.ranks, b->s.cli, why->code, why);
    fflush(b->s.cli->err);
    _exit(LOST);
}

/* Meets the other ranks: here, for MPI does not like a process that forks. */
static int meet(struct bench *b, weir_err *err)
{
    weir_err why;
    int r;

    b->s.ranks.watch.on_lost = on_lost;
    b->s.ranks.watch.arg = b;
    r = wr_ranks_meet(&b->s.ranks, err);
    if (r < 0)
        return r;
    b->plan.comm = b->s.ranks.comm;
    b->plan.comm_url = b->s.ranks.launch.url;
    r = fill_state(b, &why);
    return wr_ranks_several(&b->s.ranks)
               ? wr_comm_agree(b->s.ranks.comm, r, &why, err)
           : r < 0 ? wr_fail_as(err, r, &why)
                   : 0;
}

/* In a process of its own. What it has to say waits until the end: the parent's
 * line is on the terminal. */
static int measure(void *arg)
{
    struct bench *b = arg;
    const struct ckpt_args *a = b->s.args;
    const struct wr_monitor_spec spec = {.hz = a->monitor_hz,
                                         .store = b->store};
    weir_err err, unwatched = {0};
    int r = meet(b, &err);

    if (r == 0) {
        wr_monitor_start(&b->s.monitor, &spec, &unwatched);
        r = wr_ckpt_bench(&b->plan, &b->report, &err);
        wr_monitor_stop(&b->s.monitor);
    }
    if (r == 0)
        wr_ranks_watch_stop(&b->s.ranks.watch); /* there is a result */
    wr_cli_work_take_terminal(&b->worker);
    if (unwatched.code < 0)
        wr_monitor_note(b->s.cli, &unwatched);
    if (r < 0)
        return wr_ranks_failed(&b->s.ranks, b->s.cli, r, &err);
    return wr_ranks_speaks(&b->s.ranks) ? give_results(b) : WR_EXIT_DONE;
}

/* How far it is by now: between two messages time goes on as expected. */
static double part_now(const struct news *n, double since_s)
{
    double of = n->seconds > 0 ? fmin(since_s / n->seconds, 0.98) : 0;

    return n->part + (n->next - n->part) * of;
}

static bool show_news(void *arg, struct wr_progress *line, const void *news)
{
    struct bench *b = arg;
    uint64_t now = wr_clock_ns();

    if (news) {
        b->news = *(const struct news *)news;
        b->since = now;
        snprintf(b->s.label, sizeof(b->s.label), "%s", b->news.what);
    }
    wr_progress_set(
        line, (uint64_t)(PARTS *
                         part_now(&b->news, (double)(now - b->since) * 1e-9)));
    return true;
}

/* What was killed has left its folders. */
static int end_early(struct bench *b, int how)
{
    weir_err err;
    int r = wr_ckpt_bench_clean(b->fast, b->slow, &err);

    if (wr_interrupted() && !wr_ranks_speaks(&b->s.ranks))
        return WR_EXIT_FAILED;
    if (r < 0)
        wr_cli_fail(b->s.cli, "what was written could not be removed: %s",
                    err.msg);
    if (how == LOST)
        return WR_EXIT_FAILED; /* it has been said */
    if (wr_interrupted())
        return wr_cli_fail(b->s.cli, "interrupted: no result%s",
                           r < 0 ? "" : ", and what was written is removed");
    return wr_ranks_several(&b->s.ranks)
               ? wr_cli_fail(b->s.cli,
                             "rank %u: the process that measured was ended by "
                             "%s",
                             b->s.ranks.launch.rank, strsignal(-how))
               : wr_cli_fail(b->s.cli,
                             "the process that measured was ended by %s",
                             strsignal(-how));
}

/* Saving happens in a child that can be killed in the middle of it. */
static int measure_apart(struct bench *b)
{
    const struct wr_work work = {
        .line = {.label = b->s.label, .total = PARTS, .at_once = true},
        .news = sizeof(b->news),
        .work = measure,
        .show = show_news};
    weir_err err;
    int code, r;

    snprintf(b->s.label, sizeof(b->s.label), "preparing");
    b->since = wr_clock_ns();
    r = wr_cli_work_run(&b->worker, b->s.cli, &work, b, &code, &err);
    if (r < 0)
        return wr_cli_fail(b->s.cli, "%s", err.msg);
    if (r == WR_WORK_CHILD)
        return code;
    return code < 0 || code == LOST || wr_interrupted() ? end_early(b, code)
                                                        : code;
}

static int bench_prepare(void *call)
{
    struct bench *b = call;
    const struct ckpt_args *a = b->s.args;
    weir_err err;
    int code;

    if (wr_ckpt_cli_slow(b->s.cli) && (wr_cli_given(b->s.cli, "fast-device") ||
                                       wr_cli_given(b->s.cli, "slow-device")))
        return wr_cli_usage(b->s.cli,
                            "bench: devices are emulated in one folder; with "
                            "two, give URLs: emu:hdd:FOLDER");
    choose_places(b);
    code = check_places(b);
    if (code != WR_EXIT_DONE)
        return code;
    if (wr_ckpt_load_shapes(a->state, (unsigned)a->moments, &b->load, &err) < 0)
        return wr_cli_fail(b->s.cli, "--state %s: %s", a->state, err.msg);
    make_plan(b);
    if (!a->json)
        print_head(b);
    return measure_apart(b);
}

static void bench_done(void *call)
{
    struct bench *b = call;

    wr_ckpt_bench_done(&b->report);
    wr_ckpt_load_done(&b->load);
    wr_store_close(b->store);
    free(b->fast);
    free(b->slow);
}

static const struct wr_session_job job = {.call_bytes = sizeof(struct bench),
                                          .ranks = WR_JOB_LATER,
                                          .prepare = bench_prepare,
                                          .done = bench_done};

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("FOLDER", WR_OPERAND_PATH),
     .help = "where to save; with one folder both tiers are emulated devices "
             "in it, with two this is the fast tier"},
    {WR_ARGUMENT("SLOW", WR_OPERAND_PATH | WR_OPERAND_OPTIONAL),
     .help = "the slow tier"},
    {.name = NULL}};

static const char *const options[] = {
    "state", "moments",     "saves",       "warmups",   "interval",
    "ways",  "fast-device", "slow-device", "read-back", "verify",
    "json",  "monitor",     "record",      NULL};

static const struct wr_columns tables[] = {
    {"medians of the saves that count; '-': not part of this way",
     wr_ckpt_case_columns},
    {NULL, NULL}};

static const struct wr_help_example examples[] = {
    {"weir ckpt bench /data",
     "the paper's experiment on an emulated Optane and hard disk"},
    {"weir ckpt bench /nvme /lustre -o ckpt.json", "the same on real ones"},
    {"weir ckpt bench /data --state small --saves 2", "a quick look"},
    {"mpirun -n 4 weir ckpt bench /nvme /lustre",
     "four processes save at the same time, one result"},
    {NULL, NULL}};

const struct wr_action wr_ckpt_action_bench = {
    .name = "bench",
    .summary = "measure how long saving stops training, in four ways",
    .description =
        "Saves a state several times directly to the slow tier, directly to "
        "the fast one, through the burst buffer (durable on the fast tier, "
        "drained in the background), and with a snapshot that is written in "
        "the background, and shows how long training stops. Everything it "
        "writes is removed at the end, also after Ctrl-C.\n\n"
        "Under mpirun, srun or torchrun each rank saves such a state of its "
        "own into one store, at the same time; a save takes as long as that "
        "of the slowest rank. An emulated device is then one per rank.",
    .operands = operands,
    .options = options,
    .columns = tables,
    .examples = examples,
    .failed = "A save or a restore failed, or was interrupted: no result.",
    .ranks = WR_RANKS_ALL,
    .job = &job,
};
