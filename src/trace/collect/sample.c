/* sample.c - what /proc tells of a traced process.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/state.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "base/procfs.h"

/* The counters of the process's whole life; those of its last words are newer
 * than what is read here while it runs. */
void wr_sample_io(struct wr_tapped *t)
{
    struct wr_tap_io io = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                           t->kept.io.major_faults};
    const struct wr_procfs_field fields[] = {
        {"rchar:", 1, &io.rchar},
        {"wchar:", 1, &io.wchar},
        {"read_bytes:", 1, &io.read_bytes},
        {"write_bytes:", 1, &io.write_bytes}};
    char path[64], text[512];

    snprintf(path, sizeof(path), "/proc/%d/io", t->kept.pid);
    if (wr_procfs_read_path(path, text, sizeof(text)) <= 0 ||
        wr_procfs_fields(text, fields, WR_ARRAY_LEN(fields)) < 4)
        return;
    if (t->head) {
        io.major_faults = t->head->io.major_faults;
        t->head->io = io;
    } else {
        t->kept.io = io;
    }
}

/* Requests that a ring has completed. */
static uint64_t ring_requests(pid_t pid, const char *fd)
{
    uint64_t tail = 0;
    const struct wr_procfs_field fields[] = {{"CqTail:", 1, &tail}};
    char path[300], text[4096];

    snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, fd);
    if (wr_procfs_read_path(path, text, sizeof(text)) <= 0)
        return 0;
    wr_procfs_fields(text, fields, 1);
    return tail;
}

static uint64_t all_requests(pid_t pid)
{
    char path[300], target[64];
    uint64_t sum = 0;
    struct dirent *e;
    ssize_t n;
    DIR *d;

    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    d = opendir(path);
    if (!d)
        return 0;
    while ((e = readdir(d))) {
        if (!wr_is_digit(e->d_name[0]))
            continue;
        n = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);
        if (n <= 0)
            continue;
        target[n] = '\0';
        if (!strcmp(target, "anon_inode:[io_uring]"))
            sum += ring_requests(pid, e->d_name);
    }
    closedir(d);
    return sum;
}

void wr_sample_rings(struct wr_collect *c, struct wr_tapped *t)
{
    uint64_t now = all_requests(t->kept.pid);
    struct wr_trace_event e = {.process = t->process,
                               .thread = (uint32_t)t->kept.pid,
                               .file2 = WR_TRACE_NO_FILE,
                               .op = WR_TRACE_URING,
                               .offset = UINT64_MAX};

    if (now <= t->ring_seen)
        return;
    e.bytes = now - t->ring_seen;
    t->ring_seen = now;
    c->sum.uring_requests += e.bytes;
    e.file = wr_collect_name(c, "anon_inode:[io_uring]");
    e.start_ns = c->next_sample_ns - c->start_ns;
    wr_collect_event(c, &e);
}
