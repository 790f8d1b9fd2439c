/* answers.h - what the commands answer that make no record.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each stands in the file of its command. */
#ifndef WR_CLI_ANSWERS_H
#define WR_CLI_ANSWERS_H

#include "report/answer.h"

#define WR_ANSWER_MAP(X)                                                       \
    X(inspect)                                                                 \
    X(inspect_made)                                                            \
    X(mount_list)                                                              \
    X(convert)                                                                 \
    X(stage)                                                                   \
    X(cache)                                                                   \
    X(doctor)                                                                  \
    X(ckpt_ls)                                                                 \
    X(ckpt_show)                                                               \
    X(ckpt_show_file)                                                          \
    X(ckpt_verify)                                                             \
    X(ckpt_verify_file)                                                        \
    X(ckpt_drain)                                                              \
    X(ckpt_restore)                                                            \
    X(ckpt_save)                                                               \
    X(ckpt_prune)                                                              \
    X(ckpt_pin)                                                                \
    X(ckpt_stale)                                                              \
    X(ckpt_rm)                                                                 \
    X(ckpt_id)

#define WR_ANSWER_DECLARE(name) extern const struct wr_answer wr_answer_##name;
WR_ANSWER_MAP(WR_ANSWER_DECLARE)
#undef WR_ANSWER_DECLARE

#endif
