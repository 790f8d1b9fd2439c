/* kernel_calls.c - a system call of the kernel's records becomes an event.
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "trace/collect/kernel_state.h"
#include "trace/event.h"

#define FD(name, op, shape)                                                    \
    {                                                                          \
        SYS_##name, WR_TRACE_##op, WR_CALL_##shape, 0, 0, 0                    \
    }
#define RANGE(name, op, at)                                                    \
    {                                                                          \
        SYS_##name, WR_TRACE_##op, WR_CALL_ON_RANGE, 0, 0, at                  \
    }
#define PATH(name, op, shape)                                                  \
    {                                                                          \
        SYS_##name, WR_TRACE_##op, WR_CALL_##shape, 0, 0, 0                    \
    }
#define PATH_AT(name, op, shape)                                               \
    {                                                                          \
        SYS_##name, WR_TRACE_##op, WR_CALL_##shape, 1, 1, 0                    \
    }

const struct wr_call wr_calls[] = {
    FD(read, READ, MOVE),
    FD(readv, READ, MOVE),
    FD(pread64, READ, MOVE_AT),
    FD(preadv, READ, MOVE_AT),
    FD(preadv2, READ, MOVE_AT),
    FD(write, WRITE, MOVE),
    FD(writev, WRITE, MOVE),
    FD(pwrite64, WRITE, MOVE_AT),
    FD(pwritev, WRITE, MOVE_AT),
    FD(pwritev2, WRITE, MOVE_AT),
    PATH_AT(openat, OPEN, OPEN),
    PATH_AT(openat2, OPEN, OPEN_HOW),
    FD(close, CLOSE, CLOSE),
    FD(close_range, CLOSE, CLOSE_RANGE),
    FD(dup, OPEN, DUP),
    FD(dup3, OPEN, DUP_TO),
    FD(fcntl, OPEN, CONTROL),
    FD(lseek, SEEK, SEEK),
    FD(fstat, STAT, ON_FD),
    PATH_AT(newfstatat, STAT, ON_PATH),
    PATH_AT(statx, STAT, ON_PATH),
    PATH_AT(faccessat, ACCESS, ON_PATH),
    PATH_AT(faccessat2, ACCESS, ON_PATH),
    FD(getdents64, READDIR, LIST),
    FD(fsync, SYNC, ON_FD),
    FD(fdatasync, DATASYNC, ON_FD),
    FD(sync, SYNC_ALL, ON_NOTHING),
    FD(syncfs, SYNC_ALL, ON_FD),
    FD(msync, MSYNC, ON_NOTHING),
    RANGE(sync_file_range, SYNC_ALL, 1),
    FD(ftruncate, TRUNCATE, ON_FD),
    PATH(truncate, TRUNCATE, ON_PATH),
    RANGE(fallocate, ALLOCATE, 2),
    RANGE(fadvise64, ADVISE, 1),
    RANGE(readahead, ADVISE, 1),
    FD(mmap, MMAP, MAP),
    FD(munmap, MUNMAP, UNMAP),
    PATH_AT(renameat2, RENAME, ON_TWO),
    PATH_AT(linkat, LINK, ON_TWO),
    PATH_AT(unlinkat, UNLINK, UNLINK_AT),
    PATH_AT(mkdirat, MKDIR, ON_PATH),
    FD(sendfile, COPY_IN, COPY),
    FD(copy_file_range, COPY_IN, COPY_IN),
    FD(splice, COPY_IN, COPY_IN),
    PATH(chdir, OPEN, CHDIR),
    FD(fchdir, OPEN, FCHDIR),
    FD(io_submit, AIO_SUBMIT, ON_NOTHING),
    PATH(execve, EXEC, EXEC),
    PATH_AT(execveat, EXEC, EXEC),
    FD(exit_group, EXIT, EXIT),
#ifdef SYS_renameat
    PATH_AT(renameat, RENAME, ON_TWO),
#endif
#ifdef SYS_open /* machines that have the calls of old */
    PATH(open, OPEN, OPEN),
    PATH(creat, OPEN, CREAT),
    FD(dup2, OPEN, DUP_TO),
    PATH(stat, STAT, ON_PATH),
    PATH(lstat, STAT, ON_PATH),
    PATH(access, ACCESS, ON_PATH),
    FD(getdents, READDIR, LIST),
    PATH(rename, RENAME, ON_TWO),
    PATH(link, LINK, ON_TWO),
    PATH(unlink, UNLINK, ON_PATH),
    PATH(mkdir, MKDIR, ON_PATH),
    PATH(rmdir, RMDIR, ON_PATH),
#endif
};

const size_t wr_call_count = WR_ARRAY_LEN(wr_calls);

/* What all shapes need. */
struct wr_kernel_done {
    struct wr_kernel *k;
    struct wr_kernel_thread *t;
    struct wr_kernel_process *p;
    const uint64_t *args;
    int64_t result;
    struct wr_trace_event e;
};

static void emit(struct wr_kernel_done *d)
{
    wr_kernel_event(d->k, d->p, &d->e);
}

/* --- names --- */

/* The file of the call's path; *ret_fd: an empty path means that descriptor. */
static uint32_t file_of_path(struct wr_kernel_done *d, unsigned which,
                             int folder)
{
    const char *text = d->t->paths[which];
    char path[8192];

    if (text && !*text && folder != AT_FDCWD)
        return wr_kernel_file_of(d->k, d->p, (unsigned)folder);
    if (text && *text && wr_kernel_path(d->k, d->p, folder, text, path))
        return wr_kernel_name(d->k, path);
    if (which == 0)
        d->k->c->sum.unnamed_files++;
    return WR_TRACE_NO_FILE;
}

static int folder_of(const struct wr_kernel_done *d, unsigned which)
{
    const struct wr_call *c = d->t->now.call;

    return c->at ? (int)d->args[c->path - 1 + which * 2] : AT_FDCWD;
}

/* --- descriptors --- */

static void moved(struct wr_kernel_done *d)
{
    struct wr_kernel_fd *f = wr_kernel_fd_of(d->k, d->p, d->args[0]);
    bool is_at = d->t->now.call->shape == WR_CALL_MOVE_AT &&
                 d->args[3] != UINT64_MAX;

    if (f) {
        d->e.file = f->file;
        d->e.flags |= f->is_direct ? WR_TRACE_DIRECT : 0;
        if (!is_at && f->is_placed) {
            d->e.offset = f->pos;
            f->pos += d->e.bytes;
        }
    }
    if (is_at)
        d->e.offset = d->args[3];
    emit(d);
}

static void opened(struct wr_kernel_done *d, uint64_t flags)
{
    uint64_t mode = flags & O_ACCMODE;
    struct wr_kernel_fd *f;

    d->e.file = d->t->paths[0] ? file_of_path(d, 0, folder_of(d, 0))
                               : WR_TRACE_NO_FILE;
    d->e.flags |= flags & O_CREAT ? WR_TRACE_CREATE : 0;
    d->e.flags |= flags & O_TRUNC ? WR_TRACE_TRUNC : 0;
    d->e.flags |= flags & O_DIRECT ? WR_TRACE_DIRECT : 0;
    d->e.flags |= mode == O_WRONLY || mode == O_RDWR ? WR_TRACE_WRITES : 0;
    if (flags & O_DIRECTORY)
        d->e.op = WR_TRACE_OPENDIR;
    if (d->result >= 0) {
        wr_kernel_fd_forget(d->p, (uint64_t)d->result, (uint64_t)d->result);
        f = d->e.file == WR_TRACE_NO_FILE
                ? wr_kernel_fd_of(d->k, d->p, (uint64_t)d->result)
                : wr_kernel_fd_at(d->p, (uint64_t)d->result);
        if (f) {
            d->e.file = d->e.file == WR_TRACE_NO_FILE ? f->file : d->e.file;
            *f = (struct wr_kernel_fd){.known = true,
                                       .is_placed = !(flags & O_APPEND),
                                       .is_direct = !!(flags & O_DIRECT),
                                       .file = d->e.file};
        }
    }
    emit(d);
}

static void closed(struct wr_kernel_done *d)
{
    struct wr_kernel_fd *f = wr_kernel_fd_at(d->p, d->args[0]);

    /* one that was never used has no name any more */
    d->e.file = f && f->known ? f->file : WR_TRACE_NO_FILE;
    wr_kernel_fd_forget(d->p, d->args[0], d->args[0]);
    if (d->e.file != WR_TRACE_NO_FILE)
        emit(d);
}

/* Both have one position from now on. */
static void duplicated(struct wr_kernel_done *d)
{
    struct wr_kernel_fd *from, *to;
    uint32_t file;

    if (d->result < 0)
        return;
    from = wr_kernel_fd_at(d->p, d->args[0]);
    if (!from || !from->known) {
        wr_kernel_fd_forget(d->p, (uint64_t)d->result, (uint64_t)d->result);
        return;
    }
    from->is_placed = false;
    file = from->file;
    to = wr_kernel_fd_at(d->p, (uint64_t)d->result);
    if (to)
        *to = (struct wr_kernel_fd){.known = true, .file = file};
}

static void sought(struct wr_kernel_done *d)
{
    struct wr_kernel_fd *f = wr_kernel_fd_of(d->k, d->p, d->args[0]);

    if (f && d->result >= 0 && f->is_placed)
        f->pos = (uint64_t)d->result;
    d->e.file = f ? f->file : WR_TRACE_NO_FILE;
    emit(d);
}

static void on_fd(struct wr_kernel_done *d)
{
    const struct wr_call *c = d->t->now.call;

    d->e.file = wr_kernel_file_of(d->k, d->p, d->args[0]);
    if (c->shape == WR_CALL_ON_RANGE) {
        d->e.offset = d->args[c->range];
        d->e.bytes = d->result < 0 ? 0 : d->args[c->range + 1];
    }
    emit(d);
}

/* --- paths --- */

static void on_path(struct wr_kernel_done *d)
{
    const struct wr_call *c = d->t->now.call;

    if (c->shape == WR_CALL_UNLINK_AT && d->args[2] & AT_REMOVEDIR)
        d->e.op = WR_TRACE_RMDIR;
    d->e.file = file_of_path(d, 0, folder_of(d, 0));
    emit(d);
}

static void on_two(struct wr_kernel_done *d)
{
    d->e.file = file_of_path(d, 0, folder_of(d, 0));
    d->e.file2 = file_of_path(d, 1, folder_of(d, 1));
    emit(d);
}

static void changed_folder(struct wr_kernel_done *d, bool by_fd)
{
    uint32_t file;
    char *own = NULL;

    if (d->result < 0)
        return;
    file = by_fd ? wr_kernel_file_of(d->k, d->p, d->args[0])
                 : file_of_path(d, 0, AT_FDCWD);
    if (file != WR_TRACE_NO_FILE)
        own = strdup(wr_names_path(d->k->c->names, file));
    free(d->p->cwd);
    d->p->cwd = own; /* NULL: asked for when it is needed */
}

/* --- memory and copies --- */

static void mapped(struct wr_kernel_done *d)
{
    struct wr_tapped *t = d->p->tap;

    if (d->args[3] & MAP_ANONYMOUS || (int)d->args[4] < 0)
        return;
    d->e.file = wr_kernel_file_of(d->k, d->p, (uint32_t)d->args[4]);
    d->e.offset = d->args[5];
    d->e.bytes = d->e.error ? 0 : d->args[1];
    if (!d->e.error && t && t->made)
        wr_tapped_map_add(t, &(struct wr_tapped_map){(uint64_t)d->result,
                                                     d->e.bytes, d->e.offset,
                                                     d->e.file});
    emit(d);
}

/* Two events: one file was read, another one written. */
static void copied(struct wr_kernel_done *d)
{
    bool in_first = d->t->now.call->shape == WR_CALL_COPY_IN;
    uint64_t from = in_first ? d->args[0] : d->args[1];
    uint64_t to = in_first ? d->args[2] : d->args[0];

    d->e.file = wr_kernel_file_of(d->k, d->p, from);
    emit(d);
    d->e.op = WR_TRACE_COPY_OUT;
    d->e.file = wr_kernel_file_of(d->k, d->p, to);
    emit(d);
}

/* --- all of them --- */

/* A ring may read of it, when its name cannot be asked for any more. */
static void follow_open(struct wr_kernel_done *d)
{
    struct wr_kernel_fd *f;
    uint32_t file;

    if (d->result < 0)
        return;
    wr_kernel_fd_forget(d->p, (uint64_t)d->result, (uint64_t)d->result);
    if (!d->t->paths[0] || d->p->view != WR_KERNEL_LIBRARY)
        return;
    file = file_of_path(d, 0, folder_of(d, 0));
    f = wr_kernel_fd_at(d->p, (uint64_t)d->result);
    if (f && file != WR_TRACE_NO_FILE)
        *f = (struct wr_kernel_fd){.known = true, .file = file};
}

/* What says nothing but which file a descriptor means, or a path; false: it is
 * another call. */
static bool follow_names(struct wr_kernel_done *d)
{
    switch (d->t->now.call->shape) {
    case WR_CALL_CONTROL:
        if (d->args[1] == F_DUPFD || d->args[1] == F_DUPFD_CLOEXEC)
            duplicated(d);
        return true;
    case WR_CALL_DUP:
    case WR_CALL_DUP_TO:
        duplicated(d);
        return true;
    case WR_CALL_CLOSE_RANGE:
        wr_kernel_fd_forget(d->p, d->args[0], d->args[1]);
        return true;
    case WR_CALL_CHDIR:
    case WR_CALL_FCHDIR:
        changed_folder(d, d->t->now.call->shape == WR_CALL_FCHDIR);
        return true;
    default:
        return false;
    }
}

/* The library has it: only what descriptors mean may have changed. */
static void follow(struct wr_kernel_done *d)
{
    switch (d->t->now.call->shape) {
    case WR_CALL_OPEN:
    case WR_CALL_CREAT:
    case WR_CALL_OPEN_HOW:
        follow_open(d);
        break;
    case WR_CALL_CLOSE:
        wr_kernel_fd_forget(d->p, d->args[0], d->args[0]);
        break;
    default:
        follow_names(d);
    }
}

static void by_shape(struct wr_kernel_done *d)
{
    switch (d->t->now.call->shape) {
    case WR_CALL_MOVE:
    case WR_CALL_MOVE_AT:
        moved(d);
        break;
    case WR_CALL_OPEN:
        opened(d, d->args[d->t->now.call->path + 1]);
        break;
    case WR_CALL_CREAT:
        opened(d, O_CREAT | O_WRONLY | O_TRUNC);
        break;
    case WR_CALL_OPEN_HOW:
        opened(d, 0);
        break;
    case WR_CALL_CLOSE:
        closed(d);
        break;
    case WR_CALL_SEEK:
        sought(d);
        break;
    case WR_CALL_LIST:
        d->e.bytes = 0; /* entries: their number is not known */
        /* fall through */
    case WR_CALL_ON_FD:
    case WR_CALL_ON_RANGE:
        on_fd(d);
        break;
    case WR_CALL_ON_PATH:
    case WR_CALL_UNLINK_AT:
        on_path(d);
        break;
    case WR_CALL_ON_TWO:
        on_two(d);
        break;
    case WR_CALL_MAP:
        mapped(d);
        break;
    case WR_CALL_UNMAP:
        if (d->p->tap && d->p->tap->made)
            wr_tapped_map_remove(d->p->tap, d->args[0]);
        break;
    case WR_CALL_COPY:
    case WR_CALL_COPY_IN:
        copied(d);
        break;
    case WR_CALL_EXEC: /* it has failed */
    case WR_CALL_EXIT:
        break;
    default:
        if (!follow_names(d))
            emit(d);
    }
}

void wr_kernel_on_call(struct wr_kernel *k, struct wr_kernel_thread *t,
                       int64_t result, uint64_t end_ns)
{
    enum wr_trace_class class = wr_trace_op_class(t->now.call->op);
    bool is_error = result < 0 && result > -4096;
    uint64_t start = t->now.time_ns;
    struct wr_kernel_done d = {
        .k = k, .t = t, .p = t->process, .args = t->now.args, .result = result};

    wr_kernel_check(k, t->process, start);
    if (!wr_kernel_takes(t->process, t->now.ip)) {
        follow(&d);
        return;
    }
    if (start < k->c->start_ns || end_ns < start)
        return;
    d.e = (struct wr_trace_event){.start_ns = start - k->c->start_ns,
                                  .dur_ns = end_ns - start,
                                  .thread = t->tid,
                                  .file = WR_TRACE_NO_FILE,
                                  .file2 = WR_TRACE_NO_FILE,
                                  .op = t->now.call->op,
                                  .flags = is_error ? WR_TRACE_FAILED : 0,
                                  .error = is_error ? (int32_t)-result : 0,
                                  .offset = UINT64_MAX};
    if (!is_error && class <= WR_TRACE_CLASS_WRITE)
        d.e.bytes = (uint64_t)result;
    by_shape(&d);
}
