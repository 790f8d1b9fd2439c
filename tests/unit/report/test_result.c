/* test_result.c - what commands print of the records that they make.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/view_monitor.h"
#include "report/result.h"
#include "result/bench.h"
#include "report/view.h"

static json_t *load(const char *text)
{
    json_error_t error;
    json_t *j = json_loads(text, 0, &error);

    if (!j)
        fail_msg("line %d: %s", error.line, error.text);
    return j;
}

/* The text of a record, on a terminal of this width; 0: on none. */
static char *print(const char *record, unsigned width)
{
    const struct wr_doc_text_style style = {.width = width ? width : 80,
                                            .whole = !width};
    json_t *j = load(record);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(wr_result_print(j, style, out, NULL), 0);
    fclose(out);
    json_decref(j);
    return text;
}

static void has(const char *record, const char *part)
{
    char *text = print(record, 0);

    if (!strstr(text, part))
        fail_msg("no '%s' in:\n%s", part, text);
    free(text);
}

#define RUN(rate, more)                                                        \
    "{\"samples_per_s\":" #rate ",\"seconds\":2,\"start_s\":0,"                \
    "\"bytes_per_s\":5e6,\"verdict\":\"decode-bound\",\"in_force\":"           \
    "{\"threads\":2},\"times\":{\"storage_wait_s\":1,\"submit_s\":0,"          \
    "\"decode_s\":6,\"resample_s\":2,\"idle_s\":1},\"resident\":0.5,"          \
    "\"decode_limit_per_s\":250,\"read_limit_per_s\":400" more "}"

static const char bench[] =
    "{\"command\":\"bench\",\"host\":{\"cores\":2},\"dataset\":{\"url\":\"p\"},"
    "\"cases\":[{\"settings\":{\"stages\":\"all\",\"page_cache\":\"cold\","
    "\"threads\":2,\"depth\":8},\"result\":{\"of_decode_limit\":0.8,"
    "\"of_read_limit\":0.5,\"verdict\":\"decode-bound\"},\"warm_up_runs\":1,"
    "\"runs\":[" RUN(900, "") "," RUN(190, "") "," RUN(
        200, ",\"digest\":"
             "\"abc\","
             "\"tuning\":"
             "\"threads 2\\nno "
             "more\"") "," RUN(210, "") "],\"bad_count\":1,\"bad\":[{\"text\":"
                                        "\"'x': empty\"}]}],"
                                        "\"monitor\":{\"machine\":{\"t_s\":[0."
                                        "1,0.2,0.3,0.4,0.5,3],"
                                        "\"cpu_machine_cores\":[1,1,1,1,1,9],"
                                        "\"cpu_process_cores\":"
                                        "[0.5,0.5,0.5,0.5,0.5,9],\"page_cache_"
                                        "bytes\":[0,0,0,0,"
                                        "20000000,9]},"
                                        "\"disks\":[{\"name\":\"sda\",\"read_"
                                        "bytes_per_s\":[2e6,2e6,"
                                        "2e6,2e6,2e6,9],"
                                        "\"busy\":[0.5,0.5,0.5,0.5,0.5,1]}]}}";

static void test_bench(void **state)
{
    (void)state;
    has(bench, "\ndepth 8\n\nstages  page-cache  threads  samples/s  +-  MB/s");
    has(bench, "\nall     cold              2        200  5%     5 ");
    has(bench, "\n\ndigest abc\n\nall, cold cache, 2 threads\n"
               "  - Decode-bound: the workers decoded 60 % of their time, "
               "resized 20 %, and waited for data 10 %.\n"
               "  - Decoding alone, from memory, reaches 250 samples/s on 2 "
               "threads: this is 0.80 of that.\n"
               "  - Storage could deliver 2.0 times as much:");
    has(bench, "\n  - Not cold: up to 50 % of the data");
    has(bench, "\n  - Chosen: threads 2\n  - no more\n");
    has(bench, "\n  - Meanwhile: disk sda read 2.0 MB/s, 50 % busy; 1.0 of 2 "
               "cores busy, 0.5 of them by this program; page cache +20.0 "
               "MB.\n");
    has(bench, "\n1 bad sample skipped\n  - 'x': empty\n");
}

/* On a terminal nothing is wider than it is, and no line ends with a blank. */
static void test_narrow(void **state)
{
    char *text = print(bench, 60), *at = text, *line;

    (void)state;
    while ((line = strsep(&at, "\n"))) {
        assert_true(strlen(line) <= 60);
        assert_true(!*line || line[strlen(line) - 1] != ' ');
    }
    free(text);
}

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;

    while ((text = strstr(text, word))) {
        text++;
        n++;
    }
    return n;
}

/* What is needed least is left out first: one table with its verdict. */
static void test_columns_left_out(void **state)
{
    static const struct {
        unsigned width;
        const char *there, *not_there;
    } at[] = {{79, "verdict", "of read"},
              {84, "of read", "CPU s/1000"},
              {100, "CPU s/1000", "p99/p50"},
              {125, "p99/p50", "stalls"}};

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(at); i++) {
        char *text = print(bench, at[i].width);

        assert_int_equal(count(text, "page-cache"), 1);
        assert_int_equal(count(text, "verdict"), 1);
        assert_non_null(strstr(text, at[i].there));
        assert_null(strstr(text, at[i].not_there));
        free(text);
    }
}

static void test_meanwhile(void **state)
{
    json_t *j = load(bench);
    char text[300];

    (void)state;
    assert_false(wr_meanwhile(j, 0, 0.3, text, sizeof(text)));
    assert_string_equal(text, "");
    assert_false(wr_meanwhile(NULL, 0, 9, text, sizeof(text)));
    json_decref(j);
}

static void test_cores(void **state)
{
    static const char *const says[][2] = {
        {"{\"count\":2,\"own\":0.8,\"others\":1.2}",
         "other programs had 1.2 of 2 cores, this one had 0.8"},
        {"{\"count\":1,\"own\":0.3,\"others\":0,\"stolen\":0.7}",
         "the hypervisor took 0.7 of 1 core, this one had 0.3"},
        {"{\"count\":2,\"own\":0.5,\"throttled\":1.2}",
         "a CPU limit (cgroup) took 1.2 of 2 cores, this one had 0.5"}};
    char text[160];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        json_t *j = load(says[i][0]);

        struct wr_cores_values c;

        wr_vals_read(&wr_cores_vals, j, &c);
        assert_string_equal(wr_cores_text(&c, text, sizeof(text)), says[i][1]);
        json_decref(j);
    }
}

static void test_train(void **state)
{
    static const char run[] =
        "{\"command\":\"train\",\"accelerator\":{\"name\":\"cpu\"},"
        "\"input\":{\"verdict\":\"storage-bound\",\"prefetch\":0},"
        "\"result\":{\"resumed_at\":6,\"iterations\":12,\"samples_per_s\":50,"
        "\"seconds\":10,\"wait_s\":6,\"step_s\":3,\"save_s\":1,\"saves\":2,"
        "\"save_max_s\":0.7,\"loss_first\":4,\"loss_last\":0.5,\"held_out\":10,"
        "\"accuracy\":0.5,\"chance\":0.25,\"most_common\":0.5,"
        "\"held_out_loss\":1.5,\"limit\":\"input\"},"
        "\"saves\":[{\"fast_s\":1},{\"fast_s\":3}],\"bad_count\":2,"
        "\"bad\":[{\"text\":\"'x': no picture\"}]}";

    (void)state;
    has(run, "\nResumed after iteration 6.\n\niterations  ");
    has(run, "\n         6  10.00 s      50.0    60.0%      30.0%   10.0% ");
    has(run, "\n    2     -  500 ms   700 ms   2.00 s ");
    has(run, "\nHeld-out accuracy 50.0 % of 10 samples (chance: 25.0 %; always "
             "the most common class: 50.0 %), loss 1.5.\nThe input limits: "
             "training waited for it 60 % of the time; the storage is too slow "
             "for it, and nothing is prefetched (--prefetch 1).\n");
    has(run, "\n1 bad sample skipped, 2 times in all\n  - 'x': no picture\n");
}

static void test_compared(void **state)
{
    static const char run[] =
        "{\"command\":\"train\",\"accelerator\":{\"name\":\"cpu\"},"
        "\"input\":{\"prefetch\":1},\"compare\":{\"rounds\":3,\"iterations\":4,"
        "\"cost\":{\"median\":0.05,\"min\":0.04,\"max\":0.06},"
        "\"input\":{\"images_per_s\":900},\"full\":{\"images_per_s\":95},"
        "\"synthetic\":{\"images_per_s\":100}}}";

    (void)state;
    has(run,
        "\nThe input pipeline costs 5.0 % of the training time (4.0 to 6.0 "
        "% in 3 rounds of 4 iterations): 95 images/s with it, 100 without; "
        "alone it delivers 900 images/s.\nIt is fast enough alone: ");
}

static void test_ckpt(void **state)
{
    static const char run[] =
        "{\"command\":\"ckpt\",\"memcpy_s\":0.1,\"cases\":["
        "{\"way\":\"slow\",\"name\":\"direct to slow\",\"result\":"
        "{\"stall_s\":4,\"slow_s\":4,\"stall_bytes_per_s\":1e8}},"
        "{\"way\":\"burst\",\"name\":\"burst buffer\",\"result\":"
        "{\"stall_s\":1,\"fast_s\":1,\"slow_s\":5}},"
        "{\"way\":\"async\",\"name\":\"asynchronous\",\"result\":"
        "{\"stall_s\":0.2}}]}";

    (void)state;
    has(run, "\none memcpy of it: 100 ms\n\nway  ");
    has(run, "\ndirect to slow  4.00 s");
    has(run, "\nCompared with saving to the slow tier, training stalls 4.0 "
             "times less through the burst buffer, and 20 times less with an "
             "asynchronous snapshot.\nAn asynchronous save stalls 2.00 times "
             "as long as one memcpy of the same bytes.\n");
}

/* Whatever is there is shown, and nothing breaks it. */
static void test_odd(void **state)
{
    static const char *const odd[] = {
        "{\"command\":\"bench\"}",
        "{\"command\":\"probe\"}",
        "{\"command\":\"train\"}",
        "{\"command\":\"ckpt\"}",
        "{\"command\":\"study\"}",
        "{\"command\":\"else\"}",
        "{\"command\":\"bench\",\"cases\":[{\"runs\":[]},{\"runs\":[1]},3]}",
        ("{\"command\":\"probe\",\"tests\":[{\"op\":7,\"result\":{}}, 1],"
         "\"saturation\":[{}],\"cache\":{\"resident\":-1}}"),
        "{\"command\":\"study\",\"figures\":[1,{\"parts\":[{}]}]}"};

    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        free(print(odd[i], 40));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bench),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_columns_left_out),
        cmocka_unit_test(test_meanwhile),
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_train),
        cmocka_unit_test(test_compared),
        cmocka_unit_test(test_ckpt),
        cmocka_unit_test(test_odd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
