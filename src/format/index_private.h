/* index_private.h - how the index lies in memory and in its side file.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Samples form segments. In a `whole` segment sample k is object `object + k`
 * and its label stands in the object, so that a tree of pictures is one
 * segment, however large, and finding a sample is one array access. A run is
 * a segment of equal byte ranges inside one object; records are ranges of any
 * length inside one object.
 *
 * The arrays are written to the side file as they are: a change here needs
 * another WR_INDEX_FILE_VERSION. */
#ifndef WR_FORMAT_INDEX_PRIVATE_H
#define WR_FORMAT_INDEX_PRIVATE_H

#include "format/ignored.h"
#include "format/index.h"
#include "format/intern.h"

#define WR_INDEX_NO_LABELS  UINT64_MAX
#define WR_INDEX_MAX_ISSUES 1000

struct wr_index_object {
    uint64_t size;
    uint64_t name;  /* where its name starts in names */
    uint32_t dir;   /* number of its folder */
    uint32_t label; /* of its whole sample */
};

/* A sample of its own length. */
struct wr_index_entry {
    uint64_t offset;
    uint32_t length, label;
};

/* An object that is gzip. */
struct wr_index_packed {
    uint64_t object, inflated;
};

enum wr_segment_kind { WR_SEGMENT_WHOLE, WR_SEGMENT_RUN, WR_SEGMENT_RECORDS };

struct wr_index_segment {
    uint64_t first;          /* number of its first sample */
    uint64_t count;          /* samples */
    uint64_t object;         /* number of its first (else: only) object */
    uint64_t offset, length; /* runs */
    uint64_t labels;         /* runs: start in labels, or WR_INDEX_NO_LABELS;
                                records: start in entries */
    uint64_t kind;           /* enum wr_segment_kind */
};

struct wr_index_totals {
    uint64_t count, bytes, max_length;
    uint32_t max_label_plus_1; /* 0: no labels */
};

/* Arrays are owned unless `borrowed` (then their caps are 0). */
struct wr_index {
    struct wr_index_object *objects;
    size_t object_count, object_cap;
    char *names; /* the objects' names, each with its NUL */
    size_t names_len, names_cap;
    struct wr_index_segment *segments;
    size_t segment_count, segment_cap;
    uint32_t *labels; /* of the runs */
    size_t label_count, label_cap;
    struct wr_index_entry *entries; /* of the records */
    size_t entry_count, entry_cap;
    uint64_t *entry_names; /* where their names start in names */
    size_t entry_name_count, entry_name_cap;
    struct wr_index_packed *packed; /* by object number */
    size_t packed_count, packed_cap;
    struct wr_stamp *stamps;
    size_t stamp_count, stamp_cap;
    struct wr_intern dirs, classes, stamped;
    struct wr_ignored ignored;
    weir_issue *issues; /* owned always; the texts as the arrays are */
    size_t issue_kept, issue_cap;
    uint64_t issue_count;
    struct wr_index_totals totals;
    bool last_is_sampled; /* the object added last has its sample */
    bool unsure;          /* wr_index_is_unsure */
    struct wr_sample_shape shape;
    bool borrowed; /* the arrays lie in a file that is in memory */
    void *map;     /* owned: that file; NULL: it is another's, or none */
    size_t map_len;
    char *file; /* owned: its path; NULL: built here */
};

/* The segment of sample i: the last whose first sample is not behind it. */
const struct wr_index_segment *wr_index_find_segment(const struct wr_index *ix,
                                                     uint64_t i);

#endif
