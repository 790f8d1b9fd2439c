/* crew.h - threads that take numbered pieces of work until there are none.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_GEN_CREW_H
#define WR_GEN_CREW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "weir/error.h"

#define WR_CREW_MAX 256 /* threads */

struct wr_crew {
    const char *name; /* borrowed: of the threads */
    unsigned threads; /* 1 to WR_CREW_MAX */
    /* Does all that one thread does; ends early when `stop` is set. */
    int (*work)(void *arg, unsigned thread, weir_err *err);
    /* From the calling thread, about 20 times a second; a nonzero return
     * cancels. May be NULL. */
    int (*watch)(void *arg);
    void *arg;
    _Atomic bool stop; /* set when a thread fails, or by `watch` */
};

/* Returns when all threads have ended: 0, the first failure, or
 * WEIR_ECANCELED. */
int wr_crew_run(struct wr_crew *c, weir_err *err);

#endif
