/* stdio.c - streams, as the program calls them.
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
void wr_tap_stream_moved(unsigned op, FILE *f, uint64_t start, long n,
                         bool failed)
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

void wr_tap_stream_opened(FILE *f, const char *path, const char *mode,
                          uint64_t start)
{
    wr_tap_opened(f ? fileno_unlocked(f) : -1, AT_FDCWD, path, mode_flags(mode),
                  start);
}

WR_TAP_EXPORT FILE *freopen(const char *path, const char *mode, FILE *old)
{
    uint64_t start = wr_tap_begin();
    int fd = start ? fileno_unlocked(old) : -1;
    FILE *f = WR_REAL(freopen)(path, mode, old);

    if (start && path) {
        wr_tap_fd_clear(fd);
        wr_tap_stream_opened(f, path, mode, start);
    }
    return f;
}

WR_TAP_ALIAS(freopen64, freopen);

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

/* --- formatted --- */

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
        wr_tap_stream_moved(WR_TRACE_READ, f, start, to > from ? to - from : 0,
                            false);
    }
    return r;
}

WR_TAP_EXPORT int __isoc99_vfscanf(FILE *f, const char *format, va_list ap)
{
    return scan_with(WR_REAL(__isoc99_vfscanf), f, format, ap);
}

/* What glibc 2.38 and later make of fscanf, for programs compiled with them. */
WR_TAP_EXPORT int __isoc23_vfscanf(FILE *f, const char *format, va_list ap)
{
    return scan_with(WR_REAL(__isoc23_vfscanf), f, format, ap);
}

WR_TAP_EXPORT int vprintf(const char *format, va_list ap)
{
    return vfprintf(stdout, format, ap);
}

/* X(name, parameters, the call with a list that it makes) */
#define VARIADIC_CALLS(X)                                                      \
    X(fprintf, (FILE * f, const char *format, ...), vfprintf(f, format, ap))   \
    X(__fprintf_chk, (FILE * f, int flag, const char *format, ...),            \
      __vfprintf_chk(f, flag, format, ap))                                     \
    X(printf, (const char *format, ...), vfprintf(stdout, format, ap))         \
    X(__printf_chk, (int flag, const char *format, ...),                       \
      __vfprintf_chk(stdout, flag, format, ap))                                \
    X(__isoc99_fscanf, (FILE * f, const char *format, ...),                    \
      __isoc99_vfscanf(f, format, ap))                                         \
    X(__isoc23_fscanf, (FILE * f, const char *format, ...),                    \
      __isoc23_vfscanf(f, format, ap))

#define VARIADIC_CALL(name, parameters, with_list)                             \
    WR_TAP_EXPORT int name parameters                                          \
    {                                                                          \
        va_list ap;                                                            \
        int r;                                                                 \
                                                                               \
        va_start(ap, format);                                                  \
        r = with_list;                                                         \
        va_end(ap);                                                            \
        return r;                                                              \
    }
VARIADIC_CALLS(VARIADIC_CALL)

/* --- characters: the macros of stdio.h call these when a buffer is empty or
 * full; single calls of fgetc and fputc are not noted --- */

static int fill(int (*real)(FILE *), FILE *f)
{
    uint64_t start = wr_tap_begin();
    int r = real(f);

    if (start && r != EOF)
        wr_tap_stream_moved(WR_TRACE_READ, f, start,
                            f->_IO_read_end - f->_IO_read_base, false);
    return r;
}

WR_TAP_EXPORT int __uflow(FILE *f)
{
    return fill(WR_REAL(__uflow), f);
}

WR_TAP_EXPORT int __overflow(FILE *f, int c)
{
    uint64_t start = wr_tap_begin();
    long n = f->_IO_write_ptr - f->_IO_write_base;
    int r = WR_REAL(__overflow)(f, c);

    if (start && n > 0)
        wr_tap_stream_moved(WR_TRACE_WRITE, f, start, n, r == EOF);
    return r;
}

/* fgetc and getc: one note when the buffer is filled, for all that it has. */
static int filled(int (*real)(FILE *), FILE *f)
{
    return f->_IO_read_ptr < f->_IO_read_end ? real(f) : fill(real, f);
}

WR_TAP_EXPORT int fgetc(FILE *f)
{
    return filled(WR_REAL(fgetc), f);
}

WR_TAP_EXPORT int getc_unlocked(FILE *f)
{
    return filled(WR_REAL(getc_unlocked), f);
}

WR_TAP_ALIAS(getc, fgetc);
WR_TAP_ALIAS(_IO_getc, fgetc);
WR_TAP_ALIAS(fgetc_unlocked, getc_unlocked);

/* --- positions --- */

void wr_tap_stream_sought(FILE *f, uint64_t start, int r)
{
    int fd = fileno_unlocked(f), kept = errno;
    struct wr_tap_fd *e = fd < 0 ? NULL : wr_tap_fd_of(fd);
    struct wr_tap_note n = {.start = start,
                            .off = WR_TAP_UNKNOWN,
                            .op = WR_TRACE_SEEK,
                            .flags = WR_TRACE_STDIO};
    long at;

    if (!e)
        return;
    at = ftell(f);
    if (r == 0 && at >= 0) {
        n.off = (uint64_t)at;
        e->pos = n.off;
    }
    n.handle = e->handle;
    errno = kept;
    wr_tap_put(&n);
}

WR_TAP_EXPORT void rewind(FILE *f)
{
    uint64_t start = wr_tap_begin();

    WR_REAL(rewind)(f);
    if (start)
        wr_tap_stream_sought(f, start, 0);
}
