/* phrase.c - sentences over the values of a result.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/phrase.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"

#define WORD_BYTES 64 /* of a number, a path or a form */

/* A text that grows. */
struct phrase {
    const json_t *o; /* borrowed */
    char *text;      /* owned */
    size_t len, cap;
    bool lacks;  /* a value that is shown or asked for is nothing */
    bool failed; /* memory is short */
};

static void put(struct phrase *p, const char *s, size_t len)
{
    p->failed |= !wr_grow(&p->text, &p->cap, p->len + len + 1, 1);
    if (p->failed)
        return;
    memcpy(p->text + p->len, s, len);
    p->len += len;
    p->text[p->len] = '\0';
}

static void put_blanks(struct phrase *p, size_t count)
{
    while (count-- > 0)
        put(p, " ", 1);
}

static json_t *find_value(const json_t *o, const char *path, size_t len)
{
    json_t *j = (json_t *)(uintptr_t)o;
    const char *end = path + len;

    while (j && path < end) {
        size_t n = strcspn(path, ".");
        char key[WORD_BYTES];

        n = WR_MIN(n, (size_t)(end - path));
        snprintf(key, sizeof(key), "%.*s", (int)n, path);
        j = json_object_get(j, key);
        path += n + 1;
    }
    return j;
}

json_t *wr_phrase_value(const json_t *o, const char *path)
{
    return find_value(o, path, strlen(path));
}

static bool is_nothing(const json_t *j)
{
    if (json_is_string(j))
        return !*json_string_value(j);
    if (json_is_number(j))
        return json_number_value(j) == 0;
    if (json_is_array(j))
        return !json_array_size(j);
    return !json_is_true(j) && !json_is_object(j);
}

/* "2026-11-16 08:15:02", local time. */
static void time_text(uint64_t ns, char *buf, size_t cap)
{
    time_t t = (time_t)(ns / WR_NS_PER_SEC);
    struct tm tm;

    if (!ns || !localtime_r(&t, &tm) ||
        !strftime(buf, cap, "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(buf, cap, "-");
}

/* Of a number, in `buf`; texts are shown as they are. */
static const char *value_text(const json_t *j, char letter, int digits,
                              char buf[WORD_BYTES])
{
    double x = json_number_value(j);
    uint64_t whole = json_is_integer(j) ? (uint64_t)json_integer_value(j)
                                        : (uint64_t)x;

    if (json_is_string(j))
        return json_string_value(j);
    if (!json_is_number(j))
        return json_is_true(j) ? "yes" : json_is_false(j) ? "no" : "-";
    switch (letter) {
    case 'b':
        return wr_format_bytes(buf, WORD_BYTES, x);
    case 'n':
        return wr_format_count(buf, WORD_BYTES, whole);
    case 't':
        return wr_format_ns(buf, WORD_BYTES, x);
    case 'u':
        return wr_format_ns(buf, WORD_BYTES, x * 1e3);
    case 'm':
        return wr_format_ns(buf, WORD_BYTES, x * 1e6);
    case 's':
        return wr_format_ns(buf, WORD_BYTES, x * 1e9);
    case 'w':
        time_text(whole, buf, WORD_BYTES);
        return buf;
    default:
        break;
    }
    if (json_is_integer(j) && !digits && letter != 'M')
        snprintf(buf, WORD_BYTES, "%" PRIu64, whole);
    else
        snprintf(buf, WORD_BYTES, "%.*f", digits, letter == 'M' ? x / 1e6 : x);
    return buf;
}

/* `form` as in "{bytes:-8.1b}", behind the ':'. */
static void put_value(struct phrase *p, const json_t *j, const char *form)
{
    bool left = *form == '-';
    char buf[WORD_BYTES], *at;
    size_t width = strtoul(form + left, &at, 10), used, i;
    int digits = *at == '.' ? (int)strtoul(at + 1, &at, 10) : 0;
    const char *text;
    const json_t *entry;

    if (json_is_array(j)) {
        json_array_foreach(j, i, entry)
        {
            if (i)
                put(p, *at == 'x' ? "x" : ", ", *at == 'x' ? 1 : 2);
            put_value(p, entry, "");
        }
        return;
    }
    text = value_text(j, *at, digits, buf);
    used = wr_text_width(text);
    put_blanks(p, !left && width > used ? width - used : 0);
    put(p, text, strlen(text));
    put_blanks(p, left && width > used ? width - used : 0);
}

static const char *put_text(struct phrase *p, const char *s, const char *ends);

/* "this|that}": the one or the other; returns what follows. */
static const char *put_either(struct phrase *p, bool first, const char *s)
{
    bool lacked = p->lacks;
    size_t mark = p->len;

    s = put_text(p, s, "|}");
    if (!first)
        p->len = mark;
    mark = p->len;
    if (*s == '|')
        s = put_text(p, s + 1, "}");
    if (first)
        p->len = mark;
    p->lacks = lacked;
    return s;
}

static bool is_word(const json_t *j, const char *word, size_t len)
{
    char buf[WORD_BYTES];
    const char *text = value_text(j, 0, 0, buf);

    return strlen(text) == len && !memcmp(text, word, len);
}

/* What stands between braces; returns what follows. */
static const char *put_brace(struct phrase *p, const char *s)
{
    char ask = *s == '?' || *s == '!' ? *s++ : '\0';
    size_t len = strcspn(s, ":?=}");
    const json_t *j = find_value(p->o, s, len);

    s += len;
    if (ask) {
        p->lacks |= is_nothing(j) == (ask == '?');
    } else if (*s == '?') {
        s = put_either(p, !is_nothing(j), s + 1);
    } else if (*s == '=') {
        len = strcspn(s + 1, "?}");
        s = put_either(p, is_word(j, s + 1, len), s + 1 + len + 1);
    } else {
        p->lacks |= is_nothing(j);
        put_value(p, j, *s == ':' ? s + 1 : "");
        s += strcspn(s, "}");
    }
    return *s ? s + 1 : s;
}

static const char *put_choice(struct phrase *p, const char *s);

/* Up to one of `ends`; returns where that is. */
static const char *put_text(struct phrase *p, const char *s, const char *ends)
{
    while (*s && !strchr(ends, *s)) {
        if (*s == '{')
            s = put_brace(p, s + 1);
        else if (*s == '[')
            s = put_choice(p, s + 1);
        else
            put(p, s++, 1);
    }
    return s;
}

/* The texts between brackets: of those with all of their values the first. */
static const char *put_choice(struct phrase *p, const char *s)
{
    bool lacked = p->lacks, done = false;

    for (;; s++) {
        size_t mark = p->len;

        p->lacks = false;
        s = put_text(p, s, "|]");
        if (p->lacks || done)
            p->len = mark;
        done |= !p->lacks;
        if (*s != '|')
            break;
    }
    p->lacks = lacked;
    return *s ? s + 1 : s;
}

char *wr_phrase(const json_t *o, const char *phrase)
{
    struct phrase p = {.o = o};

    put(&p, "", 0);
    put_text(&p, phrase, "");
    if (p.failed) {
        free(p.text);
        return NULL;
    }
    p.text[p.len] = '\0';
    return p.text;
}
