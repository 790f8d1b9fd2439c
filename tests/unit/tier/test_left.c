/* test_left.c - what failures leave in a tier, and that it does not grow.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier_help.h"

#include "base/mem.h"
#include "record_store.h"

static struct wr_tier *claimed_with(const struct place *p, const char *rules)
{
    char url[400];

    wr_tier_close(claimed_at(p->tier)); /* so that this claim does not fail */
    snprintf(url, sizeof(url), "fault:%s:%s", rules, p->tier);
    return claimed_at(url);
}

/* --- what cannot be removed --- */

/* As on NFS, where a reader holds a file open: the step is gone all the same. */
static void retires_what_cannot_be_removed(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_with(p, "remove-eio@~/r0");
    char name[256], path[600];
    weir_err err;

    t->slots = 0;
    must_save(t, 1, 1);
    must_save(t, 2, 1);
    assert_int_equal(wr_tier_retire(t, 1, &err), 0);
    assert_false(wr_tier_has(t, 1));
    assert_int_equal(count_left(p, "trash-", name), 1);
    snprintf(path, sizeof(path), "%s/MANIFEST", name);
    assert_false(there(p, path)); /* the rest of it is gone */
    t->slots = 1;
    assert_int_equal(wr_tier_retire(t, 2, &err), 0);
    assert_int_equal(wr_tier_spare(t, /* drop= */ true, NULL, &err), 0);
    assert_int_equal(count_left(p, "slot-", NULL), 0);
    wr_tier_close(t);

    snprintf(path, sizeof(path), "fault:remove-eio@~/r0:%s", p->tier);
    t = claimed_at(path); /* no reason not to write */
    assert_int_equal(count_left(p, "trash-", NULL), 2);
    wr_tier_close(t);
    wr_tier_close(claimed_at(p->tier));
    assert_int_equal(count_left(p, "trash-", NULL), 0);
}

/* But who cannot take the name away says so. */
static void tells_what_stays(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    char url[400];

    must_save(t, 1, 1);
    wr_tier_close(t);
    snprintf(url, sizeof(url), "fault:rename-eio@~step-:%s", p->tier);
    t = claimed_at(url);
    assert_int_equal(wr_tier_retire(t, 1, NULL), WEIR_EIO);
    assert_true(wr_tier_has(t, 1));
    wr_tier_close(t);
}

/* Nor is anything removed whose new name may get lost. */
static void keeps_files_without_a_sync(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    char url[400], name[256], path[600];

    snprintf(url, sizeof(url), "fault:syncdir-eio@7:%s", p->tier);
    for (int spare = 0; spare < 2; spare++) {
        must_save(t, 1, 1);
        if (spare)
            assert_int_equal(wr_tier_retire(t, 1, NULL), 0);
        wr_tier_close(t);
        t = claimed_at(url); /* six of them */
        t->slots = 0;
        assert_int_equal(spare ? wr_tier_spare(t, /* drop= */ true, NULL, NULL)
                               : wr_tier_retire(t, 1, NULL),
                         WEIR_EIO);
        assert_int_equal(count_left(p, "trash-", name), 1);
        snprintf(path, sizeof(path), "%s/r00000.safetensors", name);
        assert_true(there(p, path));
        wr_tier_close(t);
        t = claimed_at(p->tier);
        assert_int_equal(count_left(p, "trash-", NULL), 0);
    }
    wr_tier_close(t);
}

/* What is left goes when the next step is saved. */
static void tidies_up_later(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_with(p, "remove-eio@4"); /* behind marks */

    t->slots = 0;
    must_save(t, 1, 1);
    assert_int_equal(wr_tier_retire(t, 1, NULL), 0);
    assert_int_equal(count_left(p, "trash-", NULL), 1);
    must_save(t, 2, 1);
    assert_int_equal(count_left(p, "trash-", NULL), 0);
    wr_tier_close(t);
}

/* A folder in a former step is not weir's: it stays, and the save goes on. */
static void saves_past_a_foreign_folder(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    char name[256], path[600];

    must_save(t, 1, 1);
    plant_dir(p, "step-000000000001/mine");
    plant(p, "step-000000000001/mine/canary", "sings");
    assert_int_equal(wr_tier_retire(t, 1, NULL), 0);
    assert_int_equal(count_left(p, "slot-", NULL), 1);
    must_save(t, 2, 1);
    must_be_good(t, 2);
    assert_int_equal(count_left(p, "slot-", NULL), 0);
    assert_int_equal(count_left(p, "tmp-", NULL), 0);
    assert_int_equal(count_left(p, "trash-", name), 1);
    snprintf(path, sizeof(path), "%s/mine/canary", name);
    assert_true(there(p, path));
    wr_tier_close(t);
}

/* A file too many in a step does no harm. */
static void publishes_with_a_file_too_many(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_with(p, "remove-eio@~r00001");

    must_save(t, 1, 2);
    assert_int_equal(wr_tier_retire(t, 1, NULL), 0);
    must_save(t, 2, 1);
    must_be_good(t, 2);
    assert_true(there(p, "step-000000000002/r00001.safetensors"));
    wr_tier_close(t);
}

/* --- room --- */

static void empties_trash_for_room(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct wr_store *st = NULL;
    struct wr_tier *t = NULL;
    struct wr_pending pend;
    char trash[256], path[300];

    plant_dir(p, "");
    assert_int_equal(wr_store_open_own(p->tier, &st, NULL), 0);
    assert_int_equal(
        wr_tier_wrap(record_wrap(st, &rec), p->tier, "fast", &t, NULL), 0);
    assert_int_equal(wr_tier_claim(t, false, NULL, NULL), 0);
    snprintf(trash, sizeof(trash), "%s/trash-" ID, t->work);
    plant_dir(p, trash); /* of whoever drains */
    snprintf(path, sizeof(path), "%s/r00000.safetensors", trash);
    plant(p, path, "old");
    rec.space = 1;
    rec.count = 0;
    assert_int_equal(wr_tier_begin(t, 1, BYTES, &pend, NULL), WEIR_ENOSPC);
    assert_int_equal(rec.count, 5);
    assert_string_equal(rec.lines[0], "syncdir W1");
    assert_string_equal(rec.lines[1], "syncdir ."); /* it may be a step still */
    assert_string_equal(rec.lines[2], "remove W1/trash-@/r00000.safetensors");
    assert_string_equal(rec.lines[3], "remove W1/trash-@");
    assert_string_equal(rec.lines[4],
                        "check W1"); /* is it why there is none? */
    /* The same when something was left before. */
    plant_dir(p, trash);
    t->untidy = true;
    rec.space = 10 << 20;
    rec.count = 0;
    assert_int_equal(wr_tier_begin(t, 1, BYTES, &pend, NULL), 0);
    assert_int_equal(rec.count, 4);
    assert_string_equal(rec.lines[0], "syncdir W1");
    assert_string_equal(rec.lines[1], "syncdir .");
    assert_string_equal(rec.lines[2], "remove W1/trash-@");
    assert_string_equal(rec.lines[3], "mkdir W1/tmp-000000000001-@");
    wr_tier_close(t);
}

static void trims(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    char name[256], path[600];
    struct wr_pending pend;

    must_save(t, 1, 3);
    assert_int_equal(wr_tier_retire(t, 1, NULL), 0);
    assert_int_equal(wr_tier_begin(t, 2, 2 * BYTES, &pend, NULL), 0);
    wr_tier_trim(t, &pend, 2);
    assert_int_equal(count_left(p, "tmp-", name), 1);
    for (unsigned i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/r%05u.safetensors", name, i);
        assert_int_equal(there(p, path), i < 2);
    }
    wr_tier_abandon(t, &pend);
    wr_tier_close(t);
}

/* --- steps that become others while they are looked at --- */

static void looks_again(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    char url[400];
    struct wr_manifest m;

    must_save(t, 1, 1);
    wr_tier_close(t);
    /* As if the folder had been renamed away just then, and a new one were
     * there now. */
    snprintf(url, sizeof(url), "fault:enoent@1:%s", p->tier);
    t = open_at(url);
    must_be_good(t, 1);
    wr_tier_close(t);
    /* What is missing is missing. */
    assert_int_equal(unlink(at(p, "step-000000000001/MANIFEST")), 0);
    t = open_at(p->tier);
    assert_int_equal(wr_tier_manifest(t, 1, &m, NULL), WEIR_EDAMAGED);
    wr_tier_close(t);
}

/* --- again and again --- */

#define TIMES 60 /* saves by rule: more than may be left */

/* Saves that fail, now and then or always, must not fill the medium. */
static void failures_leave_little(void **state)
{
    static const char *const rules[] = {
        "write-eio@~r0",      "write-eio@%3",       "write-enospc@%2",
        "write-short@%5",     "sync-eio@%2",        "sync-eio@~/tmp-",
        "sync-enospc@%3",     "close-eio@%3",       "open-eio@%7",
        "create-eio@~/tmp-",  "create-enospc@%3",   "stat-eio@%5",
        "list-eio@%7",        "mkdir-eio@%2",       "mkdir-enospc@%3",
        "remove-eio@%2",      "remove-eio@%3",      "rename-eio@%2",
        "rename-eio@%3",      "rename-eio@~/tmp-",  "rename-eio@~/slot-",
        "rename-late-eio@%2", "rename-late-eio@%3", "rename-late-eio@~/tmp-",
        "syncdir-eio@%2",     "syncdir-eio@%3",     "syncdir-eio@%5",
        "syncdir-eio@~/tmp-", "stat-eio@~.writer",
    };
    struct place *p = *state;

    for (size_t i = 0; i < WR_ARRAY_LEN(rules); i++) {
        struct wr_tier *t = open_at(p->tier);
        char url[400];
        unsigned tries = 0;

        assert_int_equal(wr_tier_claim(t, false, NULL, NULL), 0);
        wr_tier_close(t);
        snprintf(url, sizeof(url), "fault:%s:%s", rules[i], p->tier);
        t = open_at(url);
        while (wr_tier_claim(t, false, NULL, NULL) < 0 && tries < 20)
            tries++;
        for (uint64_t step = 1; t->lock && step <= TIMES; step++) {
            save(t, step, 1, NULL);
            if (step > 1)
                wr_tier_retire(t, step - 1, NULL);
        }
        if (count_left(p, "t", NULL) > 6 || count_left(p, "slot", NULL) > 3)
            fail_msg("%s: %u of .tmp, %u of .trash, %u slots", rules[i],
                     count_left(p, "tmp", NULL), count_left(p, "trash", NULL),
                     count_left(p, "slot", NULL));
        wr_tier_close(t);
        assert_int_equal(remove_tree(p->tier), 0);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, place_setup, place_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(retires_what_cannot_be_removed),
        TEST(tells_what_stays),
        TEST(keeps_files_without_a_sync),
        TEST(tidies_up_later),
        TEST(saves_past_a_foreign_folder),
        TEST(publishes_with_a_file_too_many),
        TEST(empties_trash_for_room),
        TEST(trims),
        TEST(looks_again),
        TEST(failures_leave_little),
    };

    return cmocka_run_group_tests_name("tier_left", tests, NULL, NULL);
}
