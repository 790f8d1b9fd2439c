/* json.c - JSON where it lies: values passed over, strings, positions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/json.h"

#include <string.h>

static const char too_deep[] = "nested deeper than 64";
static const char half[] = "half a character";
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

/* Four hexadecimal digits; they are not taken when there are fewer. */
static bool take_unit(struct wr_json *j, uint32_t *ret)
{
    uint32_t v = 0;

    for (int k = 0; k < 4; k++) {
        char c = j->end - j->at > k ? j->at[k] : '\0';

        if (c >= '0' && c <= '9')
            v = v << 4 | (uint32_t)(c - '0');
        else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
            v = v << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
        else
            return false;
    }
    j->at += 4;
    *ret = v;
    return true;
}

/* What stands behind \u, with its second half where it has one. */
static bool take_point(struct wr_json *j, uint32_t *ret)
{
    uint32_t point, low;

    if (!take_unit(j, &point))
        return wr_json_fail(j, "a bad escape");
    if (point >= 0xd800 && point < 0xe000) {
        if (point >= 0xdc00 || j->end - j->at < 2 || j->at[0] != '\\' ||
            j->at[1] != 'u')
            return wr_json_fail(j, half);
        j->at += 2;
        if (!take_unit(j, &low) || low < 0xdc00 || low >= 0xe000)
            return wr_json_fail(j, half);
        point = 0x10000 + ((point & 0x3ff) << 10 | (low & 0x3ff));
    }
    *ret = point;
    return true;
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

bool wr_json_escape(struct wr_json *j, char **to)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char c = j->at < j->end ? *j->at : '\0';
    const char *known = c ? strchr(names, c) : NULL;
    uint32_t point;

    if (known) {
        *(*to)++ = values[known - names];
        j->at++;
        return true;
    }
    if (c != 'u')
        return wr_json_fail(j, "a bad escape");
    j->at++;
    if (!take_point(j, &point))
        return false;
    *to = put_point(*to, point);
    return true;
}

bool wr_json_unescape(const struct wr_json_string *s, char *buf,
                      size_t *ret_len)
{
    struct wr_json j = {.at = s->at, .end = s->at + s->len};
    char *to = buf;

    while (j.at < j.end) {
        if (*j.at != '\\')
            *to++ = *j.at++;
        else if (j.at++, !wr_json_escape(&j, &to))
            return false;
    }
    *ret_len = (size_t)(to - buf);
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
