/* star.h - what backends have in common whose ranks are connected with rank 0.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rank 0 has a wire to each other rank, the others have one to rank 0, and all
 * that is said goes through it. The end of a connection names the rank that
 * died. The functions are those of struct wr_comm_ops. */
#ifndef WR_COMM_STAR_H
#define WR_COMM_STAR_H

#include "comm/comm.h"
#include "comm/meet.h"

/* Meets the others: of `m`, path, ops, token and listener are used, the rest
 * comes from `cfg`. */
int wr_star_open(const struct wr_comm_ops *ops,
                 const struct wr_comm_config *cfg, const struct wr_meet *m,
                 struct wr_comm **ret, weir_err *err);

void wr_star_close(struct wr_comm *c);
int wr_star_gather(struct wr_comm *c, const void *bytes, size_t len,
                   struct wr_comm_part **ret, weir_err *err);
int wr_star_broadcast(struct wr_comm *c, const void *bytes, size_t len,
                      char **ret, size_t *ret_len, weir_err *err);
int wr_star_max(struct wr_comm *c, const bool *in, uint64_t value,
                uint64_t *ret, weir_err *err);
int wr_star_share(struct wr_comm *c, void *buf, size_t len, uint32_t root,
                  weir_err *err);
int wr_star_alive(struct wr_comm *c, weir_err *err);
void wr_star_give_up(struct wr_comm *c, const weir_err *why);

/* The channel's name, or a failure when it can be none. */
int wr_star_channel(const struct wr_comm_config *cfg, const char **ret,
                    weir_err *err);

#endif
