/* test_doctor.c - what is found on machines of several kinds.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "patient.h"

/* Every check finds something, and what is not ok says what that means. */
static void this_machine(void **state)
{
    struct patient p;

    (void)state;
    patient_make(&p, NULL);
    patient_examine(&p, "/");
    assert_true(p.count >= 15);
    for (size_t i = 0; i < p.count; i++) {
        assert_true(*p.list[i].found);
        if (p.list[i].health != WR_HEALTH_OK)
            assert_true(*p.list[i].means);
        else
            assert_string_equal(p.list[i].remedy, "");
    }
    patient_done(&p);
}

static void kernels(void **state)
{
    struct patient p;
    struct utsname uts;

    (void)state;
    assert_int_equal(uname(&uts), 0);
    patient_make(&p, "true");
    patient_examine(&p, NULL);
    patient_has(&p, "kernel", WR_HEALTH_OK, "Linux 6.1.0-13", "");
    assert_null(strstr(patient_finding(&p, "cores")->found, "quota"));
    patient_has(&p, "memory", WR_HEALTH_OK, "8.2 GB, 4.1 GB free", "");
    patient_done(&p);
    patient_make(&p, "echo 5.10.0-28-amd64 >proc/sys/kernel/osrelease");
    patient_examine(&p, NULL);
    patient_has(&p, "kernel", WR_HEALTH_LIMITED, "Linux 5.10.0-28-amd64",
                !strcmp(uts.machine, "aarch64") ? "linux-image-arm64"
                                                : "linux-image-amd64");
    patient_done(&p);
    patient_make(&p, "rm -r proc");
    patient_examine(&p, NULL);
    patient_has(&p, "kernel", WR_HEALTH_LIMITED, "not known", "mount -t proc");
    patient_has(&p, "memory", WR_HEALTH_LIMITED, "not known", "mount -t proc");
    patient_done(&p);
}

static void containers(void **state)
{
    struct patient p;

    (void)state;
    patient_make(&p, "echo 50000 100000 >sys/fs/cgroup/cpu.max; "
                     "echo 268435456 >sys/fs/cgroup/memory.max");
    patient_examine(&p, NULL);
    patient_has(&p, "cores", WR_HEALTH_LIMITED, "a quota of 0.5 cores",
                "--threads 1 ");
    patient_has(&p, "memory", WR_HEALTH_LIMITED, "268 MB of 8.2 GB",
                "--memory 64MiB");
    patient_has(&p, "mount", WR_HEALTH_MISSING, "", "");
    patient_has(&p, "drop caches", WR_HEALTH_LIMITED, "not allowed", "sudo");
    patient_done(&p);
    patient_make(&p, "echo 67108864 >sys/fs/cgroup/memory.max");
    patient_examine(&p, NULL);
    patient_has(&p, "memory", WR_HEALTH_MISSING, "67.1 MB of", "");
    assert_true(patient_finding(&p, "memory")->essential);
    patient_done(&p);
    /* More than there is limits nothing. */
    patient_make(&p, "echo 268435456000 >sys/fs/cgroup/memory.max; "
                     "echo 99900000 100000 >sys/fs/cgroup/cpu.max");
    patient_examine(&p, NULL);
    patient_has(&p, "memory", WR_HEALTH_OK, "8.2 GB", "");
    assert_null(strstr(patient_finding(&p, "cores")->found, "quota"));
    patient_done(&p);
    patient_make(&p, "printf 'MemTotal: 900000 kB\\nMemAvailable: 70000 kB\\n'"
                     " >proc/meminfo");
    patient_examine(&p, NULL);
    patient_has(&p, "memory", WR_HEALTH_MISSING, "71.7 MB free", "ps ");
    patient_done(&p);
}

static void index_folders(void **state)
{
    struct patient p;
    char path[128];

    (void)state;
    patient_make(&p, "touch file; mkdir folder");
    setenv("WEIR_INDEX_DIR", "", 1);
    patient_examine(&p, NULL);
    patient_has(&p, "index folder", WR_HEALTH_LIMITED, "turned off", "unset");
    snprintf(path, sizeof(path), "%s/file/index", p.root);
    setenv("WEIR_INDEX_DIR", path, 1);
    patient_examine(&p, NULL);
    patient_has(&p, "index folder", WR_HEALTH_LIMITED, "Not a directory",
                "WEIR_INDEX_DIR=");
    /* It is made when it is needed, and not by looking. */
    snprintf(path, sizeof(path), "%s/folder/a/b", p.root);
    setenv("WEIR_INDEX_DIR", path, 1);
    patient_examine(&p, NULL);
    patient_has(&p, "index folder", WR_HEALTH_OK, path, "");
    assert_int_not_equal(access(path, F_OK), 0);
    unsetenv("WEIR_INDEX_DIR");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    patient_examine(&p, NULL);
    patient_has(&p, "index folder", WR_HEALTH_LIMITED, "HOME is not set", "");
    patient_done(&p);
}

static void mounts(void **state)
{
    struct patient p;

    (void)state;
    patient_make(&p, "touch dev/fuse");
    setenv("PATH", p.root, 1);
    patient_examine(&p, NULL);
    if (patient_finding(&p, "mount")->health == WR_HEALTH_MISSING &&
        strstr(patient_finding(&p, "mount")->found, "without libfuse3"))
        skip();
    if (geteuid() == 0)
        patient_has(&p, "mount", WR_HEALTH_OK, "/dev/fuse", "");
    else
        patient_has(&p, "mount", WR_HEALTH_MISSING, "no fusermount3",
                    "install fuse3");
    setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
    patient_done(&p);
}

static void paths(void **state)
{
    char path[PATH_MAX];
    struct patient p;

    (void)state;
    patient_make(&p, "echo 0123456789 >file");
    patient_examine(&p, p.root);
    assert_non_null(patient_finding(&p, "file system"));
    assert_non_null(patient_finding(&p, "O_DIRECT"));
    /* There is nothing in the sysfs of this root. */
    patient_has(&p, "disk counters", WR_HEALTH_LIMITED, "none", "");
    snprintf(path, sizeof(path), "%s/file", p.root);
    patient_examine(&p, path);
    assert_string_equal(patient_finding(&p, "O_DIRECT")->path, path);
    /* What is not there is not examined further. */
    snprintf(path, sizeof(path), "%s/nothing", p.root);
    patient_examine(&p, path);
    patient_has(&p, "file system", WR_HEALTH_MISSING, "No such file", path);
    assert_true(patient_finding(&p, "file system")->essential);
    assert_null(patient_finding(&p, "O_DIRECT"));
    patient_done(&p);
}

/* Nothing is left in a folder that was looked at. */
static void leaves_nothing(void **state)
{
    struct patient p;
    char cmd[128];

    (void)state;
    patient_make(&p, "mkdir empty");
    snprintf(cmd, sizeof(cmd), "%s/empty", p.root);
    patient_examine(&p, cmd);
    assert_int_equal(rmdir(cmd), 0);
    patient_done(&p);
}

/* One that is not there, and one that ends before it answers. */
static void hdf5_helpers(void **state)
{
    struct patient p;

    (void)state;
    if (getenv("WEIR_TEST_EMULATED"))
        skip(); /* by qemu-user posix_spawn() of no file succeeds */
    setenv("WEIR_HDF5_HELPER", "/nowhere/weir-hdf5", 1);
    patient_make(&p, NULL);
    patient_examine(&p, NULL);
    patient_has(&p, "HDF5", WR_HEALTH_MISSING, "no helper", "make");
    assert_non_null(
        strstr(patient_finding(&p, "HDF5")->means, "'/nowhere/weir-hdf5'"));
    setenv("WEIR_HDF5_HELPER", "/bin/false", 1);
    patient_examine(&p, NULL);
    patient_has(&p, "HDF5", WR_HEALTH_MISSING, "the helper fails", "make");
    assert_false(patient_finding(&p, "HDF5")->essential);
    unsetenv("WEIR_HDF5_HELPER");
    patient_done(&p);
}

static void kernel_traces(void **state)
{
    static const struct {
        const char *script, *says;
        enum wr_health health;
    } cases[] = {{"true", "no perf events", WR_HEALTH_LIMITED},
                 {"echo 2 >proc/sys/kernel/perf_event_paranoid && "
                  "echo 'CapEff:\t0000000000000000' >proc/self/status",
                  "not allowed: kernel.perf_event_paranoid = 2",
                  WR_HEALTH_LIMITED},
                 {"echo 2 >proc/sys/kernel/perf_event_paranoid && "
                  "echo 'CapEff: 000001ffffffffff' >proc/self/status",
                  "allowed: weir trace --kernel", WR_HEALTH_OK}};
    struct patient p;

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        const struct wr_finding *f;

        patient_make(&p, cases[k].script);
        patient_examine(&p, NULL);
        f = patient_finding(&p, "kernel trace");
        assert_non_null(f);
        assert_int_equal(f->health, cases[k].health);
        assert_non_null(strstr(f->found, cases[k].says));
        patient_done(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_machine),   cmocka_unit_test(kernels),
        cmocka_unit_test(containers),     cmocka_unit_test(index_folders),
        cmocka_unit_test(mounts),         cmocka_unit_test(paths),
        cmocka_unit_test(leaves_nothing), cmocka_unit_test(hdf5_helpers),
        cmocka_unit_test(kernel_traces)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
