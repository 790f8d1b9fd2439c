/* test_report_trace.c - weir report of a trace, in each of its forms.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../trace/maker.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/report_trace.h"

/* One process that reads a file of 3,000 bytes in a run of two seconds. */
static void make(struct maker *m)
{
    uint32_t file;

    maker_open(m);
    maker_process(m, -1, 0, 2000);
    file = maker_name(m, 3000, "/data/a.bin");
    maker_whole(m, 0, file, 3000, 500 * MS, MS);
    wr_trace_file_close(maker_read(m));
}

static void put(const struct maker *m, const char *name, const char *text,
                size_t len, char path[400])
{
    FILE *f;

    snprintf(path, 400, "%s/%s", m->dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static void test_is_trace(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        bool is;
    } cases[] = {
        {"", 0, false},
        {"{\"weir\": 1}", 11, false},
        {"WEIR", 4, false},
    };
    struct maker m;
    char path[400];

    (void)state;
    make(&m);
    assert_true(wr_report_is_trace(m.path));
    for (size_t k = 0; k < WR_ARRAY_LEN(cases); k++) {
        put(&m, "other", cases[k].text, cases[k].len, path);
        assert_int_equal(wr_report_is_trace(path), cases[k].is);
        unlink(path);
    }
    assert_false(wr_report_is_trace(path)); /* it is gone */
    assert_false(wr_report_is_trace(m.dir));
    snprintf(path, sizeof(path), "%s/pipe", m.dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(wr_report_is_trace(path)); /* nor waits for a writer */
    unlink(path);
    maker_done(&m);
}

struct shown {
    char *out, *err;
    size_t out_len, err_len;
    int code;
};

static struct shown show(const char *path, int form, const char *output)
{
    static const struct wr_command cmd = {.name = "report"};
    struct shown s = {0};
    struct wr_cli cli = {.cmd = &cmd,
                         .out = open_memstream(&s.out, &s.out_len),
                         .err = open_memstream(&s.err, &s.err_len),
                         .width = 80};

    s.code = wr_report_trace(&cli, path, form, output, NULL);
    fclose(cli.out);
    fclose(cli.err);
    return s;
}

static void done(struct shown *s)
{
    free(s->out);
    free(s->err);
}

static size_t count_lines(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void test_forms(void **state)
{
    struct maker m;
    struct shown s;
    json_t *events;

    (void)state;
    make(&m);
    s = show(m.path, WR_TRACE_FORM_TEXT, NULL);
    assert_int_equal(s.code, WR_EXIT_DONE);
    assert_non_null(strstr(s.out, "python3 train.py"));
    done(&s);

    s = show(m.path, WR_TRACE_FORM_CSV, "-");
    assert_int_equal(s.code, WR_EXIT_DONE);
    assert_int_equal(count_lines(s.out), 1 + 3); /* open, read, close */
    assert_non_null(strstr(s.out, "/data/a.bin"));
    done(&s);

    s = show(m.path, WR_TRACE_FORM_CHROME, NULL);
    assert_int_equal(s.code, WR_EXIT_DONE);
    events = json_loads(s.out, 0, NULL);
    assert_non_null(events);
    json_decref(events);
    done(&s);

    s = show(m.path, WR_TRACE_FORM_DARSHAN, NULL);
    assert_int_equal(s.code, WR_EXIT_DONE);
    assert_non_null(strstr(s.out, "POSIX_BYTES_READ\t3000\t/data/a.bin"));
    done(&s);
    maker_done(&m);
}

/* A file is there as a whole, for its owner alone, or not at all. */
static void test_output(void **state)
{
    struct maker m;
    struct shown s;
    struct stat sb;
    char path[400], text[4096] = "";
    FILE *f;

    (void)state;
    make(&m);
    snprintf(path, sizeof(path), "%s/out.csv", m.dir);
    s = show(m.path, WR_TRACE_FORM_CSV, path);
    assert_int_equal(s.code, WR_EXIT_DONE);
    assert_string_equal(s.out, "");
    done(&s);
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0600);
    f = fopen(path, "r");
    assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
    fclose(f);
    assert_int_equal(count_lines(text), 4);
    assert_int_equal(unlink(path), 0);

    s = show("/nowhere/t.wtrace", WR_TRACE_FORM_CSV, path);
    assert_int_equal(s.code, WR_EXIT_FAILED);
    assert_non_null(strstr(s.err, "weir report: "));
    assert_non_null(strstr(s.err, "/nowhere/t.wtrace"));
    done(&s);
    assert_int_equal(access(path, F_OK), -1);
    s = show("/nowhere/t.wtrace", WR_TRACE_FORM_TEXT, NULL);
    assert_int_equal(s.code, WR_EXIT_FAILED);
    assert_string_equal(s.out, "");
    done(&s);
    maker_done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_trace),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_output),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
