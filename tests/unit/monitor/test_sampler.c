/* test_sampler.c - the thread that watches the machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "monitor/host.h"
#include "monitor/sampler.h"

static struct wr_sampler *start(const struct wr_sampler_config *cfg)
{
    struct wr_sampler *s = NULL;
    weir_err err;

    assert_int_equal(wr_sampler_start(cfg, &s, &err), 0);
    assert_non_null(s);
    return s;
}

/* Since the start: the time axis of the series. */
static double seconds_of(const struct wr_sampler *s)
{
    return (double)(wr_clock_ns() - wr_sampler_start_ns(s)) / 1e9;
}

/* Keeps a core busy. */
static void work(double seconds)
{
    uint64_t end = wr_clock_ns() + (uint64_t)(seconds * 1e9);

    while (wr_clock_ns() < end)
        ;
}

static size_t open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    size_t n = 0;

    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* Rows cover the time from the start to the stop, and what this process did
 * is in them. */
static void work_is_seen(void **state)
{
    static const char *const here[] = {"."};
    struct wr_sampler *s = start(
        &(struct wr_sampler_config){.paths = here, .path_count = 1, .hz = 50});
    const struct wr_series *m;
    double cpu = 0, last = 0, end;
    FILE *f;
    char buf[4096];

    (void)state;
    f = fopen("/proc/self/exe", "rb");
    work(0.3);
    while (fread(buf, 1, sizeof(buf), f))
        ;
    fclose(f);
    end = seconds_of(s);
    wr_sampler_stop(s);
    wr_sampler_stop(s);
    m = wr_sampler_machine(s);
    assert_true(wr_series_rows(m) >= 1);
    for (size_t i = 0; i < wr_series_rows(m); i++) {
        double cores = wr_series_value(m, i, WR_SAMPLE_CPU_PROCESS);

        assert_true(cores >= 0 && m->t[i] > last);
        cpu += cores * (m->t[i] - last);
        last = m->t[i];
        assert_true(wr_series_value(m, i, WR_SAMPLE_RSS) > 65536);
        assert_true(wr_series_value(m, i, WR_SAMPLE_PAGE_CACHE) > 0);
        assert_true(wr_series_value(m, i, WR_SAMPLE_CPU_MACHINE) >= 0);
    }
    assert_true(cpu > 0 && last > 0.25 && last > end - 0.02);
    assert_true(wr_sampler_cpu_s(s) > 0);
    for (size_t k = 0; k < wr_sampler_disk_count(s); k++) {
        const struct wr_sampler_disk *d = wr_sampler_disk(s, k);

        assert_int_equal(wr_series_rows(&d->series), wr_series_rows(m));
        for (size_t i = 0; i < wr_series_rows(&d->series); i++) {
            assert_true(wr_series_value(&d->series, i, WR_DISK_BUSY) <= 1);
            assert_true(wr_series_value(&d->series, i, WR_DISK_QUEUE) >= 0);
        }
    }
    wr_sampler_free(s);
}

/* A run that is shorter than a period has one row; the stop does not wait for
 * the end of it (then this would take an hour). */
static void short_runs_have_a_row(void **state)
{
    struct wr_sampler *s = start(&(struct wr_sampler_config){.hz = 1.0 / 3600});

    (void)state;
    wr_sampler_stop(s);
    assert_int_equal(wr_series_rows(wr_sampler_machine(s)), 1);
    wr_sampler_free(s);
}

static void many_samples_take_the_same_room(void **state)
{
    bool many = false;

    (void)state;
    /* On a busy machine it takes a while until it has run five times. */
    for (double seconds = 0.1; !many; seconds *= 2) {
        struct wr_sampler *s = start(
            &(struct wr_sampler_config){.hz = 1000, .max_rows = 4});
        const struct wr_series *m = wr_sampler_machine(s);

        while (seconds_of(s) < seconds)
            work(0.01);
        wr_sampler_stop(s);
        many = m->merge > 1;
        assert_true(wr_series_rows(m) <= 4);
        assert_int_equal(m->capacity, 4);
        wr_sampler_free(s);
    }
}

/* The disk behind a path is watched under the name that the host gives. */
static void the_disk_of_a_path(void **state)
{
    static const char *const paths[] = {".", "/proc", "/no/such/path", "."};
    struct wr_sampler *s = start(
        &(struct wr_sampler_config){.paths = paths, .path_count = 4});
    struct wr_host_fs fs;
    weir_err err;

    (void)state;
    assert_int_equal(wr_host_fs_of(".", &fs, &err), 0);
    if (*fs.device) {
        assert_true(wr_sampler_disk_count(s) >= 1);
        assert_string_equal(wr_sampler_disk(s, 0)->name, fs.device);
    } else {
        assert_int_equal(wr_sampler_disk_count(s), 0);
    }
    wr_sampler_free(s); /* also while it runs */
}

static void nothing_is_left_open(void **state)
{
    size_t before;

    (void)state;
    wr_sampler_free(start(&(struct wr_sampler_config){0}));
    before = open_files();
    for (int i = 0; i < 20; i++)
        wr_sampler_free(start(&(struct wr_sampler_config){.hz = 1000}));
    assert_int_equal(open_files(), before);
    wr_sampler_stop(NULL);
    wr_sampler_free(NULL);
}

static void nonsense_is_refused(void **state)
{
    /* The period of the last one has no 64 bits of nanoseconds. */
    static const double bad[] = {-1, NAN, INFINITY, 1001, 1e-11};
    struct wr_sampler *s = NULL;
    weir_err err;

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(bad); i++)
        assert_int_equal(
            wr_sampler_start(&(struct wr_sampler_config){.hz = bad[i]}, &s,
                             &err),
            WEIR_EINVAL);
    assert_null(s);
}

/* A kernel without these files: what they say is not known. */
static void files_that_are_not_there(void **state)
{
    struct wr_counters c = {.stat = -1,
                            .meminfo = -1,
                            .statm = -1,
                            .io = -1,
                            .disk = {-1},
                            .disk_count = 1};
    struct wr_counters_own own;
    struct wr_counters_machine machine;

    (void)state;
    wr_counters_read_own(&c, &own);
    assert_false(own.has_rss || own.has_io || own.has_disk[0]);
    assert_true(own.cpu_ns > 0 && own.at_ns > 0);
    wr_counters_read_machine(&c, &machine);
    assert_false(machine.has_cpu || machine.has_memory);
    wr_counters_close(&c);
}

static void every_column_has_a_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_SAMPLE_COLUMNS; i++)
        assert_non_null(wr_sampler_column_names[i]);
    for (size_t i = 0; i < WR_DISK_COLUMNS; i++)
        assert_non_null(wr_sampler_disk_column_names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_seen),
        cmocka_unit_test(short_runs_have_a_row),
        cmocka_unit_test(many_samples_take_the_same_room),
        cmocka_unit_test(the_disk_of_a_path),
        cmocka_unit_test(nothing_is_left_open),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(files_that_are_not_there),
        cmocka_unit_test(every_column_has_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
