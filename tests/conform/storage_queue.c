/* storage_queue.c - what every backend's read queue must do.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "storage_place.h"

/* A read with a place for its path and memory of its own. */
struct job {
    struct wr_io rd; /* first: a read that comes back is its job */
    char path[32];
    unsigned file;
};

static void job_init(const struct place *pl, struct job *j, size_t len)
{
    size_t cap = wr_read_cap(len, pl->be->direct);

    j->rd = (struct wr_io){.path = j->path, .len = len, .cap = cap};
    if (posix_memalign(&j->rd.buf, WR_DIRECT_ALIGN, cap))
        abort();
    memset(j->rd.buf, 0xee, cap);
}

/* A whole file, or a part of one that may reach to its end or not. */
static void random_job(const struct place *pl, struct wr_rng *rng,
                       struct job *j)
{
    unsigned file = (unsigned)wr_rng_below(rng, FILES);
    uint64_t size = size_of(file), from = 0, to = size;

    if (wr_rng_below(rng, 3)) {
        from = wr_rng_below(rng, size);
        to = wr_rng_below(rng, 2) ? size
                                  : from + 1 + wr_rng_below(rng, size - from);
    }
    job_init(pl, j, to - from);
    j->file = file;
    j->rd.offset = from;
    j->rd.whole = to == size && wr_rng_below(rng, 2);
    name_of(file, j->path, sizeof(j->path));
}

static void check_job(struct job *j)
{
    if (j->rd.result)
        fail_msg("%s: error %d", j->path, j->rd.result);
    assert_int_equal(j->rd.got, j->rd.len);
    for (size_t i = 0; i < j->rd.len; i++)
        if (j->rd.data[i] != byte_of(j->file, j->rd.offset + i))
            fail_msg("%s: byte %zu behind %lu is wrong", j->path, i,
                     (unsigned long)j->rd.offset);
    free(j->rd.buf);
    j->rd.buf = NULL;
}

void random_ranges(void **state)
{
    static const unsigned depths[] = {1, 2, 7, 64};
    const struct place *pl = *state;
    struct wr_rng rng = {.seed = 2};
    struct job jobs[64];

    for (unsigned d = 0; d < 4; d++) {
        struct wr_queue *q = open_queue(pl, depths[d]);
        unsigned busy = 0, started = 0, done = 0;
        struct wr_io *ret[5];

        for (unsigned i = 0; i < 64; i++)
            jobs[i].rd.buf = NULL;
        while (done < 300) {
            for (unsigned i = 0; i < 64 && busy < depths[d] && started < 300;
                 i++) {
                struct wr_io *rd = &jobs[i].rd;

                if (rd->buf)
                    continue;
                random_job(pl, &rng, &jobs[i]);
                assert_int_equal(q->ops->submit(q, &rd, 1), 1);
                busy++;
                started++;
            }
            unsigned n = q->ops->reap(q, ret, 5, /* wait= */ true);

            assert_true(n >= 1);
            for (unsigned i = 0; i < n; i++)
                check_job((struct job *)ret[i]);
            busy -= n;
            done += n;
        }
        assert_int_equal(q->ops->reap(q, ret, 5, /* wait= */ true), 0);
        q->ops->close(q);
    }
}

/* One read, there and back. */
static void one(struct wr_queue *q, struct job *j)
{
    struct wr_io *rd = &j->rd, *back = NULL;

    assert_int_equal(q->ops->submit(q, &rd, 1), 1);
    assert_int_equal(q->ops->reap(q, &back, 1, /* wait= */ true), 1);
    assert_ptr_equal(rd, back);
}

void ranges_of_open_objects(void **state)
{
    const struct place *pl = *state;
    struct wr_queue *q = open_queue(pl, 4);
    struct wr_rng rng = {.seed = 3};
    struct wr_object *o;

    assert_int_equal(pl->st->ops->object_open(pl->st, "sub/f010.bin",
                                              WR_OPEN_READ, &o, NULL),
                     0);
    for (int k = 0; k < 60; k++) {
        struct job j = {.file = 10};
        uint64_t from = wr_rng_below(&rng, LARGE - 1);

        job_init(pl, &j, 1 + wr_rng_below(&rng, LARGE - from));
        j.rd.path = NULL;
        j.rd.object = o;
        j.rd.offset = from;
        one(q, &j);
        assert_ptr_equal(j.rd.object, o);
        check_job(&j);
    }
    q->ops->close(q);
    o->ops->close(o, /* sync= */ false, NULL);
}

void bad_places(void **state)
{
    const struct place *pl = *state;
    struct wr_queue *q = open_queue(pl, 2);
    struct job j;
    weir_err err;

    for (int again = 0; again < 3; again++) { /* the queue goes on working */
        job_init(pl, &j, 100);
        snprintf(j.path, sizeof(j.path), "sub/none.bin");
        one(q, &j);
        assert_int_equal(j.rd.result, WEIR_ENOENT);
        assert_int_equal(j.rd.got, 0);
        wr_io_error(&j.rd, "NAME", &err);
        assert_string_equal(err.msg,
                            "'NAME': cannot open: No such file or directory");
        free(j.rd.buf);

        job_init(pl, &j, 100);
        snprintf(j.path, sizeof(j.path), "sub");
        one(q, &j);
        assert_true(j.rd.result < 0);
        wr_io_error(&j.rd, "NAME", &err);
        assert_non_null(strstr(err.msg, "'NAME': cannot "));
        free(j.rd.buf);

        job_init(pl, &j, size_of(4));
        j.file = 4;
        name_of(4, j.path, sizeof(j.path));
        one(q, &j);
        check_job(&j);
    }
    q->ops->close(q);
}

/* Files shorter or longer than the index says, at all alignments. */
void changed_files(void **state)
{
    const struct place *pl = *state;
    struct wr_queue *q = open_queue(pl, 2);
    struct wr_stat sb;
    weir_err err;

    for (unsigned f = 0; f < 11; f++) {
        size_t size = size_of(f);
        struct job j = {.file = f};
        char text[100];

        job_init(pl, &j, size + 1); /* shorter by one */
        name_of(f, j.path, sizeof(j.path));
        one(q, &j);
        assert_int_equal(j.rd.result, WEIR_ECHANGED);
        assert_int_equal(j.rd.got, size);
        assert_int_equal(wr_io_error(&j.rd, "n", &err), WEIR_ECHANGED);
        snprintf(text, sizeof(text),
                 "'n': ends at byte %zu, %zu bytes were indexed", size,
                 size + 1);
        assert_string_equal(err.msg, text);
        free(j.rd.buf);

        job_init(pl, &j, 50); /* nothing of it is there any more */
        j.rd.offset = size + 5000;
        one(q, &j);
        assert_int_equal(j.rd.result, WEIR_ECHANGED);
        assert_int_equal(j.rd.got, 0);
        free(j.rd.buf);

        if (size == 1)
            continue;
        assert_int_equal(pl->st->ops->stat(pl->st, j.path, &sb, &err), 0);
        job_init(pl, &j, size); /* another file than the one indexed */
        j.rd.identity = sb.identity + 2;
        one(q, &j);
        assert_int_equal(j.rd.result, WEIR_ECHANGED);
        wr_io_error(&j.rd, "n", &err);
        assert_string_equal(err.msg,
                            "'n': replaced or written to since it was indexed");
        free(j.rd.buf);

        job_init(pl, &j, size);
        j.rd.identity = sb.identity;
        one(q, &j);
        check_job(&j);

        job_init(pl, &j, size - 1); /* longer by one */
        j.rd.whole = true;
        one(q, &j);
        assert_int_equal(j.rd.result, WEIR_ECHANGED);
        wr_io_error(&j.rd, "n", &err);
        snprintf(text, sizeof(text), "'n': longer than the %zu bytes indexed",
                 size - 1);
        assert_string_equal(err.msg, text);
        free(j.rd.buf);

        job_init(pl, &j, size - 1); /* a part: what is behind is not ours */
        one(q, &j);
        check_job(&j);
    }
    q->ops->close(q);
}

void closing_with_reads_in_flight(void **state)
{
    const struct place *pl = *state;

    for (unsigned depth = 1; depth <= 32; depth *= 2) {
        struct wr_queue *q = open_queue(pl, depth);
        struct wr_rng rng = {.seed = depth};
        struct job jobs[32];

        for (unsigned i = 0; i < depth; i++) {
            struct wr_io *rd = &jobs[i].rd;

            random_job(pl, &rng, &jobs[i]);
            assert_int_equal(q->ops->submit(q, &rd, 1), 1);
        }
        q->ops->close(q); /* after this nothing writes into the memory */
        for (unsigned i = 0; i < depth; i++)
            free(jobs[i].rd.buf);
    }
}

void a_full_queue_takes_no_more(void **state)
{
    const struct place *pl = *state;
    struct wr_queue *q = open_queue(pl, 3);
    struct wr_rng rng = {.seed = 8};
    struct wr_io *reads[5], *back[5];
    struct job jobs[5];
    unsigned n = 0;

    for (unsigned i = 0; i < 5; i++) {
        random_job(pl, &rng, &jobs[i]);
        reads[i] = &jobs[i].rd;
    }
    assert_int_equal(q->ops->submit(q, reads, 5), 3);
    assert_int_equal(q->ops->submit(q, reads + 3, 2), 0);
    while (n < 3)
        n += q->ops->reap(q, back + n, 5 - n, /* wait= */ true);
    assert_int_equal(n, 3);
    assert_int_equal(q->ops->reap(q, back, 5, /* wait= */ false), 0);
    assert_int_equal(q->ops->submit(q, reads + 3, 2), 2);
    while (n < 5)
        n += q->ops->reap(q, back, 5, /* wait= */ true);
    for (unsigned i = 0; i < 5; i++)
        check_job(&jobs[i]);
    q->ops->close(q);
}

/* What is no file is refused, by every way to open it, and is not waited for. */
void no_files_are_refused(void **state)
{
    static const char *const names[] = {"pipe", "sub/socket", "device"};
    const struct place *pl = *state;
    struct wr_queue *q = open_queue(pl, 4);
    char path[600];

    snprintf(path, sizeof(path), "%s/pipe", pl->dir);
    assert_int_equal(mkfifo(path, 0666), 0);
    snprintf(path, sizeof(path), "%s/sub/socket", pl->dir);
    assert_int_equal(mknod(path, S_IFSOCK | 0666, 0), 0);
    snprintf(path, sizeof(path), "%s/device", pl->dir);
    assert_int_equal(symlink("/dev/zero", path), 0);
    for (unsigned k = 0; k < 3; k++) {
        struct wr_io *back = NULL, *go;
        struct wr_object *o;
        struct wr_store *st;
        struct job j;
        char *leaf;
        weir_err err;

        assert_true(pl->st->ops->object_open(pl->st, names[k], WR_OPEN_READ, &o,
                                             &err) < 0);
        assert_non_null(strstr(err.msg, names[k]));
        assert_true(pl->st->ops->object_open(pl->st, names[k], WR_OPEN_WRITE,
                                             &o, &err) < 0);
        snprintf(path, sizeof(path), "%s%s/%s", pl->be->prefix, pl->dir,
                 names[k]);
        assert_int_equal(wr_store_open(path, &st, &leaf, &err), WEIR_EINVAL);
        assert_non_null(strstr(err.msg, strrchr(path, '/')));
        assert_non_null(strstr(err.msg, "is a "));
        job_init(pl, &j, 100);
        j.rd.whole = true;
        snprintf(j.path, sizeof(j.path), "%s", names[k]);
        go = &j.rd;
        assert_int_equal(q->ops->submit(q, &go, 1), 1);
        assert_int_equal(q->ops->reap(q, &back, 1, /* wait= */ true), 1);
        assert_ptr_equal(back, go);
        assert_true(j.rd.result < 0);
        free(j.rd.buf);
    }
    q->ops->close(q);
}
