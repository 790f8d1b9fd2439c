/* set_target.h - the folder of a data set, as it grows over several runs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Files are made in `.NAME.part` beside the folder NAME, under hidden names
 * until they are complete: what has its final name is whole. A run that is
 * killed leaves the part, and the next one of the same job goes on with it.
 * Committing renames the part to NAME. */
#ifndef WR_GEN_SET_TARGET_H
#define WR_GEN_SET_TARGET_H

#include <stdbool.h>

#include "storage/storage.h"

struct wr_set_target;

struct wr_set_target_config {
    const char *url; /* borrowed: of the folder; its parent must exist */
    const char *job; /* borrowed: text of the job file */
    bool force;      /* begin anew, and replace a data set that is there */
    bool lead;       /* this process makes and commits the part; others open
                        it once it is there */
};

/* WEIR_EEXIST: the folder is not empty, or the part is of another job;
 * WEIR_EBUSY: another run is at work on it. */
int wr_set_target_open(struct wr_set_target **ret,
                       const struct wr_set_target_config *cfg, weir_err *err);
void wr_set_target_close(struct wr_set_target *t); /* takes NULL; the part stays
                                                      if it was not committed */

/* Whether an earlier run of the same job had begun. */
bool wr_set_target_continues(const struct wr_set_target *t);

/* Bytes that may still be written; UINT64_MAX: not known. */
int wr_set_target_space(struct wr_set_target *t, uint64_t *ret, weir_err *err);

/* Makes a folder below it; one that is there is fine. */
int wr_set_target_mkdir(struct wr_set_target *t, const char *path,
                        weir_err *err);

/* Bytes of a complete file; 0: there is none, or it is empty. */
int wr_set_target_has(struct wr_set_target *t, const char *path, uint64_t *ret,
                      weir_err *err);

/* Begins a file under its hidden name; what a killed run left there is removed.
 * `done` closes it and gives it its name, or removes it where `ok` is false. Safe
 * from any thread. */
int wr_set_target_begin(struct wr_set_target *t, const char *path,
                        struct wr_object **ret, weir_err *err);
int wr_set_target_done(struct wr_set_target *t, const char *path,
                       struct wr_object *o, bool ok, weir_err *err);

/* Removes the part: nothing of it is to be continued. */
void wr_set_target_discard(struct wr_set_target *t);

/* Puts the folder in its place. */
int wr_set_target_commit(struct wr_set_target *t, weir_err *err);

#endif
