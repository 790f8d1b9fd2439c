/* test_kernel_calls.c - events from the kernel's records of calls, processes and
 * requests of io_uring, made up here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tapper.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "trace/collect/kernel_state.h"

#define PID  5000000          /* larger than any: /proc tells nothing of it */
#define CALL (UINT64_C(1000)) /* ns that each takes */

static struct tapper tap;
static struct wr_kernel *k;
static uint64_t now_ns;

static void begin(void)
{
    tapper_open(&tap);
    k = calloc(1, sizeof(*k));
    assert_non_null(k);
    k->c = tap.c;
    now_ns = tap.c->start_ns + 1;
}

static void end(void)
{
    wr_kernel_close(k);
    tapper_close(&tap);
}

/* A process that has no library, in a folder. */
static struct wr_kernel_thread *alone(uint32_t pid, const char *cwd)
{
    struct wr_kernel_thread *t = wr_kernel_thread_of(k, pid, pid, now_ns);

    assert_non_null(t);
    strcpy(t->process->comm, "static");
    t->process->cwd = cwd ? strdup(cwd) : NULL;
    wr_kernel_decide(k, t->process);
    assert_int_equal(t->process->view, WR_KERNEL_ALONE);
    return t;
}

static void enter(struct wr_kernel_thread *t, long number,
                  const uint64_t args[6])
{
    t->now = (struct wr_kernel_call){.time_ns = now_ns};
    memcpy(t->now.args, args, sizeof(t->now.args));
    for (size_t i = 0; i < wr_call_count && !t->now.call; i++)
        if (wr_calls[i].number == number)
            t->now.call = &wr_calls[i];
    assert_non_null(t->now.call);
}

static void leave(struct wr_kernel_thread *t, int64_t result)
{
    now_ns += CALL;
    wr_kernel_on_call(k, t, result, now_ns);
    wr_kernel_thread_clear(t);
}

#define ARGS(...)                                                              \
    (const uint64_t[6])                                                        \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

static void call(struct wr_kernel_thread *t, long number,
                 const uint64_t args[6], int64_t result)
{
    enter(t, number, args);
    leave(t, result);
}

static void call_path(struct wr_kernel_thread *t, long number,
                      const uint64_t args[6], const char *path,
                      const char *other, int64_t result)
{
    enter(t, number, args);
    t->paths[0] = path ? strdup(path) : NULL;
    t->paths[1] = other ? strdup(other) : NULL;
    leave(t, result);
}

static void open_file(struct wr_kernel_thread *t, const char *path,
                      uint64_t flags, int64_t fd)
{
    call_path(t, SYS_openat, ARGS((uint64_t)AT_FDCWD, 0, flags), path, NULL,
              fd);
}

static const struct wr_trace_event *expect(size_t n, unsigned op,
                                           const char *path)
{
    const struct wr_trace_event *e = &tap.events[n];

    assert_true(n < tap.count);
    assert_string_equal(wr_trace_op_name(e->op), wr_trace_op_name(op));
    assert_string_equal(tapper_path(&tap, e->file), path);
    return e;
}

/* --- descriptors --- */

/* Reads and writes go on from where the last one ended. */
static void test_positions(void **state)
{
    struct wr_kernel_thread *t;
    const struct wr_trace_event *e;

    begin();
    t = alone(PID, "/job");
    open_file(t, "a", O_RDONLY, 3);
    call(t, SYS_read, ARGS(3, 0, 100), 100);
    call(t, SYS_read, ARGS(3, 0, 100), 40);
    call(t, SYS_pread64, ARGS(3, 0, 100, 5000), 100);
    call(t, SYS_lseek, ARGS(3, 7000, SEEK_SET), 7000);
    call(t, SYS_write, ARGS(3, 0, 10), -28);
    call(t, SYS_read, ARGS(3, 0, 1), 1);
    call(t, SYS_close, ARGS(3), 0);
    call(t, SYS_read, ARGS(3, 0, 1), 1);
    end();
    assert_int_equal(tap.count, 9);
    e = expect(0, WR_TRACE_OPEN, "/job/a");
    assert_int_equal(e->start_ns, 1);
    assert_int_equal(e->dur_ns, CALL);
    assert_int_equal(e->thread, PID);
    assert_int_equal(expect(1, WR_TRACE_READ, "/job/a")->offset, 0);
    e = expect(2, WR_TRACE_READ, "/job/a");
    assert_true(e->offset == 100 && e->bytes == 40);
    assert_int_equal(expect(3, WR_TRACE_READ, "/job/a")->offset, 5000);
    expect(4, WR_TRACE_SEEK, "/job/a");
    e = expect(5, WR_TRACE_WRITE, "/job/a");
    assert_true(e->error == 28 && e->bytes == 0);
    assert_int_equal(e->flags, WR_TRACE_FAILED);
    assert_int_equal(expect(6, WR_TRACE_READ, "/job/a")->offset, 7000);
    expect(7, WR_TRACE_CLOSE, "/job/a");
    expect(8, WR_TRACE_READ, ""); /* whose it is now is not known */
    assert_int_equal(tap.sum.unnamed_files, 1);
    assert_int_equal(tap.sum.kernel_events, 9);
    tapper_done(&tap);
}

static void test_flags(void **state)
{
    struct wr_kernel_thread *t;

    begin();
    t = alone(PID, "/job");
    open_file(t, "/log", O_WRONLY | O_APPEND | O_CREAT, 3);
    call(t, SYS_write, ARGS(3, 0, 10), 10);
    open_file(t, "/big", O_RDWR | O_DIRECT | O_TRUNC, 4);
    call(t, SYS_read, ARGS(4, 0, 512), 512);
    open_file(t, "/dir", O_DIRECTORY, 5);
    open_file(t, "/none", O_RDONLY, -2);
    call(t, SYS_getdents64, ARGS(5, 0, 4096), 200);
    end();
    assert_int_equal(expect(0, WR_TRACE_OPEN, "/log")->flags,
                     WR_TRACE_CREATE | WR_TRACE_WRITES);
    assert_true(expect(1, WR_TRACE_WRITE, "/log")->offset == UINT64_MAX);
    assert_int_equal(expect(2, WR_TRACE_OPEN, "/big")->flags,
                     WR_TRACE_TRUNC | WR_TRACE_DIRECT | WR_TRACE_WRITES);
    assert_int_equal(expect(3, WR_TRACE_READ, "/big")->flags, WR_TRACE_DIRECT);
    expect(4, WR_TRACE_OPENDIR, "/dir");
    assert_int_equal(expect(5, WR_TRACE_OPEN, "/none")->error, 2);
    assert_int_equal(expect(6, WR_TRACE_READDIR, "/dir")->bytes, 0);
    tapper_done(&tap);
}

/* Two descriptors of one open file move one position, which is lost then. */
static void test_copies(void **state)
{
    struct wr_kernel_thread *t;

    begin();
    t = alone(PID, "/");
    open_file(t, "/a", O_RDONLY, 3);
    call(t, SYS_dup, ARGS(3), 4);
    call(t, SYS_read, ARGS(4, 0, 5), 5);
    call(t, SYS_read, ARGS(3, 0, 6), 6);
    call(t, SYS_fcntl, ARGS(3, F_DUPFD_CLOEXEC, 10), 10);
    call(t, SYS_fcntl, ARGS(3, F_GETFL), 0);
    call(t, SYS_read, ARGS(10, 0, 7), 7);
    call(t, SYS_dup3, ARGS(99, 4), 4); /* of one that is not known */
    call(t, SYS_read, ARGS(4, 0, 8), 8);
    call(t, SYS_close_range, ARGS(3, UINT64_MAX), 0);
    call(t, SYS_read, ARGS(10, 0, 9), 9);
    end();
    assert_int_equal(tap.count, 6);
    assert_true(expect(1, WR_TRACE_READ, "/a")->offset == UINT64_MAX);
    assert_true(expect(2, WR_TRACE_READ, "/a")->offset == UINT64_MAX);
    expect(3, WR_TRACE_READ, "/a");
    expect(4, WR_TRACE_READ, "");
    expect(5, WR_TRACE_READ, "");
    tapper_done(&tap);
}

/* Numbers that no descriptor has are of no file. */
static void test_wild(void **state)
{
    struct wr_kernel_thread *t;

    begin();
    t = alone(PID, "/");
    open_file(t, "/a", O_RDONLY, INT64_C(1) << 40);
    call(t, SYS_read, ARGS(UINT64_MAX, 0, 5), 5);
    call(t, SYS_close, ARGS(UINT64_MAX), 0);
    call(t, SYS_lseek, ARGS(UINT64_C(1) << 33, 0, 0), 0);
    call(t, SYS_close_range, ARGS(0, UINT64_MAX), 0);
    call(t, SYS_copy_file_range, ARGS(UINT64_MAX, 0, UINT64_MAX), 3);
    open_file(t, NULL, O_RDONLY, 3); /* its name was not seen */
    open_file(t, "", O_RDONLY, 4);
    end();
    assert_int_equal(tap.count, 7);
    expect(0, WR_TRACE_OPEN, "/a");
    expect(1, WR_TRACE_READ, "");
    expect(3, WR_TRACE_COPY_IN, "");
    expect(4, WR_TRACE_COPY_OUT, "");
    expect(5, WR_TRACE_OPEN, "");
    tapper_done(&tap);
}

/* What began before the collector did, or ended before it began, is no call. */
static void test_clock(void **state)
{
    struct wr_kernel_thread *t;

    begin();
    t = alone(PID, "/");
    enter(t, SYS_read, ARGS(0, 0, 1));
    t->now.time_ns = tap.c->start_ns - 1;
    wr_kernel_on_call(k, t, 1, now_ns);
    t->now.time_ns = now_ns;
    wr_kernel_on_call(k, t, 1, now_ns - 1);
    end();
    assert_int_equal(tap.count, 0);
    tapper_done(&tap);
}

/* --- paths --- */

static void test_folders(void **state)
{
    struct wr_kernel_thread *t;
    const struct wr_trace_event *e;

    begin();
    t = alone(PID, "/job");
    open_file(t, "/data", O_DIRECTORY, 3);
    call_path(t, SYS_newfstatat, ARGS(3), "x/../y", NULL, 0);
    call_path(t, SYS_newfstatat, ARGS(3), "", NULL, 0); /* itself */
    call_path(t, SYS_chdir, ARGS(0), "sub", NULL, 0);
    call_path(t, SYS_mkdirat, ARGS((uint64_t)AT_FDCWD), "made", NULL, 0);
    call_path(t, SYS_chdir, ARGS(0), "/nosuch", NULL, -2);
    call_path(t, SYS_unlinkat, ARGS((uint64_t)AT_FDCWD, 0, AT_REMOVEDIR),
              "made", NULL, 0);
    call(t, SYS_fchdir, ARGS(3), 0);
    call_path(t, SYS_renameat2, ARGS((uint64_t)AT_FDCWD, 0, 3), "old", "new",
              0);
    call_path(t, SYS_truncate, ARGS(0), "short", NULL, 0);
    end();
    assert_int_equal(tap.count, 7);
    expect(1, WR_TRACE_STAT, "/data/y");
    expect(2, WR_TRACE_STAT, "/data");
    expect(3, WR_TRACE_MKDIR, "/job/sub/made");
    expect(4, WR_TRACE_RMDIR, "/job/sub/made");
    e = expect(5, WR_TRACE_RENAME, "/data/old");
    assert_string_equal(tapper_path(&tap, e->file2), "/data/new");
    expect(6, WR_TRACE_TRUNCATE, "/data/short");
    tapper_done(&tap);
}

/* A relative path from a folder that nobody knows is not guessed. */
static void test_no_folder(void **state)
{
    struct wr_kernel_thread *t;

    begin();
    t = alone(PID, NULL);
    open_file(t, "a", O_RDONLY, 3);
    open_file(t, "/b", O_RDONLY, 4);
    call_path(t, SYS_newfstatat, ARGS(77), "c", NULL, 0);
    end();
    expect(0, WR_TRACE_OPEN, "");
    expect(1, WR_TRACE_OPEN, "/b");
    expect(2, WR_TRACE_STAT, "");
    assert_true(tap.sum.unnamed_files >= 2);
    tapper_done(&tap);
}

/* --- memory, ranges, copies --- */

static void test_memory(void **state)
{
    const uint64_t anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
    const struct wr_trace_event *e;
    struct wr_kernel_thread *t;
    struct wr_tapped *made;

    begin();
    t = alone(PID, "/");
    made = t->process->tap;
    open_file(t, "/a", O_RDONLY, 3);
    call(t, SYS_mmap, ARGS(0, 8192, PROT_READ, MAP_PRIVATE, 3, 4096), 0x10000);
    call(t, SYS_mmap, ARGS(0, 64, PROT_READ, anonymous, 3, 0), 0x20000);
    call(t, SYS_mmap, ARGS(0, 64, PROT_READ, MAP_PRIVATE, (uint32_t)-1, 0),
         0x30000);
    call(t, SYS_mmap, ARGS(0, 64, PROT_READ, MAP_PRIVATE, 3, 0), -12);
    assert_non_null(wr_tapped_map_at(made, 0x10000));
    assert_null(wr_tapped_map_at(made, 0x20000));
    assert_null(wr_tapped_map_at(made, 0x30000));
    call(t, SYS_munmap, ARGS(0x10000, 8192), 0);
    assert_null(wr_tapped_map_at(made, 0x10000));
    call(t, SYS_fadvise64, ARGS(3, 100, 200, POSIX_FADV_WILLNEED), 0);
    call(t, SYS_fallocate, ARGS(3, 0, 300, 400), -95);
    end();
    assert_int_equal(tap.count, 5);
    e = expect(1, WR_TRACE_MMAP, "/a");
    assert_true(e->bytes == 8192 && e->offset == 4096);
    assert_int_equal(expect(2, WR_TRACE_MMAP, "/a")->error, 12);
    e = expect(3, WR_TRACE_ADVISE, "/a");
    assert_true(e->offset == 100 && e->bytes == 200);
    e = expect(4, WR_TRACE_ALLOCATE, "/a");
    assert_true(e->offset == 300 && e->bytes == 0);
    tapper_done(&tap);
}

static void test_between(void **state)
{
    struct wr_kernel_thread *t;

    begin();
    t = alone(PID, "/");
    open_file(t, "/from", O_RDONLY, 3);
    open_file(t, "/to", O_WRONLY, 4);
    call(t, SYS_copy_file_range, ARGS(3, 0, 4, 0, 100, 0), 100);
    call(t, SYS_sendfile, ARGS(4, 3, 0, 50), 50);
    end();
    assert_int_equal(tap.count, 6);
    assert_int_equal(expect(2, WR_TRACE_COPY_IN, "/from")->bytes, 100);
    assert_int_equal(expect(3, WR_TRACE_COPY_OUT, "/to")->bytes, 100);
    expect(4, WR_TRACE_COPY_IN, "/from");
    assert_int_equal(expect(5, WR_TRACE_COPY_OUT, "/to")->bytes, 50);
    assert_int_equal(tap.sum.bytes_read, 150);
    assert_int_equal(tap.sum.bytes_written, 150);
    tapper_done(&tap);
}

/* --- processes --- */

static struct wr_ring_record of(int kind, uint32_t pid, uint32_t parent)
{
    return (struct wr_ring_record){.kind = kind,
                                   .pid = pid,
                                   .tid = pid,
                                   .parent_pid = parent,
                                   .time_ns = now_ns += CALL,
                                   .comm = "next"};
}

/* A child has its parent's folder and descriptors; another program keeps three
 * of them. */
static void test_processes(void **state)
{
    struct wr_kernel_thread *t, *child;
    struct wr_ring_record r;

    begin();
    t = alone(PID, "/job");
    open_file(t, "/in", O_RDONLY, 0);
    open_file(t, "/a", O_RDONLY, 3);
    r = of(WR_RING_FORK, PID + 1, PID);
    wr_kernel_on_fork(k, &r);
    child = wr_kernel_thread_of(k, PID + 1, PID + 1, now_ns);
    assert_int_equal(child->process->view, WR_KERNEL_ALONE);
    call(child, SYS_read, ARGS(3, 0, 1), 1);
    call(t, SYS_read, ARGS(3, 0, 2), 2); /* both move one position */
    open_file(child, "b", O_RDONLY, 4);
    r = of(WR_RING_EXEC, PID + 1, 0);
    wr_kernel_on_exec(k, &r);
    assert_int_equal(child->process->view, WR_KERNEL_UNDECIDED);
    call(child, SYS_read, ARGS(0, 0, 3), 3);
    call(child, SYS_read, ARGS(3, 0, 4), 4);
    r = of(WR_RING_EXIT, PID + 1, 0);
    wr_kernel_on_exit(k, &r);
    assert_null(wr_keyed_at(&k->processes, PID + 1));
    assert_int_equal(k->alone, 1);
    r = of(WR_RING_EXIT, PID + 9, 0); /* of nobody */
    wr_kernel_on_exit(k, &r);
    end();
    assert_int_equal(tap.count, 7);
    assert_true(expect(2, WR_TRACE_READ, "/a")->offset == UINT64_MAX);
    assert_int_equal(tap.events[2].process, 1);
    assert_true(expect(3, WR_TRACE_READ, "/a")->offset == UINT64_MAX);
    assert_int_equal(tap.events[3].process, 0);
    expect(4, WR_TRACE_OPEN, "/job/b");
    expect(5, WR_TRACE_READ, "/in");
    expect(6, WR_TRACE_READ, "");
    assert_int_equal(tap.events[6].process, 2); /* another program */
    assert_int_equal(wr_trace_file_processes(tap.f), 3);
    assert_int_equal(wr_trace_file_process(tap.f, 1)->parent, 0);
    assert_int_equal(wr_trace_file_process(tap.f, 2)->parent, 1);
    assert_string_equal(wr_trace_file_process(tap.f, 2)->program, "next");
    tapper_done(&tap);
}

/* A thread that ends leaves the process running; a new program ends them all. */
static void test_threads(void **state)
{
    struct wr_kernel_thread *t;
    struct wr_ring_record r;

    begin();
    t = alone(PID, "/");
    r = of(WR_RING_FORK, PID, PID);
    r.tid = PID + 1;
    wr_kernel_on_fork(k, &r);
    r.tid = PID + 2;
    wr_kernel_on_fork(k, &r);
    assert_int_equal(t->process->threads, 3);
    r = of(WR_RING_EXIT, PID, 0);
    r.tid = PID + 1;
    wr_kernel_on_exit(k, &r);
    assert_int_equal(t->process->threads, 2);
    assert_null(wr_keyed_at(&k->threads, PID + 1));
    r = of(WR_RING_EXEC, PID, 0);
    wr_kernel_on_exec(k, &r);
    assert_int_equal(t->process->threads, 1);
    assert_null(wr_keyed_at(&k->threads, PID + 2));
    assert_non_null(wr_keyed_at(&k->threads, PID));
    end();
    assert_int_equal(wr_trace_file_process(tap.f, 0)->threads, 3);
    tapper_done(&tap);
}

/* As long as it is not known whether the library comes, calls wait. */
static void test_undecided(void **state)
{
    struct wr_kernel_thread *t;
    struct wr_tapped library = {.kept = {.magic = WR_TAP_MAGIC, .pid = PID}};
    struct wr_kernel_process *p;

    begin();
    t = wr_kernel_thread_of(k, PID, PID, now_ns);
    p = t->process;
    p->cwd = strdup("/");
    open_file(t, "/ld.so.cache", O_RDONLY, 3);
    call(t, SYS_read, ARGS(3, 0, 100), 100);
    assert_int_equal(p->waiting_count, 2);
    assert_int_equal(tap.c->sum.kernel_events, 0);
    library.kept.start = wr_clock_ns();
    library.kept.wrapped[0] = (struct wr_tap_range){0x1000, 0x1fff};
    wr_collect_process(tap.c, &library);
    wr_kernel_tapped(k, &library);
    now_ns = wr_clock_ns();
    call(t, SYS_read, ARGS(3, 0, 100), 100);
    assert_int_equal(p->view, WR_KERNEL_LIBRARY);
    assert_ptr_equal(p->tap, &library);
    assert_int_equal(p->waiting_count, 0); /* the loader's */
    assert_false(wr_kernel_takes(p, 0x1000));
    assert_false(wr_kernel_takes(p, 0x1fff));
    assert_false(wr_kernel_takes(p, 0));
    assert_true(wr_kernel_takes(p, 0x2000)); /* past the C library */
    open_file(t, "/seen", O_RDONLY, 5); /* by the library, which tells of it */
    enter(t, SYS_read, ARGS(5, 0, 7));
    t->now.ip = 0x2000;
    leave(t, 7);
    end();
    assert_int_equal(tap.count, 1);
    assert_int_equal(expect(0, WR_TRACE_READ, "/seen")->bytes, 7);
    tapper_done(&tap);
}

static void test_too_long_undecided(void **state)
{
    struct wr_kernel_thread *t;

    begin();
    t = wr_kernel_thread_of(k, PID, PID, now_ns);
    for (int i = 0; i < 8200; i++)
        call(t, SYS_sync, ARGS(0), 0);
    assert_int_equal(t->process->view, WR_KERNEL_ALONE);
    end();
    assert_int_equal(tap.sum.kernel_events, 8200); /* none was dropped */
    tapper_done(&tap);
}

static void test_foreign(void **state)
{
    struct wr_kernel_thread *t;

    begin();
    t = wr_kernel_thread_of(k, PID, PID, now_ns);
    t->process->view = WR_KERNEL_FOREIGN;
    assert_false(wr_kernel_takes(t->process, 0x2000));
    call(t, SYS_read, ARGS(0, 0, 1), 1); /* 32 bits: it is another call */
    end();
    assert_int_equal(tap.count, 0);
    tapper_done(&tap);
}

/* --- io_uring --- */

/* A record of 16 bytes: the request, then the other two fields. */
struct ring_bytes {
    uint64_t request;
    int32_t second;
    uint32_t third;
};

static void on_ring(void (*on)(struct wr_kernel *,
                               const struct wr_ring_record *),
                    uint64_t request, int32_t second, uint32_t third)
{
    const struct ring_bytes bytes = {request, second, third};
    struct wr_ring_record r = of(WR_RING_SAMPLE, PID, 0);

    r.raw = (const uint8_t *)&bytes;
    r.raw_len = sizeof(bytes);
    on(k, &r);
}

static void begin_ring(struct wr_kernel_thread **ret)
{
    begin();
    k->submit.fields[0] = k->get_file.fields[0] = k->complete.fields[0] =
        (struct wr_tracepoint_field){"req", 0, 8};
    k->submit.fields[1] = (struct wr_tracepoint_field){"opcode", 8, 4};
    k->submit.fields[2] = (struct wr_tracepoint_field){"flags", 12, 4};
    k->get_file.fields[1] = (struct wr_tracepoint_field){"fd", 8, 4};
    k->complete.fields[1] = (struct wr_tracepoint_field){"res", 8, 4};
    *ret = alone(PID, "/");
    open_file(*ret, "/a", O_RDONLY, 3);
}

static void request(uint64_t key, int op, int fd)
{
    on_ring(wr_kernel_on_submit, key, op, 0);
    on_ring(wr_kernel_on_get_file, key, fd, 0);
}

static void test_ring(void **state)
{
    const struct wr_trace_event *e;
    struct wr_kernel_thread *t;

    begin_ring(&t);
    request(1, IORING_OP_READ, 3);
    request(2, IORING_OP_WRITE, 3);
    on_ring(wr_kernel_on_complete, 2, -5, 0);
    on_ring(wr_kernel_on_complete, 1, 4096, 0);
    request(3, IORING_OP_FSYNC, 3);
    on_ring(wr_kernel_on_complete, 3, 0, 0);
    request(4, IORING_OP_TIMEOUT, -1); /* not on a file */
    on_ring(wr_kernel_on_complete, 4, 0, 0);
    end();
    assert_int_equal(tap.count, 4);
    e = expect(1, WR_TRACE_AIO_WRITE, "/a");
    assert_true(e->error == 5 && e->bytes == 0);
    e = expect(2, WR_TRACE_AIO_READ, "/a");
    assert_int_equal(e->bytes, 4096);
    assert_int_equal(e->dur_ns, 5 * CALL);
    expect(3, WR_TRACE_SYNC, "/a");
    assert_int_equal(tap.sum.uring_requests, 4);
    assert_int_equal(tap.sum.uring_seen, 3);
    tapper_done(&tap);
}

/* Answers without a question, questions without an answer, files by number. */
static void test_ring_lost(void **state)
{
    struct wr_kernel_thread *t;

    begin_ring(&t);
    on_ring(wr_kernel_on_complete, 1, 4096, 0);
    on_ring(wr_kernel_on_get_file, 1, 3, 0);
    request(2, IORING_OP_READ, 3);
    request(2, IORING_OP_READ, 3); /* the number comes again */
    on_ring(wr_kernel_on_complete, 2, 1, 0);
    request(3, IORING_OP_READ, 3);
    on_ring(wr_kernel_on_submit, 4, IORING_OP_READ,
            1); /* of a registered one */
    on_ring(wr_kernel_on_complete, 4, 2, 0);
    wr_kernel_requests_done(k);
    end();
    assert_int_equal(tap.count, 3);
    assert_int_equal(expect(1, WR_TRACE_AIO_READ, "/a")->bytes, 1);
    assert_int_equal(expect(2, WR_TRACE_AIO_READ, "")->bytes, 2);
    assert_int_equal(tap.sum.uring_unseen, 2);
    assert_int_equal(tap.sum.uring_unnamed, 1);
    tapper_done(&tap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_wild),
        cmocka_unit_test(test_clock),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_between),
        cmocka_unit_test(test_processes),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_undecided),
        cmocka_unit_test(test_too_long_undecided),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_ring_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
