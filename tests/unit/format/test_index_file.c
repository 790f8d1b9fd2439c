/* test_index_file.c - an index written and mapped again; files that lie.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/error.h"
#include "format/index_file.h"
#include "indexes.h"
#include "tmpdir.h"

#define KEY       "auto\n/data\n"
#define FILE_NAME "x.widx"

static const struct wr_index_about about = {KEY, "images"};

static struct wr_store *open_store(const char *prefix, const struct tmpdir *t)
{
    struct wr_store *st;
    char *leaf, url[512];

    snprintf(url, sizeof(url), "%s%s", prefix, t->path);
    assert_int_equal(wr_store_open(url, &st, &leaf, NULL), 0);
    assert_null(leaf);
    return st;
}

static void save(const struct tmpdir *t, enum index_kind kind)
{
    struct wr_store *st = open_store("", t);
    struct wr_index *ix = index_make(kind);
    weir_err err;

    if (wr_index_save(ix, st, FILE_NAME, &about, &err) < 0)
        fail_msg("%s", err.msg);
    wr_index_free(ix);
    wr_store_close(st);
}

static int load(const struct tmpdir *t, struct wr_index **ret, weir_err *err)
{
    const char *format = NULL;
    int r = wr_index_load(tmpdir_at(t, FILE_NAME), KEY, ret, &format, err);

    if (r == 0)
        assert_string_equal(format, "images");
    return r;
}

static void test_round_trip(void **state)
{
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    for (enum index_kind kind = 0; kind < INDEX_KINDS; kind++) {
        struct wr_index *built = index_make(kind), *loaded = NULL;
        weir_err err;

        save(&t, kind); /* over the one before */
        if (load(&t, &loaded, &err) < 0)
            fail_msg("kind %d: %s", (int)kind, err.msg);
        index_same(built, loaded);
        assert_null(wr_index_file(built));
        assert_string_equal(wr_index_file(loaded), tmpdir_at(&t, FILE_NAME));
        assert_true(wr_index_memory(loaded) > 1000);
        wr_index_free(loaded);
        wr_index_free(built);
    }
    assert_int_equal(tmpdir_count(&t, ""), 1); /* no temporary file is left */
    tmpdir_done(&t);
}

/* An index loaded is an index that can be saved. */
static void test_saved_again(void **state)
{
    struct wr_index *first, *second;
    struct wr_store *st;
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    save(&t, INDEX_MIXED);
    assert_int_equal(load(&t, &first, NULL), 0);
    st = open_store("", &t);
    assert_int_equal(wr_index_save(first, st, FILE_NAME, &about, NULL), 0);
    wr_store_close(st);
    assert_int_equal(load(&t, &second, NULL), 0);
    index_same(first, second); /* the first one is mapped from a file gone */
    wr_index_free(first);
    wr_index_free(second);
    tmpdir_done(&t);
}

/* Large enough to be mapped, and replaced while it is. */
static void test_large(void **state)
{
    struct wr_index *built = wr_index_new(), *loaded = NULL;
    struct wr_store *st;
    struct tmpdir t;
    weir_err err;

    (void)state;
    tmpdir_init(&t);
    for (unsigned k = 0; k < 50000; k++) {
        char name[32];

        snprintf(name, sizeof(name), "%u.jpg", k);
        index_object(built, "folder", name, k);
        assert_int_equal(wr_index_add_whole(built, 0, k % 10, NULL), 0);
    }
    assert_int_equal(wr_index_seal(built, NULL), 0);
    st = open_store("", &t);
    assert_int_equal(wr_index_save(built, st, FILE_NAME, &about, NULL), 0);
    if (load(&t, &loaded, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(wr_index_save(built, st, FILE_NAME, &about, NULL), 0);
    index_same(built, loaded);
    wr_store_close(st);
    wr_index_free(loaded);
    wr_index_free(built);
    tmpdir_done(&t);
}

static void check_refused(const struct tmpdir *t, const char *why)
{
    struct wr_index *ix = NULL;
    weir_err err;

    assert_int_equal(load(t, &ix, &err), WEIR_EFORMAT);
    assert_null(ix);
    assert_non_null(strstr(err.msg, why));
    assert_non_null(strstr(err.msg, FILE_NAME));
}

static void test_refused(void **state)
{
    struct wr_index *ix;
    const char *format;
    struct tmpdir t;
    weir_err err;
    char *bytes;
    size_t len;

    (void)state;
    tmpdir_init(&t);
    assert_int_equal(load(&t, &ix, &err), WEIR_ENOENT);
    tmpdir_put_text(&t, FILE_NAME, "");
    check_refused(&t, "not an index file");
    save(&t, INDEX_WHOLE);
    assert_int_equal(wr_index_load(tmpdir_at(&t, FILE_NAME), "other key", &ix,
                                   &format, &err),
                     WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "another data set"));
    bytes = tmpdir_get(&t, FILE_NAME, &len);
    tmpdir_put(&t, FILE_NAME, bytes, len - 1); /* torn */
    check_refused(&t, "truncated");
    bytes[16]++;
    tmpdir_put(&t, FILE_NAME, bytes, len);
    check_refused(&t, "version");
    bytes[16]--;
    bytes[0] = 'X';
    tmpdir_put(&t, FILE_NAME, bytes, len);
    check_refused(&t, "not an index file");
    free(bytes);
    tmpdir_mkdir(&t, "folder");
    assert_true(
        wr_index_load(tmpdir_at(&t, "folder"), KEY, &ix, &format, &err) < 0);
    tmpdir_done(&t);
}

/* Reads all that an index says; a sanitizer sees what lies outside. */
static void walk(const struct wr_index *ix)
{
    uint64_t sum = 0;
    char path[8192];

    for (uint64_t i = 0; i < wr_index_count(ix); i++) {
        const char *name = wr_index_sample_name(ix, i);
        struct wr_part p;

        wr_index_part(ix, 0, i, &p);
        sum += p.length +
               wr_index_object_path(ix, p.object, path, sizeof(path));
        sum += name ? strlen(name) : 0;
    }
    for (uint64_t k = 0; k < wr_index_stamp_count(ix); k++) {
        struct wr_stamp s;
        const char *at;

        wr_index_stamp(ix, k, &s, &at);
        sum += strlen(at);
    }
    for (uint64_t k = 0; wr_index_issue(ix, k); k++)
        sum += strlen(wr_index_issue(ix, k)->reason) +
               strlen(wr_index_issue(ix, k)->name);
    for (uint32_t k = 0; wr_index_class_name(ix, k); k++)
        sum += strlen(wr_index_class_name(ix, k));
    assert_true(sum > 0);
}

/* Every byte changed: the checksum sees it. And with the checksum put right:
 * refused, or safe to read. */
static void flip_bytes(char *bytes, size_t len)
{
    unsigned refused = 0, taken = 0;

    for (size_t k = 0; k < len; k++)
        for (unsigned bit = 0; bit < 8; bit += 7) {
            const char *format;
            struct wr_index *ix;
            uint64_t sum;

            bytes[k] = (char)(bytes[k] ^ (1 << bit));
            assert_int_equal(
                wr_index_parse(bytes, len, KEY, &ix, &format, NULL),
                WEIR_EFORMAT);
            sum = wr_index_file_checksum(bytes, len);
            memcpy(bytes + 8, &sum, sizeof(sum));
            if (wr_index_parse(bytes, len, KEY, &ix, &format, NULL) == 0) {
                walk(ix);
                wr_index_free(ix);
                taken++;
            } else {
                refused++;
            }
            bytes[k] = (char)(bytes[k] ^ (1 << bit));
            sum = wr_index_file_checksum(bytes, len);
            memcpy(bytes + 8, &sum, sizeof(sum));
        }
    assert_true(refused > 100 && taken > 100);
}

static void test_flips(void **state)
{
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    for (enum index_kind kind = 0; kind < INDEX_KINDS; kind++) {
        size_t len;
        char *bytes;

        save(&t, kind);
        bytes = tmpdir_get(&t, FILE_NAME, &len);
        flip_bytes(bytes, len);
        free(bytes);
    }
    tmpdir_done(&t);
}

/* A store whose call number `left` fails, and all after it. */
struct failing {
    struct wr_store store;
    struct wr_object object;
    struct wr_store *real;         /* owned */
    struct wr_object *real_object; /* owned while open */
    int left;
};

static int spend(struct failing *f, weir_err *err)
{
    return f->left-- > 0 ? 0 : wr_fail(err, WEIR_ENOSPC, "the disk is full");
}

static struct failing *of_object(struct wr_object *o)
{
    return (struct failing *)((char *)o - offsetof(struct failing, object));
}

static int failing_write(struct wr_object *o, const void *buf, size_t len,
                         uint64_t offset, weir_err *err)
{
    struct failing *f = of_object(o);

    if (spend(f, err) < 0) /* as a full disk does: some of it is written */
        return f->real_object->ops->write(f->real_object, buf, len / 2, offset,
                                          NULL),
               WEIR_ENOSPC;
    return f->real_object->ops->write(f->real_object, buf, len, offset, err);
}

static int failing_close(struct wr_object *o, bool sync, weir_err *err)
{
    struct failing *f = of_object(o);
    int r = sync ? spend(f, err) : 0;

    f->real_object->ops->close(f->real_object, false, NULL);
    return r;
}

static int failing_open(struct wr_store *st, const char *path,
                        enum wr_open_mode mode, struct wr_object **ret,
                        weir_err *err)
{
    static const struct wr_object_ops ops = {.write = failing_write,
                                             .close = failing_close};
    struct failing *f = (struct failing *)st;
    int r = spend(f, err);

    if (r == 0)
        r = f->real->ops->object_open(f->real, path, mode, &f->real_object,
                                      err);
    f->object.ops = &ops;
    if (r == 0)
        *ret = &f->object;
    return r;
}

static int failing_change(struct wr_store *st, enum wr_change what,
                          const char *path, const char *to, weir_err *err)
{
    struct failing *f = (struct failing *)st;
    int r = what == WR_REMOVE ? 0 : spend(f, err);

    return r < 0 ? r : f->real->ops->change(f->real, what, path, to, err);
}

/* Whichever call fails while it is saved, the file that was there stays, and
 * no temporary one does. */
static void test_save_fails(void **state)
{
    static const struct wr_storage_ops ops = {.object_open = failing_open,
                                              .change = failing_change};
    struct wr_index *old = index_make(INDEX_RUNS);
    struct wr_index *new = index_make(INDEX_WHOLE);
    struct tmpdir t;
    int calls, r;

    (void)state;
    tmpdir_init(&t);
    save(&t, INDEX_RUNS);
    for (calls = 0, r = -1; r < 0; calls++) {
        struct failing f = {
            .store.ops = &ops, .real = open_store("", &t), .left = calls};
        struct wr_index *loaded;

        r = wr_index_save(new, &f.store, FILE_NAME, &about, NULL);
        assert_true(r == 0 || r == WEIR_ENOSPC);
        assert_int_equal(load(&t, &loaded, NULL), 0);
        index_same(r < 0 ? old : new, loaded);
        wr_index_free(loaded);
        wr_store_close(f.real);
        assert_int_equal(tmpdir_count(&t, ""), 1);
    }
    assert_true(calls > 10);
    wr_index_free(old);
    wr_index_free(new);
    tmpdir_done(&t);
}

/* Several processes that save at once, and one that loads: it never sees
 * anything but a whole index. */
static void test_builders_at_once(void **state)
{
    struct wr_index *want[2] = {index_make(INDEX_WHOLE),
                                index_make(INDEX_RECORDS)};
    struct tmpdir t;
    pid_t pids[2];

    (void)state;
    tmpdir_init(&t);
    save(&t, INDEX_WHOLE);
    for (int k = 0; k < 2; k++) {
        pids[k] = fork();
        if (pids[k] == 0) {
            struct wr_store *st = open_store("", &t);
            int bad = 0;

            for (int i = 0; i < 20; i++)
                bad |= wr_index_save(want[k], st, FILE_NAME, &about, NULL);
            _exit(bad != 0);
        }
    }
    for (int i = 0; i < 200; i++) {
        struct wr_index *ix;

        assert_int_equal(load(&t, &ix, NULL), 0);
        index_same(ix,
                   want[wr_index_count(ix) == wr_index_count(want[0]) ? 0 : 1]);
        wr_index_free(ix);
    }
    for (int k = 0; k < 2; k++) {
        int status;

        waitpid(pids[k], &status, 0);
        assert_int_equal(status, 0);
        wr_index_free(want[k]);
    }
    assert_int_equal(tmpdir_count(&t, ""), 1);
    tmpdir_done(&t);
}

/* Killed at any moment, a builder leaves a whole index, or the one before. */
static void test_killed(void **state)
{
    struct wr_index *want[2] = {index_make(INDEX_WHOLE),
                                index_make(INDEX_RECORDS)};
    struct tmpdir t;

    (void)state;
    tmpdir_init(&t);
    save(&t, INDEX_WHOLE);
    for (int round = 0; round < 20; round++) {
        struct wr_index *ix;
        pid_t pid = fork();

        if (pid == 0) {
            struct wr_store *st = open_store("", &t);

            for (int k = 0;; k++)
                wr_index_save(want[k % 2], st, FILE_NAME, &about, NULL);
        }
        usleep((useconds_t)(round * 700));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        assert_int_equal(load(&t, &ix, NULL), 0);
        index_same(ix, want[wr_index_count(ix) != wr_index_count(want[0])]);
        wr_index_free(ix);
    }
    save(&t, INDEX_RECORDS); /* what they left is in nobody's way */
    wr_index_free(want[0]);
    wr_index_free(want[1]);
    tmpdir_done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_saved_again),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_save_fails),
        cmocka_unit_test(test_builders_at_once),
        cmocka_unit_test(test_killed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
