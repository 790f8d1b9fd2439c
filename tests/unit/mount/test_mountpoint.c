/* test_mountpoint.c - unit tests of place.c: what may be mounted where.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mount/mountpoint.h"

static int setup(void **state)
{
    char *root = strdup("/tmp/weir-place-XXXXXX");

    if (!root || !mkdtemp(root) || chdir(root) < 0)
        return -1;
    *state = root;
    return system("mkdir -p src/in src2 full empty && touch file full/x && "
                  "ln -s src link && ln -s src/in hidden");
}

static int teardown(void **state)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
    free(*state);
    return chdir("/") < 0 ? -1 : system(command);
}

static int find(const char *source, const char *at, bool force, char *ret_msg)
{
    struct wr_mountpoint place;
    weir_err err = {0};
    int r = wr_mountpoint_find(&place, source, at, force, &err);

    strcpy(ret_msg, err.msg);
    return r;
}

static void test_good(void **state)
{
    char msg[sizeof(((weir_err *)0)->msg)];

    assert_int_equal(find("src", "empty", false, msg), 0);
    assert_int_equal(find("link", "empty", false, msg), 0);
    assert_int_equal(find("src", "full", true, msg), 0);
    assert_int_equal(find("src", "src2", false, msg), 0); /* not inside */
}

static void test_bad(void **state)
{
    static const struct {
        const char *source, *at, *says;
    } cases[] = {
        {"none", "empty", "'none'"},
        {"src", "none", "'none'"},
        {"file", "empty", "is no folder"},
        {"src", "file", "is no folder"},
        {"src", "full", "not empty"},
        {"src", "src", "inside the source"},
        {"src", "src/in", "inside the source"},
        {"src", "hidden", "inside the source"},
        {"/", "empty", "inside the source"},
    };
    char msg[sizeof(((weir_err *)0)->msg)];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(find(cases[i].source, cases[i].at, false, msg) < 0);
        if (!strstr(msg, cases[i].says))
            fail_msg("'%s' does not say '%s'", msg, cases[i].says);
    }
}

static void test_what_is_mounted(void **state)
{
    char path[PATH_MAX], want[PATH_MAX];
    weir_err err;
    dev_t there;

    assert_int_equal(wr_mountpoint_device("/", &there), -ENOENT);
    assert_int_equal(wr_mountpoint_device("/proc", &there), -ENOENT);
    assert_int_equal(wr_mountpoint_resolve("link/in", path, &err), 0);
    snprintf(want, sizeof(want), "%s/src/in", (char *)*state);
    assert_string_equal(path, want);
    assert_true(wr_mountpoint_resolve("none", path, &err) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_what_is_mounted),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
