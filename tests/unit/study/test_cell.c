/* test_cell.c - cells and their files: kept, damaged, of other settings.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <math.h>

#include <cmocka.h>

#include "result/get.h"
#include "study/cell.h"

static char dir[256];

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");

    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    char path[300];

    snprintf(path, sizeof(path), "%s/feed-imagenet-hdd-t4-read.json", dir);
    unlink(path);
    return rmdir(dir);
}

static struct wr_cell new_cell(void)
{
    struct wr_cell c = {.rounds = 4,
                        .job = {.kind = WR_CELL_FEED,
                                .device = "hdd",
                                .data = "imagenet",
                                .threads = 4,
                                .batch = 64,
                                .samples = 256,
                                .read_only = true}};

    wr_cell_job_id(&c.job, c.id);
    return c;
}

static void put(const char *text)
{
    char path[300];
    FILE *f;

    snprintf(path, sizeof(path), "%s/feed-imagenet-hdd-t4-read.json", dir);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void test_names(void **state)
{
    struct wr_cell c = new_cell();

    assert_string_equal(c.id, "feed-imagenet-hdd-t4-read");
    c.job = (struct wr_cell_job){.kind = WR_CELL_TRAIN,
                                 .device = "ssd",
                                 .data = "caltech101",
                                 .threads = 8,
                                 .batch = 16,
                                 .prefetch = 1,
                                 .iterations = 10,
                                 .accelerator = "ms=375",
                                 .save_every = 5,
                                 .saves_to = "burst"};
    wr_cell_job_id(&c.job, c.id);
    assert_string_equal(c.id,
                        "train-caltech101-ssd-t8-b16-p1-i10-ms=375-save-burst");
}

static void test_kept(void **state)
{
    struct wr_cell c = new_cell(), again = new_cell();
    struct wr_spread s;
    weir_err err;

    assert_int_equal(wr_cell_load(&c, dir, &err), 1);
    for (int k = 0; k < 4; k++)
        assert_int_equal(
            wr_cell_add(&c, dir,
                        json_pack("{s:f, s:s}", "value", k ? 10.0 + k : 99.0,
                                  "note", "x"),
                        &err),
            0);
    assert_int_equal(wr_cell_load(&again, dir, &err), 0);
    assert_int_equal(wr_cell_runs(&again), 4);
    s = wr_cell_spread(&again, "value"); /* without the warm-up */
    assert_int_equal(s.count, 3);
    assert_true(s.median == 12 && s.low == 11 && s.high == 13);
    assert_true(isnan(wr_cell_spread(&again, "other").median));
    assert_string_equal(wr_get_text(json_array_get(again.runs, 3), "note"),
                        "x");
    wr_cell_done(&c);
    wr_cell_done(&again);
}

static void test_settings(void **state)
{
    struct wr_cell c = new_cell();
    weir_err err;

    c.job.samples = 512;
    assert_int_equal(wr_cell_load(&c, dir, &err), WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "samples = 256, and 512 is asked for"));
    assert_int_equal(wr_cell_runs(&c), 0);
    put("{\"schema\": \"weir-study-cell\", \"runs\": [], "
        "\"settings\": {\"kind\": \"\\u001b[31m\"}}");
    assert_int_equal(wr_cell_load(&c, dir, &err), WEIR_ESTATE);
    assert_non_null(strstr(err.msg, "kind = \\x1b[31m, and feed is asked for"));
    wr_cell_done(&c);
}

static void test_damaged(void **state)
{
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "{\"\033[31m\": 1 \033}",
        "{\"schema\": \"weir-study-cell\"}",
        "{\"schema\": \"other\", \"settings\": {}, \"runs\": []}",
        "{\"schema\": \"weir-study-cell\", \"settings\": {}, \"runs\": [1]}",
        "{\"schema\": \"weir-study-cell\", \"settings\": [], \"runs\": []}",
    };
    weir_err err;

    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        struct wr_cell c = new_cell();

        put(bad[k]);
        if (wr_cell_load(&c, dir, &err) != WEIR_EFORMAT)
            fail_msg("'%s' was taken", bad[k]);
        assert_non_null(strstr(err.msg, "feed-imagenet-hdd-t4-read.json"));
        assert_null(strchr(err.msg, '\033'));
        assert_null(c.runs);
    }
}

/* What cannot be read is not damaged: to measure it again would lose it. */
static void test_unreadable(void **state)
{
    struct wr_cell c = new_cell();
    weir_err err;
    char path[300];

    snprintf(path, sizeof(path), "%s/feed-imagenet-hdd-t4-read.json", dir);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_not_equal(wr_cell_load(&c, dir, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "a pipe"));
    assert_null(c.runs);
    unlink(path);
    assert_int_equal(wr_cell_load(&c, path, &err), 1);
}

static void test_unwritable(void **state)
{
    struct wr_cell c = new_cell();
    weir_err err;

    assert_true(wr_cell_add(&c, "/nowhere/at/all", json_object(), &err) < 0);
    assert_non_null(strstr(err.msg, "/nowhere/at/all"));
    wr_cell_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),      cmocka_unit_test(test_kept),
        cmocka_unit_test(test_settings),   cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_unreadable), cmocka_unit_test(test_unwritable),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
