/* test_moved.c - what an emulated device moved, over time.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "storage/storage.h"
#include "storage/moved.h"

#define MS WR_NS_PER_MS

static char dir[256], file[300];

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");

    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir))
        return -1;
    snprintf(file, sizeof(file), "%s/trace", dir);
    return 0;
}

static int teardown(void **state)
{
    char path[300];

    snprintf(path, sizeof(path), "%s/a", dir);
    unlink(path);
    unlink(file);
    return rmdir(dir);
}

/* Two stores of one file, out of order: sums, in order. */
static void test_rows(void **state)
{
    struct wr_moved *a, *b;
    struct wr_moved_row *rows;
    weir_err err;
    size_t n;

    assert_int_equal(wr_moved_open(file, &a, &err), 0);
    assert_int_equal(wr_moved_open(file, &b, &err), 0);
    wr_moved_read(a, 5, 20050 * MS);
    wr_moved_read(a, 7, 19910 * MS); /* asked for later, done earlier */
    wr_moved_written(a, 11, 20099 * MS);
    wr_moved_read(b, 100, 20001 * MS);
    wr_moved_read(NULL, 1, 0);
    wr_moved_close(a);
    wr_moved_close(b);
    wr_moved_close(NULL);
    assert_int_equal(wr_moved_load(file, &rows, &n, &err), 0);
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].ms, 19900);
    assert_int_equal(rows[0].read, 7);
    assert_int_equal(rows[1].ms, 20000);
    assert_int_equal(rows[1].read, 105);
    assert_int_equal(rows[1].written, 11);
    free(rows);
    unlink(file);
}

/* A store that is traced: what was written and read, when it was. */
static void test_store(void **state)
{
    uint64_t from = wr_clock_ns() / MS, read = 0, written = 0;
    struct wr_moved_row *rows;
    struct wr_object *o;
    struct wr_store *st;
    char url[700], bytes[1000] = "x";
    char *leaf = NULL;
    weir_err err;
    size_t n;

    snprintf(url, sizeof(url), "emu:ssd,trace=%s:%s", file, dir);
    assert_int_equal(wr_store_open(url, &st, &leaf, &err), 0);
    assert_int_equal(st->ops->object_open(st, "a", WR_OPEN_CREATE, &o, &err),
                     0);
    assert_int_equal(o->ops->write(o, bytes, 1000, 0, &err), 0);
    assert_int_equal(o->ops->read(o, bytes, 600, 0, &err), 600);
    assert_int_equal(o->ops->close(o, false, &err), 0);
    wr_store_close(st);
    assert_int_equal(wr_moved_load(file, &rows, &n, &err), 0);
    assert_true(n > 0);
    for (size_t k = 0; k < n; k++) {
        assert_true(rows[k].ms + WR_MOVED_STEP_MS > from);
        read += rows[k].read;
        written += rows[k].written;
    }
    assert_int_equal(read, 600);
    assert_int_equal(written, 1000);
    free(rows);
}

static void test_errors(void **state)
{
    struct wr_moved_row *rows;
    struct wr_store *st;
    char *leaf = NULL;
    weir_err err;
    size_t n;
    FILE *f;

    assert_true(wr_store_open("emu:ssd,trace=/nowhere/at/all:/tmp", &st, &leaf,
                              &err) < 0);
    assert_non_null(strstr(err.msg, "/nowhere/at/all"));
    assert_true(wr_moved_load("/nowhere/at/all", &rows, &n, &err) < 0);
    f = fopen(file, "w");
    assert_non_null(f);
    fputs("no numbers\n1 2\n\n300 1 2\n", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(wr_moved_load(file, &rows, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].written, 2);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_store),
        cmocka_unit_test(test_errors),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
