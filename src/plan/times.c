/* times.c - the times of batches, from the log of any training.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/times.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/c_locale.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"

/* --- a line ---
 *
 * A line is a row of numbers, each with the word before it and the unit behind it.
 * Which of them are meant is said by the heading, else by the words, else by their
 * order. */

/* What the heading says. */
struct times_heading {
    char separator;             /* 0: there is none */
    unsigned batch_at, time_at; /* columns; of use if `columns` */
    unsigned columns;           /* how many; 0: they are not known */
    double unit_ms;             /* of times without a unit; 0: not said */
};

struct wr_times_pair {
    double batch, ms; /* any numbers, infinity too; never NaN */
};

#define NUMBERS_MAX 32 /* of a line; those behind are not looked at */

enum meaning {
    MEANS_NOTHING,
    MEANS_BATCH,
    MEANS_TIME,
    MEANS_OTHER, /* something else, which is not looked for */
};

static const struct {
    const char *part;
    enum meaning means;
    double unit_ms; /* 0: none */
} words[] = {
    {"batch", MEANS_BATCH, 0},
    {"batches", MEANS_BATCH, 0},
    {"step", MEANS_BATCH, 0},
    {"iter", MEANS_BATCH, 0},
    {"iteration", MEANS_BATCH, 0},
    {"it", MEANS_BATCH, 0},
    {"ms", MEANS_TIME, 1},
    {"msec", MEANS_TIME, 1},
    {"msecs", MEANS_TIME, 1},
    {"millis", MEANS_TIME, 1},
    {"milliseconds", MEANS_TIME, 1},
    {"s", MEANS_TIME, 1e3},
    {"sec", MEANS_TIME, 1e3},
    {"secs", MEANS_TIME, 1e3},
    {"second", MEANS_TIME, 1e3},
    {"seconds", MEANS_TIME, 1e3},
    {"us", MEANS_TIME, 1e-3},
    {"usec", MEANS_TIME, 1e-3},
    {"microseconds", MEANS_TIME, 1e-3},
    {"ns", MEANS_TIME, 1e-6},
    {"time", MEANS_TIME, 0},
    {"took", MEANS_TIME, 0},
    {"duration", MEANS_TIME, 0},
    {"elapsed", MEANS_TIME, 0},
    {"epoch", MEANS_OTHER, 0},
    {"rank", MEANS_OTHER, 0},
    {"gpu", MEANS_OTHER, 0},
    {"device", MEANS_OTHER, 0},
    {"worker", MEANS_OTHER, 0},
    {"size", MEANS_OTHER, 0},
    {"loss", MEANS_OTHER, 0},
    {"lr", MEANS_OTHER, 0},
    {"acc", MEANS_OTHER, 0},
    {"per", MEANS_OTHER, 0},
    {"data", MEANS_OTHER, 0},
    {"eta", MEANS_OTHER, 0},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A stretch of text. */
struct times_word {
    const char *at;
    size_t len;
};

static bool piece_is(struct times_word p, const char *word)
{
    return strlen(word) == p.len && wr_strncasecmp(p.at, word, p.len) == 0;
}

/* What a name means: "batch_time_ms" is a time in ms, "batch_size" something
 * else. Parts are between characters that are not letters. */
static enum meaning meaning_of(struct times_word p, double *ret_unit_ms)
{
    enum meaning means = MEANS_NOTHING;

    *ret_unit_ms = 0;
    for (size_t i = 0, n; i < p.len; i += n) {
        for (n = 0; i + n < p.len && is_letter(p.at[i + n]);)
            n++;
        for (size_t k = 0; n && k < WR_ARRAY_LEN(words); k++) {
            if (!piece_is((struct times_word){p.at + i, n}, words[k].part))
                continue;
            means = WR_MAX(means, words[k].means);
            if (words[k].unit_ms > 0)
                *ret_unit_ms = words[k].unit_ms;
        }
        n += n == 0;
    }
    return means;
}

/* --- numbers --- */

struct number {
    double value; /* NaN: a word for none */
    double unit_ms;
    enum meaning means; /* what the word before it says */
    unsigned column;
    bool fraction;
};

struct times_scan {
    const char *at, *end;
    char separator;
    bool decimal_comma, quoted;
    unsigned column, columns;
    struct times_word word; /* before the next number; len 0: none */
    struct number numbers[NUMBERS_MAX];
    unsigned count;
};

static char at_of(const struct times_scan *s, size_t ahead)
{
    return (size_t)(s->end - s->at) > ahead ? s->at[ahead] : '\0';
}

/* Whether the comma that stands here is part of a number: 1;2,5 or "1,040". */
static bool comma_belongs(const struct times_scan *s, bool fraction)
{
    if (s->decimal_comma)
        return !fraction && is_digit(at_of(s, 1));
    return s->quoted && is_digit(at_of(s, 1)) && is_digit(at_of(s, 2)) &&
           is_digit(at_of(s, 3)) && !is_digit(at_of(s, 4));
}

/* The number here; a text longer than any sensible one counts as infinite. */
static double take_number(struct times_scan *s, bool *ret_fraction)
{
    char buf[64];
    size_t n = 0;
    bool fraction = false, exponent = false, cut = false;

    for (; s->at < s->end; s->at++) {
        char c = *s->at;

        if (c == ',' && comma_belongs(s, fraction)) {
            if (!s->decimal_comma)
                continue;
            c = '.';
        }
        if (c == '.' && (fraction || exponent))
            break;
        if ((c == 'e' || c == 'E') && !exponent && n > 0 &&
            (is_digit(at_of(s, 1)) ||
             ((at_of(s, 1) == '-' || at_of(s, 1) == '+') &&
              is_digit(at_of(s, 2)))))
            exponent = true;
        else if (!is_digit(c) && c != '.' &&
                 !((c == '-' || c == '+') &&
                   (n == 0 || ((buf[n - 1] | 32) == 'e'))))
            break;
        fraction |= c == '.';
        if (n + 1 < sizeof(buf))
            buf[n++] = c;
        else
            cut |= !fraction || exponent;
    }
    buf[n] = '\0';
    *ret_fraction = fraction;
    return cut ? INFINITY : wr_strtod(buf, NULL);
}

static void skip_blanks(struct times_scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t') &&
           *s->at != s->separator)
        s->at++;
}

static struct times_word take_word(struct times_scan *s)
{
    struct times_word p = {.at = s->at};

    while (s->at < s->end && (is_letter(*s->at) || *s->at == '_'))
        s->at++;
    p.len = (size_t)(s->at - p.at);
    return p;
}

/* The unit behind a number, if the next word is one; else nothing is taken. */
static double take_unit(struct times_scan *s)
{
    const char *before = s->at;
    struct times_word p;
    double unit_ms;

    skip_blanks(s);
    p = take_word(s);
    if (p.len && meaning_of(p, &unit_ms) == MEANS_TIME && unit_ms > 0)
        return unit_ms;
    s->at = before;
    return 0;
}

static bool joins(char c)
{
    return c == ':' || c == '-' || c == '/';
}

/* How many numbers are joined here: 12:00:05 and 2026-11-17 are three, 10/500 is
 * two. */
static unsigned joined(const struct times_scan *s)
{
    unsigned n = 1;

    for (const char *p = s->at; p < s->end; p++) {
        if (is_digit(*p) || *p == '.')
            continue;
        if (!joins(*p) || p + 1 == s->end || !is_digit(p[1]))
            break;
        n++;
    }
    return n;
}

/* A date or a time of day, with the milliseconds that Python's logging writes
 * behind it: "12:00:05,123 ". */
static void skip_clock(struct times_scan *s)
{
    while (s->at < s->end && (is_digit(*s->at) || is_letter(*s->at) ||
                              joins(*s->at) || *s->at == '.' || *s->at == '+'))
        s->at++;
    if (at_of(s, 0) == ',' && is_digit(at_of(s, 1)) && is_digit(at_of(s, 2)) &&
        is_digit(at_of(s, 3)) && at_of(s, 4) == ' ')
        s->at += 4;
}

static void add_number(struct times_scan *s, struct number n)
{
    double unit_ms;

    n.column = s->column;
    if (s->word.len) {
        n.means = meaning_of(s->word, &unit_ms);
        if (!(n.unit_ms > 0))
            n.unit_ms = unit_ms;
    }
    s->word.len = 0;
    if (s->count < NUMBERS_MAX)
        s->numbers[s->count++] = n;
}

static void scan_number(struct times_scan *s)
{
    struct number n = {0};
    bool total;

    if (joined(s) > 2) {
        skip_clock(s);
        return;
    }
    n.value = take_number(s, &n.fraction);
    total = at_of(s, 0) == '/' && is_digit(at_of(s, 1));
    if (total || at_of(s, 0) == '-' || at_of(s, 0) == ':')
        s->at++;
    if (total) { /* "10/500": of so many */
        bool fraction;

        (void)take_number(s, &fraction);
    }
    n.unit_ms = take_unit(s);
    if (at_of(s, 0) == '%')
        s->word.len = 0;
    else
        add_number(s, n);
}

static bool is_none(struct times_word p)
{
    static const char *const none[] = {"nan",  "inf",  "infinity",
                                       "null", "none", "na"};

    for (size_t k = 0; k < WR_ARRAY_LEN(none); k++)
        if (piece_is(p, none[k]))
            return true;
    return false;
}

/* A word; digits that are part of a name ("resnet50") are no number, except
 * behind "batch" and the like. */
static void scan_word(struct times_scan *s)
{
    struct times_word p = take_word(s);
    double unit_ms;

    if (is_none(p)) {
        add_number(s, (struct number){.value = NAN});
        return;
    }
    if (is_digit(at_of(s, 0)) && meaning_of(p, &unit_ms) != MEANS_BATCH) {
        while (s->at < s->end &&
               (is_digit(*s->at) || is_letter(*s->at) || *s->at == '_'))
            s->at++;
        return;
    }
    s->word = p;
}

static bool begins_number(const struct times_scan *s)
{
    char c = at_of(s, 0);

    if (c == '-' || c == '+')
        return is_digit(at_of(s, 1)) ||
               (at_of(s, 1) == '.' && is_digit(at_of(s, 2)));
    return is_digit(c) || (c == '.' && is_digit(at_of(s, 1)));
}

static void scan_line(struct times_scan *s)
{
    while (s->at < s->end) {
        char c = *s->at;

        if (begins_number(s)) {
            scan_number(s);
        } else if (is_letter(c) || c == '_') {
            scan_word(s);
        } else {
            s->quoted ^= c == '"';
            if (s->separator && c == s->separator && !s->quoted) {
                s->column++;
                s->word.len = 0;
            }
            s->at++;
        }
    }
    s->columns = s->column + 1;
}

/* --- which of them --- */

static const struct number *in_column(const struct times_scan *s,
                                      unsigned column)
{
    for (unsigned k = 0; k < s->count; k++)
        if (s->numbers[k].column == column)
            return &s->numbers[k];
    return NULL;
}

static const struct number *that_means(const struct times_scan *s,
                                       enum meaning means)
{
    for (unsigned k = 0; k < s->count; k++)
        if (s->numbers[k].means == means)
            return &s->numbers[k];
    return NULL;
}

static const struct number *with_unit(const struct times_scan *s)
{
    for (unsigned k = 0; k < s->count; k++)
        if (s->numbers[k].unit_ms > 0 && s->numbers[k].means != MEANS_OTHER)
            return &s->numbers[k];
    return NULL;
}

/* The first that nothing is said of, behind `after` if there is one. */
static const struct number *plain(const struct times_scan *s,
                                  const struct number *after)
{
    for (unsigned k = after ? (unsigned)(after - s->numbers) + 1 : 0;
         k < s->count; k++)
        if (s->numbers[k].means == MEANS_NOTHING &&
            !(s->numbers[k].unit_ms > 0))
            return &s->numbers[k];
    return NULL;
}

static void choose(const struct times_scan *s, const struct times_heading *h,
                   const struct number **ret_batch,
                   const struct number **ret_time)
{
    const struct number *batch, *time;

    if (h->columns && h->columns == s->columns) {
        *ret_batch = in_column(s, h->batch_at);
        *ret_time = in_column(s, h->time_at);
        return;
    }
    batch = that_means(s, MEANS_BATCH);
    if (!batch)
        batch = plain(s, NULL);
    time = with_unit(s);
    if (!time)
        time = that_means(s, MEANS_TIME);
    if (!time && batch)
        time = plain(s, batch);
    *ret_batch = batch;
    *ret_time = time;
}

/* False: the line has not both. */
static bool times_line(const char *line, size_t len,
                       const struct times_heading *h, struct wr_times_pair *ret)
{
    struct times_scan s = {.at = line,
                           .end = line + len,
                           .separator = h->separator,
                           .decimal_comma = memchr(line, ';', len) != NULL};
    const struct number *batch, *time;
    double unit_ms;

    scan_line(&s);
    choose(&s, h, &batch, &time);
    if (!batch || !time || batch == time || isnan(batch->value) ||
        isnan(time->value))
        return false;
    unit_ms = time->unit_ms;
    if (!(unit_ms > 0))
        unit_ms = h->unit_ms;
    if (!(unit_ms > 0)) /* as PyTorch's examples print it: "Time  0.193" */
        unit_ms = time->means == MEANS_TIME && time->fraction ? 1e3 : 1;
    *ret = (struct wr_times_pair){batch->value, time->value * unit_ms};
    return true;
}

/* --- headings --- */

static char separator_of(const char *line, size_t len)
{
    static const char separators[] = ";,\t";

    for (size_t k = 0; separators[k]; k++)
        if (memchr(line, separators[k], len))
            return separators[k];
    return 0;
}

/* Takes what a line without numbers says of columns and units; false: it says
 * nothing, and *h is as it was. */
static bool times_heading(const char *line, size_t len, struct times_heading *h)
{
    struct times_heading g = {.separator = separator_of(line, len)};
    bool has_batch = false, has_time = false;
    const char *end = line + len;

    for (const char *p = line; p <= end; g.columns++) {
        const char *next = memchr(p, g.separator ? g.separator : ' ',
                                  (size_t)(end - p));
        struct times_word name = {p, (size_t)((next ? next : end) - p)};
        double unit_ms;
        enum meaning means = meaning_of(name, &unit_ms);

        if (means == MEANS_BATCH && !has_batch) {
            has_batch = true;
            g.batch_at = g.columns;
        }
        /* A column with a unit is rather meant than one without. */
        if (means == MEANS_TIME &&
            (!has_time || (unit_ms > 0 && !(g.unit_ms > 0)))) {
            has_time = true;
            g.time_at = g.columns;
            g.unit_ms = unit_ms;
        }
        p = name.at + name.len + 1;
    }
    if (!has_batch || !has_time)
        return false;
    if (!g.separator) /* blanks do not count columns */
        g.columns = 0;
    *h = g;
    return true;
}

#define BATCH_MAX                                                              \
    1e12            /* a number; WR_PLAN_TIMES_MAX epochs of it fit 64 bits */
#define MS_MAX 1e10 /* 115 days */

void wr_plan_times_done(struct wr_plan_times *t)
{
    free(t->ms);
    free(t->batch);
    *t = (struct wr_plan_times){0};
}

struct times_log {
    const char *name; /* borrowed */
    struct wr_plan_times t;
    size_t ms_cap, batch_cap;
    struct times_heading heading;
    uint64_t line;
    uint64_t base;     /* added to numbers of this epoch */
    uint64_t last;     /* number, of this epoch */
    uint64_t stride;   /* from the one before to the last one */
    uint64_t least;    /* of all */
    bool uneven;       /* epochs have different lengths */
    uint64_t bad_line; /* the first that has no batch; 0: none */
    char bad_text[40];
};

/* Numbers that begin again where they began, or at 0 or 1, are a new epoch's.
 * What goes back elsewhere is two logs in one. */
static int begin_epoch(struct times_log *p, uint64_t batch, weir_err *err)
{
    uint64_t length = p->last + p->stride - batch;

    if (batch > p->least && batch > 1)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': line %" PRIu64 ": batch %" PRIu64
                       " comes after batch %" PRIu64
                       ": the log of one process is needed, whose numbers rise "
                       "or start anew with an epoch",
                       wr_show(p->name).text, p->line, batch, p->last);
    p->uneven |= p->t.epoch_batches && p->t.epoch_batches != length;
    p->t.epoch_batches = length;
    p->base += length;
    return 0;
}

static int check_pair(const struct times_log *p,
                      const struct wr_times_pair *pair, weir_err *err)
{
    const char *name = p->name;

    if (pair->ms < 0)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': line %" PRIu64 ": a batch cannot take %g ms",
                       wr_show(name).text, p->line, pair->ms);
    if (pair->ms > MS_MAX)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': line %" PRIu64 ": a time of %g ms: at most %g is "
                       "possible",
                       wr_show(name).text, p->line, pair->ms, MS_MAX);
    if (!(pair->batch >= 0 && pair->batch <= BATCH_MAX) ||
        pair->batch != floor(pair->batch))
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': line %" PRIu64 ": batch %.15g: a whole number "
                       "from 0 to %g is needed",
                       wr_show(name).text, p->line, pair->batch, BATCH_MAX);
    return 0;
}

static int add(struct times_log *p, const struct wr_times_pair *pair,
               weir_err *err)
{
    struct wr_plan_times *t = &p->t;
    uint64_t batch;
    int r = check_pair(p, pair, err);

    if (r < 0)
        return r;
    batch = (uint64_t)pair->batch;
    if (t->count == WR_PLAN_TIMES_MAX)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': line %" PRIu64 ": more than %zu batches",
                       wr_show(p->name).text, p->line, WR_PLAN_TIMES_MAX);
    if (t->count == 0) {
        p->least = batch;
        p->stride = 1;
    } else if (batch > p->last) {
        p->stride = batch - p->last;
    } else {
        r = begin_epoch(p, batch, err);
        if (r < 0)
            return r;
    }
    if (!wr_grow(&t->ms, &p->ms_cap, t->count + 1, sizeof(*t->ms)) ||
        !wr_grow(&t->batch, &p->batch_cap, t->count + 1, sizeof(*t->batch)))
        return wr_fail(err, WEIR_ENOMEM, "'%s': out of memory for %zu batches",
                       wr_show(p->name).text, t->count);
    t->ms[t->count] = pair->ms;
    t->batch[t->count++] = p->base + batch;
    p->least = WR_MIN(p->least, batch);
    p->last = batch;
    return 0;
}

/* Blank, or a comment: nothing that a batch could have been expected in. */
static bool is_void(const char *line, size_t len)
{
    while (len && (*line == ' ' || *line == '\t')) {
        line++;
        len--;
    }
    return len == 0 || *line == '#' ||
           (len > 1 && line[0] == '/' && line[1] == '/');
}

static int take_line(struct times_log *p, const char *line, size_t len,
                     weir_err *err)
{
    struct wr_times_pair pair;

    if (len && line[len - 1] == '\r')
        len--;
    if (is_void(line, len))
        return 0;
    if (times_line(line, len, &p->heading, &pair))
        return add(p, &pair, err);
    if (times_heading(line, len, &p->heading))
        return 0;
    p->t.skipped++;
    if (!p->bad_line) {
        p->bad_line = p->line;
        snprintf(p->bad_text, sizeof(p->bad_text), "%.*s",
                 (int)WR_MIN(len, sizeof(p->bad_text) - 1), line);
    }
    return 0;
}

/* A text in which most lines have no batch is not such a log. */
static int check_whole(const struct times_log *p, weir_err *err)
{
    if (!p->bad_line && p->t.count == 0)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': empty: lines with the number of a batch and its "
                       "time in ms are needed",
                       wr_show(p->name).text);
    if (p->t.skipped > p->t.count)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': line %" PRIu64 ": no batch and its time in '%s', "
                       "nor in %zu of %zu lines",
                       wr_show(p->name).text, p->bad_line,
                       wr_show(p->bad_text).text, p->t.skipped,
                       p->t.skipped + p->t.count);
    return 0;
}

int wr_plan_times_parse(const char *text, size_t len, const char *name,
                        struct wr_plan_times *ret, weir_err *err)
{
    struct times_log p = {.name = name};
    const char *end = text + len;
    int r = 0;

    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3; /* the mark that spreadsheets begin UTF-8 with */
    while (text < end && r == 0) {
        const char *next = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((next ? next : end) - text);

        p.line++;
        r = take_line(&p, text, n, err);
        text += n + (next != NULL);
    }
    if (r == 0)
        r = check_whole(&p, err);
    if (r < 0) {
        wr_plan_times_done(&p.t);
        return r;
    }
    if (p.uneven || p.t.epoch_batches < 2)
        p.t.epoch_batches = 0;
    *ret = p.t;
    return 0;
}
