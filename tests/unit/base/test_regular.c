/* test_regular.c - regular files are opened, and nothing else is waited for.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular.h"

static char dir[256];
static int dir_fd = -1;

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");
    int fd;

    (void)state;
    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir))
        return -1;
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    fd = openat(dir_fd, "file", O_CREAT | O_WRONLY, 0666);
    if (dir_fd < 0 || fd < 0 || close(fd))
        return -1;
    return mkfifoat(dir_fd, "pipe", 0666) || mkdirat(dir_fd, "folder", 0777) ||
           mknodat(dir_fd, "socket", S_IFSOCK | 0666, 0) ||
           symlinkat("/dev/zero", dir_fd, "device") ||
           symlinkat("file", dir_fd, "link");
}

static int teardown(void **state)
{
    static const char *const names[] = {"file",   "pipe", "socket",
                                        "device", "link", "new"};

    (void)state;
    for (unsigned k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        unlinkat(dir_fd, names[k], 0);
    unlinkat(dir_fd, "folder", AT_REMOVEDIR);
    close(dir_fd);
    return rmdir(dir);
}

static void files_are_opened(void **state)
{
    static const char *const names[] = {"file", "link", "new"};

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        int fd = wr_regular_open(dir_fd, names[k], O_RDWR | O_CREAT, 0600);

        assert_true(fd >= 0);
        assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
        assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
        assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
        close(fd);
    }
}

static void others_are_named(void **state)
{
    static const struct {
        const char *name, *said;
        int code;
    } others[] = {
        {"pipe", "'pipe': cannot open: it is a pipe", WEIR_EINVAL},
        {"socket", "'socket': cannot open: it is a socket", WEIR_EINVAL},
        {"device", "'device': cannot open: it is a device", WEIR_EINVAL},
        {"folder", "'folder': cannot open: it is a folder", WEIR_EINVAL},
        {"none", "'none': cannot open: No such", WEIR_ENOENT},
    };

    (void)state;
    for (unsigned k = 0; k < sizeof(others) / sizeof(others[0]); k++)
        for (int access = O_RDONLY; access <= O_RDWR; access++) {
            int fd = wr_regular_open(dir_fd, others[k].name, access, 0);
            int e = errno;
            weir_err err;

            assert_int_equal(fd, -1);
            assert_int_equal(wr_regular_fail(dir_fd, others[k].name,
                                             others[k].name, e, &err),
                             others[k].code);
            if (!strstr(err.msg, others[k].said))
                fail_msg("'%s' does not say '%s'", err.msg, others[k].said);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_opened),
        cmocka_unit_test(others_are_named),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
