/* record_store.h - a store that writes down what is done to it, and can fail.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_STORE_H
#define RECORD_STORE_H

#include "storage/storage.h"

#define RECORD_LINES 400
#define RECORD_LINE  400

/* How a call fails. */
enum record_how {
    RECORD_NOT_DONE, /* that call does nothing and says EIO */
    RECORD_DONE,     /* it does all and says EIO, as a server may */
    RECORD_FULL,     /* it does nothing and says ENOSPC */
    RECORD_DEAD,     /* as NOT_DONE, and so do all calls after it */
};

/* Of one store; the test keeps it. Zeroed: nothing fails. */
struct record {
    /* What was done, ids as '@', the folder of writer 3 as "W3": "create A",
     * "write A", "sync A", "read A", "lock A", "mkdir A", "remove A",
     * "rename A B", "rename-new A B", "swap A B", "syncdir A" ("." is the root),
     * "check W3" (it was looked whether it is there). Calls that failed are not
     * there. */
    char lines[RECORD_LINES][RECORD_LINE];
    size_t count;
    unsigned calls;   /* of all kinds, so far */
    unsigned fail_at; /* the number of one, from 1; 0: none */
    enum record_how how;
    /* Called before each change and each file that is made, as it will be written
     * down; NULL. */
    void (*before)(void *arg, const char *what);
    void *arg;
    bool no_swap;   /* as a file system that cannot */
    uint64_t space; /* free bytes that it tells; 0: what the inner one says */
};

/* Takes `inner`. Nothing is really synced: who looks at the order needs no
 * medium. */
struct wr_store *record_wrap(struct wr_store *inner, struct record *rec);

#endif
