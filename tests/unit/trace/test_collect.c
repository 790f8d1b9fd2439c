/* test_collect.c - what the collector makes of the memory of traced processes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tapper.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

#define ROOM (WR_TAP_CHUNK - sizeof(struct wr_tap_chunk))

static struct tapper tap;

static struct wr_tap_process *begin(void)
{
    struct wr_tap_process *p;

    tapper_open(&tap);
    p = tapper_process(&tap, 1, 0);
    tapper_ready(&tap, 1);
    return p;
}

static void put_cwd(struct wr_tap_process *p, unsigned slot, const char *path)
{
    struct wr_tap_record r = tapper_record(WR_TAP_CHDIR, 0);

    r.off = 0;
    tapper_put(p, slot, r, path);
}

/* --- records become events --- */

static void test_records(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_record r;

    tapper_name(p, 0, 1, 0, "/data/a");
    tapper_read(p, 0, 1, 0, 4096);
    tapper_read(p, 0, 1, 8192, 100);
    r = tapper_record(WR_TRACE_WRITE, 1);
    r.flags = WR_TRACE_FAILED;
    r.error = 28;
    tapper_put(p, 0, r, NULL);
    tapper_commit(p, 0);
    tapper_close(&tap);
    assert_int_equal(tap.count, 4);
    tapper_expect(&tap, 0, WR_TRACE_OPEN, "/data/a", 0);
    assert_true(tap.events[0].offset == UINT64_MAX);
    tapper_expect(&tap, 1, WR_TRACE_READ, "/data/a", 4096);
    tapper_expect(&tap, 2, WR_TRACE_READ, "/data/a", 100);
    assert_int_equal(tap.events[2].offset, 8192);
    assert_int_equal(tap.events[2].thread, 100);
    tapper_expect(&tap, 3, WR_TRACE_WRITE, "/data/a", 0);
    assert_int_equal(tap.events[3].error, 28);
    assert_int_equal(tap.events[3].flags, WR_TRACE_FAILED);
    assert_int_equal(tap.sum.events, 4);
    assert_int_equal(tap.sum.bytes_read, 4196);
    assert_int_equal(tap.sum.data_read, 4196);
    assert_int_equal(tap.sum.operations, 3);
    assert_int_equal(wr_trace_file_processes(tap.f), 1);
    assert_int_equal(wr_trace_file_process(tap.f, 0)->pid, getpid());
    assert_string_equal(wr_trace_file_process(tap.f, 0)->argv, "made up");
    tapper_done(&tap);
}

/* A record that began one duration after the collector did. */
static void test_times(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_record r = {.op = WR_TRACE_READ};
    uint64_t d = (wr_clock_ns() - tap.control->start_stamp) / 2;

    r.stamp = tap.control->start_stamp + d;
    r.duration = (uint32_t)d;
    tapper_put(p, 0, r, NULL);
    r.stamp = tap.control->start_stamp - 1; /* before it began */
    r.duration = 0;
    tapper_put(p, 0, r, NULL);
    tapper_commit(p, 0);
    tapper_close(&tap);
    assert_int_equal(tap.count, 2);
    assert_int_equal(tap.events[0].start_ns, 0);
    assert_int_equal(tap.events[1].start_ns, d);
    assert_int_equal(tap.events[1].dur_ns, d);
    tapper_done(&tap);
}

/* Names may come by the chunk of another thread, whatever its number is. */
static void test_names(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_record r;

    tapper_read(p, 0, 7, 0, 10);
    tapper_read(p, 0, 8, 0, 11);
    tapper_read(p, 0, 9, 0, 12);
    tapper_name(p, 1, 5, 0, "/data");
    tapper_name(p, 1, 7, 5, "b//./c");
    tapper_name(p, 1, 8, 0, "here");
    put_cwd(p, 1, "/data/x");
    r = tapper_record(WR_TRACE_STAT, 0);
    r.off = 0;
    tapper_put(p, 1, r, "../y");
    tapper_name(p, 1, 10, 0, "new");
    r = tapper_record(WR_TRACE_RENAME, 10);
    r.len = 7; /* the old name's handle */
    tapper_put(p, 1, r, NULL);
    tapper_commit(p, 0);
    tapper_commit(p, 1);
    tapper_close(&tap);
    tapper_expect(&tap, 0, WR_TRACE_READ, "/data/b/c", 10);
    tapper_expect(&tap, 1, WR_TRACE_READ, "/job/here", 11);
    tapper_expect(&tap, 2, WR_TRACE_READ, "", 12); /* it never got a name */
    tapper_expect(&tap, 5, WR_TRACE_OPEN, "/job/here", 0);
    tapper_expect(&tap, 6, WR_TRACE_STAT, "/data/y", 0);
    tapper_expect(&tap, 7, WR_TRACE_OPEN, "/data/x/new", 0);
    tapper_expect(&tap, 8, WR_TRACE_RENAME, "/data/b/c", 0);
    assert_string_equal(tapper_path(&tap, tap.events[8].file2), "/data/x/new");
    tapper_done(&tap);
}

/* A forked child has its parent's files and folder, and names of its own. */
static void test_child(void **state)
{
    struct wr_tap_process *p = begin(), *child;

    tapper_name(p, 0, 1, 0, "/data/a");
    put_cwd(p, 0, "/elsewhere");
    tapper_name(p, 0, 2, 0, "/data/b");
    tapper_commit(p, 0);
    wr_collect_drain(tap.c);
    child = tapper_process(&tap, 2, 1);
    child->first_handle = 1; /* handle 2 of the child is not its parent's */
    tapper_ready(&tap, 2);
    tapper_read(child, 0, 1, 0, 5);
    tapper_name(child, 0, 2, 0, "c");
    tapper_read(child, 0, 2, 0, 6);
    tapper_commit(child, 0);
    tapper_close(&tap);
    assert_int_equal(wr_trace_file_processes(tap.f), 2);
    assert_int_equal(wr_trace_file_process(tap.f, 1)->parent, 0);
    assert_string_equal(wr_trace_file_process(tap.f, 1)->argv, "made up");
    tapper_expect(&tap, 2, WR_TRACE_READ, "/data/a", 5);
    tapper_expect(&tap, 4, WR_TRACE_READ, "/elsewhere/c", 6);
    assert_int_equal(tap.events[4].process, 1);
    tapper_done(&tap);
}

/* Calls of more than 4 GiB, or so long, have a record in front of theirs, which
 * may be there before it is. */
static void test_wide(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_record wide = {
        .op = WR_TAP_WIDE, .off = 1, .stamp = UINT64_C(5) << 32};

    tapper_put(p, 0, wide, NULL);
    tapper_commit(p, 0);
    wr_collect_drain(tap.c);
    wr_collect_drain(tap.c);
    tapper_read(p, 0, 0, 0, 1);
    tapper_read(p, 0, 0, 0, 2);
    tapper_commit(p, 0);
    tapper_close(&tap);
    assert_int_equal(tap.count, 2);
    tapper_expect(&tap, 0, WR_TRACE_READ, "", UINT64_C(5) << 32);
    tapper_expect(&tap, 1, WR_TRACE_READ, "", 2);
    tapper_done(&tap);
}

/* Where a page fault is in mapped memory is known by the mapping's address. */
static void test_maps(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_record at = {.op = WR_TAP_ADDRESS, .off = 0x10000}, map;
    const struct wr_tapped *t;

    tapper_name(p, 0, 1, 0, "/data/a");
    map = tapper_record(WR_TRACE_MMAP, 1);
    map.off = 4096;
    map.len = 8192;
    tapper_put(p, 0, at, NULL);
    tapper_put(p, 0, map, NULL);
    tapper_commit(p, 0);
    wr_collect_drain(tap.c);
    t = tap.c->taps[0];
    assert_null(wr_tapped_map_at(t, 0xffff));
    assert_null(wr_tapped_map_at(t, 0x12000));
    assert_int_equal(wr_tapped_map_at(t, 0x11fff)->off, 4096);
    map.op = WR_TRACE_MUNMAP;
    map.stamp = wr_clock_ns();
    tapper_put(p, 0, at, NULL);
    tapper_put(p, 0, map, NULL);
    tapper_commit(p, 0);
    wr_collect_drain(tap.c);
    assert_null(wr_tapped_map_at(t, 0x11fff));
    tapper_close(&tap);
    tapper_expect(&tap, 1, WR_TRACE_MMAP, "/data/a", 8192);
    tapper_done(&tap);
}

/* --- full rings --- */

/* A chunk that its thread has left goes back when all of it was read. */
static void test_full(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_chunk *c = wr_tap_chunk_at(p, 0);
    size_t n = ROOM / WR_TAP_UNIT;

    for (size_t k = 0; k < n; k++)
        tapper_read(p, 0, 0, k, 1);
    tapper_read(p, 3, 0, 0, 2);
    tapper_commit(p, 0);
    tapper_commit(p, 3);
    wr_collect_drain(tap.c);
    assert_int_equal(p->state[0], WR_TAP_ACTIVE); /* its thread may go on */
    p->state[0] = WR_TAP_FULL;
    wr_collect_drain(tap.c);
    assert_int_equal(p->state[0], WR_TAP_FREE);
    assert_int_equal(c->committed, 0);
    assert_int_equal(p->state[3], WR_TAP_ACTIVE);
    c->spare[0] = 0; /* a thread takes it again */
    tapper_read(p, 0, 0, 0, 3);
    tapper_commit(p, 0);
    tapper_close(&tap);
    assert_int_equal(tap.count, n + 2);
    assert_int_equal(tap.sum.bytes_read, n + 2 + 3);
    tapper_done(&tap);
}

#define MANY (4 * ROOM / WR_TAP_UNIT) /* records: of several chunks */

/* A thread of the process, as the library has it: it takes a chunk that is free,
 * commits record by record, and leaves the chunk when it is full. */
static void *write_many(void *arg)
{
    struct wr_tap_process *p = arg;
    struct wr_tap_record r = {.op = WR_TRACE_READ, .len = 1};
    struct wr_tap_chunk *c = NULL;
    unsigned slot = 0;
    size_t at = ROOM;

    for (size_t n = 0; n < MANY; n++) {
        if (at == ROOM && c)
            __atomic_store_n(&p->state[slot], WR_TAP_FULL, __ATOMIC_RELEASE);
        while (at == ROOM) { /* of two chunks: the collector must give back */
            uint8_t is_free = WR_TAP_FREE;

            slot = 1 - slot;
            if (__atomic_compare_exchange_n(&p->state[slot], &is_free,
                                            WR_TAP_CLAIMED, false,
                                            __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
                at = 0;
        }
        c = wr_tap_chunk_at(p, slot);
        c->tid = at ? c->tid : 7;
        if (!at)
            __atomic_store_n(&p->state[slot], WR_TAP_ACTIVE, __ATOMIC_RELEASE);
        r.stamp = wr_clock_ns();
        r.off = n;
        memcpy((char *)(c + 1) + at, &r, sizeof(r));
        at += WR_TAP_UNIT;
        __atomic_store_n(&c->committed, (uint32_t)at, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&p->ended, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Each record once, in order, while the thread and the collector go on. */
static void test_meanwhile(void **state)
{
    struct wr_tap_process *p = begin();
    pthread_t thread;

    p->chunks = 2;
    wr_collect_drain(tap.c);
    p = tap.c->taps[0]->head; /* one mapping: so a sanitizer sees both sides */
    assert_int_equal(pthread_create(&thread, NULL, write_many, p), 0);
    while (!__atomic_load_n(&p->ended, __ATOMIC_ACQUIRE))
        wr_collect_drain(tap.c);
    pthread_join(thread, NULL);
    tapper_close(&tap);
    assert_int_equal(tap.sum.bytes_read, MANY);
    assert_int_equal(tap.sum.bad_records, 0);
    for (size_t k = 0; k < tap.count; k++) {
        assert_int_equal(tap.events[k].offset, k);
        assert_int_equal(tap.events[k].thread, 7);
    }
    tapper_done(&tap);
}

/* A process that ends in the middle of a record: what it had committed is kept,
 * and nothing is made of the rest. */
static void test_cut(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_record *r;

    tapper_read(p, 0, 0, 0, 1);
    tapper_commit(p, 0);
    tapper_read(p, 0, 0, 0, 2);
    tapper_name(p, 1, 1, 0, "/data/a/name/of/more/than/one/unit");
    tapper_commit(p, 1);
    wr_tap_chunk_at(p, 1)->committed -= WR_TAP_UNIT; /* its end is missing */
    tapper_read(p, 2, 0, 0, 3);
    r = tapper_put(p, 2, tapper_record(WR_TRACE_READ, 0), NULL);
    r->len = 4;
    tapper_commit(p, 2);
    wr_tap_chunk_at(p, 2)->committed -= 1; /* half a record */
    p->state[4] = WR_TAP_CLAIMED;          /* it has no memory yet */
    p->chunks = 5;
    tapper_close(&tap);
    assert_int_equal(tap.count, 2);
    tapper_expect(&tap, 0, WR_TRACE_READ, "", 1);
    tapper_expect(&tap, 1, WR_TRACE_READ, "", 3);
    tapper_done(&tap);
}

/* --- what is over the budget --- */

static void test_tallies(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_tap_tally *tally = wr_tap_tally_at(p, 77);
    struct wr_tap_record r;

    tapper_name(p, 0, 1, 0, "/data/a");
    r = tapper_record(WR_TRACE_READ, 1);
    r.flags = WR_TRACE_SAMPLED;
    r.len = 10;
    tapper_put(p, 0, r, NULL);
    tapper_commit(p, 0);
    p->lost_events = 9;
    *tally = (struct wr_tap_tally){.handle = 1,
                                   .counts = {.reads = 10, .bytes_read = 100}};
    tally[1] = (struct wr_tap_tally){
        .handle = WR_TAP_NONE, .counts = {.writes = 2, .bytes_written = 7}};
    tapper_close(&tap);
    assert_int_equal(tap.sum.lost_events, 9);
    assert_int_equal(tap.sum.bytes_read, 100); /* samples are in them */
    assert_int_equal(tap.sum.bytes_written, 7);
    assert_int_equal(tap.sum.operations, 12);
    assert_int_equal(wr_trace_file_process(tap.f, 0)->lost_events, 9);
    assert_int_equal(wr_trace_file_counts(tap.f), 2);
    tapper_done(&tap);
}

/* --- what the kernel has counted --- */

#define GONE 5000000 /* a pid that no process has */

/* The kernel adds the counters of a child to those of the parent that waits for
 * it: each process is written with its own. */
static void test_counters(void **state)
{
    struct wr_tap_process *p = begin(), *child;
    const struct wr_trace_process *w;

    p->base = (struct wr_tap_io){100, 10, 0, 0, 3};
    p->io = (struct wr_tap_io){1000, 50, 4096, 0, 5};
    tapper_read(p, 0, 0, 0, 250);
    tapper_commit(p, 0);
    wr_collect_drain(tap.c);
    child = tapper_process(&tap, 2, 1);
    child->pid = GONE; /* it has ended by now */
    child->io = (struct wr_tap_io){300, 20, 4096, 0, 1};
    tapper_read(child, 0, 0, 0, 400);
    tapper_commit(child, 0);
    tapper_ready(&tap, 2);
    wr_collect_drain(tap.c);
    wr_collect_status(tap.c, GONE, 9);
    wr_collect_status(tap.c, GONE + 1, 9); /* nobody */
    assert_int_equal(wr_collect_running(tap.c), 1);
    p->io = (struct wr_tap_io){1000, 50, 4096, 0, 5}; /* not this process's */
    p->ended = 1;
    p->status = 3;
    tapper_close(&tap);
    w = wr_trace_file_process(tap.f, 0);
    assert_int_equal(w->rchar, 600);
    assert_int_equal(w->wchar, 20);
    assert_int_equal(w->read_bytes, 0); /* all of it was the child's */
    assert_int_equal(w->major_faults, 2);
    assert_int_equal(w->status, 3 << 8);
    w = wr_trace_file_process(tap.f, 1);
    assert_int_equal(w->rchar, 300);
    assert_int_equal(w->major_faults, 1);
    assert_int_equal(tap.sum.kernel_read, 900);
    assert_int_equal(tap.sum.kernel_written, 40);
    assert_int_equal(tap.sum.matched_read, 550); /* no more than was counted */
    assert_int_equal(tap.sum.device_read, 4096);
    assert_int_equal(tap.sum.major_faults, 3);
    tapper_done(&tap);
}

/* A process that executes another program is another one with its pid, and its
 * parent is what it was before. */
static void test_programs(void **state)
{
    struct wr_tap_process *p = begin(), *next;

    tapper_read(p, 0, 0, 0, 1);
    tapper_commit(p, 0);
    wr_collect_drain(tap.c);
    next = tapper_process(&tap, 2, 0);
    strcpy(next->argv, "another program");
    tapper_read(next, 0, 0, 0, 2);
    tapper_commit(next, 0);
    tapper_ready(&tap, 2);
    wr_collect_drain(tap.c);
    assert_null(tap.c->taps[0]->head); /* replaced: it has ended */
    assert_non_null(tap.c->taps[1]->head);
    tapper_close(&tap);
    assert_int_equal(wr_trace_file_process(tap.f, 1)->parent, 0);
    assert_int_equal(wr_trace_file_process(tap.f, 1)->pid, getpid());
    assert_string_equal(wr_trace_file_process(tap.f, 1)->argv,
                        "another program");
    assert_int_equal(tap.events[1].process, 1);
    tapper_done(&tap);
}

/* Without arguments a trace has the program alone; an anonymous one no names. */
static void test_private(void **state)
{
    struct wr_tap_process *p = begin();

    tap.c->no_arguments = true;
    wr_names_free(tap.c->names);
    {
        weir_err err;

        assert_int_equal(
            wr_names_new(&tap.c->names, /* anonymous= */ true, &err), 0);
    }
    tapper_name(p, 0, 1, 0, "/secret/plan.jpg");
    tapper_commit(p, 0);
    tapper_close(&tap);
    assert_string_equal(wr_trace_file_process(tap.f, 0)->argv, "made");
    assert_null(strstr(tapper_path(&tap, tap.events[0].file), "secret"));
    assert_null(strstr(tapper_path(&tap, tap.events[0].file), "plan"));
    assert_non_null(strstr(tapper_path(&tap, tap.events[0].file), ".jpg"));
    tapper_done(&tap);
}

/* --- the collector's own end --- */

/* A disk without space, or a folder that is gone: the processes are drained on,
 * and the end says why. */
static void test_no_output(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_trace_info info = {.command = "x"};
    weir_err err, why = {0};

    wr_fail(&why, WEIR_EIO, "no space left");
    tapper_read(p, 0, 0, 0, 1);
    tapper_commit(p, 0);
    assert_true(wr_collect_failed(tap.c, WEIR_EIO, &why));
    wr_fail(&why, WEIR_EIO, "another reason");
    assert_true(wr_collect_failed(tap.c, WEIR_EIO, &why));
    wr_collect_drain(tap.c);
    munmap(p, WR_TAP_SIZE);
    munmap(tap.control, 4096);
    assert_int_equal(wr_collect_close(tap.c, &info, &tap.sum, &err), WEIR_EIO);
    assert_string_equal(err.msg, "no space left");
    assert_int_equal(tap.sum.bytes_read, 1);
    unlink(tap.path);
    assert_int_equal(rmdir(tap.dir), 0);
}

/* What one that was killed had not read, another one takes over. */
static void test_adopted(void **state)
{
    struct wr_tap_process *p = begin();
    struct wr_collect_control k = {.control = tap.control,
                                   .fd = tap.c->control_fd};
    struct wr_collect_config cfg = {.info = &tap.info};
    struct wr_collect *killed = tap.c;
    char folder[128], path[310];
    weir_err err;

    tapper_name(p, 0, 1, 0, "/data/a");
    tapper_read(p, 0, 1, 0, 9);
    tapper_commit(p, 0);
    snprintf(folder, sizeof(folder), "%s", wr_collect_folder(killed));
    snprintf(path, sizeof(path), "%s/missing/t.wtrace", tap.dir);
    cfg.output = path;
    k.fd = dup(killed->control_fd);
    k.control = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, k.fd, 0);
    assert_true(wr_collect_adopt(&tap.c, folder, &k, &cfg, &err) < 0);
    assert_int_equal(access(folder, F_OK), 0); /* for another try */
    cfg.output = path;
    snprintf(path, sizeof(path), "%s/adopted.wtrace", tap.dir);
    k.fd = dup(killed->control_fd);
    k.control = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, k.fd, 0);
    assert_int_equal(wr_collect_adopt(&tap.c, folder, &k, &cfg, &err), 0);
    snprintf(killed->folder, sizeof(killed->folder), "/nothing"); /* is its */
    unlink(tap.path);
    snprintf(tap.path, sizeof(tap.path), "%.290s", path);
    tapper_close(&tap);
    assert_int_equal(tap.count, 2);
    tapper_expect(&tap, 1, WR_TRACE_READ, "/data/a", 9);
    assert_int_not_equal(access(folder, F_OK), 0);
    killed->control = NULL;
    close(killed->control_fd);
    wr_trace_writer_drop(killed->writer);
    wr_names_free(killed->names);
    free(killed);
    tapper_done(&tap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),   cmocka_unit_test(test_times),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_child),
        cmocka_unit_test(test_wide),      cmocka_unit_test(test_maps),
        cmocka_unit_test(test_full),      cmocka_unit_test(test_meanwhile),
        cmocka_unit_test(test_cut),       cmocka_unit_test(test_tallies),
        cmocka_unit_test(test_no_output), cmocka_unit_test(test_adopted),
        cmocka_unit_test(test_counters),  cmocka_unit_test(test_programs),
        cmocka_unit_test(test_private),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
