/* real.h - the functions that wrappers stand in front of.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Resolved once when the library is loaded. Other libraries are set up before
 * this one: until then the calls of a system call go to the kernel directly, the
 * others are looked up when they are called. */
#ifndef WR_TRACE_PRELOAD_REAL_H
#define WR_TRACE_PRELOAD_REAL_H

/* Wrappers are defined by their plain names: no header may redirect them, nor
 * define a macro of their name. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#undef __OPTIMIZE__

/* Nor may one say that an argument is never NULL: wrappers get what the program
 * gives, and the compiler would remove their tests. */
#include <features.h>
#undef __nonnull
#define __nonnull(arguments)

#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* Those that no header declares, or declares as macros. */
ssize_t __getdelim(char **line, size_t *n, int delim, FILE *f);
int __uflow(FILE *f);
int __overflow(FILE *f, int c);
int __fprintf_chk(FILE *f, int flag, const char *format, ...);
int __vfprintf_chk(FILE *f, int flag, const char *format, va_list ap);
int __isoc99_fscanf(FILE *f, const char *format, ...);
int __isoc99_vfscanf(FILE *f, const char *format, va_list ap);
int __isoc23_fscanf(FILE *f, const char *format, ...);
int __isoc23_vfscanf(FILE *f, const char *format, va_list ap);
char *__fgets_chk(char *s, size_t size, int n, FILE *f);
size_t __fread_chk(void *p, size_t room, size_t size, size_t n, FILE *f);
size_t __fread_unlocked_chk(void *p, size_t room, size_t size, size_t n,
                            FILE *f);
ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *buf, size_t n, off_t off, size_t room);
ssize_t __pread64_chk(int fd, void *buf, size_t n, off_t off, size_t room);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);
int __xstat(int version, const char *path, struct stat *st);
int __lxstat(int version, const char *path, struct stat *st);
int __fxstat(int version, int fd, struct stat *st);
int __fxstatat(int version, int dirfd, const char *path, struct stat *st,
               int flags);
int __xstat64(int version, const char *path, struct stat64 *st);
int __lxstat64(int version, const char *path, struct stat64 *st);
int __fxstat64(int version, int fd, struct stat64 *st);
int __fxstatat64(int version, int dirfd, const char *path, struct stat64 *st,
                 int flags);
char *__realpath_chk(const char *path, char *resolved, size_t room);
ssize_t __readlink_chk(const char *path, char *buf, size_t len, size_t room);
pid_t _Fork(void);
struct iocb;
struct io_event;
int io_setup(int n, void **ctx);
int io_destroy(void *ctx);
int io_submit(void *ctx, long n, struct iocb **list);
int io_getevents(void *ctx, long min, long n, struct io_event *events,
                 struct timespec *timeout);
int io_pgetevents(void *ctx, long min, long n, struct io_event *events,
                  struct timespec *timeout, sigset_t *mask);

#define WR_REAL_MAP(X)                                                         \
    X(open)                                                                    \
    X(openat)                                                                  \
    X(creat)                                                                   \
    X(__open_2)                                                                \
    X(__openat_2)                                                              \
    X(mkstemp)                                                                 \
    X(mkostemp)                                                                \
    X(mkstemps)                                                                \
    X(mkostemps)                                                               \
    X(memfd_create)                                                            \
    X(shm_open)                                                                \
    X(open_by_handle_at)                                                       \
    X(read)                                                                    \
    X(pread)                                                                   \
    X(readv)                                                                   \
    X(preadv)                                                                  \
    X(preadv2)                                                                 \
    X(__read_chk)                                                              \
    X(__pread_chk)                                                             \
    X(write)                                                                   \
    X(pwrite)                                                                  \
    X(writev)                                                                  \
    X(pwritev)                                                                 \
    X(pwritev2)                                                                \
    X(close)                                                                   \
    X(close_range)                                                             \
    X(closefrom)                                                               \
    X(dup)                                                                     \
    X(dup2)                                                                    \
    X(dup3)                                                                    \
    X(fcntl)                                                                   \
    X(lseek)                                                                   \
    X(pipe)                                                                    \
    X(pipe2)                                                                   \
    X(socket)                                                                  \
    X(socketpair)                                                              \
    X(accept)                                                                  \
    X(accept4)                                                                 \
    X(fopen)                                                                   \
    X(freopen)                                                                 \
    X(fclose)                                                                  \
    X(fread)                                                                   \
    X(fwrite)                                                                  \
    X(fread_unlocked)                                                          \
    X(fwrite_unlocked)                                                         \
    X(__fread_chk)                                                             \
    X(__fread_unlocked_chk)                                                    \
    X(fgets)                                                                   \
    X(__fgets_chk)                                                             \
    X(fgets_unlocked)                                                          \
    X(fgetc)                                                                   \
    X(getc_unlocked)                                                           \
    X(__uflow)                                                                 \
    X(__overflow)                                                              \
    X(getdelim)                                                                \
    X(getline)                                                                 \
    X(fputs)                                                                   \
    X(fputs_unlocked)                                                          \
    X(fputc)                                                                   \
    X(puts)                                                                    \
    X(putchar)                                                                 \
    X(vfprintf)                                                                \
    X(__vfprintf_chk)                                                          \
    X(__isoc99_vfscanf)                                                        \
    X(__isoc23_vfscanf)                                                        \
    X(fseek)                                                                   \
    X(fseeko)                                                                  \
    X(rewind)                                                                  \
    X(tmpfile)                                                                 \
    X(mmap)                                                                    \
    X(munmap)                                                                  \
    X(mremap)                                                                  \
    X(msync)                                                                   \
    X(madvise)                                                                 \
    X(stat)                                                                    \
    X(lstat)                                                                   \
    X(fstat)                                                                   \
    X(fstatat)                                                                 \
    X(statx)                                                                   \
    X(__xstat)                                                                 \
    X(__lxstat)                                                                \
    X(__fxstat)                                                                \
    X(__fxstatat)                                                              \
    X(access)                                                                  \
    X(faccessat)                                                               \
    X(euidaccess)                                                              \
    X(readlink)                                                                \
    X(readlinkat)                                                              \
    X(realpath)                                                                \
    X(__realpath_chk)                                                          \
    X(statfs)                                                                  \
    X(fstatfs)                                                                 \
    X(statvfs)                                                                 \
    X(fstatvfs)                                                                \
    X(opendir)                                                                 \
    X(fdopendir)                                                               \
    X(readdir)                                                                 \
    X(closedir)                                                                \
    X(scandir)                                                                 \
    X(getdents64)                                                              \
    X(nftw)                                                                    \
    X(glob)                                                                    \
    X(fsync)                                                                   \
    X(fdatasync)                                                               \
    X(syncfs)                                                                  \
    X(sync)                                                                    \
    X(sync_file_range)                                                         \
    X(fallocate)                                                               \
    X(posix_fallocate)                                                         \
    X(ftruncate)                                                               \
    X(truncate)                                                                \
    X(posix_fadvise)                                                           \
    X(readahead)                                                               \
    X(rename)                                                                  \
    X(renameat)                                                                \
    X(renameat2)                                                               \
    X(unlink)                                                                  \
    X(unlinkat)                                                                \
    X(remove)                                                                  \
    X(link)                                                                    \
    X(linkat)                                                                  \
    X(symlink)                                                                 \
    X(symlinkat)                                                               \
    X(mkdir)                                                                   \
    X(mkdirat)                                                                 \
    X(rmdir)                                                                   \
    X(chdir)                                                                   \
    X(fchdir)                                                                  \
    X(sendfile)                                                                \
    X(copy_file_range)                                                         \
    X(splice)                                                                  \
    X(tee)                                                                     \
    X(io_submit)                                                               \
    X(io_getevents)                                                            \
    X(io_pgetevents)                                                           \
    X(aio_read)                                                                \
    X(aio_write)                                                               \
    X(aio_return)                                                              \
    X(lio_listio)                                                              \
    X(fork)                                                                    \
    X(_Fork)                                                                   \
    X(posix_spawn)                                                             \
    X(posix_spawnp)                                                            \
    X(execve)                                                                  \
    X(execv)                                                                   \
    X(execvp)                                                                  \
    X(execvpe)                                                                 \
    X(fexecve)                                                                 \
    X(_exit)                                                                   \
    X(quick_exit)                                                              \
    X(pthread_create)                                                          \
    X(syscall)

struct wr_tap_real {
#define WR_REAL_FIELD(name) __typeof__(name) *name;
    WR_REAL_MAP(WR_REAL_FIELD)
#undef WR_REAL_FIELD
};
extern struct wr_tap_real wr_real __attribute__((visibility("hidden")));

enum wr_real_index {
#define WR_REAL_INDEX(name) WR_REAL_AT_##name,
    WR_REAL_MAP(WR_REAL_INDEX)
#undef WR_REAL_INDEX
        WR_REALS
};

void wr_real_resolve(void);
/* Looks one up now; never NULL: a function that fails with ENOSYS. */
void *wr_real_late(enum wr_real_index which);

/* The real function. */
#define WR_REAL(name)                                                          \
    (__builtin_expect(wr_real.name != NULL, 1)                                 \
         ? wr_real.name                                                        \
         : (__typeof__(wr_real.name))wr_real_late(WR_REAL_AT_##name))

#endif
