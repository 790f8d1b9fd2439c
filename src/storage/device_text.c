/* device_text.c - profile files: text to a device profile, and back.
 * SPDX-License-Identifier: Apache-2.0
 *
 * docs/formats/profile.md has the keys. A key is a line in `keys`. */
#include "storage/device.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/units.h"

#define MAX_LINE 512
#define MAX_TEXT 65536

enum value_kind { TEXT, TIME, RATE, BYTES, COUNT, LAW, LIKE };

struct text_key {
    const char *name;
    enum value_kind kind;
    size_t at;  /* in struct wr_device_profile */
    size_t cap; /* TEXT */
};

#define AT(field) offsetof(struct wr_device_profile, field)
#define NAMED(field)                                                           \
    AT(field), sizeof(((struct wr_device_profile *)NULL)->field)

static const struct text_key keys[] = {
    {"like", LIKE, 0, 0},
    {"name", TEXT, NAMED(name)},
    {"title", TEXT, NAMED(title)},
    {"read_latency", TIME, AT(read_latency_us), 0},
    {"write_latency", TIME, AT(write_latency_us), 0},
    {"meta_latency", TIME, AT(meta_latency_us), 0},
    {"sync_latency", TIME, AT(sync_latency_us), 0},
    {"read_bandwidth", RATE, AT(read_bytes_per_s), 0},
    {"write_bandwidth", RATE, AT(write_bytes_per_s), 0},
    {"channels", COUNT, AT(channels), 0},
    {"seek", TIME, AT(seek_us), 0},
    {"near", BYTES, AT(near_bytes), 0},
    {"seek_law", LAW, 0, 0},
    {"write_cache", BYTES, AT(write_cache_bytes), 0},
    {"readahead", BYTES, AT(readahead_bytes), 0},
};

#define KEYS WR_ARRAY_LEN(keys)

/* What may follow a number. */
struct unit_kind {
    double (*factor)(const char *unit); /* 0: unknown */
    const char *known;
};

static double time_factor(const char *unit)
{
    return !strcmp(unit, "us")   ? 1
           : !strcmp(unit, "ns") ? 1e-3
           : !strcmp(unit, "ms") ? 1e3
           : !strcmp(unit, "s")  ? 1e6
                                 : 0;
}

static double byte_factor(const char *unit)
{
    return wr_unit_factor(unit, /* is_rate= */ false);
}

static double rate_factor(const char *unit)
{
    return wr_unit_factor(unit, /* is_rate= */ true);
}

static const struct unit_kind time_units = {time_factor, "us, ns, ms, s"};
static const struct unit_kind byte_units = {byte_factor,
                                            "B, KB, MB, GB, KiB, MiB, GiB"};
static const struct unit_kind rate_units = {
    rate_factor, "B/s, KB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s"};

/* --- reading --- */

/* The blanks around a text, cut off in place. */
static char *trim(char *s)
{
    char *end = s + strlen(s);

    while (*s == ' ' || *s == '\t')
        s++;
    while (end > s && strchr(" \t\r", end[-1]))
        *--end = '\0';
    return s;
}

/* "8.5 ms", "163MB/s", "0". */
static int parse_quantity(const char *text, const struct unit_kind *units,
                          double *ret, weir_err *err)
{
    char *unit;
    double value = wr_strtod(text, &unit), factor;

    if (unit == text || strpbrk(text, "xX") || !isfinite(value))
        return wr_fail(err, WEIR_EFORMAT, "'%s' is not a number with a unit",
                       text);
    if (value < 0)
        return wr_fail(err, WEIR_EFORMAT, "'%s' is negative", text);
    unit += strspn(unit, " \t");
    factor = *unit ? units->factor(unit) : 0;
    if (!(factor > 0) && (*unit || value > 0))
        return wr_fail(err, WEIR_EFORMAT, "'%s' has %s (%s)", text,
                       *unit ? "an unknown unit" : "no unit", units->known);
    *ret = value * factor;
    return 0;
}

static int parse_time(const char *text, double *ret_us, weir_err *err)
{
    double us = 0;
    int r = parse_quantity(text, &time_units, &us, err);

    if (r < 0)
        return r;
    if (us > WR_DEVICE_MAX_US)
        return wr_fail(err, WEIR_EFORMAT, "'%s' is more than %g s", text,
                       WR_DEVICE_MAX_US / 1e6);
    *ret_us = us;
    return 0;
}

static int parse_rate(const char *text, double *ret, weir_err *err)
{
    double rate = 0;
    int r = parse_quantity(text, &rate_units, &rate, err);

    if (r < 0)
        return r;
    if (rate != 0 && (rate < WR_DEVICE_MIN_RATE || rate > WR_DEVICE_MAX_RATE))
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s' is not between 1 KB/s and 1000000 GB/s (or 0: no "
                       "limit)",
                       text);
    *ret = rate;
    return 0;
}

static int parse_bytes(const char *text, uint64_t *ret, weir_err *err)
{
    double bytes = 0;
    int r = parse_quantity(text, &byte_units, &bytes, err);

    if (r < 0)
        return r;
    if (bytes > (double)WR_DEVICE_MAX_BYTES)
        return wr_fail(err, WEIR_EFORMAT, "'%s' is too large a size", text);
    *ret = (uint64_t)bytes;
    return 0;
}

static int parse_point(char *text, struct wr_seek_point *ret, weir_err *err)
{
    char *colon = strchr(text, ':');
    uint64_t depth;

    if (!colon)
        return wr_fail(err, WEIR_EFORMAT, "'%s' is not DEPTH:FACTOR", text);
    *colon = '\0';
    if (wr_parse_uint(text, 1, WR_DEVICE_MAX_DEPTH, &depth, err) < 0 ||
        wr_parse_double(colon + 1, 1e-6, 1e3, &ret->factor, err) < 0)
        return WEIR_EFORMAT;
    ret->depth = (unsigned)depth;
    return 0;
}

static int parse_law(char *text, struct wr_device_profile *p, weir_err *err)
{
    char *save = NULL;
    unsigned n = 0;

    for (char *word = strtok_r(text, " \t", &save); word;
         word = strtok_r(NULL, " \t", &save), n++) {
        int r;

        if (n == WR_SEEK_POINTS)
            return wr_fail(err, WEIR_EFORMAT, "more than %d points",
                           WR_SEEK_POINTS);
        r = parse_point(word, &p->seek_law[n], err);
        if (r < 0)
            return r;
        if (n && p->seek_law[n].depth <= p->seek_law[n - 1].depth)
            return wr_fail(err, WEIR_EFORMAT, "depth %u does not rise",
                           p->seek_law[n].depth);
    }
    /* What was there before may have had more points. */
    memset(p->seek_law + n, 0, (WR_SEEK_POINTS - n) * sizeof(p->seek_law[0]));
    p->seek_points = n;
    return 0;
}

static int parse_text(const char *text, const struct text_key *key, char *to,
                      weir_err *err)
{
    if (!*text)
        return wr_fail(err, WEIR_EFORMAT, "empty");
    if (strlen(text) >= key->cap)
        return wr_fail(err, WEIR_EFORMAT, "longer than %zu bytes",
                       key->cap - 1);
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return wr_fail(err, WEIR_EFORMAT, "has a control character");
    memset(to, 0, key->cap);
    strcpy(to, text);
    return 0;
}

/* `like` takes all but the name. */
static int parse_like(const char *text, struct wr_device_profile *p,
                      weir_err *err)
{
    char name[sizeof(p->name)];

    if (strchr(text, '/') || strchr(text, '.'))
        return wr_fail(err, WEIR_EFORMAT, "'%s' is not a built-in profile",
                       text);
    memcpy(name, p->name, sizeof(name));
    if (wr_device_profile_find(text, p, err) < 0)
        return WEIR_EFORMAT;
    memcpy(p->name, name, sizeof(name));
    return 0;
}

static int parse_value(char *text, const struct text_key *key,
                       struct wr_device_profile *p, weir_err *err)
{
    void *to = (char *)p + key->at;
    uint64_t count;

    switch (key->kind) {
    case TEXT:
        return parse_text(text, key, to, err);
    case TIME:
        return parse_time(text, to, err);
    case RATE:
        return parse_rate(text, to, err);
    case BYTES:
        return parse_bytes(text, to, err);
    case COUNT:
        if (wr_parse_uint(text, 0, WR_DEVICE_MAX_CHANNELS, &count, err) < 0)
            return WEIR_EFORMAT;
        *(unsigned *)to = (unsigned)count;
        return 0;
    case LAW:
        return parse_law(text, p, err);
    case LIKE:
        return parse_like(text, p, err);
    }
    return 0;
}

static int parse_line(char *line, struct wr_device_profile *p, uint32_t *seen,
                      weir_err *err)
{
    char *hash = strchr(line, '#'), *value, *name;
    int k, r;

    if (hash)
        *hash = '\0';
    name = trim(line);
    if (!*name)
        return 0;
    value = strchr(name, '=');
    if (!value)
        return wr_fail(err, WEIR_EFORMAT, "'%.64s' is not KEY = VALUE", name);
    *value++ = '\0';
    name = trim(name);
    value = trim(value);
    k = wr_named_index(WR_NAMED(keys), name);
    if (k < 0)
        return wr_fail(err, WEIR_EFORMAT, "unknown key '%.64s'", name);
    if (*seen & (1u << k))
        return wr_fail(err, WEIR_EFORMAT, "'%s' a second time", name);
    if (keys[k].kind == LIKE && *seen)
        return wr_fail(err, WEIR_EFORMAT,
                       "'like' must be the first of the keys");
    *seen |= 1u << k;
    r = parse_value(value, &keys[k], p, err);
    return r < 0 ? wr_fail_prefix(err, r, "%s", name) : 0;
}

/* "dir/big.profile" is named "big" unless it says otherwise. */
static void name_after(const char *path, struct wr_device_profile *p)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t n = strcspn(base, "."), used = 0;

    for (size_t i = 0; i < n && used + 1 < sizeof(p->name); i++)
        if ((unsigned char)base[i] > ' ' && !strchr("#\177", base[i]))
            p->name[used++] = base[i];
    if (!used)
        strcpy(p->name, "profile");
}

static int parse_lines(const char *text, size_t len,
                       struct wr_device_profile *p, uint32_t *seen,
                       weir_err *err)
{
    const char *end = text + len;
    unsigned number = 1;

    for (; text < end; number++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((stop ? stop : end) - text);
        char line[MAX_LINE + 1];
        int r;

        if (n > MAX_LINE)
            return wr_fail(err, WEIR_EFORMAT, "line %u: longer than %d bytes",
                           number, MAX_LINE);
        if (memchr(text, '\0', n))
            return wr_fail(err, WEIR_EFORMAT, "line %u: has a zero byte",
                           number);
        memcpy(line, text, n);
        line[n] = '\0';
        r = parse_line(line, p, seen, err);
        if (r < 0)
            return wr_fail_prefix(err, r, "line %u", number);
        text = stop ? stop + 1 : end;
    }
    return 0;
}

static bool has(uint32_t seen, const char *name)
{
    int k = wr_named_index(WR_NAMED(keys), name);

    return k >= 0 && seen & (1u << k);
}

int wr_device_profile_parse(const char *text, size_t len, const char *name,
                            struct wr_device_profile *ret, weir_err *err)
{
    struct wr_device_profile p = {0};
    uint32_t seen = 0;
    int r;

    if (len > MAX_TEXT)
        return wr_fail(err, WEIR_ELIMIT, "'%s': larger than %d bytes", name,
                       MAX_TEXT);
    name_after(name, &p);
    strcpy(p.title, "a profile file");
    r = parse_lines(text, len, &p, &seen, err);
    if (r == 0 && !has(seen, "like") &&
        (!has(seen, "read_bandwidth") || !has(seen, "write_bandwidth")))
        r = wr_fail(err, WEIR_EFORMAT,
                    "has neither 'like' nor both of 'read_bandwidth' and "
                    "'write_bandwidth'");
    if (r < 0) {
        wr_fail_prefix(err, r, "'%s'", name);
        if (err) /* numbers fail with codes of their own */
            err->code = WEIR_EFORMAT;
        return WEIR_EFORMAT;
    }
    *ret = p;
    return 0;
}

/* --- writing --- */

/* With as few digits as bring the same value back; false when none do. */
static bool put_number(FILE *f, double value, double factor)
{
    char text[40];

    for (int digits = 6; digits <= 17; digits++) {
        wr_snprintf(text, sizeof(text), "%.*g", digits, value / factor);
        if (wr_strtod(text, NULL) * factor == value) {
            fputs(text, f);
            return true;
        }
    }
    return false;
}

static void put_rate(FILE *f, double rate)
{
    if (put_number(f, rate, 1e6)) {
        fputs(" MB/s", f);
    } else {
        put_number(f, rate, 1);
        fputs(" B/s", f);
    }
}

static void put_bytes(FILE *f, uint64_t bytes)
{
    if (bytes % (1u << 20) == 0)
        fprintf(f, "%" PRIu64 " MiB", bytes >> 20);
    else if (bytes % (1u << 10) == 0)
        fprintf(f, "%" PRIu64 " KiB", bytes >> 10);
    else
        fprintf(f, "%" PRIu64 " B", bytes);
}

static void put_law(FILE *f, const struct wr_device_profile *p)
{
    for (unsigned i = 0; i < p->seek_points; i++) {
        fprintf(f, "%s%u:", i ? " " : "", p->seek_law[i].depth);
        put_number(f, p->seek_law[i].factor, 1);
    }
}

static void put_value(FILE *f, const struct wr_device_profile *p,
                      const struct text_key *key)
{
    const void *at = (const char *)p + key->at;

    switch (key->kind) {
    case TEXT:
        fputs(at, f);
        break;
    case TIME:
        put_number(f, *(const double *)at, 1);
        fputs(" us", f);
        break;
    case RATE:
        put_rate(f, *(const double *)at);
        break;
    case BYTES:
        put_bytes(f, *(const uint64_t *)at);
        break;
    case COUNT:
        fprintf(f, "%u", *(const unsigned *)at);
        break;
    case LAW:
        put_law(f, p);
        break;
    case LIKE:
        break;
    }
}

char *wr_device_profile_text(const struct wr_device_profile *p)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    if (!f)
        return NULL;
    for (unsigned k = 0; k < KEYS; k++) {
        if (keys[k].kind == LIKE || (keys[k].kind == LAW && !p->seek_points))
            continue;
        fprintf(f, "%s = ", keys[k].name);
        put_value(f, p, &keys[k]);
        fputc('\n', f);
    }
    if (fclose(f)) {
        free(text);
        return NULL;
    }
    return text;
}
