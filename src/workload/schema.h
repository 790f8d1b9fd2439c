/* schema.h - every key of a description, once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_WORKLOAD_SCHEMA_H
#define WR_WORKLOAD_SCHEMA_H

#include "base/value.h"
#include "workload/workload.h"

enum wr_wl_kind {
    WR_WL_KEY_BOOL = 1,
    WR_WL_KEY_U64,
    WR_WL_KEY_I64,
    WR_WL_KEY_NUMBER, /* double */
    WR_WL_KEY_BYTES,  /* double: 4096, 64KiB, 114660.07 */
    WR_WL_KEY_SIZE,   /* uint64_t of bytes, written like BYTES */
    WR_WL_KEY_TEXT,
    WR_WL_KEY_WORD,   /* const char *: one of `choices` */
    WR_WL_KEY_CHOICE, /* an enum: one of `choices` */
    WR_WL_KEY_EITHER, /* a bool: one of two `choices` */
    WR_WL_KEY_DIMS,
    WR_WL_KEY_LIST,
    WR_WL_KEY_TIME,   /* struct wr_wl_time */
    WR_WL_KEY_STDEV,  /* double, which joins the time of the row before */
    WR_WL_KEY_FIGURE, /* double; NaN: not given */
    WR_WL_KEY_DEAD,   /* accepted, whatever its value; `help` says why */
};

/* What the rows fill: the description, and what joins it at the end. */
struct wr_wl_draft {
    struct wr_workload w;
    double stdev[3]; /* of computation, preprocess, evaluation; NaN: none */
};

struct wr_wl_key {
    const char *path; /* "dataset.num_files_train" */
    enum wr_wl_kind kind;
    size_t at;       /* in struct wr_wl_draft */
    double min, max; /* of numbers; max 0: no limit */
    const struct wr_choice *choices;
    const char *preset; /* the default as text; NULL: nothing is set */
    const char *help;   /* one line; of a dead key: why it has no effect */
};

/* Ordered by section, so that those of a section follow each other. NULL past
 * the end. */
const struct wr_wl_key *wr_wl_key_at(size_t k);

/* By its whole path; `len` bytes of it. */
const struct wr_wl_key *wr_wl_key_find(const char *path, size_t len);

/* True when keys stand below `path` ("dataset.hdf5", "reader"). */
bool wr_wl_key_is_section(const char *path, size_t len);

/* The nearest name that may stand where `path` does: "num_files_train" for
 * "dataset.num_file_train". NULL: none is near. `buf` (64 bytes) may hold it. */
const char *wr_wl_key_nearest(const char *path, char *buf, size_t cap);

#endif
