/* test_file.c - trace files: what was written is read, whole or cut off.
 * SPDX-License-Identifier: Apache-2.0 */
#include "maker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "trace/coding.h"

#define EVENTS (WR_CODING_EVENTS_MAX + 4321)

/* Everything that was seen in a walk. */
struct seen {
    struct wr_trace_event *events;
    size_t count, cap;
};

static int see(void *arg, const struct wr_trace_event *e, size_t n)
{
    struct seen *s = arg;

    assert_true(s->count + n <= s->cap);
    memcpy(s->events + s->count, e, n * sizeof(*e));
    s->count += n;
    return 0;
}

static struct wr_trace_event any_event(struct wr_rng *rng, uint64_t at)
{
    uint64_t a = wr_rng_next(rng), b = wr_rng_next(rng);

    return (struct wr_trace_event){
        .start_ns = at,
        .dur_ns = a % 3 ? a % 5000 : a >> 40,
        .process = (uint32_t)(b % 3),
        .thread = (uint32_t)(b >> 8) % 7 + 1,
        .file = a & 64 ? WR_TRACE_NO_FILE : (uint32_t)(a >> 20) % 50,
        .file2 = b & 1024 ? WR_TRACE_NO_FILE : (uint32_t)(b >> 30) % 50,
        .op = (uint16_t)((a >> 7) % WR_TRACE_OPS),
        .flags = (uint16_t)(b >> 50),
        .error = a & 128 ? 0 : (int32_t)(b >> 33),
        .offset = b & 4096 ? UINT64_MAX : a,
        .bytes = a & 256 ? 0 : b};
}

static int by_all(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct wr_trace_event));
}

static void tables(struct maker *m)
{
    for (int k = 0; k < 50; k++)
        maker_name(m, (uint64_t)k * 1000, "/data/%03d.jpg", k);
    for (int k = 0; k < 3; k++)
        maker_process(m, k - 1, (uint64_t)k, 1000);
}

/* Any event at all comes back, bit by bit, sorted by its end. */
static void test_events(void **state)
{
    struct wr_trace_event *all = calloc(EVENTS, sizeof(*all));
    struct seen s = {.events = calloc(EVENTS, sizeof(*all)), .cap = EVENTS};
    struct wr_rng seed = {.seed = 1};
    struct wr_trace_file *f;
    struct maker m;
    weir_err err;

    maker_open(&m);
    tables(&m);
    for (size_t k = 0; k < EVENTS; k++)
        all[k] = any_event(&seed, k * 700);
    assert_int_equal(wr_trace_writer_events(m.w, all, EVENTS, &err), 0);
    f = maker_read(&m);
    assert_int_equal(wr_trace_file_events(f), EVENTS);
    if (wr_trace_file_walk(f, see, &s, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(s.count, EVENTS);
    for (size_t k = 1; k < WR_CODING_EVENTS_MAX; k++)
        assert_true(s.events[k - 1].start_ns + s.events[k - 1].dur_ns <=
                    s.events[k].start_ns + s.events[k].dur_ns);
    qsort(all, EVENTS, sizeof(*all), by_all);
    qsort(s.events, EVENTS, sizeof(*all), by_all);
    assert_memory_equal(all, s.events, EVENTS * sizeof(*all));
    wr_trace_file_close(f);
    maker_done(&m);
    free(all);
    free(s.events);
}

static int see_counts(void *arg, const struct wr_trace_counts *c)
{
    struct wr_trace_counts *to = arg;

    to[c->file] = *c;
    return 0;
}

/* Names, processes, counts and the rest; later records replace earlier ones. */
static void test_tables(void **state)
{
    struct wr_trace_counts counts[2] = {{.process = 1, .file = 0},
                                        {.process = 2, .file = 1}};
    struct wr_trace_counts got[2];
    const struct wr_trace_process *p;
    struct wr_trace_file *f;
    struct maker m;
    weir_err err;

    maker_open(&m);
    tables(&m);
    counts[0].opens = 7;
    counts[1].size_writes[9] = UINT64_MAX;
    counts[1].last_ns = 5;
    m.processes[1].rank = 3;
    m.processes[1].read_bytes = 0;
    maker_again(&m, 1);
    assert_int_equal(wr_trace_writer_counts(m.w, counts, 2, &err), 0);
    assert_int_equal(wr_trace_writer_resident(m.w, 4, 100, 4444, &err), 0);
    m.info.monitor = "{}";
    f = maker_read(&m);
    assert_int_equal(wr_trace_file_names(f), 50);
    assert_string_equal(wr_trace_file_name(f, 7)->path, "/data/007.jpg");
    assert_int_equal(wr_trace_file_name(f, 7)->size, 7000);
    assert_true(wr_trace_file_name(f, 7)->resident == UINT64_MAX);
    assert_int_equal(wr_trace_file_name(f, 4)->resident, 100);
    assert_int_equal(wr_trace_file_name(f, 4)->size, 4444);
    assert_int_equal(wr_trace_file_processes(f), 3);
    p = wr_trace_file_process(f, 1);
    assert_int_equal(p->rank, 3);
    assert_int_equal(p->parent, 0);
    assert_int_equal(p->read_bytes, 0);
    assert_true(p->rchar == UINT64_MAX);
    assert_string_equal(p->argv, "python3 train.py");
    assert_string_equal(wr_trace_file_info(f)->monitor, "{}");
    assert_int_equal(wr_trace_file_info(f)->cores, 8);
    assert_true(wr_trace_file_info(f)->complete);
    assert_int_equal(wr_trace_file_counts(f), 2);
    assert_int_equal(wr_trace_file_walk_counts(f, see_counts, got, &err), 0);
    assert_memory_equal(counts, got, sizeof(got));
    wr_trace_file_close(f);
    maker_done(&m);
}

static char *load(const char *path, size_t *ret_size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    char *bytes;

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    *ret_size = (size_t)st.st_size;
    bytes = malloc(*ret_size);
    assert_int_equal(read(fd, bytes, *ret_size), st.st_size);
    close(fd);
    return bytes;
}

static void store(const char *path, const char *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    close(fd);
}

static int count(void *arg, const struct wr_trace_event *e, size_t n)
{
    *(uint64_t *)arg += n;
    return 0;
}

/* How many events can be walked over; -1: it is not opened. */
static int64_t readable(const char *path)
{
    struct wr_trace_file *f;
    uint64_t n = 0;
    weir_err err = {0};

    if (wr_trace_file_open(&f, path, &err) < 0) {
        assert_true(err.msg[0]);
        return -1;
    }
    if (wr_trace_file_walk(f, count, &n, &err) < 0)
        assert_true(err.msg[0]);
    else
        assert_int_equal(n, wr_trace_file_events(f));
    wr_trace_file_close(f);
    return (int64_t)n;
}

/* A small trace of three chunks of 10 events each. */
static void small(struct maker *m)
{
    struct wr_rng seed = {.seed = 2};
    weir_err err;

    maker_open(m);
    tables(m);
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 10; k++) {
            struct wr_trace_event e = any_event(&seed,
                                                (uint64_t)(c * 10 + k) * 700);

            assert_int_equal(wr_trace_writer_events(m->w, &e, 1, &err), 0);
        }
        assert_int_equal(wr_trace_writer_flush(m->w, &err), 0);
    }
    wr_trace_file_close(maker_read(m));
}

/* Cut anywhere, it is read up to the last whole chunk, and says so. */
static void test_cut(void **state)
{
    struct wr_trace_file *f;
    int64_t last = -1;
    struct maker m;
    weir_err err;
    size_t size;
    char *bytes;

    small(&m);
    bytes = load(m.path, &size);
    for (size_t len = 0; len < size; len++) {
        int64_t n;

        store(m.path, bytes, len);
        n = readable(m.path);
        assert_true(n >= last && (n < 0 || n % 10 == 0));
        last = n;
        if (n >= 0) {
            assert_int_equal(wr_trace_file_open(&f, m.path, &err), 0);
            assert_non_null(wr_trace_file_damage(f));
            assert_false(wr_trace_file_info(f)->complete);
            wr_trace_file_close(f);
        }
    }
    assert_int_equal(last, 30);
    free(bytes);
    maker_done(&m);
}

/* Each flipped byte is noticed: by a refusal or as damage. */
static void test_flipped(void **state)
{
    struct maker m;
    weir_err err;
    size_t size;
    char *bytes;

    small(&m);
    bytes = load(m.path, &size);
    for (size_t at = 0; at < size; at++) {
        struct wr_trace_file *f = NULL;

        if (at >= 12 && at < 16)
            continue; /* reserved */
        bytes[at] ^= 0x11;
        store(m.path, bytes, size);
        if (wr_trace_file_open(&f, m.path, &err) == 0)
            assert_non_null(wr_trace_file_damage(f));
        wr_trace_file_close(f);
        readable(m.path);
        bytes[at] ^= 0x11;
    }
    free(bytes);
    maker_done(&m);
}

static void test_refused(void **state)
{
    struct wr_trace_writer *w = NULL;
    struct wr_trace_file *f = NULL;
    struct maker m;
    weir_err err;

    small(&m);
    assert_int_equal(wr_trace_writer_open(&w, m.path, &m.info, &err),
                     WEIR_EEXIST);
    assert_null(w);
    store(m.path, "no trace at all, this is", 24);
    assert_int_equal(wr_trace_file_open(&f, m.path, &err), WEIR_EFORMAT);
    assert_non_null(strstr(err.msg, "not a trace of weir"));
    store(m.path, "WEIRTRC1\2\0\0\0\0\0\0\0", 16);
    assert_int_equal(wr_trace_file_open(&f, m.path, &err), WEIR_ENOTSUP);
    assert_int_equal(wr_trace_file_open(&f, m.dir, &err), WEIR_EINVAL);
    assert_null(f);
    maker_done(&m);
}

/* An event of a file that was never named is refused in the walk. */
static void test_unnamed(void **state)
{
    struct wr_trace_file *f;
    uint64_t n = 0;
    struct maker m;
    weir_err err;

    maker_open(&m);
    maker_process(&m, -1, 0, 10);
    maker_event(&m, (struct wr_trace_event){.op = WR_TRACE_READ, .file = 9});
    f = maker_read(&m);
    assert_int_equal(wr_trace_file_walk(f, count, &n, &err), WEIR_EFORMAT);
    assert_int_equal(n, 0);
    wr_trace_file_close(f);
    maker_done(&m);
}

static int stop_walk(void *arg, const struct wr_trace_event *e, size_t n)
{
    return 42;
}

static void test_stopped(void **state)
{
    struct wr_trace_file *f;
    struct maker m;
    weir_err err;

    small(&m);
    assert_int_equal(wr_trace_file_open(&f, m.path, &err), 0);
    assert_int_equal(wr_trace_file_walk(f, stop_walk, NULL, &err), 42);
    wr_trace_file_close(f);
    maker_done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),  cmocka_unit_test(test_tables),
        cmocka_unit_test(test_cut),     cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_unnamed),
        cmocka_unit_test(test_stopped)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
