/* names.h - paths of a traced program, each with a number.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_COLLECT_NAMES_H
#define WR_TRACE_COLLECT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/file.h"

struct wr_names;

/* Hashed names are written if `anonymous`. Each name is written when it is
 * first seen. */
int wr_names_new(struct wr_names **ret, bool anonymous, weir_err *err);
void wr_names_free(struct wr_names *n);

/* The number of `path` (len bytes); WR_TRACE_NO_FILE when memory is short.
 * *ret_new: the caller has it written. */
uint32_t wr_names_number(struct wr_names *n, const char *path, size_t len,
                         bool *ret_new);
size_t wr_names_count(const struct wr_names *n);
const char *wr_names_path(const struct wr_names *n, uint32_t number);
int wr_names_kind(const struct wr_names *n, uint32_t number);

/* What kind of thing a path is: enum wr_trace_kind. */
int wr_names_classify(const char *path);

/* `rel` from `folder`, without "//", "/./" and "/../"; the length. buf has `cap` bytes,
 * longer paths are cut. */
size_t wr_names_join(const char *folder, const char *rel, char *buf,
                     size_t cap);

/* The path as it may be shown: as it is, or its parts hashed, with the
 * extension kept. */
const char *wr_names_shown(const struct wr_names *n, const char *path,
                           char *buf, size_t cap);

#endif
