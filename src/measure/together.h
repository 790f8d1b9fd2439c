/* together.h - several ranks measure at the same time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What they reach together is the sum of their work over the time of the slowest
 * one. With one process every call returns at once. */
#ifndef WR_MEASURE_TOGETHER_H
#define WR_MEASURE_TOGETHER_H

#include <jansson.h>
#include <stdbool.h>

#include "comm/comm.h"

struct wr_barrier;

struct wr_together {
    struct wr_comm *comm;       /* borrowed; NULL: one process */
    struct wr_barrier *barrier; /* owned; NULL: one process */
};

/* All ranks; `comm` may be NULL or of one. */
int wr_together_open(struct wr_together *t, struct wr_comm *comm,
                     weir_err *err);
/* Waits for nobody. */
void wr_together_close(struct wr_together *t);

static inline bool wr_together_is(const struct wr_together *t)
{
    return t->barrier;
}

/* All ranks: returns when all have come. */
int wr_together_begin(const struct wr_together *t, weir_err *err);

/* All ranks: the work of all over the seconds of the slowest, the same on every
 * rank; 0 when one of them has NaN seconds (could not do it) or nothing was
 * done. */
int wr_together_rate(const struct wr_together *t, double work, double seconds,
                     double *ret, weir_err *err);

/* All ranks: the largest of their values (seconds, >= 0); a rank that does not
 * know its own gives NaN. NaN: none does. */
int wr_together_slowest(const struct wr_together *t, double *seconds,
                        weir_err *err);

/* All ranks: what each says, `mine`, which is freed, as a list on rank 0; NULL on
 * the others. */
int wr_together_gather(const struct wr_together *t, json_t *mine, json_t **ret,
                       weir_err *err);

/* After a failure of this rank: the others need not wait for it. */
void wr_together_give_up(const struct wr_together *t, const weir_err *why);

#endif
