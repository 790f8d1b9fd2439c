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
#include <sys/syscall.h>
#include <unistd.h>

/* Those that no header declares, or declares as macros. */
ssize_t __getdelim(char **line, size_t *n, int delim, FILE *f);
int __uflow(FILE *f);
int __overflow(FILE *f, int c);
int _IO_getc(FILE *f);
int _IO_putc(int c, FILE *f);
int __printf_chk(int flag, const char *format, ...);
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
void weir_mark(const char *text);
struct iocb;
struct io_event;
int io_setup(int n, void **ctx);
int io_destroy(void *ctx);
int io_submit(void *ctx, long n, struct iocb **list);
int io_getevents(void *ctx, long min, long n, struct io_event *events,
                 struct timespec *timeout);
int io_pgetevents(void *ctx, long min, long n, struct io_event *events,
                  struct timespec *timeout, sigset_t *mask);

struct wr_tap_real {
#define REAL(name) __typeof__(name) *name;
#include "trace/preload/calls.def"
};
extern struct wr_tap_real wr_real __attribute__((visibility("hidden")));

enum wr_real_index {
#define REAL(name) WR_REAL_AT_##name,
#include "trace/preload/calls.def"
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

/* --- system calls that touch neither errno nor libc --- */

/* The kernel's answer: negative values down to -4095 are errors. */
#if defined(__x86_64__)
static inline long wr_raw(long n, long a, long b, long c, long d, long e,
                          long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long r;

    __asm__ volatile("syscall"
                     : "=a"(r)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
                       "r"(r9)
                     : "rcx", "r11", "memory");
    return r;
}
#elif defined(__aarch64__)
static inline long wr_raw(long n, long a, long b, long c, long d, long e,
                          long f)
{
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;

    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#else
#include <errno.h>
#include <unistd.h>
#define WR_RAW_BY_LIBC 1
static inline long wr_raw(long n, long a, long b, long c, long d, long e,
                          long f)
{
    int kept = errno;
    long r = syscall(n, a, b, c, d, e, f);

    r = r < 0 ? -errno : r;
    errno = kept;
    return r;
}
#endif

#define WR_RAW1(n, a)       wr_raw(n, (long)(a), 0, 0, 0, 0, 0)
#define WR_RAW2(n, a, b)    wr_raw(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define WR_RAW3(n, a, b, c) wr_raw(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define WR_RAW4(n, a, b, c, d)                                                 \
    wr_raw(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

#endif
