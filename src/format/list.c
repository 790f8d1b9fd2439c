/* list.c - pictures named by a file of "path,label" lines.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Labels are numbers when the first one is a number, else names of classes,
 * which are then numbered in the order of their names, byte by byte, whether
 * their files are there or not. */
#include "format/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/error.h"
#include "base/mem.h"
#include "format/decode.h"
#include "format/guess.h"
#include "format/intern.h"
#include "format/list_layout.h"
#include "format/remarks.h"

#define MAX_LIST_BYTES ((size_t)2 << 30)
#define MAX_LIST_ROWS  ((size_t)100 * 1000 * 1000)
#define MAX_PATH       4096

static const char too_long[] = "a path of 4096 bytes or more";

struct row {
    const char *path;  /* borrowed from the text */
    const char *label; /* borrowed from the text, or NULL */
    uint64_t line;
};

/* A column beside path and label: files, or numbers. */
struct list_column {
    unsigned column; /* of the index, or WR_NO_COLUMN: numbers */
    bool whole;      /* numbers: all of them are integers */
};

struct list {
    struct wr_index_job *job; /* borrowed */
    struct row *rows;         /* owned */
    size_t count, cap;
    struct wr_intern names; /* labels that are names, in order of appearance */
    struct wr_intern ways;  /* folders that were looked at */
    uint64_t folders, way_count;
    uint64_t outside; /* paths that are absolute or go up */
    uint32_t *rank;   /* owned: class number of name k */
    bool by_name;
    struct wr_list_layout layout;
    struct list_column more[WR_LIST_MORE];
    const char **values; /* owned: layout.more of them per row */
    size_t value_cap;
};

static void add_issue(struct list *l, const char *name, uint64_t line, int code,
                      const char *reason)
{
    char text[256];

    snprintf(text, sizeof(text), "line %" PRIu64 ": %s", line, reason);
    if (code == WEIR_ENOENT)
        wr_index_add_missing(l->job->index, name, text);
    else
        wr_index_add_issue(l->job->index, name, code, text);
}

/* Only its shape: a number too large is a number all the same. */
static bool is_number(const char *text)
{
    text += *text == '-';
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static int push_row(struct list *l, const struct wr_list_row *row,
                    weir_err *err)
{
    if (l->count >= MAX_LIST_ROWS)
        return wr_fail(err, WEIR_ELIMIT, "'%s': more than %zu rows",
                       l->job->leaf, MAX_LIST_ROWS);
    if (!wr_grow(&l->rows, &l->cap, l->count + 1, sizeof(*l->rows)))
        return wr_fail(err, WEIR_ENOMEM, "'%s': out of memory", l->job->leaf);
    if (!wr_grow(&l->values, &l->value_cap, (l->count + 1) * l->layout.more,
                 sizeof(*l->values)))
        return wr_fail(err, WEIR_ENOMEM, "'%s': out of memory", l->job->leaf);
    for (unsigned k = 0; k < l->layout.more; k++)
        l->values[l->count * l->layout.more + k] = row->more[k];
    l->rows[l->count++] = (struct row){row->path, row->label, row->line};
    return 0;
}

static void remark_left(const struct list *l)
{
    char text[WR_REMARK_BYTES];

    snprintf(text, sizeof(text),
             "columns that are not used: %s; --columns "
             "path=path,label=label,NAME=COLUMN takes more",
             l->layout.left);
    if (l->layout.left[0])
        wr_index_add_remark(l->job->index, text);
}

static int parse_rows(struct list *l, char *text, size_t len, weir_err *err)
{
    const char *spec = l->job->cfg->columns;
    const struct wr_list_layout *layout = &l->layout;
    struct wr_list_row row;
    struct wr_list_rows csv;
    uint64_t seen = 0;
    int r = wr_list_layout_find(text, len, spec, &l->layout, err);

    if (r < 0)
        return wr_fail_prefix(err, r, "'%s'", l->job->leaf);
    remark_left(l);
    wr_list_rows_init(&csv, text, len);
    csv.separator = layout->separator;
    csv.path_at = layout->path;
    csv.label_at = layout->label;
    csv.more = layout->more;
    memcpy(csv.more_at, layout->more_at, sizeof(csv.more_at));
    csv.columns = layout->columns;
    while (r == 0 && wr_list_rows_next(&csv, &row)) {
        if (row.bad)
            add_issue(l, l->job->leaf, row.line, WEIR_EFORMAT, row.bad);
        else if (!*row.path)
            add_issue(l, l->job->leaf, row.line, WEIR_EFORMAT, "no path");
        else if (strlen(row.path) >= MAX_PATH)
            add_issue(l, l->job->leaf, row.line, WEIR_ELIMIT, too_long);
        else if (seen || !layout->header)
            r = push_row(l, &row, err);
        if (r == 0 && seen++ % 4096 == 0)
            r = wr_index_job_progress(l->job, err);
    }
    return r;
}

/* A header with other names than path and label would be a missing file whose
 * label makes all labels names, and so shifts their numbers. */
static int check_first(const struct list *l, weir_err *err)
{
    const struct row *row = l->rows;
    struct wr_store *store = l->job->store;
    struct wr_stat st;
    int r;

    if (l->job->cfg->columns || l->count < 2 || !row->label ||
        is_number(row->label) || strpbrk(row->path, "./"))
        return 0;
    r = store->ops->stat(store, row->path, &st, err);
    if (r != WEIR_ENOENT)
        return wr_index_fails(r) ? r : 0;
    return wr_fail(err, WEIR_EFORMAT,
                   "'%s': line %" PRIu64 " looks like a header (%s, %s): say "
                   "so by path=%s,label=%s, or that it is none by "
                   "path=1,label=2 (option --columns, cfg.columns); where rows "
                   "are samples themselves: --format csv",
                   l->job->leaf, row->line, row->path, row->label, row->path,
                   row->label);
}

/* Decides what the labels are, and numbers them if they are names. */
static int number_classes(struct list *l, weir_err *err)
{
    size_t k = 0;

    while (k < l->count && !l->rows[k].label)
        k++;
    if (k == l->count || is_number(l->rows[k].label))
        return 0;
    l->by_name = true;
    for (; k < l->count; k++) {
        const char *label = l->rows[k].label;
        int64_t r = label ? wr_intern_add(&l->names, label, strlen(label)) : 0;

        if (r < 0)
            return wr_fail(err, (int)r, "'%s': too many classes", l->job->leaf);
    }
    return wr_index_add_classes(l->job->index, &l->names, &l->rank, err);
}

static bool row_label(struct list *l, const struct row *row, uint32_t *ret)
{
    int64_t name;

    *ret = WEIR_NO_LABEL;
    if (!row->label)
        return true;
    if (!l->by_name)
        return wr_label_of_text(row->label, strlen(row->label), ret);
    name = wr_intern_add(&l->names, row->label, strlen(row->label));
    if (name >= 0)
        *ret = l->rank[name];
    return name >= 0;
}

struct list_file {
    const char *path;
    uint64_t size, identity;
};

/* Links among the folders of a relative path, each of which is looked at once:
 * the way to what a list names by its absolute path is the machine's own. */
static int count_links(struct list *l, char *folder, weir_err *err)
{
    struct wr_store *store = l->job->store;
    struct wr_stat st;
    int r = 0;

    for (char *end = folder; *folder != '/' && *end && r >= 0;) {
        char slash = *(end += strcspn(end, "/"));
        int64_t n;

        *end = '\0';
        n = wr_intern_add(&l->ways, folder, strlen(folder));
        r = n < 0 ? wr_fail(err, (int)n, "out of memory") : 0;
        if (n >= 0 && (uint64_t)n == l->way_count) {
            l->way_count++;
            r = store->ops->stat(store, folder, &st, err);
            if (r == 0 && st.link)
                wr_index_job_link(l->job, folder);
        }
        *end = slash;
        end += slash != '\0';
    }
    return r;
}

/* Adds object and part of a file that is there. */
static int add_part(struct list *l, const struct list_file *f, unsigned column,
                    uint32_t label, weir_err *err)
{
    const char *path = f->path;
    const char *slash = strrchr(path, '/');
    char folder[MAX_PATH] = "";
    int64_t k;
    int r;

    if (slash) /* the root's slash stays: "/a.jpg" lies in "/" */
        memcpy(folder, path, (size_t)(slash - path) + (slash == path));
    k = wr_index_add_dir(l->job->index, folder, err);
    if (k >= 0 && (uint64_t)k == l->folders) { /* the first time */
        l->folders++;
        r = count_links(l, folder, err);
        k = r < 0 ? r : k;
    }
    if (k >= 0)
        k = wr_index_add_object(l->job->index, k, slash ? slash + 1 : path,
                                f->size, err);
    if (k < 0)
        return (int)k;
    wr_index_set_identity(l->job->index, f->identity);
    return wr_index_add_whole(l->job->index, column, label, err);
}

/* Without "./" in front. */
static const char *plain_path(const char *path)
{
    while (path[0] == '.' && path[1] == '/')
        for (path += 2; *path == '/'; path++)
            ;
    return path;
}

/* Whoever made a list may name files of those who read it. */
static bool leads_out(const char *path)
{
    size_t n;

    if (*path == '/')
        return true;
    for (; *path; path += n + (path[n] == '/')) {
        n = strcspn(path, "/");
        if (n == 2 && !strncmp(path, "..", 2))
            return true;
    }
    return false;
}

static void remark_outside(const struct list *l)
{
    char text[128];

    if (!l->outside)
        return;
    snprintf(text, sizeof(text),
             "%" PRIu64 " path%s out of the folder of the data; --no-links "
             "refuses %s",
             l->outside, l->outside == 1 ? " leads" : "s lead",
             l->outside == 1 ? "it" : "them");
    wr_index_add_remark(l->job->index, text);
}

/* 1: the file is there; 0: it is not, and that was said. */
static int find_file(struct list *l, const char *path, uint64_t line,
                     struct list_file *ret, weir_err *err)
{
    struct wr_store *store = l->job->store;
    struct wr_stat st;
    weir_err e;
    int r;

    ret->path = path = plain_path(path);
    if (leads_out(path) && l->outside++ == 0 && l->job->cfg->no_links)
        return wr_fail(err, WEIR_EACCES,
                       "'%s': line %" PRIu64 ": leads out of the folder of "
                       "the data, and links are refused here",
                       path, line);
    if (store->ops->stat(store, path, &st, &e) < 0) {
        if (wr_index_fails(e.code))
            return wr_fail(err, e.code, "%s", e.msg);
        add_issue(l, path, line, e.code,
                  e.os_errno ? strerrordesc_np(e.os_errno)
                             : weir_strerror(e.code));
        return 0;
    }
    ret->size = st.size;
    ret->identity = st.identity;
    if (st.kind == WR_KIND_FILE && st.link)
        wr_index_job_link(l->job, path);
    if (st.kind == WR_KIND_FILE)
        return 1;
    /* but a file may come to lie there */
    add_issue(l, path, line, WEIR_EFORMAT,
              st.kind == WR_KIND_DIR ? "a folder, not a file"
                                     : "not a regular file");
    r = wr_index_job_stamp(l->job, path, &st, err);
    return r;
}

/* A number that is all of the text. */
static bool parse_number(const char *text, bool whole, union wr_scalar *ret)
{
    char *end;

    if (!text || !*text || strlen(text) > 64)
        return false;
    errno = 0;
    if (whole)
        ret->i = strtoll(text, &end, 10);
    else
        ret->f = wr_strtod(text, &end);
    return !errno && end != text && !end[strspn(end, " \t")];
}

/* Why a value of a column is of no use; NULL: it may be. */
static const char *bad_value(const struct list *l, unsigned m, const char *text,
                             union wr_scalar *ret)
{
    if (l->more[m].column == WR_NO_COLUMN)
        return parse_number(text, l->more[m].whole, ret)
                   ? NULL
                   : "a column of numbers has something else";
    if (!text || !*text)
        return "a column of files is empty";
    return strlen(text) < MAX_PATH ? NULL : too_long;
}

/* The values of a row's other columns: 1, or 0 when one is of no use. */
static int take_more(struct list *l, size_t k, struct list_file *files,
                     union wr_scalar *numbers, weir_err *err)
{
    unsigned n = l->layout.more, scalars = 0;
    const struct row *row = &l->rows[k];
    int r = 1;

    for (unsigned m = 0; m < n && r > 0; m++) {
        const char *text = l->values[k * n + m];
        const char *why = bad_value(l, m, text, &numbers[scalars]);

        if (why) {
            add_issue(l, row->path, row->line,
                      why == too_long ? WEIR_ELIMIT : WEIR_EFORMAT, why);
            return 0;
        }
        if (l->more[m].column == WR_NO_COLUMN)
            scalars++;
        else
            r = find_file(l, text, row->line, &files[m], err);
    }
    return r;
}

static int add_row(struct list *l, size_t k, weir_err *err)
{
    const struct row *row = &l->rows[k];
    struct list_file file, more[WR_LIST_MORE];
    union wr_scalar numbers[WR_LIST_MORE];
    uint32_t label;
    int r;

    if (!row_label(l, row, &label)) {
        add_issue(l, plain_path(row->path), row->line, WEIR_EFORMAT,
                  "the label is no number below 4294967295");
        return 0;
    }
    r = find_file(l, row->path, row->line, &file, err);
    if (r > 0)
        r = take_more(l, k, more, numbers, err);
    if (r <= 0)
        return r;
    r = add_part(l, &file, 0, label, err);
    for (unsigned m = 0; m < l->layout.more && r == 0; m++)
        if (l->more[m].column != WR_NO_COLUMN)
            r = add_part(l, &more[m], l->more[m].column, WEIR_NO_LABEL, err);
    if (r == 0 && l->layout.more)
        r = wr_index_add_scalars(l->job->index, numbers, err);
    return r;
}

/* What a column is: numbers if the first row has one there. */
static int add_column(struct list *l, unsigned m, unsigned *columns,
                      weir_err *err)
{
    unsigned n = l->layout.more;
    const char *first = l->values[m];
    struct wr_field f = {.pub = {.kind = WEIR_FIELD_SCALAR}};
    union wr_scalar unused;

    l->more[m].column = WR_NO_COLUMN;
    l->more[m].whole = true;
    for (size_t k = 0; k < l->count && l->more[m].whole; k++)
        l->more[m].whole = parse_number(l->values[k * n + m], true, &unused);
    f.pub.dtype = l->more[m].whole ? WEIR_I64 : WEIR_F64;
    if (!parse_number(first, false, &unused)) {
        bool picture = first && wr_is_picture_name(first);

        l->more[m].column = (*columns)++;
        f.pub = (weir_field){.kind = picture ? WEIR_FIELD_PICTURE
                                             : WEIR_FIELD_BYTES,
                             .dtype = WEIR_U8,
                             .ndim = picture ? 0 : 1,
                             .dims = {picture ? 0 : WEIR_DIM_VARIES}};
    }
    f.column = l->more[m].column;
    memcpy(f.name, l->layout.names[m], sizeof(f.name));
    return wr_index_add_field(l->job->index, &f, err);
}

static int add_columns(struct list *l, weir_err *err)
{
    struct wr_field f = {.pub = {.kind = WEIR_FIELD_PICTURE, .dtype = WEIR_U8}};
    unsigned columns = 1;
    int r;

    memcpy(f.name, l->layout.field, sizeof(f.name));
    r = wr_index_add_field(l->job->index, &f, err);
    for (unsigned m = 0; m < l->layout.more && l->count && r == 0; m++)
        r = add_column(l, m, &columns, err);
    return r;
}

static int add_rows(struct list *l, weir_err *err)
{
    int r = 0;

    for (size_t k = 0; k < l->count && r == 0; k++) {
        r = add_row(l, k, err);
        if (r == 0 && k % 256 == 0)
            r = wr_index_job_progress(l->job, err);
    }
    return r;
}

/* Lets the index depend on the list file. Where that lies in another store
 * than the pictures, its absolute path means the same in both. */
static int stamp_list(struct wr_index_job *job, weir_err *err)
{
    struct wr_store *store = job->leaf_store;
    char path[MAX_PATH], *real = NULL;
    struct wr_stat st;
    int r;

    r = store->ops->stat(store, job->leaf, &st, err);
    if (r < 0) /* reading it will tell more, if it can be read */
        return wr_index_fails(r) ? r : 0;
    if (store != job->store) {
        if (store->ops->local_path &&
            store->ops->local_path(store, job->leaf, path, sizeof(path)))
            real = realpath(path, NULL);
        if (!real)
            return 0; /* without a stamp the index is not kept */
    }
    r = wr_index_job_stamp(job, real ? real : job->leaf, &st, err);
    free(real);
    return r;
}

static int list_index(struct wr_index_job *job, weir_err *err)
{
    struct list l = {.job = job};
    char *text = NULL;
    size_t len;
    int r;

    if (!job->leaf)
        return wr_fail(err, WEIR_EINVAL,
                       "a folder, not a list file of paths and labels");
    r = stamp_list(job, err);
    if (r < 0)
        return r;
    r = wr_store_slurp(job->leaf_store, job->leaf, MAX_LIST_BYTES, &text, &len,
                       err);
    if (r < 0)
        return r;
    r = parse_rows(&l, text, len, err);
    if (r == 0)
        r = check_first(&l, err);
    if (r == 0)
        r = add_columns(&l, err);
    if (r == 0)
        r = number_classes(&l, err);
    if (r == 0)
        r = add_rows(&l, err);
    if (r == 0)
        remark_outside(&l);
    wr_intern_done(&l.names);
    wr_intern_done(&l.ways);
    free(l.rank);
    free(l.values);
    free(l.rows);
    free(text);
    return r;
}

static int list_probe(struct wr_store *st, const char *leaf)
{
    (void)st;
    if (!leaf)
        return 0;
    if (wr_name_has_ext(leaf, ".csv .tsv .txt .lst .list"))
        return 80;
    return WR_PROBE_GUESS; /* any file may be one */
}

const struct wr_format_ops wr_format_list = {
    .name = "list",
    .help = "a file of path,label lines that name pictures",
    .takes_root = true,
    .probe = list_probe,
    .index = list_index,
};
