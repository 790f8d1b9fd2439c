/* rawcalls.c - reads known amounts by system calls past the C library.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: rawcalls FILE TIMES BYTES [wait]
 *
 * Opens FILE, reads BYTES of it TIMES at rising offsets, closes it, looks at a
 * name that is not there; then reads 1,000 bytes by stdio. Prints /proc/self/io.
 * With `wait` it reads when a line comes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long call4(long n, long a, long b, long c, long d)
{
#if defined(__x86_64__)
    register long r10 __asm__("r10") = d;
    long r;

    __asm__ volatile("syscall"
                     : "=a"(r)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return r;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;

    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3)
                     : "memory");
    return x0;
#else
    return syscall(n, a, b, c, d);
#endif
}

static void print_io(void)
{
    char text[512];
    long fd = call4(SYS_openat, AT_FDCWD, (long)"/proc/self/io", O_RDONLY, 0);
    long n = call4(SYS_read, fd, (long)text, sizeof(text) - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    fputs(text, stdout);
}

int main(int argc, char **argv)
{
    long times = argc > 2 ? atol(argv[2]) : 0, sum = 0, fd;
    long bytes = argc > 3 ? atol(argv[3]) : 0;
    char *buf = malloc((size_t)bytes + 1000);
    struct stat st;
    FILE *f;

    if (argc < 4 || !buf)
        return 2;
    if (argc > 4 && !fgets(buf, 100, stdin))
        return 2;
    fd = call4(SYS_openat, AT_FDCWD, (long)argv[1], O_RDONLY, 0);
    for (long k = 0; k < times; k++)
        sum += call4(SYS_pread64, fd, (long)buf, bytes, k * bytes);
    call4(SYS_close, fd, 0, 0, 0);
    stat("no-such-file", &st);
    f = fopen(argv[1], "rb");
    if (f) {
        sum += (long)fread(buf, 1, 1000, f);
        fclose(f);
    }
    print_io();
    printf("sum: %ld\n", sum);
    return 7;
}
