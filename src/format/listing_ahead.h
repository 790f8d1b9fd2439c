/* listing_ahead.h - folders listed by threads, ahead of the walk.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A walk through a tree, depth first, pushes the folders that it is going to
 * enter and pops one when it enters it. Meanwhile threads list those that come
 * next. What the walk sees is the same for any number of threads. */
#ifndef WR_FORMAT_LISTING_AHEAD_H
#define WR_FORMAT_LISTING_AHEAD_H

#include "format/listing.h"

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
