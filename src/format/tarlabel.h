/* tarlabel.h - what a member of an archive is to its sample, and labels.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_TARLABEL_H
#define WR_FORMAT_TARLABEL_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

#define WR_TAR_MAX_LABEL 65536u /* bytes of a member that holds a label */

/* In each kind, the later one is the better one of two. */
enum wr_tar_part {
    WR_TAR_NO_PART,
    WR_TAR_VIEW,       /* left.jpg: one of several pictures, maybe */
    WR_TAR_PICTURE,    /* jpg, png and what other pictures end in */
    WR_TAR_ID,         /* id: perhaps a number */
    WR_TAR_JSON,       /* json: perhaps with a label in it */
    WR_TAR_LABEL_TEXT, /* cls, cls.txt, label: a number */
};

/* `ext`: what stands behind the first dot of a member's basename. *ret_bit is
 * another bit for each ending that a sample has once; else 0. */
enum wr_tar_part wr_tar_part_of(const char *ext, unsigned *ret_bit);

/* The label in the bytes of an ID, JSON or LABEL_TEXT member; WEIR_NO_LABEL for
 * -1, and for an id or JSON that has none. `bytes` need no NUL behind them. */
int wr_tar_label_parse(enum wr_tar_part part, const char *bytes, size_t len,
                       uint32_t *ret, weir_err *err);

/* 1: the bytes of an ID or JSON member say a label and nothing else; 0: they do
 * not; negative: a lack of memory. */
int wr_tar_is_only_label(enum wr_tar_part part, const char *bytes, size_t len,
                         weir_err *err);

#endif
