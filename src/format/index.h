/* index.h - where every sample lies: object, offset, length, label.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formats fill an index once (wr_index_add_...); then it is sealed and only
 * read, by any number of threads. Compact: a million files cost under 64 MB. */
#ifndef WR_FORMAT_INDEX_H
#define WR_FORMAT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/dataset.h"

struct wr_ignored;
struct wr_index;
struct wr_intern;

struct wr_place {
    uint64_t object; /* number of the object */
    uint64_t offset, length;
    uint32_t label; /* or WEIR_NO_LABEL */
    bool whole;     /* the sample is the whole object */
    bool packed;    /* the object is gzip: offset counts in what it inflates
                       to */
};

/* One sample of any length inside an object. */
struct wr_record {
    uint64_t offset, length; /* length <= WR_RECORD_MAX */
    uint32_t label;
    const char *name; /* NULL: none */
};

#define WR_RECORD_MAX UINT32_MAX

/* What something that was looked at while indexing looked like; all zeros:
 * it was not there. */
struct wr_stamp {
    uint64_t dev, ino, size, mtime_ns;
};

/* Shape of the samples as stored, for formats that know it (tensors). */
struct wr_sample_shape {
    bool known;
    enum { WR_ELEM_F32, WR_ELEM_F16, WR_ELEM_U8 } elem;
    uint32_t ndim; /* 0..7, without the sample dimension */
    uint64_t dims[7];
};

struct wr_index *wr_index_new(void);
void wr_index_free(struct wr_index *ix);

/* --- building (one thread) --- */

/* Interns a folder; returns its number, or a negative WEIR_E... */
int64_t wr_index_add_dir(struct wr_index *ix, const char *path, weir_err *err);
/* An object called `name` in folder `dir`; returns its number. */
int64_t wr_index_add_object(struct wr_index *ix, int64_t dir, const char *name,
                            uint64_t size, weir_err *err);
/* A sample that is all of the object added last. */
int wr_index_add_whole(struct wr_index *ix, uint32_t label, weir_err *err);
/* `count` equal samples of `length` bytes that follow each other from `offset`
 * in the object added last; labels may be NULL (copied). */
int wr_index_add_run(struct wr_index *ix, uint64_t offset, uint64_t length,
                     uint64_t count, const uint32_t *labels, weir_err *err);
/* One more sample, of any length, in the object added last. Either all samples
 * of an index have names or none. */
int wr_index_add_record(struct wr_index *ix, const struct wr_record *r,
                        weir_err *err);
/* The object added last is gzip and inflates to this many bytes; to be said
 * before its samples are added. */
int wr_index_set_packed(struct wr_index *ix, uint64_t inflated, weir_err *err);
/* The index is true as long as `path` (below the store's root) has this
 * stamp. */
int wr_index_add_stamp(struct wr_index *ix, const char *path,
                       const struct wr_stamp *s, weir_err *err);
/* Class names in label order; returns the label. */
int64_t wr_index_add_class(struct wr_index *ix, const char *name,
                           weir_err *err);
/* All of `names` as classes, in the order of the names, byte by byte; the label
 * of name k is (*ret_rank)[k], to be freed by the caller. */
int wr_index_add_classes(struct wr_index *ix, const struct wr_intern *names,
                         uint32_t **ret_rank, weir_err *err);
/* Gives sample i, a record, this label. */
void wr_index_set_label(struct wr_index *ix, uint64_t i, uint32_t label);
/* Remembers a problem; counts beyond the 1,000 that are kept. */
void wr_index_add_issue(struct wr_index *ix, const char *name, int code,
                        const char *reason);
/* The problem that `path` is not there; the index is true as long as that is
 * so. */
void wr_index_add_missing(struct wr_index *ix, const char *path,
                          const char *reason);
/* Files that lie there and are not used. */
int wr_index_add_ignored(struct wr_index *ix, const struct wr_ignored *more,
                         weir_err *err);
void wr_index_set_shape(struct wr_index *ix, const struct wr_sample_shape *s);
/* The end of building: gives back the memory that growing left over. */
void wr_index_seal(struct wr_index *ix);

/* --- reading --- */

uint64_t wr_index_count(const struct wr_index *ix);
uint64_t wr_index_object_count(const struct wr_index *ix);
uint64_t wr_index_bytes(const struct wr_index *ix);      /* of all samples */
uint64_t wr_index_max_length(const struct wr_index *ix); /* of one sample */
size_t wr_index_memory(const struct wr_index *ix);       /* bytes it holds */
void wr_index_place(const struct wr_index *ix, uint64_t i,
                    struct wr_place *ret);
/* Writes the object's path below the store's root; returns its length as
 * snprintf does. */
size_t wr_index_object_path(const struct wr_index *ix, uint64_t object,
                            char *buf, size_t cap);
uint64_t wr_index_object_size(const struct wr_index *ix, uint64_t object);
/* 0: it is not gzip; else the bytes that it inflates to. */
uint64_t wr_index_object_packed(const struct wr_index *ix, uint64_t object);
/* The name of sample i (wr_record.name), or NULL. */
const char *wr_index_sample_name(const struct wr_index *ix, uint64_t i);
uint64_t wr_index_stamp_count(const struct wr_index *ix);
/* Stamp k and, in *ret_path, what it is of (borrowed). */
void wr_index_stamp(const struct wr_index *ix, uint64_t k,
                    struct wr_stamp *ret_stamp, const char **ret_path);
bool wr_stamp_is_absent(const struct wr_stamp *s);
/* Whether a problem may go away without a stamp changing, as rights do. */
bool wr_index_is_unsure(const struct wr_index *ix);
/* The side file it was loaded from (borrowed); NULL: it was built. */
const char *wr_index_file(const struct wr_index *ix);
/* A hash of all that the index says: another one when the data changed. */
uint64_t wr_index_fingerprint(const struct wr_index *ix);
const struct wr_sample_shape *wr_index_shape(const struct wr_index *ix);
/* At least one more than the largest label, whether it has a name or not. */
uint32_t wr_index_class_count(const struct wr_index *ix);
const char *wr_index_class_name(const struct wr_index *ix, uint32_t label);
uint64_t wr_index_issue_count(const struct wr_index *ix);
const weir_issue *wr_index_issue(const struct wr_index *ix, uint64_t k);

/* Files that were ignored, most of one ending first once it is sealed. */
const struct wr_ignored *wr_index_ignored(const struct wr_index *ix);

#endif
