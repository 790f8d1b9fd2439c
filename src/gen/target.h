/* target.h - a folder that appears whole or not at all.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Files are written into `.NAME.part` beside the folder NAME; committing
 * renames it, discarding removes it. */
#ifndef WR_GEN_TARGET_H
#define WR_GEN_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "storage/storage.h"

struct wr_gen_target;

/* Makes the part for `url`, whose parent must exist. The folder
 * itself must not exist or be empty, unless `force`: then one that holds
 * nothing but what generators make is replaced on commit, and a part
 * that was left over is removed if it holds nothing else either. */
int wr_gen_target_open(struct wr_gen_target **ret, const char *url, bool force,
                       weir_err *err);

/* Makes a folder or a new file below it. Safe from any thread. The object is
 * the caller's to close. */
int wr_gen_target_mkdir(struct wr_gen_target *t, const char *path,
                        weir_err *err);
int wr_gen_target_create(struct wr_gen_target *t, const char *path,
                         struct wr_object **ret, weir_err *err);

/* A whole new file in one go. Safe from any thread. */
int wr_gen_target_write(struct wr_gen_target *t, const char *path,
                        const void *bytes, size_t len, weir_err *err);

/* Puts the folder in its place. It is not synced to the medium. */
int wr_gen_target_commit(struct wr_gen_target *t, weir_err *err);

/* Removes whatever was not committed and frees; takes NULL. */
void wr_gen_target_close(struct wr_gen_target *t);

/* The absolute path of the committed folder; false when it has none or it
 * does not fit. */
bool wr_gen_target_local_path(const struct wr_gen_target *t, char *buf,
                              size_t cap);

#endif
