/* test_files.c - which files are of a format, and finding them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "format/files.h"
#include "format/format.h"
#include "format/shard_reader.h"
#include "tmpdir.h"

static struct wr_store *open_store(const struct tmpdir *t)
{
    struct wr_store *st = NULL;
    char *leaf = NULL;
    weir_err err;

    if (wr_store_open(t->path, &st, &leaf, &err) < 0)
        fail_msg("%s", err.msg);
    return st;
}

static bool is_shard(const char *name)
{
    return wr_name_has_ext(name, ".shard");
}

static const struct wr_format_files shards = {.is_name = is_shard};

static void test_list(void **state)
{
    const weir_dataset_config cfg = {.format = NULL};
    struct wr_index_job job = {.cfg = &cfg, .index = wr_index_new()};
    struct wr_listing l = {0};
    struct tmpdir t;
    char name[64];

    (void)state;
    tmpdir_init(&t);
    job.store = open_store(&t);
    assert_false(wr_files_peek(&shards, job.store, name, sizeof(name)));
    tmpdir_put_text(&t, "b.shard", "");
    assert_true(wr_files_peek(&shards, job.store, name, sizeof(name)));
    assert_string_equal(name, "b.shard");
    assert_false(wr_files_peek(&shards, job.store, name, 7));
    tmpdir_put_text(&t, "a.shard", "");
    tmpdir_put_text(&t, ".c.shard", "");
    tmpdir_put_text(&t, "other", "");
    tmpdir_mkdir(&t, "d.shard");
    assert_int_equal(wr_files_list(&job, &shards, &l, NULL), 0);
    assert_int_equal(l.count, 2);
    assert_string_equal(wr_listing_name(&l, 0), "a.shard");
    assert_string_equal(wr_listing_name(&l, 1), "b.shard");
    wr_listing_done(&l);
    job.leaf = "other";
    assert_int_equal(wr_files_list(&job, &shards, &l, NULL), 0);
    assert_int_equal(l.count, 1);
    assert_string_equal(wr_listing_name(&l, 0), "other");
    wr_listing_done(&l);
    wr_index_free(job.index);
    wr_store_close(job.store);
    tmpdir_done(&t);
}

/* Files that begin with "S" are of the format. */
static int check_first(struct wr_store *st, const char *path)
{
    char c;
    int64_t n = wr_shard_head(st, path, &c, 1);

    return n < 0 ? (int)n : n == 1 && c == 'S';
}

/* "a.sure" -> "a.0", "a.1" */
static bool name_beside(const char *name, unsigned k, char *buf, size_t cap)
{
    return k < 2 && snprintf(buf, cap, "%.*s.%u", (int)strlen(name) - 5, name,
                             k) < (int)cap;
}

static const struct wr_format_files all = {.endings = ".sure .sr",
                                           .but = ".not.sure",
                                           .named = 100,
                                           .is_name = is_shard,
                                           .check = check_first,
                                           .checked = 60,
                                           .folder = 80,
                                           .tree = 40,
                                           .beside = name_beside,
                                           .yields = true};

static void test_leaf(void **state)
{
    struct wr_store *st;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    st = open_store(&t);
    tmpdir_put_text(&t, "good", "S");
    tmpdir_put_text(&t, "bad", "x");
    tmpdir_put_text(&t, "good.shard", "S");
    tmpdir_put_text(&t, "bad.shard", "x");
    assert_int_equal(wr_files_probe(&all, st, "nothing.SURE"), 100);
    assert_int_equal(wr_files_probe(&all, st, "a.sr"), 100);
    assert_int_equal(wr_files_probe(&all, st, "a.not.sure"), 100);
    assert_int_equal(wr_files_probe(&all, st, "good"), 60);
    assert_int_equal(wr_files_probe(&all, st, "bad"), 0);
    assert_int_equal(wr_files_probe(&all, st, "nothing"), 0);
    assert_int_equal(wr_files_probe(&all, st, "good.shard"), 60);
    /* Less than a list, which any file may be. */
    assert_in_range(wr_files_probe(&all, st, "bad.shard"), 1,
                    WR_PROBE_GUESS - 1);
    wr_store_close(st);
    tmpdir_done(&t);
}

static void test_folder(void **state)
{
    struct wr_store *st;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    st = open_store(&t);
    tmpdir_put_text(&t, "a.not.sure", "S");
    tmpdir_put_text(&t, ".a.sure", "S");
    assert_int_equal(wr_files_probe(&all, st, NULL), 0);
    tmpdir_put_text(&t, "bad.shard", "x");
    assert_int_equal(wr_files_probe(&all, st, NULL), 0);
    tmpdir_put_text(&t, "any.sure", "x"); /* its name is enough */
    assert_int_equal(wr_files_probe(&all, st, NULL), 80);
    tmpdir_mkdir(&t, "folder");
    assert_int_equal(wr_files_probe(&all, st, NULL), 40);
    unlink(tmpdir_at(&t, "any.sure"));
    tmpdir_put_text(&t, "bad.shard", "S");
    assert_int_equal(wr_files_probe(&all, st, NULL), 40);
    wr_store_close(st);
    tmpdir_done(&t);
}

/* What belongs to a file of the format is not counted as ignored. */
static void test_beside(void **state)
{
    const weir_dataset_config cfg = {.format = NULL};
    struct wr_index_job job = {.cfg = &cfg, .index = wr_index_new()};
    struct wr_listing l = {0};
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    job.store = open_store(&t);
    tmpdir_put_text(&t, "a.sure", "");
    tmpdir_put_text(&t, "a.0", "");
    tmpdir_put_text(&t, "a.1", "");
    tmpdir_put_text(&t, "a.2", "");
    tmpdir_put_text(&t, "b.0", "");
    tmpdir_put_text(&t, "c.not.sure", "");
    assert_int_equal(wr_files_list(&job, &all, &l, NULL), 0);
    assert_int_equal(l.count, 1);
    assert_int_equal(wr_ignored_files(wr_index_ignored(job.index)), 3);
    wr_listing_done(&l);
    wr_index_free(job.index);
    wr_store_close(job.store);
    tmpdir_done(&t);
}

/* No format counts what its own samples are made of. */
static void test_beside_formats(void **state)
{
    const weir_dataset_config cfg = {.format = NULL};
    const struct wr_format_ops *f;
    unsigned tried = 0;

    (void)state;
    for (unsigned k = 0; (f = wr_format_at(k)); k++) {
        struct wr_index_job job = {.cfg = &cfg, .index = wr_index_new()};
        char name[64], beside[64];
        struct wr_listing l = {0};
        struct tmpdir t;

        tmpdir_init(&t);
        job.store = open_store(&t);
        for (const char *e = f->files.endings; e && *e; e += strspn(e, " ")) {
            snprintf(name, sizeof(name), "images-%.*s", (int)strcspn(e, " "),
                     e);
            e += strcspn(e, " ");
            tmpdir_put_text(&t, name, "");
            for (unsigned n = 0;
                 n < WR_FILES_BESIDE && f->files.beside &&
                 f->files.beside(name, n, beside, sizeof(beside));
                 n++, tried++)
                tmpdir_put_text(&t, beside, "");
        }
        assert_int_equal(wr_files_list(&job, &f->files, &l, NULL), 0);
        assert_int_equal(wr_ignored_files(wr_index_ignored(job.index)), 0);
        wr_listing_done(&l);
        wr_index_free(job.index);
        wr_store_close(job.store);
        tmpdir_done(&t);
    }
    assert_true(tried > 8); /* labels of .npy and IDX, indexes of others */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),           cmocka_unit_test(test_leaf),
        cmocka_unit_test(test_folder),         cmocka_unit_test(test_beside),
        cmocka_unit_test(test_beside_formats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
