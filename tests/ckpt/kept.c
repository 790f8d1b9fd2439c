/* kept.c - stores that earlier versions made are read and carried over.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ckpt-kept [make FOLDER]
 *
 * makes the stores of tests/data/stores with the version at hand. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cells_kit.h"
#include "tier/manifest.h"

#define STEPS_MOST 8

/* What was recorded when a store was made. */
static const struct kept {
    const char *name;
    bool two;
    int64_t latest;
    int64_t slow_latest;        /* of the slow tier alone */
    uint64_t steps[STEPS_MOST]; /* that can be restored; ends with 0 */
    unsigned aside;             /* copies */
    uint64_t generation;        /* the highest; 0: it had none */
    uint64_t pinned;            /* a step; 0: none */
} stores[] = {
    {"two", true, 7, 5, {1, 2, 3, 4, 5, 6, 7}, 0, 3, 1},
    {"stale", true, 6, 5, {1, 2, 3, 5, 6}, 2, 5, 0},
    {"single", false, 11, 0, {1, 2, 3, 10, 11}, 0, 2, 1},
    {"slots", false, 5, 0, {4, 5}, 0, 1, 0},
    {"old", true, 3, 2, {1, 2, 3}, 0, 0, 0},
};

/* --- making --- */

static void pin(const char *fast, const char *slow, uint64_t step)
{
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    cells_config(fast, slow, WEIR_CKPT_READ, &cfg);
    c = cells_open(&cfg);
    if (weir_ckpt_pin(c, step, 1, &err) < 0)
        fail_msg("pin: %s", err.msg);
    cells_close(c);
}

static void make_two(const char *fast, const char *slow)
{
    cells_live(fast, slow,
               (struct cells_life){
                   .first = 1, .last = 3, .level = WEIR_LEVEL_VERIFIED});
    cells_live(
        fast, slow,
        (struct cells_life){
            .from = 3, .first = 4, .last = 5, .level = WEIR_LEVEL_VERIFIED});
    cells_live(fast, slow,
               (struct cells_life){
                   .from = 5, .first = 6, .last = 7, .level = WEIR_LEVEL_FAST});
    pin(fast, slow, 1);
}

static void make_stale(const char *fast, const char *slow)
{
    char other[CELLS_PATH];

    snprintf(other, sizeof(other), "%s-of-another", fast);
    cells_live(fast, slow,
               (struct cells_life){
                   .first = 1, .last = 2, .level = WEIR_LEVEL_VERIFIED});
    cells_live(fast, slow,
               (struct cells_life){
                   .from = 2, .first = 3, .last = 4, .level = WEIR_LEVEL_FAST});
    cells_live(
        other, slow,
        (struct cells_life){
            .from = 2, .first = 3, .last = 3, .level = WEIR_LEVEL_VERIFIED});
    cells_live(
        fast, slow,
        (struct cells_life){
            .from = 3, .first = 5, .last = 5, .level = WEIR_LEVEL_VERIFIED});
    cells_live(fast, slow,
               (struct cells_life){
                   .from = 5, .first = 6, .last = 6, .level = WEIR_LEVEL_FAST});
    cells_remove(other);
}

static void make_single(const char *fast, const char *slow)
{
    (void)slow;
    cells_live(fast, NULL,
               (struct cells_life){
                   .first = 1, .last = 3, .level = WEIR_LEVEL_VERIFIED});
    cells_live(
        fast, NULL,
        (struct cells_life){
            .from = 2, .first = 10, .last = 11, .level = WEIR_LEVEL_VERIFIED});
    pin(fast, NULL, 1);
}

/* With what a writer that died has left. */
static void make_slots(const char *fast, const char *slow)
{
    char from[CELLS_PATH + 40];

    (void)slow;
    cells_live(fast, NULL,
               (struct cells_life){.first = 1,
                                   .last = 5,
                                   .level = WEIR_LEVEL_VERIFIED,
                                   .keep_last = 2});
    snprintf(from, sizeof(from), "%s/step-000000000005", fast);
    cells_copy(
        from,
        cells_at(fast, ".tmp-000000000006-00112233445566778899aabbccddeeff"),
        /* dots= */ true);
    cells_copy(from, cells_at(fast, ".trash-ffeeddccbbaa99887766554433221100"),
               /* dots= */ true);
    assert_true(cells_count(fast, ".slot-") > 0);
}

static void strip_manifest(const char *path)
{
    static char text[1 << 16];
    struct wr_manifest m;
    FILE *f = fopen(path, "re");
    char *now;
    size_t n;

    assert_non_null(f);
    n = fread(text, 1, sizeof(text), f);
    fclose(f);
    assert_int_equal(wr_manifest_parse(text, n, path, &m, NULL), 0);
    m.store[0] = '\0';
    now = wr_manifest_text(&m, &n);
    f = fopen(path, "we");
    assert_true(now && f && fwrite(now, 1, n, f) == n && fclose(f) == 0);
    free(now);
    wr_manifest_done(&m);
}

/* As the version made it that knew neither stores nor generations. */
static void strip_tier(const char *dir)
{
    char path[2 * CELLS_PATH];
    struct cells_copies in = {0};

    cells_look(dir, &in);
    for (unsigned i = 0; i < in.count; i++) {
        snprintf(path, sizeof(path), "%s/step-%012u/MANIFEST", dir,
                 (unsigned)in.all[i].step);
        strip_manifest(path);
    }
    snprintf(path, sizeof(path), "cd '%s' && rm -f .weir/store .weir/gen*",
             dir);
    assert_int_equal(system(path), 0);
}

static void make_old(const char *fast, const char *slow)
{
    cells_live(fast, slow,
               (struct cells_life){
                   .first = 1, .last = 2, .level = WEIR_LEVEL_VERIFIED});
    cells_live(fast, slow,
               (struct cells_life){
                   .from = 2, .first = 3, .last = 3, .level = WEIR_LEVEL_FAST});
    strip_tier(fast);
    strip_tier(slow);
}

static void make_all(void **state)
{
    static void (*const makers[])(const char *fast, const char *slow) = {
        make_two, make_stale, make_single, make_slots, make_old};
    const struct cells *s = *state;
    const char *to = getenv("WEIR_KEPT_TO");
    char command[4 * CELLS_PATH];

    for (size_t i = 0; i < WR_ARRAY_LEN(stores); i++) {
        makers[i](s->fast, s->slow);
        snprintf(command, sizeof(command),
                 "cd '%s' && tar --sort=name --owner=0 --group=0 "
                 "--numeric-owner --mtime=@0 -cf - fast %s | gzip -9n > "
                 "'%s/%s.tar.gz'",
                 s->dir, stores[i].two ? "slow" : "", to, stores[i].name);
        assert_int_equal(system(command), 0);
        cells_remove(s->fast);
        cells_remove(s->slow);
    }
}

/* --- carrying over --- */

static void unpack(const struct cells *s, const struct kept *k)
{
    char command[3 * CELLS_PATH];

    snprintf(command, sizeof(command),
             "tar -C '%s' -xzf '" WEIR_TEST_DATA "/stores/%s.tar.gz'", s->dir,
             k->name);
    assert_int_equal(system(command), 0);
}

/* Every step that was recorded, and the copies that wait for a decision. */
static void check_steps(weir_ckpt *c, const struct kept *k)
{
    char told[1000] = "";
    weir_ckpt_entry *e;
    unsigned aside = 0;
    size_t count;
    weir_err err;

    for (size_t i = 0; i < STEPS_MOST && k->steps[i]; i++)
        if (cells_restore(c, k->steps[i], told, sizeof(told)) !=
            (int64_t)k->steps[i])
            fail_msg("%s: step %u: %s", k->name, (unsigned)k->steps[i], told);
    assert_string_equal(told, "");
    assert_int_equal(weir_ckpt_list(c, &e, &count, &err), 0);
    for (size_t i = 0; i < count; i++) {
        aside += e[i].fast == WEIR_COPY_STALE;
        assert_int_equal(e[i].pinned, e[i].step == k->pinned);
    }
    free(e);
    assert_int_equal(aside, k->aside);
}

static void check_reader(const struct cells *s, const struct kept *k)
{
    const char *slow = k->two ? s->slow : NULL;
    char told[1000] = "";
    weir_ckpt_config cfg;
    weir_ckpt *c;

    assert_int_equal(cells_latest(s->fast, slow, told, sizeof(told)),
                     k->latest);
    if (k->two)
        assert_int_equal(cells_latest(slow, NULL, told, sizeof(told)),
                         k->slow_latest);
    assert_string_equal(told, "");
    cells_config(s->fast, slow, WEIR_CKPT_READ, &cfg);
    c = cells_open(&cfg);
    check_steps(c, k);
    cells_close(c);
}

/* What is saved next is newer than all, and says of which store it is. */
static void check_next(const struct cells *s, const struct kept *k,
                       uint64_t step)
{
    const char *last = k->two ? s->slow : s->fast;
    struct cells_copies in = {0};
    const struct cells_copy *next;
    char id[CELLS_ID];

    cells_look(last, &in);
    next = cells_of(&in, step);
    assert_non_null(next);
    assert_true(next->generation > k->generation);
    cells_store_id(last, id);
    assert_int_equal(strlen(id), CELLS_ID - 1);
    assert_string_equal(next->store, id);
}

static void carry_over(void **state, const struct kept *k)
{
    const struct cells *s = *state;
    const char *slow = k->two ? s->slow : NULL;
    uint64_t next = (uint64_t)k->latest + 1;
    char told[1000] = "";
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    unpack(s, k);
    check_reader(s, k);
    cells_config(s->fast, slow, WEIR_CKPT_SAVE, &cfg);
    c = cells_open(&cfg);
    assert_int_equal(cells_restore(c, WEIR_LATEST, told, sizeof(told)),
                     k->latest);
    cells_save(c, next, WEIR_LEVEL_VERIFIED);
    if (weir_ckpt_drain(c, &err) < 0 ||
        weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED, -1, &err) < 0)
        fail_msg("%s: %s", k->name, err.msg);
    check_steps(c, k);
    assert_int_equal(cells_restore(c, WEIR_LATEST, told, sizeof(told)), next);
    cells_close(c);
    check_next(s, k, next);
    assert_int_equal(
        cells_latest(k->two ? slow : s->fast, NULL, told, sizeof(told)), next);
    assert_int_equal(cells_count(s->fast, ".tmp-"), 0);
    assert_int_equal(cells_count(s->fast, ".trash-"), 0);
    assert_string_equal(told, "");
}

static void a_store_of_two_tiers(void **state)
{
    carry_over(state, &stores[0]);
}

static void a_store_with_stale_copies(void **state)
{
    carry_over(state, &stores[1]);
}

static void a_store_of_one_folder(void **state)
{
    carry_over(state, &stores[2]);
}

static void a_store_with_slots(void **state)
{
    carry_over(state, &stores[3]);
}

static void a_store_without_an_id(void **state)
{
    carry_over(state, &stores[4]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, cells_setup, cells_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_store_of_two_tiers),      TEST(a_store_of_one_folder),
        TEST(a_store_with_stale_copies), TEST(a_store_with_slots),
        TEST(a_store_without_an_id),
    };
    const struct CMUnitTest makes[] = {TEST(make_all)};

    if (argc == 3 && !strcmp(argv[1], "make")) {
        setenv("WEIR_KEPT_TO", argv[2], 1);
        return cmocka_run_group_tests(makes, NULL, NULL);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
