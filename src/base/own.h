/* own.h - is this mine, and only mine to change?
 * SPDX-License-Identifier: Apache-2.0
 *
 * What lies in a folder that others can write to may have been put there by
 * them: a link that leads into the user's files, a file that changes after it
 * was checked, a forged result of an earlier run. Whatever weir keeps between
 * two runs, loads into the process or talks to is asked this question first.
 *
 * Yes: it belongs to the effective user or to root, and its mode lets nobody
 * else write to it. With an ACL the group bits of the mode are its mask, which
 * bounds what any entry of it can allow. To share something is an option of
 * the user (WR_OWN_GROUP, WR_OWN_ALL); no other than its owner writes to it
 * even then.
 *
 * A path is walked folder by folder. A link on it is followed if it belongs to
 * the effective user or to root; the last component is never followed. What is
 * asked is what was opened, so nothing can be exchanged in between. Who goes on
 * by the path, as exec and dlopen do, wants WR_OWN_WAY: then nobody else can
 * put another thing at the path either. */
#ifndef WR_BASE_OWN_H
#define WR_BASE_OWN_H

#include <sys/stat.h>

#include "weir/error.h"

enum wr_own_flags {
    WR_OWN_MAKE = 1,  /* a folder that is missing is made, 0700 */
    WR_OWN_WAY = 2,   /* every folder on the way belongs to the effective user
                        or to root, and others cannot write to it unless it
                        is sticky */
    WR_OWN_GROUP = 4, /* what is made may be read by its group (0750, 0640);
                         what belongs to one of our groups passes, whoever
                         owns it: the members are trusted */
    WR_OWN_ALL = 8,   /* the same for everybody (0755, 0644): who can put it
                         there is trusted */
    WR_OWN_ANY = 16,  /* only links are asked: what is there may be anybody's */
};

/* The question, asked of an open descriptor: 0, or WEIR_EACCES and a message that
 * begins with 'name' and says who owns it or who can write to it. */
int wr_own_check(int fd, const char *name, weir_err *err);

/* Opens a folder that is ours for listing and for the calls that end in "at".
 * WEIR_ENOENT: it is missing; WEIR_EACCES: it is not ours, or it is a link. */
int wr_own_dir(const char *path, unsigned flags, int *ret_fd, weir_err *err);

/* Opens a regular file that is ours, in a folder that may be anybody's.
 * `oflags` as for open, with O_CLOEXEC added; what O_CREAT makes has mode 0600
 * unless it is shared.
 * A file of several names is not opened for writing: one of them may stand for
 * another file of the user. */
int wr_own_open(const char *path, int oflags, unsigned flags, int *ret_fd,
                weir_err *err);

/* Whether all links on a path, its last component too, belong to the effective
 * user or to root (WEIR_EACCES: which one does not). What is missing is fine. */
int wr_own_check_links(const char *path, weir_err *err);

/* Modes of what is made: folders, and files. The umask applies. */
mode_t wr_own_dir_mode(unsigned flags);
mode_t wr_own_file_mode(unsigned flags);

#endif
