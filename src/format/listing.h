/* listing.h - the entries of folders, sorted by name, and which of them are ignored.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_LISTING_H
#define WR_FORMAT_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/storage.h"

/* --- files that no format takes, counted by their endings --- */

#define WR_IGNORED_KINDS                                                       \
    64 /* endings told apart; the rest is WR_IGNORED_REST */
#define WR_IGNORED_REST "*"

/* As it lies in index files. */
struct wr_ignored_ext {
    uint64_t files;
    char ext[16]; /* ".gif", in small letters; "" for names without one */
};

/* Zeroed memory is none; end it with wr_ignored_done. */
struct wr_ignored {
    struct wr_ignored_ext *list; /* owned */
    size_t count, cap;
};

void wr_ignored_done(struct wr_ignored *ig);

/* Is it worth a remark that this file is not used? Not if it is hidden, or what
 * usually lies beside data: README and the like, texts, tables and metadata. */
bool wr_ignored_counts(const char *name);

/* Counts the file `name`; false when memory is short. */
bool wr_ignored_add(struct wr_ignored *ig, const char *name);

/* Adds all of `from`. */
bool wr_ignored_merge(struct wr_ignored *ig, const struct wr_ignored *from);

/* Most files first; those of equal number by their endings. */
void wr_ignored_sort(struct wr_ignored *ig);

uint64_t wr_ignored_files(const struct wr_ignored *ig);

/* --- the entries of one folder, sorted by name --- */

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

/* --- folders listed by threads, ahead of the walk --- */

/* A walk through a tree, depth first, pushes the folders that it is going to
 * enter and pops one when it enters it. Meanwhile threads list those that come
 * next. What the walk sees is the same for any number of threads. */

struct wr_ahead;

/* One folder, as it was found. */
struct wr_folder {
    int stat_r; /* of looking at the folder itself; < 0: `err` says why */
    int list_r; /* of listing it; what came before a failure is there */
    bool stop;  /* memory or `tick` ended the listing */
    struct wr_stat stat; /* from before it was listed */
    struct wr_listing listing;
    weir_err err;
};

/* `wanted` and `ignored` as in struct wr_listing_filter. `tick` is called now and then by
 * the thread that pops; its return other than 0 ends the listing. With 0
 * threads a folder is listed when it is popped. */
struct wr_ahead_config {
    struct wr_store *store; /* borrowed */
    unsigned threads;
    bool (*wanted)(const struct wr_entry *e);
    bool (*ignored)(const struct wr_entry *e);
    int (*tick)(void *arg);
    void *arg;
};

/* Threads that a walk of this store is helped by. */
unsigned wr_ahead_threads(const struct wr_store *store);

/* NULL when memory is short. */
struct wr_ahead *wr_ahead_new(const struct wr_ahead_config *cfg);

/* The folder pushed last is the one popped first; false when memory is short.
 * The threads may begin once wr_ahead_go is called. */
bool wr_ahead_push(struct wr_ahead *a, const char *path);
void wr_ahead_go(struct wr_ahead *a);

/* The folder pushed last, to be ended with wr_folder_free; NULL when memory is
 * short, or `tick` ended the wait. */
struct wr_folder *wr_ahead_pop(struct wr_ahead *a);

void wr_folder_free(struct wr_folder *f);

/* Ends and joins the threads; takes NULL. */
void wr_ahead_free(struct wr_ahead *a);

#endif
