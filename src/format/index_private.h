/* index_private.h - how the index lies in memory and in its side file.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a column form segments. In a `whole` segment part k is object
 * `object + k * stride` and its label stands in the object, so that a tree of
 * pictures is one segment, however large, and finding a sample is one array
 * access. A run is a segment of equal byte ranges inside one object; records
 * are ranges of any length inside one object; tiles are equal ranges inside
 * units that lie equally far apart, so many in each. The segments of a column follow
 * each other once the index is ordered.
 *
 * The arrays are written to the side file as they are: a change here needs
 * another WR_INDEX_FILE_VERSION. */
#ifndef WR_FORMAT_INDEX_PRIVATE_H
#define WR_FORMAT_INDEX_PRIVATE_H

#include "format/listing.h"
#include "format/index.h"
#include "format/intern.h"

#define WR_INDEX_NO_LABELS  UINT64_MAX
#define WR_INDEX_MAX_ISSUES 1000
#define WR_INDEX_MAX_STRIDE 64 /* of whole objects */

struct wr_index_object {
    uint64_t size;
    uint64_t name;     /* where its name starts in names */
    uint32_t dir;      /* number of its folder */
    uint32_t label;    /* of its whole sample */
    uint64_t identity; /* wr_index_set_identity */
};

/* A sample of its own length. */
struct wr_index_entry {
    uint64_t offset;
    uint32_t length, label;
};

enum wr_segment_kind {
    WR_SEGMENT_WHOLE,
    WR_SEGMENT_RUN,
    WR_SEGMENT_RECORDS,
    WR_SEGMENT_TILES
};

struct wr_index_segment {
    uint64_t first;          /* number of the sample of its first part */
    uint64_t count;          /* parts */
    uint64_t object;         /* number of its first (else: only) object */
    uint64_t offset, length; /* runs; tiles: parts of a unit, and bytes */
    uint64_t labels;         /* runs: start in labels, or WR_INDEX_NO_LABELS;
                                records: start in entries */
    uint64_t kind;           /* enum wr_segment_kind */
    uint64_t column;
    uint64_t unit;   /* that runs and records lie in, or WR_NO_UNIT; tiles: the
                        first one */
    uint64_t stride; /* whole: objects, run: bytes, tiles: units from one to the
                        next; records of column 0: start in entry_names */
};

/* Bytes of a segment that were all of it once: fingerprints still see these. */
#define WR_SEGMENT_PLAIN offsetof(struct wr_index_segment, column)

struct wr_index_column {
    size_t start, count; /* segments, once the index is ordered */
    size_t last;         /* the one added last */
    uint64_t samples;
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
    uint64_t *entry_names; /* where the names of column 0 start in names */
    size_t entry_name_count, entry_name_cap;
    struct wr_unit *units; /* by object number, then offset */
    size_t unit_count, unit_cap;
    union wr_scalar *scalars; /* of sample 0, of sample 1, ... */
    size_t scalar_count, scalar_cap;
    struct wr_stamp *stamps;
    size_t stamp_count, stamp_cap;
    struct wr_intern dirs, classes, stamped;
    struct wr_ignored ignored;
    weir_issue *issues; /* owned always; the texts as the arrays are */
    size_t issue_kept, issue_cap;
    uint64_t issue_count;
    struct wr_index_totals totals;
    struct wr_index_column *columns; /* owned always; at least one */
    size_t column_cap;
    unsigned column_count;   /* with parts */
    uint64_t unit;           /* that is filled, or WR_NO_UNIT */
    uint64_t sample_records; /* of column 0 */
    bool last_is_sampled;    /* the object added last has its sample */
    bool unsure;             /* wr_index_is_unsure */
    struct wr_schema schema; /* owned always */
    uint64_t declared;       /* a hash of what a user declared; 0: nothing */
    uint64_t links;          /* symbolic links that were followed */
    bool borrowed;           /* the arrays lie in a file that is in memory */
    void *map; /* owned: that file; NULL: it is another's, or none */
    size_t map_len;
    char *file; /* owned: its path; NULL: built here */
};

/* The arrays, in the order that files have them in. */
enum { WR_INDEX_ARRAYS = 16 };

struct wr_index_array {
    size_t array, count; /* offsets in struct wr_index */
    size_t cap;          /* the same; 0: a table's (dirs...), which frees it */
    size_t elem;         /* bytes */
};
extern const struct wr_index_array wr_index_arrays[WR_INDEX_ARRAYS];

/* The segment of sample i: the last whose first sample is not behind it. */
const struct wr_index_segment *
wr_index_find_segment(const struct wr_index *ix, unsigned column, uint64_t i);

/* Bytes that parts of `object` may lie in: the unit's, or the object's. */
uint64_t wr_index_limit(const struct wr_index *ix, uint64_t object,
                        uint64_t unit);

/* Finds where each column's segments start, which are in their order; false:
 * they are not, or a column is missing. */
bool wr_index_find_columns(struct wr_index *ix);

/* Does a run of equal parts lie within its object or unit? */
bool wr_index_run_fits(const struct wr_index *ix,
                       const struct wr_index_segment *g);

/* How many units a segment of tiles lies in; 0: not all of them are there. Then,
 * are they of its object, and large enough? */
uint64_t wr_index_tile_rows(const struct wr_index *ix,
                            const struct wr_index_segment *g);
bool wr_index_tiles_fit(const struct wr_index *ix,
                        const struct wr_index_segment *g, uint64_t rows);

#endif
