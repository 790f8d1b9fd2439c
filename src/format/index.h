/* index.h - where every sample lies: its parts, one per column, and its label.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formats fill an index once (wr_index_add_...); then it is sealed and only
 * read, by any number of threads. Compact: a million files cost under 64 MB. */
#ifndef WR_FORMAT_INDEX_H
#define WR_FORMAT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/filters.h"
#include "format/schema.h"
#include "weir/dataset.h"

struct wr_ignored;
struct wr_index;
struct wr_intern;

/* Bytes of an object that are read and unpacked together. */
struct wr_unit {
    uint64_t object, offset, stored, inflated; /* WR_FILTER_FILL: `offset` is
                                                  the value */
    uint32_t filters; /* up to four enum wr_filter (codec/filters.h), a byte
                         each, the lowest is undone first */
    uint32_t argument;
};

#define WR_NO_UNIT UINT64_MAX

/* How it is packed (codec/filters.h). */
struct wr_packing wr_unit_packing(const struct wr_unit *u);

/* Where the bytes of one column of one sample lie. */
struct wr_part {
    uint64_t object; /* number of the object */
    uint64_t offset; /* inside the unit's inflated bytes, if there is one */
    uint64_t length;
    uint64_t unit;  /* WR_NO_UNIT: read as it lies */
    uint32_t label; /* of the sample, or WEIR_NO_LABEL; column 0 has it */
    bool whole;     /* the part is the whole object */
    bool absent;    /* the sample does not have it */
};

static inline bool wr_part_is_packed(const struct wr_part *p)
{
    return p->unit != WR_NO_UNIT;
}

/* One part of any length inside an object. */
struct wr_record {
    unsigned column;
    uint64_t offset, length; /* length <= WR_RECORD_MAX; WR_ABSENT, 0: the
                                sample does not have it */
    uint32_t label;
    const char *name; /* NULL: none */
    int64_t line;     /* shards of text (wr_shard_add): the one scalar of the
                         sample, in the field that was added for it before */
};

#define WR_RECORD_MAX UINT32_MAX
#define WR_ABSENT     UINT64_MAX

/* Equal parts that follow each other. */
struct wr_run {
    unsigned column;
    uint64_t offset, length;
    uint64_t stride; /* from one to the next; 0: length */
    uint64_t count;
    const uint32_t *labels; /* borrowed; NULL: none */
};

/* Equal parts of which each unit has `per`, one behind the other: units `unit`,
 * `unit + step` and so on of the object added last. Parts of units without
 * filters are read as they lie, without the unit. */
struct wr_tile_run {
    unsigned column;
    uint64_t unit, step; /* step 0: one unit serves all */
    uint64_t per, length, count;
    const uint32_t *labels; /* borrowed; NULL: none */
};

union wr_scalar {
    int64_t i;
    double f;
};

#define WR_INDEX_COLUMNS 1024

/* What something that was looked at while indexing looked like; all zeros:
 * it was not there. */
struct wr_stamp {
    uint64_t dev, ino, size, mtime_ns, identity;
};

struct wr_index *wr_index_new(void);
void wr_index_free(struct wr_index *ix);

/* --- building (one thread) --- */

/* Interns a folder; returns its number, or a negative WEIR_E... */
int64_t wr_index_add_dir(struct wr_index *ix, const char *path, weir_err *err);
/* An object called `name` in folder `dir`; returns its number. */
int64_t wr_index_add_object(struct wr_index *ix, int64_t dir, const char *name,
                            uint64_t size, weir_err *err);
/* What it is when it is indexed (wr_stat.identity), of the object added last;
 * else 0: not known. */
void wr_index_set_identity(struct wr_index *ix, uint64_t identity);
/* The same, of what was stamped by this name. */
void wr_index_set_stamped(struct wr_index *ix, const char *path);
/* A part that is all of the object added last. */
int wr_index_add_whole(struct wr_index *ix, unsigned column, uint32_t label,
                       weir_err *err);
/* Parts in the object added last; the labels are copied. */
int wr_index_add_run(struct wr_index *ix, const struct wr_run *run,
                     weir_err *err);
int wr_index_add_tiles(struct wr_index *ix, const struct wr_tile_run *run,
                       weir_err *err);
/* One more part in the object added last. Either all records of column 0 have
 * names or none; others have none. */
int wr_index_add_record(struct wr_index *ix, const struct wr_record *r,
                        weir_err *err);
/* A unit of the object added last (u->object does not count), in which all runs
 * and records lie that are added from now on; returns its number. */
int64_t wr_index_add_unit(struct wr_index *ix, const struct wr_unit *u,
                          weir_err *err);
/* That unit, or none (WR_NO_UNIT), of the object added last. */
void wr_index_use_unit(struct wr_index *ix, uint64_t unit);
/* A field of the samples; copied. */
int wr_index_add_field(struct wr_index *ix, const struct wr_field *f,
                       weir_err *err);
/* The schema as it is built: a format may change what it has added. */
struct wr_schema *wr_index_fields(struct wr_index *ix);
/* Another fingerprint for what the user said of the fields. */
void wr_index_add_declared(struct wr_index *ix, const char *text);
/* The scalars of one more sample, in the order of their fields (but the label,
 * which stands beside the parts). */
int wr_index_add_scalars(struct wr_index *ix, const union wr_scalar *row,
                         weir_err *err);
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
/* A sentence that a user should read, though nothing is wrong. */
void wr_index_add_remark(struct wr_index *ix, const char *text);
/* The problem that `path` is not there; the index is true as long as that is
 * so. */
void wr_index_add_missing(struct wr_index *ix, const char *path,
                          const char *reason);
/* A file or folder that is reached through a symbolic link. */
void wr_index_add_link(struct wr_index *ix);
/* Files that lie there and are not used. */
int wr_index_add_ignored(struct wr_index *ix, const struct wr_ignored *more,
                         weir_err *err);
/* Brings columns that were filled by turns into their order, so that their
 * parts can be asked for. */
void wr_index_order(struct wr_index *ix);
/* The end of building: adds the field "label" where there are labels and no such
 * field, checks that the columns have one part each per sample, and gives
 * back the memory that growing left over. */
int wr_index_seal(struct wr_index *ix, weir_err *err);

/* --- reading --- */

uint64_t wr_index_count(const struct wr_index *ix);
uint64_t wr_index_object_count(const struct wr_index *ix);
uint64_t wr_index_bytes(const struct wr_index *ix);      /* of all parts */
uint64_t wr_index_max_length(const struct wr_index *ix); /* of one part */
size_t wr_index_memory(const struct wr_index *ix);       /* bytes it holds */
unsigned wr_index_columns(const struct wr_index *ix);    /* at least 1 */
void wr_index_part(const struct wr_index *ix, unsigned column, uint64_t i,
                   struct wr_part *ret);
/* Samples whose parts of column 0 are cut out of the same units, in the first
 * object; 0: they are not cut out of such (wr_index_add_tiles). */
uint64_t wr_index_tile_samples(const struct wr_index *ix);
uint64_t wr_index_unit_count(const struct wr_index *ix);
const struct wr_unit *wr_index_unit(const struct wr_index *ix, uint64_t k);
const struct wr_schema *wr_index_schema(const struct wr_index *ix);
/* The first field if it is a tensor, else NULL. */
const weir_field *wr_index_tensor(const struct wr_index *ix);
/* Is the first tensor or picture a picture? */
bool wr_index_has_pictures(const struct wr_index *ix);
/* The value that field `field` has in the index; false: it has none there. */
bool wr_index_scalar(const struct wr_index *ix, unsigned field, uint64_t i,
                     union wr_scalar *ret);
/* Writes the object's path below the store's root; returns its length as
 * snprintf does. */
size_t wr_index_object_path(const struct wr_index *ix, uint64_t object,
                            char *buf, size_t cap);
uint64_t wr_index_object_size(const struct wr_index *ix, uint64_t object);
uint64_t wr_index_object_identity(const struct wr_index *ix, uint64_t object);
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
/* At least one more than the largest label, whether it has a name or not. */
uint32_t wr_index_class_count(const struct wr_index *ix);
const char *wr_index_class_name(const struct wr_index *ix, uint32_t label);
uint64_t wr_index_issue_count(const struct wr_index *ix);
const weir_issue *wr_index_issue(const struct wr_index *ix, uint64_t k);
const char *wr_index_remark(const struct wr_index *ix, uint64_t k);

/* Symbolic links that were followed. */
uint64_t wr_index_link_count(const struct wr_index *ix);

/* Files that were ignored, most of one ending first once it is sealed. */
const struct wr_ignored *wr_index_ignored(const struct wr_index *ix);

/* --- does an index that came from a file hold together? --- */

/* Everything that reading the index relies on: NULL, or what is wrong with it
 * (static). One pass over each array. */
const char *wr_index_check(const struct wr_index *ix);

/* That no path in it leads out of the data set, by a '/' in front or by "..":
 * NULL, or what is wrong. For formats that find their files themselves. */
const char *wr_index_check_below(const struct wr_index *ix);

#endif
