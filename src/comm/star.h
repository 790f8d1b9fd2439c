/* star.h - ranks that are connected with rank 0, as those of all backends are.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rank 0 has a wire to each other rank, the others have one to rank 0, and all
 * that is said goes through it. The end of a connection names the rank that
 * died. For comm.c, which has the calls that are open to others. */
#ifndef WR_COMM_STAR_H
#define WR_COMM_STAR_H

#include "comm/comm.h"
#include "comm/meet.h"

/* Meets the others: of `m`, path, ops, token and listener are used, the rest
 * comes from `cfg`. */
int wr_star_open(const struct wr_comm_ops *ops,
                 const struct wr_comm_config *cfg, const struct wr_meet *m,
                 struct wr_comm **ret, weir_err *err);

/* A world of one: no wires. */
int wr_star_alone(struct wr_comm **ret, weir_err *err);

/* Does not wait for the others. */
void wr_star_close(struct wr_comm *c);

/* As comm.h says of wr_comm_gather and wr_comm_broadcast. */
int wr_star_gather(struct wr_comm *c, const void *bytes, size_t len,
                   struct wr_comm_part **ret, weir_err *err);
int wr_star_broadcast(struct wr_comm *c, const void *bytes, size_t len,
                      char **ret, size_t *ret_len, weir_err *err);

/* The largest value of the ranks that `in` marks (one bool for each rank; NULL:
 * all), which are the ones that call it. Rank 0 is one. */
int wr_star_max(struct wr_comm *c, const bool *in, uint64_t value,
                uint64_t *ret, weir_err *err);

/* `len` bytes of `root` into the `buf` of all others. */
int wr_star_share(struct wr_comm *c, void *buf, size_t len, uint32_t root,
                  weir_err *err);

/* 0, or that a rank which this one is connected with has gone; nothing is sent,
 * taken in or waited for. */
int wr_star_alive(struct wr_comm *c, weir_err *err);

/* After a failure, of which it tells the others as far as that goes without
 * waiting, so that they need not wait for the timeout. */
void wr_star_give_up(struct wr_comm *c, const weir_err *why);

/* The channel's name, or a failure when it can be none. */
int wr_star_channel(const struct wr_comm_config *cfg, const char **ret,
                    weir_err *err);

#endif
