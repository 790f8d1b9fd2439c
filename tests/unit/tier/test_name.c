/* test_name.c - names in a tier: what is weir's, and what only looks so.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier_help.h"

#include "base/mem.h"
#include "tier/name.h"

#define NONE UINT64_MAX

struct name_case {
    const char *name;
    enum wr_name is;
    uint64_t step;
};

static const struct name_case in_root[] = {
    {"step-000000000000", WR_NAME_STEP, 0},
    {"step-000000000100", WR_NAME_STEP, 100},
    {"step-999999999999", WR_NAME_STEP, 999999999999},
    {".tmp-000000000042-" ID, WR_NAME_TMP, 42},
    {".slot-" ID, WR_NAME_SLOT, 0},
    {".trash-" ID2, WR_NAME_TRASH, 0},
    {".writer-000000000003", WR_NAME_WRITER, 3},
    {".stale-000000000042-" ID, WR_NAME_STALE, 42},
    {".writer-3", WR_NAME_FOREIGN, NONE},
    {".writer-000000000003-" ID, WR_NAME_FOREIGN, NONE},
    {"writer-000000000003", WR_NAME_FOREIGN, NONE},
    {".aside-000000000042-" ID, WR_NAME_FOREIGN, NONE},
    {"tmp-000000000042-" ID, WR_NAME_FOREIGN, NONE},
    {"slot-" ID, WR_NAME_FOREIGN, NONE},
    {"trash-" ID, WR_NAME_FOREIGN, NONE},
    {"", WR_NAME_FOREIGN, NONE},
    {".", WR_NAME_FOREIGN, NONE},
    {"..", WR_NAME_FOREIGN, NONE},
    {".weir", WR_NAME_FOREIGN, NONE},
    {"step-", WR_NAME_FOREIGN, NONE},
    {"step-12", WR_NAME_FOREIGN, NONE},
    {"step-00000000010", WR_NAME_FOREIGN, NONE},
    {"step-0000000001000", WR_NAME_FOREIGN, NONE},
    {"step-00000000010x", WR_NAME_FOREIGN, NONE},
    {"step-+00000000100", WR_NAME_FOREIGN, NONE},
    {"step- 00000000100", WR_NAME_FOREIGN, NONE},
    {"step-000000000100/", WR_NAME_FOREIGN, NONE},
    {"Step-000000000100", WR_NAME_FOREIGN, NONE},
    {"step-.slot-" ID, WR_NAME_FOREIGN, NONE},
    {".tmp-000000000042", WR_NAME_FOREIGN, NONE},
    {".tmp-000000000042-", WR_NAME_FOREIGN, NONE},
    {".tmp-" ID, WR_NAME_FOREIGN, NONE},
    {".tmp-000000000042-" ID "a", WR_NAME_FOREIGN, NONE},
    {".tmp-.trash-" ID, WR_NAME_FOREIGN, NONE},
    {".slot-", WR_NAME_FOREIGN, NONE},
    {".slot-0123456789abcdef0123456789abcde", WR_NAME_FOREIGN, NONE},
    {".slot-0123456789ABCDEF0123456789abcdef", WR_NAME_FOREIGN, NONE},
    {".slot-g123456789abcdef0123456789abcdef", WR_NAME_FOREIGN, NONE},
    {".trash-" ID "~", WR_NAME_FOREIGN, NONE},
    {"pin-000000000100", WR_NAME_FOREIGN, NONE},
};

static const struct name_case in_work[] = {
    {"tmp-000000000042-" ID, WR_NAME_TMP, 42},
    {"slot-" ID, WR_NAME_SLOT, 0},
    {"trash-" ID2, WR_NAME_TRASH, 0},
    {"aside-000000000042-" ID, WR_NAME_ASIDE, 42},
    {"leaving-000000000042-" ID, WR_NAME_LEAVING, 42},
    {"new-" ID, WR_NAME_NEW, 0},
    {"who", WR_NAME_NEW, 0},
    {"", WR_NAME_FOREIGN, NONE},
    {"step-000000000042", WR_NAME_FOREIGN, NONE},
    {".tmp-000000000042-" ID, WR_NAME_FOREIGN, NONE},
    {".slot-" ID, WR_NAME_FOREIGN, NONE},
    {"tmp-42-" ID, WR_NAME_FOREIGN, NONE},
    {"tmp-000000000042", WR_NAME_FOREIGN, NONE},
    {"slot-" ID "0", WR_NAME_FOREIGN, NONE},
    {"trash-", WR_NAME_FOREIGN, NONE},
    {"aside-" ID, WR_NAME_FOREIGN, NONE},
    {"new-1", WR_NAME_FOREIGN, NONE},
    {"who2", WR_NAME_FOREIGN, NONE},
};

static const struct name_case in_own[] = {
    {"generation-000000000012", WR_NAME_GENERATION, 12},
    {"generation-12", WR_NAME_FOREIGN, NONE},
    {"generations", WR_NAME_FOREIGN, NONE},
    {"store.new-" ID, WR_NAME_NEW, 0},
    {"benched", WR_NAME_BENCH, 0},
    {"benched2", WR_NAME_FOREIGN, NONE},
    {"store", WR_NAME_FOREIGN, NONE},
    {"tier", WR_NAME_FOREIGN, NONE},
    {"new-" ID, WR_NAME_FOREIGN, NONE},
    {"pin-000000000100", WR_NAME_PIN, 100},
    {"verified-000000000007", WR_NAME_VERIFIED, 7},
    {"damaged-000000000007", WR_NAME_DAMAGED, 7},
    {"damaged-000000000007.new-" ID, WR_NAME_NEW, 7},
    {"damaged-7", WR_NAME_FOREIGN, NONE},
    {"epoch.new-" ID, WR_NAME_NEW, 0},
    {"pin-000000000100.new-" ID, WR_NAME_NEW, 100},
    {"verified-000000000100.new-" ID, WR_NAME_NEW, 100},
    {"epoch", WR_NAME_FOREIGN, NONE},
    {"lock", WR_NAME_FOREIGN, NONE},
    {"lock.new-" ID, WR_NAME_FOREIGN, NONE},
    {"epoch.new-", WR_NAME_FOREIGN, NONE},
    {"epoch.new-" ID "0", WR_NAME_FOREIGN, NONE},
    {"pin-100", WR_NAME_FOREIGN, NONE},
    {"pin-000000000100.new-", WR_NAME_FOREIGN, NONE},
    {"pin-000000000100.old", WR_NAME_FOREIGN, NONE},
    {"pin-verified-000000000100", WR_NAME_FOREIGN, NONE},
    {"step-000000000100", WR_NAME_FOREIGN, NONE},
};

static void reads_names(void **state)
{
    uint64_t step;

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(in_root); i++) {
        step = NONE;
        assert_int_equal(wr_name_in_root(in_root[i].name, &step),
                         in_root[i].is);
        assert_int_equal(step, in_root[i].step);
    }
    for (size_t i = 0; i < WR_ARRAY_LEN(in_own); i++) {
        step = NONE;
        assert_int_equal(wr_name_in_own(in_own[i].name, &step), in_own[i].is);
        assert_int_equal(step, in_own[i].step);
    }
    for (size_t i = 0; i < WR_ARRAY_LEN(in_work); i++) {
        step = NONE;
        assert_int_equal(wr_name_in_work(in_work[i].name, &step),
                         in_work[i].is);
        assert_int_equal(step, in_work[i].step);
    }
}

static void reads_shards(void **state)
{
    static const char *const foreign[] = {
        "",
        "r",
        "r00000",
        "r0.safetensors",
        "r000000.safetensors",
        "r00000.safetensors.new",
        "R00000.safetensors",
        "x00000.safetensors",
        "r4294967296.safetensors",
        "r99999999999999999999999999.safetensors",
        "MANIFEST",
    };
    static const uint32_t ranks[] = {0, 1, 99999, 100000, UINT32_MAX};
    char name[WR_SHARD_NAME];
    uint32_t rank;

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(foreign); i++)
        assert_false(wr_name_is_shard(foreign[i], &rank));
    for (size_t i = 0; i < WR_ARRAY_LEN(ranks); i++) {
        wr_shard_name(ranks[i], name);
        assert_true(wr_name_is_shard(name, &rank));
        assert_int_equal(rank, ranks[i]);
    }
}

static void made_names_are_read(void **state)
{
    char a[WR_TIER_PATH], b[WR_TIER_PATH];
    uint64_t step = NONE;

    (void)state;
    wr_name_step(WEIR_STEP_MAX - 1, a);
    assert_int_equal(wr_name_in_root(a, &step), WR_NAME_STEP);
    assert_int_equal(step, WEIR_STEP_MAX - 1);
    wr_name_writer(17, a);
    assert_int_equal(wr_name_in_root(a, &step), WR_NAME_WRITER);
    assert_int_equal(step, 17);
    wr_name_stale(18, ID, a);
    assert_int_equal(wr_name_in_root(a, &step), WR_NAME_STALE);
    assert_int_equal(step, 18);
    wr_name_mark(WR_MARK_VERIFIED, 17, a);
    assert_string_equal(a, ".weir/verified-000000000017");
    wr_name_new(a, b);
    assert_int_equal(wr_name_in_own(b + strlen(WR_NAME_OWN "/"), &step),
                     WR_NAME_NEW);
    wr_name_mark(WR_MARK_DAMAGED, 17, a);
    assert_string_equal(a, ".weir/damaged-000000000017");
    wr_name_mark(WR_MARK_PIN, 17, a);
    assert_string_equal(a, ".weir/pin-000000000017");
}

/* What is in a writer's folder, and how the version before named it. */
static void names_of_work(void **state)
{
    char work[WR_TIER_PATH], a[WR_TIER_PATH], b[WR_TIER_PATH];
    uint64_t step = NONE;
    const char *leaf = a + strlen(".writer-000000000003/" ID "/");

    (void)state;
    wr_name_work(3, work);
    wr_name_work(3, b);
    assert_int_equal(strncmp(work, ".writer-000000000003/", 21), 0);
    assert_int_equal(strlen(work), 21 + strlen(ID));
    assert_string_not_equal(work, b); /* a name never means two writers */
    wr_name_tmp(work, 17, a);
    wr_name_tmp(work, 17, b);
    assert_string_not_equal(a, b);
    assert_int_equal(strncmp(a, work, strlen(work)), 0);
    assert_int_equal(wr_name_in_work(leaf, &step), WR_NAME_TMP);
    assert_int_equal(step, 17);
    wr_name_slot(work, a);
    assert_int_equal(wr_name_in_work(leaf, &step), WR_NAME_SLOT);
    wr_name_trash(work, a);
    assert_int_equal(wr_name_in_work(leaf, &step), WR_NAME_TRASH);
    wr_name_aside(work, WEIR_STEP_MAX - 1, a); /* the longest */
    assert_int_equal(wr_name_in_work(leaf, &step), WR_NAME_ASIDE);
    assert_int_equal(step, WEIR_STEP_MAX - 1);
    wr_name_draft(work, a);
    assert_int_equal(wr_name_in_work(leaf, &step), WR_NAME_NEW);
    wr_name_tmp("", 17, a);
    assert_int_equal(wr_name_in_root(a, &step), WR_NAME_TMP);
    wr_name_slot("", a);
    assert_int_equal(wr_name_in_root(a, &step), WR_NAME_SLOT);
    wr_name_trash("", a);
    assert_int_equal(wr_name_in_root(a, &step), WR_NAME_TRASH);
    wr_name_generation(12, a);
    assert_string_equal(a, ".weir/generations/generation-000000000012");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_names),
        cmocka_unit_test(reads_shards),
        cmocka_unit_test(made_names_are_read),
        cmocka_unit_test(names_of_work),
    };

    return cmocka_run_group_tests_name("tier_name", tests, NULL, NULL);
}
