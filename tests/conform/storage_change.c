/* storage_change.c - renames that replace nothing, locks, what a store forgets.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage_place.h"

static void put(struct wr_store *st, const char *path, const char *text)
{
    struct wr_object *o;

    assert_int_equal(st->ops->object_open(st, path, WR_OPEN_CREATE, &o, NULL),
                     0);
    assert_int_equal(o->ops->write(o, text, strlen(text), 0, NULL), 0);
    assert_int_equal(o->ops->close(o, /* sync= */ false, NULL), 0);
}

static void check_text(struct wr_store *st, const char *path, const char *want)
{
    char *text;
    size_t len;

    assert_int_equal(wr_store_slurp(st, path, 100, &text, &len, NULL), 0);
    assert_string_equal(text, want);
    free(text);
}

static int rename_new(struct wr_store *st, const char *from, const char *to,
                      weir_err *err)
{
    return st->ops->change(st, WR_RENAME_NEW, from, to, err);
}

void renames_that_replace_nothing(void **state)
{
    struct wr_store *st = ((struct place *)*state)->st;
    struct wr_stat sb;
    weir_err err;

    put(st, "a", "one");
    put(st, "sub/b", "two");
    assert_int_equal(rename_new(st, "a", "sub/b", &err), WEIR_EEXIST);
    assert_non_null(strstr(err.msg, "'a': cannot rename to 'sub/b'"));
    check_text(st, "a", "one");
    check_text(st, "sub/b", "two");
    assert_int_equal(rename_new(st, "a", "sub/c", NULL), 0);
    check_text(st, "sub/c", "one");
    assert_int_equal(st->ops->stat(st, "a", &sb, NULL), WEIR_ENOENT);
    assert_int_equal(rename_new(st, "a", "d", &err), WEIR_ENOENT);

    assert_int_equal(st->ops->change(st, WR_MKDIR, "from", NULL, NULL), 0);
    assert_int_equal(st->ops->change(st, WR_MKDIR, "empty", NULL, NULL), 0);
    put(st, "from/x", "three");
    assert_int_equal(rename_new(st, "from", "empty", &err), WEIR_EEXIST);
    assert_int_equal(rename_new(st, "from", "sub", &err), WEIR_EEXIST);
    assert_int_equal(rename_new(st, "from", "sub/b", &err), WEIR_EEXIST);
    assert_int_equal(rename_new(st, "sub/b", "from", &err), WEIR_EEXIST);
    assert_int_equal(rename_new(st, "from", "from/in", &err), WEIR_EINVAL);
    check_text(st, "from/x", "three");
    assert_int_equal(rename_new(st, "from", "sub/to", NULL), 0);
    check_text(st, "sub/to/x", "three");
    assert_int_equal(st->ops->stat(st, "from", &sb, NULL), WEIR_ENOENT);
}

/* The file systems of tests can do it, all but some network ones. */
void folders_that_swap(void **state)
{
    struct wr_store *st = ((struct place *)*state)->st;
    weir_err err;

    assert_int_equal(st->ops->change(st, WR_MKDIR, "x", NULL, NULL), 0);
    assert_int_equal(st->ops->change(st, WR_MKDIR, "sub/y", NULL, NULL), 0);
    put(st, "x/in", "one");
    put(st, "sub/y/in", "two");
    assert_int_equal(st->ops->change(st, WR_SWAP, "x", "sub/y", NULL), 0);
    check_text(st, "x/in", "two");
    check_text(st, "sub/y/in", "one");
    assert_int_equal(st->ops->change(st, WR_SWAP, "x", "gone", &err),
                     WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "'x': cannot swap with 'gone'"));
    assert_int_equal(st->ops->change(st, WR_SWAP, "gone", "x", NULL),
                     WEIR_ENOENT);
    assert_int_equal(st->ops->change(st, WR_SWAP, "x", "sub/y/in", NULL),
                     WEIR_ENOTSUP);
    check_text(st, "x/in", "two");
}

/* In a process of its own: takes the lock and tells what came of it, then
 * waits for its end. */
static pid_t try_lock(const struct place *pl, int *ret)
{
    int pipe_fd[2], r;
    pid_t pid;

    assert_int_equal(pipe(pipe_fd), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct wr_store *st = open_store(pl, "", &(char *){NULL});
        struct wr_object *o;

        r = st->ops->object_open(st, "lock", WR_OPEN_WRITE, &o, NULL);
        if (r == 0)
            r = o->ops->lock(o, NULL);
        if (write(pipe_fd[1], &r, sizeof(r)) != sizeof(r))
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(pipe_fd[0], ret, sizeof(*ret)), sizeof(*ret));
    close(pipe_fd[0]);
    close(pipe_fd[1]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

void locks_have_one_holder(void **state)
{
    const struct place *pl = *state;
    struct wr_store *st = pl->st;
    struct wr_object *o, *other;
    weir_err err;
    pid_t pid;
    int r;

    put(st, "lock", "");
    assert_int_equal(st->ops->object_open(st, "lock", WR_OPEN_WRITE, &o, NULL),
                     0);
    assert_int_equal(
        st->ops->object_open(st, "lock", WR_OPEN_WRITE, &other, NULL), 0);
    assert_int_equal(o->ops->lock(o, NULL), 0);
    assert_int_equal(o->ops->lock(o, NULL), 0); /* it has it */
    assert_int_equal(other->ops->lock(other, &err), WEIR_EBUSY);
    assert_non_null(strstr(err.msg, "'lock': locked by another process"));
    end(try_lock(pl, &r));
    assert_int_equal(r, WEIR_EBUSY);
    /* Closing another open of it gives nothing up. */
    assert_int_equal(other->ops->close(other, /* sync= */ false, NULL), 0);
    end(try_lock(pl, &r));
    assert_int_equal(r, WEIR_EBUSY);
    assert_int_equal(o->ops->close(o, /* sync= */ false, NULL), 0);

    pid = try_lock(pl, &r);
    assert_int_equal(r, 0);
    assert_int_equal(st->ops->object_open(st, "lock", WR_OPEN_WRITE, &o, NULL),
                     0);
    assert_int_equal(o->ops->lock(o, NULL), WEIR_EBUSY);
    end(pid); /* and so does its lock */
    assert_int_equal(o->ops->lock(o, NULL), 0);
    assert_int_equal(o->ops->close(o, /* sync= */ false, NULL), 0);
}

void stores_in_memory_forget(void **state)
{
    const struct place *pl = *state;
    char shm[] = "/dev/shm/weir-test-XXXXXX", url[300];
    struct wr_store *st;
    struct statfs sf;
    weir_err err;

    assert_int_equal(statfs(pl->dir, &sf), 0);
    assert_int_equal(pl->st->ops->forgets(pl->st),
                     sf.f_type == TMPFS_MAGIC || sf.f_type == RAMFS_MAGIC);
    if (statfs("/dev/shm", &sf) < 0 || sf.f_type != TMPFS_MAGIC ||
        !mkdtemp(shm))
        return;
    snprintf(url, sizeof(url), "%s%s", pl->be->prefix, shm);
    if (wr_store_open_own(url, &st, &err) < 0)
        fail_msg("%s", err.msg);
    rmdir(shm);
    assert_true(st->ops->forgets(st));
    wr_store_close(st);
}
