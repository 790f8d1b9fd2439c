/* wrap_stdio.c - wrappers: streams, as the program calls them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * libc fills and empties its buffers by calls of its own, which no wrapper
 * sees: the notes have the bytes that the program asked for. */
#include "trace/preload/tap.h"

#include <errno.h>
#include <string.h>

static int mode_flags(const char *mode)
{
    int flags = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;

    if (*mode == 'w')
        flags |= O_CREAT | O_TRUNC;
    if (*mode == 'a')
        flags |= O_CREAT | O_APPEND;
    return flags;
}

/* A transfer of a stream; the descriptor's position is the program's one. */
static void moved(unsigned op, FILE *f, uint64_t start, long n, bool failed)
{
    struct wr_tap_note note = {.start = start,
                               .off = WR_TAP_UNKNOWN,
                               .len = n > 0 ? (uint64_t)n : 0,
                               .op = (uint8_t)op,
                               .flags = WR_TRACE_STDIO};
    uint64_t duration = wr_tap_clock() - start;
    int fd = fileno_unlocked(f);
    struct wr_tap_fd *e = fd < 0 ? NULL : wr_tap_fd_of(fd);

    if (failed) {
        note.flags |= WR_TRACE_FAILED;
        note.error = (uint8_t)wr_tap_errno(-1);
    }
    if (e) {
        note.handle = e->handle;
        if (!(e->flags & (WR_FD_SHARED | WR_FD_STREAM))) {
            note.off = e->pos;
            e->pos += note.len;
        }
    }
    wr_tap_put_lasting(&note, duration);
}

static void opened(FILE *f, const char *path, const char *mode, uint64_t start)
{
    wr_tap_opened(f ? fileno_unlocked(f) : -1, AT_FDCWD, path, mode_flags(mode),
                  start);
}

WR_TAP_EXPORT FILE *fopen(const char *path, const char *mode)
{
    uint64_t start = wr_tap_begin();
    FILE *f = WR_REAL(fopen)(path, mode);

    if (start)
        opened(f, path, mode, start);
    return f;
}

WR_TAP_EXPORT FILE *freopen(const char *path, const char *mode, FILE *old)
{
    uint64_t start = wr_tap_begin();
    int fd = start ? fileno_unlocked(old) : -1;
    FILE *f = WR_REAL(freopen)(path, mode, old);

    if (start && path) {
        wr_tap_fd_clear(fd);
        opened(f, path, mode, start);
    }
    return f;
}

WR_TAP_EXPORT FILE *tmpfile(void)
{
    FILE *f = WR_REAL(tmpfile)();

    if (f && wr_tap_begin())
        wr_tap_fd_clear(fileno_unlocked(f)); /* the kernel knows its name */
    return f;
}

FILE *fopen64(const char *path, const char *mode) WR_TAP_ALIAS(fopen);
FILE *freopen64(const char *path, const char *mode, FILE *old)
    WR_TAP_ALIAS(freopen);
FILE *tmpfile64(void) WR_TAP_ALIAS(tmpfile);

WR_TAP_EXPORT int fclose(FILE *f)
{
    uint64_t start = wr_tap_begin();
    int fd = start ? fileno_unlocked(f) : -1, r;
    struct wr_tap_fd *e = fd >= 0 ? wr_tap_fd_at(fd) : NULL;
    struct wr_tap_note n = {.start = start,
                            .off = WR_TAP_UNKNOWN,
                            .op = WR_TRACE_CLOSE,
                            .flags = WR_TRACE_STDIO};

    if (e)
        n.handle = __atomic_exchange_n(&e->handle, 0, __ATOMIC_ACQ_REL);
    r = WR_REAL(fclose)(f);
    if (n.handle)
        wr_tap_put(&n);
    return r;
}

/* --- blocks; here and below the stream is looked at only where libc does --- */

WR_TAP_EXPORT size_t fread(void *p, size_t size, size_t n, FILE *f)
{
    uint64_t start = size && n ? wr_tap_begin() : 0;
    size_t r = WR_REAL(fread)(p, size, n, f);

    if (start)
        moved(WR_TRACE_READ, f, start, (long)(r * size), false);
    return r;
}

WR_TAP_EXPORT size_t fread_unlocked(void *p, size_t size, size_t n, FILE *f)
{
    uint64_t start = size && n ? wr_tap_begin() : 0;
    size_t r = WR_REAL(fread_unlocked)(p, size, n, f);

    if (start)
        moved(WR_TRACE_READ, f, start, (long)(r * size), false);
    return r;
}

WR_TAP_EXPORT size_t __fread_chk(void *p, size_t room, size_t size, size_t n,
                                 FILE *f)
{
    uint64_t start = size && n ? wr_tap_begin() : 0;
    size_t r = WR_REAL(__fread_chk)(p, room, size, n, f);

    if (start)
        moved(WR_TRACE_READ, f, start, (long)(r * size), false);
    return r;
}

WR_TAP_EXPORT size_t __fread_unlocked_chk(void *p, size_t room, size_t size,
                                          size_t n, FILE *f)
{
    uint64_t start = size && n ? wr_tap_begin() : 0;
    size_t r = WR_REAL(__fread_unlocked_chk)(p, room, size, n, f);

    if (start)
        moved(WR_TRACE_READ, f, start, (long)(r * size), false);
    return r;
}

WR_TAP_EXPORT size_t fwrite(const void *p, size_t size, size_t n, FILE *f)
{
    uint64_t start = size && n ? wr_tap_begin() : 0;
    size_t r = WR_REAL(fwrite)(p, size, n, f);

    if (start)
        moved(WR_TRACE_WRITE, f, start, (long)(r * size), r < n);
    return r;
}

WR_TAP_EXPORT size_t fwrite_unlocked(const void *p, size_t size, size_t n,
                                     FILE *f)
{
    uint64_t start = size && n ? wr_tap_begin() : 0;
    size_t r = WR_REAL(fwrite_unlocked)(p, size, n, f);

    if (start)
        moved(WR_TRACE_WRITE, f, start, (long)(r * size), r < n);
    return r;
}

/* --- lines --- */

WR_TAP_EXPORT char *fgets(char *s, int n, FILE *f)
{
    uint64_t start = n > 1 ? wr_tap_begin() : 0;
    char *r = WR_REAL(fgets)(s, n, f);

    if (start)
        moved(WR_TRACE_READ, f, start, r ? (long)strlen(r) : 0, false);
    return r;
}

WR_TAP_EXPORT char *fgets_unlocked(char *s, int n, FILE *f)
{
    uint64_t start = n > 1 ? wr_tap_begin() : 0;
    char *r = WR_REAL(fgets_unlocked)(s, n, f);

    if (start)
        moved(WR_TRACE_READ, f, start, r ? (long)strlen(r) : 0, false);
    return r;
}

WR_TAP_EXPORT char *__fgets_chk(char *s, size_t size, int n, FILE *f)
{
    uint64_t start = n > 1 ? wr_tap_begin() : 0;
    char *r = WR_REAL(__fgets_chk)(s, size, n, f);

    if (start)
        moved(WR_TRACE_READ, f, start, r ? (long)strlen(r) : 0, false);
    return r;
}

WR_TAP_EXPORT ssize_t getdelim(char **line, size_t *n, int delim, FILE *f)
{
    uint64_t start = line && n ? wr_tap_begin() : 0;
    ssize_t r = WR_REAL(getdelim)(line, n, delim, f);

    if (start)
        moved(WR_TRACE_READ, f, start, r, false);
    return r;
}

WR_TAP_EXPORT ssize_t getline(char **line, size_t *n, FILE *f)
{
    uint64_t start = line && n ? wr_tap_begin() : 0;
    ssize_t r = WR_REAL(getline)(line, n, f);

    if (start)
        moved(WR_TRACE_READ, f, start, r, false);
    return r;
}

ssize_t __getdelim(char **line, size_t *n, int delim, FILE *f)
    WR_TAP_ALIAS(getdelim);

WR_TAP_EXPORT int fputs(const char *s, FILE *f)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(fputs)(s, f);

    if (start)
        moved(WR_TRACE_WRITE, f, start, r < 0 ? 0 : (long)strlen(s), r < 0);
    return r;
}

WR_TAP_EXPORT int fputs_unlocked(const char *s, FILE *f)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(fputs_unlocked)(s, f);

    if (start)
        moved(WR_TRACE_WRITE, f, start, r < 0 ? 0 : (long)strlen(s), r < 0);
    return r;
}

WR_TAP_EXPORT int puts(const char *s)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(puts)(s);

    if (start)
        moved(WR_TRACE_WRITE, stdout, start, r < 0 ? 0 : (long)strlen(s) + 1,
              r < 0);
    return r;
}

/* --- formatted --- */

WR_TAP_EXPORT int vfprintf(FILE *f, const char *format, va_list ap)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(vfprintf)(f, format, ap);

    if (start)
        moved(WR_TRACE_WRITE, f, start, r, r < 0);
    return r;
}

WR_TAP_EXPORT int __vfprintf_chk(FILE *f, int flag, const char *format,
                                 va_list ap)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(__vfprintf_chk)(f, flag, format, ap);

    if (start)
        moved(WR_TRACE_WRITE, f, start, r, r < 0);
    return r;
}

WR_TAP_EXPORT int fprintf(FILE *f, const char *format, ...)
{
    va_list ap;
    int r;

    va_start(ap, format);
    r = vfprintf(f, format, ap);
    va_end(ap);
    return r;
}

WR_TAP_EXPORT int __fprintf_chk(FILE *f, int flag, const char *format, ...)
{
    va_list ap;
    int r;

    va_start(ap, format);
    r = __vfprintf_chk(f, flag, format, ap);
    va_end(ap);
    return r;
}

typedef int (*scanner)(FILE *f, const char *format, va_list ap);

/* Where the stream's buffer stands before and after says what was taken. */
static int scan_with(scanner real, FILE *f, const char *format, va_list ap)
{
    uint64_t start = format ? wr_tap_begin() : 0;
    long from = start ? ftell(f) : 0, to;
    int r = real(f, format, ap);

    if (start) {
        int kept = errno;

        to = ftell(f);
        errno = kept;
        moved(WR_TRACE_READ, f, start, to > from ? to - from : 0, false);
    }
    return r;
}

WR_TAP_EXPORT int __isoc99_vfscanf(FILE *f, const char *format, va_list ap)
{
    return scan_with(WR_REAL(__isoc99_vfscanf), f, format, ap);
}

WR_TAP_EXPORT int __isoc99_fscanf(FILE *f, const char *format, ...)
{
    va_list ap;
    int r;

    va_start(ap, format);
    r = __isoc99_vfscanf(f, format, ap);
    va_end(ap);
    return r;
}

/* What glibc 2.38 and later make of fscanf, for programs compiled with them. */
WR_TAP_EXPORT int __isoc23_vfscanf(FILE *f, const char *format, va_list ap)
{
    return scan_with(WR_REAL(__isoc23_vfscanf), f, format, ap);
}

WR_TAP_EXPORT int __isoc23_fscanf(FILE *f, const char *format, ...)
{
    va_list ap;
    int r;

    va_start(ap, format);
    r = __isoc23_vfscanf(f, format, ap);
    va_end(ap);
    return r;
}

/* --- characters: the macros of stdio.h call these when a buffer is empty or
 * full; single calls of fgetc and fputc are not noted --- */

WR_TAP_EXPORT int __uflow(FILE *f)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(__uflow)(f);

    if (start && r != EOF)
        moved(WR_TRACE_READ, f, start, f->_IO_read_end - f->_IO_read_base,
              false);
    return r;
}

WR_TAP_EXPORT int __overflow(FILE *f, int c)
{
    uint64_t start = wr_tap_begin();
    long n = f->_IO_write_ptr - f->_IO_write_base;
    int r = WR_REAL(__overflow)(f, c);

    if (start && n > 0)
        moved(WR_TRACE_WRITE, f, start, n, r == EOF);
    return r;
}

/* fgetc and getc: one note when the buffer is filled, for all that it has. */
static int filled(int (*real)(FILE *), FILE *f)
{
    uint64_t start;
    int r;

    if (f->_IO_read_ptr < f->_IO_read_end)
        return real(f);
    start = wr_tap_begin();
    r = real(f);
    if (start && r != EOF)
        moved(WR_TRACE_READ, f, start, f->_IO_read_end - f->_IO_read_base,
              false);
    return r;
}

WR_TAP_EXPORT int fgetc(FILE *f)
{
    return filled(WR_REAL(fgetc), f);
}

WR_TAP_EXPORT int getc_unlocked(FILE *f)
{
    return filled(WR_REAL(getc_unlocked), f);
}

int getc(FILE *f) WR_TAP_ALIAS(fgetc);
int _IO_getc(FILE *f);
int _IO_getc(FILE *f) WR_TAP_ALIAS(fgetc);
int fgetc_unlocked(FILE *f) WR_TAP_ALIAS(getc_unlocked);

static int noted(int r, FILE *f, uint64_t start)
{
    if (start)
        moved(WR_TRACE_WRITE, f, start, r == EOF ? 0 : 1, r == EOF);
    return r;
}

WR_TAP_EXPORT int fputc(int c, FILE *f)
{
    uint64_t start = wr_tap_begin();

    return noted(WR_REAL(fputc)(c, f), f, start);
}

WR_TAP_EXPORT int putchar(int c)
{
    uint64_t start = wr_tap_begin();

    return noted(WR_REAL(putchar)(c), stdout, start);
}

int putc(int c, FILE *f) WR_TAP_ALIAS(fputc);
int _IO_putc(int c, FILE *f);
int _IO_putc(int c, FILE *f) WR_TAP_ALIAS(fputc);

/* --- positions --- */

static int sought(int r, FILE *f, uint64_t start)
{
    int fd = start ? fileno_unlocked(f) : -1, kept = errno;
    struct wr_tap_fd *e = fd < 0 ? NULL : wr_tap_fd_of(fd);
    struct wr_tap_note n = {.start = start,
                            .off = WR_TAP_UNKNOWN,
                            .op = WR_TRACE_SEEK,
                            .flags = WR_TRACE_STDIO};
    long at;

    if (!e)
        return r;
    at = ftell(f);
    if (r == 0 && at >= 0) {
        n.off = (uint64_t)at;
        e->pos = n.off;
    }
    n.handle = e->handle;
    errno = kept;
    wr_tap_put(&n);
    return r;
}

WR_TAP_EXPORT int fseek(FILE *f, long off, int whence)
{
    uint64_t start = wr_tap_begin();

    return sought(WR_REAL(fseek)(f, off, whence), f, start);
}

WR_TAP_EXPORT int fseeko(FILE *f, off_t off, int whence)
{
    uint64_t start = wr_tap_begin();

    return sought(WR_REAL(fseeko)(f, off, whence), f, start);
}

WR_TAP_EXPORT void rewind(FILE *f)
{
    uint64_t start = wr_tap_begin();

    WR_REAL(rewind)(f);
    sought(0, f, start);
}

int fseeko64(FILE *f, off_t off, int whence) WR_TAP_ALIAS(fseeko);

/* --- formatted, to the standard output --- */

int __printf_chk(int flag, const char *format, ...);

WR_TAP_EXPORT int printf(const char *format, ...)
{
    va_list ap;
    int r;

    va_start(ap, format);
    r = vfprintf(stdout, format, ap);
    va_end(ap);
    return r;
}

WR_TAP_EXPORT int vprintf(const char *format, va_list ap)
{
    return vfprintf(stdout, format, ap);
}

WR_TAP_EXPORT int __printf_chk(int flag, const char *format, ...)
{
    va_list ap;
    int r;

    va_start(ap, format);
    r = __vfprintf_chk(stdout, flag, format, ap);
    va_end(ap);
    return r;
}
