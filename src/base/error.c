/* error.c - failing with a message, in one expression.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/lack.h"
#include "base/text.h"
#include "weir/weir.h"

int weir_version(void)
{
    return WEIR_VERSION;
}

const char *weir_version_string(void)
{
#define TEXT_OF(x)      #x
#define VERSION_TEXT(x) TEXT_OF(x)
    return VERSION_TEXT(WEIR_VERSION_MAJOR) "." VERSION_TEXT(
        WEIR_VERSION_MINOR) "." VERSION_TEXT(WEIR_VERSION_PATCH);
}

/* A message quotes names, and what other processes say: nothing in it may have
 * an effect on a terminal, or look like a line of its own. */
static void clean_message(weir_err *err)
{
    char raw[sizeof(err->msg)];
    size_t len = strlen(err->msg);

    if (wr_text_harmless(err->msg, len) == len)
        return;
    memcpy(raw, err->msg, len + 1);
    wr_text_show(raw, /* controls= */ true, err->msg, sizeof(err->msg));
}

/* The message, and ": `more`" behind it unless that is NULL. */
__attribute__((format(printf, 3, 0))) static void
set_message(weir_err *err, const char *more, const char *fmt, va_list ap)
{
    int n = wr_vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
    size_t used;

    if (n < 0)
        err->msg[0] = '\0';
    used = strlen(err->msg);
    if (more)
        snprintf(err->msg + used, sizeof(err->msg) - used, ": %s", more);
    clean_message(err);
}

/* A lack names its limit, once: the message may quote one that does already. */
static void add_limit(weir_err *err)
{
    size_t used = strlen(err->msg);
    char limit[100];

    if (wr_err_is_lack(err->code) && !strstr(err->msg, "RLIMIT_"))
        snprintf(err->msg + used, sizeof(err->msg) - used, "%s",
                 wr_lack_limit(err->code, err->os_errno, limit, sizeof(limit)));
}

int wr_fail(weir_err *err, int code, const char *fmt, ...)
{
    va_list ap;

    if (!err)
        return code;
    va_start(ap, fmt);
    set_message(err, NULL, fmt, ap);
    va_end(ap);
    err->code = code;
    err->os_errno = 0;
    add_limit(err);
    return code;
}

static const char *reason(int os_errno)
{
    /* The system's text tells of too many links; where none may be, one is. */
    if (os_errno == ELOOP)
        return "a symbolic link is in the way";
    return wr_strerror(os_errno);
}

int wr_fail_errno(weir_err *err, int os_errno, const char *fmt, ...)
{
    int code = wr_error_from_errno(os_errno);
    va_list ap;

    if (!err)
        return code;
    va_start(ap, fmt);
    set_message(err, reason(os_errno), fmt, ap);
    va_end(ap);
    err->code = code;
    err->os_errno = os_errno;
    add_limit(err);
    return code;
}

int wr_fail_prefix(weir_err *err, int code, const char *fmt, ...)
{
    char old[sizeof(err->msg)];
    va_list ap;

    if (!err)
        return code;
    memcpy(old, err->msg, sizeof(old));
    va_start(ap, fmt);
    set_message(err, old, fmt, ap);
    va_end(ap);
    return err->code;
}

int wr_fail_as(weir_err *err, int code, const weir_err *why)
{
    if (code < 0 && err)
        *err = *why;
    return code;
}

const char *wr_error_past_name(const char *msg, const char *name)
{
    char *shown = *msg == '\'' ? wr_text_clean(name) : NULL;
    size_t len = shown ? strlen(shown) : 0;
    bool is_named = shown && !strncmp(msg + 1, shown, len) &&
                    msg[1 + len] == '\'';

    free(shown);
    return is_named ? msg + 1 + len + 1 : NULL;
}

int wr_error_from_errno(int os_errno)
{
    switch (os_errno) {
    case ENOENT:
    case ENOTDIR:
        return WEIR_ENOENT;
    case EACCES:
    case EPERM:
    case ELOOP:
        return WEIR_EACCES;
    case EEXIST:
    case ENOTEMPTY:
        return WEIR_EEXIST;
    case ENOSPC:
    case EDQUOT:
        return WEIR_ENOSPC;
    case EBUSY:
    case EAGAIN:
        return WEIR_EBUSY;
    case ETIMEDOUT:
        return WEIR_ETIMEDOUT;
    case ENOMEM:
    case ENOBUFS:
        return WEIR_ENOMEM;
    case EMFILE:
    case ENFILE:
        return WEIR_EMFILE;
    case EINVAL:
        return WEIR_EINVAL;
    case ENOSYS:
    case EOPNOTSUPP:
        return WEIR_ENOTSUP;
    case ECANCELED:
        return WEIR_ECANCELED;
    default:
        return WEIR_EIO;
    }
}

const char *weir_strerror(int code)
{
    switch (code) {
    case WEIR_OK:
        return "success";
#define TEXT(name, value, text)                                                \
    case name:                                                                 \
        return text;
        WEIR_ERROR_MAP(TEXT)
#undef TEXT
    default:
        return "unknown error";
    }
}

const char *weir_error_name(int code)
{
    switch (code) {
    case WEIR_OK:
        return "WEIR_OK";
#define NAME(name, value, text)                                                \
    case name:                                                                 \
        return #name;
        WEIR_ERROR_MAP(NAME)
#undef NAME
    default:
        return "WEIR_E?";
    }
}
