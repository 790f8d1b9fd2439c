/* records.h - what a trace file has besides events, as bytes and back.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each record begins with its length; a newer version appends to it, and an older
 * reader passes over what it does not know. Texts that are read are copied by
 * wr_trace_keep, which the reader gives. */
#ifndef WR_TRACE_RECORDS_H
#define WR_TRACE_RECORDS_H

#include "trace/file.h"
#include "trace/coding.h"

#define WR_TRACE_TEXT_MAX (UINT32_C(16) << 20) /* the monitor's JSON */
#define WR_TRACE_PATH_MAX (UINT32_C(1) << 16)

/* A name, or what is in the page cache of it, as a record. */
struct wr_trace_named {
    uint32_t number;
    int kind;
    uint64_t size, resident;
    const char *path; /* borrowed from the bytes: not terminated */
    size_t path_len;
};

struct wr_trace_numbered {
    uint32_t number;
    struct wr_trace_process process;
};

/* Texts that live as long as the file; freed together. */
struct wr_trace_keep {
    char **blocks; /* owned, and each of them */
    size_t count, cap, used, size;
    bool lack; /* memory was short */
};
/* NULL: no memory. */
const char *wr_trace_keep(struct wr_trace_keep *k, const char *s, size_t len);
void wr_trace_keep_done(struct wr_trace_keep *k);

void wr_trace_put_info(struct wr_pack *p, const struct wr_trace_info *from);
void wr_trace_put_name(struct wr_pack *p, const struct wr_trace_named *from);
void wr_trace_put_resident(struct wr_pack *p,
                           const struct wr_trace_named *from);
void wr_trace_put_process(struct wr_pack *p,
                          const struct wr_trace_numbered *from);
void wr_trace_put_counts(struct wr_pack *p, const struct wr_trace_counts *from);

/* Each takes one record from `p`; false: it is bad, or no memory was there for
 * a text (k->lack). Of a name, `path` is borrowed. */
bool wr_trace_take_info(struct wr_packed *p, struct wr_trace_keep *k,
                        struct wr_trace_info *ret);
bool wr_trace_take_name(struct wr_packed *p, struct wr_trace_keep *k,
                        struct wr_trace_named *ret);
bool wr_trace_take_resident(struct wr_packed *p, struct wr_trace_keep *k,
                            struct wr_trace_named *ret);
bool wr_trace_take_process(struct wr_packed *p, struct wr_trace_keep *k,
                           struct wr_trace_numbered *ret);
bool wr_trace_take_counts(struct wr_packed *p, struct wr_trace_keep *k,
                          struct wr_trace_counts *ret);

#endif
