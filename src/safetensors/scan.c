/* scan.c - JSON taken apart where it lies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "safetensors/scan.h"

#include <string.h>

#include "base/error.h"
#include "base/units.h"

#define MAX_DEPTH 128

static int fail(const struct wr_scan *s, const char *what, weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT, "not JSON: %s at byte %zu", what,
                   (size_t)(s->at - s->text));
}

char wr_scan_peek(struct wr_scan *s)
{
    while (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r')
        s->at++;
    return *s->at;
}

int wr_scan_take(struct wr_scan *s, char c, weir_err *err)
{
    char what[] = "no '?'";

    if (wr_scan_peek(s) != c) {
        what[4] = c;
        return fail(s, what, err);
    }
    s->at++;
    return 0;
}

int wr_scan_more(struct wr_scan *s, char close, bool *first, weir_err *err)
{
    int r = 0;

    if (wr_scan_peek(s) == close) {
        s->at++;
        return 0;
    }
    if (!*first)
        r = wr_scan_take(s, ',', err);
    *first = false;
    return r < 0 ? r : 1;
}

int wr_scan_end(struct wr_scan *s, weir_err *err)
{
    return wr_scan_peek(s) ? fail(s, "something follows", err) : 0;
}

/* --- texts --- */

/* Four hexadecimal digits; they are not taken when there are fewer. */
static bool take_unit(struct wr_scan *s, uint32_t *ret)
{
    uint32_t v = 0;

    for (int k = 0; k < 4; k++) {
        char c = s->at[k];

        if (c >= '0' && c <= '9')
            v = v << 4 | (uint32_t)(c - '0');
        else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
            v = v << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
        else
            return false;
    }
    s->at += 4;
    *ret = v;
    return true;
}

/* What stands behind \u, with its second half where it has one. */
static int take_point(struct wr_scan *s, uint32_t *ret, weir_err *err)
{
    uint32_t high, low;

    if (!take_unit(s, &high))
        return fail(s, "a bad escape", err);
    if (high == 0)
        return fail(s, "a NUL in a text", err);
    if (high >= 0xd800 && high < 0xe000) {
        if (high >= 0xdc00 || s->at[0] != '\\' || s->at[1] != 'u')
            return fail(s, "half a character", err);
        s->at += 2;
        if (!take_unit(s, &low) || low < 0xdc00 || low >= 0xe000)
            return fail(s, "half a character", err);
        high = 0x10000 + ((high & 0x3ff) << 10 | (low & 0x3ff));
    }
    *ret = high;
    return 0;
}

static char *put_point(char *to, uint32_t point)
{
    if (point < 0x80) {
        *to++ = (char)point;
        return to;
    }
    if (point < 0x800) {
        *to++ = (char)(0xc0 | point >> 6);
    } else {
        if (point < 0x10000) {
            *to++ = (char)(0xe0 | point >> 12);
        } else {
            *to++ = (char)(0xf0 | point >> 18);
            *to++ = (char)(0x80 | (point >> 12 & 0x3f));
        }
        *to++ = (char)(0x80 | (point >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (point & 0x3f));
    return to;
}

/* An escape, whose backslash was taken; it never grows. */
static int take_escape(struct wr_scan *s, char **to, weir_err *err)
{
    static const char names[] = "\"\\/bfnrt", chars[] = "\"\\/\b\f\n\r\t";
    const char *found = *s->at ? strchr(names, *s->at) : NULL;
    uint32_t point = 0;
    int r;

    if (found) {
        *(*to)++ = chars[found - names];
        s->at++;
        return 0;
    }
    if (*s->at != 'u')
        return fail(s, "a bad escape", err);
    s->at++;
    r = take_point(s, &point, err);
    if (r == 0)
        *to = put_point(*to, point);
    return r;
}

int wr_scan_text(struct wr_scan *s, char **ret, weir_err *err)
{
    char *start, *to;
    int r = wr_scan_take(s, '"', err);

    if (r < 0)
        return r;
    start = to = s->at;
    while (*s->at != '"') {
        if ((unsigned char)*s->at < 0x20)
            return fail(s, "a text that does not end", err);
        if (*s->at != '\\') {
            *to++ = *s->at++;
            continue;
        }
        s->at++;
        r = take_escape(s, &to, err);
        if (r < 0)
            return r;
    }
    s->at++;
    *to = '\0';
    *ret = start;
    return 0;
}

int wr_scan_key(struct wr_scan *s, char **ret, weir_err *err)
{
    int r = wr_scan_text(s, ret, err);

    return r < 0 ? r : wr_scan_take(s, ':', err);
}

/* --- numbers and the rest --- */

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

static uint64_t value_of(const char *text, size_t len)
{
    uint64_t v;

    return wr_take_digits(&text, text + len, &v) ? v : UINT64_MAX;
}

int wr_scan_number(struct wr_scan *s, bool *ret_whole, uint64_t *ret,
                   weir_err *err)
{
    bool whole = wr_scan_peek(s) != '-';
    size_t n;

    s->at += !whole;
    n = *s->at == '0' ? 1 : digits(s->at);
    if (!n)
        return fail(s, "no value", err);
    *ret = value_of(s->at, n);
    s->at += n;
    if (*s->at == '.') {
        whole = false;
        n = digits(++s->at);
        s->at += n;
    }
    if (n && (*s->at | 0x20) == 'e') {
        whole = false;
        s->at++;
        s->at += *s->at == '+' || *s->at == '-';
        n = digits(s->at);
        s->at += n;
    }
    *ret_whole = whole;
    return n ? 0 : fail(s, "a number without digits", err);
}

static int skip_word(struct wr_scan *s, weir_err *err)
{
    static const char *const words[] = {"true", "false", "null"};

    for (int k = 0; k < 3; k++) {
        size_t len = strlen(words[k]);

        if (!strncmp(s->at, words[k], len)) {
            s->at += len;
            return 0;
        }
    }
    return fail(s, "no value", err);
}

static int skip(struct wr_scan *s, int depth, weir_err *err)
{
    char open = wr_scan_peek(s), close = open == '{' ? '}' : ']', *text;
    bool first = true, whole;
    uint64_t n;
    int r;

    if (open == '"')
        return wr_scan_text(s, &text, err);
    if (open == '-' || (open >= '0' && open <= '9'))
        return wr_scan_number(s, &whole, &n, err);
    if (open != '{' && open != '[')
        return skip_word(s, err);
    if (depth == MAX_DEPTH)
        return fail(s, "too many brackets in each other", err);
    s->at++;
    while ((r = wr_scan_more(s, close, &first, err)) == 1) {
        if (open == '{')
            r = wr_scan_key(s, &text, err);
        if (r >= 0)
            r = skip(s, depth + 1, err);
        if (r < 0)
            break;
    }
    return r;
}

int wr_scan_skip(struct wr_scan *s, weir_err *err)
{
    return skip(s, 0, err);
}
