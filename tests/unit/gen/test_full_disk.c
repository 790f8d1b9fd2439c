/* test_full_disk.c - a disk that fills up, in a mount namespace of its own.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Skipped where a small tmpfs may not be mounted: it takes root. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "scratch.h"
#include "gen/generate.h"

/* A tmpfs of 2 MB on `dir`, which ends with the process. */
static bool mount_small(const char *dir)
{
    return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
           mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("weir-test", dir, "tmpfs", 0, "size=2m") == 0;
}

static void fill(struct scratch *s, const char *kind)
{
    static struct wr_gen_result res;
    struct wr_gen_config cfg = {.kind = kind, .samples = 200, .threads = 2};
    char target[PATH_MAX];
    weir_err err = {0};

    snprintf(target, sizeof(target), "%s", scratch_at(s, "small/d"));
    cfg.target = target;
    assert_int_equal(wr_gen_run(&cfg, &res, &err), WEIR_ENOSPC);
    assert_non_null(strstr(err.msg, "No space left"));
    assert_non_null(strstr(err.msg, strcmp(kind, "tensors") == 0
                                        ? "part-00000"
                                        : "class_")); /* names the file */
    assert_int_equal(scratch_entries(s, "small"), 0);
}

static void test_full_disk(void **state)
{
    struct scratch *s = *state;

    mkdir(scratch_at(s, "small"), 0777);
    if (!mount_small(s->path))
        skip();
    fill(s, "imagenet");
    fill(s, "tensors");
}

/* A failed assertion leaves it mounted, and the folder could not go. */
static int teardown(void **state)
{
    umount(scratch_at(*state, "small"));
    return scratch_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_full_disk, scratch_setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
