/* listing.h - the entries of one folder, sorted by name.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_LISTING_H
#define WR_FORMAT_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/ignored.h"
#include "storage/storage.h"

struct wr_listed {
    uint64_t key;            /* what sorting compares first */
    uint64_t name;           /* where its name starts in the listing's names */
    uint64_t size, identity; /* as wr_entry's */
    enum wr_kind kind;
    bool link; /* as wr_entry's */
};

/* Zeroed memory is an empty one; end it with wr_listing_done. */
struct wr_listing {
    char *names; /* owned: each with its NUL */
    size_t names_len, names_cap;
    struct wr_listed *entries; /* owned */
    size_t count, cap;
    struct wr_ignored ignored; /* what the filter says of those not kept */
};

/* Which entries are kept, which of the others are counted, and a call to make
 * now and then (its return other than 0 ends the listing and is returned); each
 * may be NULL. */
struct wr_listing_filter {
    bool (*wanted)(const struct wr_entry *e);
    bool (*ignored)(const struct wr_entry *e); /* not wanted: to be counted? */
    int (*tick)(void *arg);
    void *arg;
};

/* Whether a file that is not wanted counts as ignored: wr_ignored_counts. */
bool wr_listing_is_ignored(const struct wr_entry *e);

/* Lists folder `path`, sorted by name, byte by byte. Returns 0, or the first
 * failure; what was listed before it is there. *ret_stop (never NULL) tells
 * whether memory or `tick` ended it, rather than the storage. */
int wr_listing_read(struct wr_listing *l, struct wr_store *st, const char *path,
                    const struct wr_listing_filter *filter, bool *ret_stop,
                    weir_err *err);

const char *wr_listing_name(const struct wr_listing *l, size_t k);
/* The number of the entry called so; `count`: there is none. */
size_t wr_listing_find(const struct wr_listing *l, const char *name);
void wr_listing_done(struct wr_listing *l);

#endif
