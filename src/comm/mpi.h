/* mpi.h - ranks that MPI started: MPI for meeting and for many bytes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * "mpi:", "mpi:openmpi", "mpi:mpich": rank 0's address and a random token go to
 * all ranks by MPI, and then they are a star of TCP connections: it notices and
 * names a rank that died, which MPI does not. wr_comm_share and wr_comm_read_all
 * go by MPI; they and opening are called in the same order by all ranks, also if
 * they have several comms. */
#ifndef WR_COMM_MPI_H
#define WR_COMM_MPI_H

#include "comm/mpi_module.h"
#include "weir/error.h"

/* "openmpi" or "mpich", whose library is loaded in this process already; NULL:
 * neither. There must not be two MPIs in a process. */
const char *wr_mpi_loaded(void);

/* Loads weir-mpi-NAME.so for "openmpi" or "mpich" (see base/module.h). It is
 * never unloaded. The message says what to install. */
int wr_mpi_load(const char *name, const struct wr_mpi_module **ret,
                weir_err *err);

#endif
