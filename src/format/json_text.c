/* json_text.c - JSON where it lies: values passed over, strings, positions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/json_text.h"

#include <string.h>

static const char too_deep[] = "nested deeper than 64";
static const char cut[] = "the text ends in the middle of a value";

bool wr_json_fail(struct wr_json *j, const char *why)
{
    if (!j->bad)
        j->bad = why;
    return false;
}

bool wr_json_take(struct wr_json *j, char c, const char *why)
{
    char got = wr_json_peek(j);

    if (got != c || j->at >= j->end)
        return wr_json_fail(j, j->at >= j->end ? cut : why);
    j->at++;
    return true;
}

/* --- strings --- */

bool wr_json_string(struct wr_json *j, struct wr_json_string *ret)
{
    const char *p;

    if (!wr_json_take(j, '"', "a string was to come here"))
        return false;
    *ret = (struct wr_json_string){.at = j->at};
    for (p = j->at; p < j->end && *p != '"'; p++) {
        if ((unsigned char)*p < 0x20) {
            j->at = p;
            return wr_json_fail(j, "a control character in a string");
        }
        ret->escaped |= *p == '\\';
        p += *p == '\\';
    }
    if (p >= j->end) {
        j->at = j->end;
        return wr_json_fail(j, cut);
    }
    ret->len = (size_t)(p - ret->at);
    j->at = p + 1;
    return true;
}

bool wr_json_name(struct wr_json *j, struct wr_json_string *ret)
{
    return wr_json_string(j, ret) &&
           wr_json_take(j, ':', "a colon was to come here");
}

/* Four hexadecimal digits at p, or -1. */
static int32_t hex4(const char *p, const char *end)
{
    int32_t v = 0;

    if (end - p < 4)
        return -1;
    for (int k = 0; k < 4; k++) {
        const char *digits = "0123456789abcdef", *at;

        at = p[k] ? strchr(digits,
                           p[k] >= 'A' && p[k] <= 'F' ? p[k] | 0x20 : p[k])
                  : NULL;
        if (!at)
            return -1;
        v = v * 16 + (int32_t)(at - digits);
    }
    return v;
}

static char *put_utf8(uint32_t c, char *w)
{
    if (c < 0x80) {
        *w++ = (char)c;
    } else if (c < 0x800) {
        *w++ = (char)(0xc0 | c >> 6);
        *w++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *w++ = (char)(0xe0 | c >> 12);
        *w++ = (char)(0x80 | (c >> 6 & 0x3f));
        *w++ = (char)(0x80 | (c & 0x3f));
    } else {
        *w++ = (char)(0xf0 | c >> 18);
        *w++ = (char)(0x80 | (c >> 12 & 0x3f));
        *w++ = (char)(0x80 | (c >> 6 & 0x3f));
        *w++ = (char)(0x80 | (c & 0x3f));
    }
    return w;
}

/* The character of \uXXXX (p stands behind the u), with its second half if it
 * has one; NULL: none. */
static const char *take_unicode(const char *p, const char *end, uint32_t *ret)
{
    int32_t c = hex4(p, end), low;

    if (c < 0 || (c >= 0xdc00 && c < 0xe000))
        return NULL;
    p += 4;
    if (c >= 0xd800 && c < 0xdc00) {
        low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2, end)
                                                          : -1;
        if (low < 0xdc00 || low >= 0xe000)
            return NULL;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        p += 6;
    }
    *ret = (uint32_t)c;
    return p;
}

bool wr_json_unescape(const struct wr_json_string *s, char *buf,
                      size_t *ret_len)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *p = s->at, *end = s->at + s->len, *known;
    char *w = buf;
    uint32_t c;

    while (p < end) {
        if (*p != '\\') {
            *w++ = *p++;
            continue;
        }
        if (++p == end)
            return false;
        if (*p == 'u') {
            p = take_unicode(p + 1, end, &c);
            if (!p)
                return false;
            w = put_utf8(c, w);
            continue;
        }
        known = *p ? strchr(names, *p) : NULL;
        if (!known)
            return false;
        *w++ = values[known - names];
        p++;
    }
    *ret_len = (size_t)(w - buf);
    return true;
}

/* --- values --- */

static bool is_word_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

bool wr_json_word(struct wr_json *j, const char **ret, size_t *ret_len)
{
    const char *at;

    wr_json_peek(j);
    at = j->at;
    while (j->at < j->end && is_word_byte(*j->at))
        j->at++;
    *ret = at;
    *ret_len = (size_t)(j->at - at);
    return *ret_len ||
           wr_json_fail(j, j->at == j->end ? cut
                           : *j->at == '"'
                               ? "a string where a number was to come"
                               : "no value can start so");
}

static bool skip_word(struct wr_json *j)
{
    static const char *const words[] = {"true", "false",    "null",
                                        "NaN",  "Infinity", "-Infinity"};
    const char *at;
    size_t len;

    if (!wr_json_word(j, &at, &len))
        return false;
    if ((*at >= '0' && *at <= '9') ||
        (*at == '-' && len > 1 && at[1] >= '0' && at[1] <= '9'))
        return true;
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
        if (strlen(words[k]) == len && !memcmp(words[k], at, len))
            return true;
    j->at = at;
    return wr_json_fail(j, "a word that is no value");
}

/* What is open: a bit per level, set for objects. */
struct nesting {
    uint64_t objects;
    unsigned depth;
};

/* Opens an array or object at j->at; *ret_empty: it is closed again. */
static bool open_level(struct wr_json *j, struct nesting *n, bool *ret_empty)
{
    bool object = *j->at++ == '{';
    struct wr_json_string name;

    *ret_empty = wr_json_peek(j) == (object ? '}' : ']');
    if (*ret_empty) {
        j->at++;
        return true;
    }
    if (n->depth == WR_JSON_DEPTH)
        return wr_json_fail(j, too_deep);
    n->objects = n->objects << 1 | object;
    n->depth++;
    return !object || wr_json_name(j, &name);
}

/* Behind a value: closes levels until another value follows, or none is
 * open. */
static bool close_levels(struct wr_json *j, struct nesting *n)
{
    struct wr_json_string name;

    while (n->depth) {
        bool object = n->objects & 1;

        if (wr_json_peek(j) == ',') {
            j->at++;
            return !object || wr_json_name(j, &name);
        }
        if (!wr_json_take(j, object ? '}' : ']',
                          "a comma or the end was to come here"))
            return false;
        n->objects >>= 1;
        n->depth--;
    }
    return true;
}

bool wr_json_skip(struct wr_json *j)
{
    struct nesting n = {0};
    struct wr_json_string s;

    do {
        char c = wr_json_peek(j);
        bool ok, closed = true;

        if (c == '{' || c == '[')
            ok = open_level(j, &n, &closed);
        else
            ok = c == '"' ? wr_json_string(j, &s) : skip_word(j);
        if (!ok || (closed && !close_levels(j, &n)))
            return false;
    } while (n.depth);
    return true;
}

const char *wr_json_value_end(const char *at, const char *end)
{
    int64_t depth = 0;

    for (const char *p = at; p < end; p++) {
        switch (*p) {
        case '"':
            for (p++; p < end && *p != '"'; p++)
                p += *p == '\\';
            break;
        case '[':
        case '{':
            depth++;
            break;
        case ']':
        case '}':
            if (depth-- == 0)
                return p;
            break;
        case ',':
            if (!depth)
                return p;
            break;
        default:
            break;
        }
    }
    return NULL;
}

/* --- UTF-8 --- */

/* Bytes of the character at p, or 0. */
static size_t utf8_bytes(const unsigned char *p, size_t left)
{
    size_t n = p[0] < 0x80   ? 1
               : p[0] < 0xc2 ? 0
               : p[0] < 0xe0 ? 2
               : p[0] < 0xf0 ? 3
               : p[0] < 0xf5 ? 4
                             : 0;

    if (n > left)
        return 0;
    for (size_t k = 1; k < n; k++)
        if ((p[k] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

const char *wr_json_not_utf8(const char *at, const char *end)
{
    while (at < end) {
        uint64_t v;
        size_t n;

        for (; end - at >= 8; at += 8) { /* plain ASCII */
            memcpy(&v, at, sizeof(v));
            if (v & 0x8080808080808080)
                break;
        }
        if (at == end)
            break;
        n = utf8_bytes((const unsigned char *)at, (size_t)(end - at));
        if (!n)
            return at;
        at += n;
    }
    return NULL;
}
