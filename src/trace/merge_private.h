/* merge_private.h - what a merge and its checks share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_MERGE_PRIVATE_H
#define WR_TRACE_MERGE_PRIVATE_H

#include "base/map.h"
#include "trace/analysis_private.h"
#include "trace/file.h"
#include "trace/merge.h"

/* One of the traces. */
struct wr_merge_input {
    const char *path; /* borrowed */
    const char *host; /* borrowed; "" : not known */
    struct wr_trace_file *file;
    struct wr_trace_analysis *mounts; /* owned: for its mounts alone */
    uint64_t offset_ns;               /* of its start */
    uint32_t first_process;           /* number of its first one */
    uint32_t space;  /* pids and tids get this times WR_MERGE_PIDS */
    uint32_t *names; /* owned: new numbers */
    struct wr_trace_cursor cursor;
    struct wr_trace_event *events; /* owned: those that are next */
    size_t event_count, event_at;
    uint64_t device, inode; /* of the file itself */
};

#define WR_MERGE_PIDS (INT32_C(1) << 22) /* more than a host can have */

/* A name of the output; its number is its place. */
struct wr_merge_name {
    const char *path;    /* borrowed from an input */
    uint32_t input, nth; /* the first input that has it; of equal paths */
    int kind;
    bool shared; /* with other hosts */
    uint64_t size, resident;
};

struct wr_merge {
    const struct wr_merge_config *cfg;
    struct wr_merge_input *inputs; /* owned */
    size_t count;
    struct wr_merge_name *names; /* owned */
    size_t name_count, name_cap;
    struct wr_map numbers; /* of struct wr_map_number */
    uint32_t processes;
    struct wr_trace_writer *writer;
    struct wr_merge_sum sum;
};

/* merge_check.c: opens the inputs, refuses what does not belong together. */
int wr_merge_open(struct wr_merge *m, weir_err *err);
int wr_merge_align(struct wr_merge *m, weir_err *err);

#endif
