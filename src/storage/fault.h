/* fault.h - the rules of the fault store: what goes wrong, and when.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_STORAGE_FAULT_H
#define WR_STORAGE_FAULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/storage.h"
#include "weir/error.h"

#define WR_FAULT_RULES 16

/* What a rule is about; each is counted by itself. */
enum wr_fault_on {
    WR_FAULT_READ,
    WR_FAULT_WRITE,
    WR_FAULT_SYNC,
    WR_FAULT_CLOSE, /* of objects that can be written */
    WR_FAULT_OPEN,  /* of what exists */
    WR_FAULT_CREATE,
    WR_FAULT_RESIZE,
    WR_FAULT_LOCK,
    WR_FAULT_STAT,
    WR_FAULT_LIST,
    WR_FAULT_MKDIR,
    WR_FAULT_REMOVE,
    WR_FAULT_RENAME,
    WR_FAULT_SYNC_DIR,
    WR_FAULT_HUNG, /* of any kind: no rule's, only counted */
};
#define WR_FAULT_ONS (WR_FAULT_SYNC_DIR + 1)

enum wr_fault_what {
    WR_FAULT_FAIL,
    WR_FAULT_LATE, /* it is done, and then fails */
    WR_FAULT_CUT,
    WR_FAULT_FLIP,
    WR_FAULT_WAIT,
    WR_FAULT_HANG, /* of any kind of request */
};

enum wr_fault_when {
    WR_FAULT_ALWAYS,
    WR_FAULT_ONCE,
    WR_FAULT_FROM,
    WR_FAULT_EVERY,
    WR_FAULT_PATH
};

struct wr_fault_rule {
    enum wr_fault_on on;
    enum wr_fault_what what;
    int os_errno;   /* FAIL, LATE */
    uint64_t value; /* CUT: bytes, FLIP: offset, WAIT: ns */
    bool has_value;
    enum wr_fault_when when;
    uint64_t n;
    char *text; /* owned; PATH */
    char *file; /* owned; HANG: while it is there */
};

struct wr_fault_rules {
    struct wr_fault_rule rules[WR_FAULT_RULES];
    unsigned count;
    atomic_uint_fast64_t seen[WR_FAULT_HUNG + 1];
};

/* What is to happen to one request. */
struct wr_fault_verdict {
    int os_errno;                           /* 0: goes through */
    bool late;                              /* fails after it is done */
    const struct wr_fault_rule *flip, *cut; /* borrowed; NULL: not that */
    uint64_t due_ns;                        /* not before; 0: at once */
};

/* How many requests of that kind a fault store has seen: a test that fails each
 * of them has to know. HUNG: how many did not return at once, so that a test can
 * wait until one hangs. */
uint64_t wr_fault_seen(struct wr_store *st, enum wr_fault_on on);

#endif
