/* text.c - widths and wrapping of text for a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/mem.h"

#define BAR_BYTES  3 /* of a block character */
#define MOST_BYTES 4 /* of any */

/* The same of s[0..left). */
static size_t decode_within(const char *s, size_t left, uint32_t *ret_point)
{
    const unsigned char *p = (const unsigned char *)s;
    size_t n = p[0] < 0x80             ? 1
               : (p[0] & 0xe0) == 0xc0 ? 2
               : (p[0] & 0xf0) == 0xe0 ? 3
               : (p[0] & 0xf8) == 0xf0 ? 4
                                       : 0;
    uint32_t point = n > 1 ? p[0] & (0x7fu >> n) : p[0];

    if (n > left)
        return 0;
    for (size_t k = 1; k < n; k++) {
        if ((p[k] & 0xc0) != 0x80) /* also stops at the end */
            return 0;
        point = point << 6 | (p[k] & 0x3fu);
    }
    if ((n == 2 && point < 0x80) || (n == 3 && point < 0x800) ||
        (n == 4 && (point < 0x10000 || point > 0x10ffff)) ||
        (point >= 0xd800 && point < 0xe000))
        return 0;
    *ret_point = point;
    return n;
}

size_t wr_text_decode(const char *s, uint32_t *ret_point)
{
    return decode_within(s, MOST_BYTES, ret_point);
}

/* Control characters, and those that change the direction or the line of what
 * stands around them: a name with such can be shown as another one. */
static bool is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x61c ||
           point == 0x200e || point == 0x200f ||
           (point >= 0x2028 && point <= 0x202e) ||
           (point >= 0x2066 && point <= 0x2069);
}

size_t wr_text_harmless(const char *s, size_t len)
{
    size_t at = 0;

    while (at < len) {
        uint32_t point = 0;
        size_t n = decode_within(s + at, len - at, &point);

        if (!n || is_control(point))
            break;
        at += n;
    }
    return at;
}

void wr_text_put(FILE *to, const char *s, size_t len)
{
    while (len) {
        size_t n = wr_text_harmless(s, len);

        fwrite(s, 1, n, to);
        s += n;
        len -= n;
        if (len) {
            fprintf(to, "\\x%02x", (unsigned char)*s++);
            len--;
        }
    }
}

/* Bytes of an escape sequence "ESC [ ... letter" at s, 0 if there is none. */
static size_t escape_len(const char *s)
{
    size_t len;

    if (s[0] != '\033' || s[1] != '[')
        return 0;
    len = 2 + strspn(s + 2, "0123456789;");
    return s[len] ? len + 1 : len;
}

/* Columns of the character at s; its bytes in *ret_len. */
static size_t char_width(const char *s, size_t *ret_len)
{
    size_t escape = escape_len(s);
    uint32_t point;
    int w;

    if (escape) {
        *ret_len = escape;
        return 0;
    }
    *ret_len = wr_text_decode(s, &point);
    if (!*ret_len) { /* a byte that stands for itself */
        *ret_len = 1;
        return 1;
    }
    w = wcwidth((wchar_t)point); /* -1 in a locale without the character */
    return w < 0 ? 1 : (size_t)w;
}

size_t wr_text_width(const char *s)
{
    size_t columns = 0, len;

    for (; *s; s += len)
        columns += char_width(s, &len);
    return columns;
}

const char *wr_text_not_utf8(const char *at, const char *end)
{
    uint32_t point;
    uint64_t v;
    size_t n;

    while (at < end) {
        for (; end - at >= 8; at += 8) { /* plain ASCII */
            memcpy(&v, at, sizeof(v));
            if (v & 0x8080808080808080)
                break;
        }
        if (at == end)
            break;
        n = decode_within(at, (size_t)(end - at), &point);
        if (!n)
            return at;
        at += n;
    }
    return NULL;
}

bool wr_text_is_utf8(const char *s)
{
    return !wr_text_not_utf8(s, s + strlen(s));
}

size_t wr_text_escape(const char *s, size_t len, bool html, char *buf)
{
    static const char digits[] = "0123456789abcdef";
    char *to = buf;

    for (size_t k = 0; k < len; k++) {
        unsigned char c = (unsigned char)s[k];

        if (c < 0x20 || (html && (c == '<' || c == '>' || c == '&'))) {
            memcpy(to, "\\u00", 4);
            to[4] = digits[c >> 4];
            to[5] = digits[c & 15];
            to += 6;
            continue;
        }
        if (c == '"' || c == '\\')
            *to++ = '\\';
        *to++ = s[k];
    }
    return (size_t)(to - buf);
}

size_t wr_text_fit(const char *s, size_t columns)
{
    size_t used = 0, at = 0, len;

    while (s[at]) {
        used += char_width(s + at, &len);
        if (used > columns)
            break;
        at += len;
    }
    return at;
}

size_t wr_text_columns(const char *s, size_t len)
{
    size_t columns = 0, step;

    for (size_t i = 0; i < len; i += step)
        columns += char_width(s + i, &step);
    return columns;
}

void wr_text_print(FILE *to, const char *s, struct wr_text_wrap wrap)
{
    size_t at = wrap.at;
    bool first = true; /* no word on this line yet */

    while (*s) {
        size_t blanks = strspn(s, " \n");
        bool paragraph = strncmp(s, "\n\n", 2) == 0;
        size_t len = strcspn(s += blanks, " \n");
        size_t columns = wr_text_columns(s, len);

        if (!len)
            break;
        if (paragraph)
            fputc('\n', to);
        if (paragraph || (!first && at + 1 + columns > wrap.width)) {
            fprintf(to, "\n%*s", (int)wrap.indent, "");
            at = wrap.indent;
            first = true;
        }
        if (!first)
            fputc(' ', to);
        wr_text_put(to, s, len);
        at += columns + !first;
        first = false;
        s += len;
    }
    fputc('\n', to);
}

void wr_text_fold(FILE *to, const char *s, size_t len, struct wr_text_wrap wrap)
{
    size_t at = wrap.at, i = 0;

    while (i < len) {
        size_t blanks = 0, bytes = 0, columns;

        while (i + blanks < len && s[i + blanks] == ' ')
            blanks++;
        while (i + blanks + bytes < len && s[i + blanks + bytes] != ' ')
            bytes++;
        columns = wr_text_columns(s + i + blanks, bytes);
        /* At the beginning of a line a break would gain nothing. */
        if (at > wrap.indent && i && bytes &&
            at + blanks + columns > wrap.width) {
            fprintf(to, "\n%*s", (int)wrap.indent, "");
            at = wrap.indent;
            i += blanks;
            blanks = 0;
        }
        fwrite(s + i, 1, blanks + bytes, to);
        at += blanks + columns;
        i += blanks + bytes;
    }
}

const char *wr_text_show(const char *s, bool controls, char *buf, size_t cap)
{
    size_t used = 0;

    while (*s && used + 5 < cap) {
        uint32_t point = 0;
        size_t n = wr_text_decode(s, &point);

        if (n && !(controls && is_control(point))) {
            memcpy(buf + used, s, n);
            used += n;
            s += n;
            continue;
        }
        used += (size_t)snprintf(buf + used, cap - used, "\\x%02x",
                                 (unsigned char)*s++);
    }
    buf[used] = '\0';
    return buf;
}

char *wr_text_clean(const char *s)
{
    size_t cap = 4 * strlen(s) + 6; /* each byte as \xNN */
    char *text = malloc(cap);

    if (text)
        wr_text_show(s, /* controls= */ true, text, cap);
    return text;
}

bool wr_text_is_formula(const char *s)
{
    size_t digits = *s == '+' || *s == '-' ? strspn(s + 1, "0123456789.") : 0;

    if (!*s || !strchr("=+-@\t\r", *s))
        return false;
    return *s == '=' || *s == '@' || *s == '\t' || *s == '\r' || s[1 + digits];
}

/* Where the query of the URL at s ("://...") begins; NULL: it has none. */
static char *find_query(char *s)
{
    s += strcspn(s, "? \t\n");
    return *s == '?' ? s : NULL;
}

void wr_text_drop_queries(char *s)
{
    char *at = s;

    while ((at = strstr(at, "://"))) {
        char *query = find_query(at);

        at += 3;
        if (!query)
            continue;
        at = query + strcspn(query, " \t\n");
        memmove(query, at, strlen(at) + 1);
        at = query;
    }
}

char *wr_text_bar(double value, double max, unsigned columns, bool utf8,
                  char *buf)
{
    static const char blocks[8][BAR_BYTES + 1] = {"█", "▏", "▎", "▍",
                                                  "▌", "▋", "▊", "▉"};
    double share = value > 0 && max > 0 ? WR_MIN(value / max, 1.0) : 0;
    unsigned eighths = (unsigned)(share * columns * 8 + 0.5);
    char *at = buf;

    if (value > 0 && eighths == 0)
        eighths = 1; /* little is not nothing */
    if (!utf8) {
        eighths = (eighths + 7) / 8;
        memset(buf, '#', eighths);
        buf[eighths] = '\0';
        return buf;
    }
    for (; eighths >= 8; eighths -= 8, at += BAR_BYTES)
        memcpy(at, blocks[0], BAR_BYTES);
    if (eighths) {
        memcpy(at, blocks[eighths], BAR_BYTES);
        at += BAR_BYTES;
    }
    *at = '\0';
    return buf;
}
