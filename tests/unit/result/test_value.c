/* test_value.c - tables of values: written, read, gathered, compared, schema.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "result/value.h"

#define PART(V)                                                                \
    V(REAL, wait_s, MEAN, .compared = 2)                                       \
    V(COUNT, hits, SUM)
#define THING(V)                                                               \
    V(COUNT, rank, FIRST, .flags = WR_VAL_INSIDE | WR_VAL_EACH)                \
    V(REAL, seconds, MAX, .flags = WR_VAL_EACH)                                \
    V(COUNT, samples, SUM, .help = "how many", .compared = 1)                  \
    V(REAL, rate, FIRST, .derive = rate)                                       \
    V(REAL, limit, SLOWEST, .flags = WR_VAL_ZERO)                              \
    V(REAL, share, FIRST, .flags = WR_VAL_BELOW_0)                             \
    V(REAL, last, FIRST, .flags = WR_VAL_SPARE)                                \
    V(FLAG, busy, FIRST)                                                       \
    V(TEXT, verdict, MOST, .words = words)                                     \
    V(TEXT, error, ANY, .flags = WR_VAL_SPARE)                                 \
    V(GROUP(part), part, FIRST)                                                \
    V(GROUP(part), spare, FIRST, .flags = WR_VAL_SPARE)                        \
    V(GROUP(part), none, FIRST, .flags = WR_VAL_NULL)                          \
    V(TEXT, title, FIRST, .flags = WR_VAL_NULL)                                \
    V(MAYBE, meets, FIRST)                                                     \
    V(JSON, open, FIRST)
#define ALL(V)                                                                 \
    V(LIST(thing), things, FIRST)                                              \
    V(LIST(thing), ranks, FIRST, .flags = WR_VAL_SPARE | WR_VAL_EACH)

WR_VALUES(part, PART);
WR_VALUES(thing, THING);
WR_VALUES(all, ALL);

static double rate(const void *all)
{
    const struct wr_thing_values *t = all;

    return t->samples / t->seconds;
}

static const char *const words[] = {"good", "bad", NULL};

#define THIS struct wr_part_values
const struct wr_vals wr_part_vals = WR_VALS(PART);
#undef THIS
#define THIS struct wr_thing_values
const struct wr_vals wr_thing_vals = WR_VALS(THING);
#undef THIS
#define THIS struct wr_all_values
const struct wr_vals wr_all_vals = WR_VALS(ALL);

static const char *const nothing =
    "{\"seconds\": null, \"samples\": null, \"rate\": null, \"limit\": 0.0, "
    "\"share\": -1.0, \"busy\": false, \"verdict\": \"\", "
    "\"part\": {\"wait_s\": null, \"hits\": null}, \"none\": null, "
    "\"title\": null, \"meets\": null}";

static void expect(json_t *j, const char *text)
{
    char *is = json_dumps(j, 0);

    assert_string_equal(is, text);
    free(is);
    json_decref(j);
}

static struct wr_thing_values made(double seconds, double samples)
{
    struct wr_thing_values t;

    wr_vals_clear(&wr_thing_vals, &t);
    t.seconds = seconds;
    t.samples = samples;
    return t;
}

/* What is not known, written and read again; and numbers that are none: one of
 * them must not cost the record. */
static void test_unknown(void **state)
{
    struct wr_thing_values t = made(NAN, NAN);
    json_t *j = json_loads(nothing, 0, NULL);

    (void)state;
    assert_true(isnan(t.part.wait_s) && isnan(t.last) && !t.busy);
    assert_string_equal(t.verdict, "");
    assert_null(t.open);
    expect(wr_vals_json(&wr_thing_vals, &t, WR_FOR_RECORD), nothing);
    memset(&t, 0, sizeof(t));
    assert_true(wr_vals_read(&wr_thing_vals, j, &t));
    assert_true(isnan(t.seconds) && isnan(t.limit) && isnan(t.share));
    assert_true(isnan(t.spare.hits));
    t.rate = INFINITY;
    t.samples = -INFINITY;
    t.limit = INFINITY;
    t.last = INFINITY;
    expect(wr_vals_json(&wr_thing_vals, &t, WR_FOR_RECORD), nothing);
    json_decref(j);
}

static void test_round_trip(void **state)
{
    static const char text[] =
        "{\"things\": [{\"seconds\": 0.5, \"samples\": 7, \"rate\": 14.0, "
        "\"limit\": 3.0, \"share\": 0.0, \"last\": 1.5, \"busy\": true, "
        "\"verdict\": \"a later one\", \"error\": \"no room\", \"part\": "
        "{\"wait_s\": 0.25, \"hits\": 9007199254740992}, \"spare\": "
        "{\"wait_s\": null, \"hits\": 1}, \"none\": {\"wait_s\": null, "
        "\"hits\": 2}, \"title\": \"\", \"meets\": false, "
        "\"open\": [1, {}]}], "
        "\"ranks\": [{\"rank\": 0, \"seconds\": 2.0}]}";
    json_t *j = json_loads(text, 0, NULL);
    struct wr_all_values all;
    const struct wr_thing_values *behind;

    (void)state;
    assert_true(wr_vals_read(&wr_all_vals, j, &all));
    assert_int_equal(all.things.count, 1);
    behind = wr_list_at(&all.things, 1);
    assert_true(isnan(behind->seconds));
    assert_string_equal(behind->error, "");
    expect(wr_vals_json(&wr_all_vals, &all, WR_FOR_RECORD), text);
    wr_vals_done(&wr_all_vals, &all);
    json_decref(j);
}

/* What was filled in to be written is freed with its lists and JSON, whether or
 * not there was memory for the whole of it. */
static void test_give(void **state)
{
    struct wr_thing_values *v;
    struct wr_all_values all;
    json_t *open = json_integer(5);

    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        wr_vals_clear(&wr_all_vals, &all);
        v = wr_list_new(&wr_thing_vals, &all.things, 2);
        assert_true(isnan(v[1].seconds) && all.things.count == 2);
        all.things.count = 1;
        v[0].open = json_incref(open);
        if (whole)
            expect(wr_vals_give(&wr_all_vals, &all, true),
                   "{\"things\": [{\"seconds\": null, \"samples\": null, "
                   "\"rate\": null, \"limit\": 0.0, \"share\": -1.0, "
                   "\"busy\": false, \"verdict\": \"\", \"part\": "
                   "{\"wait_s\": null, \"hits\": null}, \"none\": null, "
                   "\"title\": null, \"meets\": null, \"open\": 5}]}");
        else
            assert_null(wr_vals_give(&wr_all_vals, &all, false));
        assert_int_equal(open->refcount, 1);
    }
    json_decref(open);
}

/* Values of another type are not known. */
static void test_wrong_types(void **state)
{
    json_t *j = json_loads(
        "{\"things\": [5, {\"seconds\": \"1\", \"busy\": 1, \"verdict\": 7, "
        "\"part\": [], \"samples\": true}], \"ranks\": {\"count\": 3}}",
        0, NULL);
    struct wr_all_values all;

    (void)state;
    assert_true(wr_vals_read(&wr_all_vals, j, &all));
    assert_int_equal(all.things.count, 2);
    assert_int_equal(all.ranks.count, 0);
    assert_non_null(all.ranks.v);
    for (size_t i = 0; i < 2; i++)
        expect(wr_vals_json(&wr_thing_vals, wr_list_at(&all.things, i),
                            WR_FOR_RECORD),
               nothing);
    wr_vals_done(&wr_all_vals, &all);
    json_decref(j);
    assert_true(wr_vals_read(&wr_all_vals, NULL, &all));
    wr_vals_done(&wr_all_vals, &all);
}

/* Ranks lose nothing of what they send each other. */
static void test_ranks(void **state)
{
    struct wr_thing_values in = made(1.0 / 3, 1e300), out;
    char *text;
    json_t *j;

    (void)state;
    in.rank = 3;
    in.limit = 0; /* is a number there */
    in.verdict = "bad";
    j = wr_vals_json(&wr_thing_vals, &in, WR_FOR_RANKS);
    text = json_dumps(j, JSON_COMPACT);
    json_decref(j);
    j = json_loads(text, 0, NULL);
    assert_true(wr_vals_read(&wr_thing_vals, j, &out));
    assert_true(out.rank == 3 && out.seconds == in.seconds);
    assert_true(out.samples == 1e300 && isnan(out.share));
    assert_string_equal(out.verdict, "bad");
    free(text);
    json_decref(j);
}

static void test_gather(void **state)
{
    struct wr_thing_values v[3] = {made(2, 10), made(4, 20), made(3, 30)},
                           all = v[0];
    const struct wr_list parts = {v, 3, sizeof(*v)};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        v[k].limit = (double)k;
        v[k].part.wait_s = k ? (double)k : NAN; /* passed over */
        v[k].verdict = k == 1 ? "bad" : "good";
    }
    v[2].error = "third";
    wr_vals_gather(&wr_thing_vals, &all, &parts, 1);
    assert_true(all.seconds == 4 && all.samples == 60 && all.rate == 15);
    assert_true(all.limit == 1 && all.part.wait_s == 1.5);
    assert_true(isnan(all.part.hits) && isnan(all.last));
    assert_string_equal(all.verdict, "good");
    assert_string_equal(all.error, "third");
    v[2].verdict = "other"; /* one of each: the slowest has the last word */
    wr_vals_gather(&wr_thing_vals, &all, &parts, 1);
    assert_string_equal(all.verdict, "bad");
}

static void test_median(void **state)
{
    struct wr_thing_values v[4] = {made(2, 9), made(4, NAN), made(3, 1),
                                   made(9, NAN)};
    struct wr_list parts = {v, 4, sizeof(*v)};
    struct wr_thing_values m;

    (void)state;
    v[1].part.hits = 7;
    v[0].verdict = "good";
    wr_vals_median(&wr_thing_vals, &m, &parts);
    assert_true(m.seconds == 3.5 && m.samples == 5 && m.part.hits == 7);
    assert_true(isnan(m.rate));
    assert_string_equal(m.verdict, "");
    parts.count = 0;
    wr_vals_median(&wr_thing_vals, &m, &parts);
    assert_true(isnan(m.seconds));
}

static void test_rows(void **state)
{
    size_t at;

    (void)state;
    assert_string_equal(
        wr_vals_at(&wr_thing_vals, offsetof(struct wr_thing_values, samples))
            ->key,
        "samples");
    assert_string_equal(
        wr_vals_at(&wr_thing_vals, offsetof(struct wr_thing_values, spare.hits))
            ->key,
        "hits");
    assert_null(wr_vals_at(&wr_thing_vals, sizeof(struct wr_thing_values)));
    assert_string_equal(wr_vals_compared(&wr_thing_vals, 1, &at)->key,
                        "samples");
    assert_int_equal(at, offsetof(struct wr_thing_values, samples));
    assert_string_equal(wr_vals_compared(&wr_thing_vals, 2, &at)->key,
                        "wait_s");
    assert_int_equal(at, offsetof(struct wr_thing_values, part.wait_s));
    assert_null(wr_vals_compared(&wr_thing_vals, 3, &at));
}

static void test_schema(void **state)
{
    json_t *s = wr_vals_schema(&wr_all_vals, WR_FOR_RECORD), *thing, *rank;

    (void)state;
    assert_int_equal(json_unpack(s, "{s:{s:{s:o}, s:{s:o}}}", "properties",
                                 "things", "items", &thing, "ranks", "items",
                                 &rank),
                     0);
    json_incref(thing);
    expect(json_incref(json_object_get(rank, "properties")),
           "{\"rank\": {\"type\": [\"integer\", \"null\"]}, "
           "\"seconds\": {\"type\": [\"number\", \"null\"]}}");
    expect(json_incref(json_object_get(thing, "required")),
           "[\"seconds\", \"samples\", \"rate\", \"limit\", \"share\", "
           "\"busy\", \"verdict\", \"part\", \"none\", \"title\", "
           "\"meets\"]");
    json_decref(s);
    s = json_object_get(thing, "properties");
    expect(json_incref(json_object_get(s, "samples")),
           "{\"type\": [\"integer\", \"null\"], \"description\": \"how "
           "many\"}");
    expect(json_incref(json_object_get(s, "limit")), "{\"type\": \"number\"}");
    expect(json_incref(json_object_get(s, "last")), "{\"type\": \"number\"}");
    expect(json_incref(json_object_get(s, "verdict")),
           "{\"type\": \"string\", \"enum\": [\"good\", \"bad\"]}");
    expect(json_incref(json_object_get(s, "open")), "{}");
    expect(json_incref(json_object_get(s, "meets")),
           "{\"type\": [\"boolean\", \"null\"]}");
    expect(json_incref(json_object_get(s, "title")),
           "{\"type\": [\"string\", \"null\"]}");
    assert_int_equal(
        json_array_size(json_object_get(json_object_get(s, "none"), "anyOf")),
        2);
    json_decref(thing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_give),    cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_ranks),   cmocka_unit_test(test_gather),
        cmocka_unit_test(test_median),  cmocka_unit_test(test_rows),
        cmocka_unit_test(test_schema)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
