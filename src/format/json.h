/* json.h - data sets of JSON: records in a file, their values as fields.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A field's path is the JSON pointer of its value in the sample; that of the
 * field "line" is "array" where samples are the elements of one array. A
 * field.scalar of d + 1 makes a scalar dimension d of the array there, and a
 * tensor one whose shape the user gave. */
#ifndef WR_FORMAT_JSON_H
#define WR_FORMAT_JSON_H

#include "codec/json.h"
#include "format/format.h"
#include "format/text_scan.h"

#define WR_JSON_LOOK 16 /* samples whose values tell what the fields are */

/* Where in an array of samples a text goes on. */
struct wr_json_place {
    bool closed; /* behind it */
    bool comma;  /* behind one: an element follows */
};

/* What the records of one file are. */
struct wr_json_rule {
    bool array;        /* elements of one array, else lines */
    const char *label; /* borrowed: where labels are that are words; NULL: they
                          are none */
    struct wr_json_place *place; /* borrowed */
};

/* wr_text_rule.next; arg is a struct wr_json_rule. */
int64_t wr_json_next(const void *arg, const char *at, const char *end,
                     bool last, struct wr_text_record *ret, weir_err *err);

/* Whether `text` is the beginning of an array of samples, and (*ret_from)
 * where its first record begins. */
bool wr_json_is_array(const char *name, const char *text, size_t len,
                      size_t *ret_from);

/* Adds the fields that the first samples of `path` have, or that stand behind
 * '#'. */
int wr_json_add_fields(struct wr_index_job *job, const char *path,
                       weir_err *err);

int wr_json_unpack(const struct wr_index *ix, unsigned column,
                   struct wr_sample *io, struct wr_unpack *out, weir_err *err);

/* --- numbers --- */

/* Rectangular arrays of numbers, into memory that grows. */
struct wr_json_numbers {
    enum weir_dtype dtype;
    uint8_t **to; /* borrowed: realloc'd; NULL: they are only counted,
                     whatever is wrong with them */
    size_t *cap;  /* borrowed: of *to */
    size_t at;    /* bytes used so far */
    uint32_t ndim;
    uint64_t dims[7];
    bool no_memory;
};

bool wr_json_numbers(struct wr_json *j, struct wr_json_numbers *n);

/* One number, or true and false as 1 and 0, null as NaN. */
bool wr_json_number(struct wr_json *j, enum weir_dtype t, void *to);

/* --- values at a place --- */

#define WR_JSON_TARGETS 64

/* Values that are searched for by their pointers (RFC 6901). */
struct wr_json_walk {
    struct wr_json j;
    const char *pointer[WR_JSON_TARGETS]; /* borrowed */
    unsigned count;
    uint64_t found; /* bit k: pointer k was there */
    /* Takes the value at j->at for pointer k and steps behind it. */
    bool (*take)(void *arg, unsigned k, struct wr_json *j);
    void *arg; /* borrowed */
};

/* Goes through one value, to the end of the text; false: w->j.bad says why. */
bool wr_json_walk(struct wr_json_walk *w);

#endif
