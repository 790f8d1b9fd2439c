/* storage_own.c - own stores: no link is followed, whatever is put there.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Beside the store lies a canary: a folder that links in the store lead to and
 * that must stay as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "storage_place.h"

#define CANARY "outside"

struct canary {
    char dir[300];
    struct stat was[3];
};

static const char *const canary_parts[] = {"", "/f", "/d"};

/* "DIR/NAME", good until the next call but one. */
static const char *in(const char *dir, const char *name)
{
    static char paths[2][600];
    static unsigned next;
    char *path = paths[next++ % 2];

    snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
    return path;
}

static void put_text(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, CANARY, strlen(CANARY)), strlen(CANARY));
    close(fd);
}

static void canary_make(struct canary *c, const struct place *pl)
{
    snprintf(c->dir, sizeof(c->dir), "%s-canary", pl->dir);
    assert_int_equal(mkdir(c->dir, 0777), 0);
    assert_int_equal(mkdir(in(c->dir, "d"), 0777), 0);
    put_text(in(c->dir, "f"));
    put_text(in(c->dir, "d/g"));
}

static void canary_note(struct canary *c)
{
    for (unsigned i = 0; i < WR_ARRAY_LEN(canary_parts); i++)
        assert_int_equal(stat(in(c->dir, canary_parts[i]), &c->was[i]), 0);
}

static void check_canary_text(const char *path)
{
    char text[64] = "";
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(read(fd, text, sizeof(text) - 1), strlen(CANARY));
    assert_string_equal(text, CANARY);
    close(fd);
}

/* Nothing was added to it, taken from it or written into it. */
static void canary_check(struct canary *c)
{
    for (unsigned i = 0; i < WR_ARRAY_LEN(canary_parts); i++) {
        struct stat is;

        assert_int_equal(stat(in(c->dir, canary_parts[i]), &is), 0);
        assert_int_equal(is.st_mtim.tv_sec, c->was[i].st_mtim.tv_sec);
        assert_int_equal(is.st_mtim.tv_nsec, c->was[i].st_mtim.tv_nsec);
    }
    check_canary_text(in(c->dir, "f"));
    check_canary_text(in(c->dir, "d/g"));
}

static void canary_remove(struct canary *c)
{
    assert_int_equal(unlink(in(c->dir, "f")), 0);
    assert_int_equal(unlink(in(c->dir, "d/g")), 0);
    assert_int_equal(rmdir(in(c->dir, "d")), 0);
    assert_int_equal(rmdir(c->dir), 0);
}

static int open_close(struct wr_store *st, const char *path,
                      enum wr_open_mode mode, weir_err *err)
{
    struct wr_object *o;
    int r = st->ops->object_open(st, path, mode, &o, err);

    return r < 0 ? r : o->ops->close(o, /* sync= */ false, err);
}

static int none(void *arg, const struct wr_entry *e)
{
    (void)arg;
    (void)e;
    return 0;
}

/* `path` goes through a link; with `last` it is one. */
static void refuses(struct wr_store *st, const char *path, bool last)
{
    int (*change)(struct wr_store *, enum wr_change, const char *, const char *,
                  weir_err *) = st->ops->change;
    struct wr_stat sb;
    weir_err err;

    for (int mode = WR_OPEN_READ; mode <= WR_OPEN_WRITE; mode++) {
        int r = open_close(st, path, (enum wr_open_mode)mode, &err);

        if (mode == WR_OPEN_CREATE && last) {
            assert_int_equal(r, WEIR_EEXIST);
            continue;
        }
        assert_int_equal(r, WEIR_EACCES);
        assert_non_null(strstr(err.msg, path));
        assert_non_null(strstr(err.msg, "a symbolic link is in the way"));
    }
    assert_int_equal(st->ops->list(st, path, none, NULL, &err), WEIR_EACCES);
    assert_int_equal(change(st, WR_SYNC_DIR, path, NULL, &err), WEIR_EACCES);
    if (last) {
        assert_int_equal(st->ops->stat(st, path, &sb, NULL), 0);
        assert_int_equal(sb.kind, WR_KIND_OTHER);
        assert_int_equal(change(st, WR_MKDIR, path, NULL, &err), WEIR_EEXIST);
        assert_int_equal(change(st, WR_RENAME_NEW, "sub", path, &err),
                         WEIR_EEXIST);
        return;
    }
    assert_int_equal(st->ops->stat(st, path, &sb, &err), WEIR_EACCES);
    assert_int_equal(change(st, WR_MKDIR, path, NULL, &err), WEIR_EACCES);
    assert_int_equal(change(st, WR_REMOVE, path, NULL, &err), WEIR_EACCES);
    assert_int_equal(change(st, WR_RENAME, path, "x", &err), WEIR_EACCES);
    assert_int_equal(change(st, WR_RENAME, "sub", path, &err), WEIR_EACCES);
    assert_int_equal(change(st, WR_RENAME_NEW, path, "x", &err), WEIR_EACCES);
    assert_int_equal(change(st, WR_RENAME_NEW, "sub", path, &err), WEIR_EACCES);
}

static void refuses_to_read(const struct place *pl, const char *path,
                            int os_errno)
{
    struct wr_queue *q = open_queue(pl, 2);
    struct wr_io io = {.path = path, .len = 4}, *p = &io;

    io.cap = wr_read_cap(io.len, pl->be->direct);
    assert_int_equal(posix_memalign(&io.buf, WR_DIRECT_ALIGN, io.cap), 0);
    assert_int_equal(q->ops->submit(q, &p, 1), 1);
    assert_int_equal(q->ops->reap(q, &p, 1, /* wait= */ true), 1);
    assert_true(io.result < 0);
    assert_int_equal(io.step, WR_STEP_OPEN);
    assert_int_equal(io.os_errno, os_errno);
    q->ops->close(q);
    free(io.buf);
}

static void plant(const struct place *pl, const struct canary *c,
                  const char *where)
{
    char dir[300];

    snprintf(dir, sizeof(dir), "%s/%s", pl->dir, where);
    assert_int_equal(symlink(in(c->dir, "f"), in(dir, "to-file")), 0);
    assert_int_equal(symlink(in(c->dir, "d"), in(dir, "to-folder")), 0);
    assert_int_equal(symlink(in(c->dir, "n"), in(dir, "to-nothing")), 0);
}

static int is_other(void *arg, const struct wr_entry *e)
{
    *(unsigned *)arg += !strncmp(e->name, "to-", 3);
    return !strncmp(e->name, "to-", 3) && e->kind != WR_KIND_OTHER;
}

void links_are_not_followed(void **state)
{
    static const char *const levels[] = {"", "sub/", "sub/deep/"};
    static const char *const ends[] = {"to-file", "to-folder", "to-nothing"};
    const struct place *pl = *state;
    struct wr_store *st = pl->st;
    struct canary c;
    char path[100];

    canary_make(&c, pl);
    assert_int_equal(mkdir(in(pl->dir, "sub/deep"), 0777), 0);
    for (unsigned i = 0; i < WR_ARRAY_LEN(levels); i++)
        plant(pl, &c, levels[i]);
    canary_note(&c);
    for (unsigned i = 0; i < WR_ARRAY_LEN(levels); i++) {
        unsigned seen = 0;

        for (unsigned k = 0; k < WR_ARRAY_LEN(ends); k++) {
            snprintf(path, sizeof(path), "%s%s", levels[i], ends[k]);
            refuses(st, path, /* last= */ true);
            refuses_to_read(pl, path, ELOOP);
        }
        snprintf(path, sizeof(path), "%sto-folder/g", levels[i]);
        refuses(st, path, /* last= */ false);
        refuses_to_read(pl, path, ELOOP);
        snprintf(path, sizeof(path), "%sto-folder/n/m", levels[i]);
        refuses(st, path, /* last= */ false);
        path[strlen(levels[i])] = '\0';
        assert_int_equal(st->ops->list(st, path, is_other, &seen, NULL), 0);
        assert_int_equal(seen, 3);
    }
    /* What works on a name works on the link itself. */
    assert_int_equal(
        st->ops->change(st, WR_RENAME, "sub/f001.bin", "to-file", NULL), 0);
    assert_int_equal(
        st->ops->change(st, WR_RENAME, "to-folder", "sub/moved", NULL), 0);
    assert_int_equal(st->ops->change(st, WR_REMOVE, "sub/moved", NULL, NULL),
                     0);
    canary_check(&c);
    canary_remove(&c);
}

void paths_stay_below(void **state)
{
    static const char *const bad[] = {"..",         "../x",        "sub/../..",
                                      "sub/../sub", "/etc/passwd", "sub//../x"};
    const struct place *pl = *state;
    struct wr_store *st = pl->st;
    struct wr_stat sb;
    weir_err err;

    for (unsigned i = 0; i < WR_ARRAY_LEN(bad); i++) {
        assert_int_equal(st->ops->stat(st, bad[i], &sb, &err), WEIR_EINVAL);
        assert_int_equal(open_close(st, bad[i], WR_OPEN_READ, &err),
                         WEIR_EINVAL);
        assert_int_equal(st->ops->list(st, bad[i], none, NULL, &err),
                         WEIR_EINVAL);
        assert_int_equal(st->ops->change(st, WR_MKDIR, bad[i], NULL, &err),
                         WEIR_EINVAL);
        assert_int_equal(st->ops->change(st, WR_RENAME, "sub", bad[i], &err),
                         WEIR_EINVAL);
        refuses_to_read(pl, bad[i], EINVAL);
    }
}

void strange_files_are_not_opened(void **state)
{
    const struct place *pl = *state;
    struct wr_store *st = pl->st;
    struct canary c;
    weir_err err;

    canary_make(&c, pl);
    canary_note(&c);
    assert_int_equal(link(in(c.dir, "f"), in(pl->dir, "hard")), 0);
    assert_int_equal(mkfifo(in(pl->dir, "pipe"), 0666), 0);
    assert_int_equal(open_close(st, "hard", WR_OPEN_WRITE, &err), WEIR_EACCES);
    assert_non_null(strstr(err.msg, "'hard': cannot open: the file has other"));
    assert_int_equal(open_close(st, "hard", WR_OPEN_READ, NULL), 0);
    assert_int_equal(open_close(st, "pipe", WR_OPEN_WRITE, &err), WEIR_EACCES);
    assert_non_null(strstr(err.msg, "'pipe': cannot open: not a regular file"));
    assert_int_equal(open_close(st, "pipe", WR_OPEN_READ, &err), WEIR_EACCES);
    refuses_to_read(pl, "pipe", ENXIO);
    assert_int_equal(open_close(st, "sub", WR_OPEN_READ, &err), WEIR_EIO);
    canary_check(&c);
    canary_remove(&c);
}

void a_root_may_be_behind_links(void **state)
{
    const struct place *pl = *state;
    struct wr_store *st;
    char url[600], link[300];
    struct wr_stat sb;
    weir_err err;

    snprintf(link, sizeof(link), "%s-link", pl->dir);
    snprintf(url, sizeof(url), "%s%s", pl->be->prefix, link);
    assert_int_equal(symlink(pl->dir, link), 0);
    assert_int_equal(wr_store_open_own(url, &st, NULL), 0);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("/", link), 0); /* followed once */
    assert_int_equal(st->ops->stat(st, "sub/f001.bin", &sb, NULL), 0);
    wr_store_close(st);
    assert_int_equal(unlink(link), 0);
    snprintf(url, sizeof(url), "%s%s/sub/f001.bin", pl->be->prefix, pl->dir);
    assert_int_equal(wr_store_open_own(url, &st, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "not a folder"));
}

/* --- a folder that becomes a link, and a folder again --- */

struct swapper {
    const struct place *pl;
    atomic_bool stop, cannot;
};

static void *swap(void *arg)
{
    struct swapper *s = arg;
    char a[300], b[300];

    snprintf(a, sizeof(a), "%s/swap", s->pl->dir);
    snprintf(b, sizeof(b), "%s/other", s->pl->dir);
    while (!s->stop)
        if (renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) < 0)
            s->cannot = s->stop = true;
    return NULL;
}

/* Writes through the object and a queue, which opens it once more. */
static int write_there(const struct place *pl, struct wr_queue *q, void *buf)
{
    struct wr_store *st = pl->st;
    struct wr_io io = {.op = WR_IO_WRITE, .buf = buf}, *p = &io;
    weir_err err;
    int r;

    r = st->ops->object_open(st, "swap/g", WR_OPEN_WRITE, &io.object, &err);
    if (r < 0)
        return r;
    io.len = io.cap = WR_DIRECT_ALIGN;
    assert_int_equal(io.object->ops->write(io.object, "mine", 4, 0, NULL), 0);
    assert_int_equal(q->ops->submit(q, &p, 1), 1);
    assert_int_equal(q->ops->reap(q, &p, 1, /* wait= */ true), 1);
    assert_int_equal(io.result, 0);
    return io.object->ops->close(io.object, /* sync= */ false, NULL);
}

static int change_there(struct wr_store *st, unsigned round, weir_err *err)
{
    switch (round % 8) {
    case 0:
        return open_close(st, "swap/new", WR_OPEN_CREATE, err);
    case 1:
        return st->ops->change(st, WR_REMOVE, "swap/new", NULL, err);
    case 2:
        return st->ops->change(st, WR_MKDIR, "swap/dir", NULL, err);
    case 3:
        return st->ops->change(st, WR_RENAME, "swap/dir", "sub/dir", err);
    case 4:
        return st->ops->change(st, WR_RENAME_NEW, "sub/dir", "swap/dir", err);
    case 5:
        return st->ops->change(st, WR_REMOVE, "swap/dir", NULL, err);
    case 6:
        return st->ops->change(st, WR_RENAME, "sub/f001.bin", "swap/g", err);
    default:
        return st->ops->change(st, WR_RENAME, "swap/g", "sub/f001.bin", err);
    }
}

/* What happens in each round depends on when the link is there; enough of both
 * is waited for, else the test would say nothing. */
void folders_that_become_links(void **state)
{
    const struct place *pl = *state;
    struct swapper s = {.pl = pl};
    unsigned done = 0, refused = 0;
    struct wr_queue *q;
    struct canary c;
    pthread_t thread;
    void *buf = NULL;

    canary_make(&c, pl);
    assert_int_equal(mkdir(in(pl->dir, "swap"), 0777), 0);
    assert_int_equal(symlink(in(c.dir, "d"), in(pl->dir, "other")), 0);
    put_text(in(pl->dir, "swap/g"));
    canary_note(&c);
    q = open_queue(pl, 1);
    assert_int_equal(posix_memalign(&buf, WR_DIRECT_ALIGN, WR_DIRECT_ALIGN), 0);
    memset(buf, 'm', WR_DIRECT_ALIGN);
    assert_int_equal(pthread_create(&thread, NULL, swap, &s), 0);
    for (unsigned i = 0; (done < 300 || refused < 300) && !s.stop; i++) {
        int r = i % 2 ? write_there(pl, q, buf)
                      : change_there(pl->st, i / 2, NULL);

        done += r == 0;
        refused += r == WEIR_EACCES;
        assert_true(r == 0 || r == WEIR_EACCES || r == WEIR_ENOENT ||
                    r == WEIR_EEXIST);
    }
    s.stop = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    q->ops->close(q);
    free(buf);
    canary_check(&c);
    canary_remove(&c);
    if (s.cannot)
        skip(); /* this file system cannot exchange names */
}
