/* ascii.h - letters and comparisons of ASCII, whatever the locale.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The functions of libc follow the locale of the program: in Turkish, "TIFF"
 * and "tiff" differ. Bytes above 127 belong to no class here. */
#ifndef WR_BASE_ASCII_H
#define WR_BASE_ASCII_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline char wr_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static inline char wr_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c;
}

static inline bool wr_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool wr_is_alpha(char c)
{
    return wr_lower(c) >= 'a' && wr_lower(c) <= 'z';
}

static inline bool wr_is_alnum(char c)
{
    return wr_is_alpha(c) || wr_is_digit(c);
}

static inline bool wr_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* As strncasecmp and strcasecmp are in the C locale. */
static inline int wr_strncasecmp(const char *a, const char *b, size_t n)
{
    for (; n; n--, a++, b++) {
        int d = (unsigned char)wr_lower(*a) - (unsigned char)wr_lower(*b);

        if (d || !*a)
            return d;
    }
    return 0;
}

static inline int wr_strcasecmp(const char *a, const char *b)
{
    return wr_strncasecmp(a, b, (size_t)-1);
}

static inline const char *wr_strcasestr(const char *text, const char *part)
{
    size_t n = strlen(part);

    for (; wr_strncasecmp(text, part, n); text++)
        if (!*text)
            return NULL;
    return text;
}

#endif
