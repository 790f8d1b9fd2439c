/* say.c - sentences with values in them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/say.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/c_locale.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "report/view.h"

void wr_say(char *buf, size_t cap, const char *fmt, ...)
{
    size_t used = strlen(buf);
    va_list ap;

    if (used && used + 3 > cap)
        return;
    if (used) {
        memcpy(buf + used, ", ", 3);
        used += 2;
    }
    va_start(ap, fmt);
    vsnprintf(buf + used, cap - used, fmt, ap);
    va_end(ap);
}

const char *wr_say_stop(const char *text)
{
    size_t len = strlen(text);

    return !len || strchr(".!?", text[len - 1]) ? "" : ".";
}

char *wr_say_time(double seconds, char *buf, size_t cap)
{
    double whole = rint(seconds);

    if (!isfinite(seconds) || seconds < 0)
        snprintf(buf, cap, "-");
    else if (seconds < 1)
        snprintf(buf, cap, "%.3g ms", seconds * 1e3);
    else if (seconds < 100)
        snprintf(buf, cap, "%.3g s", seconds);
    else if (whole < 3600)
        snprintf(buf, cap, "%.0f min %.0f s", floor(whole / 60),
                 fmod(whole, 60));
    else
        snprintf(buf, cap, "%.0f h %.0f min", floor(whole / 3600),
                 floor(fmod(whole, 3600) / 60));
    return buf;
}

char *wr_say_number(double v, char *buf, size_t cap)
{
    if (!isfinite(v))
        snprintf(buf, cap, "-");
    else if (fabs(v) >= 1e15)
        snprintf(buf, cap, "%.3g", v);
    else if (v >= 1000)
        return wr_format_count(buf, cap, (uint64_t)rint(v));
    else if (fabs(v) >= 100)
        snprintf(buf, cap, "%.0f", v);
    else
        snprintf(buf, cap, "%.3g", v);
    return buf;
}

void wr_say_time_cell(struct wr_doc_table *t, double seconds)
{
    char buf[32];

    wr_doc_shown(t, seconds, "%s",
                 isfinite(seconds)
                     ? wr_format_ns(buf, sizeof(buf), seconds * 1e9)
                     : "-");
}

void wr_say_rate_cell(struct wr_doc_table *t, double bytes_per_s)
{
    bool known = isfinite(bytes_per_s) && bytes_per_s > 0;
    char buf[32] = "-";

    if (known)
        wr_format_bytes(buf, sizeof(buf), bytes_per_s);
    wr_doc_shown(t, known ? bytes_per_s : NAN, "%s%s", buf, known ? "/s" : "");
}

void wr_say_bytes_cell(struct wr_doc_table *t, double bytes)
{
    char text[32] = "-";

    if (bytes >= 0)
        wr_format_bytes(text, sizeof(text), bytes);
    wr_doc_shown(t, bytes >= 0 ? bytes : NAN, "%s", text);
}

#define WORD_BYTES 64 /* of a number, a path or a format */

/* --- values --- */

struct said_value {
    const char *text;   /* NULL: it is none */
    const json_t *json; /* NULL: it is of a table */
    double number;      /* NaN: it is none, or not known */
    bool flag, known;
    bool missing; /* the table has no such value */
};

/* The row at `path`, and where its value lies; NULL: there is none. */
static const struct wr_val *find_row(const struct wr_vals *of,
                                     const void **values, const char *path,
                                     size_t all)
{
    size_t len = WR_MIN(strcspn(path, "."), all);
    const struct wr_val *open = NULL;

    for (const struct wr_val *v = of->rows; v->key; v++) {
        if (v->flags & WR_SAY_OPEN)
            open = v;
        if (strncmp(v->key, path, len) || v->key[len] ||
            (len < all && v->kind != WR_VAL_GROUP))
            continue;
        *values = (const char *)*values + v->at;
        return len == all
                   ? v
                   : find_row(v->of, values, path + len + 1, all - len - 1);
    }
    if (!open)
        return NULL;
    *values = (const char *)*values + open->at;
    return find_row(open->of, values, path, all);
}

static double number_at(const struct wr_val *v, const void *at)
{
    if (v->kind > WR_VAL_MAYBE)
        return NAN;
    return v->kind == WR_VAL_FLAG ? *(const bool *)at : wr_number_at(at, 0);
}

double wr_vals_number(const struct wr_vals *of, const void *values,
                      const char *path)
{
    const struct wr_val *v = find_row(of, &values, path, strlen(path));

    return v ? number_at(v, values) : NAN;
}

static struct said_value table_value(const struct wr_vals *of,
                                     const void *values, const char *path,
                                     size_t len)
{
    const struct wr_val *v = find_row(of, &values, path, len);
    struct said_value is = {.number = v ? number_at(v, values) : NAN};

    is.missing = !v;
    is.flag = v && v->kind == WR_VAL_FLAG;
    if (v && v->kind == WR_VAL_TEXT)
        is.text = wr_text_at(values, 0);
    if (!isfinite(is.number) || is.number < 0)
        is.number = NAN;
    is.known = is.text ? *is.text != '\0' : !isnan(is.number);
    return is;
}

static json_t *find_json(const json_t *o, const char *path, size_t len)
{
    json_t *j = (json_t *)(uintptr_t)o;
    const char *end = path + len;

    while (j && path < end) {
        size_t n = WR_MIN(strcspn(path, "."), (size_t)(end - path));
        char key[WORD_BYTES];

        snprintf(key, sizeof(key), "%.*s", (int)n, path);
        j = json_object_get(j, key);
        path += n + 1;
    }
    return j;
}

json_t *wr_json_at(const json_t *o, const char *path)
{
    return find_json(o, path, strlen(path));
}

static struct said_value json_value(const json_t *j)
{
    double x = json_is_boolean(j)  ? json_is_true(j)
               : json_is_number(j) ? json_number_value(j)
                                   : NAN;
    const char *text = json_string_value(j);

    return (struct said_value){.text = text,
                               .json = j,
                               .number = x,
                               .flag = json_is_boolean(j),
                               .known = text ? *text != '\0'
                                        : json_is_array(j)
                                            ? json_array_size(j) > 0
                                            : json_is_object(j) || x >= 0};
}

/* --- formats --- */

static char *put_digits(char *buf, const char *format, double x)
{
    bool brief = *format == 'g', percent = strchr(format, '%');
    char digit = format[brief];

    x *= percent ? 100 : 1;
    snprintf(buf, WORD_BYTES, brief ? "%.*g%s" : "%.*f%s",
             digit >= '0' && digit <= '9' ? digit - '0' : 6, x,
             percent ? " %" : "");
    return buf;
}

static char *put_number(char *buf, size_t cap, double x)
{
    return wr_say_number(x, buf, cap);
}

static char *put_count(char *buf, size_t cap, double x)
{
    if (x < 9.95)
        return put_digits(buf, "1", x);
    return wr_format_count(buf, cap, (uint64_t)(fmin(x, 1e18) + 0.5));
}

static char *put_millions(char *buf, size_t cap, double x)
{
    (void)cap;
    return put_digits(buf, "0", x / 1e6);
}

static char *put_time(char *buf, size_t cap, double seconds)
{
    return wr_say_time(seconds, buf, cap);
}

/* "2026-11-16 08:15:02" */
static char *put_date(char *buf, size_t cap, double ns)
{
    time_t t = (time_t)(ns / (double)WR_NS_PER_SEC);
    struct tm tm;

    if (ns <= 0 || !localtime_r(&t, &tm) ||
        !strftime(buf, cap, "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(buf, cap, "-");
    return buf;
}

static char *put_plural(char *buf, size_t cap, double x)
{
    snprintf(buf, cap, "%s", x == 1 ? "" : "s");
    return buf;
}

static const struct {
    const char *name;
    char *(*put)(char *buf, size_t cap, double x);
    double unit; /* that x is in */
} formats[] = {{"number", put_number, 1},     {"count", put_count, 1},
               {"millions", put_millions, 1}, {"bytes", wr_format_bytes, 1},
               {"size", wr_format_binary, 1}, {"time", put_time, 1},
               {"s", wr_format_ns, 1e9},      {"ms", wr_format_ns, 1e6},
               {"us", wr_format_ns, 1e3},     {"date", put_date, 1},
               {"plural", put_plural, 1}};

/* As it is, maybe in `buf`. */
static const char *plain_text(const struct said_value *v, char buf[WORD_BYTES])
{
    if (v->text)
        return v->text;
    if (isnan(v->number))
        return "-";
    if (v->flag)
        return v->number > 0 ? "yes" : "no";
    if (!json_is_integer(v->json))
        return put_digits(buf, "0", v->number);
    snprintf(buf, WORD_BYTES, "%" PRIu64,
             (uint64_t)json_integer_value(v->json));
    return buf;
}

/* NULL: there is no such format. */
static const char *value_text(const struct said_value *v, const char *format,
                              char buf[WORD_BYTES])
{
    double x = v->number;

    if (isnan(x) || !*format)
        return plain_text(v, buf);
    if (strchr("g0123456789", *format))
        return put_digits(buf, format, x);
    for (size_t i = 0; i < WR_ARRAY_LEN(formats); i++)
        if (!strcmp(formats[i].name, format))
            return formats[i].put(buf, WORD_BYTES, x * formats[i].unit);
    return NULL;
}

/* --- a sentence --- */

/* A text that grows. */
struct saying {
    const struct wr_vals *of; /* NULL: of JSON */
    const void *values;
    const json_t *json;
    char *text; /* owned */
    size_t len, cap;
    bool unknown; /* a value of the part that is being put together */
    bool failed;  /* memory is short */
};

static void put(struct saying *s, const char *text, size_t len)
{
    s->failed |= !wr_grow(&s->text, &s->cap, s->len + len + 1, 1);
    if (s->failed)
        return;
    memcpy(s->text + s->len, text, len);
    s->len += len;
    s->text[s->len] = '\0';
}

static struct said_value find_value(const struct saying *s, const char *path,
                                    size_t len)
{
    return s->of ? table_value(s->of, s->values, path, len)
                 : json_value(find_json(s->json, path, len));
}

/* "path=word" and the like; the word ends with a letter of `ends`. */
static bool is_so(const struct saying *s, const char *p, const char *ends)
{
    bool not = *p == '!', so;
    size_t len = strcspn(p += not, "=<> ?}");
    const struct said_value v = find_value(s, p, len);
    const char *word = p + len + 1, *text;
    char buf[WORD_BYTES];

    if (p[len] == '<') {
        so = v.number < wr_strtod(word, NULL);
    } else if (p[len] == '>') {
        so = v.number > wr_strtod(word, NULL);
    } else if (p[len] == '=') {
        text = plain_text(&v, buf);
        len = strcspn(word, ends);
        so = strlen(text) == len && !memcmp(text, word, len);
    } else {
        so = v.flag ? v.number > 0 : v.known;
    }
    return so != not ;
}

static bool is_all_so(const struct saying *s, const char *when)
{
    for (const char *p = when; p; p = strchr(p, ' '), p += p != NULL)
        if (!is_so(s, p, " "))
            return false;
    return true;
}

static void put_list(struct saying *s, const json_t *list, const char *between)
{
    char buf[WORD_BYTES];

    for (size_t i = 0; i < json_array_size(list); i++) {
        const struct said_value entry = json_value(json_array_get(list, i));
        const char *text = plain_text(&entry, buf);

        put(s, between, i ? strlen(between) : 0);
        put(s, text, strlen(text));
    }
}

/* `form` as in "{bytes:bytes,8}", behind the ':'. */
static void put_value(struct saying *s, const struct said_value *v,
                      const char *form)
{
    char format[WORD_BYTES], buf[WORD_BYTES];
    size_t len = strcspn(form, ",}"), columns;
    long width = form[len] == ',' ? strtol(form + len + 1, NULL, 10) : 0;
    const char *text;

    snprintf(format, sizeof(format), "%.*s", (int)len, form);
    s->unknown |= !v->known;
    if (json_is_array(v->json)) {
        put_list(s, v->json, *format == 'x' ? "x" : ", ");
        return;
    }
    text = value_text(v, format, buf);
    s->unknown |= !text;
    text = text ? text : "";
    columns = wr_text_width(text);
    for (size_t k = columns; width > 0 && k < (size_t)width; k++)
        put(s, " ", 1);
    put(s, text, strlen(text));
    for (size_t k = columns; width < 0 && k < (size_t)-width; k++)
        put(s, " ", 1);
}

static const char *put_text(struct saying *s, const char *p, const char *ends);

/* "this|that}": the one or the other; returns what follows. */
static const char *put_either(struct saying *s, bool first, const char *p)
{
    for (bool this = true;; this = false, p++) {
        bool unknown = s->unknown;
        size_t mark = s->len;

        p = put_text(s, p, "|}");
        if (this != first) {
            s->len = mark;
            s->unknown = unknown;
        }
        if (*p != '|')
            return *p ? p + 1 : p;
    }
}

/* What stands between braces; returns what follows. A path that the table has not
 * stays: it is a mistake in the sentence, which shows then. */
static const char *put_brace(struct saying *s, const char *p)
{
    size_t len = strcspn(p, ":?=<>}"), all = strcspn(p, "}");
    const char *asked = p + strcspn(p, "?}");
    struct said_value v;

    if (*p == '?')
        s->unknown |= !is_so(s, p + 1, "}");
    else if (p[len] && !strchr(":}", p[len]))
        return put_either(s, is_so(s, p, "?}"), asked + (*asked == '?'));
    else if ((v = find_value(s, p, len)).missing)
        put(s, p - 1, all + 2);
    else
        put_value(s, &v, p + len + (p[len] == ':'));
    return p[all] ? p + all + 1 : p + all;
}

/* Texts up to `end`: "a|b]" is the first with all of its values, "a|b>" all of
 * these, with ", " between. */
static const char *put_known(struct saying *s, const char *p, char end)
{
    const char ends[] = {'|', end, '\0'};
    bool unknown = s->unknown, items = end == '>', any = false;

    for (;; p++) {
        size_t mark = s->len;

        s->unknown = false;
        put(s, ", ", items && any ? 2 : 0);
        p = put_text(s, p, ends);
        if (s->unknown || (any && !items))
            s->len = mark;
        any |= !s->unknown;
        if (*p != '|')
            break;
    }
    s->unknown = unknown || (items && !any);
    return *p ? p + 1 : p;
}

/* Up to one of `ends`; returns where that is. */
static const char *put_text(struct saying *s, const char *p, const char *ends)
{
    while (*p && !strchr(ends, *p)) {
        if (*p == '{')
            p = put_brace(s, p + 1);
        else if (*p == '[')
            p = put_known(s, p + 1, ']');
        else if (*p == '<')
            p = put_known(s, p + 1, '>');
        else
            put(s, p++, 1);
    }
    return p;
}

/* All of it; NULL: memory is short. */
static char *put_all(struct saying *s, const char *text)
{
    put(s, "", 0);
    put_text(s, text, "");
    if (!s->failed) {
        s->text[s->len] = '\0';
        return s->text;
    }
    free(s->text);
    return NULL;
}

char *wr_say_json(const json_t *o, const char *text)
{
    return put_all(&(struct saying){.json = o}, text);
}

bool wr_sentence(const struct wr_sentence *s, const struct wr_vals *of,
                 const void *values, char *buf, size_t cap)
{
    struct saying saying = {.of = of, .values = values};
    char *text = is_all_so(&saying, s->when) ? put_all(&saying, s->text) : NULL;

    snprintf(buf, cap, "%s", text && !saying.unknown ? text : "");
    free(text);
    return *buf;
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
            while ((line = strsep(&at, list->lines ? "\n" : "")))
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
