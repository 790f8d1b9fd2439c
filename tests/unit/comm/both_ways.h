/* both_ways.h - all ranks meet: a call in both directions, without content.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_COMM_BOTH_WAYS_H
#define TEST_COMM_BOTH_WAYS_H

#include <stdlib.h>

#include "comm/comm.h"

static inline int barrier(struct wr_comm *c, weir_err *err)
{
    struct wr_comm_part *parts;
    char *text;
    size_t len;
    int r;

    r = wr_comm_gather(c, NULL, 0, &parts, err);
    if (r < 0)
        return r;
    free(parts);
    r = wr_comm_broadcast(c, NULL, 0, &text, &len, err);
    if (r < 0)
        return r;
    free(text);
    return 0;
}

#endif
