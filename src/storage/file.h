/* file.h - what the parts of the local file backend share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_STORAGE_FILE_H
#define WR_STORAGE_FILE_H

#include "storage/storage.h"

struct file_store {
    struct wr_store store;
    int dir_fd; /* owned: the folder that paths start from */
    char *root; /* owned: its path, for messages */
};

struct file_object {
    struct wr_object object;
    int fd;        /* owned */
    int direct_fd; /* owned; -1: not open, or O_DIRECT is not to be had */
    char *path;    /* owned: for messages */
};

/* The aligned range that a direct read really asks for; a plain read asks for
 * one byte more than wanted if it is to notice growth. */
struct wr_span {
    uint64_t offset;
    size_t len;
    bool direct;
};

struct wr_span wr_file_span(const struct wr_io *rd, bool direct);

/* Whether to ask for the rest of the span, after `total` bytes of it came and
 * the last call brought `last`. */
bool wr_file_wants_more(const struct wr_io *rd, const struct wr_span *span,
                        size_t total, size_t last);

/* Settles a read of which `total` bytes of its span came. */
void wr_file_settle(struct wr_io *rd, const struct wr_span *span, size_t total);

/* Settles a failed read. */
void wr_file_settle_errno(struct wr_io *rd, enum wr_io_step step, int e);

int wr_file_uring_open(struct file_store *fs, const struct wr_queue_config *cfg,
                       struct wr_queue **ret, weir_err *err);
int wr_file_blocking_open(struct file_store *fs,
                          const struct wr_queue_config *cfg,
                          struct wr_queue **ret, weir_err *err);

#endif
