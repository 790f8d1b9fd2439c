/* test_simdisk.c - each rule of what a power cut leaves, and of lax stores.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lax.h"
#include "simcrash.h"

#define SECTOR 512
#define STORE  "fast"

static int setup(void **state)
{
    *state = sim_disk_new(SECTOR);
    return 0;
}

static int teardown(void **state)
{
    sim_disk_free(*state);
    return 0;
}

/* --- short words for what a program does --- */

static struct wr_object *make(struct wr_store *st, const char *path)
{
    struct wr_object *o = NULL;

    assert_int_equal(st->ops->object_open(st, path, WR_OPEN_CREATE, &o, NULL),
                     0);
    return o;
}

static void fill(struct wr_object *o, char c, size_t len, uint64_t offset)
{
    char bytes[4 * SECTOR];

    assert_true(len <= sizeof(bytes));
    memset(bytes, c, len);
    assert_int_equal(o->ops->write(o, bytes, len, offset, NULL), 0);
}

static void finish(struct wr_object *o, bool sync)
{
    assert_int_equal(o->ops->close(o, sync, NULL), 0);
}

static void put_file(struct wr_store *st, const char *path, char c, size_t len)
{
    struct wr_object *o = make(st, path);

    fill(o, c, len, 0);
    finish(o, /* sync= */ true);
}

static void change(struct wr_store *st, enum wr_change what, const char *path,
                   const char *to)
{
    assert_int_equal(st->ops->change(st, what, path, to, NULL), 0);
}

/* --- and for what is left --- */

/* A cut now, with the pending operations of the bits of `kept`. */
static struct wr_store *cut(struct sim_disk *d, uint64_t kept,
                            size_t expect_pending, struct sim_disk **ret)
{
    struct sim_crash *x = sim_crash_new(d);
    bool keep[64];

    assert_int_equal(sim_crash_seek(x, sim_disk_now(d)), expect_pending);
    for (unsigned i = 0; i < 64; i++)
        keep[i] = kept >> i & 1;
    *ret = sim_crash_make(x, keep, 0);
    sim_crash_free(x);
    return sim_store_new(*ret, STORE);
}

/* "-": missing; else the first byte of each sector, '0' for zeros. */
static void look(struct wr_store *st, const char *path, char ret[16])
{
    char *text;
    size_t len, n = 0;

    if (wr_store_slurp(st, path, 1 << 20, &text, &len, NULL) < 0) {
        strcpy(ret, "-");
        return;
    }
    for (size_t i = 0; i < len && n < 15; i += SECTOR)
        ret[n++] = text[i] ? text[i] : '0';
    ret[n] = '\0';
    free(text);
}

static void expect(struct sim_disk *d, uint64_t kept, size_t pending,
                   const char *path, const char *sectors)
{
    struct sim_disk *left;
    struct wr_store *st = cut(d, kept, pending, &left);
    char seen[16];

    look(st, path, seen);
    assert_string_equal(seen, sectors);
    wr_store_close(st);
    sim_disk_free(left);
}

#define ALL UINT64_MAX

/* --- the rules --- */

static void test_name_needs_folder_sync(void **state)
{
    struct wr_store *st = sim_store_new(*state, STORE);

    put_file(st, "a", 'x', SECTOR);
    expect(*state, 0, 1, "a", "-"); /* though its data were synced */
    expect(*state, ALL, 1, "a", "x");
    change(st, WR_SYNC_DIR, "", NULL);
    expect(*state, 0, 0, "a", "x");
    wr_store_close(st);
}

static void test_data_need_file_sync(void **state)
{
    struct wr_store *st = sim_store_new(*state, STORE);
    struct wr_object *o = make(st, "a");

    fill(o, 'x', 2 * SECTOR, 0);
    change(st, WR_SYNC_DIR, "", NULL);
    expect(*state, 0, 3, "a", "");     /* size, sector, sector */
    expect(*state, 1, 3, "a", "00");   /* the size alone */
    expect(*state, 2 | 4, 3, "a", ""); /* the data alone */
    expect(*state, 1 | 4, 3, "a", "0x");
    assert_int_equal(o->ops->sync(o, NULL), 0);
    expect(*state, 0, 0, "a", "xx");
    finish(o, false);
    wr_store_close(st);
}

static void test_torn_overwrite(void **state)
{
    struct wr_store *st = sim_store_new(*state, STORE);
    struct wr_object *o = make(st, "a");

    fill(o, 'x', 4 * SECTOR, 0);
    finish(o, true);
    change(st, WR_SYNC_DIR, "", NULL);
    assert_int_equal(st->ops->object_open(st, "a", WR_OPEN_WRITE, &o, NULL), 0);
    fill(o, 'y', 3 * SECTOR, SECTOR);
    finish(o, false);
    expect(*state, 0, 3, "a", "xxxx");
    expect(*state, 2, 3, "a", "xxyx");
    expect(*state, 5, 3, "a", "xyxy");
    wr_store_close(st);
}

static void test_failed_sync(void **state)
{
    struct sim_disk *d = *state;
    struct wr_store *st = sim_store_new(d, STORE);
    struct wr_object *o = make(st, "a");

    change(st, WR_SYNC_DIR, "", NULL);
    fill(o, 'x', SECTOR, 0);
    d->bad_sync = 2;
    assert_int_equal(o->ops->sync(o, NULL), 0);
    fill(o, 'y', SECTOR, 0);
    assert_int_equal(o->ops->sync(o, NULL), WEIR_EIO);
    assert_int_equal(o->ops->sync(o, NULL), 0);
    expect(d, 0, 1, "a", "x"); /* for all that the last sync said */
    d->bad_sync = 0;
    fill(o, 'z', SECTOR, 0);
    assert_int_equal(o->ops->sync(o, NULL), 0);
    expect(d, 0, 1, "a", "z");
    finish(o, false);
    wr_store_close(st);
}

static void test_shrink_and_grow(void **state)
{
    struct wr_store *st = sim_store_new(*state, STORE);
    struct wr_object *o = make(st, "a");
    char byte = 1;

    fill(o, 'x', 3 * SECTOR, 0);
    assert_int_equal(o->ops->sync(o, NULL), 0);
    change(st, WR_SYNC_DIR, "", NULL);
    assert_int_equal(o->ops->resize(o, SECTOR + 1, NULL), 0);
    assert_int_equal(o->ops->resize(o, 3 * SECTOR, NULL), 0);
    assert_int_equal(o->ops->read(o, &byte, 1, SECTOR + 1, NULL), 1);
    assert_int_equal(byte, 0);
    expect(*state, 0, 2, "a", "xxx");
    expect(*state, 1, 2, "a", "xx");
    expect(*state, 3, 2, "a", "xx0");
    finish(o, true);
    expect(*state, 0, 0, "a", "xx0");
    wr_store_close(st);
}

static void test_rename_is_atomic(void **state)
{
    struct wr_store *st = sim_store_new(*state, STORE);

    put_file(st, "old", 'x', SECTOR);
    put_file(st, "new", 'y', SECTOR);
    change(st, WR_SYNC_DIR, "", NULL);
    change(st, WR_RENAME, "new", "old");
    expect(*state, 0, 1, "old", "x");
    expect(*state, 0, 1, "new", "y");
    expect(*state, 1, 1, "old", "y");
    expect(*state, 1, 1, "new", "-");
    change(st, WR_SYNC_DIR, "", NULL);
    expect(*state, 0, 0, "old", "y");
    wr_store_close(st);
}

static void test_rename_without_its_making(void **state)
{
    struct wr_store *st = sim_store_new(*state, STORE);

    put_file(st, "a", 'x', SECTOR);
    change(st, WR_RENAME_NEW, "a", "b");
    expect(*state, 1, 2, "a", "x");
    expect(*state, 2, 2, "b", "x");
    expect(*state, 2, 2, "a", "-");
    assert_int_equal(st->ops->change(st, WR_RENAME_NEW, "b", "b", NULL),
                     WEIR_EEXIST);
    wr_store_close(st);
}

static void test_rename_between_folders(void **state)
{
    struct wr_store *st = sim_store_new(*state, STORE);

    change(st, WR_MKDIR, "d", NULL);
    put_file(st, "a", 'x', SECTOR);
    change(st, WR_SYNC_DIR, "", NULL);
    change(st, WR_RENAME, "a", "d/a");
    change(st, WR_SYNC_DIR, "d", NULL);
    expect(*state, 0, 1, "a", "x");
    expect(*state, 1, 1, "a", "-");
    change(st, WR_SYNC_DIR, "", NULL);
    expect(*state, 0, 0, "d/a", "x");
    wr_store_close(st);
}

static void test_folder_and_what_is_in_it(void **state)
{
    struct wr_store *st = sim_store_new(*state, STORE);

    change(st, WR_MKDIR, "d", NULL);
    put_file(st, "d/a", 'x', SECTOR);
    change(st, WR_SYNC_DIR, "d", NULL);
    expect(*state, 0, 1, "d/a", "-"); /* in a folder that has no name */
    change(st, WR_RENAME, "d", "e");
    change(st, WR_SYNC_DIR, "", NULL);
    expect(*state, 0, 0, "e/a", "x");
    put_file(st, "e/b", 'y', SECTOR);
    change(st, WR_SYNC_DIR, "", NULL); /* not the folder concerned */
    expect(*state, 0, 1, "e/b", "-");
    wr_store_close(st);
}

static void test_removal(void **state)
{
    struct wr_store *st = sim_store_new(*state, STORE);
    struct wr_object *o;

    change(st, WR_MKDIR, "d", NULL);
    put_file(st, "d/a", 'x', SECTOR);
    change(st, WR_SYNC_DIR, "d", NULL);
    change(st, WR_SYNC_DIR, "", NULL);
    assert_int_equal(st->ops->object_open(st, "d/a", WR_OPEN_WRITE, &o, NULL),
                     0);
    fill(o, 'y', SECTOR, 0);
    finish(o, false);
    change(st, WR_REMOVE, "d/a", NULL);
    expect(*state, 0, 2, "d/a", "x");
    expect(*state, 2, 2, "d/a", "-");
    change(st, WR_REMOVE, "d", NULL);
    /* Gone for good: what is pending inside concerns nobody. */
    change(st, WR_SYNC_DIR, "", NULL);
    expect(*state, 0, 0, "d/a", "-");
    wr_store_close(st);
}

static void test_not_empty(void **state)
{
    struct wr_store *st = sim_store_new(*state, STORE);

    change(st, WR_MKDIR, "d", NULL);
    change(st, WR_MKDIR, "e", NULL);
    put_file(st, "d/a", 'x', 1);
    assert_true(st->ops->change(st, WR_REMOVE, "d", NULL, NULL) < 0);
    assert_true(st->ops->change(st, WR_RENAME, "e", "d", NULL) < 0);
    assert_int_equal(st->ops->change(st, WR_MKDIR, "x/y", NULL, NULL),
                     WEIR_ENOENT);
    wr_store_close(st);
}

static void test_locks(void **state)
{
    struct wr_store *a = sim_store_new(*state, STORE);
    struct wr_store *b = sim_store_new(*state, STORE), *after;
    struct wr_object *mine = make(a, "lock"), *yours;
    struct sim_disk *left;

    assert_int_equal(
        b->ops->object_open(b, "lock", WR_OPEN_WRITE, &yours, NULL), 0);
    assert_int_equal(mine->ops->lock(mine, NULL), 0);
    assert_int_equal(mine->ops->lock(mine, NULL), 0);
    assert_int_equal(yours->ops->lock(yours, NULL), WEIR_EBUSY);
    after = cut(*state, ALL, 1, &left);
    finish(yours, false);
    assert_int_equal(
        after->ops->object_open(after, "lock", WR_OPEN_WRITE, &yours, NULL), 0);
    assert_int_equal(yours->ops->lock(yours, NULL), 0);
    finish(yours, false);
    finish(mine, false);
    wr_store_close(after);
    sim_disk_free(left);
    assert_int_equal(
        b->ops->object_open(b, "lock", WR_OPEN_WRITE, &yours, NULL), 0);
    assert_int_equal(yours->ops->lock(yours, NULL), 0);
    finish(yours, false);
    wr_store_close(a);
    wr_store_close(b);
}

static void test_queue(void **state)
{
    struct wr_store *st = sim_store_new(*state, STORE);
    struct wr_queue_config cfg = {.depth = 2, .direct = true};
    struct wr_object *o = make(st, "a");
    char out[2][SECTOR], in[2 * SECTOR + 1];
    struct wr_io w[3], r = {.path = "a",
                            .len = 2 * SECTOR,
                            .buf = in,
                            .cap = sizeof(in),
                            .whole = true};
    struct wr_io *ios[3] = {&w[0], &w[1], &w[2]}, *one = &r, *done[3];
    struct wr_queue *q;

    assert_int_equal(st->ops->queue_open(st, &cfg, &q, NULL), 0);
    for (unsigned i = 0; i < 3; i++) {
        memset(out[i & 1], 'a' + (int)(i & 1), SECTOR);
        w[i] = (struct wr_io){.op = WR_IO_WRITE,
                              .object = o,
                              .offset = (i & 1) * SECTOR,
                              .len = SECTOR,
                              .buf = out[i & 1]};
    }
    assert_int_equal(q->ops->submit(q, ios, 3), 2);
    assert_int_equal(q->ops->reap(q, done, 3, true), 2);
    assert_int_equal(w[0].result, 0);
    assert_int_equal(q->ops->submit(q, &one, 1), 1);
    assert_int_equal(q->ops->reap(q, done, 3, true), 1);
    assert_int_equal(r.result, 0);
    assert_memory_equal(r.data + SECTOR, out[1], SECTOR);
    r.len = SECTOR;
    q->ops->submit(q, &one, 1);
    assert_int_equal(r.result, WEIR_ECHANGED); /* longer than that */
    q->ops->reap(q, done, 3, true);
    r.path = "b";
    q->ops->submit(q, &one, 1);
    assert_int_equal(r.result, WEIR_ENOENT);
    q->ops->close(q);
    finish(o, false);
    /* Pending: its name, then twice the size and a sector. */
    expect(*state, 1 | 8 | 16, 5, "a", "0b");
    wr_store_close(st);
}

/* --- exploring --- */

struct seen {
    size_t count;
    char what[256]; /* a letter for each state */
};

static uint64_t same(void *arg, size_t at)
{
    (void)arg;
    (void)at;
    return 0;
}

static bool note(void *arg, const struct sim_cut *cut_at, struct sim_disk *left)
{
    struct wr_store *st = sim_store_new(left, STORE);
    struct seen *s = arg;
    char text[16];

    (void)cut_at;
    look(st, "a", text);
    s->what[s->count++] = *text ? *text : 'e';
    wr_store_close(st);
    sim_disk_free(left);
    return s->count < sizeof(s->what) - 1;
}

static void test_explore(void **state)
{
    struct wr_store *st = sim_store_new(*state, STORE);
    struct sim_plan plan = {.seed = 1, .singles = 8, .randoms = 64};
    struct sim_counts counts = {0};
    struct seen seen = {0};
    struct sim_seen keys = {0};
    struct sim_checker c = {same, note, &seen, &keys};
    struct wr_object *o = make(st, "a");

    fill(o, 'x', SECTOR, 0);
    finish(o, true);
    sim_explore(*state, &plan, &c, &counts);
    sim_seen_done(&keys);
    /* missing, empty, of zeros, garbage, right; each once */
    assert_int_equal(seen.count, counts.fresh);
    assert_true(counts.states > counts.fresh);
    assert_int_equal(counts.whole, counts.points);
    for (const char *p = "-e0x"; *p; p++) {
        assert_non_null(strchr(seen.what, *p));
        assert_ptr_equal(strchr(seen.what, *p), strrchr(seen.what, *p));
    }
    assert_int_equal(counts.fresh, 5);
    wr_store_close(st);
}

/* --- lax stores: what they leave out is pending --- */

#define OUTER ".writer-000000000001"
#define WORK  OUTER "/cd"
#define TMP   WORK "/tmp-000000000007-ab"

/* Durably. */
static void make_work(struct sim_disk *d)
{
    struct wr_store *st = sim_store_new(d, STORE);

    change(st, WR_MKDIR, OUTER, NULL);
    change(st, WR_MKDIR, WORK, NULL);
    change(st, WR_SYNC_DIR, OUTER, NULL);
    change(st, WR_SYNC_DIR, "", NULL);
    wr_store_close(st);
}

/* The protocol of a save; returns what is pending at its end. */
static size_t save(struct sim_disk *d, unsigned flags)
{
    struct wr_store *st = lax_wrap(sim_store_new(d, STORE), flags);
    struct sim_crash *x;
    size_t n;

    make_work(d);
    change(st, WR_MKDIR, TMP, NULL);
    put_file(st, TMP "/f", 'x', SECTOR);
    change(st, WR_SYNC_DIR, TMP, NULL);
    change(st, WR_RENAME_NEW, TMP, "step-000000000007");
    change(st, WR_SYNC_DIR, WORK, NULL);
    change(st, WR_SYNC_DIR, "", NULL);
    x = sim_crash_new(d);
    n = sim_crash_seek(x, sim_disk_now(d));
    sim_crash_free(x);
    wr_store_close(st);
    return n;
}

static void test_lax(void **state)
{
    static const size_t pending[] = {2, 3, 2, 1, 0};

    (void)state;
    for (unsigned i = 0; lax_variants[i].name; i++) {
        struct sim_disk *d = sim_disk_new(SECTOR);

        assert_int_equal(save(d, lax_variants[i].flags), pending[i]);
        if (lax_variants[i].flags == LAX_NO_RENAME)
            assert_string_equal(d->ops[4].name, "step-000000000007");
        sim_disk_free(d);
    }
    assert_int_equal(save(*state, 0), 0);
    expect(*state, 0, 0, "step-000000000007/f", "x");
}

#define RULE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(test_name_needs_folder_sync),
        RULE(test_data_need_file_sync),
        RULE(test_torn_overwrite),
        RULE(test_failed_sync),
        RULE(test_shrink_and_grow),
        RULE(test_rename_is_atomic),
        RULE(test_rename_without_its_making),
        RULE(test_rename_between_folders),
        RULE(test_folder_and_what_is_in_it),
        RULE(test_removal),
        RULE(test_not_empty),
        RULE(test_locks),
        RULE(test_queue),
        RULE(test_explore),
        RULE(test_lax),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
