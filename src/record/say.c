/* say.c - sentences with measured values in them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/say.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/units.h"
#include "record/view.h"
#include "record/view_say.h"

#define PATH_MAX 64

/* --- values --- */

struct path_value {
    const struct wr_val *v; /* NULL: the table has no such value */
    const void *at;
};

/* The value at `path`, which ends with a letter of `ends`. */
static struct path_value find_value(const struct wr_vals *of,
                                    const void *values, const char *path,
                                    const char *ends)
{
    size_t len = strcspn(path, "."), all = strcspn(path, ends);

    if (len > all)
        len = all;
    for (const struct wr_val *v = of->rows; v->key; v++) {
        const void *at = (const char *)values + v->at;

        if (strncmp(v->key, path, len) || v->key[len])
            continue;
        if (len == all)
            return (struct path_value){v, at};
        if (v->kind == WR_VAL_GROUP)
            return find_value(v->of, at, path + len + 1, ends);
    }
    for (const struct wr_val *v = of->rows; v->key; v++)
        if (v->flags & WR_SAY_OPEN)
            return find_value(v->of, (const char *)values + v->at, path, ends);
    return (struct path_value){NULL, NULL};
}

static const char *text_of(const struct path_value *f)
{
    return wr_text_at(f->at, 0);
}

static double number_at(const struct path_value *f)
{
    return f->v->kind == WR_VAL_FLAG ? *(const bool *)f->at
                                     : wr_number_at(f->at, 0);
}

/* NaN: not known. */
static double number_of(const struct path_value *f)
{
    double x = number_at(f);

    return isfinite(x) && x >= 0 ? x : NAN;
}

double wr_vals_number(const struct wr_vals *of, const void *values,
                      const char *path)
{
    const struct path_value f = find_value(of, values, path, "");

    return f.v && f.v->kind <= WR_VAL_MAYBE ? number_at(&f) : NAN;
}

/* --- formats --- */

static char *put_digits(double x, const char *format, char *buf, size_t cap)
{
    bool short_one = *format == 'g';
    int digits = format[short_one] == '}' ? 6 : format[short_one] - '0';
    bool percent = format[strcspn(format, "%}")] == '%';

    x *= percent ? 100 : 1;
    snprintf(buf, cap, short_one ? "%.*g%s" : "%.*f%s", digits, x,
             percent ? " %" : "");
    return buf;
}

static char *put_bytes(double x, char *buf, size_t cap)
{
    return wr_format_bytes(buf, cap, x);
}

static char *put_size(double x, char *buf, size_t cap)
{
    return wr_format_binary(buf, cap, x);
}

static char *put_count(double x, char *buf, size_t cap)
{
    if (x < 9.95)
        return put_digits(x, "1", buf, cap);
    return wr_format_count(buf, cap, (uint64_t)(fmin(x, 1e18) + 0.5));
}

static char *put_s(double x, char *buf, size_t cap)
{
    return wr_format_ns(buf, cap, x * 1e9);
}

static char *put_ms(double x, char *buf, size_t cap)
{
    return wr_format_ns(buf, cap, x * 1e6);
}

static char *put_us(double x, char *buf, size_t cap)
{
    return wr_format_ns(buf, cap, x * 1e3);
}

static char *put_plural(double x, char *buf, size_t cap)
{
    snprintf(buf, cap, "%s", x == 1 ? "" : "s");
    return buf;
}

static const struct {
    const char *name;
    char *(*put)(double x, char *buf, size_t cap);
} formats[] = {{"number", wr_say_number},
               {"count", put_count},
               {"bytes", put_bytes},
               {"size", put_size},
               {"time", wr_say_time},
               {"s", put_s},
               {"ms", put_ms},
               {"us", put_us},
               {"plural", put_plural}};

/* What stands for a number; NULL: it is not known. */
static char *put_number(double x, const char *format, char *buf, size_t cap)
{
    char name[16];

    if (isnan(x))
        return NULL;
    if (strchr("g0123456789", *format))
        return put_digits(x, format, buf, cap);
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(format, "}"), format);
    for (size_t i = 0; i < WR_ARRAY_LEN(formats); i++)
        if (!strcmp(formats[i].name, name))
            return formats[i].put(x, buf, cap);
    return NULL;
}

/* --- a sentence --- */

struct saying {
    const struct wr_vals *of;
    const void *values;
    char *buf;
    size_t cap, used;
    bool known; /* all values of the part that is being put together */
};

static void add(struct saying *s, const char *text, size_t len)
{
    len = WR_MIN(len, s->cap - 1 - s->used);
    memcpy(s->buf + s->used, text, len);
    s->used += len;
    s->buf[s->used] = '\0';
}

/* Returns what comes after the "}". A path that the table has not stays: it is
 * a mistake in the sentence, which shows then. */
static const char *add_value(struct saying *s, const char *path)
{
    const struct path_value f = find_value(s->of, s->values, path, ":}");
    const char *end = path + strcspn(path, "}");
    const char *format = path + strcspn(path, ":}"), *text;
    char buf[64];

    if (!f.v) {
        add(s, path - 1, (size_t)(end - path) + 2);
        return end + 1;
    }
    text = f.v->kind == WR_VAL_TEXT
               ? text_of(&f)
               : put_number(number_of(&f), format + (*format == ':'), buf,
                            sizeof(buf));
    if (text && *text)
        add(s, text, strlen(text));
    else if (!text || f.v->kind == WR_VAL_TEXT)
        s->known = false;
    return end + 1;
}

static const char *add_part(struct saying *s, const char *p, const char *ends);

/* "a|b|c>" */
static const char *add_items(struct saying *s, const char *p)
{
    bool known = s->known, any = false;

    do {
        size_t before = s->used;

        s->known = true;
        if (any)
            add(s, ", ", 2);
        p = add_part(s, p, "|>");
        any |= s->known;
        s->used = s->known ? s->used : before;
    } while (*p++ == '|');
    s->known = known && any;
    return p;
}

/* Up to a letter of `ends`, which is returned. */
static const char *add_part(struct saying *s, const char *p, const char *ends)
{
    while (*p && !strchr(ends, *p)) {
        size_t before = s->used, len = strcspn(p, "[]<|>{");
        bool known = s->known;

        add(s, p, len);
        p += len;
        if (*p == '{') {
            p = add_value(s, p + 1);
        } else if (*p == '<') {
            p = add_items(s, p + 1);
        } else if (*p == '[') {
            s->known = true;
            p = add_part(s, p + 1, "]") + 1;
            s->used = s->known ? s->used : before + len;
            s->known = known;
        } else if (*p && !strchr(ends, *p)) {
            add(s, p++, 1);
        }
    }
    return p;
}

/* One condition of `when`. */
static bool is_so(const struct wr_vals *of, const void *values, const char *p)
{
    bool not = *p == '!';
    const struct path_value f = find_value(of, values, p + not, "=<> ");
    const char *word = p + strcspn(p, "=<> ");
    size_t len = strcspn(word, " ") - 1;
    bool so;

    if (!f.v)
        return false;
    if (*word == '<')
        return number_of(&f) < wr_strtod(word + 1, NULL);
    if (*word == '>')
        return number_of(&f) > wr_strtod(word + 1, NULL);
    if (*word == '=')
        return !strncmp(text_of(&f), word + 1, len) && !text_of(&f)[len];
    so = f.v->kind == WR_VAL_TEXT   ? *text_of(&f)
         : f.v->kind == WR_VAL_FLAG ? number_of(&f) > 0
                                    : !isnan(number_of(&f));
    return so != not ;
}

static bool is_all_so(const struct wr_vals *of, const void *values,
                      const char *when)
{
    for (const char *p = when; p; p = strchr(p, ' '), p += p != NULL)
        if (!is_so(of, values, p))
            return false;
    return true;
}

bool wr_sentence(const struct wr_sentence *s, const struct wr_vals *of,
                 const void *values, char *buf, size_t cap)
{
    struct saying saying = {of, values, buf, cap, 0, true};

    *buf = '\0';
    if (is_all_so(of, values, s->when))
        add_part(&saying, s->text, "");
    if (!saying.known)
        saying.used = 0;
    buf[saying.used] = '\0';
    return saying.used > 0;
}

size_t wr_sentences(struct wr_doc_section *s, const char *label,
                    const struct wr_sentence *list, const struct wr_vals *of,
                    const void *values)
{
    char text[WR_SAY_BYTES], name[WR_VIEW_NAME], *at, *line;
    size_t said = 0;

    for (; list->text; list++) {
        if (!wr_sentence(list, of, values, text, sizeof(text)))
            continue;
        said++;
        at = text;
        snprintf(name, sizeof(name), "%s%s%s", label,
                 *label && !list->whole ? ", " : "",
                 list->fact && !(*label && list->whole) ? list->fact : "");
        if (list->fact)
            wr_doc_fact(s, name, "%s", text);
        else
            while ((line = strsep(&at, "\n"))) /* of a text among the values */
                wr_doc_note(s, list->warning, "%s%s%s", label,
                            *label ? ": " : "", line);
    }
    return said;
}

size_t wr_sentences_top(struct wr_doc *d, const char *label,
                        const struct wr_sentence *list,
                        const struct wr_vals *of, const void *values,
                        size_t room)
{
    char text[WR_SAY_BYTES];
    size_t said = 0;

    for (; list->text && said < room; list++)
        if (wr_sentence(list, of, values, text, sizeof(text))) {
            wr_doc_summary(d, "%s%s%s", label, *label ? ": " : "", text);
            said++;
        }
    return said;
}
