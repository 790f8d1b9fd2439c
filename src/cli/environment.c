/* environment.c - the environment variables that weir reads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/environment.h"

#include <stddef.h>

const struct wr_variable wr_environment[] = {
    {.name = "WEIR_INDEX_DIR",
     .help = "The folder that keeps the indexes of data sets. The empty string "
             "turns them off: every data set is then indexed each time it is "
             "opened. Programs that use libweir read it too, unless they set "
             "weir_dataset_config.index_dir."},
    {.name = "XDG_CACHE_HOME",
     .help =
         "If WEIR_INDEX_DIR is not set and this is an absolute path, indexes "
         "that took long to build are kept in weir/index below it."},
    {.name = "HOME",
     .help = "If neither is set, they are kept in .cache/weir/index below this "
             "folder."},
    {.name = "WEIR_MODULES",
     .help = "The folders, separated by colons, that modules are loaded from "
             "(weir-onednn.so, weir-mpi-openmpi.so, weir-mpi-mpich.so), "
             "instead of the places beside weir and where it was installed."},
    {.name = "WEIR_HDF5_HELPER",
     .help = "The program that parses HDF5 files, instead of weir-hdf5 beside "
             "weir or where it was installed. Programs that use libweir read "
             "it too."},
    {.name = "WEIR_HDF5_PATIENCE",
     .help = "Seconds that this program may take without progress before the "
             "file counts as damaged (default: 60)."},
    {.name = "WEIR_TRACE",
     .help = "Set by weir trace for the command that it runs: where its "
             "processes record what they do."},
    {.name = "WEIR_TRACE_DISABLE",
     .help = "If set and not empty, weir trace runs its command without "
             "tracing it; a traced program sets it for children that are not "
             "to be traced."},
    {.name = "WEIR_TRACE_LIBRARY",
     .help = "The library that weir trace preloads, instead of "
             "libweir-trace.so beside weir or where it was installed."},
    {.name = "WEIR_TRACE_NO_BPF",
     .help = "If set and not empty, weir trace --kernel takes names from /proc "
             "instead of a BPF program."},
    {.name = "LD_PRELOAD",
     .help = "Libraries that traced programs load before others: weir trace "
             "puts its own in front of these."},
    {.name = "TMPDIR",
     .help = "Where weir trace keeps what it shares with traced processes if "
             "/dev/shm cannot be used, and the trace if the working "
             "directory cannot be written."},
    {.name = "OMP_WAIT_POLICY",
     .indirect = true,
     .help = "How the threads of weir train's oneDNN engine wait. If it is not "
             "set, passive: they leave the cores to the input pipeline."},
    {.name = "WEIR_MPI",
     .help = "How ranks meet: openmpi or mpich (by the module for that MPI), "
             "or none (without MPI). If it is not set, by the MPI whose "
             "launcher started them, and otherwise without."},
    {.name = "WEIR_SECRET",
     .help = "What ranks that meet at a TCP port must have in common; long and "
             "random. If it is not set the id of the job alone keeps strangers "
             "out."},
    {.name = "OMPI_COMM_WORLD_RANK",
     .help = "With OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_RANK and "
             "OMPI_COMM_WORLD_LOCAL_SIZE: the ranks that mpirun of Open MPI "
             "started."},
    {.name = "OMPI_COMM_WORLD_SIZE", .help = "See OMPI_COMM_WORLD_RANK."},
    {.name = "OMPI_COMM_WORLD_LOCAL_RANK", .help = "See OMPI_COMM_WORLD_RANK."},
    {.name = "OMPI_COMM_WORLD_LOCAL_SIZE", .help = "See OMPI_COMM_WORLD_RANK."},
    {.name = "PMIX_RANK",
     .help = "Set by Open MPI and by srun --mpi=pmix: ranks meet by Open MPI."},
    {.name = "PMIX_NAMESPACE",
     .help = "With Open MPI and WEIR_MPI=none: names the socket at which the "
             "ranks of one host meet."},
    {.name = "PMI_RANK",
     .help = "With PMI_SIZE, MPI_LOCALRANKID and MPI_LOCALNRANKS: the ranks "
             "that mpiexec of MPICH or srun --mpi=pmi2 started."},
    {.name = "PMI_SIZE", .help = "See PMI_RANK."},
    {.name = "MPI_LOCALRANKID", .help = "See PMI_RANK."},
    {.name = "MPI_LOCALNRANKS", .help = "See PMI_RANK."},
    {.name = "SLURM_PROCID",
     .help = "With SLURM_STEP_NUM_TASKS, SLURM_LOCALID, SLURM_NODEID and "
             "SLURM_STEP_TASKS_PER_NODE: the ranks that srun started."},
    {.name = "SLURM_STEP_NUM_TASKS", .help = "See SLURM_PROCID."},
    {.name = "SLURM_LOCALID", .help = "See SLURM_PROCID."},
    {.name = "SLURM_NODEID", .help = "See SLURM_PROCID."},
    {.name = "SLURM_STEP_TASKS_PER_NODE", .help = "See SLURM_PROCID."},
    {.name = "SLURM_JOB_ID",
     .help = "With SLURM_STEP_ID and SLURM_STEP_NODELIST: where ranks of srun "
             "meet without MPI, and what keeps strangers out."},
    {.name = "SLURM_STEP_ID", .help = "See SLURM_JOB_ID."},
    {.name = "SLURM_STEP_NODELIST", .help = "See SLURM_JOB_ID."},
    {.name = "RANK",
     .help = "With WORLD_SIZE, MASTER_ADDR and MASTER_PORT, and if there are "
             "any LOCAL_RANK and LOCAL_WORLD_SIZE: the ranks that torchrun "
             "started. They meet at the port behind MASTER_PORT."},
    {.name = "WORLD_SIZE", .help = "See RANK."},
    {.name = "LOCAL_RANK", .help = "See RANK."},
    {.name = "LOCAL_WORLD_SIZE", .help = "See RANK."},
    {.name = "MASTER_ADDR", .help = "See RANK."},
    {.name = "MASTER_PORT", .help = "See RANK."},
    {.name = "TORCHELASTIC_RUN_ID",
     .help = "Set by torchrun: its ranks count, whatever started torchrun."},
    {.name = "NO_COLOR",
     .help = "If set and not empty, results have no colours unless --color "
             "always is given."},
    {.name = "LC_ALL",
     .indirect = true,
     .help = "With LC_CTYPE and LANG: the character set of the terminal. "
             "Charts use block characters only where it is UTF-8. Numbers are "
             "written the same way everywhere."},
    {.name = "LC_CTYPE", .indirect = true, .help = "See LC_ALL."},
    {.name = "LANG", .indirect = true, .help = "See LC_ALL."},
    {.name = "TZ",
     .indirect = true,
     .help = "The time zone of the times that weir ckpt ls prints. Records and "
             "JSON have UTC."},
    {.name = "PATH",
     .indirect = true,
     .help = "Where weir mount and weir doctor look for fusermount3."},
    {.name = NULL}};
