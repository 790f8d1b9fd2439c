/* schema.h - the fields that the samples of a data set have.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A column is a run of byte ranges through the data set, one (a part) per
 * sample; a field is what users see by its name. One column may carry several
 * fields; a scalar may lie in the index and in no column at all. */
#ifndef WR_FORMAT_SCHEMA_H
#define WR_FORMAT_SCHEMA_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/tiles.h"
#include "weir/dataset.h"

#define WR_NO_COLUMN       UINT_MAX
#define WR_SCALAR_IS_LABEL UINT_MAX
#define WR_FIELD_NAME      128 /* bytes of a name, with its NUL */
#define WR_FIELD_PATH      256 /* bytes of a path, with its NUL */
#define WR_FIELD_MAX       256 /* fields of a data set */
#define WR_FIELD_MAX_BYTES (UINT64_C(1) << 30) /* read at once */

struct wr_field {
    weir_field pub; /* pub.name is set once the index is sealed */
    char name[WR_FIELD_NAME];
    unsigned column; /* that its bytes lie in; WR_NO_COLUMN: a scalar of the
                            index */
    unsigned scalar; /* which of those; WR_SCALAR_IS_LABEL: the label that
                            stands beside each part */
    bool unpacked;   /* the format's unpack makes its bytes from the part */
    char path[WR_FIELD_PATH]; /* where in the part it is, as the format writes
                                 that; "": it needs none */
    bool strided;        /* tensors that do not lie in C order: the part spans
                            the first to the last element, */
    uint64_t strides[7]; /* which lie so many bytes apart, */
    bool scaled;         /* times the samples that lie among each other, which
                            the part's length tells */
    bool swap;           /* the other byte order */
    bool tiled;          /* tensors that are cut into tiles: one part each, in
                            as many columns from `column` on, */
    uint64_t tile[7];    /* of these dimensions */
};

struct wr_schema {
    struct wr_field *fields; /* owned */
    unsigned count;
    unsigned scalars; /* fields whose values the index has, but the label */
    size_t cap;
};

/* Zeroed memory is an empty one. */
void wr_schema_done(struct wr_schema *s);

/* Adds a copy of `f` (name, not pub.name, counts). Fails when the name is
 * taken, empty or too long. Fields of scalars get their number. */
int wr_schema_add(struct wr_schema *s, const struct wr_field *f, weir_err *err);

/* The field called so, or that is the label; NULL: there is none. */
struct wr_field *wr_schema_find(const struct wr_schema *s, const char *name);
/* The first tensor or picture. */
const struct wr_field *wr_schema_first(const struct wr_schema *s);
const struct wr_field *wr_schema_label(const struct wr_schema *s);

/* pub.name of all fields; the schema does not move any more. */
void wr_schema_seal(struct wr_schema *s);

/* NULL, or what is wrong with the fields for an index of so many columns. */
const char *wr_schema_check(const struct wr_schema *s, unsigned columns);

/* Bytes of a tensor or scalar as it is stored, and of the part that it spans;
 * 0: samples differ, or it is of another kind. The dimensions were checked. */
uint64_t wr_field_bytes(const weir_field *f);
uint64_t wr_field_span(const struct wr_field *f);
/* How a field is cut, and in how many columns its parts lie: 1 unless it is
 * tiled, 0 for a scalar of the index. */
struct wr_tiles wr_field_tiles(const struct wr_field *f);
unsigned wr_field_columns(const struct wr_field *f);

/* "128x128x4 u16", "picture", "bytes", "i64"; fills buf and returns it. */
const char *wr_field_text(const weir_field *f, char *buf, size_t cap);
const char *wr_field_kind_name(enum weir_field_kind kind);

/* Changes the schema as a user declares it: NAME=KIND[:DTYPE[:DIMS]], comma
 * between, and label=NAME. axis=... was for the indexer. */
int wr_schema_declare(struct wr_schema *s, const char *text, weir_err *err);

/* What `text` has behind "NAME=", cut to fit; false: nothing. */
bool wr_schema_option(const char *text, const char *name, char *buf,
                      size_t cap);

#endif
