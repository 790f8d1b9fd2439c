/* index_file_private.h - how an index file is laid out: docs/formats/index.md.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_INDEX_FILE_PRIVATE_H
#define WR_FORMAT_INDEX_FILE_PRIVATE_H

#include "format/index_private.h"

#define WR_INDEX_MAGIC        "WEIRIDX1"
#define WR_INDEX_BYTE_ORDER   0x01020304u /* another number in the other order */
#define WR_INDEX_ALIGN        64u         /* of sections */
#define WR_INDEX_CHECKED_FROM 16u /* the checksum is of all from here on */

/* The sections: arrays of the index, then what is not an array of it. */
enum {
    WR_INDEX_KEY = WR_INDEX_ARRAYS, /* text with its NUL */
    WR_INDEX_FORMAT,                /* text with its NUL */
    WR_INDEX_ISSUES,                /* struct wr_index_file_issue each */
    WR_INDEX_ISSUE_TEXTS,           /* texts, each with its NUL */
    WR_INDEX_FIELDS,                /* struct wr_index_file_field each */
    WR_INDEX_SECTIONS
};

/* A problem; name and reason are places in the texts. */
struct wr_index_file_issue {
    uint32_t name, reason;
    int32_t code;
    uint32_t zero;
};

enum {
    WR_INDEX_FIELD_LABEL = 1,
    WR_INDEX_FIELD_UNPACKED = 2,
    WR_INDEX_FIELD_STRIDED = 4,
    WR_INDEX_FIELD_SWAP = 8,
    WR_INDEX_FIELD_SCALED = 16,
    WR_INDEX_FIELD_EXTRA = 32,
    WR_INDEX_FIELD_TILED = 64
};

struct wr_index_file_field {
    char name[WR_FIELD_NAME], path[WR_FIELD_PATH];
    uint64_t dims[7], strides[7], tile[7];
    uint32_t kind, dtype, ndim, column, scalar, flags;
};

struct wr_index_file_section {
    uint64_t offset, bytes;
};

struct wr_index_file_header {
    char magic[8];
    uint64_t checksum;
    uint32_t version, byte_order;
    uint64_t file_bytes;
    uint64_t count, bytes, max_length, issue_count;
    uint32_t max_label_plus_1, sections;
    uint64_t declared, links;
    struct wr_index_file_section section[WR_INDEX_SECTIONS];
};

_Static_assert(sizeof(struct wr_index_file_header) ==
                   88 + 16 * WR_INDEX_SECTIONS,
               "the header has no holes");

#endif
