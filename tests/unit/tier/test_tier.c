/* test_tier.c - tiers: opening, what is there, publishing, taking away, marks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier_help.h"

#include "base/mem.h"

/* --- opening --- */

static void opens(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = NULL;
    char url[400];
    weir_err err;

    assert_int_equal(wr_tier_open(p->tier, "fast", false, &t, &err),
                     WEIR_ENOENT);
    assert_null(t);
    assert_false(there(p, ""));
    snprintf(url, sizeof(url), "%s///", p->tier);
    t = open_at(url);
    assert_true(there(p, ""));
    assert_string_equal(t->shown, p->tier);
    assert_string_equal(t->label, "fast");
    assert_int_equal(t->slots, 1);
    wr_tier_close(t);
    wr_tier_close(NULL);
    t = open_at(p->tier);
    wr_tier_close(t);

    /* Only the last part is made. */
    snprintf(url, sizeof(url), "%s/a/b", p->dir);
    assert_int_equal(wr_tier_open(url, "fast", true, &t, &err), WEIR_ENOENT);
    /* A file is no tier. */
    plant(p, "file", "x");
    assert_int_not_equal(wr_tier_open(at(p, "file"), "fast", true, &t, &err),
                         0);
    assert_non_null(strstr(err.msg, "file"));
}

static void opens_through_schemes(void **state)
{
    static const char *const schemes[] = {"emu:null:", "fault:eio@1000:"};
    struct place *p = *state;
    struct wr_tier *t;
    char url[400];

    for (size_t i = 0; i < WR_ARRAY_LEN(schemes); i++) {
        snprintf(url, sizeof(url), "%s%s%zu", schemes[i], p->tier, i);
        t = claimed_at(url);
        assert_string_equal(t->shown, url);
        must_save(t, 3, 2);
        must_save(t, 4, 2);
        assert_int_equal(wr_tier_retire(t, 3, NULL), 0);
        must_save(t, 5, 2);
        must_be_good(t, 4);
        must_be_good(t, 5);
        wr_tier_close(t);
    }
}

/* --- what is there --- */

static void lists_steps(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = open_at(p->tier);
    uint64_t *steps = NULL;
    size_t count = 1;

    assert_int_equal(wr_tier_steps(t, &steps, &count, NULL), 0);
    assert_int_equal(count, 0);
    free(steps);
    plant_dir(p, "step-000000000100");
    plant_dir(p, "step-000000000020");
    plant_dir(p, "step-999999999999");
    plant_dir(p, "step-12");            /* not 12 digits */
    plant_dir(p, "step-0000000000100"); /* 13 */
    plant_dir(p, "step-00000000001a");
    plant_dir(p, "xstep-000000000001");
    plant(p, "step-000000000003", "a file");
    assert_int_equal(symlink("step-000000000100", at(p, "step-000000000004")),
                     0);
    assert_int_equal(wr_tier_steps(t, &steps, &count, NULL), 0);
    assert_int_equal(count, 5);
    assert_int_equal(steps[0], 3);
    assert_int_equal(steps[1], 4);
    assert_int_equal(steps[2], 20);
    assert_int_equal(steps[3], 100);
    assert_int_equal(steps[4], 999999999999);
    free(steps);
    assert_true(wr_tier_has(t, 20));
    assert_false(wr_tier_has(t, 21));
    assert_false(wr_tier_has(t, 3));
    assert_false(wr_tier_has(t, 4));
    wr_tier_close(t);
}

static void expect_manifest(struct wr_tier *t, uint64_t step, int code,
                            const char *text)
{
    struct wr_manifest m;
    char want[600];
    weir_err err;

    snprintf(want, sizeof(want), "'%s%s%s", t->shown, *text == '\'' ? "" : "/",
             text);
    assert_int_equal(wr_tier_manifest(t, step, &m, &err), code);
    assert_int_equal(strncmp(err.msg, want, strlen(want)), 0);
}

static void checks_manifests(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    char text[2000];

    must_save(t, 7, 2);
    must_be_good(t, 7);
    expect_manifest(t, 8, WEIR_ENOENT, "': no step 8");

    assert_int_equal(
        truncate(at(p, "step-000000000007/r00001.safetensors"), BYTES - 1), 0);
    expect_manifest(t, 7, WEIR_EDAMAGED,
                    "step-000000000007/r00001.safetensors': has 4999 bytes");
    unlink(at(p, "step-000000000007/r00001.safetensors"));
    expect_manifest(t, 7, WEIR_EDAMAGED,
                    "step-000000000007/r00001.safetensors': missing");
    plant_dir(p, "step-000000000007/r00001.safetensors");
    expect_manifest(t, 7, WEIR_EDAMAGED,
                    "step-000000000007/r00001.safetensors': not a file");

    content(p, "step-000000000007/MANIFEST", text, sizeof(text));
    must_save(t, 9, 2);
    plant(p, "step-000000000009/MANIFEST", text);
    expect_manifest(t, 9, WEIR_EDAMAGED,
                    "step-000000000009/MANIFEST': is that of step 7");
    text[20] ^= 1;
    plant(p, "step-000000000009/MANIFEST", text);
    expect_manifest(t, 9, WEIR_EDAMAGED, "step-000000000009/MANIFEST': ");
    unlink(at(p, "step-000000000009/MANIFEST"));
    expect_manifest(t, 9, WEIR_EDAMAGED,
                    "step-000000000009/MANIFEST': missing");
    wr_tier_close(t);
}

/* --- publishing --- */

static void publishes(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    char path[WR_TIER_PATH];
    struct wr_pending pend = {.step = 77};
    weir_err err;

    must_save(t, 5, 3);
    assert_true(there(p, "step-000000000005/MANIFEST"));
    wr_tier_shard_path(5, 2, path);
    assert_string_equal(path, "step-000000000005/r00002.safetensors");
    assert_true(there(p, path));
    assert_int_equal(count_left(p, "tmp-", NULL), 0);
    must_be_good(t, 5);

    assert_int_equal(wr_tier_begin(t, 5, BYTES, &pend, &err), WEIR_EEXIST);
    assert_int_equal(pend.step, 77);
    assert_non_null(strstr(err.msg, "step-000000000005': is there already"));
    assert_int_equal(wr_tier_begin(t, WEIR_STEP_MAX, 0, &pend, &err),
                     WEIR_EINVAL);
    assert_int_equal(count_left(p, "tmp-", NULL), 0);
    wr_tier_close(t);
}

static void never_over_something(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    struct wr_manifest m = manifest_of(t, 6, 1);
    struct wr_pending pend;
    weir_err err;

    assert_int_equal(wr_tier_begin(t, 6, BYTES, &pend, &err), 0);
    assert_int_equal(put_shard(t, &pend, 0, 'x', &err), 0);
    plant_dir(p, "step-000000000006"); /* empty: a plain rename would do it */
    assert_int_equal(wr_tier_publish(t, &pend, &m, &err), WEIR_EEXIST);
    assert_false(there(p, "step-000000000006/MANIFEST"));
    assert_int_equal(count_left(p, "tmp-", NULL), 0);
    assert_int_equal(count_left(p, "trash-", NULL), 0);
    wr_manifest_done(&m);
    wr_tier_close(t);
}

static void refuses_incomplete(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    struct wr_manifest m = manifest_of(t, 6, 2);
    struct wr_pending pend;
    weir_err err;

    assert_int_equal(wr_tier_begin(t, 6, BYTES, &pend, &err), 0);
    assert_int_equal(put_shard(t, &pend, 0, 'x', &err), 0);
    assert_int_equal(wr_tier_publish(t, &pend, &m, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "r00001.safetensors"));
    assert_int_equal(wr_tier_begin(t, 6, BYTES, &pend, &err), 0);
    assert_int_equal(put_shard(t, &pend, 0, 'x', &err), 0);
    assert_int_equal(put_shard(t, &pend, 1, 'x', &err), 0);
    m.shards[1].size++;
    assert_int_equal(wr_tier_publish(t, &pend, &m, &err), WEIR_EDAMAGED);
    assert_false(there(p, "step-000000000006"));
    assert_int_equal(count_left(p, "t", NULL), 0);
    wr_manifest_done(&m);
    wr_tier_close(t);
}

/* What is too large to be read again does not become a step. */
static void refuses_giant_manifests(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    struct wr_manifest m = manifest_of(t, 1, 1);
    struct wr_pending pending;
    weir_err err;

    assert_int_equal(wr_tier_begin(t, 1, BYTES, &pending, &err), 0);
    assert_int_equal(put_shard(t, &pending, 0, 'a', &err), 0);
    m.text_len = WR_MANIFEST_MAX + 1;
    m.text = calloc(m.text_len, 1);
    assert_non_null(m.text);
    assert_int_equal(wr_tier_publish(t, &pending, &m, &err), WEIR_ELIMIT);
    assert_non_null(strstr(err.msg, "/MANIFEST': would have 268435457 bytes"));
    assert_false(there(p, "step-000000000001"));
    assert_false(there(p, pending.dir));
    wr_manifest_done(&m);
    wr_tier_close(t);
}

static void abandons(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    struct wr_pending pend;

    assert_int_equal(wr_tier_begin(t, 6, BYTES, &pend, NULL), 0);
    assert_int_equal(put_shard(t, &pend, 0, 'x', NULL), 0);
    wr_tier_abandon(t, &pend);
    wr_tier_abandon(t, &pend); /* it is gone: fine */
    assert_int_equal(count_left(p, "t", NULL), 0);
    assert_int_equal(count_like(p, "step", NULL), 0);
    wr_tier_close(t);
}

/* --- recycling --- */

static ino_t inode(const struct place *p, const char *path)
{
    struct stat sb;

    assert_int_equal(stat(at(p, path), &sb), 0);
    return sb.st_ino;
}

static void recycles(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    char name[256], path[300];
    uint64_t spare = 0;
    ino_t was;

    must_save(t, 1, 2);
    was = inode(p, "step-000000000001/r00000.safetensors");
    assert_int_equal(wr_tier_retire(t, 1, NULL), 0);
    assert_false(there(p, "step-000000000001"));
    assert_int_equal(count_left(p, "slot-", name), 1);
    assert_int_equal(wr_tier_spare(t, /* drop= */ false, &spare, NULL), 0);
    assert_true(spare > 2 * BYTES);
    /* Things that a step does not have are gone before it is one. */
    snprintf(path, sizeof(path), "%s/r00009.safetensors", name);
    plant(p, path, "of another world");
    snprintf(path, sizeof(path), "%s/dir", name);
    plant_dir(p, path);
    snprintf(path, sizeof(path), "%s/r00001.safetensors", name);
    unlink(at(p, path));
    plant(p, "canary", "sings");
    assert_int_equal(symlink(at(p, "canary"), at(p, path)), 0);

    must_save(t, 2, 2);
    must_be_good(t, 2);
    assert_int_equal(inode(p, "step-000000000002/r00000.safetensors"), was);
    assert_false(there(p, "step-000000000002/r00009.safetensors"));
    assert_false(there(p, "step-000000000002/dir"));
    content(p, "canary", path, sizeof(path));
    assert_string_equal(path, "sings");
    assert_int_equal(count_left(p, "slot-", NULL), 0);
    wr_tier_close(t);
}

static void takes_the_largest_slot(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    ino_t large;

    t->slots = 2;
    must_save(t, 1, 1);
    must_save(t, 2, 3);
    must_save(t, 3, 2);
    large = inode(p, "step-000000000002/r00000.safetensors");
    for (uint64_t step = 1; step <= 3; step++)
        assert_int_equal(wr_tier_retire(t, step, NULL), 0);
    assert_int_equal(count_left(p, "slot-", NULL), 2);
    assert_int_equal(count_left(p, "trash-", NULL), 0);
    must_save(t, 4, 3);
    assert_int_equal(inode(p, "step-000000000004/r00000.safetensors"), large);
    wr_tier_close(t);
}

static void drops_spare(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    uint64_t bytes = 5, spare = 1;

    t->slots = 3;
    for (uint64_t step = 1; step <= 3; step++)
        must_save(t, step, 1);
    for (uint64_t step = 1; step <= 3; step++)
        assert_int_equal(wr_tier_retire(t, step, NULL), 0);
    assert_int_equal(wr_tier_spare(t, /* drop= */ true, &bytes, NULL), 0);
    assert_true(bytes > 5 + 3 * BYTES);
    assert_int_equal(wr_tier_spare(t, /* drop= */ false, &spare, NULL), 0);
    assert_int_equal(spare, 0);
    assert_int_equal(count_left(p, "slot-", NULL), 0);
    assert_int_equal(count_left(p, "trash-", NULL), 0);
    assert_int_equal(wr_tier_spare(t, /* drop= */ true, NULL, NULL), 0);
    wr_tier_close(t);
}

static void without_slots(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);

    t->slots = 0;
    must_save(t, 1, 1);
    assert_int_equal(wr_tier_retire(t, 1, NULL), 0);
    assert_int_equal(wr_tier_retire(t, 1, NULL), 0); /* not there: fine */
    assert_int_equal(count_like(p, "step-", NULL), 0);
    assert_int_equal(count_left(p, "slot-", NULL), 0);
    assert_int_equal(count_left(p, "trash-", NULL), 0);
    wr_tier_close(t);
}

static void retires_folders_only(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);

    plant(p, "step-000000000003", "a file");
    assert_int_equal(wr_tier_retire(t, 3, NULL), 0);
    assert_true(there(p, "step-000000000003"));
    wr_tier_close(t);
}

static void not_below_a_foreign_folder(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    char name[256], path[600];

    t->slots = 0;
    must_save(t, 3, 1);
    plant_dir(p, "step-000000000003/mine");
    plant(p, "step-000000000003/mine/canary", "sings");
    assert_int_equal(wr_tier_retire(t, 3, NULL), 0); /* it is gone */
    assert_false(wr_tier_has(t, 3));
    assert_int_equal(count_left(p, "trash-", name), 1);
    snprintf(path, sizeof(path), "%s/mine/canary", name);
    assert_true(there(p, path));
    snprintf(path, sizeof(path), "%s/r00000.safetensors", name);
    assert_false(there(p, path)); /* what can be removed is */
    wr_tier_close(t);
}

/* --- marks --- */

static void marks(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    struct wr_manifest m;
    char text[100];

    must_save(t, 8, 1);
    assert_int_equal(wr_tier_manifest(t, 8, &m, NULL), 0);
    assert_false(wr_tier_marked(t, WR_MARK_PIN, 8, NULL, 0));
    assert_false(wr_tier_is_verified(t, &m));
    assert_int_equal(wr_tier_mark(t, WR_MARK_PIN, 8, "", NULL), 0);
    assert_true(there(p, ".weir/pin-000000000008"));
    assert_true(wr_tier_marked(t, WR_MARK_PIN, 8, text, sizeof(text)));
    assert_string_equal(text, "");
    assert_int_equal(wr_tier_mark(t, WR_MARK_VERIFIED, 8, ID, NULL), 0);
    assert_false(wr_tier_is_verified(t, &m)); /* that of another save */
    assert_int_equal(wr_tier_mark(t, WR_MARK_VERIFIED, 8, m.id, NULL), 0);
    assert_true(wr_tier_is_verified(t, &m));
    assert_true(wr_tier_marked(t, WR_MARK_VERIFIED, 8, text, 5));
    assert_int_equal(strlen(text), 4);
    content(p, ".weir/verified-000000000008", text, sizeof(text));
    assert_string_equal(text, m.id);
    assert_int_equal(wr_tier_unmark(t, WR_MARK_PIN, 8, NULL), 0);
    assert_int_equal(wr_tier_unmark(t, WR_MARK_PIN, 8, NULL), 0);
    assert_false(wr_tier_marked(t, WR_MARK_PIN, 8, NULL, 0));
    /* Marks go with their step. */
    assert_int_equal(wr_tier_mark(t, WR_MARK_PIN, 8, "", NULL), 0);
    assert_int_equal(wr_tier_retire(t, 8, NULL), 0);
    assert_false(there(p, ".weir/pin-000000000008"));
    assert_false(there(p, ".weir/verified-000000000008"));
    wr_manifest_done(&m);
    wr_tier_close(t);
}

static void a_pin_in_doubt_holds(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);

    assert_int_equal(symlink("/dev/null", at(p, ".weir/pin-000000000001")), 0);
    assert_int_equal(symlink("/dev/null", at(p, ".weir/verified-000000000001")),
                     0);
    assert_true(wr_tier_marked(t, WR_MARK_PIN, 1, NULL, 0));
    assert_false(wr_tier_marked(t, WR_MARK_VERIFIED, 1, NULL, 0));
    wr_tier_close(t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, place_setup, place_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(opens),
        TEST(opens_through_schemes),
        TEST(lists_steps),
        TEST(checks_manifests),
        TEST(publishes),
        TEST(never_over_something),
        TEST(refuses_incomplete),
        TEST(refuses_giant_manifests),
        TEST(abandons),
        TEST(recycles),
        TEST(takes_the_largest_slot),
        TEST(drops_spare),
        TEST(without_slots),
        TEST(retires_folders_only),
        TEST(not_below_a_foreign_folder),
        TEST(marks),
        TEST(a_pin_in_doubt_holds),
    };

    return cmocka_run_group_tests_name("tier", tests, NULL, NULL);
}
