/* launch.h - how this process was started: its rank, and of how many.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     struct wr_launch l;
 *     r = wr_launch_find(&l, err);
 *     struct wr_comm_config cfg = {.url = l.url, .rank = l.rank,
 *                                  .world = l.world, .timeout_ms = 60000};
 *     r = wr_comm_open(&cfg, &comm, err);      (collective)
 *
 * Only the environment is looked at: it is quick and starts nothing. */
#ifndef WR_COMM_LAUNCH_H
#define WR_COMM_LAUNCH_H

#include <stdint.h>
#include <stddef.h>

#include "weir/error.h"

struct wr_launch {
    uint32_t rank, world;
    uint32_t local_rank, local_world; /* among the ranks of this host */
    const char *by; /* "Open MPI", "MPICH", "Slurm", "torchrun"; NULL: none */
    char host[65];  /* name of this host */
    char url[320];  /* for wr_comm_config; empty with world 1 */
};

/* World 1 where there is no launcher, in a job step of one task, and in the
 * shell of a Slurm allocation. Variables that cannot be read or contradict each
 * other are errors (WEIR_EINVAL) that name them. The innermost launcher counts:
 * torchrun inside mpirun or srun, mpirun inside Slurm.
 *
 * WEIR_MPI chooses how ranks meet: "openmpi" and "mpich" by that MPI, "none"
 * without MPI; not set: by the MPI whose launcher it was, otherwise without. */
int wr_launch_find(struct wr_launch *ret, weir_err *err);

/* The first name of a list such as "a[03-05,7]-ib,b1": "a03-ib". */
int wr_slurm_first_node(const char *list, char *ret, size_t cap, weir_err *err);

/* The number of tasks of node number `node` in a list such as "2(x3),1". */
int wr_slurm_tasks(const char *list, uint32_t node, uint32_t *ret,
                   weir_err *err);

#endif
