/* stage.h - the folder in the making: kept between runs, then renamed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * `.NAME.part` beside NAME holds a job file (what was asked for), files under
 * their final names (complete and synced) and hidden ones (not yet). A job
 * file stays in the finished folder: it tells what was asked for and what was
 * made of it, so that nothing else is replaced (made.h). */
#ifndef WR_CONVERT_STAGE_H
#define WR_CONVERT_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/storage.h"

#define WR_STAGE_JOB    ".weir-convert"
#define WR_STAGE_HIDDEN ".tmp-" /* names of files that are not complete */

struct wr_stage;

struct wr_stage_config {
    const char *target; /* borrowed until close: URL */
    const char *job;    /* the same: lines that must be equal to go on */
    bool force, restart;
    int (*step)(void *arg); /* as wr_convert_config.step */
    void *step_arg;
};

/* Makes the staging folder, or takes one that an earlier run of the same job
 * left; files that were not complete are removed from it. */
int wr_stage_open(struct wr_stage **ret, const struct wr_stage_config *cfg,
                  weir_err *err);

/* Without commit the folder stays for the next run, unless `drop`: then all
 * of it is removed. Takes NULL. */
void wr_stage_close(struct wr_stage *st, bool drop);

/* Puts the folder in its place: all in it is complete. Hidden files but the
 * job are removed first. */
int wr_stage_commit(struct wr_stage *st, weir_err *err);

/* Removes files that are not complete. */
int wr_stage_sweep(struct wr_stage *st, weir_err *err);

/* The name of the staging folder, beside the target. */
const char *wr_stage_name(const struct wr_stage *st);

/* --- files in it; paths are below it; any thread --- */

/* Bytes of the file, or a negative WEIR_E... (not there: WEIR_ENOENT). */
int64_t wr_stage_size(struct wr_stage *st, const char *path);
/* A new file; one that is there is replaced. */
int wr_stage_create(struct wr_stage *st, const char *path,
                    struct wr_object **ret, weir_err *err);
int wr_stage_write(struct wr_stage *st, struct wr_object *o, const void *bytes,
                   size_t len, uint64_t offset, weir_err *err);
/* Syncs and closes; the object is gone in any case. */
int wr_stage_sync(struct wr_stage *st, struct wr_object *o, weir_err *err);
int wr_stage_rename(struct wr_stage *st, const char *path, const char *to,
                    weir_err *err);
int wr_stage_remove(struct wr_stage *st, const char *path, weir_err *err);
/* A folder that is there already is fine. */
int wr_stage_mkdir(struct wr_stage *st, const char *path, weir_err *err);
/* A whole small file, complete and synced or not there at all. */
int wr_stage_put(struct wr_stage *st, const char *path, const void *bytes,
                 size_t len, weir_err *err);
int wr_stage_slurp(struct wr_stage *st, const char *path, char **ret,
                   size_t *ret_len, weir_err *err);
int wr_stage_list(struct wr_stage *st, const char *path, wr_list_fn fn,
                  void *arg, weir_err *err);
/* Syncs the folder itself. */
int wr_stage_sync_dir(struct wr_stage *st, const char *path, weir_err *err);

#endif
