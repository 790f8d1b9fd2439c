/* test_writers.c - the writers that a tier knows of, by number and nonce.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier/writers.h"

#include "tier_help.h"

static void must_add(struct wr_writers *w, uint64_t number, const char *nonce)
{
    weir_err err;

    assert_int_equal(wr_writers_add(w, number, nonce, &err), 0);
}

static bool lacks(struct wr_tier *t, uint64_t number, const char *nonce)
{
    struct wr_generation g = {.number = number};
    bool is = true;
    weir_err err;

    snprintf(g.nonce, sizeof(g.nonce), "%s", nonce);
    assert_int_equal(wr_writers_lack(t, &g, &is, &err), 0);
    return is;
}

static void each_is_noted_once_and_in_order(void **state)
{
    struct wr_writers w = {0}, again = {0};
    char *text;

    must_add(&w, 7, ID);
    must_add(&w, 3, ID2);
    must_add(&w, 7, ID2); /* handed out twice */
    must_add(&w, 7, ID);
    must_add(&w, 1, ""); /* of an earlier version */
    text = wr_writers_text(&w);
    assert_non_null(text);
    assert_int_equal(
        strncmp(text, "3 " ID2 "\n7 " ID "\n7 " ID2 "\ncrc32c ", 112), 0);
    assert_true(wr_writers_parse(text, &again));
    assert_int_equal(again.count, 3);
    text[0] = '4';
    assert_false(wr_writers_parse(text, &again));
    free(text);
    wr_writers_done(&w);
    wr_writers_done(&again);
}

static void a_tier_knows_them(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    struct wr_writers w = {0};
    char path[400];
    weir_err err;
    FILE *f;

    assert_false(lacks(t, 3, ID)); /* it says nothing */
    must_add(&w, 3, ID);
    assert_int_equal(wr_writers_write(t, &w, &err), 0);
    assert_false(lacks(t, 3, ID));
    assert_true(lacks(t, 3, ID2));
    assert_true(lacks(t, 2, ID));
    assert_false(lacks(t, 2, ""));
    snprintf(path, sizeof(path), "%s/.weir/writers", p->tier);
    f = fopen(path, "ae");
    assert_non_null(f);
    fputs("9\n", f);
    assert_int_equal(fclose(f), 0);
    assert_false(lacks(t, 3, ID2)); /* damaged: it says nothing */
    wr_writers_done(&w);
    wr_tier_close(t);
}

/* Of those that were dropped nobody knows. */
static void the_newest_are_kept(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    struct wr_writers w = {0}, now = {0};
    weir_err err;

    for (uint64_t i = 1; i <= WR_WRITERS_MAX + 100; i++)
        must_add(&w, i, ID);
    assert_int_equal(wr_writers_write(t, &w, &err), 0);
    assert_int_equal(wr_writers_read(t, &now, &err), 0);
    assert_int_equal(now.count, WR_WRITERS_MAX);
    assert_int_equal(now.all[0].number, 101);
    assert_false(lacks(t, 100, ID2));
    assert_true(lacks(t, 101, ID2));
    wr_writers_done(&w);
    wr_writers_done(&now);
    wr_tier_close(t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, place_setup, place_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_noted_once_and_in_order),
        TEST(a_tier_knows_them),
        TEST(the_newest_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
