/* test_listing.c - sorted folders, filters, and storage that fails midway.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "format/format.h"
#include "format/listing.h"

/* Names come in this order; then `result` is returned. */
struct fake {
    struct wr_store store;
    const char *const *names; /* borrowed; ends with NULL */
    int result;
};

static int fake_list(struct wr_store *st, const char *path, wr_list_fn fn,
                     void *arg, weir_err *err)
{
    struct fake *f = (struct fake *)st;

    for (size_t k = 0; f->names[k]; k++) {
        struct wr_entry e = {.name = f->names[k],
                             .kind = WR_KIND_FILE,
                             .size = strlen(f->names[k])};
        int r;

        if (strlen(path)) /* below the root: folders named like files */
            e.kind = WR_KIND_DIR;
        r = fn(arg, &e);
        if (r)
            return r;
    }
    return f->result < 0 ? wr_fail(err, f->result, "'%s': broke", path) : 0;
}

static int fake_stat(struct wr_store *st, const char *path, struct wr_stat *ret,
                     weir_err *err)
{
    (void)st;
    (void)err;
    *ret = (struct wr_stat){.kind = WR_KIND_DIR, .ino = strlen(path)};
    return 0;
}

static const struct wr_storage_ops fake_ops = {
    .name = "fake", .list = fake_list, .stat = fake_stat};

static const char *const mixed[] = {
    "common-b", "common-a",         "common-aaaaaaaaz",
    "common-",  "common-aaaaaaaab", "common-\xc3\xa4",
    NULL};

static void test_sorted(void **state)
{
    struct fake f = {.store.ops = &fake_ops, .names = mixed};
    const struct wr_listing_filter all = {0};
    struct wr_listing l = {0};
    bool stop = true;

    (void)state;
    assert_int_equal(wr_listing_read(&l, &f.store, "", &all, &stop, NULL), 0);
    assert_false(stop);
    assert_int_equal(l.count, 6);
    for (size_t k = 1; k < l.count; k++)
        assert_true(strcmp(wr_listing_name(&l, k - 1), wr_listing_name(&l, k)) <
                    0);
    for (size_t k = 0; k < l.count; k++) /* sizes moved with their names */
        assert_int_equal(l.entries[k].size, strlen(wr_listing_name(&l, k)));
    wr_listing_done(&l);
    assert_int_equal(l.count, 0);
}

static void test_failing_storage(void **state)
{
    struct fake f = {
        .store.ops = &fake_ops, .names = mixed, .result = WEIR_EIO};
    const struct wr_listing_filter all = {0};
    struct wr_listing l = {0};
    bool stop = true;
    weir_err err;

    (void)state;
    assert_int_equal(wr_listing_read(&l, &f.store, "", &all, &stop, &err),
                     WEIR_EIO);
    assert_false(stop);
    assert_int_equal(l.count, 6); /* what came before is there */
    wr_listing_done(&l);
}

static bool only_short(const struct wr_entry *e)
{
    return strlen(e->name) <= 8;
}

static void test_filter(void **state)
{
    struct fake f = {.store.ops = &fake_ops, .names = mixed};
    const struct wr_listing_filter filter = {.wanted = only_short};
    struct wr_listing l = {0};
    bool stop;

    (void)state;
    assert_int_equal(wr_listing_read(&l, &f.store, "", &filter, &stop, NULL),
                     0);
    assert_int_equal(l.count, 3);
    wr_listing_done(&l);
}

static int index_fake(struct fake *f, struct wr_index *ix, weir_err *err)
{
    weir_dataset_config cfg = {0};
    struct wr_index_job job = {
        .store = &f->store, .leaf_store = &f->store, .cfg = &cfg, .index = ix};

    return wr_format_images.index(&job, err);
}

/* The root must be readable; a folder below it need not be. */
static void test_unreadable_root(void **state)
{
    static const char *const names[] = {"b.jpg", "a.jpg", NULL};
    struct fake f = {
        .store.ops = &fake_ops, .names = names, .result = WEIR_EACCES};
    struct wr_index *ix = wr_index_new();
    weir_err err;

    (void)state;
    assert_int_equal(index_fake(&f, ix, &err), WEIR_EACCES);
    assert_non_null(strstr(err.msg, "broke"));
    wr_index_free(ix);
    f.result = 0;
    ix = wr_index_new();
    assert_int_equal(index_fake(&f, ix, &err), 0);
    assert_int_equal(wr_index_count(ix), 2);
    wr_index_free(ix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted),
        cmocka_unit_test(test_failing_storage),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_unreadable_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
