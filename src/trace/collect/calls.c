/* calls.c - the system calls on files: what their arguments mean.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/calls.h"

#include <sys/syscall.h>

#include "base/mem.h"
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
