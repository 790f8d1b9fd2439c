/* tapped.c - one traced process, as the collector sees it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/tapped.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/procfs.h"
#include "trace/collect/state.h"

#define MOST_HANDLES (UINT32_C(1) << 28)
#define MOST_MAPS    65536

static void file_name(const char *folder, uint32_t number, char *buf,
                      size_t cap)
{
    snprintf(buf, cap, "%s/p%u", folder, number);
}

/* NULL: it is not there, or not as large as it will be. */
static struct wr_tap_process *map_file(const char *path, bool keep)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    void *base = MAP_FAILED;
    struct stat st;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && st.st_size == (off_t)WR_TAP_SIZE &&
        st.st_blocks > 0)
        base = mmap(NULL, WR_TAP_SIZE, PROT_READ | PROT_WRITE,
                    keep ? MAP_PRIVATE : MAP_SHARED, fd, 0);
    close(fd);
    return base == MAP_FAILED ? NULL : base;
}

/* Texts of another process's memory end somewhere. */
static void keep_head(struct wr_tapped *t)
{
    t->kept = *t->head;
    t->kept.program[sizeof(t->kept.program) - 1] = '\0';
    t->kept.argv[sizeof(t->kept.argv) - 1] = '\0';
    t->kept.cwd[sizeof(t->kept.cwd) - 1] = '\0';
}

int wr_tapped_open(struct wr_tapped **ret, const char *folder, uint32_t number,
                   bool keep, weir_err *err)
{
    struct wr_tap_process *head;
    struct wr_tapped *t;
    char path[300];

    file_name(folder, number, path, sizeof(path));
    head = map_file(path, keep);
    if (!head)
        return 0;
    if (!__atomic_load_n(&head->ready, __ATOMIC_ACQUIRE) ||
        head->magic != WR_TAP_MAGIC) {
        munmap(head, WR_TAP_SIZE);
        return 0;
    }
    t = calloc(1, sizeof(*t));
    if (t)
        t->slots = calloc(WR_TAP_CHUNKS, sizeof(*t->slots));
    if (!t || !t->slots) {
        free(t);
        munmap(head, WR_TAP_SIZE);
        return wr_fail(err, WEIR_ENOMEM, "a traced process");
    }
    t->head = head;
    t->number = number;
    t->keep = keep;
    t->status = -1;
    t->end_ns = UINT64_MAX;
    keep_head(t);
    t->first_handle = t->kept.first_handle;
    *ret = t;
    return 1;
}

void wr_tapped_detach(struct wr_tapped *t, const char *folder)
{
    char path[300];

    if (!t->head)
        return;
    keep_head(t);
    munmap(t->head, WR_TAP_SIZE);
    t->head = NULL;
    file_name(folder, t->number, path, sizeof(path));
    if (!t->keep)
        unlink(path);
    free(t->maps);
    free(t->slots);
    t->maps = NULL;
    t->slots = NULL;
    t->map_count = t->map_cap = 0;
}

void wr_tapped_free(struct wr_tapped *t)
{
    if (!t)
        return;
    if (t->head)
        munmap(t->head, WR_TAP_SIZE);
    free(t->handles);
    free(t->named_cwd);
    free(t->cwd);
    free(t->maps);
    free(t->slots);
    free(t);
}

/* --- handles --- */

bool wr_tapped_set_handle(struct wr_tapped *t, uint32_t handle, uint32_t file)
{
    size_t k = handle - t->first_handle - 1, old = t->handle_cap;

    if (handle <= t->first_handle || k >= MOST_HANDLES)
        return false;
    if (!wr_grow(&t->handles, &t->handle_cap, k + 1, sizeof(*t->handles)))
        return false;
    for (size_t i = old; i < t->handle_cap; i++)
        t->handles[i] = WR_TRACE_NO_FILE;
    t->handles[k] = file;
    return true;
}

uint32_t wr_tapped_file(const struct wr_tapped *t, uint32_t handle)
{
    while (t && handle <= t->first_handle)
        t = t->parent;
    if (!handle || !t || handle - t->first_handle - 1 >= t->handle_cap)
        return WR_TRACE_NO_FILE;
    return t->handles[handle - t->first_handle - 1];
}

/* --- mapped files --- */

bool wr_tapped_map_add(struct wr_tapped *t, const struct wr_tapped_map *m)
{
    if (t->map_count >= MOST_MAPS ||
        !wr_grow(&t->maps, &t->map_cap, t->map_count + 1, sizeof(*t->maps)))
        return false;
    t->maps[t->map_count++] = *m;
    return true;
}

void wr_tapped_map_remove(struct wr_tapped *t, uint64_t at)
{
    for (size_t i = t->map_count; i-- > 0;) {
        if (t->maps[i].at == at) {
            t->maps[i] = t->maps[--t->map_count];
            return;
        }
    }
}

/* A child has its parent's mappings, too. */
const struct wr_tapped_map *wr_tapped_map_at(const struct wr_tapped *t,
                                             uint64_t address)
{
    for (; t; t = t->parent)
        for (size_t i = t->map_count; i-- > 0;)
            if (address - t->maps[i].at < t->maps[i].len)
                return &t->maps[i];
    return NULL;
}

/* --- what /proc tells of it --- */

void wr_tapped_match(struct wr_tapped *t, const struct wr_trace_event *e)
{
    if (e->op == WR_TRACE_READ || e->op == WR_TRACE_COPY_IN)
        t->read += e->bytes;
    if (e->op == WR_TRACE_WRITE || e->op == WR_TRACE_COPY_OUT)
        t->written += e->bytes;
}

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
