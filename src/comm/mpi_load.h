/* mpi_load.h - finding and loading the module for an MPI library.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_COMM_MPI_LOAD_H
#define WR_COMM_MPI_LOAD_H

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
