/* json_fields.h - values of JSON samples as fields: which there are.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_JSON_FIELDS_H
#define WR_FORMAT_JSON_FIELDS_H

#include "format/format.h"
#include "format/intern.h"
#include "format/json.h"

enum wr_json_kind {
    WR_JSON_UNSEEN,
    WR_JSON_ARRAY, /* of numbers */
    WR_JSON_INTEGER,
    WR_JSON_FLOAT,
    WR_JSON_STRING,
    WR_JSON_EMPTY, /* a string, or nothing where there are others */
    WR_JSON_OTHER, /* not to be used */
    WR_JSON_KINDS
};

struct wr_json_value {
    enum wr_json_kind kind;
    bool there;
    uint32_t ndim;
    uint64_t dims[7];
};

/* A value that may become a field. */
struct wr_json_seen {
    char name[WR_FIELD_NAME], path[WR_FIELD_PATH];
    struct wr_json_value each[WR_JSON_LOOK]; /* what the samples have there, */
    struct wr_json_value all;                /* and what most of them have */
    bool asked;                              /* by its pointer, behind '#' */
};

struct wr_json_look {
    struct wr_index_job *job;  /* borrowed */
    struct wr_json_seen *seen; /* owned: WR_JSON_TARGETS of them */
    unsigned count;
    unsigned samples;      /* looked at so far */
    bool array;            /* the samples are elements of one */
    const char *label;     /* borrowed: name of the field that is to be it */
    bool asked;            /* by the user */
    struct wr_intern left; /* owned: members that cannot be fields */
    const char *text;      /* borrowed: all that is looked at */
    weir_err bad;          /* the first thing that is wrong in it */
};

/* "a/b" as a pointer, into WR_FIELD_PATH bytes; false: it is too long, or has a
 * zero byte. */
bool wr_json_pointer(const struct wr_json_string *name, char *path);

/* The name without its escapes, into `cap` bytes of buf if it has some; false: it
 * is too long, or an escape in it is none. */
bool wr_json_plain_name(struct wr_json_string *name, char *buf, size_t cap);
#define WR_JSON_PLAIN (WR_FIELD_NAME * 6) /* are enough for a field's name */

#endif
