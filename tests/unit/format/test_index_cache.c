/* test_index_cache.c - index files: when they are kept, reused and rebuilt.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>

#include "format/format.h"
#include "format/index_cache.h"
#include "indexes.h"
#include "tensorfiles.h"
#include "tmpdir.h"

#define OLD_S 1000 /* seconds ago: no longer racy */

static void set_time(const char *path, time_t at)
{
    struct timespec times[2] = {{at, 0}, {at, 0}};

    if (utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) < 0)
        abort();
}

/* Long ago, and later than all times before it. */
static time_t next_time(void)
{
    static time_t turn;

    return time(NULL) - OLD_S + turn++;
}

static int age_one(const char *path, const struct stat *sb, int flag,
                   struct FTW *ftw)
{
    (void)flag;
    (void)ftw;
    if (time(NULL) - sb->st_mtime < OLD_S / 2)
        set_time(path, next_time());
    return 0;
}

/* What was written just now was written long ago. */
static void age(const struct tmpdir *t)
{
    nftw(t->path, age_one, 16, FTW_PHYS | FTW_DEPTH);
}

struct fixture {
    struct tmpdir t;
    weir_dataset_config cfg;
    char index_dir[512];
};

/* A tree of pictures in "data"; indexes go to "idx", which is not there. */
static void fixture_init(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    tmpdir_init(&f->t);
    weir_dataset_defaults(&f->cfg);
    snprintf(f->index_dir, sizeof(f->index_dir), "%s/idx", f->t.path);
    f->cfg.index_dir = f->index_dir;
    tmpdir_mkdir(&f->t, "data");
    tmpdir_mkdir(&f->t, "data/cat");
    tmpdir_mkdir(&f->t, "data/dog");
    tmpdir_mkdir(&f->t, "data/dog/deep");
    tmpdir_put_text(&f->t, "data/cat/1.jpg", "1");
    tmpdir_put_text(&f->t, "data/cat/2.jpg", "22");
    tmpdir_put_text(&f->t, "data/dog/deep/3.jpg", "333");
    age(&f->t);
}

static weir_dataset *open_at(const struct fixture *f, const char *name)
{
    weir_dataset *ds = NULL;
    weir_err err;

    if (weir_dataset_open(&ds, tmpdir_at(&f->t, name), &f->cfg, &err) < 0)
        fail_msg("%s", err.msg);
    return ds;
}

/* Opens it and tells whether the index came from a file. */
static bool reused(const struct fixture *f, const char *name)
{
    weir_dataset *ds = open_at(f, name);
    bool yes = weir_dataset_index_reused(ds);

    assert_int_equal(yes, wr_index_file(ds->index) != NULL);
    weir_dataset_close(&ds);
    return yes;
}

/* The data changed: built once more, then reused again. */
static void check_rebuilt(const struct fixture *f, const char *name)
{
    age(&f->t);
    assert_false(reused(f, name));
    assert_true(reused(f, name));
}

static int kept(const struct fixture *f)
{
    return tmpdir_count(&f->t, "idx");
}

static void test_reused(void **state)
{
    weir_dataset *first, *second;
    struct fixture f;

    (void)state;
    fixture_init(&f);
    first = open_at(&f, "data");
    second = open_at(&f, "data");
    assert_false(weir_dataset_index_reused(first));
    assert_true(weir_dataset_index_reused(second));
    assert_string_equal(weir_dataset_format(second), "images");
    assert_ptr_equal(first->format, second->format);
    index_same(first->index, second->index);
    assert_int_equal(kept(&f), 1);
    weir_dataset_close(&first);
    weir_dataset_close(&second);
    assert_true(reused(&f, "data/../data//")); /* the same folder */
    f.cfg.format = "images"; /* another question, another file */
    assert_false(reused(&f, "data"));
    assert_true(reused(&f, "data"));
    assert_int_equal(kept(&f), 2);
    tmpdir_done(&f.t);
}

static void test_changed_tree(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    assert_false(reused(&f, "data"));
    tmpdir_put_text(&f.t, "data/cat/4.jpg", "4");
    set_time(tmpdir_at(&f.t, "data/cat"), next_time());
    assert_false(reused(&f, "data"));
    assert_true(reused(&f, "data"));
    unlink(tmpdir_at(&f.t, "data/dog/deep/3.jpg"));
    set_time(tmpdir_at(&f.t, "data/dog/deep"), next_time());
    assert_false(reused(&f, "data"));
    assert_true(reused(&f, "data"));
    tmpdir_mkdir(&f.t, "data/emu");
    check_rebuilt(&f, "data");
    /* Another folder in the same place, with the same time. */
    set_time(tmpdir_at(&f.t, "data"), 1000000);
    set_time(tmpdir_at(&f.t, "data/emu"), 1000000);
    check_rebuilt(&f, "data");
    tmpdir_mkdir(&f.t, "new");
    rmdir(tmpdir_at(&f.t, "data/emu"));
    rename(tmpdir_at(&f.t, "new"), tmpdir_at(&f.t, "data/emu"));
    set_time(tmpdir_at(&f.t, "data/emu"), 1000000);
    set_time(tmpdir_at(&f.t, "data"), 1000000);
    assert_false(reused(&f, "data"));
    assert_int_equal(kept(&f), 1);
    tmpdir_done(&f.t);
}

static void test_racy(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    tmpdir_put_text(&f.t, "data/cat/now.jpg", "1");
    assert_false(reused(&f, "data"));
    assert_int_equal(kept(&f), -1);
    set_time(tmpdir_at(&f.t, "data/cat"), time(NULL) + 1000); /* wrong clock */
    assert_false(reused(&f, "data"));
    assert_int_equal(kept(&f), -1);
    tmpdir_done(&f.t);
}

static void test_forbidden(void **state)
{
    struct fixture f;
    char url[600];

    (void)state;
    fixture_init(&f);
    f.cfg.no_index_cache = 1;
    assert_false(reused(&f, "data"));
    assert_int_equal(kept(&f), -1);
    f.cfg.no_index_cache = 0;
    assert_false(reused(&f, "data"));
    f.cfg.no_index_cache = 1;
    assert_false(reused(&f, "data"));
    f.cfg.no_index_cache = 0;
    for (int k = 0; k < 2; k++) { /* wrapped stores have none */
        weir_dataset *ds = NULL;

        snprintf(url, sizeof(url), "fault:delay=0:%s/data", f.t.path);
        assert_int_equal(weir_dataset_open(&ds, url, &f.cfg, NULL), 0);
        assert_false(weir_dataset_index_reused(ds));
        weir_dataset_close(&ds);
    }
    assert_int_equal(kept(&f), 1);
    tmpdir_done(&f.t);
}

/* A folder that cannot be written, or is none, does no harm. */
static void test_no_folder(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    f.cfg.index_dir = "/proc/none/of/this";
    assert_false(reused(&f, "data"));
    assert_false(reused(&f, "data"));
    tmpdir_put_text(&f.t, "file", "x");
    f.cfg.index_dir = tmpdir_at(&f.t, "file");
    assert_false(reused(&f, "data"));
    f.cfg.index_dir = f.index_dir;
    tmpdir_mkdir(&f.t, "idx");
    chmod(f.index_dir, 0500);
    assert_false(reused(&f, "data"));
    if (geteuid() != 0)
        assert_int_equal(kept(&f), 0);
    chmod(f.index_dir, 0700);
    tmpdir_done(&f.t);
}

static void test_folder_choice(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    f.cfg.index_dir = NULL;
    setenv("WEIR_INDEX_DIR", "", 1);
    assert_false(reused(&f, "data"));
    assert_false(reused(&f, "data"));
    setenv("WEIR_INDEX_DIR", tmpdir_at(&f.t, "by/env"), 1);
    assert_false(reused(&f, "data"));
    assert_true(reused(&f, "data"));
    assert_int_equal(tmpdir_count(&f.t, "by/env"), 1);
    unsetenv("WEIR_INDEX_DIR"); /* three files are not worth keeping */
    setenv("XDG_CACHE_HOME", tmpdir_at(&f.t, "xdg"), 1);
    assert_false(reused(&f, "data"));
    assert_int_equal(tmpdir_count(&f.t, "xdg"), -1);
    setenv("WEIR_INDEX_DIR", "", 1);
    tmpdir_done(&f.t);
}

/* Calls the parts themselves, since no test may rely on time. */
static void test_worth(void **state)
{
    struct wr_index_cache cache = {0};
    weir_dataset *ds;
    struct fixture f;
    struct stat sb;

    (void)state;
    fixture_init(&f);
    f.cfg.no_index_cache = 1;
    ds = open_at(&f, "data");
    setenv("XDG_CACHE_HOME", tmpdir_at(&f.t, "xdg"), 1);
    unsetenv("WEIR_INDEX_DIR");
    f.cfg.no_index_cache = 0;
    f.cfg.index_dir = NULL;
    wr_index_cache_init(&cache, &(struct wr_index_job){.store = ds->store,
                                                       .leaf_store = ds->store,
                                                       .cfg = &f.cfg});
    setenv("WEIR_INDEX_DIR", "", 1);
    assert_non_null(cache.folder);
    cache.began_ns -= UINT64_C(1000000000); /* it took a second */
    assert_true(wr_index_cache_save(&cache, ds->index, "images"));
    assert_int_equal(tmpdir_count(&f.t, "xdg/weir/index"), 1);
    assert_int_equal(stat(tmpdir_at(&f.t, "xdg/weir/index"), &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0700);
    wr_index_cache_done(&cache);
    weir_dataset_close(&ds);
    tmpdir_done(&f.t);
}

static void test_damaged(void **state)
{
    struct fixture f;
    weir_dataset *ds;
    char path[1024];
    FILE *file;

    (void)state;
    fixture_init(&f);
    assert_false(reused(&f, "data"));
    ds = open_at(&f, "data");
    snprintf(path, sizeof(path), "%s", wr_index_file(ds->index));
    weir_dataset_close(&ds);
    file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, 200, SEEK_SET);
    fputs("damage", file);
    fclose(file);
    assert_false(reused(&f, "data"));
    assert_true(reused(&f, "data"));
    assert_int_equal(truncate(path, 100), 0);
    assert_false(reused(&f, "data"));
    assert_true(reused(&f, "data"));
    assert_int_equal(kept(&f), 1);
    tmpdir_done(&f.t);
}

/* Problems that may mend themselves are stamped, or the index is not kept. */
static void test_problems(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    assert_int_equal(symlink("../../later", tmpdir_at(&f.t, "data/cat/l.jpg")),
                     0);
    check_rebuilt(&f, "data");
    tmpdir_put_text(&f.t, "later", "it is there");
    check_rebuilt(&f, "data");
    assert_int_equal(mkfifo(tmpdir_at(&f.t, "data/cat/pipe.jpg"), 0666), 0);
    age(&f.t);
    assert_false(reused(&f, "data"));
    assert_false(reused(&f, "data"));
    tmpdir_done(&f.t);
}

static void test_list(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    tmpdir_put_text(&f.t, "data/l.csv", "cat/1.jpg,0\ncat/9.jpg,1\n");
    check_rebuilt(&f, "data/l.csv");
    tmpdir_put_text(&f.t, "data/l.csv", "cat/2.jpg,0\ncat/9.jpg,1\n");
    set_time(tmpdir_at(&f.t, "data/l.csv"), next_time());
    assert_false(reused(&f, "data/l.csv")); /* the time alone is another */
    assert_true(reused(&f, "data/l.csv"));
    tmpdir_put_text(&f.t, "data/cat/9.jpg", "9"); /* it was missing */
    check_rebuilt(&f, "data/l.csv");
    set_time(tmpdir_at(&f.t, "data/l.csv"), 1000000);
    check_rebuilt(&f, "data/l.csv");
    tmpdir_put_text(&f.t, "data/n.csv", "cat/2.jpg,0\ncat/8.jpg,1\n");
    set_time(tmpdir_at(&f.t, "data/n.csv"), 1000000);
    rename(tmpdir_at(&f.t, "data/n.csv"), tmpdir_at(&f.t, "data/l.csv"));
    assert_false(reused(&f, "data/l.csv")); /* the inode alone is another */
    tmpdir_put_text(&f.t, "data/l.csv", "cat/2.jpg,0\ncat/7.jpg,1\n");
    tmpdir_mkdir(&f.t, "data/cat/7.jpg"); /* no file, until it is one */
    check_rebuilt(&f, "data/l.csv");
    assert_int_equal(remove(tmpdir_at(&f.t, "data/cat/7.jpg")), 0);
    tmpdir_put_text(&f.t, "data/cat/7.jpg", "7");
    check_rebuilt(&f, "data/l.csv");
    tmpdir_done(&f.t);
}

static void test_list_with_root(void **state)
{
    struct fixture f;
    char root[512], other[512];

    (void)state;
    fixture_init(&f);
    snprintf(root, sizeof(root), "%s/data", f.t.path);
    snprintf(other, sizeof(other), "%s/data/cat", f.t.path);
    tmpdir_mkdir(&f.t, "lists");
    tmpdir_put_text(&f.t, "lists/l.csv", "cat/1.jpg\n1.jpg\n");
    f.cfg.root = root;
    check_rebuilt(&f, "lists/l.csv");
    f.cfg.root = other; /* other pictures */
    assert_false(reused(&f, "lists/l.csv"));
    assert_true(reused(&f, "lists/l.csv"));
    f.cfg.root = root;
    assert_true(reused(&f, "lists/l.csv"));
    tmpdir_put_text(&f.t, "lists/l.csv", "cat/2.jpg\n");
    check_rebuilt(&f, "lists/l.csv");
    tmpdir_done(&f.t);
}

static void test_tensors(void **state)
{
    static const uint32_t labels[2] = {0, 1};
    struct fixture f;

    (void)state;
    fixture_init(&f);
    tmpdir_mkdir(&f.t, "t");
    put_npy(&f.t, "t/a.npy", "|u1", "(2, 4)", "abcdefgh", 8);
    check_rebuilt(&f, "t");
    check_rebuilt(&f, "t/a.npy");
    put_npy(&f.t, "t/a.labels.npy", "<u4", "(2,)", labels, 8);
    check_rebuilt(&f, "t");
    assert_false(reused(&f, "t/a.npy"));
    put_npy(&f.t, "t/a.labels.npy", "<u4", "(2,)", labels, 8);
    check_rebuilt(&f, "t"); /* the labels' time is another */
    put_npy(&f.t, "t/a.npy", "|u1", "(2, 2)", "abcd", 4);
    check_rebuilt(&f, "t");
    assert_false(reused(&f, "t/a.npy"));
    tmpdir_done(&f.t);
}

/* What a killed builder leaves is taken away after a day, nothing else is. */
static void test_old_temps(void **state)
{
    char old[64], new[64], other[64];
    unsigned me = (unsigned)geteuid();
    struct fixture f;

    (void)state;
    fixture_init(&f);
    tmpdir_mkdir(&f.t, "idx");
    snprintf(old, sizeof(old), "idx/0-%u.widx.1.tmp", me);
    snprintf(new, sizeof(new), "idx/0-%u.widx.2.tmp", me);
    snprintf(other, sizeof(other), "idx/0-%u.widx.1.tmp", me + 1);
    tmpdir_put_text(&f.t, old, "half");
    tmpdir_put_text(&f.t, new, "half");
    tmpdir_put_text(&f.t, other, "another user's");
    tmpdir_put_text(&f.t, "idx/mine.tmp", "x");
    set_time(tmpdir_at(&f.t, old), time(NULL) - 90000);
    set_time(tmpdir_at(&f.t, other), time(NULL) - 90000);
    set_time(tmpdir_at(&f.t, "idx/mine.tmp"), time(NULL) - 90000);
    assert_false(reused(&f, "data"));
    assert_true(reused(&f, "data"));
    assert_int_equal(kept(&f), 4);
    assert_int_equal(access(tmpdir_at(&f.t, old), F_OK), -1);
    assert_int_equal(access(tmpdir_at(&f.t, other), F_OK), 0);
    assert_int_equal(access(tmpdir_at(&f.t, "idx/mine.tmp"), F_OK), 0);
    tmpdir_done(&f.t);
}

/* One that another could have written is neither read nor replaced. */
static void test_strange(void **state)
{
    struct fixture f;
    weir_dataset *ds;
    char path[1024];

    (void)state;
    fixture_init(&f);
    assert_false(reused(&f, "data"));
    ds = open_at(&f, "data");
    snprintf(path, sizeof(path), "%s", wr_index_file(ds->index));
    weir_dataset_close(&ds);
    assert_int_equal(chmod(path, 0622), 0);
    for (int k = 0; k < 2; k++) {
        ds = open_at(&f, "data");
        assert_false(weir_dataset_index_reused(ds));
        assert_non_null(strstr(wr_index_remark(ds->index, 0), "write to it"));
        weir_dataset_close(&ds);
    }
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(reused(&f, "data"));
    tmpdir_done(&f.t);
}

/* Links are counted, in an index that is reused, too, or refused by name. */
static void test_links(void **state)
{
    weir_dataset *ds = NULL;
    struct fixture f;
    weir_err err;

    (void)state;
    fixture_init(&f);
    assert_int_equal(symlink("../cat/1.jpg", tmpdir_at(&f.t, "data/dog/l.jpg")),
                     0);
    assert_int_equal(symlink("../cat", tmpdir_at(&f.t, "data/dog/all")), 0);
    age(&f.t);
    for (int k = 0; k < 2; k++) {
        ds = open_at(&f, "data");
        assert_int_equal(weir_dataset_index_reused(ds), k);
        assert_int_equal(weir_dataset_link_count(ds), 2);
        weir_dataset_close(&ds);
    }
    f.cfg.no_links = 1;
    assert_int_equal(
        weir_dataset_open(&ds, tmpdir_at(&f.t, "data"), &f.cfg, &err),
        WEIR_EACCES);
    assert_non_null(strstr(err.msg, "'dog/all': is a symbolic link"));
    assert_int_equal(
        weir_dataset_open(&ds, tmpdir_at(&f.t, "data/dog/l.jpg"), &f.cfg, &err),
        WEIR_EACCES);
    tmpdir_put_text(&f.t, "data/l.csv", "cat/2.jpg,0\ndog/all/1.jpg,1\n");
    assert_int_equal(
        weir_dataset_open(&ds, tmpdir_at(&f.t, "data/l.csv"), &f.cfg, &err),
        WEIR_EACCES);
    assert_non_null(strstr(err.msg, "'dog/all': is a symbolic link"));
    unlink(tmpdir_at(&f.t, "data/dog/all"));
    unlink(tmpdir_at(&f.t, "data/dog/l.jpg"));
    ds = open_at(&f, "data");
    assert_int_equal(weir_dataset_link_count(ds), 0);
    weir_dataset_close(&ds);
    tmpdir_done(&f.t);
}

static void test_builders_at_once(void **state)
{
    struct fixture f;
    pid_t pids[4];

    (void)state;
    fixture_init(&f);
    for (int k = 0; k < 4; k++) {
        pids[k] = fork();
        if (pids[k] == 0) {
            weir_dataset *ds = NULL;
            int r = weir_dataset_open(&ds, tmpdir_at(&f.t, "data"), &f.cfg,
                                      NULL);

            _exit(r < 0 || weir_dataset_count(ds) != 3);
        }
    }
    for (int k = 0; k < 4; k++) {
        int status;

        waitpid(pids[k], &status, 0);
        assert_int_equal(status, 0);
    }
    assert_true(reused(&f, "data"));
    assert_int_equal(kept(&f), 1);
    tmpdir_done(&f.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reused),
        cmocka_unit_test(test_changed_tree),
        cmocka_unit_test(test_racy),
        cmocka_unit_test(test_forbidden),
        cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_folder_choice),
        cmocka_unit_test(test_worth),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_problems),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_list_with_root),
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_old_temps),
        cmocka_unit_test(test_strange),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_builders_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
