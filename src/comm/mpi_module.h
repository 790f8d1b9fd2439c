/* mpi_module.h - what a module for an MPI library offers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One source, mpi_module.c, is built once for each MPI. A module exports one
 * symbol, wr_mpi. Its functions are called by one thread alone (mpi_owner.c).
 * They poll, so that they can be given up; only start, read and finish may hang
 * in MPI itself. */
#ifndef WR_COMM_MPI_MODULE_H
#define WR_COMM_MPI_MODULE_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/module.h"
#include "weir/error.h"
#include "weir/weir.h"

/* What one call works on. It outlives a call that hangs. */
struct wr_mpi_args {
    void *buf;
    size_t len;
    int root;
    char path[PATH_MAX];
    uint64_t offset;
    int readers;
    void *state;          /* of the module: what start made */
    uint64_t deadline_ns; /* by wr_clock_ns() */
    atomic_bool cancel;
    /* results of start */
    int rank, world;
    bool ours; /* MPI was not initialized by somebody else before */
    /* result of read that failed: it was the file, and MPI still works */
    bool harmless;
};

struct wr_mpi_module {
    struct wr_module_made made; /* of struct wr_mpi_args */
    const char *name;           /* "Open MPI" */
    /* Initializes MPI, unless the program has done so. */
    int (*start)(struct wr_mpi_args *a, weir_err *err);
    /* The bytes at `buf` of `root` to all. */
    int (*share)(struct wr_mpi_args *a, weir_err *err);
    /* All read the same bytes of a file. */
    int (*read)(struct wr_mpi_args *a, weir_err *err);
    int (*finish)(struct wr_mpi_args *a, weir_err *err);
};

#endif
