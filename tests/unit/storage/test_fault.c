/* test_fault.c - each rule of the fault store, and each way to say when.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "storage/fault.h"
#include "storage/storage.h"

#define SIZE 100

static char dir[256];

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");
    char path[300], bytes[SIZE];
    FILE *f;

    (void)state;
    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir))
        return -1;
    memset(bytes, 'a', sizeof(bytes));
    for (const char *name = "abc"; *name; name++) {
        snprintf(path, sizeof(path), "%s/%c.bin", dir, *name);
        f = fopen(path, "wb");
        if (!f || fwrite(bytes, 1, SIZE, f) != SIZE || fclose(f))
            return -1;
    }
    return 0;
}

static int teardown(void **state)
{
    char path[300];

    (void)state;
    for (const char *name = "abc"; *name; name++) {
        snprintf(path, sizeof(path), "%s/%c.bin", dir, *name);
        unlink(path);
    }
    return rmdir(dir);
}

static struct wr_store *open_store(const char *rules)
{
    struct wr_store *st = NULL;
    char url[600], *leaf = NULL;
    weir_err err;

    snprintf(url, sizeof(url), "fault:%s:%s", rules, dir);
    if (wr_store_open(url, &st, &leaf, &err) < 0)
        fail_msg("%s", err.msg);
    return st;
}

/* A store, a queue of depth 1 and a read at a time. */
struct fault {
    struct wr_store *st;
    struct wr_queue *q;
    struct wr_io rd;
    uint8_t buf[SIZE + 1];
};

static void fault_init(struct fault *f, const char *rules)
{
    struct wr_queue_config cfg = {.depth = 1, .io = WEIR_IO_BLOCKING};

    f->st = open_store(rules);
    assert_int_equal(f->st->ops->queue_open(f->st, &cfg, &f->q, NULL), 0);
}

static void fault_done(struct fault *f)
{
    f->q->ops->close(f->q);
    wr_store_close(f->st);
}

static int read_one(struct fault *f, const char *path)
{
    struct wr_io *rd = &f->rd, *back;

    f->rd = (struct wr_io){.path = path,
                           .len = SIZE,
                           .buf = f->buf,
                           .cap = sizeof(f->buf),
                           .whole = true};
    assert_int_equal(f->q->ops->submit(f->q, &rd, 1), 1);
    assert_int_equal(f->q->ops->reap(f->q, &back, 1, /* wait= */ true), 1);
    assert_ptr_equal(back, &f->rd);
    return f->rd.result;
}

static void errors(void **state)
{
    static const struct {
        const char *rule;
        int code;
        const char *text;
    } table[] = {
        {"eio", WEIR_EIO,
         "'x': cannot read 100 bytes at offset 0: Input/output error"},
        {"enoent", WEIR_ENOENT, "'x': cannot open: No such file or directory"},
        {"eacces", WEIR_EACCES, "'x': cannot open: Permission denied"},
        {"emfile", WEIR_EMFILE, "'x': cannot open: Too many open files ("},
        {"enomem", WEIR_ENOMEM, "'x': cannot open: Cannot allocate memory"},
    };

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(table); i++) {
        struct fault f;
        weir_err err;

        fault_init(&f, table[i].rule);
        assert_int_equal(read_one(&f, "a.bin"), table[i].code);
        assert_int_equal(f.rd.got, 0);
        assert_int_equal(wr_io_error(&f.rd, "x", &err), table[i].code);
        assert_memory_equal(err.msg, table[i].text, strlen(table[i].text));
        fault_done(&f);
    }
}

static void short_reads(void **state)
{
    struct fault f;

    (void)state;
    fault_init(&f, "short");
    assert_int_equal(read_one(&f, "a.bin"), WEIR_ECHANGED);
    assert_int_equal(f.rd.got, SIZE / 2);
    fault_done(&f);
    fault_init(&f, "short=7");
    assert_int_equal(read_one(&f, "a.bin"), WEIR_ECHANGED);
    assert_int_equal(f.rd.got, 7);
    fault_done(&f);
    fault_init(&f, "short=1000"); /* more than there is: nothing to cut */
    assert_int_equal(read_one(&f, "a.bin"), 0);
    fault_done(&f);
}

static unsigned count_wrong(const struct fault *f, size_t *ret_at)
{
    unsigned n = 0;

    for (size_t i = 0; i < SIZE; i++)
        if (f->rd.data[i] != 'a') {
            *ret_at = i;
            n++;
        }
    return n;
}

static void flipped_bits(void **state)
{
    struct fault f;
    size_t at = 0;

    (void)state;
    fault_init(&f, "flip");
    assert_int_equal(read_one(&f, "a.bin"), 0);
    assert_int_equal(count_wrong(&f, &at), 1);
    assert_int_equal(at, SIZE / 2);
    fault_done(&f);
    fault_init(&f, "flip=3");
    assert_int_equal(read_one(&f, "a.bin"), 0);
    assert_int_equal(count_wrong(&f, &at), 1);
    assert_int_equal(at, 3);
    fault_done(&f);
}

static void delays(void **state)
{
    struct fault f;
    uint64_t start;

    (void)state;
    fault_init(&f, "delay=30@2");
    assert_int_equal(read_one(&f, "a.bin"), 0);
    start = wr_clock_ns();
    assert_int_equal(read_one(&f, "a.bin"), 0);
    assert_true(wr_clock_ns() - start >= 30 * WR_NS_PER_MS);
    fault_done(&f);
    fault_init(&f, "delay=30,eio"); /* an error takes its time as well */
    start = wr_clock_ns();
    assert_int_equal(read_one(&f, "a.bin"), WEIR_EIO);
    assert_true(wr_clock_ns() - start >= 30 * WR_NS_PER_MS);
    fault_done(&f);
}

/* What is late does not hold up what is not. */
static void late_reads_are_overtaken(void **state)
{
    struct wr_queue_config cfg = {.depth = 2};
    struct wr_store *st = open_store("delay=300@1");
    uint8_t bufs[2][SIZE + 1];
    struct wr_io rds[2], *back;
    struct wr_queue *q;

    (void)state;
    assert_int_equal(st->ops->queue_open(st, &cfg, &q, NULL), 0);
    for (int i = 0; i < 2; i++) {
        struct wr_io *rd = &rds[i];

        *rd = (struct wr_io){
            .path = "a.bin", .len = SIZE, .buf = bufs[i], .cap = SIZE + 1};
        assert_int_equal(q->ops->submit(q, &rd, 1), 1);
    }
    assert_int_equal(q->ops->reap(q, &back, 1, /* wait= */ true), 1);
    assert_ptr_equal(back, &rds[1]);
    assert_int_equal(q->ops->reap(q, &back, 1, /* wait= */ true), 1);
    assert_ptr_equal(back, &rds[0]);
    q->ops->close(q);
    wr_store_close(st);
}

static void when(void **state)
{
    static const struct {
        const char *rules;
        const char *pattern; /* of reads 1 to 9 of a, b, c, a, b, c, ... */
    } table[] = {
        {"eio", "xxxxxxxxx"},     {"eio@3", "..x......"},
        {"eio@4+", "...xxxxxx"},  {"eio@%3", "..x..x..x"},
        {"eio@~b.", ".x..x..x."}, {"eio@~", "xxxxxxxxx"},
        {"eio@~z", "........."},  {"eio@1,eio@~c", "x.x..x..x"},
        {"", "........."},        {"eio@9,eio@2", ".x......x"},
    };
    static const char *const paths[] = {"a.bin", "b.bin", "c.bin"};

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(table); i++) {
        struct fault f;
        char got[10] = {0};

        fault_init(&f, table[i].rules);
        for (unsigned k = 0; k < 9; k++)
            got[k] = read_one(&f, paths[k % 3]) ? 'x' : '.';
        assert_string_equal(got, table[i].pattern);
        fault_done(&f);
    }
}

/* Rules hold for reads of open objects, too. */
static void open_objects(void **state)
{
    struct wr_store *st = open_store("eio@2,flip@3,short=4@4");
    struct wr_object *o;
    char buf[SIZE];
    weir_err err;

    (void)state;
    assert_int_equal(st->ops->object_open(st, "a.bin", WR_OPEN_READ, &o, NULL),
                     0);
    assert_int_equal(o->ops->read(o, buf, SIZE, 0, NULL), SIZE);
    assert_int_equal(o->ops->read(o, buf, SIZE, 0, &err), WEIR_EIO);
    assert_non_null(strstr(err.msg, "a.bin"));
    assert_int_equal(o->ops->read(o, buf, SIZE, 0, NULL), SIZE);
    assert_int_not_equal(buf[SIZE / 2], 'a');
    assert_int_equal(o->ops->read(o, buf, SIZE, 0, NULL), 4);
    o->ops->close(o, /* sync= */ false, NULL);
    wr_store_close(st);
}

/* --- writes: into w.bin, 100 zeros, made anew each time --- */

struct writing {
    struct fault f;
    struct wr_object *o;
};

static void writing_init(struct writing *w, const char *rules)
{
    fault_init(&w->f, rules);
    assert_int_equal(w->f.st->ops->object_open(w->f.st, "w.bin", WR_OPEN_CREATE,
                                               &w->o, NULL),
                     0);
    assert_int_equal(w->o->ops->resize(w->o, SIZE, NULL), 0);
}

static void writing_done(struct writing *w)
{
    struct wr_store *st = w->f.st;

    w->o->ops->close(w->o, /* sync= */ false, NULL);
    assert_int_equal(st->ops->change(st, WR_REMOVE, "w.bin", NULL, NULL), 0);
    fault_done(&w->f);
}

static int write_one(struct writing *w)
{
    struct fault *f = &w->f;
    struct wr_io *io = &f->rd, *back;

    memset(f->buf, 'w', SIZE);
    f->rd = (struct wr_io){.op = WR_IO_WRITE,
                           .object = w->o,
                           .len = SIZE,
                           .buf = f->buf,
                           .cap = SIZE};
    assert_int_equal(f->q->ops->submit(f->q, &io, 1), 1);
    assert_int_equal(f->q->ops->reap(f->q, &back, 1, /* wait= */ true), 1);
    assert_ptr_equal(back, io);
    assert_int_equal(io->len, SIZE);
    assert_ptr_equal(io->object, w->o);
    return io->result;
}

/* How many bytes of the file are written. */
static unsigned count_written(struct writing *w)
{
    char bytes[SIZE];
    unsigned n = 0;

    assert_int_equal(w->o->ops->read(w->o, bytes, SIZE, 0, NULL), SIZE);
    while (n < SIZE && bytes[n] == 'w')
        n++;
    for (unsigned i = n; i < SIZE; i++)
        assert_int_equal(bytes[i], 0);
    return n;
}

static void failing_writes(void **state)
{
    static const struct {
        const char *rule;
        int code;
        unsigned written;
        const char *why;
    } table[] = {
        {"", 0, SIZE, NULL},
        {"eio@1,write-eio@2", 0, SIZE, NULL}, /* not this one */
        {"write-eio", WEIR_EIO, 0, "Input/output error"},
        {"write-enospc", WEIR_ENOSPC, 0, "No space left on device"},
        {"write-short", WEIR_EIO, SIZE / 2, "Input/output error"},
        {"write-short=7", WEIR_EIO, 7, "Input/output error"},
        {"write-short=0", WEIR_EIO, 0, "Input/output error"},
        {"write-short=100", 0, SIZE, NULL},
        {"write-short,write-enospc", WEIR_ENOSPC, 0, "No space"},
        {"write-eio@~w.b", WEIR_EIO, 0, "Input/output error"},
        {"write-eio@~z", 0, SIZE, NULL},
    };

    (void)state;
    for (size_t i = 0; i < 2 * WR_ARRAY_LEN(table); i++) {
        size_t k = i / 2;
        char bytes[SIZE];
        struct writing w;
        weir_err err = {0};
        int r;

        writing_init(&w, table[k].rule);
        if (i % 2) { /* through the object */
            memset(bytes, 'w', SIZE);
            r = w.o->ops->write(w.o, bytes, SIZE, 0, &err);
        } else {
            r = write_one(&w);
            assert_int_equal(w.f.rd.got, table[k].written);
            assert_int_equal(w.f.rd.step, WR_STEP_WRITE);
            if (r)
                wr_io_error(&w.f.rd, "w.bin", &err);
        }
        assert_int_equal(r, table[k].code);
        if (r) {
            assert_non_null(strstr(err.msg, "'w.bin': cannot write"));
            assert_non_null(strstr(err.msg, table[k].why));
        }
        if (!strncmp(table[k].rule, "eio", 3)) /* the first read fails */
            assert_int_equal(w.o->ops->read(w.o, bytes, 1, 0, NULL), WEIR_EIO);
        assert_int_equal(count_written(&w), table[k].written);
        writing_done(&w);
    }
}

/* Reads, writes and syncs are counted apart. */
static void writes_are_counted_by_themselves(void **state)
{
    struct writing w;

    (void)state;
    writing_init(&w, "write-eio@2,eio@3,sync-eio@2");
    assert_int_equal(read_one(&w.f, "a.bin"), 0);
    assert_int_equal(write_one(&w), 0);
    assert_int_equal(w.o->ops->sync(w.o, NULL), 0);
    assert_int_equal(read_one(&w.f, "a.bin"), 0);
    assert_int_equal(write_one(&w), WEIR_EIO);
    assert_int_equal(w.o->ops->sync(w.o, NULL), WEIR_EIO);
    assert_int_equal(read_one(&w.f, "a.bin"), WEIR_EIO);
    assert_int_equal(write_one(&w), 0);
    assert_int_equal(w.o->ops->sync(w.o, NULL), 0);
    writing_done(&w);
}

static void late_writes(void **state)
{
    struct writing w;
    uint64_t start;

    (void)state;
    writing_init(&w, "write-delay=30");
    start = wr_clock_ns();
    assert_int_equal(write_one(&w), 0);
    assert_true(wr_clock_ns() - start >= 30 * WR_NS_PER_MS);
    start = wr_clock_ns();
    assert_int_equal(w.o->ops->write(w.o, "x", 1, 0, NULL), 0);
    assert_true(wr_clock_ns() - start >= 30 * WR_NS_PER_MS);
    writing_done(&w);
}

static void failing_syncs(void **state)
{
    struct wr_object *o;
    struct writing w;
    weir_err err;

    (void)state;
    writing_init(&w, "sync-eio");
    assert_int_equal(w.o->ops->sync(w.o, &err), WEIR_EIO);
    assert_string_equal(err.msg, "'w.bin': cannot sync: Input/output error");
    assert_int_equal(
        w.f.st->ops->object_open(w.f.st, "w.bin", WR_OPEN_WRITE, &o, NULL), 0);
    assert_int_equal(o->ops->close(o, /* sync= */ true, &err), WEIR_EIO);
    assert_non_null(strstr(err.msg, "'w.bin': cannot sync"));
    writing_done(&w);
}

/* The file has the wrong bit, the caller's memory not. */
static void flipped_writes(void **state)
{
    char bytes[SIZE];
    struct writing w;

    (void)state;
    writing_init(&w, "write-flip=7@1,write-flip@2");
    for (unsigned i = 0; i < 2; i++) {
        unsigned at = i ? SIZE / 2 : 7;

        if (i) {
            memset(bytes, 'w', SIZE);
            assert_int_equal(w.o->ops->write(w.o, bytes, SIZE, 0, NULL), 0);
        } else {
            assert_int_equal(write_one(&w), 0);
            assert_ptr_equal(w.f.rd.buf, w.f.buf);
            memcpy(bytes, w.f.buf, SIZE);
        }
        for (unsigned k = 0; k < SIZE; k++)
            assert_int_equal(bytes[k], 'w');
        assert_int_equal(w.o->ops->read(w.o, bytes, SIZE, 0, NULL), SIZE);
        assert_int_equal(bytes[at], 'w' ^ 0x40);
        bytes[at] = 'w';
        for (unsigned k = 0; k < SIZE; k++)
            assert_int_equal(bytes[k], 'w');
    }
    writing_done(&w);
}

/* --- all else that is done with files and names --- */

static int none(void *arg, const struct wr_entry *e)
{
    (void)arg;
    (void)e;
    return 0;
}

static int with_object(struct wr_store *st, enum wr_fault_on on, weir_err *err)
{
    struct wr_object *o;
    int r;

    if (on == WR_FAULT_CREATE || on == WR_FAULT_OPEN) {
        r = st->ops->object_open(
            st, on == WR_FAULT_OPEN ? "a.bin" : "new",
            on == WR_FAULT_OPEN ? WR_OPEN_WRITE : WR_OPEN_CREATE, &o, err);
        if (r == 0)
            o->ops->close(o, /* sync= */ false, NULL);
        return r;
    }
    assert_int_equal(st->ops->object_open(st, "b.bin", WR_OPEN_WRITE, &o, NULL),
                     0);
    if (on == WR_FAULT_CLOSE)
        return o->ops->close(o, /* sync= */ false, err);
    r = on == WR_FAULT_SYNC     ? o->ops->sync(o, err)
        : on == WR_FAULT_RESIZE ? o->ops->resize(o, SIZE + 1, err)
                                : o->ops->lock(o, err);
    o->ops->close(o, /* sync= */ false, NULL);
    return r;
}

/* One request of a kind. */
static int request(struct wr_store *st, enum wr_fault_on on, weir_err *err)
{
    struct wr_stat sb;

    switch (on) {
    case WR_FAULT_STAT:
        return st->ops->stat(st, "a.bin", &sb, err);
    case WR_FAULT_LIST:
        return st->ops->list(st, "", none, NULL, err);
    case WR_FAULT_MKDIR:
        return st->ops->change(st, WR_MKDIR, "d", NULL, err);
    case WR_FAULT_REMOVE:
        return st->ops->change(st, WR_REMOVE, "c.bin", NULL, err);
    case WR_FAULT_RENAME:
        return st->ops->change(st, WR_RENAME_NEW, "b.bin", "x.bin", err);
    case WR_FAULT_SYNC_DIR:
        return st->ops->change(st, WR_SYNC_DIR, "", NULL, err);
    default:
        return with_object(st, on, err);
    }
}

static bool is_there(const char *name)
{
    char path[300];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

/* What the requests changed is made as it was. */
static void restore(void)
{
    struct wr_store *st = open_store("");
    struct wr_object *o;

    if (is_there("x.bin"))
        st->ops->change(st, WR_RENAME, "x.bin", "b.bin", NULL);
    st->ops->change(st, WR_REMOVE, "d", NULL, NULL);
    st->ops->change(st, WR_REMOVE, "new", NULL, NULL);
    if (st->ops->object_open(st, "c.bin", WR_OPEN_CREATE, &o, NULL) == 0)
        o->ops->close(o, /* sync= */ false, NULL);
    assert_int_equal(st->ops->object_open(st, "b.bin", WR_OPEN_WRITE, &o, NULL),
                     0);
    assert_int_equal(o->ops->resize(o, SIZE, NULL), 0);
    o->ops->close(o, /* sync= */ false, NULL);
    wr_store_close(st);
}

/* Each rule fails its own kind of request and no other, and the request is then
 * not done, the late ones apart. */
static void failing_requests(void **state)
{
    static const struct {
        const char *rule;
        enum wr_fault_on on;
        int code;
        const char *text;
    } table[] = {
        {"open-eio@~a.bin", WR_FAULT_OPEN, WEIR_EIO, "'a.bin': cannot open"},
        {"create-eio", WR_FAULT_CREATE, WEIR_EIO, "'new': cannot create"},
        {"create-enospc", WR_FAULT_CREATE, WEIR_ENOSPC, "'new': cannot create"},
        {"sync-eio", WR_FAULT_SYNC, WEIR_EIO, "'b.bin': cannot sync"},
        {"sync-enospc", WR_FAULT_SYNC, WEIR_ENOSPC, "'b.bin': cannot sync"},
        {"close-eio", WR_FAULT_CLOSE, WEIR_EIO, "'b.bin': cannot close"},
        {"resize-eio", WR_FAULT_RESIZE, WEIR_EIO, "'b.bin': cannot resize"},
        {"resize-enospc", WR_FAULT_RESIZE, WEIR_ENOSPC, "cannot resize"},
        {"lock-eio", WR_FAULT_LOCK, WEIR_EIO, "'b.bin': cannot lock"},
        {"stat-eio", WR_FAULT_STAT, WEIR_EIO, "'a.bin': cannot stat"},
        {"list-eio", WR_FAULT_LIST, WEIR_EIO, "'.': cannot list"},
        {"mkdir-eio", WR_FAULT_MKDIR, WEIR_EIO, "'d': cannot create folder"},
        {"mkdir-enospc", WR_FAULT_MKDIR, WEIR_ENOSPC, "'d': cannot create"},
        {"remove-eio", WR_FAULT_REMOVE, WEIR_EIO, "'c.bin': cannot remove"},
        {"rename-eio", WR_FAULT_RENAME, WEIR_EIO, "'b.bin': cannot rename"},
        {"rename-enospc", WR_FAULT_RENAME, WEIR_ENOSPC, "cannot rename"},
        {"rename-late-eio", WR_FAULT_RENAME, WEIR_EIO, "cannot rename"},
        {"syncdir-eio", WR_FAULT_SYNC_DIR, WEIR_EIO, "'.': cannot sync folder"},
    };

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(table); i++) {
        struct wr_store *st = open_store(table[i].rule);

        for (unsigned on = WR_FAULT_SYNC; on < WR_FAULT_ONS; on++) {
            weir_err err = {0};
            int r = request(st, (enum wr_fault_on)on, &err);

            assert_int_equal(r, on == table[i].on ? table[i].code : 0);
            assert_true(wr_fault_seen(st, (enum wr_fault_on)on) > 0);
            if (r == 0)
                continue;
            if (!strstr(err.msg, table[i].text))
                fail_msg("'%s' is not in '%s'", table[i].text, err.msg);
            assert_false(is_there("new") && on == WR_FAULT_CREATE);
            assert_false(is_there("d") && on == WR_FAULT_MKDIR);
            assert_true(is_there("c.bin") || on != WR_FAULT_REMOVE);
            if (on == WR_FAULT_RENAME)
                assert_int_equal(is_there("x.bin"),
                                 !strcmp(table[i].rule, "rename-late-eio"));
            if (is_there("x.bin")) /* the next ones look for it */
                restore();
        }
        wr_store_close(st);
        restore();
    }
}

static void wrong_rules_are_named(void **state)
{
    static const struct {
        const char *rules, *word;
    } table[] = {
        {"nonsense", "nonsense"},
        {"eio@", "''"},
        {"eio@0", "'0'"},
        {"eio@x", "'x'"},
        {"eio@%", "''"},
        {"eio@%0", "'0'"},
        {"eio@+", "''"},
        {"short=x", "'x'"},
        {"delay=-1", "'-1'"},
        {"eio,EIO", "EIO"},
        {"write-eio=1", "'write-eio' takes no value"},
        {"write-delay", "'write-delay' takes a value"},
        {"write-late-eio", "write-late-eio"},
        {"sync-eio=1", "'sync-eio' takes no value"},
        {"rename-late-eio=1", "'rename-late-eio' takes no value"},
        {"a,b", "'a'"},
        {"hang", "'hang' takes a value"},
        {"delay=99999999999", "99999999999"},
        {"eio,eio,eio,eio,eio,eio,eio,eio,eio,eio,eio,eio,eio,eio,eio,eio,eio",
         "16"},
    };

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(table); i++) {
        struct wr_store *st = NULL;
        char url[600], *leaf = NULL;
        weir_err err;

        snprintf(url, sizeof(url), "fault:%s:%s", table[i].rules, dir);
        assert_true(wr_store_open(url, &st, &leaf, &err) < 0);
        assert_null(st);
        if (!strstr(err.msg, table[i].word))
            fail_msg("'%s' does not say %s", err.msg, table[i].word);
    }
}

static void wrong_urls(void **state)
{
    struct wr_store *st = NULL;
    char *leaf = NULL;
    weir_err err;

    (void)state;
    assert_int_equal(wr_store_open("fault:eio", &st, &leaf, &err), WEIR_EINVAL);
    assert_int_equal(wr_store_open("fault:eio:/no/where", &st, &leaf, &err),
                     WEIR_ENOENT);
    assert_null(st);
}

static void the_registry(void **state)
{
    unsigned n = 0;

    (void)state;
    while (wr_storage_at(n)) {
        assert_non_null(wr_storage_at(n)->name);
        assert_non_null(wr_storage_at(n)->help);
        n++;
    }
    assert_true(n >= 2);
    assert_string_equal(wr_storage_at(0)->name, "file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors),
        cmocka_unit_test(short_reads),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(delays),
        cmocka_unit_test(late_reads_are_overtaken),
        cmocka_unit_test(when),
        cmocka_unit_test(open_objects),
        cmocka_unit_test(failing_writes),
        cmocka_unit_test(writes_are_counted_by_themselves),
        cmocka_unit_test(late_writes),
        cmocka_unit_test(failing_syncs),
        cmocka_unit_test(flipped_writes),
        cmocka_unit_test(failing_requests),
        cmocka_unit_test(wrong_rules_are_named),
        cmocka_unit_test(wrong_urls),
        cmocka_unit_test(the_registry),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
