/* inode.h - the table of files that the kernel knows, each with a descriptor.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file is reached through an O_PATH descriptor that was opened by its name
 * in its folder, symbolic links not followed: nothing outside of the source can
 * be named. The kernel counts how often it was told of a file (lookups) and
 * says when it forgets it. Results are 0 or a negative errno, which goes to
 * the kernel as it is. */
#ifndef WR_MOUNT_INODE_H
#define WR_MOUNT_INODE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/map.h"

struct wr_inode {
    int fd; /* owned; O_PATH */
    dev_t dev;
    ino_t ino;
    uint64_t lookups; /* told to the kernel; guarded by the table */
    atomic_uint_fast64_t looked_ns; /* when its name was looked up last */
};

struct wr_inodes {
    pthread_mutex_t lock; /* guards the map, and lookups of all in it */
    struct wr_map known;  /* of struct wr_map_pointer: owned struct wr_inode */
    size_t limit;         /* descriptors that may be used; more is -ENFILE */
    struct wr_inode root;
};

/* Takes over `root_fd` on success. Returns 0 or a negative errno. */
int wr_inodes_init(struct wr_inodes *t, int root_fd);
void wr_inodes_done(struct wr_inodes *t);

/* The file `name` of the folder `parent`, told once more to the kernel. */
int wr_inodes_lookup(struct wr_inodes *t, const struct wr_inode *parent,
                     const char *name, struct wr_inode **ret,
                     struct stat *ret_attr);

/* The kernel forgets `n` of the times that it was told. */
void wr_inodes_forget(struct wr_inodes *t, struct wr_inode *inode, uint64_t n);

/* Three quarters of the descriptors are used: do not volunteer more. */
bool wr_inodes_is_crowded(struct wr_inodes *t);

/* A number that tells files apart, of several file systems too. */
uint64_t wr_inode_object(const struct wr_inode *inode);

#endif
