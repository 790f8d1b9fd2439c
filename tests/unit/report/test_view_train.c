/* test_view_train.c - the page of a run of training.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "shown.h"

#include "report/doc_private.h"
#include "report/view.h"

static const char run[] =
    "{\"command\":\"train\",\"network\":{\"name\":\"alexnet\",\"width\":1},"
    "\"settings\":{\"batch\":64,\"prefetch\":1,\"flip\":false},"
    "\"result\":{\"resumed_at\":10,\"iterations\":15,\"samples_per_s\":200,"
    " \"seconds\":11,\"wait_s\":2,\"step_s\":7,\"save_s\":0.5,"
    " \"save_max_s\":0.5,\"validate_s\":1,\"loss_first\":5.5,"
    " \"loss_last\":0.5,\"accuracy\":0.25,\"chance\":0.01,\"saves\":1,"
    " \"limit\":\"input\"},"
    "\"series\":{\"merged\":1,\"t_s\":[1,2,3,4,9],"
    " \"loss\":[5,4,3,2,1],\"wait_ms\":[9000,10,10,10,6000],"
    " \"step_ms\":[900,900,900,900,900],\"save_ms\":[0,500,0,0,0]},"
    "\"validations\":[{\"iteration\":12,\"loss\":4.5,\"accuracy\":0.1},"
    " {\"iteration\":15,\"loss\":3.5,\"accuracy\":0.25}],"
    "\"saves\":[{\"step\":12,\"bytes\":1000000,\"t_s\":1.5,\"stall_s\":0.5,"
    " \"fast_s\":0.6}],"
    "\"compare\":{\"input\":{\"images_per_s\":600},\"full\":"
    " {\"images_per_s\":200,\"min\":190,\"max\":210},\"synthetic\":"
    " {\"images_per_s\":250}}}";

static void test_charts(void **state)
{
    json_t *j = shown_json(run);
    struct wr_view_record r = {
        .path = "a/run.json", .label = "run", .json = j, .alone = true};
    struct wr_doc *d = shown_page("train", &r, 1);
    const struct wr_doc_chart *c = shown_chart(d, "Loss");

    assert_int_equal(c->series_count, 2);
    assert_true(c->series[0]->x[0] == 11); /* iterations go on after a resume */
    assert_true(c->series[1]->x[1] == 15 && c->series[1]->y[1] == 3.5);
    c = shown_chart(d, "Accuracy on the held-out part");
    assert_true(c->series[0]->y[1] == 25 && c->series[1]->y[0] == 1);
    assert_int_equal(c->series[1]->role, WR_DOC_REFERENCE);
    c = shown_chart(d, "Time of each iteration");
    assert_int_equal(c->series[0]->marks, 1); /* not the first one */
    assert_true(c->series[0]->marked[4]);
    assert_int_equal(c->series[2]->count, 1); /* the one that saved */
    assert_non_null(strstr(c->note, "over 3 times"));
    c = shown_chart(d, "Where the time went");
    assert_string_equal(c->series[1]->name, "waiting for input");
    assert_true(fabs(c->series[4]->y[0] - 0.5) < 1e-9); /* the rest */
    c = shown_chart(d, "What the input costs");
    assert_string_equal(c->labels[2], "everything");
    assert_true(wr_doc_high(c->series[0], 2) == 210);
    c = shown_chart(d, "How long each save took");
    assert_int_equal(c->series_count, 2); /* no slow tier */
    wr_doc_free(d);
    json_decref(j);
}

static void test_summary(void **state)
{
    json_t *j = shown_json(run);
    struct wr_view_record r = {
        .path = "a/run.json", .label = "run", .json = j, .alone = true};
    struct wr_doc *d = shown_page("train", &r, 1);

    assert_int_equal(d->summary_count, 4);
    assert_string_equal(d->summary[0],
                        "Training runs at 200 images/s, computing alone at "
                        "250, the input alone at 600: the input costs 20 %.");
    assert_string_equal(
        d->summary[1], "This run: 200 images/s; waiting for input takes 20.0 % "
                       "of the time, saving 5.0 %, input limits it.");
    assert_string_equal(d->summary[2],
                        "The loss went from 5.5 to 0.5 in 15 iterations; of "
                        "the held-out pictures it has 25.0 % right (by chance "
                        "1.0 %).");
    assert_string_equal(d->summary[3],
                        "1 save stopped training for 500 ms each, 500 ms at "
                        "most.");
    assert_int_equal(d->headline_count, 4);
    wr_doc_free(d);
    json_decref(j);
}

/* Two runs stand side by side; an emulated one has no loss and no chart. */
static void test_several(void **state)
{
    json_t *a = shown_json(run), *b = shown_json(run);
    struct wr_view_record r[] = {{.path = "a", .label = "A", .json = a},
                                 {.path = "b", .label = "B", .json = b}};
    struct wr_doc *d;

    json_object_del(json_object_get(b, "series"), "loss");
    json_object_set_new(b, "validations", json_array());
    d = shown_page("train", r, 2);
    assert_string_equal(d->sections[0]->title, "Runs of training");
    assert_int_equal(shown_chart(d, "Loss")->series_count, 2);
    assert_string_equal(shown_chart(d, "Loss")->series[1]->name, "A, held out");
    assert_int_equal(shown_chart(d, "Where the time went")->label_count, 2);
    for (size_t i = 0; i < d->sections[2]->item_count; i++) {
        const struct wr_doc_chart *c = d->sections[2]->items[i].chart;

        assert_true(!c || strcmp(c->title, "Loss") || wr_doc_is_empty(c));
    }
    wr_doc_free(d);
    json_decref(a);
    json_decref(b);
}

/* Runs are called by the setting that differs; other networks are not drawn
 * beside each other. */
static void test_names(void **state)
{
    json_t *a = shown_json(run), *b = shown_json(run);
    struct wr_view_record r[] = {{.path = "a", .label = "A", .json = a},
                                 {.path = "b", .label = "B", .json = b}};
    struct wr_doc *d;

    json_object_set_new(json_object_get(b, "settings"), "prefetch",
                        json_integer(0));
    json_object_set_new(json_object_get(b, "result"), "samples_per_s",
                        json_real(100));
    d = shown_page("train", r, 2);
    assert_string_equal(d->summary[0],
                        "Of 2 runs of training the fastest has 200 images/s "
                        "(prefetch 1), the slowest 100 (prefetch 0).");
    assert_string_equal(shown_chart(d, "Images per second")->labels[1],
                        "prefetch 0");
    assert_string_equal(d->sections[2]->title, "Training: prefetch 0");
    wr_doc_free(d);
    json_object_set_new(json_object_get(b, "network"), "width", json_real(0.5));
    d = shown_page("train", r, 2);
    assert_string_equal(d->sections[0]->title, "Training: prefetch 1");
    wr_doc_free(d);
    json_decref(a);
    json_decref(b);
}

static void test_odd(void **state)
{
    static const char *const odd[] = {
        "{\"command\":\"train\"}",
        "{\"command\":\"train\",\"result\":[],\"series\":3,\"validations\":{},"
        "\"saves\":\"x\"}",
        "{\"command\":\"train\",\"series\":{\"merged\":-1,\"t_s\":[null,\"x\"],"
        "\"loss\":[1,{}],"
        "\"wait_ms\":[1]},\"validations\":[1,{}],\"saves\":[null],"
        "\"compare\":{\"full\":3},\"settings\":[1],\"network\":{}}",
        "{\"command\":\"train\",\"result\":{\"samples_per_s\":-1,\"seconds\":0,"
        "\"saves\":2}}",
    };

    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        json_t *j = shown_json(odd[i]);
        struct wr_view_record r = {.path = "a", .label = "A", .json = j};
        struct wr_doc *d = shown_page("train", &r, 1);

        assert_int_equal(d->summary_count, 0);
        wr_doc_free(d);
        json_decref(j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_charts),  cmocka_unit_test(test_summary),
        cmocka_unit_test(test_several), cmocka_unit_test(test_names),
        cmocka_unit_test(test_odd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
