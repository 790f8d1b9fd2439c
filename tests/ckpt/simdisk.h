/* simdisk.h - a disk in memory that remembers the order of everything.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A storage backend for tests: files, folders, locks, and a log of every
 * operation, from which simcrash.h makes the states that a power cut may leave.
 * A disk holds several roots, each of which is a store; they share one log, so
 * a cut hits all of them at one moment. */
#ifndef SIMDISK_H
#define SIMDISK_H

#include <pthread.h>

#include "simfs.h"

struct sim_disk {
    pthread_mutex_t lock; /* guards all that is below */
    struct sim_fs fs;     /* what programs see */
    struct sim_fs base;   /* when the log began; all of it is on the medium */
    struct sim_op *ops;   /* owned: the log */
    size_t count, cap;
    uint64_t free_bytes; /* told by the stores' `space` */
    unsigned bad_sync;   /* every so many syncs of a file one fails; 0: none */
    unsigned syncs;
};

/* `sector`: bytes that are written whole or not at all (512, 4096). */
struct sim_disk *sim_disk_new(unsigned sector);
/* One that holds what `fs` does, which is taken. */
struct sim_disk *sim_disk_of(struct sim_fs *fs);
void sim_disk_free(struct sim_disk *d); /* takes NULL; stores are closed */

/* Operations so far: the position of what happens now. */
size_t sim_disk_now(struct sim_disk *d);

/* A store of the folder `root`, which is made, on the medium, when it is
 * missing. Several at a time are fine. */
struct wr_store *sim_store_new(struct sim_disk *d, const char *root);

#endif
