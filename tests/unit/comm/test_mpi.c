/* test_mpi.c - what is said where ranks cannot meet by MPI.
 * SPDX-License-Identifier: Apache-2.0
 *
 * That they can is tested with launchers, in tests/comm. */
#include "comm/comm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../format/tmpdir.h"
#include "base/mem.h"
#include "comm/mpi.h"
#include "ranks.h"

static int open_url(const char *url, weir_err *err)
{
    struct wr_comm_config cfg = {.url = url, .world = 2, .timeout_ms = 1000};
    struct wr_comm *c;

    return wr_comm_open(&cfg, &c, err);
}

static void modules(void **state)
{
    const struct wr_mpi_module *m;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    assert_null(wr_mpi_loaded());
    assert_int_equal(wr_mpi_load("lam", &m, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "'lam': no MPI that weir knows"));
    assert_int_equal(setenv("WEIR_MODULES", t.path, 1), 0);
    assert_int_equal(wr_mpi_load("mpich", &m, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "no weir-mpi-mpich.so in WEIR_MODULES"));
    tmpdir_put_text(&t, "weir-mpi-openmpi.so", "garbage");
    assert_int_equal(wr_mpi_load("openmpi", &m, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "weir-mpi-openmpi.so': cannot load"));
    /* empty: beside this program, where there is none, or installed */
    assert_int_equal(setenv("WEIR_MODULES", "", 1), 0);
    if (wr_mpi_load("mpich", &m, &err) < 0)
        assert_non_null(strstr(err.msg, "weir-mpi-mpich.so"));
    tmpdir_done(&t);
}

static void urls(void **state)
{
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    clearenv();
    assert_int_equal(setenv("WEIR_MODULES", t.path, 1), 0);
    assert_int_equal(open_url("mpi:", &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "no MPI has started this process"));
    assert_int_equal(open_url("mpi:lam", &err), WEIR_EINVAL);
    assert_int_equal(open_url("mpi:mpich", &err), WEIR_ENOENT);
    assert_int_equal(setenv("PMI_RANK", "0", 1), 0);
    assert_int_equal(setenv("PMI_SIZE", "2", 1), 0);
    assert_int_equal(open_url("mpi:", &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "no weir-mpi-mpich.so"));
    /* Open MPI would end the process */
    assert_int_equal(setenv("SLURM_STEP_NUM_TASKS", "2", 1), 0);
    assert_int_equal(open_url("mpi:openmpi", &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "srun --mpi=pmix"));
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules),
        cmocka_unit_test(urls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
