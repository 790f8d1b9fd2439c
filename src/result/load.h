/* load.h - reading a run record, and refusing what is none.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RESULT_LOAD_H
#define WR_RESULT_LOAD_H

#include <jansson.h>
#include <stddef.h>

#include "weir/error.h"

/* A record of more bytes is refused. */
#define WR_RECORD_BYTES_MAX ((size_t)512 << 20)

/* Reads the record at `path` ("-": standard input). Its head is checked:
 * schema, version, and the types of what every record has. All else may be
 * missing or of any type (result/get.h). Release with json_decref. */
int wr_record_load(const char *path, json_t **ret, weir_err *err);

/* The same from memory; messages call it `name`. */
int wr_record_parse(const char *bytes, size_t size, const char *name,
                    json_t **ret, weir_err *err);

/* The two halves of it, for other files that are JSON. All bytes of a file ("-":
 * standard input), which must not be a pipe or device; release with free. */
int wr_record_read(const char *path, char **ret, size_t *ret_size,
                   weir_err *err);
/* Any JSON; WEIR_EFORMAT tells the line. */
int wr_record_json(const char *bytes, size_t size, const char *name,
                   json_t **ret, weir_err *err);

#endif
