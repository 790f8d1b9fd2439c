/* test_record.c - the run record: its head, and writing it whole.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "result/record.h"
#include "storage/beside.h"

static void test_head(void **state)
{
    json_t *r = wr_record_new("bench");

    assert_non_null(r);
    assert_string_equal(json_string_value(json_object_get(r, "schema")),
                        WR_RECORD_SCHEMA);
    assert_int_equal(json_integer_value(json_object_get(r, "version")),
                     WR_RECORD_VERSION);
    assert_string_equal(json_string_value(json_object_get(r, "command")),
                        "bench");
    assert_int_equal(strlen(json_string_value(json_object_get(r, "time"))),
                     strlen("2026-01-01T00:00:00Z"));
    json_decref(r);
}

static unsigned count_entries(const char *dir)
{
    DIR *d = opendir(dir);
    unsigned n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static void test_write(void **state)
{
    char dir[] = "/tmp/weir-record-XXXXXX", path[64];
    json_t *r = wr_record_new("bench"), *back;
    weir_err err;

    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/run.json", dir);
    for (int i = 0; i < 2; i++) { /* the second replaces the first */
        json_object_set_new(r, "turn", json_integer(i));
        assert_int_equal(wr_record_write(r, path, &err), 0);
    }
    assert_int_equal(count_entries(dir), 1);
    back = json_load_file(path, 0, NULL);
    assert_non_null(back);
    assert_true(json_equal(r, back));
    json_decref(back);
    json_decref(r);
    unlink(path);
    rmdir(dir);
}

/* Lists of numbers take a line each, and numbers no more digits than they
 * have; what is printed is what was there. */
static void test_print(void **state)
{
    json_t *r = json_pack("{s:[f, i, n], s:[], s:{}, s:[{s:f}, [s]], s:s}",
                          "list", 0.1, 2, "none", "nobody", "deep", "x", 0.25,
                          "text", "name", "a \"b\"");
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    json_t *back;

    assert_int_equal(wr_record_print(r, f), 0);
    fclose(f);
    assert_string_equal(text, "{\n"
                              " \"list\": [0.1,2,null],\n"
                              " \"none\": [],\n"
                              " \"nobody\": {},\n"
                              " \"deep\": [\n"
                              "  {\n"
                              "   \"x\": 0.25\n"
                              "  },\n"
                              "  [\"text\"]\n"
                              " ],\n"
                              " \"name\": \"a \\\"b\\\"\"\n"
                              "}\n");
    back = json_loads(text, 0, NULL);
    assert_true(json_equal(r, back));
    json_decref(back);
    json_decref(r);
    free(text);
}

static void test_full_device(void **state)
{
    json_t *r = wr_record_new("bench");
    FILE *f = fopen("/dev/full", "w");

    if (!f)
        skip();
    assert_int_equal(wr_record_print(r, f), -1);
    fclose(f);
    json_decref(r);
}

static void test_write_fails(void **state)
{
    json_t *r = wr_record_new("bench");
    weir_err err;

    assert_int_equal(wr_record_write(r, "/nonexistent/run.json", &err),
                     WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "/nonexistent/run.json"));
    json_decref(r);
}

/* A folder cannot be replaced by a file: the error names it, and no part of
 * the record stays behind. */
static void test_target_is_a_folder(void **state)
{
    char parent[] = "/tmp/weir-record-XXXXXX", target[64];
    json_t *r = wr_record_new("bench");
    weir_err err;

    assert_non_null(mkdtemp(parent));
    snprintf(target, sizeof(target), "%s/run.json", parent);
    assert_int_equal(mkdir(target, 0777), 0);
    assert_true(wr_record_write(r, target, &err) < 0);
    assert_non_null(strstr(err.msg, target));
    assert_int_equal(count_entries(parent), 1);
    json_decref(r);
    rmdir(target);
    rmdir(parent);
}

/* A link (and so /dev/stdout, a device) is written to, not replaced. */
static void test_target_is_a_link(void **state)
{
    char dir[] = "/tmp/weir-record-XXXXXX", path[64], link[64];
    json_t *r = wr_record_new("bench"), *back;
    struct stat sb;

    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/run.json", dir);
    snprintf(link, sizeof(link), "%s/link", dir);
    assert_int_equal(symlink("run.json", link), 0);
    assert_int_equal(wr_record_write(r, link, NULL), 0);
    assert_int_equal(lstat(link, &sb), 0);
    assert_true(S_ISLNK(sb.st_mode));
    back = json_load_file(path, 0, NULL);
    assert_true(json_equal(r, back));
    json_decref(back);
    json_decref(r);
    unlink(link);
    unlink(path);
    rmdir(dir);
}

/* What is half written has no name, so nothing that ends the process leaves
 * it behind. */
struct half {
    const char *folder;
    unsigned entries;
};

static int print_half(const void *arg, FILE *out, weir_err *err)
{
    struct half *h = (struct half *)(uintptr_t)arg;

    (void)err;
    fputs("half", out);
    fflush(out);
    h->entries = count_entries(h->folder);
    return 0;
}

static bool always(void)
{
    return true;
}

static void test_half_written(void **state)
{
    char dir[] = "/tmp/weir-record-XXXXXX", path[64];
    struct half h = {.folder = dir};
    struct wr_whole what = {.print = print_half, .arg = &h};
    weir_err err;
    int fd;

    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/page.html", dir);
    what.stopped = always;
    assert_int_equal(wr_whole_write(path, &what, &err), WEIR_ECANCELED);
    assert_int_equal(count_entries(dir), 0);
    what.stopped = NULL;
    assert_int_equal(wr_whole_write(path, &what, &err), 0);
    assert_int_equal(count_entries(dir), 1);
    unlink(path);
    fd = open(dir, O_TMPFILE | O_WRONLY, 0666);
    rmdir(dir);
    if (fd < 0)
        skip();
    close(fd);
    assert_int_equal(h.entries, 0);
}

/* The library's calls come here: file systems without O_TMPFILE are rare. */
static bool has_no_tmpfile;

int open(const char *path, int flags, ...)
{
    va_list more;
    mode_t mode;

    va_start(more, flags);
    mode = (mode_t)va_arg(more, int);
    va_end(more);
    if (has_no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static void write_mode(const char *dir, bool private, mode_t mode)
{
    struct half h = {.folder = dir};
    struct wr_whole what = {.print = print_half, .arg = &h, .private = private};
    struct stat sb;
    char path[64];

    snprintf(path, sizeof(path), "%s/x", dir);
    assert_int_equal(wr_whole_write(path, &what, NULL), 0);
    assert_int_equal(lstat(path, &sb), 0);
    assert_int_equal(sb.st_mode & 07777, mode);
}

/* With and without O_TMPFILE: private from the beginning, and what was put
 * where the half-written file could be is not followed. */
static void test_private(void **state)
{
    char dir[] = "/tmp/weir-record-XXXXXX", path[64], temp[96], kept[96];
    mode_t before = umask(0022);
    struct stat sb;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/x", dir);
    snprintf(kept, sizeof(kept), "%s/kept", dir);
    snprintf(temp, sizeof(temp), "%s.%ld.part", path, (long)getpid());
    assert_int_equal(symlink(kept, temp), 0); /* as it was called once */
    for (int k = 0; k < 2; k++) {
        has_no_tmpfile = k == 1;
        write_mode(dir, true, 0600);
        write_mode(dir, false, 0644);
    }
    has_no_tmpfile = false;
    umask(before);
    assert_true(lstat(kept, &sb) < 0);
    assert_int_equal(count_entries(dir), 2);
    unlink(temp);
    unlink(path);
    rmdir(dir);
}

static void test_text(void **state)
{
    char dir[] = "/tmp/weir-record-XXXXXX", path[64], back[32] = "";
    FILE *f;

    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/p.profile", dir);
    assert_int_equal(wr_record_write_text("name = x\n", path, NULL), 0);
    f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(back, sizeof(back), f));
    fclose(f);
    assert_string_equal(back, "name = x\n");
    assert_int_equal(count_entries(dir), 1);
    unlink(path);
    rmdir(dir);
}

/* Whether it could be written is found out without a trace. */
static void test_check(void **state)
{
    char dir[] = "/tmp/weir-record-XXXXXX", path[64], back[8] = "";
    weir_err err;
    FILE *f;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/x", dir);
    assert_int_equal(wr_whole_check(path, &err), 0);
    assert_int_equal(count_entries(dir), 0);
    assert_true(wr_whole_check(dir, &err) < 0);
    assert_non_null(strstr(err.msg, "directory"));
    snprintf(path, sizeof(path), "%s/no/x", dir);
    assert_int_equal(wr_whole_check(path, &err), WEIR_ENOENT);
    assert_int_equal(wr_whole_check("/dev/null", &err), 0);
    snprintf(path, sizeof(path), "%s/pipe", dir);
    assert_int_equal(mkfifo(path, 0600), 0); /* without a reader: no waiting */
    assert_int_equal(wr_whole_check(path, &err), 0);
    unlink(path);
    snprintf(path, sizeof(path), "%s/there", dir);
    assert_int_equal(wr_record_write_text("old\n", path, NULL), 0);
    assert_int_equal(wr_whole_check(path, &err), 0);
    f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(back, sizeof(back), f));
    fclose(f);
    assert_string_equal(back, "old\n");
    assert_int_equal(count_entries(dir), 1);
    unlink(path);
    rmdir(dir);
}

/* Escaped where a terminal would act on it, and the same text for a reader. */
static void test_dump(void **state)
{
    const char *name = "\033a\177\xc2\x9b\xe2\x80\xae\\ü\n";
    json_t *o = json_pack("{s:s}", name, name), *read;
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    assert_int_equal(wr_record_dump(o, JSON_COMPACT, f), 0);
    fclose(f);
    assert_string_equal(text, "{\"\\u001Ba\\u007f\\u009b\\u202e\\\\ü\\n\":"
                              "\"\\u001Ba\\u007f\\u009b\\u202e\\\\ü\\n\"}");
    read = json_loads(text, 0, NULL);
    assert_true(json_equal(read, o));
    json_decref(read);
    json_decref(o);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_full_device),
        cmocka_unit_test(test_write_fails),
        cmocka_unit_test(test_target_is_a_folder),
        cmocka_unit_test(test_target_is_a_link),
        cmocka_unit_test(test_half_written),
        cmocka_unit_test(test_private),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
