/* slurm.h - lists of nodes and of tasks, as Slurm writes them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_COMM_SLURM_H
#define WR_COMM_SLURM_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

/* The first name of a list such as "a[03-05,7]-ib,b1": "a03-ib". */
int wr_slurm_first_node(const char *list, char *ret, size_t cap, weir_err *err);

/* The number of tasks of node number `node` in a list such as "2(x3),1". */
int wr_slurm_tasks(const char *list, uint32_t node, uint32_t *ret,
                   weir_err *err);

#endif
