/* maker.c - made-up traces: a program that never ran, in a file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void good(int r, const weir_err *err)
{
    if (r < 0)
        fail_msg("%s", err->msg);
}

void maker_open(struct maker *m)
{
    const char *base = getenv("TMPDIR");
    weir_err err;

    *m = (struct maker){0};
    snprintf(m->dir, sizeof(m->dir), "%s/weir-test-XXXXXX",
             base ? base : "/tmp");
    assert_non_null(mkdtemp(m->dir));
    snprintf(m->path, sizeof(m->path), "%s/t.wtrace", m->dir);
    m->info = (struct wr_trace_info){
        .start_wall_ns = UINT64_C(1700000000000000000),
        .command = "python3 train.py",
        .host = "node1",
        .kernel = "6.1",
        .weir = "0.1",
        .cores = 8,
        .memory_bytes = UINT64_C(64) << 30,
        .available_bytes = UINT64_C(60) << 30,
        .mounts = "/dev/sda1 / ext4 4096\nserver:/x /data nfs4 1048576\n"};
    good(wr_trace_writer_open(&m->w, m->path, &m->info, &err), &err);
}

struct wr_trace_file *maker_read(struct maker *m)
{
    struct wr_trace_file *f = NULL;
    weir_err err;

    for (uint32_t k = 0; k < m->process_count; k++)
        if (m->processes[k].end_ns > m->info.end_ns)
            m->info.end_ns = m->processes[k].end_ns;
    m->info.complete = true;
    good(wr_trace_writer_close(m->w, &m->info, &err), &err);
    m->w = NULL;
    good(wr_trace_file_open(&f, m->path, &err), &err);
    assert_null(wr_trace_file_damage(f));
    return f;
}

void maker_done(struct maker *m)
{
    wr_trace_writer_drop(m->w);
    unlink(m->path);
    assert_int_equal(rmdir(m->dir), 0);
}

uint32_t maker_name(struct maker *m, uint64_t size, const char *fmt, ...)
{
    char path[300];
    weir_err err;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(path, sizeof(path), fmt, ap);
    va_end(ap);
    good(wr_trace_writer_name(m->w, m->name_count, path, WR_TRACE_DATA, size,
                              &err),
         &err);
    return m->name_count++;
}

uint32_t maker_kind(struct maker *m, int kind, const char *path)
{
    weir_err err;

    good(
        wr_trace_writer_name(m->w, m->name_count, path, kind, UINT64_MAX, &err),
        &err);
    return m->name_count++;
}

uint32_t maker_process(struct maker *m, int parent, uint64_t start_ms,
                       uint64_t end_ms)
{
    uint32_t k = m->process_count++;

    assert_true(k < 64);
    m->processes[k] = (struct wr_trace_process){.pid = 1000 + (int32_t)k,
                                                .parent = parent,
                                                .rank = -1,
                                                .world = -1,
                                                .start_ns = start_ms * MS,
                                                .end_ns = end_ms * MS,
                                                .threads = 1,
                                                .program = "/usr/bin/python3",
                                                .argv = "python3 train.py",
                                                .cwd = "/w",
                                                .host = "node1",
                                                .rchar = UINT64_MAX,
                                                .wchar = UINT64_MAX,
                                                .read_bytes = UINT64_MAX,
                                                .write_bytes = UINT64_MAX,
                                                .major_faults = UINT64_MAX};
    maker_again(m, k);
    return k;
}

void maker_again(struct maker *m, uint32_t process)
{
    weir_err err;

    good(wr_trace_writer_process(m->w, process, &m->processes[process], &err),
         &err);
}

void maker_event(struct maker *m, struct wr_trace_event e)
{
    weir_err err;

    if (!e.thread)
        e.thread = 1000 + e.process;
    if (!e.file2)
        e.file2 = WR_TRACE_NO_FILE;
    good(wr_trace_writer_events(m->w, &e, 1, &err), &err);
}

uint64_t maker_whole(struct maker *m, uint32_t process, uint32_t file,
                     uint64_t bytes, uint64_t at_ns, uint64_t dur_ns)
{
    maker_event(m, (struct wr_trace_event){.op = WR_TRACE_OPEN,
                                           .process = process,
                                           .file = file,
                                           .offset = UINT64_MAX,
                                           .start_ns = at_ns,
                                           .dur_ns = 5000});
    maker_event(m, (struct wr_trace_event){.op = WR_TRACE_READ,
                                           .process = process,
                                           .file = file,
                                           .bytes = bytes,
                                           .start_ns = at_ns + 5000,
                                           .dur_ns = dur_ns});
    maker_event(m, (struct wr_trace_event){.op = WR_TRACE_CLOSE,
                                           .process = process,
                                           .file = file,
                                           .offset = UINT64_MAX,
                                           .start_ns = at_ns + 5000 + dur_ns,
                                           .dur_ns = 1000});
    return at_ns + 6000 + dur_ns;
}

uint64_t maker_records(struct maker *m, uint32_t file, unsigned count,
                       bool again, uint64_t at_ns)
{
    for (unsigned k = 0; k < count; k++) {
        if (!k || again) {
            maker_event(m, (struct wr_trace_event){.op = WR_TRACE_OPEN,
                                                   .file = file,
                                                   .offset = UINT64_MAX,
                                                   .start_ns = at_ns,
                                                   .dur_ns = MS});
            at_ns += MS;
        }
        maker_event(m, (struct wr_trace_event){.op = WR_TRACE_READ,
                                               .file = file,
                                               .offset = k * 100 * KB,
                                               .bytes = 100 * KB,
                                               .start_ns = at_ns,
                                               .dur_ns = MS / 5});
        at_ns += MS / 5;
        if (again || k + 1 == count)
            maker_event(m, (struct wr_trace_event){.op = WR_TRACE_CLOSE,
                                                   .file = file,
                                                   .offset = UINT64_MAX,
                                                   .start_ns = at_ns,
                                                   .dur_ns = 1000});
        at_ns += 1000;
    }
    return at_ns;
}
