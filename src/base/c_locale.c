/* c_locale.c - numbers and errors as text, whatever the program's locale.
 * SPDX-License-Identifier: Apache-2.0
 *
 * glibc and musl answer newlocale("C") with a constant: it cannot fail, takes
 * no memory, and nothing is to be freed. */
#include "base/c_locale.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t wr_locale_enter(void)
{
    return uselocale(c_locale());
}

void wr_locale_leave(locale_t before)
{
    uselocale(before);
}

double wr_strtod(const char *text, char **ret_end)
{
    return strtod_l(text, ret_end, c_locale());
}

float wr_strtof(const char *text, char **ret_end)
{
    return strtof_l(text, ret_end, c_locale());
}

int wr_vsnprintf(char *buf, size_t cap, const char *fmt, va_list ap)
{
    locale_t before = wr_locale_enter();
    int n = vsnprintf(buf, cap, fmt, ap);

    wr_locale_leave(before);
    return n;
}

int wr_snprintf(char *buf, size_t cap, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = wr_vsnprintf(buf, cap, fmt, ap);
    va_end(ap);
    return n;
}

const char *wr_strerror(int os_errno)
{
    return strerror_l(os_errno, c_locale());
}

const char *wr_gai_strerror(int code)
{
    locale_t before = wr_locale_enter();
    const char *text = gai_strerror(code);

    wr_locale_leave(before);
    return text;
}
