/* test_device_text.c - profile files, good and bad, and back to text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "storage/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static int parse(const char *text, struct wr_device_profile *ret, weir_err *err)
{
    return wr_device_profile_parse(text, strlen(text), "dir/mine.profile", ret,
                                   err);
}

static void every_key(void **state)
{
    struct wr_device_profile p;
    weir_err err;

    (void)state;
    if (parse("# a comment\n"
              "\n"
              "  title = two disks in one box  # and another\r\n"
              "read_latency = 60 us\n"
              "write_latency=0.5ms\n"
              "meta_latency = 1 s\n"
              "sync_latency = 1500 ns\n"
              "read_bandwidth = 1.5 GB/s\n"
              "write_bandwidth = 64MiB/s\n"
              "channels = 4\n"
              "seek = 8.5 ms\n"
              "near = 64 KiB\n"
              "seek_law = 1:1 2:0.57\t8:0.39\n"
              "write_cache = 64 MB\n"
              "readahead = 0",
              &p, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(p.name, "mine");
    assert_string_equal(p.title, "two disks in one box");
    assert_true(p.read_latency_us == 60);
    assert_true(p.write_latency_us == 500);
    assert_true(p.meta_latency_us == 1e6);
    assert_true(p.sync_latency_us == 1.5);
    assert_true(p.read_bytes_per_s == 1.5e9);
    assert_true(p.write_bytes_per_s == 64 * 0x1p20);
    assert_int_equal(p.channels, 4);
    assert_true(p.seek_us == 8500);
    assert_int_equal(p.near_bytes, 65536);
    assert_int_equal(p.seek_points, 3);
    assert_int_equal(p.seek_law[2].depth, 8);
    assert_true(p.seek_law[2].factor == 0.39);
    assert_int_equal(p.write_cache_bytes, 64000000);
    assert_int_equal(p.readahead_bytes, 0);
}

static void like_another(void **state)
{
    struct wr_device_profile p, hdd;

    (void)state;
    assert_int_equal(wr_device_profile_find("hdd", &hdd, NULL), 0);
    assert_int_equal(parse("like = hdd\nname = old\nseek = 20 ms\n"
                           "seek_law = 1:1\n",
                           &p, NULL),
                     0);
    assert_string_equal(p.name, "old");
    assert_string_equal(p.title, hdd.title);
    assert_true(p.seek_us == 20000);
    assert_int_equal(p.seek_points, 1);
    assert_int_equal(p.seek_law[1].depth, 0);
    assert_true(p.read_bytes_per_s == hdd.read_bytes_per_s);
}

static void nonsense_is_named(void **state)
{
    static const struct {
        const char *text, *message;
    } table[] = {
        {"", "has neither 'like' nor both"},
        {"read_bandwidth = 1 GB/s\n", "has neither 'like' nor both"},
        {"\nspeed = 9\n", "line 2: unknown key 'speed'"},
        {"seek\n", "line 1: 'seek' is not KEY = VALUE"},
        {"seek =\n", "line 1: seek: '' is not a number with a unit"},
        {"seek = 5\n", "seek: '5' has no unit (us, ns, ms, s)"},
        {"seek = 5 h\n", "seek: '5 h' has an unknown unit (us, ns, ms, s)"},
        {"seek = 5 ms 3\n", "has an unknown unit"},
        {"seek = -5 ms\n", "seek: '-5 ms' is negative"},
        {"seek = inf ms\n", "'inf ms' is not a number"},
        {"seek = nan\n", "'nan' is not a number"},
        {"seek = 1e999 us\n", "'1e999 us' is not a number"},
        {"seek = 0x10 us\n", "'0x10 us' is not a number"},
        {"seek = 61 s\n", "'61 s' is more than 60 s"},
        {"read_bandwidth = 5 MB/min\n", "unknown unit (B/s, KB/s, MB/s"},
        {"read_bandwidth = 5 B/s\n", "'5 B/s' is not between 1 KB/s"},
        {"read_bandwidth = 1e9 GB/s\n", "is not between 1 KB/s"},
        {"near = 5 us\n", "'5 us' has an unknown unit"},
        {"near = 1e12 MB\n", "'1e12 MB' is too large a size"},
        {"channels = -1\n", "channels: '-1' is not a whole number"},
        {"channels = 1025\n", "channels: '1025' is not between 0 and 1024"},
        {"channels = 2.5\n", "channels: '2.5' is not a whole number"},
        {"seek_law = 1\n", "seek_law: '1' is not DEPTH:FACTOR"},
        {"seek_law = 0:1\n", "'0' is not between 1 and 1024"},
        {"seek_law = 1:0\n", "'0' is not between 1e-06 and 1000"},
        {"seek_law = 1:-1\n", "'-1' is not between"},
        {"seek_law = 1:nan\n", "'nan' is not a number"},
        {"seek_law = 2:1 2:0.5\n", "seek_law: depth 2 does not rise"},
        {"seek_law = 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1 11:1 12:1 13:1\n",
         "seek_law: more than 12 points"},
        {"seek = 1 ms\nseek = 1 ms\n", "line 2: 'seek' a second time"},
        {"seek = 1 ms\nlike = hdd\n", "line 2: 'like' must be the first"},
        {"like = tape\n", "like: 'tape': no such device profile (there are "
                          "hdd, ssd, optane, lustre, nvme, nfs, null"},
        {"like = ./x.profile\n", "'./x.profile' is not a built-in profile"},
        {"name =\n", "line 1: name: empty"},
        {"name = a\tb\n", "name: has a control character"},
        {"name = 1234567890123456789012345678901234567890\n",
         "name: longer than 31 bytes"},
    };

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(table); i++) {
        struct wr_device_profile p = {.channels = 77};
        weir_err err = {0};
        char begin[] = "'dir/mine.profile': ";

        assert_int_equal(parse(table[i].text, &p, &err), WEIR_EFORMAT);
        assert_int_equal(p.channels, 77);
        if (strncmp(err.msg, begin, strlen(begin)) ||
            !strstr(err.msg, table[i].message))
            fail_msg("'%s' says \"%s\", not \"%s\"", table[i].text, err.msg,
                     table[i].message);
    }
}

static void sizes_have_limits(void **state)
{
    struct wr_device_profile p;
    size_t len = 70000;
    char *text = malloc(len);
    weir_err err;

    (void)state;
    assert_non_null(text);
    memset(text, '\n', len);
    assert_int_equal(wr_device_profile_parse(text, len, "n", &p, &err),
                     WEIR_ELIMIT);
    assert_string_equal(err.msg, "'n': larger than 65536 bytes");
    memset(text, '#', 1000);
    assert_int_equal(wr_device_profile_parse(text, 2000, "n", &p, &err),
                     WEIR_EFORMAT);
    assert_string_equal(err.msg, "'n': line 1: longer than 512 bytes");
    text[0] = '\n';
    text[1] = '\0';
    assert_int_equal(wr_device_profile_parse(text, 5, "n", &p, &err),
                     WEIR_EFORMAT);
    assert_string_equal(err.msg, "'n': line 2: has a zero byte");
    free(text);
}

static void text_and_back(void **state)
{
    const struct wr_device_profile *p;
    struct wr_device_profile odd = {
        .name = "odd",
        .title = "numbers that no one would write",
        .read_latency_us = 1.0 / 3,
        .seek_us = 1e-9,
        .read_bytes_per_s = 1e9 / 7,
        .write_bytes_per_s = 1968.618e6 / 3.1,
        .near_bytes = 12345,
        .seek_law = {{3, 2.0 / 3}, {1024, 1e-6}},
        .seek_points = 2,
        .readahead_bytes = 4096,
    };

    (void)state;
    for (unsigned k = 0;; k++) {
        struct wr_device_profile back;
        char *text;

        p = wr_device_profile_at(k);
        if (!p)
            p = &odd;
        text = wr_device_profile_text(p);
        assert_non_null(text);
        memset(&back, 0x55, sizeof(back));
        assert_int_equal(parse(text, &back, NULL), 0);
        assert_memory_equal(&back, p, sizeof(back));
        free(text);
        if (p == &odd)
            return;
    }
}

static void found_by_name_or_path(void **state)
{
    struct wr_device_profile p = {.channels = 77};
    char dir[256], path[300];
    const char *base = getenv("TMPDIR");
    weir_err err;
    FILE *f;

    (void)state;
    assert_int_equal(wr_device_profile_find("disk", &p, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "'disk': no such device profile"));
    assert_non_null(
        strstr(err.msg, "hdd, ssd, optane, lustre, nvme, nfs, null"));
    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(dir));
    assert_int_equal(wr_device_profile_find(dir, &p, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "a folder, not a profile"));
    snprintf(path, sizeof(path), "%s/raid.profile", dir);
    assert_int_equal(wr_device_profile_find(path, &p, &err), WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "raid.profile"));
    assert_int_equal(p.channels, 77);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs("like = hdd\nchannels = 6\n", f);
    fclose(f);
    assert_int_equal(wr_device_profile_find(path, &p, &err), 0);
    assert_int_equal(p.channels, 6);
    assert_string_equal(p.name, "raid");
    unlink(path);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key),
        cmocka_unit_test(like_another),
        cmocka_unit_test(nonsense_is_named),
        cmocka_unit_test(sizes_have_limits),
        cmocka_unit_test(text_and_back),
        cmocka_unit_test(found_by_name_or_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
