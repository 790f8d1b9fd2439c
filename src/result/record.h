/* record.h - the run record: one JSON schema for every measuring command.
 * SPDX-License-Identifier: Apache-2.0
 *
 * docs/formats/record.md describes it. A record is a jansson object; this
 * room knows what stands in its head and how it gets to disk whole. */
#ifndef WR_RESULT_RECORD_H
#define WR_RESULT_RECORD_H

#include <jansson.h>
#include <stdio.h>
#include <stddef.h>

#include "weir/error.h"

#define WR_RECORD_SCHEMA  "weir-record"
#define WR_RECORD_VERSION 1

/* A record of `command` with schema, version and the time now (UTC); NULL
 * when memory is short. Release with json_decref. */
json_t *wr_record_new(const char *command);

/* A name or a message; bytes that are not UTF-8 become \xNN. */
json_t *wr_text_json(const char *s);

/* Prints any JSON, laid out by jansson's flags; -1 when that fails. What acts on
 * a terminal is escaped in its texts, and stays the same text. */
int wr_record_dump(const json_t *v, size_t flags, FILE *out);

/* Prints it, a list of numbers in a line; -1 with errno when that fails. */
int wr_record_print(const json_t *record, FILE *out);

/* Writes it beside `path` and renames it there, so that a reader sees all of
 * it or nothing. What is no plain file (/dev/stdout, a pipe, a link) is
 * written to in place. */
int wr_record_write(const json_t *record, const char *path, weir_err *err);

/* The same for another result, which is text. */
int wr_record_write_text(const char *text, const char *path, weir_err *err);

/* The same below an open folder, at a name that weir chose: what is there is
 * replaced, a link as well. */
int wr_record_write_in(const json_t *record, int folder, const char *name,
                       weir_err *err);
int wr_record_write_text_in(const char *text, int folder, const char *name,
                            weir_err *err);

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
