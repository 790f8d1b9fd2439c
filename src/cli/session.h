/* session.h - one run of a long command, from its arguments to its exit code.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What measures, makes or trains something does the same in turn: it looks at its
 * options, meets the other ranks, opens what it works on, says what it will do,
 * works under a progress line while the machine is watched, and gives a result or
 * says why there is none. A job has what is a command's own of that:
 *
 *     struct bench_call {
 *         struct wr_session s; // first
 *         ...
 *     };
 *     static const struct wr_session_job job = {.call_bytes = sizeof(struct bench_call),
 *                                       .label = "measuring", ...};
 *
 *     return wr_session(cli, &job); */
#ifndef WR_CLI_SESSION_H
#define WR_CLI_SESSION_H

#include <jansson.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "measure/accelerator.h"
#include "measure/monitor.h"
#include "weir/dataset.h"

#define WR_SESSION_LABEL 160
#define WR_GO_ON         (-1) /* instead of an enum wr_exit: nothing ends here */

/* What the hooks of a job may use; the command's own data follow it. */
struct wr_session {
    struct wr_cli *cli;               /* borrowed */
    const void *args;                 /* borrowed: cli->args */
    const struct wr_session_job *job; /* borrowed */
    struct wr_ranks ranks;
    weir_dataset *ds; /* owned; NULL: none, or another hook opened it */
    struct wr_monitor monitor;
    struct wr_monitor_spec watched;      /* besides where the data set lies */
    const char *paths[WR_SAMPLER_DISKS]; /* borrowed: of `watched` */
    struct wr_progress line;
    char label[WR_SESSION_LABEL]; /* of the line; changed by one thread */
};

enum wr_job_ranks {
    WR_JOB_ALONE, /* a process of its own, whatever started it */
    WR_JOB_RANKS, /* ranks meet before anything is opened */
    WR_JOB_LATER, /* they meet in a hook */
};

/* Hooks are called in this order, with the memory of the call; each but `work` may
 * be NULL. */
struct wr_session_job {
    /* Of the memory of a call, which is zeroed and begins with a struct
     * wr_session. */
    size_t call_bytes;
    enum wr_job_ranks ranks;
    bool not_there_is_usage; /* what is to be opened was named wrongly */
    /* What follows "interrupted: "; NULL: "no result". */
    const char *interrupted;
    /* The progress line: its first label (NULL: none), and what it counts. */
    const char *label, *unit;
    uint64_t total;
    bool bytes;
    /* Where the command's args have these; 0: they do not. `open` is a struct
     * wr_open_args: how the first operand is opened. */
    size_t open_args, monitor_hz, record_path, json;

    /* From the options alone: enum wr_exit ends the command. */
    int (*prepare)(void *call);
    /* On rank 0 and then on the others, which find what it made (an index). */
    int (*open)(void *call, weir_err *err);
    /* All is there: what is still wrong, and what will be done. */
    int (*begin)(void *call);
    int (*work)(void *call, weir_err *err);
    /* Says why there is no result; NULL: as ranks do (wr_ranks_failed). */
    int (*fail)(void *call, int code, const weir_err *err);
    /* What came out, on rank 0: shown, and written to a file that was named. */
    json_t *(*record)(void *call);
    /* Other results, and thresholds; on all ranks. Returns enum wr_exit. */
    int (*finish)(void *call);
    void (*done)(void *call);
};

/* Offsets of members that the args of most such commands have. */
#define WR_JOB_DATASET(args)                                                   \
    .open_args = offsetof(args, open), .monitor_hz = offsetof(args, monitor_hz)
#define WR_JOB_RECORD(args)                                                    \
    .record_path = offsetof(args, record), .json = offsetof(args, json)

/* Returns enum wr_exit. */
int wr_session(struct wr_cli *cli, const struct wr_session_job *job);

/* The disks behind this path are watched, too; NULL adds none. */
void wr_session_watch(struct wr_session *s, const char *path);

/* A callback of rooms: a remark, above the line. `s` is a struct wr_session. */
void wr_session_note(void *s, const char *text);

/* One that counts, and whose result says whether to stop. */
int wr_session_count(void *s, uint64_t done, uint64_t total);

/* --- watching the machine --- */

/* The row of an option table; the struct has a `double monitor_hz`. */
#define WR_MONITOR_OPTION(args)                                                \
    {                                                                          \
        .name = "monitor", WR_OPT_DOUBLE(args, monitor_hz), .arg = "HZ",       \
        .max = 1000, .def = "10",                                              \
        .help = "samples per second of disk, CPU and memory activity; "        \
                "0: none"                                                      \
    }

/* Starts it. It never fails a command: what cannot be watched is noted. */
void wr_monitor_watch(struct wr_monitor *m, const struct wr_cli *cli,
                      const struct wr_monitor_spec *spec);

/* That remark, of a monitor that was started otherwise. */
void wr_monitor_note(const struct wr_cli *cli, const weir_err *why);

/* --- opening a data set --- */

/* What the options below say; the args of a command have it as `open`. */
struct wr_open_args {
    const char *format, *root, *columns, *schema, *index_dir; /* NULL: not
                                                                given */
    bool index_cache, links;
};

/* The words of --format; whether it is one of them is said where the data set is
 * opened. */
extern const struct wr_choice wr_open_formats[];

/* The rows of an option table; `of` is whose format --format is. */
#define WR_OPEN_OPTIONS(args, of)                                              \
    {WR_OPT_STRING(args, open.format),                                         \
     .name = "format",                                                         \
     .arg = "FORMAT",                                                          \
     .choices = wr_open_formats,                                               \
     .def_note = "detected",                                                   \
     .help = "format of " of},                                                 \
        {WR_OPT_STRING(args, open.root),                                       \
         .name = "root",                                                       \
         .arg = "FOLDER",                                                      \
         .def_note = "the list's folder",                                      \
         .flags = WR_OPTION_PATH,                                              \
         .help = "folder that relative paths in a list file start from"},      \
        {WR_OPT_STRING(args, open.columns), .name = "columns",                 \
         .arg = "path=A,label=B",                                              \
         .def_note = "path and label, or the first two",                       \
         .help = "columns of a list file to use: names in its header, or "     \
                 "numbers from 1"},                                            \
        {WR_OPT_STRING(args, open.schema), .name = "schema",                   \
         .arg = "NAME=KIND[:DTYPE[:DIMS]],...", .def_note = "as detected",     \
         .help = "what a field is where the format cannot know: "              \
                 "x=tensor:u16:128x128x4, image=picture, text=bytes; "         \
                 "label=NAME: the field that is the label"},                   \
        {WR_OPT_STRING(args, open.index_dir),                                  \
         .name = "index-dir",                                                  \
         .arg = "FOLDER",                                                      \
         .def_note = "weir/index in the user's cache folder",                  \
         .flags = WR_OPTION_PATH,                                              \
         .help = "where indexes are kept and reopened"},                       \
        {WR_OPT_FLAG(args, open.links), .name = "links", .def = "yes",         \
         .help = "refuse a data set with symbolic links, which may lead "      \
                 "anywhere"},                                                  \
    {                                                                          \
        WR_OPT_FLAG(args, open.index_cache),                                   \
            .name = "index-cache", .def = "yes",                               \
            .help = "neither use nor write an index file"                      \
    }

/* Says why it could not be opened; returns the exit code, that of wrong usage
 * where the settings were to blame. */
int wr_cli_open_failed(const struct wr_cli *cli, const weir_err *err);

/* Ctrl-C ends it with WEIR_ECANCELED. */
int wr_cli_open(const struct wr_cli *cli, const char *url,
                const struct wr_open_args *a, weir_dataset **ret,
                weir_err *err);

/* What it is, and on what machine and storage: two lines. */
void wr_dataset_print(const struct wr_cli *cli, const weir_dataset *ds);

/* Notes what is odd about it, and the problems that indexing met. */
void wr_dataset_note_issues(const struct wr_cli *cli, const weir_dataset *ds);

/* What works on its batches; `batch` 0: of several sizes. */
void wr_accelerator_print(const struct wr_cli *cli,
                          const struct wr_accelerator *a, uint32_t batch);

#endif
