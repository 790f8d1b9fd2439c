/* test_to_tree.c - a tree that is read back has the labels of its source.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "place.h"

/* Converts `source` to a tree, and fails unless that has the same samples with
 * the same labels. */
static void check_same(struct scratch *s, const char *source)
{
    weir_dataset *ds = place_open(s, "", source), *out;
    struct wr_convert_result res;
    struct wr_convert_config cfg;
    char path[512];

    place_config(s, ds, "jpeg", &cfg, path);
    cfg.max_side = 500; /* PNGs become JPEGs */
    place_convert(&cfg, &res);
    assert_int_equal(res.bad, 0);
    wr_convert_result_done(&res);
    out = place_open(s, "", "jpeg");
    assert_int_equal(weir_dataset_issue_count(out), 0);
    assert_int_equal(weir_dataset_count(out), weir_dataset_count(ds));
    assert_true(place_content(out) == place_content(ds));
    weir_dataset_close(&out);
    weir_dataset_close(&ds);
}

static void remove_tree(struct scratch *s)
{
    nftw(scratch_at(s, "jpeg"), scratch_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* A list of the samples of place_make, and the tree of it. */
static void check_list(struct scratch *s, const char *list)
{
    scratch_put(s, "in/l.csv", list);
    check_same(s, "in/l.csv");
}

/* A folder of an unlabelled sample's path is no class. */
static void unlabelled_lie_in_the_root(void **state)
{
    struct scratch *s = *state;

    place_make(s, "in");
    check_list(s, "class_0/0000.jpg,dog\nclass_1/0008.jpg\n"
                  "class_0/0001.jpg,cat\nclass_2/0016.jpg,emu\n");
    assert_true(scratch_has(s, "jpeg/class_1_0008.jpg"));
    assert_true(scratch_has(s, "jpeg/dog/class_0/0000.jpg"));
    assert_int_equal(scratch_entries(s, "jpeg"), 3 + 1 + 2);
    remove_tree(s);
    check_list(s, "class_0/0000.jpg\nclass_1/0008.jpg\n"); /* no label at all */
    remove_tree(s);
    check_list(s, "class_0/0000.jpg,-1\nclass_1/0008.jpg,2\n");
}

/* Names that unlabelled samples and classes could share. */
static void classes_called_like_files(void **state)
{
    struct scratch *s = *state;

    place_make(s, "in");
    check_list(s, "class_0/0000.jpg,class_1_0008.jpg\nclass_1/0008.jpg\n"
                  "class_0/0001.jpg,classes.txt\n"
                  "class_0/0002.jpg,class_1_0008\n"
                  "class_0/0003.jpg,class_1\n"
                  "class_0/0003.jpg,.hidden\n");
    remove_tree(s);
    /* in order: they could be folders as they are, but for the file's name */
    check_list(s, "class_0/0000.jpg,a.jpg\nclass_0/0001.jpg,a.jpg0\n"
                  "class_0/0002.jpg,b\n");
    remove_tree(s);
    check_list(s, "class_0/0000.jpg,a\nclass_0/0001.jpg,classes.txt\n"
                  "class_0/0002.jpg,d\n");
}

/* Paths that become one when their folders are joined. */
static void joined_names_stay_apart(void **state)
{
    struct scratch *s = *state;
    char from[PATH_MAX];

    place_make(s, "in");
    snprintf(from, sizeof(from), "%s", scratch_at(s, "in/class_2/0016.jpg"));
    assert_int_equal(rename(from, scratch_at(s, "in/class_0_0001.jpg")), 0);
    check_list(s, "class_0/0001.jpg\nclass_0/0001.jpg\n"
                  "class_0_0001.jpg\nclass_0/0002.jpg,x\n");
}

/* A picture and a folder of one name: x.png beside x.jpg/y.jpg. */
static void a_file_and_a_folder_of_one_name(void **state)
{
    struct scratch *s = *state;
    char from[PATH_MAX];

    place_make(s, "in");
    snprintf(from, sizeof(from), "%s", scratch_at(s, "in/class_0/x.jpg"));
    assert_int_equal(mkdir(from, 0777), 0);
    snprintf(from, sizeof(from), "%s", scratch_at(s, "in/class_0/0000.jpg"));
    assert_int_equal(rename(from, scratch_at(s, "in/class_0/x.jpg/y.jpg")), 0);
    snprintf(from, sizeof(from), "%s", scratch_at(s, "in/class_0/0001.jpg"));
    assert_int_equal(rename(from, scratch_at(s, "in/class_0/x.jpeg")), 0);
    check_same(s, "in");
    assert_true(scratch_has(s, "jpeg/class_0/x.jpg"));
    assert_true(scratch_has(s, "jpeg/class_0/x_jpg/y.jpg"));
}

/* The `images` format reads 64 folders inside each other; a list may name a
 * file in more. */
static void deep_folders(void **state)
{
    struct scratch *s = *state;
    char path[512], list[2048], from[PATH_MAX];
    size_t used;

    place_make(s, "in");
    snprintf(path, sizeof(path), "in");
    for (unsigned k = 0; k < 80; k++) {
        used = strlen(path);
        snprintf(path + used, sizeof(path) - used, "/%u", k % 10);
        assert_int_equal(mkdir(scratch_at(s, path), 0777), 0);
    }
    list[0] = '\0';
    for (unsigned k = 0; k < 8; k++) { /* in 56, 59, ... 77 folders */
        char below[600];

        path[2 + 2 * (56 + 3 * k)] = '\0';
        snprintf(below, sizeof(below), "%s/%u.jpg", path, k);
        snprintf(from, sizeof(from), "%s/in/%s", s->dir, place_file(k));
        assert_int_equal(link(from, scratch_at(s, below)), 0);
        path[2 + 2 * (56 + 3 * k)] = '/';
        used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s,%s\n", below + 3,
                 k % 2 ? "odd" : "even");
    }
    check_list(s, list);
}

/* Names of more than 255 bytes once their folders are joined. */
static void long_joined_names(void **state)
{
    struct scratch *s = *state;
    char part[160], path[1024], list[2048], from[PATH_MAX];

    place_make(s, "in");
    memset(part, 'p', sizeof(part));
    part[sizeof(part) - 1] = '\0';
    snprintf(path, sizeof(path), "in/%s", part);
    assert_int_equal(mkdir(scratch_at(s, path), 0777), 0);
    for (unsigned k = 0; k < 2; k++) {
        snprintf(path, sizeof(path), "in/%s/%s%u.jpg", part, part, k);
        snprintf(from, sizeof(from), "%s/in/%s", s->dir, place_file(k));
        assert_int_equal(link(from, scratch_at(s, path)), 0);
    }
    snprintf(list, sizeof(list), "%s/%s0.jpg\n%s/%s1.jpg\n%s/%s1.jpg\n", part,
             part, part, part, part, part);
    check_list(s, list);
}

/* Records with labels that classes.txt has no name for. */
static void more_labels_than_names(void **state)
{
    struct scratch *s = *state;
    struct wr_convert_result res;
    struct wr_convert_config cfg;
    weir_dataset *ds;
    char path[512];

    place_make(s, "in");
    scratch_put(s, "in/l.csv",
                "class_0/0001.jpg,0\nclass_0/0002.jpg,3\n"
                "class_0/0003.jpg,-1\nclass_0/0004.jpg,1\n");
    ds = place_open(s, "", "in/l.csv");
    place_config(s, ds, "tfrecord", &cfg, path);
    place_convert(&cfg, &res);
    wr_convert_result_done(&res);
    weir_dataset_close(&ds);
    scratch_put(s, "tfrecord/classes.txt", "ant\nbee\n");
    check_same(s, "tfrecord");
    assert_true(scratch_has(s, "jpeg/00001_bee"));
    assert_true(scratch_has(s, "jpeg/00002"));
    assert_true(scratch_has(s, "jpeg/00003"));
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(unlabelled_lie_in_the_root),
        TEST(classes_called_like_files),
        TEST(joined_names_stay_apart),
        TEST(a_file_and_a_folder_of_one_name),
        TEST(deep_folders),
        TEST(long_joined_names),
        TEST(more_labels_than_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
