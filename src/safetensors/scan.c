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
                   (size_t)(s->j.at - s->text));
}

/* The byte here; NUL at the end. */
static char byte_at(const struct wr_scan *s)
{
    return s->j.at < s->j.end ? *s->j.at : '\0';
}

char wr_scan_peek(struct wr_scan *s)
{
    return wr_json_peek(&s->j);
}

int wr_scan_take(struct wr_scan *s, char c, weir_err *err)
{
    char what[] = "no '?'";

    if (wr_scan_peek(s) != c) {
        what[4] = c;
        return fail(s, what, err);
    }
    s->j.at++;
    return 0;
}

int wr_scan_more(struct wr_scan *s, char close, bool *first, weir_err *err)
{
    int r = 0;

    if (wr_scan_peek(s) == close) {
        s->j.at++;
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

int wr_scan_text(struct wr_scan *s, char **ret, weir_err *err)
{
    char *start, *to;
    int r = wr_scan_take(s, '"', err);

    if (r < 0)
        return r;
    start = to = s->text + (s->j.at - s->text);
    while (byte_at(s) != '"') {
        if ((unsigned char)byte_at(s) < 0x20)
            return fail(s, "a text that does not end", err);
        if (*s->j.at != '\\') {
            *to++ = *s->j.at++;
            continue;
        }
        s->j.at++;
        if (!wr_json_escape(&s->j, &to))
            return fail(s, s->j.bad, err);
        if (!to[-1])
            return fail(s, "a NUL in a text", err);
    }
    s->j.at++;
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

static size_t pass_digits(struct wr_scan *s)
{
    const char *start = s->j.at;

    while (byte_at(s) >= '0' && byte_at(s) <= '9')
        s->j.at++;
    return (size_t)(s->j.at - start);
}

int wr_scan_number(struct wr_scan *s, bool *ret_whole, uint64_t *ret,
                   weir_err *err)
{
    bool whole = wr_scan_peek(s) != '-';
    const char *start;
    size_t n;

    s->j.at += !whole;
    start = s->j.at;
    if (byte_at(s) == '0')
        s->j.at++;
    else if (!pass_digits(s))
        return fail(s, "no value", err);
    if (!wr_take_digits(&start, s->j.at, ret))
        *ret = UINT64_MAX;
    n = 1;
    if (byte_at(s) == '.') {
        whole = false;
        s->j.at++;
        n = pass_digits(s);
    }
    if (n && (byte_at(s) | 0x20) == 'e') {
        whole = false;
        s->j.at++;
        s->j.at += byte_at(s) == '+' || byte_at(s) == '-';
        n = pass_digits(s);
    }
    *ret_whole = whole;
    return n ? 0 : fail(s, "a number without digits", err);
}

static int skip_word(struct wr_scan *s, weir_err *err)
{
    static const char *const words[] = {"true", "false", "null"};

    for (int k = 0; k < 3; k++) {
        size_t len = strlen(words[k]);

        if ((size_t)(s->j.end - s->j.at) >= len &&
            !memcmp(s->j.at, words[k], len)) {
            s->j.at += len;
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
    s->j.at++;
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
