/* test_launch.c - what the environment says about ranks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

#define MAX_VARIABLES 12

#define OPENMPI                                                                \
    "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4",                        \
        "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=2"
#define HYDRA                                                                  \
    "PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=2"
#define SLURM                                                                  \
    "SLURM_JOB_ID=17", "SLURM_STEP_ID=0", "SLURM_PROCID=2",                    \
        "SLURM_STEP_NUM_TASKS=3", "SLURM_LOCALID=0", "SLURM_NODEID=1",         \
        "SLURM_STEP_TASKS_PER_NODE=2,1", "SLURM_STEP_NODELIST=n[07-08]"
#define TORCH                                                                  \
    "RANK=5", "WORLD_SIZE=8", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=4",            \
        "MASTER_ADDR=head", "MASTER_PORT=29500"

static void set_only(const char *const *variables)
{
    static char copies[MAX_VARIABLES][128];

    clearenv();
    for (size_t k = 0; k < MAX_VARIABLES && variables[k]; k++) {
        snprintf(copies[k], sizeof(copies[k]), "%s", variables[k]);
        assert_int_equal(putenv(copies[k]), 0);
    }
}

static void found(void **state)
{
    static const struct {
        const char *variables[MAX_VARIABLES];
        uint32_t rank, world, local_rank, local_world;
        const char *by, *url; /* url: how it begins */
    } rows[] = {
        {{NULL}, 0, 1, 0, 1, NULL, ""},
        {{"RANK=3", "WORLD_SIZE=9"}, 0, 1, 0, 1, NULL, ""},
        {{OPENMPI}, 3, 4, 1, 2, "Open MPI", "mpi:openmpi"},
        {{OPENMPI, "PMIX_RANK=3"}, 3, 4, 1, 2, "Open MPI", "mpi:openmpi"},
        {{OPENMPI, "WEIR_MPI="}, 3, 4, 1, 2, "Open MPI", "mpi:openmpi"},
        {{OPENMPI, "WEIR_MPI=mpich"}, 3, 4, 1, 2, "Open MPI", "mpi:mpich"},
        {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2",
          "OMPI_COMM_WORLD_LOCAL_SIZE=2", "PMIX_NAMESPACE=77", "WEIR_MPI=none"},
         0,
         2,
         0,
         2,
         "Open MPI",
         "local:@"},
        {{HYDRA}, 1, 2, 1, 2, "MPICH", "mpi:mpich"},
        {{"PMI_RANK=1", "PMI_SIZE=2"}, 1, 2, 0, 1, "MPICH", "mpi:mpich"},
        {{SLURM}, 2, 3, 0, 1, "Slurm", "tcp:n07:2"},
        {{SLURM, "PMIX_RANK=2"}, 2, 3, 0, 1, "Slurm", "mpi:openmpi"},
        {{SLURM, "PMI_RANK=2", "PMI_SIZE=3"}, 2, 3, 0, 1, "Slurm", "mpi:mpich"},
        {{SLURM, "PMIX_RANK=2", "WEIR_MPI=none"},
         2,
         3,
         0,
         1,
         "Slurm",
         "tcp:n07:2"},
        {{"SLURM_JOB_ID=17", "SLURM_STEP_ID=1", "SLURM_PROCID=1",
          "SLURM_STEP_NUM_TASKS=2", "SLURM_LOCALID=1", "SLURM_NODEID=0",
          "SLURM_STEP_TASKS_PER_NODE=2", "SLURM_STEP_NODELIST=n1"},
         1,
         2,
         1,
         2,
         "Slurm",
         "local:@"},
        /* a step of one task, and the shell of an allocation of four */
        {{"SLURM_JOB_ID=17", "SLURM_STEP_ID=0", "SLURM_PROCID=0",
          "SLURM_STEP_NUM_TASKS=1"},
         0,
         1,
         0,
         1,
         "Slurm",
         ""},
        {{"SLURM_JOB_ID=17", "SLURM_PROCID=0", "SLURM_NTASKS=4"},
         0,
         1,
         0,
         1,
         NULL,
         ""},
        {{TORCH}, 5, 8, 1, 4, "torchrun", "tcp:head:29501"},
        {{"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=::1", "MASTER_PORT=65535"},
         1,
         2,
         0,
         1,
         "torchrun",
         "tcp:[::1]:65534"},
        /* torchrun on each node of a step; mpirun in an allocation */
        {{"SLURM_JOB_ID=17", "SLURM_STEP_ID=0", "SLURM_PROCID=1",
          "SLURM_STEP_NUM_TASKS=2", TORCH, "TORCHELASTIC_RUN_ID=none"},
         5,
         8,
         1,
         4,
         "torchrun",
         "tcp:head:29501"},
        {{"SLURM_JOB_ID=17", "SLURM_STEP_ID=0", "SLURM_PROCID=1",
          "SLURM_STEP_NUM_TASKS=2", OPENMPI},
         3,
         4,
         1,
         2,
         "Open MPI",
         "mpi:openmpi"},
        /* a script that says the same again */
        {{HYDRA, "RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=a", "MASTER_PORT=1"},
         1,
         2,
         1,
         2,
         "MPICH",
         "mpi:mpich"},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(rows); k++) {
        struct wr_launch l;
        weir_err err = {0};

        set_only(rows[k].variables);
        if (wr_launch_find(&l, &err) < 0)
            fail_msg("row %zu: %s", k, err.msg);
        if (l.rank != rows[k].rank || l.world != rows[k].world ||
            l.local_rank != rows[k].local_rank ||
            l.local_world != rows[k].local_world)
            fail_msg("row %zu: %u of %u, %u of %u here", k, l.rank, l.world,
                     l.local_rank, l.local_world);
        if (!l.by || !rows[k].by)
            assert_true(l.by == rows[k].by);
        else
            assert_string_equal(l.by, rows[k].by);
        if (strncmp(l.url, rows[k].url, strlen(rows[k].url)) != 0 ||
            !*l.url != !*rows[k].url)
            fail_msg("row %zu: url '%s'", k, l.url);
        assert_true(l.host[0] != '\0');
    }
}

static void refused(void **state)
{
    static const struct {
        const char *variables[MAX_VARIABLES];
        const char *text;
    } rows[] = {
        {{"OMPI_COMM_WORLD_RANK=3"},
         "OMPI_COMM_WORLD_RANK is set, and OMPI_COMM_WORLD_SIZE is not"},
        {{"OMPI_COMM_WORLD_SIZE=3"},
         "OMPI_COMM_WORLD_SIZE is set, and OMPI_COMM_WORLD_RANK is not"},
        {{"OMPI_COMM_WORLD_RANK=4", "OMPI_COMM_WORLD_SIZE=4"},
         "no rank 4 of 4 ranks"},
        {{"OMPI_COMM_WORLD_RANK=-1", "OMPI_COMM_WORLD_SIZE=4"},
         "OMPI_COMM_WORLD_RANK: '-1'"},
        {{"OMPI_COMM_WORLD_RANK=1x", "OMPI_COMM_WORLD_SIZE=4"},
         "OMPI_COMM_WORLD_RANK: '1x'"},
        {{"OMPI_COMM_WORLD_RANK=", "OMPI_COMM_WORLD_SIZE=4"},
         "OMPI_COMM_WORLD_RANK: "},
        {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=99999999999"},
         "OMPI_COMM_WORLD_SIZE: "},
        {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2",
          "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=1"},
         "no rank 1 of 1 ranks of this host"},
        {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2",
          "OMPI_COMM_WORLD_LOCAL_SIZE=3"},
         "of this host, of 2 altogether"},
        {{OPENMPI, "PMIX_RANK=1"}, "PMIX_RANK says rank 1"},
        {{HYDRA, "RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=a", "MASTER_PORT=1"},
         "say rank 0 of 2, and MPICH says rank 1 of 2"},
        {{SLURM, "WEIR_MPI=lam"}, "WEIR_MPI: 'lam' is not one of openmpi"},
        {{HYDRA, "WEIR_MPI=none"}, "do not meet without MPI"},
        {{"PMIX_RANK=0"}, "PMIX_RANK is set by a launcher"},
        {{"SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=0"}, "SLURM_JOB_ID"},
        {{"SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=0",
          "SLURM_STEP_TASKS_PER_NODE=1"},
         "SLURM_JOB_ID"},
        {{"SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=0", "SLURM_NODEID=1",
          "SLURM_STEP_TASKS_PER_NODE=1"},
         "'1': not the numbers of tasks"},
        {{"SLURM_JOB_ID=1", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=2",
          "SLURM_PROCID=0", "SLURM_STEP_NODELIST=n["},
         "SLURM_STEP_NODELIST: 'n[': no list"},
        {{"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=a", "MASTER_PORT=0"},
         "'a' and '0': no address"},
        {{"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=a,b", "MASTER_PORT=1"},
         "no address"},
        {{"RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=", "MASTER_PORT=1"},
         "no address"},
    };

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(rows); k++) {
        struct wr_launch l = {.rank = 77};
        weir_err err;
        int r;

        set_only(rows[k].variables);
        r = wr_launch_find(&l, &err);
        if (r >= 0)
            fail_msg("row %zu: rank %u of %u", k, l.rank, l.world);
        if (!strstr(err.msg, rows[k].text))
            fail_msg("row %zu: %s", k, err.msg);
        assert_int_equal(l.rank, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
