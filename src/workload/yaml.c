/* yaml.c - a description as YAML, all keys with their values.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "workload/choices.h"
#include "workload/value.h"
#include "workload/schema.h"
#include "workload/workload.h"

/* As few digits as bring it back. */
static void print_number(FILE *to, double value)
{
    char text[40];

    for (int digits = 6; digits <= 17; digits++) {
        wr_snprintf(text, sizeof(text), "%.*g", digits, value);
        if (wr_strtod(text, NULL) == value)
            break;
    }
    fputs(text, to);
}

/* The character at *at, which moves behind it. The text is UTF-8. */
static uint32_t next_char(const char **at)
{
    const unsigned char *s = (const unsigned char *)*at;
    unsigned more = *s < 0x80 ? 0 : *s < 0xe0 ? 1 : *s < 0xf0 ? 2 : 3;
    uint32_t c = more ? *s & (0x3fu >> more) : *s;

    for (unsigned i = 1; i <= more && s[i]; i++)
        c = c << 6 | (s[i] & 0x3f);
    *at += more + 1;
    return c;
}

/* What a parser would take for a line end, or not at all. */
static bool needs_escape(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 ||
           c == 0xfeff || (c & 0xfffe) == 0xfffe;
}

/* In double quotes always: no text can be taken for something else. */
static void print_text(FILE *to, const char *text)
{
    putc('"', to);
    while (*text) {
        const char *begin = text;
        uint32_t c = next_char(&text);

        if (needs_escape(c))
            fprintf(to, "\\U%08" PRIx32, c);
        else if (c == '"' || c == '\\')
            fprintf(to, "\\%c", (int)c);
        else
            fwrite(begin, 1, (size_t)(text - begin), to);
    }
    putc('"', to);
}

static void print_items(FILE *to, const uint64_t *item, unsigned count)
{
    putc('[', to);
    for (unsigned i = 0; i < count; i++)
        fprintf(to, "%s%" PRIu64, i ? ", " : "", item[i]);
    putc(']', to);
}

static void print_pair(FILE *to, const char *name, double value)
{
    fprintf(to, ", %s: ", name);
    print_number(to, value);
}

static void print_time(FILE *to, const struct wr_wl_time *t)
{
    const struct wr_wl_law_words *words = wr_wl_law_words(t->law);

    if (t->law == WR_WL_FIXED) {
        print_number(to, t->a);
        return;
    }
    if (!words) {
        fputs("{}", to);
        return;
    }
    fprintf(to, "{type: %s", wr_choice_name(wr_wl_laws, (int)t->law));
    print_pair(to, words->a, t->a);
    if (words->b)
        print_pair(to, words->b, t->b);
    putc('}', to);
}

static void print_value(FILE *to, const struct wr_wl_key *k, const void *field)
{
    const struct wr_wl_dims *dims = field;
    const struct wr_wl_list *list = field;

    switch (k->kind) {
    case WR_WL_KEY_BOOL:
        fputs(*(const bool *)field ? "true" : "false", to);
        break;
    case WR_WL_KEY_U64:
    case WR_WL_KEY_SIZE:
        fprintf(to, "%" PRIu64, *(const uint64_t *)field);
        break;
    case WR_WL_KEY_I64:
        fprintf(to, "%" PRId64, *(const int64_t *)field);
        break;
    case WR_WL_KEY_TEXT:
    case WR_WL_KEY_WORD:
        print_text(to, *(const char *const *)field);
        break;
    case WR_WL_KEY_CHOICE:
        print_text(to, wr_choice_name(k->choices, *(const int *)field));
        break;
    case WR_WL_KEY_EITHER:
        print_text(to, wr_choice_name(k->choices, *(const bool *)field));
        break;
    case WR_WL_KEY_DIMS:
        print_items(to, dims->dim, dims->count);
        break;
    case WR_WL_KEY_LIST:
        print_items(to, list->item, list->count);
        break;
    case WR_WL_KEY_TIME:
        print_time(to, field);
        break;
    default:
        print_number(to, *(const double *)field);
        break;
    }
}

/* Nothing to print: a key without effect, a text or figure that is not given. */
static bool is_left_out(const struct wr_wl_key *k, const void *field)
{
    if (k->kind == WR_WL_KEY_TEXT)
        return !*(const char *const *)field;
    if (k->kind == WR_WL_KEY_FIGURE)
        return isnan(*(const double *)field);
    return k->kind == WR_WL_KEY_DEAD || k->kind == WR_WL_KEY_STDEV;
}

/* The sections of `path` that those of `before` have not opened; returns where
 * its last name begins, and adds to *depth how deep it stands. */
static const char *open_sections(FILE *to, const char *path, const char *before,
                                 unsigned *depth)
{
    const char *name = path, *dot;
    bool same = true;

    while ((dot = strchr(name, '.'))) {
        size_t head = (size_t)(dot - path) + 1;

        same = same && !strncmp(path, before, head);
        if (!same)
            fprintf(to, "%*s%.*s:\n", (int)(2 * *depth), "", (int)(dot - name),
                    name);
        ++*depth;
        name = dot + 1;
    }
    return name;
}

static void print_rows(FILE *to, const struct wr_workload *w)
{
    const struct wr_wl_key *k;
    const char *before = "";

    for (size_t i = 0; (k = wr_wl_key_at(i)); i++) {
        const void *field = (const char *)w + k->at;
        const char *name;
        unsigned depth = 0;

        if (is_left_out(k, field))
            continue;
        name = open_sections(to, k->path, before, &depth);
        fprintf(to, "%*s%s: ", (int)(2 * depth), "", name);
        print_value(to, k, field);
        putc('\n', to);
        before = k->path;
    }
}

char *wr_workload_yaml(const struct wr_workload *w)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = open_memstream(&text, &len);

    if (!to)
        return NULL;
    print_rows(to, w);
    if (fclose(to) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
