/* sink.h - a data set in the making: a folder that appears whole.
 * SPDX-License-Identifier: Apache-2.0
 *
 * `.NAME.part` beside the folder NAME holds a job file (what was asked for),
 * files under their final names (complete) and hidden ones (not yet). A run that
 * is killed leaves it, and the next one of the same job goes on with it. The job
 * file stays in the finished folder: it tells what was asked for and what was
 * made of it (made.h), so that nothing else is ever replaced. */
#ifndef WR_DATASET_SINK_H
#define WR_DATASET_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/storage.h"

/* Who makes data sets: a const row for each generator, and the converter. */
struct wr_sink_maker {
    const char *command;  /* for messages: "weir convert" */
    const char *job_file; /* ".weir-convert" */
    const char *comment;  /* what begins a line that is added to a job */
    const char *replaces; /* what --force replaces */
    const char *other;    /* what a part of another job is, and what drops it */
    /* Patterns of the files' names, NULL after the last: a message names a file
     * that has no such name. NULL: they can have any. */
    const char *const *files;
    bool synced; /* what is complete is on the medium */
};

struct wr_sink_config {
    const struct wr_sink_maker *maker; /* borrowed, static */
    const char *url;                   /* borrowed until close: of the folder */
    const char *job; /* the same: text that must be equal to go on */
    bool force;      /* replace a finished folder of the maker */
    bool restart;    /* drop what an earlier run left */
    bool follows;    /* another process has made the part, and commits it */
    /* For tests: called before each change, from any thread; a return other
     * than 0 is what the change fails with. May be NULL. */
    int (*step)(void *arg);
    void *step_arg;
};

struct wr_sink;

/* Makes the part, or takes one that an earlier run of the same job left; files
 * that were not complete are removed from it. WEIR_EEXIST: something is there
 * that is not to be replaced; WEIR_ESTATE: the part is of another job;
 * WEIR_EBUSY: another run is at work on it. */
int wr_sink_open(struct wr_sink **ret, const struct wr_sink_config *cfg,
                 weir_err *err);

/* Without commit the part stays for the next run, unless `drop`: then all of it
 * is removed. Takes NULL. */
void wr_sink_close(struct wr_sink *s, bool drop);

/* Puts the folder in its place: all in it is complete. Hidden files but the job
 * are removed first. */
int wr_sink_commit(struct wr_sink *s, weir_err *err);

/* Whether there may be files of an earlier run, or of another process. */
bool wr_sink_resumes(const struct wr_sink *s);

/* Removes files that are not complete. */
int wr_sink_sweep(struct wr_sink *s, weir_err *err);

/* Bytes that may still be written; UINT64_MAX: not known. */
int wr_sink_space(struct wr_sink *s, uint64_t *ret, weir_err *err);

/* The absolute path of the committed folder; false when it has none or it does
 * not fit. */
bool wr_sink_local_path(const struct wr_sink *s, char *buf, size_t cap);

/* --- files in it; paths are below it; any thread --- */

/* Begins a file under a hidden name; what a killed run left there is removed. It
 * is written with wr_sink_write; `end` closes it and gives it its name, or
 * removes it where `ok` is false. */
int wr_sink_begin(struct wr_sink *s, const char *path, struct wr_object **ret,
                  weir_err *err);
int wr_sink_write(struct wr_sink *s, struct wr_object *o, const void *bytes,
                  size_t len, uint64_t offset, weir_err *err);
int wr_sink_end(struct wr_sink *s, const char *path, struct wr_object *o,
                bool ok, weir_err *err);

/* A whole small file. `bare`: it has its name from the first byte on, and
 * something else says later that it is complete. */
int wr_sink_put(struct wr_sink *s, const char *path, const void *bytes,
                size_t len, weir_err *err);
int wr_sink_put_bare(struct wr_sink *s, const char *path, const void *bytes,
                     size_t len, weir_err *err);

/* Bytes of a complete file, or a negative WEIR_E... (WEIR_ENOENT: it is not
 * there). */
int64_t wr_sink_size(struct wr_sink *s, const char *path, weir_err *err);
int wr_sink_slurp(struct wr_sink *s, const char *path, char **ret,
                  size_t *ret_len, weir_err *err);

/* A folder that is there already is fine. */
int wr_sink_mkdir(struct wr_sink *s, const char *path, weir_err *err);
/* Syncs all folders below it, of makers whose data sets are. */
int wr_sink_sync_folders(struct wr_sink *s, weir_err *err);

#endif
