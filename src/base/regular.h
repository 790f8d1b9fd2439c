/* regular.h - opening regular files, and nothing that could keep us waiting.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A pipe without a writer blocks whoever opens it, a terminal whoever reads it,
 * and some devices act when they are opened. Files that a user names are opened
 * by these. */
#ifndef WR_BASE_REGULAR_H
#define WR_BASE_REGULAR_H

#include <sys/types.h>
#include <stddef.h>

#include "weir/error.h"

/* As openat with O_CLOEXEC, but for regular files only. -1: errno is EISDIR for
 * a folder, ENXIO for anything else that is no file. Never waits for another
 * process. */
int wr_regular_open(int dir_fd, const char *path, int flags, mode_t mode);

/* The check alone, of a descriptor that was opened with O_NONBLOCK: 0 and it
 * blocks again as usual (`flags` as it was opened), or -1 and errno. */
int wr_regular_check(int fd, int flags);

/* "a pipe", "a socket", "a device", "a folder"; NULL for regular files. */
const char *wr_regular_other(mode_t mode);

/* Fails with "'name': cannot open: ..." for errno `e` of wr_regular_open, which
 * names the kind of what is no file. */
int wr_regular_fail(int dir_fd, const char *path, const char *name, int e,
                    weir_err *err);

/* --- all the bytes: what was interrupted or fell short goes on --- */

/* Reads `len` bytes, fewer only at the end of the file. Returns how many, or a
 * negative errno, then what came before it does not count. */
ssize_t wr_read_all(int fd, void *buf, size_t len);
ssize_t wr_pread_all(int fd, void *buf, size_t len, off_t offset);

/* Writes `len` bytes. Returns 0 or a negative errno, then a part of them may be
 * written. */
int wr_pwrite_all(int fd, const void *buf, size_t len, off_t offset);

#endif
