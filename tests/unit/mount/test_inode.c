/* test_inode.c - unit tests of inode.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mount/inode.h"

#define MANY 3000 /* more than the table starts with */

struct place {
    char root[64];
    struct wr_inodes t;
};

static void touch(int at, const char *name)
{
    int fd = openat(at, name, O_WRONLY | O_CREAT, 0600);

    assert_true(fd >= 0);
    close(fd);
}

static int setup(void **state)
{
    struct place *p = calloc(1, sizeof(*p));
    int fd;

    snprintf(p->root, sizeof(p->root), "/tmp/weir-inode-XXXXXX");
    if (!mkdtemp(p->root))
        return -1;
    fd = open(p->root, O_PATH | O_DIRECTORY);
    if (wr_inodes_init(&p->t, fd) < 0)
        return -1;
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct place *p = *state;
    char command[128];

    wr_inodes_done(&p->t);
    snprintf(command, sizeof(command), "rm -rf '%s'", p->root);
    free(p);
    return system(command);
}

static struct wr_inode *look(struct place *p, const char *name)
{
    struct wr_inode *n = NULL;
    struct stat st;

    assert_int_equal(wr_inodes_lookup(&p->t, &p->t.root, name, &n, &st), 0);
    assert_int_equal(st.st_ino, n->ino);
    return n;
}

/* Told three times, forgotten in two steps, gone after the last. */
static void test_lookups_are_counted(void **state)
{
    struct place *p = *state;
    struct wr_inode *n;

    touch(p->t.root.fd, "a");
    n = look(p, "a");
    assert_ptr_equal(look(p, "a"), n);
    assert_ptr_equal(look(p, "a"), n);
    assert_int_equal(n->lookups, 3);
    assert_int_equal(p->t.known.count, 1);
    wr_inodes_forget(&p->t, n, 2);
    assert_int_equal(p->t.known.count, 1);
    assert_int_equal(n->lookups, 1);
    wr_inodes_forget(&p->t, n, 1);
    assert_int_equal(p->t.known.count, 0);
}

static void test_names_of_one_file(void **state)
{
    struct place *p = *state;
    struct wr_inode *n;

    touch(p->t.root.fd, "b");
    assert_int_equal(linkat(p->t.root.fd, "b", p->t.root.fd, "c", 0), 0);
    n = look(p, "b");
    assert_ptr_equal(look(p, "c"), n);
    wr_inodes_forget(&p->t, n, 2);
    assert_int_equal(p->t.known.count, 0);
}

/* A file that was removed stays itself while the kernel knows it. */
static void test_removed_and_made_again(void **state)
{
    struct place *p = *state;
    struct wr_inode *old, *new;

    touch(p->t.root.fd, "d");
    old = look(p, "d");
    assert_int_equal(unlinkat(p->t.root.fd, "d", 0), 0);
    touch(p->t.root.fd, "d");
    new = look(p, "d");
    assert_ptr_not_equal(old, new);
    assert_true(wr_inode_object(old) != wr_inode_object(new));
    wr_inodes_forget(&p->t, old, 1);
    wr_inodes_forget(&p->t, new, 1);
    assert_int_equal(p->t.known.count, 0);
}

static void test_no_way_out(void **state)
{
    struct place *p = *state;
    struct wr_inode *n = NULL;
    struct stat st;

    assert_int_equal(wr_inodes_lookup(&p->t, &p->t.root, "..", &n, &st),
                     -ENOENT);
    assert_int_equal(wr_inodes_lookup(&p->t, &p->t.root, "../etc", &n, &st),
                     -ENOENT);
    assert_int_equal(wr_inodes_lookup(&p->t, &p->t.root, "none", &n, &st),
                     -ENOENT);
    assert_int_equal(symlinkat("/etc", p->t.root.fd, "link"), 0);
    n = look(p, "link"); /* the link itself, not where it leads */
    assert_int_equal(fstat(n->fd, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    wr_inodes_forget(&p->t, n, 1);
}

static void test_many(void **state)
{
    struct place *p = *state;
    struct wr_inode **all = calloc(MANY, sizeof(*all));
    unsigned made = MANY;
    char name[16];

    assert_non_null(all);
    if (p->t.limit < made)
        made = (unsigned)p->t.limit;
    for (unsigned i = 0; i < made; i++) {
        snprintf(name, sizeof(name), "f%u", i);
        touch(p->t.root.fd, name);
        all[i] = look(p, name);
    }
    assert_int_equal(p->t.known.count, made);
    for (unsigned i = 0; i < made; i++) {
        snprintf(name, sizeof(name), "f%u", i);
        assert_ptr_equal(look(p, name), all[i]);
        wr_inodes_forget(&p->t, all[i], 2);
    }
    assert_int_equal(p->t.known.count, 0);
    free(all);
}

/* At the limit nothing is opened; what is known is still found. */
static void test_limit(void **state)
{
    struct place *p = *state;
    struct wr_inode *n, *other = NULL;
    size_t limit = p->t.limit;
    struct stat st;

    touch(p->t.root.fd, "x");
    touch(p->t.root.fd, "y");
    n = look(p, "x");
    p->t.limit = 1;
    assert_true(wr_inodes_is_crowded(&p->t));
    assert_int_equal(wr_inodes_lookup(&p->t, &p->t.root, "y", &other, &st),
                     -ENFILE);
    assert_ptr_equal(look(p, "x"), n);
    p->t.limit = limit;
    wr_inodes_forget(&p->t, n, 2);
    assert_int_equal(p->t.known.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookups_are_counted),
        cmocka_unit_test(test_names_of_one_file),
        cmocka_unit_test(test_removed_and_made_again),
        cmocka_unit_test(test_no_way_out),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_limit),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
