/* tapper.c - processes that never ran, in the memory of a collector.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tapper.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"

static void good(int r, const weir_err *err)
{
    if (r < 0)
        fail_msg("%s", err->msg);
}

static void *map_file(const char *folder, const char *name, size_t size)
{
    char path[400];
    void *base;
    int fd;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    fd = open(path, O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(base != MAP_FAILED);
    close(fd);
    return base;
}

void tapper_open(struct tapper *t)
{
    const char *base = getenv("TMPDIR");
    weir_err err;

    memset(t, 0, sizeof(*t));
    snprintf(t->dir, sizeof(t->dir), "%s/weir-test-XXXXXX",
             base ? base : "/tmp");
    assert_non_null(mkdtemp(t->dir));
    snprintf(t->path, sizeof(t->path), "%s/t.wtrace", t->dir);
    t->info = (struct wr_trace_info){.command = "made up", .host = "node1"};
    good(wr_collect_open(&t->c,
                         &(struct wr_collect_config){.output = t->path,
                                                     .info = &t->info,
                                                     .budget_bytes = 1 << 30},
                         &err),
         &err);
    t->control = map_file(wr_collect_folder(t->c), "control", 4096);
    /* Stamps of nanoseconds: what a counter's are is known better and better,
     * and two rounds would not agree. */
    t->control->tsc = 0;
    t->control->start_stamp = t->control->start_ns;
    t->c->start_stamp = t->c->start_ns;
}

struct wr_tap_process *tapper_process(struct tapper *t, uint32_t number,
                                      uint32_t parent)
{
    struct wr_tap_process *p;
    char name[16];

    assert_true(number >= 1 && number <= TAPPED_MAX);
    snprintf(name, sizeof(name), "p%u", number);
    p = map_file(wr_collect_folder(t->c), name, WR_TAP_SIZE);
    *p = (struct wr_tap_process){.magic = WR_TAP_MAGIC,
                                 .number = number,
                                 .parent = parent,
                                 .pid = getpid(),
                                 .parent_pid = getppid(),
                                 .rank = -1,
                                 .world = -1,
                                 .threads = 1,
                                 .pid_space = wr_collect_pid_space(),
                                 .start = wr_clock_ns(),
                                 .status = -1};
    if (!parent) {
        strcpy(p->program, "/bin/made");
        strcpy(p->argv, "made up");
        strcpy(p->cwd, "/job");
    }
    memset(&p->io, 255, sizeof(p->io));
    t->processes[number - 1] = p;
    return p;
}

void tapper_ready(struct tapper *t, uint32_t number)
{
    struct wr_tap_process *p = t->processes[number - 1];

    __atomic_store_n(&p->ready, 1, __ATOMIC_RELEASE);
    if (t->control->processes < number)
        __atomic_store_n(&t->control->processes, number, __ATOMIC_RELEASE);
}

struct wr_tap_record *tapper_put(struct wr_tap_process *p, unsigned slot,
                                 struct wr_tap_record r, const char *name)
{
    struct wr_tap_chunk *c = wr_tap_chunk_at(p, slot);
    size_t len = name ? strlen(name) : 0;
    char *at = (char *)(c + 1) + c->spare[0]; /* how far it is written */

    if (p->state[slot] == WR_TAP_FREE) {
        c->tid = 100 + slot;
        p->state[slot] = WR_TAP_ACTIVE;
        p->chunks = p->chunks > slot ? p->chunks : slot + 1;
    }
    if (len)
        r.extra = (uint8_t)((len + WR_TAP_UNIT - 1) / WR_TAP_UNIT);
    memset(at, 0, (1 + (size_t)r.extra) * WR_TAP_UNIT);
    memcpy(at, &r, sizeof(r));
    if (len)
        memcpy(at + sizeof(r), name, len);
    c->spare[0] += (1 + (uint32_t)r.extra) * WR_TAP_UNIT;
    return (void *)at;
}

struct wr_tap_record tapper_record(uint8_t op, uint32_t handle)
{
    return (struct wr_tap_record){
        .stamp = wr_clock_ns(), .op = op, .handle = handle, .off = UINT64_MAX};
}

void tapper_read(struct wr_tap_process *p, unsigned slot, uint32_t handle,
                 uint64_t off, uint32_t len)
{
    struct wr_tap_record r = tapper_record(WR_TRACE_READ, handle);

    r.off = off;
    r.len = len;
    tapper_put(p, slot, r, NULL);
}

void tapper_name(struct wr_tap_process *p, unsigned slot, uint32_t handle,
                 uint32_t dir, const char *path)
{
    struct wr_tap_record r = tapper_record(WR_TRACE_OPEN, handle);

    r.off = dir;
    tapper_put(p, slot, r, path);
}

void tapper_commit(struct wr_tap_process *p, unsigned slot)
{
    struct wr_tap_chunk *c = wr_tap_chunk_at(p, slot);

    __atomic_store_n(&c->committed, c->spare[0], __ATOMIC_RELEASE);
}

static int keep_events(void *arg, const struct wr_trace_event *e, size_t count)
{
    struct tapper *t = arg;

    for (size_t k = 0; k < count && t->count < TAP_EVENTS; k++)
        t->events[t->count++] = e[k];
    return 0;
}

void tapper_close(struct tapper *t)
{
    weir_err err;

    munmap(t->control, 4096);
    good(wr_collect_close(t->c, &t->info, &t->sum, &err), &err);
    for (size_t k = 0; k < TAPPED_MAX; k++)
        if (t->processes[k])
            munmap(t->processes[k], WR_TAP_SIZE);
    t->c = NULL;
    good(wr_trace_file_open(&t->f, t->path, &err), &err);
    assert_null(wr_trace_file_damage(t->f));
    good(wr_trace_file_walk(t->f, keep_events, t, &err), &err);
    assert_null(wr_trace_file_damage(t->f));
}

const char *tapper_path(const struct tapper *t, uint32_t file)
{
    return file == WR_TRACE_NO_FILE ? "" : wr_trace_file_name(t->f, file)->path;
}

void tapper_expect(const struct tapper *t, size_t n, unsigned op,
                   const char *path, uint64_t bytes)
{
    const struct wr_trace_event *e = &t->events[n];

    assert_true(n < t->count);
    assert_string_equal(wr_trace_op_name(e->op), wr_trace_op_name(op));
    assert_string_equal(tapper_path(t, e->file), path);
    assert_int_equal(e->bytes, bytes);
}

void tapper_done(struct tapper *t)
{
    wr_trace_file_close(t->f);
    unlink(t->path);
    assert_int_equal(rmdir(t->dir), 0);
}
