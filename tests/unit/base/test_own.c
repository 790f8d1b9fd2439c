/* test_own.c - what others own, can write to or lead elsewhere is refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own.h"

#define STRANGER 65533

static char dir[256];
static int dir_fd = -1;

static void make_file(const char *name, mode_t mode)
{
    int fd = openat(dir_fd, name, O_CREAT | O_WRONLY | O_EXCL, mode);

    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
    assert_int_equal(write(fd, "text", 4), 4);
    close(fd);
}

static void make_dir(const char *name, mode_t mode)
{
    assert_int_equal(mkdirat(dir_fd, name, mode), 0);
    assert_int_equal(fchmodat(dir_fd, name, mode, 0), 0);
}

static void give_away(const char *name)
{
    assert_int_equal(
        fchownat(dir_fd, name, STRANGER, STRANGER, AT_SYMLINK_NOFOLLOW), 0);
}

static const char *in(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");

    (void)state;
    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir))
        return -1;
    dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
    return dir_fd < 0;
}

static int teardown(void **state)
{
    char command[300];

    (void)state;
    close(dir_fd);
    snprintf(command, sizeof(command), "rm -rf '%s'", dir);
    return system(command);
}

static int try_dir(const char *name, unsigned flags, weir_err *err)
{
    int fd = -1, r = wr_own_dir(in(name), flags, &fd, err);

    assert_int_equal(r == 0, fd >= 0);
    if (fd >= 0)
        close(fd);
    return r;
}

static int try_file(const char *name, int oflags, weir_err *err)
{
    int fd = -1, r = wr_own_open(in(name), oflags, 0, &fd, err);

    assert_int_equal(r == 0, fd >= 0);
    if (fd >= 0)
        close(fd);
    return r;
}

static mode_t mode_of(const char *name)
{
    struct stat sb;

    assert_int_equal(fstatat(dir_fd, name, &sb, AT_SYMLINK_NOFOLLOW), 0);
    return sb.st_mode & 07777;
}

static void what_is_made_is_private(void **state)
{
    mode_t before = umask(0);
    weir_err err;

    (void)state;
    assert_int_equal(try_dir("d", 0, &err), WEIR_ENOENT);
    assert_int_equal(try_dir("d", WR_OWN_MAKE, &err), 0);
    assert_int_equal(try_dir("d", WR_OWN_MAKE, &err), 0);
    assert_int_equal(mode_of("d"), 0700);
    assert_int_equal(try_file("d/f", O_RDWR, &err), WEIR_ENOENT);
    assert_int_equal(try_file("d/f", O_RDWR | O_CREAT, &err), 0);
    assert_int_equal(mode_of("d/f"), 0600);
    assert_int_equal(try_dir("d/f", 0, &err), WEIR_ENOENT);
    assert_int_equal(try_file("d", O_RDONLY, &err), WEIR_EINVAL);
    umask(before);
}

static void what_others_can_write_is_refused(void **state)
{
    static const mode_t modes[] = {0770, 0707, 0777, 01777};
    weir_err err;
    char name[32];

    (void)state;
    for (unsigned k = 0; k < sizeof(modes) / sizeof(modes[0]); k++) {
        snprintf(name, sizeof(name), "d%o", (unsigned)modes[k]);
        make_dir(name, modes[k]);
        assert_int_equal(try_dir(name, WR_OWN_MAKE, &err), WEIR_EACCES);
        assert_non_null(strstr(err.msg, "can write to it"));
        assert_non_null(strstr(err.msg, name));
        strcat(name, "-file");
        make_file(name, modes[k] & 0666);
        assert_int_equal(try_file(name, O_RDWR | O_TRUNC, &err), WEIR_EACCES);
        assert_int_equal(try_file(name, O_RDONLY, &err), WEIR_EACCES);
    }
    make_file("mine", 0644);
    assert_int_equal(try_file("mine", O_RDONLY, &err), 0);
}

/* Nothing is cut that the question was not answered for. */
static void a_second_name_is_not_written_to(void **state)
{
    struct stat sb;
    weir_err err;

    (void)state;
    make_file("one", 0600);
    assert_int_equal(linkat(dir_fd, "one", dir_fd, "two", 0), 0);
    assert_int_equal(try_file("two", O_RDWR | O_TRUNC, &err), WEIR_EACCES);
    assert_non_null(strstr(err.msg, "has 2 names"));
    assert_int_equal(fstatat(dir_fd, "one", &sb, 0), 0);
    assert_int_equal(sb.st_size, 4);
    assert_int_equal(try_file("two", O_RDONLY, &err), 0);
}

static void the_last_link_is_never_followed(void **state)
{
    weir_err err;

    (void)state;
    make_file("one", 0600);
    make_dir("d", 0700);
    assert_int_equal(symlinkat("one", dir_fd, "to-one"), 0);
    assert_int_equal(symlinkat("d", dir_fd, "to-d"), 0);
    assert_int_equal(try_file("to-one", O_RDWR | O_CREAT, &err), WEIR_EACCES);
    assert_non_null(strstr(err.msg, "is a link of user"));
    assert_int_equal(try_dir("to-d", WR_OWN_MAKE, &err), WEIR_EACCES);
    assert_non_null(strstr(err.msg, "is a link of user"));
}

static void own_links_lead_on(void **state)
{
    weir_err err;
    char to[PATH_MAX];

    (void)state;
    make_dir("d", 0700);
    make_file("d/f", 0600);
    assert_int_equal(symlinkat("d", dir_fd, "near"), 0);
    snprintf(to, sizeof(to), "%s/near", dir);
    assert_int_equal(symlinkat(to, dir_fd, "far"), 0);
    assert_int_equal(symlinkat("round", dir_fd, "round"), 0);
    assert_int_equal(try_file("far/f", O_RDONLY, &err), 0);
    assert_int_equal(try_file("far/../far/./f", O_RDONLY, &err), 0);
    assert_int_equal(try_dir("far/new/", WR_OWN_MAKE, &err), 0);
    assert_int_equal(mode_of("d/new"), 0700);
    assert_int_equal(try_file("round/f", O_RDONLY, &err), WEIR_EACCES);
}

static void relative_paths_start_here(void **state)
{
    int before = open(".", O_RDONLY | O_DIRECTORY), fd = -1;
    weir_err err;

    (void)state;
    assert_int_equal(fchdir(dir_fd), 0);
    assert_int_equal(wr_own_dir("d", WR_OWN_MAKE, &fd, &err), 0);
    close(fd);
    assert_int_equal(wr_own_open("d/f", O_RDWR | O_CREAT, 0, &fd, &err), 0);
    close(fd);
    assert_int_equal(fchdir(before), 0);
    close(before);
    assert_int_equal(try_file("d/f", O_RDONLY, &err), 0);
}

static void strangers_are_refused(void **state)
{
    weir_err err;

    (void)state;
    if (geteuid() != 0)
        skip();
    make_dir("d", 0700);
    make_dir("sticky", 01777);
    make_dir("sticky/mine", 0700);
    make_file("sticky/f", 0600);
    assert_int_equal(symlinkat("mine", dir_fd, "sticky/link"), 0);
    give_away("d");
    give_away("sticky/f");
    give_away("sticky/link");
    assert_int_equal(try_dir("d", WR_OWN_MAKE, &err), WEIR_EACCES);
    assert_non_null(strstr(err.msg, "belongs to user 65533"));
    assert_int_equal(try_file("sticky/f", O_RDONLY, &err), WEIR_EACCES);
    assert_int_equal(try_dir("sticky/link/new", WR_OWN_MAKE, &err),
                     WEIR_EACCES);
    assert_non_null(strstr(err.msg, "is not followed"));
    assert_int_equal(try_dir("sticky/mine", WR_OWN_WAY, &err), 0);
    assert_int_equal(try_dir("d/new", WR_OWN_MAKE, &err), 0);
}

static void the_way_is_asked_on_demand(void **state)
{
    weir_err err;

    (void)state;
    if (geteuid() != 0)
        skip();
    make_dir("open", 0777);
    make_dir("open/mine", 0700);
    make_dir("theirs", 0755);
    make_dir("theirs/mine", 0700);
    give_away("theirs");
    assert_int_equal(try_dir("open/mine", 0, &err), 0);
    assert_int_equal(try_dir("open/mine", WR_OWN_WAY, &err), WEIR_EACCES);
    assert_non_null(strstr(err.msg, "'open': everybody can write to it"));
    assert_int_equal(try_dir("theirs/mine", 0, &err), 0);
    assert_int_equal(try_dir("theirs/mine", WR_OWN_WAY, &err), WEIR_EACCES);
    assert_non_null(strstr(err.msg, "'theirs': belongs to user 65533"));
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(what_is_made_is_private),
        IN_FOLDER(what_others_can_write_is_refused),
        IN_FOLDER(a_second_name_is_not_written_to),
        IN_FOLDER(the_last_link_is_never_followed),
        IN_FOLDER(own_links_lead_on),
        IN_FOLDER(relative_paths_start_here),
        IN_FOLDER(strangers_are_refused),
        IN_FOLDER(the_way_is_asked_on_demand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
