/* read_write.h - reads and writes of all the bytes: what was interrupted or
 * fell short goes on.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_READ_WRITE_H
#define WR_BASE_READ_WRITE_H

#include <stddef.h>
#include <sys/types.h>

/* Reads `len` bytes, fewer only at the end of the file. Returns how many, or a
 * negative errno, then what came before it does not count. */
ssize_t wr_read_all(int fd, void *buf, size_t len);
ssize_t wr_pread_all(int fd, void *buf, size_t len, off_t offset);

/* Writes `len` bytes. Returns 0 or a negative errno, then a part of them may be
 * written. */
int wr_pwrite_all(int fd, const void *buf, size_t len, off_t offset);

#endif
