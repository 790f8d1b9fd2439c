/* tiff_file.c - libtiff held in: input in memory, errors, limits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/tiff_file.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/c_locale.h"
#include "base/error.h"
#include "base/mem.h"

#define TEXT_BYTES 160
#define MAX_MEMORY ((tmsize_t)1 << 30) /* of one block that libtiff takes */

/* libtiff has no codes, only texts. */
static int code_of(const char *text)
{
    if (strstr(text, "beyond the"))
        return WEIR_ELIMIT;
    return wr_strcasestr(text, "memory") ? WEIR_ENOMEM : WEIR_EFORMAT;
}

static void note(struct wr_tiff_file *f, const char *module, const char *text)
{
    if (f->code)
        return; /* what came first is the cause */
    f->code = code_of(text);
    if (f->code == WEIR_EFORMAT)
        snprintf(f->msg, sizeof(f->msg), "damaged TIFF: %s", text);
    else
        snprintf(f->msg, sizeof(f->msg), "TIFF: %s: %s",
                 module ? module : "libtiff", text);
}

__attribute__((format(printf, 4, 0))) static int
on_error(TIFF *t, void *user, const char *module, const char *fmt, va_list ap)
{
    char text[TEXT_BYTES];

    wr_vsnprintf(text, sizeof(text), fmt, ap);
    note(user, module, text);
    return 1; /* and nobody prints it */
}

__attribute__((format(printf, 4, 0))) static int
on_warning(TIFF *t, void *user, const char *module, const char *fmt, va_list ap)
{
    struct wr_tiff_file *f = user;
    char text[TEXT_BYTES];

    wr_vsnprintf(text, sizeof(text), fmt, ap);
    /* Without its palette a picture would pass as a gray one. */
    if (f->is_strict || wr_strcasestr(text, "colormap"))
        note(f, module, text);
    return 1;
}

static tmsize_t on_read(thandle_t h, void *to, tmsize_t want)
{
    struct wr_tiff_file *f = h;
    uint64_t left = f->at < f->len ? f->len - f->at : 0;
    uint64_t n = want > 0 ? WR_MIN((uint64_t)want, left) : 0;

    if (n)
        memcpy(to, f->bytes + f->at, n);
    f->at += n;
    return (tmsize_t)n;
}

static tmsize_t on_write(thandle_t h, void *from, tmsize_t want)
{
    return -1;
}

static toff_t on_seek(thandle_t h, toff_t to, int whence)
{
    struct wr_tiff_file *f = h;

    f->at = whence == SEEK_CUR   ? f->at + to
            : whence == SEEK_END ? f->len + to
                                 : to;
    return f->at;
}

static int on_close(thandle_t h)
{
    return 0;
}

static toff_t on_size(thandle_t h)
{
    return ((struct wr_tiff_file *)h)->len;
}

int wr_tiff_open(struct wr_tiff_file *f, const void *bytes, size_t len,
                 weir_err *err)
{
    TIFFOpenOptions *o = TIFFOpenOptionsAlloc();

    *f = (struct wr_tiff_file){.bytes = bytes, .len = len};
    if (!o)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a TIFF decoder");
    TIFFOpenOptionsSetMaxSingleMemAlloc(o, MAX_MEMORY);
    TIFFOpenOptionsSetErrorHandlerExtR(o, on_error, f);
    TIFFOpenOptionsSetWarningHandlerExtR(o, on_warning, f);
    /* m: no mapping, all input comes through on_read */
    f->tiff = TIFFClientOpenExt("TIFF", "rm", f, on_read, on_write, on_seek,
                                on_close, on_size, NULL, NULL, o);
    TIFFOpenOptionsFree(o);
    if (f->tiff && !f->code)
        return 0;
    wr_tiff_close(f);
    return wr_tiff_fail(f, "no directory", err);
}

void wr_tiff_close(struct wr_tiff_file *f)
{
    if (f->tiff)
        TIFFClose(f->tiff);
    f->tiff = NULL;
}

int wr_tiff_fail(const struct wr_tiff_file *f, const char *otherwise,
                 weir_err *err)
{
    if (f->code)
        return wr_fail(err, f->code, "%s", f->msg);
    return wr_fail(err, WEIR_EFORMAT, "damaged TIFF: %s", otherwise);
}
