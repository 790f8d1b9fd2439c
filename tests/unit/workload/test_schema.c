/* test_schema.c - every key of the table, in every form, from YAML and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/value.h"
#include "given.h"
#include "workload/choices.h"
#include "workload/schema.h"

/* A value that is not the default, in form `form` of its kind; NULL: there are
 * no more forms. */
static const char *sample_value(const struct wr_wl_key *k, unsigned form,
                                char *buf, size_t cap)
{
    static const char *const numbers[] = {"1", "1.0", NULL};
    static const char *const sizes[] = {"4096", "64KiB", "2MiB", "1e6", NULL};
    static const char *const lists[] = {"[4, 2]", "[3]", "6", "[]", NULL};
    static const char *const flags[] = {"true", "false", "True", "no",
                                        "on",   "off",   "YES",  NULL};
    static const char *const times[] = {"0.25",
                                        "{mean: 0.25}",
                                        "{mean: 0.25, stdev: 0.1}",
                                        "{type: normal, mean: 1, stdev: 0.5}",
                                        "{type: uniform, min: 0.5, max: 1}",
                                        "{type: gamma, shape: 2, scale: 0.1}",
                                        "{type: exponential, scale: 0.2}",
                                        "{type: poisson, lam: 3}",
                                        "{}",
                                        NULL};
    static const char *const texts[] = {"abc", "'it''s'", "\"a b\"", "null",
                                        NULL};
    static const char *const dead[] = {"1",      "text",        "[1, [2]]",
                                       "{a: 1}", "{b: {c: d}}", NULL};

    switch (k->kind) {
    case WR_WL_KEY_BOOL:
        return form == 6 ? NULL : flags[form];
    case WR_WL_KEY_BYTES:
    case WR_WL_KEY_SIZE:
        return sizes[form];
    case WR_WL_KEY_DIMS:
    case WR_WL_KEY_LIST:
        return lists[form];
    case WR_WL_KEY_TIME:
        return times[form];
    case WR_WL_KEY_TEXT:
        return texts[form];
    case WR_WL_KEY_DEAD:
        return dead[form];
    case WR_WL_KEY_WORD:
    case WR_WL_KEY_CHOICE:
    case WR_WL_KEY_EITHER:
        snprintf(buf, cap, "%s", k->choices[form].name);
        return k->choices[form].name ? buf : NULL;
    default:
        return numbers[form];
    }
}

/* "a.b.c" as nested blocks: "a:\n  b:\n    c: value\n". */
static void nest(const char *path, const char *value, char *buf, size_t cap)
{
    size_t used = 0;
    int depth = 0;

    for (const char *at = path, *dot; at; at = dot ? dot + 1 : NULL) {
        dot = strchr(at, '.');
        used += (size_t)snprintf(buf + used, cap - used, "%*s%.*s:%s%s\n",
                                 2 * depth++, "", (int)strcspn(at, "."), at,
                                 dot ? "" : " ", dot ? "" : value);
    }
}

/* What one key needs of others to be accepted. */
static const char *beside(const struct wr_wl_key *k, const char *value)
{
    if (!strcmp(k->path, "checkpoint.mode") && !strcmp(value, "subset"))
        return "model.parallelism.data=2";
    if (!strcmp(k->path, "model.transformer.hidden_size"))
        return "model.transformer.num_attention_heads=1";
    if (k->kind == WR_WL_KEY_STDEV && strstr(k->path, "computation"))
        return "train.computation_time=1";
    if (k->kind == WR_WL_KEY_STDEV && strstr(k->path, "preprocess"))
        return "reader.preprocess_time=1";
    if (k->kind == WR_WL_KEY_STDEV)
        return "evaluation.eval_time=1";
    return NULL;
}

static void check_form(const struct wr_wl_key *k, const char *value)
{
    struct given_notes notes = {0};
    const char *more = beside(k, value);
    char text[512], override[256], *by_file, *by_override, *again;
    const char *overrides[2] = {override, more};
    struct wr_workload *a, *b = NULL, *c;
    weir_err err = {0};

    nest(k->path, value, text, sizeof(text));
    a = given(text, more, &notes);
    assert_int_equal(notes.count, k->kind == WR_WL_KEY_DEAD);
    if (notes.count)
        assert_non_null(strstr(notes.text, k->path));
    by_file = wr_workload_yaml(a);

    snprintf(override, sizeof(override), "++workload.%s=%s", k->path, value);
    if (wr_workload_parse("my.yaml", "train: {}\n", 10, overrides, more ? 2 : 1,
                          NULL, NULL, &b, &err) < 0)
        fail_msg("%s", err.msg);
    by_override = wr_workload_yaml(b);
    assert_string_equal(by_file, by_override);

    c = given(by_file, NULL, NULL);
    again = wr_workload_yaml(c);
    assert_string_equal(by_file, again);
    free(by_file);
    free(by_override);
    free(again);
    wr_workload_free(a);
    wr_workload_free(b);
    wr_workload_free(c);
}

static void test_every_key(void **state)
{
    const struct wr_wl_key *k;
    unsigned forms = 0;

    for (size_t i = 0; (k = wr_wl_key_at(i)); i++) {
        char buf[64];
        const char *value;

        for (unsigned form = 0;
             (value = sample_value(k, form, buf, sizeof(buf))); form++) {
            if (!strcmp(k->path, "dataset.file_prefix") && form == 3)
                continue;
            check_form(k, value);
            forms++;
        }
    }
    assert_true(forms > 300);
}

/* A value really changes what is printed: no row points at another's field. */
static void test_rows_are_apart(void **state)
{
    const struct wr_wl_key *k;

    for (size_t i = 0; (k = wr_wl_key_at(i)); i++) {
        const struct wr_wl_key *other;

        if (k->kind == WR_WL_KEY_DEAD)
            continue;
        for (size_t j = i + 1; (other = wr_wl_key_at(j)); j++)
            if (other->kind != WR_WL_KEY_DEAD && other->at == k->at)
                fail_msg("%s and %s have one field", k->path, other->path);
    }
}

static void test_paths(void **state)
{
    const struct wr_wl_key *k;

    for (size_t i = 0; (k = wr_wl_key_at(i)); i++) {
        size_t len = strlen(k->path);

        assert_true(len < 64);
        assert_ptr_equal(wr_wl_key_find(k->path, len), k); /* once */
        assert_non_null(k->help);
        assert_false(wr_wl_key_is_section(k->path, len));
    }
    assert_true(wr_wl_key_is_section("dataset.hdf5", 12));
    assert_false(wr_wl_key_is_section("dataset.hdf", 11));
    assert_null(wr_wl_key_find("dataset", 7));
}

static void test_nearest(void **state)
{
    char buf[64];

    assert_string_equal(wr_wl_key_nearest("reader.batchsize", buf, sizeof(buf)),
                        "batch_size");
    assert_string_equal(wr_wl_key_nearest("shuffle_size", buf, sizeof(buf)),
                        "reader.shuffle_size");
    assert_string_equal(wr_wl_key_nearest("redaer.x.y", buf, sizeof(buf)),
                        "reader");
    assert_null(wr_wl_key_nearest("reader.qqqqqqqqqqqq", buf, sizeof(buf)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key),
        cmocka_unit_test(test_rows_are_apart),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_nearest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
