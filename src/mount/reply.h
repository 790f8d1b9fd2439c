/* reply.h - answers that are kept until they are due; recycled with buffers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MOUNT_REPLY_H
#define WR_MOUNT_REPLY_H

#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>
#include <pthread.h>

#include "mount/player.h"

enum wr_reply_kind {
    WR_REPLY_ERROR, /* `error`; 0 is success without anything else */
    WR_REPLY_DATA,  /* `size` bytes of `buf` */
    WR_REPLY_COUNT, /* `size` bytes were written */
    WR_REPLY_ENTRY,
    WR_REPLY_OPEN,
    WR_REPLY_OPENDIR,
    WR_REPLY_CREATE, /* entry and open */
};

#define WR_REPLY_CLASSES 10 /* no buffer; 4 KiB, 8 KiB, ... 1 MiB */

struct wr_reply {
    struct wr_play play; /* first: the player's */
    struct wr_reply *next;
    fuse_req_t req;
    enum wr_reply_kind kind;
    int error;
    size_t size;
    struct fuse_entry_param entry;
    struct fuse_file_info fi;
    unsigned size_class;
    char *buf; /* owned; of its class's size */
};

struct wr_reply_pool {
    pthread_mutex_t lock; /* guards all below */
    struct wr_reply *free[WR_REPLY_CLASSES];
    size_t kept[WR_REPLY_CLASSES];
};

void wr_reply_pool_init(struct wr_reply_pool *pool);
void wr_reply_pool_done(struct wr_reply_pool *pool);

/* A reply with a buffer of at least `bytes` (0: none), of kind ERROR with
 * error 0; NULL when memory is short or `bytes` over 1 MiB. */
struct wr_reply *wr_reply_new(struct wr_reply_pool *pool, fuse_req_t req,
                              size_t bytes);
void wr_reply_free(struct wr_reply_pool *pool, struct wr_reply *r);

/* Sends it to the kernel, leaving it to the caller. Returns 0, or a negative
 * errno when the kernel did not take it: nobody waits for it any more. */
int wr_reply_send(const struct wr_reply *r);

#endif
