/* raw.h - system calls that touch neither errno nor libc.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_PRELOAD_RAW_H
#define WR_TRACE_PRELOAD_RAW_H

#include <sys/syscall.h>

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
