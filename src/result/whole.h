/* whole.h - files that a reader sees whole or not at all.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RESULT_WHOLE_H
#define WR_RESULT_WHOLE_H

#include <stdbool.h>
#include <stdio.h>

#include "weir/error.h"

/* What is written. */
struct wr_whole {
    int (*print)(const void *arg, FILE *out, weir_err *err);
    const void *arg;
    bool (*stopped)(void); /* asked before the file appears; may be NULL:
                              WEIR_ECANCELED and no file */
    bool private; /* for this user alone (0600), not as the umask says */
};

/* Writes beside `path` and renames it there. What is no plain file
 * (/dev/stdout, a pipe, a link) is written to in place; a link of another user
 * is refused. */
int wr_whole_write(const char *path, const struct wr_whole *what,
                   weir_err *err);

/* The same below an open folder, at a name that weir chose: whatever has that
 * name, a link as well, is replaced and never written to. */
int wr_whole_write_in(int folder, const char *name, const struct wr_whole *what,
                      weir_err *err);

/* Whether it could be written now; nothing is changed, nothing left behind. */
int wr_whole_check(const char *path, weir_err *err);

#endif
