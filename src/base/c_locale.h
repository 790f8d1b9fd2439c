/* c_locale.h - numbers and errors as text, whatever the program's locale.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program that calls setlocale() may have a decimal comma; what weir reads,
 * writes and says has a point, and is English. */
#ifndef WR_BASE_C_LOCALE_H
#define WR_BASE_C_LOCALE_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

/* As strtod, strtof, snprintf, vsnprintf, strerror and gai_strerror are in the C
 * locale. */
double wr_strtod(const char *text, char **ret_end);
float wr_strtof(const char *text, char **ret_end);
int wr_snprintf(char *buf, size_t cap, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int wr_vsnprintf(char *buf, size_t cap, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));
/* Puts this thread into the C locale, and back: for libraries that read numbers
 * by the locale's rules (jansson's json_load). */
locale_t wr_locale_enter(void);
void wr_locale_leave(locale_t before);
const char *wr_strerror(int os_errno); /* until this thread calls it again */
const char *wr_gai_strerror(int code);

#endif
