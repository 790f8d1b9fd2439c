/* list_layout.c - which columns of a list hold the paths and the labels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/list_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "format/csv.h"

#define FIELDS_MAX   256u
#define COLUMN_BYTES 128u /* bytes of a column's name in `columns` */
#define SPEC_HELP                                                              \
    "write path=NAME,label=NAME: names of the header, or numbers from 1"

/* The first rows, copied and taken apart. */
struct rows {
    char *text; /* owned */
    char *first[FIELDS_MAX];
    unsigned count;  /* columns of the first row */
    unsigned second; /* and of the second one; 0: there is none */
};

/* What a part of `columns` says; name "" when it was not given. */
struct wish {
    char path[COLUMN_BYTES], label[COLUMN_BYTES];
};

static void split(struct rows *r, const char *text, size_t len, char separator)
{
    char *ignored[1];
    struct wr_csv csv;

    memcpy(r->text, text, len);
    wr_csv_init(&csv, r->text, len);
    csv.separator = separator;
    csv.columns = WR_CSV_NONE;
    r->count = wr_csv_fields(&csv, r->first, FIELDS_MAX);
    r->second = wr_csv_fields(&csv, ignored, 1);
    r->count = WR_MIN(r->count, FIELDS_MAX);
}

/* Tabs, if the first row has some and no comma. */
static char find_separator(struct rows *r, const char *text, size_t len)
{
    split(r, text, len, ',');
    if (r->count != 1)
        return ',';
    split(r, text, len, '\t');
    return r->count > 1 ? '\t' : ',';
}

/* "file, class, split", for messages. */
static const char *found(const struct rows *r, char *buf, size_t cap)
{
    char shown[64];
    size_t used = 0;

    buf[0] = '\0';
    for (unsigned k = 0; k < r->count && used < cap; k++)
        used += (size_t)snprintf(
            buf + used, cap - used, "%s%s", k ? ", " : "",
            wr_text_show(r->first[k], true, shown, sizeof(shown)));
    return buf;
}

/* "path=file,label=class" into its two names. */
static int parse_spec(const char *spec, struct wish *ret, weir_err *err)
{
    *ret = (struct wish){0};
    for (const char *at = spec;; at++) {
        size_t len = strcspn(at, ","), key = strcspn(at, "=,");
        char *to = key == 4 && !strncmp(at, "path", 4)    ? ret->path
                   : key == 5 && !strncmp(at, "label", 5) ? ret->label
                                                          : NULL;

        if (!to || *to || at[key] != '=' || key + 1 == len ||
            len - key > COLUMN_BYTES)
            return wr_fail(err, WEIR_EINVAL, "columns '%s': " SPEC_HELP, spec);
        memcpy(to, at + key + 1, len - key - 1);
        at += len;
        if (!*at)
            break;
    }
    if (!*ret->path)
        return wr_fail(err, WEIR_EINVAL, "columns '%s': " SPEC_HELP, spec);
    return 0;
}

static unsigned column_of(const struct rows *r, const char *name)
{
    for (unsigned k = 0; k < r->count; k++)
        if (!strcasecmp(r->first[k], name))
            return k;
    return WR_CSV_NONE;
}

/* A number, or a name of the header, which there is then. */
static int pick(const struct rows *r, const char *name, unsigned *ret,
                bool *header, weir_err *err)
{
    bool is_number = name[strspn(name, "0123456789")] == '\0';
    unsigned k = WR_CSV_NONE;
    uint64_t number;
    char all[512];

    if (!is_number)
        k = column_of(r, name);
    else if (wr_parse_uint(name, 1, r->count, &number, NULL) == 0)
        k = (unsigned)number - 1;
    if (k == WR_CSV_NONE)
        return wr_fail(err, WEIR_EINVAL, "no column %s%s%s; there are %s",
                       is_number ? "" : "'", name, is_number ? "" : "'",
                       found(r, all, sizeof(all)));
    *header |= !is_number;
    *ret = k;
    return 0;
}

static int by_spec(const struct rows *r, const char *spec,
                   struct wr_list_layout *ret, weir_err *err)
{
    struct wish w;
    int e = parse_spec(spec, &w, err);

    if (e == 0 && !r->count)
        return 0; /* an empty list, or a first row of no use: said later */
    ret->label = WR_CSV_NONE;
    ret->columns = r->count;
    if (e == 0)
        e = pick(r, w.path, &ret->path, &ret->header, err);
    if (e == 0 && *w.label)
        e = pick(r, w.label, &ret->label, &ret->header, err);
    return e;
}

static int fail_layout(const struct rows *r, weir_err *err)
{
    char all[512];

    return wr_fail(err, WEIR_EFORMAT,
                   "%u columns: %s; say which are the path and the label, by "
                   "names or numbers: path=NAME,label=NAME (option --columns, "
                   "cfg.columns)",
                   r->count, found(r, all, sizeof(all)));
}

/* Columns that are called path and label, or else the first two. */
static int by_names(const struct rows *r, struct wr_list_layout *ret,
                    weir_err *err)
{
    unsigned path = column_of(r, "path"), label = column_of(r, "label");

    if (path != WR_CSV_NONE && (label != WR_CSV_NONE || r->count == 1)) {
        ret->header = true;
        ret->path = path;
        ret->label = label;
        ret->columns = WR_MAX(r->count, 2u);
        return 0;
    }
    if (path != WR_CSV_NONE || (r->count > 2 && r->second == r->count))
        return fail_layout(r, err);
    return 0;
}

int wr_list_layout_find(const char *text, size_t len, const char *spec,
                        struct wr_list_layout *ret, weir_err *err)
{
    struct wr_list_layout l = {.path = 0, .label = 1, .columns = 2};
    size_t seen = WR_MIN(len, (size_t)1 << 20);
    struct rows *r = calloc(1, sizeof(*r));
    int e = 0;

    if (r)
        r->text = malloc(seen + 1);
    if (!r || !r->text) {
        e = wr_fail(err, WEIR_ENOMEM, "out of memory");
    } else {
        r->text[seen] = '\0';
        l.separator = find_separator(r, text, seen);
        e = spec ? by_spec(r, spec, &l, err) : by_names(r, &l, err);
    }
    if (e == 0)
        *ret = l;
    free(r ? r->text : NULL);
    free(r);
    return e;
}
