/* door.h - what the handlers of one mount share.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A request is worked on when it comes, on the source; its answer leaves when
 * the device model says that the device would be done. */
#ifndef WR_MOUNT_DOOR_H
#define WR_MOUNT_DOOR_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/clock.h"
#include "mount/inode.h"
#include "mount/reply.h"
#include "storage/device.h"

#define WR_DOOR_OWES   (1u << 20) /* descriptors that may owe */
#define WR_DOOR_IO_MAX (1u << 20) /* bytes of one read or write */

/* Finding, opening and beginning to read a file follow each other within this,
 * unless the program did something else in between. */
#define WR_DOOR_SPENT_NS (2 * WR_NS_PER_MS)

/* Reads of the probe file from here on are answered late, by as many ns as
 * pages lie before them. */
#define WR_PROBE_LATE_OFFSET (UINT64_C(1) << 30)

static inline uint64_t wr_probe_offset(uint64_t wait_ns)
{
    return WR_PROBE_LATE_OFFSET + (wait_ns << 12);
}

static inline uint64_t wr_probe_wait_ns(uint64_t offset)
{
    return (offset - WR_PROBE_LATE_OFFSET) >> 12;
}

struct wr_door {
    struct wr_inodes inodes;
    struct wr_reply_pool replies;
    struct wr_device *device; /* owned; NULL: every answer is due at once */
    struct wr_player *player; /* owned */
    bool others_receive;      /* a receiver may wait: there are more of them */
    atomic_flag lone;         /* a receiver waits with its answer */
    struct wr_clock_sleeper sleeper; /* of that one */
    atomic_uint_fast64_t *owes; /* owned: by descriptor, since when the device's
                          time of opening is to be taken, by the first read; 0:
                          it was */
    double timeout_s; /* how long the kernel trusts names and attributes */

    /* The file by which the mount measures itself: seen by one process only,
     * and only while it measures. */
    struct wr_inode probe;
    char probe_name[40];
    atomic_int probe_pid; /* 0: there is no such file */

    atomic_uint_fast64_t cost_ns;      /* of the mount itself: answers leave so
                                     much earlier */
    atomic_uint_fast64_t open_cost_ns; /* of finding and opening a file, taken
                                          off its first read where no more was
                                          spent on it */
    atomic_uint_fast64_t
        send_ns; /* that the kernel takes a mebibyte in, of late:
                                     data leave earlier by that */
    atomic_uint_fast64_t reads, writes, others;
    atomic_uint_fast64_t read_bytes, write_bytes;
};

/* `d` comes zeroed, but for the name of the probe. Takes over `source_fd` in
 * any case. */
int wr_door_init(struct wr_door *d, int source_fd,
                 const struct wr_device_profile *profile, weir_err *err);
void wr_door_done(struct wr_door *d);

static inline struct wr_door *wr_door_of(fuse_req_t req)
{
    return fuse_req_userdata(req);
}

struct wr_inode *wr_door_inode(struct wr_door *d, fuse_ino_t ino);
bool wr_door_is_probe(struct wr_door *d, fuse_ino_t ino);
struct stat wr_door_probe_attr(fuse_req_t req);

/* When the answer to a request that has just come is to leave; 0: at once. */
uint64_t wr_door_due(struct wr_door *d, const struct wr_device_request *rq);

/* The same for a read that opens its file, on which the mount and who asks have
 * been since `since_ns`. */
uint64_t wr_door_due_opening(struct wr_door *d,
                             const struct wr_device_request *rq,
                             uint64_t since_ns);

/* The same for what is no read or write. */
uint64_t wr_door_due_meta(struct wr_door *d, const struct wr_inode *inode);

/* A reply with a buffer of `bytes`. NULL: memory is short, and the kernel was
 * told so. */
struct wr_reply *wr_door_reply(fuse_req_t req, size_t bytes);

/* Sends the reply when it is due, and frees it. */
void wr_door_answer(struct wr_door *d, struct wr_reply *r, uint64_t due_ns);

/* Answers with an errno (0: success) when it is due. */
void wr_door_answer_error(fuse_req_t req, int error, uint64_t due_ns);

/* Syncs what `fd` is open on, as the kernel asked for `ino`, and answers. */
void wr_door_sync(fuse_req_t req, fuse_ino_t ino, int fd, int datasync);

/* "/proc/self/fd/N": opens what an O_PATH descriptor stands for. */
#define WR_PROC_PATH 32
const char *wr_proc_path(char buf[WR_PROC_PATH], int fd);

/* The handlers; ops_*.c fill in their part. */
void wr_ops_tree(struct fuse_lowlevel_ops *ops);
void wr_ops_data(struct fuse_lowlevel_ops *ops);

/* ops_tree.c: the entry `name` of `parent` for a reply; 0 or an errno. */
int wr_tree_entry(struct wr_door *d, const struct wr_inode *parent,
                  const char *name, struct fuse_entry_param *ret);
/* ops_data.c: closes the file that was opened into `fi`. */
void wr_data_close(const struct fuse_file_info *fi);
/* ops_data.c: its descriptor. */
int wr_data_fd(const struct fuse_file_info *fi);
/* ops_tree.c: closes the folder that was opened into `fi`. */
void wr_list_close(const struct fuse_file_info *fi);

#endif
