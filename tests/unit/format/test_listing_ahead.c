/* test_listing_ahead.c - folders in the order of the walk, however many
 * threads list them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/listing.h"
#include "tmpdir.h"

#define FOLDERS 60

static void make_tree(const struct tmpdir *t)
{
    for (unsigned k = 0; k < FOLDERS; k++) {
        char name[64];

        snprintf(name, sizeof(name), "d%02u", k);
        tmpdir_mkdir(t, name);
        for (unsigned i = 0; i <= k % 7; i++) {
            snprintf(name, sizeof(name), "d%02u/f%u", k, i);
            tmpdir_put_text(t, name, "x");
        }
    }
}

static struct wr_store *open_store(const struct tmpdir *t)
{
    struct wr_store *st;
    char *leaf;

    assert_int_equal(wr_store_open(t->path, &st, &leaf, NULL), 0);
    return st;
}

static void push_all(struct wr_ahead *a)
{
    for (unsigned k = FOLDERS; k-- > 0;) {
        char name[16];

        snprintf(name, sizeof(name), "d%02u", k);
        assert_true(wr_ahead_push(a, name));
    }
    wr_ahead_go(a);
}

static void test_order(void **state)
{
    static const unsigned threads[] = {0, 1, 2, 5, 16, 1000};
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    make_tree(&t);
    for (size_t n = 0; n < 6; n++) {
        struct wr_store *st = open_store(&t);
        struct wr_ahead *a = wr_ahead_new(
            &(struct wr_ahead_config){.store = st, .threads = threads[n]});

        push_all(a);
        for (unsigned k = 0; k < FOLDERS; k++) {
            struct wr_folder *f = wr_ahead_pop(a);

            assert_non_null(f);
            assert_int_equal(f->stat_r, 0);
            assert_int_equal(f->list_r, 0);
            assert_int_equal(f->stat.kind, WR_KIND_DIR);
            assert_int_equal(f->listing.count, k % 7 + 1);
            assert_string_equal(wr_listing_name(&f->listing, 0), "f0");
            wr_folder_free(f);
            if (k % 10 == 0) { /* one that is entered in between */
                assert_true(wr_ahead_push(a, "d06"));
                wr_ahead_go(a);
                f = wr_ahead_pop(a);
                assert_int_equal(f->listing.count, 7);
                wr_folder_free(f);
            }
        }
        wr_ahead_free(a);
        wr_store_close(st);
    }
    tmpdir_done(&t);
}

static void test_missing(void **state)
{
    struct wr_store *st;
    struct wr_ahead *a;
    struct wr_folder *f;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    tmpdir_put_text(&t, "file", "x");
    st = open_store(&t);
    a = wr_ahead_new(&(struct wr_ahead_config){.store = st, .threads = 2});
    assert_true(wr_ahead_push(a, "file"));
    assert_true(wr_ahead_push(a, "none"));
    wr_ahead_go(a);
    f = wr_ahead_pop(a);
    assert_int_equal(f->stat_r, WEIR_ENOENT);
    assert_int_equal(f->err.code, WEIR_ENOENT);
    wr_folder_free(f);
    f = wr_ahead_pop(a);
    assert_int_equal(f->stat_r, 0);
    assert_true(f->list_r < 0);
    assert_false(f->stop);
    wr_folder_free(f);
    wr_ahead_free(a);
    wr_store_close(st);
    tmpdir_done(&t);
}

/* Freed with folders waiting, being listed and listed. */
static void test_freed_early(void **state)
{
    struct wr_store *st;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    make_tree(&t);
    st = open_store(&t);
    for (unsigned pops = 0; pops < 4; pops++) {
        struct wr_ahead *a = wr_ahead_new(
            &(struct wr_ahead_config){.store = st, .threads = 3});

        push_all(a);
        for (unsigned k = 0; k < pops; k++)
            wr_folder_free(wr_ahead_pop(a));
        wr_ahead_free(a);
    }
    wr_ahead_free(NULL);
    wr_folder_free(NULL);
    wr_store_close(st);
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_freed_early),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
