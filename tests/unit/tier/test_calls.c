/* test_calls.c - the calls behind a tier: their order, and each failing.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a power cut leaves depends on what was synced before what. The order is
 * written out here, so that nobody changes it unnoticed. */
#include "tier_help.h"

#include "base/mem.h"
#include "record_store.h"

#define WORLD 2

static struct wr_tier *recorded(const struct place *p, struct record *rec)
{
    struct wr_store *st = NULL;
    struct wr_tier *t = NULL;

    memset(rec, 0, sizeof(*rec));
    if (!there(p, ""))
        plant_dir(p, "");
    assert_int_equal(wr_store_open_own(p->tier, &st, NULL), 0);
    assert_int_equal(
        wr_tier_wrap(record_wrap(st, rec), p->tier, "fast", &t, NULL), 0);
    return t;
}

static struct wr_tier *recorded_claim(const struct place *p, struct record *rec)
{
    struct wr_tier *t = recorded(p, rec);

    assert_int_equal(wr_tier_claim(t, false, NULL, NULL), 0);
    rec->count = 0;
    return t;
}

/* What was done since the last look is just this. */
static void expect(struct record *rec, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < WR_MIN(count, rec->count); i++)
        assert_string_equal(rec->lines[i], lines[i]);
    if (rec->count > count)
        fail_msg("also done: %s", rec->lines[count]);
    if (rec->count < count)
        fail_msg("not done: %s", lines[rec->count]);
    rec->count = 0;
}

#define EXPECT(rec, ...)                                                       \
    do {                                                                       \
        static const char *const lines[] = {__VA_ARGS__};                      \
                                                                               \
        expect(rec, lines, WR_ARRAY_LEN(lines));                               \
    } while (0)

/* --- the order --- */

static void order_of_a_claim(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct wr_tier *t = recorded(p, &rec);
    char name[256], path[400];

    assert_int_equal(wr_tier_claim(t, false, NULL, NULL), 0);
    EXPECT(&rec, "mkdir .weir", "syncdir .", /* the lock must not get lost */
           "create .weir/lock", "lock .weir/lock",
           "mkdir .writer-000000000001", /* the number is taken */
           "mkdir W1", "syncdir .writer-000000000001", "syncdir W1",
           "syncdir .", /* nobody below it changes anything from here on */
           "syncdir W1", "syncdir ."); /* before the sweep removes files */
    wr_tier_close(t);

    /* What an interrupted writer left goes into the new folder, and only when
     * its own is gone, durably, files are removed. */
    assert_int_equal(count_in(p, ".writer-000000000001", "", name), 1);
    snprintf(path, sizeof(path), "%s/tmp-000000000009-" ID, name);
    plant_dir(p, path);
    snprintf(path, sizeof(path), "%s/tmp-000000000009-" ID "/MANIFEST", name);
    plant(p, path, "half");
    plant(p, ".weir/pin-000000000009", "");
    t = recorded(p, &rec);
    assert_int_equal(wr_tier_claim(t, false, NULL, NULL), 0);
    EXPECT(&rec, "syncdir .", "lock .weir/lock", "mkdir .writer-000000000002",
           "mkdir W2", "syncdir .writer-000000000002",
           "rename-new W1/tmp-000000000009-@ W2/trash-@", "remove W1",
           "remove .writer-000000000001", "syncdir W2", "syncdir .",
           "syncdir W2", "syncdir .", "remove W2/trash-@/MANIFEST",
           "remove W2/trash-@", "remove .weir/pin-000000000009",
           "syncdir .weir");
    wr_tier_close(t);
}

/* What the version before left: its files in the root, and its epoch. */
static void order_of_a_first_claim(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct wr_tier *t = recorded(p, &rec);

    plant_dir(p, ".weir");
    plant(p, ".weir/lock", "");
    plant(p, ".weir/epoch", "41 " ID "\n");
    plant_dir(p, ".tmp-000000000009-" ID);
    plant(p, ".tmp-000000000009-" ID "/r00000.safetensors", "half");
    assert_int_equal(wr_tier_claim(t, false, NULL, NULL), 0);
    assert_int_equal(t->epoch, 42);
    EXPECT(&rec, "syncdir .", "read .weir/epoch", "lock .weir/lock",
           "mkdir .writer-000000000042", "mkdir W42",
           "syncdir .writer-000000000042",
           "remove .weir/epoch", /* its writer looks for it: it is fenced */
           "syncdir W42", "syncdir .", "rename .tmp-000000000009-@ W42/trash-@",
           "syncdir W42", "syncdir .", "remove W42/trash-@/r00000.safetensors",
           "remove W42/trash-@");
    wr_tier_close(t);
}

static void order_of_a_save(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct wr_tier *t = recorded_claim(p, &rec);

    must_save(t, 1, 1);
    EXPECT(&rec, "mkdir W1/tmp-000000000001-@",
           "create W1/tmp-000000000001-@/r00000.safetensors",
           "write W1/tmp-000000000001-@/r00000.safetensors",
           "sync W1/tmp-000000000001-@/r00000.safetensors",
           "syncdir W1/tmp-000000000001-@", /* each rank */
           "create W1/tmp-000000000001-@/MANIFEST",
           "write W1/tmp-000000000001-@/MANIFEST",
           "sync W1/tmp-000000000001-@/MANIFEST",
           "syncdir W1/tmp-000000000001-@",
           "check W1", /* just before it counts */
           "rename-new W1/tmp-000000000001-@ step-000000000001", "syncdir W1",
           "syncdir .");
    wr_tier_close(t);
}

static void order_of_a_recycled_save(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct wr_tier *t = recorded_claim(p, &rec);

    must_save(t, 1, 2);
    assert_int_equal(wr_tier_retire(t, 1, NULL), 0);
    rec.count = 0;
    must_save(t, 2, 1);
    EXPECT(&rec, "rename W1/slot-@ W1/tmp-000000000002-@", "syncdir W1",
           "syncdir .", /* before anything in it changes */
           "remove W1/tmp-000000000002-@/MANIFEST",
           "write W1/tmp-000000000002-@/r00000.safetensors",
           "sync W1/tmp-000000000002-@/r00000.safetensors",
           "syncdir W1/tmp-000000000002-@",
           "remove W1/tmp-000000000002-@/r00001.safetensors",
           "create W1/tmp-000000000002-@/MANIFEST",
           "write W1/tmp-000000000002-@/MANIFEST",
           "sync W1/tmp-000000000002-@/MANIFEST",
           "syncdir W1/tmp-000000000002-@", "check W1",
           "rename-new W1/tmp-000000000002-@ step-000000000002", "syncdir W1",
           "syncdir .");
    wr_tier_close(t);
}

/* A newer save of a number that is there. */
static int replace_step(struct wr_tier *t, uint64_t step, struct record *rec,
                        unsigned fail_at)
{
    struct wr_manifest m = manifest_of(t, step, 1);
    struct wr_pending p;
    int r;

    assert_int_equal(wr_tier_begin_beside(t, step, BYTES, &p, NULL), 0);
    assert_int_equal(put_shard(t, &p, 0, 'z', NULL), 0);
    p.replaces = true;
    rec->count = rec->calls = 0;
    rec->fail_at = fail_at;
    r = wr_tier_publish(t, &p, &m, NULL);
    rec->fail_at = 0;
    wr_manifest_done(&m);
    return r;
}

/* They change places: who looks meanwhile finds one of them. */
static void order_of_replacing(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct wr_tier *t = recorded_claim(p, &rec);

    must_save(t, 1, 1);
    assert_int_equal(replace_step(t, 1, &rec, 0), 0);
    EXPECT(&rec, "create W1/tmp-000000000001-@/MANIFEST",
           "write W1/tmp-000000000001-@/MANIFEST",
           "sync W1/tmp-000000000001-@/MANIFEST",
           "syncdir W1/tmp-000000000001-@", "check W1",
           "swap W1/tmp-000000000001-@ step-000000000001",
           "rename W1/tmp-000000000001-@ W1/slot-@", "syncdir W1", "syncdir .");
    must_be_good(t, 1);
    wr_tier_close(t);
}

/* Nothing stands between the two renames: who looks meanwhile finds no step. */
static void order_of_replacing_by_two_renames(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct wr_tier *t = recorded_claim(p, &rec);

    rec.no_swap = true;
    must_save(t, 1, 1);
    assert_int_equal(replace_step(t, 1, &rec, 0), 0);
    EXPECT(&rec, "create W1/tmp-000000000001-@/MANIFEST",
           "write W1/tmp-000000000001-@/MANIFEST",
           "sync W1/tmp-000000000001-@/MANIFEST",
           "syncdir W1/tmp-000000000001-@", "check W1",
           "rename step-000000000001 W1/slot-@",
           "rename-new W1/tmp-000000000001-@ step-000000000001", "syncdir W1",
           "syncdir .");
    must_be_good(t, 1);
    wr_tier_close(t);
}

/* Whichever call fails, done or not, the old step or the new one is there. */
static void a_replacement_that_fails(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct wr_tier *t = recorded_claim(p, &rec);

    must_save(t, 1, 1);
    for (unsigned way = 0; way < 4; way++) {
        unsigned failed = 0;

        rec.no_swap = way % 2;
        rec.how = way < 2 ? RECORD_NOT_DONE : RECORD_DONE;
        for (unsigned at = 1; at <= 20; at++) { /* more calls than there are */
            failed += replace_step(t, 1, &rec, at) < 0;
            must_be_good(t, 1);
        }
        assert_true(failed >= 5);
    }
    wr_tier_close(t);
}

static void order_of_taking_away(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct wr_tier *t = recorded_claim(p, &rec);

    must_save(t, 1, 1);
    must_save(t, 2, 1);
    rec.count = 0;
    assert_int_equal(wr_tier_mark(t, WR_MARK_VERIFIED, 1, ID, NULL), 0);
    EXPECT(&rec, "create W1/new-@", "write W1/new-@", "sync W1/new-@",
           "rename W1/new-@ .weir/verified-000000000001", "syncdir W1",
           "syncdir .weir");
    assert_int_equal(wr_tier_retire(t, 1, NULL), 0);
    EXPECT(&rec, "rename step-000000000001 W1/slot-@", "syncdir W1",
           "syncdir .", /* before anybody is told */
           "rename .weir/verified-000000000001 W1/new-@", "remove W1/new-@",
           "syncdir .weir");
    assert_int_equal(wr_tier_retire(t, 2, NULL), 0); /* slots: 1 */
    assert_true(rec.count == 6);
    assert_string_equal(rec.lines[0], "rename step-000000000002 W1/trash-@");
    assert_string_equal(rec.lines[1], "syncdir W1");
    assert_string_equal(rec.lines[2], "syncdir .");
    assert_int_equal(strncmp(rec.lines[3], "remove W1/trash-@/", 18), 0);
    assert_int_equal(strncmp(rec.lines[4], "remove W1/trash-@/", 18), 0);
    assert_string_equal(rec.lines[5], "remove W1/trash-@");
    rec.count = 0;
    assert_int_equal(wr_tier_spare(t, /* drop= */ true, NULL, NULL), 0);
    assert_true(rec.count == 6);
    assert_string_equal(rec.lines[0], "rename W1/slot-@ W1/trash-@");
    assert_string_equal(rec.lines[1], "syncdir W1");
    assert_string_equal(rec.lines[2], "syncdir .");
    wr_tier_close(t);
}

/* Who drains is not the tier's writer: both folders last all the same before a
 * file is removed. */
static void order_of_taking_away_beside(void **state)
{
    struct place *p = *state;
    static struct record rec, beside;
    struct wr_tier *t = recorded_claim(p, &rec), *other;

    must_save(t, 1, 1);
    must_save(t, 2, 1);
    other = recorded(p, &beside);
    assert_int_equal(wr_tier_retire(other, 1, NULL), 0);
    EXPECT(&beside, "rename step-000000000001 W1/slot-@", "syncdir W1",
           "syncdir .");
    assert_int_equal(wr_tier_discard(other, 2, NULL), 0);
    assert_true(beside.count == 6);
    assert_string_equal(beside.lines[0], "rename step-000000000002 W1/trash-@");
    assert_string_equal(beside.lines[1], "syncdir W1");
    assert_string_equal(beside.lines[2], "syncdir .");
    assert_string_equal(beside.lines[5], "remove W1/trash-@");
    wr_tier_close(other);
    wr_tier_close(t);
}

/* --- each call failing --- */

#define STEPS 6

struct outcome {
    bool acked[STEPS]; /* a save of it returned 0 */
    bool going[STEPS]; /* it was to be taken away */
    bool marked;       /* step 2 */
};

/* Some of everything; what fails is passed over, as a trainer might. */
static void life(struct wr_tier *t, struct outcome *o)
{
    if (wr_tier_claim(t, false, NULL, NULL) < 0)
        return;
    o->acked[1] = save(t, 1, WORLD, NULL) == 0;
    o->acked[2] = save(t, 2, 1, NULL) == 0;
    wr_tier_mark(t, WR_MARK_VERIFIED, 1, ID, NULL);
    o->marked = wr_tier_mark(t, WR_MARK_PIN, 2, "", NULL) == 0;
    o->going[1] = true;
    wr_tier_retire(t, 1, NULL);
    o->acked[3] = save(t, 3, 1, NULL) == 0; /* recycles */
    t->slots = 0;
    o->going[3] = true;
    wr_tier_retire(t, 3, NULL); /* removes */
    t->slots = 1;
    o->acked[4] = save(t, 4, 1, NULL) == 0;
    o->going[4] = true;
    wr_tier_retire(t, 4, NULL);
    wr_tier_spare(t, /* drop= */ true, NULL, NULL);
    o->acked[5] = save(t, 5, 1, NULL) == 0;
}

/* All bytes of a step's files are those of its save. */
static void must_be_unharmed(const struct place *p, struct wr_tier *t,
                             uint64_t step)
{
    char path[WR_TIER_PATH], bytes[BYTES + 2];
    struct wr_manifest m;
    weir_err err;

    if (wr_tier_manifest(t, step, &m, &err) < 0)
        fail_msg("%s", err.msg);
    for (uint32_t i = 0; i < m.world; i++) {
        wr_tier_shard_path(step, i, path);
        content(p, path, bytes, sizeof(bytes));
        assert_int_equal(strlen(bytes), BYTES);
        for (size_t k = 0; k < BYTES; k++)
            assert_int_equal(bytes[k], (char)('a' + step % 26));
    }
    wr_manifest_done(&m);
}

static void check_outcome(const struct place *p, const struct outcome *o)
{
    static struct record rec;
    struct wr_tier *t = recorded_claim(p, &rec);
    char text[20];
    uint64_t *steps;
    size_t count;

    for (uint64_t step = 1; step < STEPS; step++)
        if (o->acked[step] && !o->going[step])
            assert_true(wr_tier_has(t, step));
    assert_int_equal(wr_tier_steps(t, &steps, &count, NULL), 0);
    for (size_t i = 0; i < count; i++)
        must_be_unharmed(p, t, steps[i]);
    free(steps);
    if (o->marked && o->acked[2])
        assert_true(wr_tier_marked(t, WR_MARK_PIN, 2, NULL, 0));
    assert_int_equal(count_left(p, "t", NULL), 0);
    assert_true(count_left(p, "slot-", NULL) <= 1);
    must_save(t, 9, 1);
    must_be_unharmed(p, t, 9);
    content(p, "canary", text, sizeof(text));
    assert_string_equal(text, "sings");
    wr_tier_close(t);
}

/* Runs a life whose call number `n` fails; false when it has fewer calls. */
static bool one_fails(const struct place *p, unsigned n, enum record_how how)
{
    static struct record rec;
    struct outcome o = {0};
    struct wr_tier *t = recorded(p, &rec);

    plant(p, "canary", "sings");
    rec.fail_at = n;
    rec.how = how;
    life(t, &o);
    wr_tier_close(t);
    check_outcome(p, &o);
    if (rec.calls < n) /* it was a life without trouble */
        for (unsigned i = 1; i < STEPS; i++)
            assert_true(o.acked[i]);
    assert_int_equal(remove_tree(p->tier), 0);
    return rec.calls >= n;
}

static void all_fail(const struct place *p, enum record_how how)
{
    unsigned n = 1;

    while (one_fails(p, n, how))
        n++;
    assert_true(n > 100); /* or the life was too short to mean something */
}

static void each_call_fails(void **state)
{
    all_fail(*state, RECORD_NOT_DONE);
}

static void each_call_is_done_and_fails(void **state)
{
    all_fail(*state, RECORD_DONE);
}

static void each_call_finds_it_full(void **state)
{
    all_fail(*state, RECORD_FULL);
}

static void dies_at_each_call(void **state)
{
    all_fail(*state, RECORD_DEAD);
}

/* --- room --- */

/* Calls that were more than a look. */
static unsigned changes(const struct record *rec)
{
    unsigned n = 0;

    for (size_t i = 0; i < rec->count; i++)
        n += strncmp(rec->lines[i], "check ", 6) != 0;
    return n;
}

#define MIB ((uint64_t)1 << 20)

static void needs_room(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct wr_tier *t = recorded_claim(p, &rec);
    struct wr_pending pend;
    char want[600];
    weir_err err;

    rec.space = 10 * MIB;
    assert_int_equal(wr_tier_begin(t, 1, 9 * MIB + 1, &pend, &err),
                     WEIR_ENOSPC);
    snprintf(want, sizeof(want),
             "'%s': no room for a step: 10.5 MB needed, 10.5 MB free", p->tier);
    assert_string_equal(err.msg, want);
    assert_int_equal(wr_tier_begin(t, 1, UINT64_MAX, &pend, &err), WEIR_ENOSPC);
    assert_int_equal(changes(&rec), 0);
    assert_int_equal(wr_tier_begin(t, 1, 9 * MIB, &pend, &err), 0);
    wr_tier_abandon(t, &pend);
    wr_tier_close(t);
}

static void slots_make_room(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct wr_tier *t = recorded_claim(p, &rec);
    uint64_t slot, manifest;
    struct wr_pending pend;
    struct stat sb;

    t->slots = 3;
    for (uint64_t step = 1; step <= 3; step++)
        must_save(t, step, 1);
    assert_int_equal(stat(at(p, "step-000000000001/MANIFEST"), &sb), 0);
    manifest = (uint64_t)sb.st_size;
    slot = BYTES + manifest;
    for (uint64_t step = 1; step <= 3; step++)
        assert_int_equal(wr_tier_retire(t, step, NULL), 0);
    rec.space = MIB;
    rec.count = 0;
    /* All slots would not be enough: none goes. */
    assert_int_equal(wr_tier_begin(t, 4, 3 * slot + 1, &pend, NULL),
                     WEIR_ENOSPC);
    assert_int_equal(changes(&rec), 0);
    /* One is enough: the others stay. */
    assert_int_equal(wr_tier_begin(t, 4, slot, &pend, NULL), 0);
    assert_int_equal(count_left(p, "slot-", NULL), 2);
    wr_tier_abandon(t, &pend);
    /* More than one is needed: the others go. */
    assert_int_equal(wr_tier_begin(t, 4, slot + 1, &pend, NULL), 0);
    assert_int_equal(count_left(p, "slot-", NULL), 0);
    assert_int_equal(count_left(p, "trash-", NULL), 0);
    wr_tier_abandon(t, &pend);
    wr_tier_close(t);
}

/* --- faults of the storage --- */

/* Saves step 2 on a tier that has step 1 and fails by `rules`. */
static int save_with(const struct place *p, const char *rules, weir_err *err)
{
    struct wr_tier *t;
    char url[400];
    int r;

    t = claimed_at(p->tier);
    if (!wr_tier_has(t, 1))
        must_save(t, 1, 1);
    wr_tier_close(t);
    snprintf(url, sizeof(url), "fault:%s:%s", rules, p->tier);
    t = claimed_at(url);
    r = save(t, 2, 1, err);
    must_be_unharmed(p, t, 1);
    assert_int_equal(count_left(p, "t", NULL), 0);
    assert_int_equal(wr_tier_has(t, 2), r == 0);
    wr_tier_close(t);
    return r;
}

static void storage_fails(void **state)
{
    struct place *p = *state;
    weir_err err;

    assert_int_equal(save_with(p, "write-enospc@~MANIFEST", &err), WEIR_ENOSPC);
    assert_non_null(strstr(err.msg, "/MANIFEST': cannot write: No space left"));
    assert_int_equal(save_with(p, "write-enospc@~r00000", &err), WEIR_ENOSPC);
    assert_int_equal(save_with(p, "write-short@~MANIFEST", &err), WEIR_EIO);
    assert_int_equal(save_with(p, "sync-eio@~MANIFEST", &err), WEIR_EIO);
    assert_non_null(strstr(err.msg, "/MANIFEST': cannot sync: "));
    assert_int_equal(save_with(p, "sync-eio@~r00000", &err), WEIR_EIO);
}

/* A sync that fails once costs a new file, not the save. */
static void a_manifest_is_written_anew(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct wr_tier *t = recorded_claim(p, &rec);
    struct wr_manifest m = manifest_of(t, 1, 1);
    struct wr_pending pend;

    assert_int_equal(wr_tier_begin(t, 1, BYTES, &pend, NULL), 0);
    assert_int_equal(put_shard(t, &pend, 0, 'b', NULL), 0);
    rec.count = 0;
    /* Of publish: list, stat, create, write, sync. */
    rec.fail_at = rec.calls + 5;
    assert_int_equal(wr_tier_publish(t, &pend, &m, NULL), 0);
    EXPECT(&rec, "create W1/tmp-000000000001-@/MANIFEST",
           "write W1/tmp-000000000001-@/MANIFEST",
           "remove W1/tmp-000000000001-@/MANIFEST", /* not synced again */
           "create W1/tmp-000000000001-@/MANIFEST",
           "write W1/tmp-000000000001-@/MANIFEST",
           "sync W1/tmp-000000000001-@/MANIFEST",
           "syncdir W1/tmp-000000000001-@", "check W1",
           "rename-new W1/tmp-000000000001-@ step-000000000001", "syncdir W1",
           "syncdir .");
    must_be_unharmed(p, t, 1);
    wr_manifest_done(&m);
    wr_tier_close(t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, place_setup, place_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(order_of_a_claim),
        TEST(order_of_a_first_claim),
        TEST(order_of_a_save),
        TEST(order_of_a_recycled_save),
        TEST(order_of_replacing),
        TEST(order_of_replacing_by_two_renames),
        TEST(a_replacement_that_fails),
        TEST(order_of_taking_away),
        TEST(order_of_taking_away_beside),
        TEST(each_call_fails),
        TEST(each_call_is_done_and_fails),
        TEST(each_call_finds_it_full),
        TEST(dies_at_each_call),
        TEST(needs_room),
        TEST(slots_make_room),
        TEST(storage_fails),
        TEST(a_manifest_is_written_anew),
    };

    return cmocka_run_group_tests_name("tier_calls", tests, NULL, NULL);
}
