/* mpi_owner.h - the one thread of the process that calls MPI.
 * SPDX-License-Identifier: Apache-2.0
 *
 * MPI is initialized once, lives until the process ends and is finalized when
 * that exits with status 0. After a call that failed (unless it was a file that
 * did), was given up or hangs it is not called again, not even to finalize it:
 * the process can still exit. */
#ifndef WR_COMM_MPI_OWNER_H
#define WR_COMM_MPI_OWNER_H

#include "comm/mpi_module.h"
#include "weir/error.h"

typedef int (*wr_mpi_call)(struct wr_mpi_args *a, weir_err *err);

/* How long to wait, and what to look at meanwhile. */
struct wr_mpi_patience {
    uint64_t timeout_ms;
    /* optional: called every 100 ms; a negative return ends the wait. */
    int (*look)(void *arg, weir_err *err);
    void *arg;
};

/* Starts the thread and MPI in it; if they were started already, by the same
 * module, says what they said then. */
int wr_mpi_start(const struct wr_mpi_module *m, uint64_t timeout_ms,
                 struct wr_mpi_args *ret, weir_err *err);

/* Runs one function of the module in that thread. The arguments are copied. 1:
 * it failed, and MPI still works; `err` says why. */
int wr_mpi_run(wr_mpi_call call, const struct wr_mpi_args *args,
               const struct wr_mpi_patience *patience, weir_err *err);

#endif
