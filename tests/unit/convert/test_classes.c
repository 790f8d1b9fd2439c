/* test_classes.c - the names of the classes, and the folders of a tree.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "convert/classes.h"
#include "place.h"

static void names_of_the_index(void **state)
{
    struct wr_classes c;
    struct wr_bytes text = {0};
    weir_dataset *ds;

    place_make(*state, "in");
    scratch_put(*state, "in/classes.txt", "not\nused\n");
    ds = place_open(*state, "", "in");
    assert_int_equal(wr_classes_init(&c, ds, NULL), 0);
    assert_int_equal(c.count, PLACE_CLASSES);
    assert_true(c.sorted);
    assert_string_equal(wr_classes_name(&c, 1), "class_1");
    assert_null(wr_classes_name(&c, PLACE_CLASSES));
    assert_null(wr_classes_name(&c, WEIR_NO_LABEL));
    assert_int_equal(wr_classes_text(&c, &text, NULL), 0);
    assert_int_equal(text.len, 24);
    assert_memory_equal(text.bytes, "class_0\nclass_1\nclass_2\n", 24);
    free(text.bytes);
    wr_classes_done(&c);
    weir_dataset_close(&ds);
}

/* Labels without names take those that lie beside the shards. */
static void names_of_the_file(void **state)
{
    struct scratch *s = *state;
    struct wr_classes c;
    weir_dataset *ds;

    place_make(s, "in");
    scratch_put(s, "in/all.csv", "class_0/0001.jpg,0\nclass_0/0002.jpg,2\n");
    scratch_put(s, "in/classes.txt", "zebra\n\nant");
    ds = place_open(s, "", "in/all.csv");
    assert_int_equal(wr_classes_init(&c, ds, NULL), 0);
    assert_int_equal(c.count, 3);
    assert_false(c.sorted);
    assert_string_equal(wr_classes_name(&c, 0), "zebra");
    assert_null(wr_classes_name(&c, 1));
    assert_string_equal(wr_classes_name(&c, 2), "ant");
    wr_classes_done(&c);
    weir_dataset_close(&ds);
}

/* Names that are not in the order of the labels: the tree's folders give the
 * same labels all the same. */
static void a_tree_keeps_the_labels(void **state)
{
    struct scratch *s = *state;
    struct wr_convert_result res;
    struct wr_convert_config cfg;
    weir_dataset *ds, *out;
    char path[512];

    place_make(s, "in");
    scratch_put(s, "in/all.csv", "class_0/0001.jpg,0\nclass_0/0002.jpg,3\n");
    scratch_put(s, "in/classes.txt", "zebra\n../up\n\nant\n");
    ds = place_open(s, "", "in/all.csv");
    place_config(s, ds, "jpeg", &cfg, path);
    place_convert(&cfg, &res);
    wr_convert_result_done(&res);
    assert_true(scratch_has(s, "jpeg/00000_zebra/class_0/0001.jpg"));
    assert_true(scratch_has(s, "jpeg/00001_up"));
    assert_true(scratch_has(s, "jpeg/00002"));
    assert_true(scratch_has(s, "jpeg/00003_ant/class_0/0002.jpg"));
    out = place_open(s, "", "jpeg");
    assert_int_equal(weir_dataset_count(out), 2);
    for (uint64_t k = 0; k < 2; k++) {
        weir_sample sample;
        char name[100];

        assert_int_equal(
            weir_dataset_sample(out, k, name, sizeof(name), &sample, NULL), 0);
        assert_int_equal(sample.label, k * 3);
    }
    weir_dataset_close(&out);
    weir_dataset_close(&ds);
}

/* A label may be any number: nothing is made for each below it. */
static void huge_labels(void **state)
{
    struct scratch *s = *state;
    struct wr_convert_result res;
    struct wr_convert_config cfg;
    weir_dataset *ds, *out;
    char path[512];
    weir_err err;

    place_make(s, "in");
    scratch_put(s, "in/all.csv",
                "class_0/0001.jpg,0\nclass_0/0002.jpg,4294967294\n");
    ds = place_open(s, "", "in/all.csv");
    place_config(s, ds, "jpeg", &cfg, path);
    assert_int_equal(wr_convert_run(&cfg, &res, &err), WEIR_ELIMIT);
    place_config(s, ds, "tensor", &cfg, path);
    place_convert(&cfg, &res);
    wr_convert_result_done(&res);
    assert_false(scratch_has(s, "tensor/classes.txt"));
    out = place_open(s, "", "tensor");
    assert_int_equal(weir_dataset_class_count(out), 4294967295u);
    weir_dataset_close(&out);
    weir_dataset_close(&ds);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names_of_the_index),
        TEST(names_of_the_file),
        TEST(a_tree_keeps_the_labels),
        TEST(huge_labels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
