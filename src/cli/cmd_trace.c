/* cmd_trace.c - weir trace: records what a command does with its files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/session.h"
#include "cli/progress.h"
#include "cli/report_trace.h"
#include "cli/trace_args.h"
#include "cli/trace_program.h"
#include "comm/launch.h"
#include "result/record.h"
#include "trace/collect/collect.h"
#include "trace/collect/orphans.h"
#include "trace/facts.h"
#include "trace/workload.h"

#define ROUND_MS 50
#define QUICK_MS 5 /* with --kernel: its rings are full sooner */
#define LIVE_NS  (500 * WR_NS_PER_MS)
#define GRACE_MS 200 /* for processes that outlive the command a little */

/* --- the live line --- */

struct live_line {
    bool wanted, is_terminal, shown;
    uint64_t next_ns, last_ns;
    struct wr_collect_sum last;
};

static void live_print(struct live_line *l, const struct wr_cli *cli,
                       const struct wr_collect_sum *now, double seconds)
{
    char files[32], ops[32], text[256];

    snprintf(text, sizeof(text),
             "read %.1f MB/s, written %.1f MB/s, %s files, %s operations/s",
             (double)(now->bytes_read - l->last.bytes_read) / 1e6 / seconds,
             (double)(now->bytes_written - l->last.bytes_written) / 1e6 /
                 seconds,
             wr_format_count(files, sizeof(files), now->data_files),
             wr_format_count(
                 ops, sizeof(ops),
                 (uint64_t)((double)(now->operations - l->last.operations) /
                            seconds)));
    wr_progress_live(cli, text, l->is_terminal);
}

static void live_update(struct live_line *l, const struct wr_cli *cli,
                        const struct wr_collect *c)
{
    uint64_t now_ns = wr_clock_ns();
    struct wr_collect_sum now;

    if (!l->wanted || now_ns < l->next_ns)
        return;
    wr_collect_sum(c, &now);
    if (l->last_ns)
        live_print(l, cli, &now, (double)(now_ns - l->last_ns) / 1e9);
    l->shown = l->last_ns != 0;
    l->last = now;
    l->last_ns = now_ns;
    l->next_ns = now_ns + LIVE_NS;
}

static void live_end(const struct live_line *l, const struct wr_cli *cli)
{
    if (l->shown && l->is_terminal)
        wr_progress_live(cli, "", true);
}

/* --- where the trace goes --- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The name with the rank in it: for '%r', or in front of the extension. */
static void name_of_rank(const char *name, uint32_t rank, char *buf, size_t cap)
{
    const char *mark = strstr(name, "%r"), *base = base_name(name);
    const char *dot = strrchr(base, '.');
    size_t len = mark                ? (size_t)(mark - name)
                 : dot && dot > base ? (size_t)(dot - name)
                                     : strlen(name);

    snprintf(buf, cap, "%.*s%s%u%s", (int)len, name, mark ? "" : ".", rank,
             name + len + (mark ? 2 : 0));
}

/* The working directory, which need not be named; where it cannot be written,
 * that for temporary files: the command runs all the same. */
static void default_folder(char *buf, size_t cap)
{
    const char *tmp = getenv("TMPDIR");

    buf[0] = '\0';
    if (access(".", W_OK) < 0)
        snprintf(buf, cap, "%s/", tmp && *tmp ? tmp : "/tmp");
}

static void choose_name(const struct wr_cli *cli, char *buf, size_t cap)
{
    const struct trace_args *a = cli->args;
    char folder[PATH_MAX];

    if (a->record) {
        snprintf(buf, cap, "%s", a->record);
        return;
    }
    default_folder(folder, sizeof(folder));
    snprintf(buf, cap, "%s%.100s-%d.wtrace", folder,
             base_name(cli->operands[0]), (int)getpid());
}

/* A job whose ranks are told by RANK and WORLD_SIZE alone is one, too: that is
 * what the trace records. */
static void find_launch(struct wr_launch *l)
{
    const char *rank = getenv("RANK"), *world = getenv("WORLD_SIZE");

    if (wr_launch_find(l, NULL) < 0)
        *l = (struct wr_launch){.world = 1};
    if (l->world == 1 && rank && world && atoi(world) > 1 && atoi(rank) >= 0) {
        l->rank = (uint32_t)atoi(rank);
        l->world = (uint32_t)atoi(world);
    }
}

/* Each rank of a job has a file of its own. */
static void choose_output(const struct wr_cli *cli,
                          const struct wr_launch *launch, char *buf, size_t cap)
{
    char name[PATH_MAX];

    choose_name(cli, name, sizeof(name));
    if (launch->world > 1 || strstr(name, "%r"))
        name_of_rank(name, launch->rank, buf, cap);
    else
        snprintf(buf, cap, "%s", name);
}

static void note_orphan(void *arg, const char *text)
{
    wr_cli_note(arg, "%s", text);
}

/* A file that is opened must not become one of the program's first three. */
static void fill_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", O_RDWR | O_CLOEXEC) != fd)
            return;
}

/* --- the end --- */

static double share(uint64_t seen, uint64_t all)
{
    return all && seen < all ? 100.0 * (double)(all - seen) / (double)all : 0;
}

static void note_losses(const struct wr_cli *cli,
                        const struct wr_collect_sum *s)
{
    char n[32];

    if (s->lost_events)
        wr_cli_note(cli,
                    "%s events were counted and not kept: over the budget "
                    "(--budget), or faster than they could be written",
                    wr_format_count(n, sizeof(n), s->lost_events));
    if (s->lost_names)
        wr_cli_note(cli, "%s file names are missing",
                    wr_format_count(n, sizeof(n), s->lost_names));
    if (s->nested_events)
        wr_cli_note(cli, "%s calls of signal handlers are missing",
                    wr_format_count(n, sizeof(n), s->nested_events));
    if (s->bad_records)
        wr_cli_note(cli,
                    "%s records were overwritten by the program itself, and "
                    "are left out",
                    wr_format_count(n, sizeof(n), s->bad_records));
    if (s->unseen_processes)
        wr_cli_note(cli, "%s processes could not be traced: no memory left",
                    wr_format_count(n, sizeof(n), s->unseen_processes));
    if (s->still_running)
        wr_cli_note(cli, "%s processes still run, no longer traced",
                    wr_format_count(n, sizeof(n), s->still_running));
}

static void note_rings(const struct wr_cli *cli, const struct wr_collect_sum *s)
{
    char all[32], n[32];

    wr_format_count(all, sizeof(all), s->uring_requests);
    if (s->uring_requests && !s->by_kernel)
        wr_cli_note(cli,
                    "io_uring: %s requests, of which only the number is known "
                    "(--kernel shows them)",
                    all);
    else if (s->uring_requests)
        wr_cli_note(cli, "io_uring: %s requests, %s of them on files", all,
                    wr_format_count(n, sizeof(n), s->uring_seen));
    if (s->uring_unnamed)
        wr_cli_note(cli,
                    "io_uring: of %s requests on registered files it is not "
                    "known which file it was",
                    wr_format_count(n, sizeof(n), s->uring_unnamed));
    if (s->uring_unseen)
        wr_cli_note(cli, "io_uring: the end of %s requests was not seen",
                    wr_format_count(n, sizeof(n), s->uring_unseen));
}

/* What --kernel saw, and what it could not see. */
static void note_kernel(const struct wr_cli *cli,
                        const struct wr_collect_sum *s)
{
    char n[32];

    wr_cli_note(cli, "the kernel's tracepoints gave %s of the events",
                wr_format_count(n, sizeof(n), s->kernel_events));
    if (s->lost_records)
        wr_cli_note(cli,
                    "%s of the kernel's records are lost: they came faster "
                    "than they could be read",
                    wr_format_count(n, sizeof(n), s->lost_records));
    if (s->unnamed_files)
        wr_cli_note(cli, "%s file names could not be found%s",
                    wr_format_count(n, sizeof(n), s->unnamed_files),
                    s->names_by_proc
                        ? " (without BPF they come from /proc, which forgets "
                          "a file when it is closed)"
                        : "");
    if (s->foreign_processes)
        wr_cli_note(cli, "%s programs of 32 bits are not seen",
                    wr_format_count(n, sizeof(n), s->foreign_processes));
}

static void note_sum(const struct wr_cli *cli, const struct wr_collect_sum *s,
                     const char *path)
{
    char events[32], files[32], processes[32], in[32], out[32];

    if (!s->processes)
        wr_cli_note(cli,
                    "nothing was traced: the program is static, or may not be "
                    "preloaded (setuid)%s",
                    s->by_kernel ? "" : "; --kernel shows such programs");
    wr_cli_note(cli,
                "%s events of %s process%s, %s data files: read %s, "
                "written %s",
                wr_format_count(events, sizeof(events), s->events),
                wr_format_count(processes, sizeof(processes), s->processes),
                s->processes == 1 ? "" : "es",
                wr_format_count(files, sizeof(files), s->data_files),
                wr_format_bytes(in, sizeof(in), (double)s->data_read),
                wr_format_bytes(out, sizeof(out), (double)s->data_written));
    if (s->kernel_read)
        wr_cli_note(
            cli,
            "unseen: %.1f%% of the %s that the kernel counted as read, "
            "%.1f%% of the %s written",
            share(s->matched_read, s->kernel_read),
            wr_format_bytes(in, sizeof(in), (double)s->kernel_read),
            share(s->matched_written, s->kernel_written),
            wr_format_bytes(out, sizeof(out), (double)s->kernel_written));
    note_rings(cli, s);
    note_losses(cli, s);
    if (s->by_kernel)
        note_kernel(cli, s);
    wr_cli_note(cli, "the trace is in %s", path);
}

/* What the trace says, behind the output of the command itself. */
static void print_report(const struct wr_cli *cli, const char *path)
{
    const struct wr_doc_text_style style = {.width = cli->width,
                                            .utf8 = cli->utf8,
                                            .whole = !isatty(fileno(cli->err))};
    weir_err err;

    if (!cli->quiet &&
        wr_report_trace_text(path, NULL, style, cli->err, &err) < 0)
        wr_cli_note(cli, "%s", err.msg);
}

/* --- the run --- */

static void serve(struct wr_cli *cli, struct wr_program *p,
                  struct wr_collect *c)
{
    const struct trace_args *a = cli->args;
    struct live_line live = {.wanted = a->live,
                             .is_terminal = isatty(fileno(cli->err))};
    uint64_t until;

    while (!wr_program_wait(p, a->kernel ? QUICK_MS : ROUND_MS)) {
        wr_collect_drain(c);
        live_update(&live, cli, c);
    }
    wr_collect_zombie(c, p->child.pid);
    until = wr_clock_ns() + GRACE_MS * WR_NS_PER_MS;
    do {
        wr_collect_drain(c);
    } while (wr_collect_running(c) && wr_clock_ns() < until &&
             usleep(5000) == 0);
    live_end(&live, cli);
}

/* The command with the NULL that exec wants. */
static char **command_of(const struct wr_cli *cli)
{
    char **argv = wr_new(cli, cli->operand_count + 1, sizeof(*argv));

    memcpy(argv, cli->operands, cli->operand_count * sizeof(*argv));
    return argv;
}

/* Its record; NULL: none. */
static char *end_monitor(struct wr_monitor *m)
{
    json_t *record = json_object();
    char *text = NULL;

    wr_monitor_stop(m);
    if (record && wr_monitor_record(m, record) == 0)
        text = json_dumps(record, JSON_COMPACT);
    json_decref(record);
    wr_monitor_free(m);
    return text;
}

static int run_traced(struct wr_cli *cli, struct wr_trace_facts *facts,
                      struct wr_collect *c, const struct wr_launch *launch,
                      const char *output)
{
    const struct trace_args *a = cli->args;
    char **argv = command_of(cli);
    uint64_t start = wr_clock_ns();
    struct wr_collect_sum sum;
    struct wr_monitor monitor;
    struct wr_program p;
    char library[PATH_MAX];
    weir_err err;
    int e = 0, status = 0, code;

    int r = wr_program_library(library, &err);

    if (r == 0)
        r = wr_program_start(&p, argv, wr_collect_folder(c), library, &err);
    free(argv);
    if (r == 0 && a->kernel &&
        (r = wr_collect_kernel(c, p.child.pid, &err)) < 0) {
        wr_program_cancel(&p);
        wr_fail_prefix(&err, r, "--kernel");
    }
    if (r < 0) {
        wr_collect_close(c, &facts->info, &sum, NULL);
        unlink(output);
        return wr_cli_fail(cli, "%s", err.msg);
    }
    wr_monitor_watch(&monitor, cli, &(struct wr_monitor_spec){.hz = 10});
    wr_collect_faults(c, p.child.pid); /* else their number is known */
    e = wr_program_go(&p);
    serve(cli, &p, c);
    status = wr_program_reap(&p);
    wr_collect_status(c, p.child.pid, status);
    wr_trace_facts_end(facts, end_monitor(&monitor), wr_clock_ns() - start);
    code = wr_program_code(status);
    if (wr_collect_close(c, &facts->info, &sum, &err) < 0)
        wr_cli_note(cli, "the trace is not complete: %s", err.msg);
    if (e) {
        unlink(output);
        wr_cli_fail(cli, "'%s': %s", cli->operands[0], strerror(e));
        return wr_program_exec_code(e);
    }
    if (launch->world == 1)
        print_report(cli, output);
    if (launch->rank == 0)
        note_sum(cli, &sum, output);
    else
        note_losses(cli, &sum);
    if (launch->world > 1 && launch->rank == 0)
        wr_cli_note(cli,
                    "this is rank 0 of %u, and each has a trace of its own: "
                    "weir trace merge ALL.wtrace FILE... joins them",
                    launch->world);
    return code;
}

static int run_untraced(struct wr_cli *cli, const char *why)
{
    char **argv = command_of(cli);
    int e;

    wr_cli_note(cli, "%s: the command runs without another trace", why);
    fflush(cli->err);
    e = wr_program_become(argv);
    free(argv);
    wr_cli_fail(cli, "'%s': %s", cli->operands[0], strerror(e));
    return wr_program_exec_code(e);
}

/* Instead of a run: what an earlier trace says, for weir run. */
static int write_workload(struct wr_cli *cli)
{
    const struct trace_args *a = cli->args;
    struct wr_trace_file *f = NULL;
    char *text = NULL;
    weir_err err;
    int r;

    if (cli->operand_count > 1)
        return wr_cli_usage(cli, "--to-workload writes one file");
    r = wr_trace_file_open(&f, a->to_workload, &err);
    if (r == 0 && wr_trace_file_damage(f))
        wr_cli_note(cli, "'%s': %s", a->to_workload, wr_trace_file_damage(f));
    if (r == 0)
        r = wr_traced_workload(f, a->to_workload, &text, &err);
    if (r == 0 && cli->operand_count)
        r = wr_record_write_text(text, cli->operands[0], &err);
    else if (r == 0)
        wr_cli_put(cli, "%s", text);
    free(text);
    wr_trace_file_close(f);
    return r < 0 ? wr_cli_fail(cli, "%s", err.msg) : WR_EXIT_DONE;
}

static int trace_command(struct wr_cli *cli)
{
    const struct trace_args *a = cli->args;
    const char *nested = getenv("WEIR_TRACE");
    const char *disabled = getenv("WEIR_TRACE_DISABLE");
    struct wr_trace_facts facts;
    struct wr_collect_config cfg;
    struct wr_launch launch;
    struct wr_collect *c;
    char output[PATH_MAX], folder[PATH_MAX];
    weir_err err;
    int code;

    if (disabled && *disabled)
        return run_untraced(cli, "WEIR_TRACE_DISABLE is set");
    if (nested && *nested)
        return run_untraced(cli, "this is a traced program already");
    fill_streams();
    find_launch(&launch);
    choose_output(cli, &launch, output, sizeof(output));
    wr_trace_facts_begin(
        &facts, cli->operands,
        a->anonymous || a->no_arguments ? 1 : cli->operand_count, a->anonymous);
    default_folder(folder, sizeof(folder));
    wr_orphans_save(&(struct wr_orphans){
        .prefix = folder, .info = &facts.info, .say = note_orphan, .arg = cli});
    cfg = (struct wr_collect_config){.output = output,
                                     .info = &facts.info,
                                     .budget_bytes = a->budget,
                                     .anonymous = a->anonymous,
                                     .no_arguments = a->no_arguments};
    if (wr_collect_open(&c, &cfg, &err) < 0)
        code = wr_cli_fail(cli, "%s", err.msg);
    else
        code = run_traced(cli, &facts, c, &launch, output);
    wr_trace_facts_free(&facts);
    return code;
}

static int trace_run(struct wr_cli *cli)
{
    const struct trace_args *a = cli->args;

    if (wr_cli_given(cli, "align"))
        return wr_cli_usage(cli, "--align is for weir trace merge");
    if (a->to_workload)
        return write_workload(cli);
    if (!cli->operand_count)
        return wr_cli_usage(cli, "COMMAND is missing");
    return trace_command(cli);
}

static const struct wr_choice align_choices[] = {
    {"auto", WR_MERGE_AUTO,
     "by the wall clocks; an error if they say that the runs were apart"},
    {"wall", WR_MERGE_WALL, "by the wall clocks, whatever they say"},
    {"start", WR_MERGE_START, "all began at one moment"},
    {NULL, 0, NULL}};

static const struct wr_option options[] = {
    {WR_OPT_STRING(struct trace_args, record), .name = "record", .letter = 'o',
     .arg = "FILE", .flags = WR_OPTION_PATH, .def_note = "COMMAND-PID.wtrace",
     .help =
         "the trace; it must not exist. Under mpirun, srun or torchrun each "
         "rank writes its own: the rank takes the place of '%r', or stands "
         "in front of the extension"},
    {WR_OPT_FLAG(struct trace_args, live), .name = "live",
     .help = "show what the command reads and writes while it runs"},
    {WR_OPT_FLAG(struct trace_args, kernel), .name = "kernel",
     .help = "also record what the preloaded library cannot see: static and Go "
             "programs, system calls past the C library, requests of io_uring; "
             "by the kernel's tracepoints, which root may use"},
    {WR_OPT_FLAG(struct trace_args, anonymous), .name = "anonymous",
     .help = "write hashes instead of the names of files, and no arguments"},
    {WR_OPT_FLAG(struct trace_args, no_arguments), .name = "no-arguments",
     .help = "write of each process its program, and not the arguments; query "
             "strings of URLs are never written"},
    {WR_OPT_SIZE(struct trace_args, budget), .name = "budget", .arg = "SIZE",
     .def = "512MiB", .min = 65536,
     .help = "memory for the events of one process; beyond it files are still "
             "counted exactly, but only one event in 64 is kept"},
    {WR_OPT_STRING(struct trace_args, to_workload), .name = "to-workload",
     .arg = "TRACE", .flags = WR_OPTION_PATH,
     .help = "run nothing: write what an earlier trace did as a description "
             "for weir run into the file that follows, or to stdout"},
    {WR_OPT_ENUM(struct trace_args, align), .name = "align", .arg = "HOW",
     .choices = align_choices, .def = "auto", .group = "merge",
     .help = "how the clocks of the traces are brought together"},
    WR_OPTIONS_END};

static const struct wr_action *const actions[] = {&wr_trace_action_merge, NULL};

static const struct wr_operand operands[] = {
    {WR_ARGUMENT("COMMAND", WR_OPERAND_MANY | WR_OPERAND_OPTIONAL),
     .help = "the program and its arguments, behind '--'"},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir trace -- python3 train.py --epochs 2",
     "trace a training script with all its workers"},
    {"weir trace --live -o run.wtrace -- ./train.sh",
     "the same, watched, into a file of your choice"},
    {"weir trace --to-workload run.wtrace mine.yaml",
     "what it did as a description: weir run mine.yaml"},
    {"mpirun -n 4 weir trace -o job.%r.wtrace -- python3 train.py",
     "a trace of each rank"},
    {"weir trace merge job.wtrace job.?.wtrace", "and one of the whole job"},
    {NULL, NULL}};

const struct wr_command wr_cmd_trace = {
    .name = "trace",
    .group = WR_GROUP_MEASURE,
    .summary = "record what a command does with its files",
    .description =
        "Runs COMMAND with a library preloaded that records each call on "
        "files: of the program and of all processes that it starts, in one "
        "trace. The command keeps its terminal, its signals and its exit code "
        "(128 + n after signal n). A program that crashes or is killed loses "
        "nothing of what it had recorded.\n\n"
        "Programs that are linked statically or run as another user are not "
        "seen, nor are requests of io_uring except for their number, unless "
        "--kernel asks the kernel for them; at the end the share of bytes is "
        "printed that the kernel has counted and the trace has not.\n\n"
        "'weir trace merge OUT IN...' joins the traces of several ranks or "
        "hosts into one; a program of that name is traced behind '--'.",
    .operands = operands,
    .options = options,
    .args_size = sizeof(struct trace_args),
    .actions = actions,
    .examples = examples,
    .ranks = WR_RANKS_ALL,
    .run = trace_run,
};
