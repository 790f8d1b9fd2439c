/* get.h - fields of a record that may be missing or of another type.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A record may have been edited, cut by a script or written by a later weir.
 * What is not there or not of the type asked for is NaN, "" or NULL; `o` may be
 * NULL too. `path` goes down objects: "host.file_system.type". */
#ifndef WR_RESULT_GET_H
#define WR_RESULT_GET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

const json_t *wr_get(const json_t *o, const char *path);
double wr_get_number(const json_t *o, const char *path);
const char *wr_get_text(const json_t *o, const char *path); /* borrowed */
bool wr_get_true(const json_t *o, const char *path);
const json_t *wr_get_list(const json_t *o, const char *path);
const json_t *wr_get_object(const json_t *o, const char *path);

/* Numbers of a list; NaN where there is none. */
double wr_get_at(const json_t *list, size_t k);

/* A text, number or truth value as text: "auto", "4", "yes"; "" for anything
 * else. Returns buf. */
char *wr_get_shown(const json_t *value, char *buf, size_t cap);

/* "emulated hdd" of emu:hdd:PATH, also inside fault:SPEC:; false, and "" in buf,
 * for a URL whose device is the real one. */
bool wr_emulated(const char *url, char *buf, size_t cap);

#endif
