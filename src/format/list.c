/* list.c - pictures named by a file of "path,label" lines.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Labels are numbers when the first one is a number, else names of classes,
 * which are then numbered in the order of their names, byte by byte, whether
 * their files are there or not. */
#include "format/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "format/csv.h"
#include "format/intern.h"
#include "format/list_layout.h"
#include "format/pictures.h"

#define MAX_LIST_BYTES ((size_t)2 << 30)
#define MAX_LIST_ROWS  ((size_t)100 * 1000 * 1000)
#define MAX_PATH       4096

struct row {
    const char *path;  /* borrowed from the text */
    const char *label; /* borrowed from the text, or NULL */
    uint64_t line;
};

struct list {
    struct wr_index_job *job; /* borrowed */
    struct row *rows;         /* owned */
    size_t count, cap;
    struct wr_intern names; /* labels that are names, in order of appearance */
    uint32_t *rank;         /* owned: class number of name k */
    bool by_name;
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

/* "7" -> 7; "-1" -> WEIR_NO_LABEL. False: not a label's number. */
static bool parse_label(const char *text, uint32_t *ret)
{
    uint64_t value = 0;

    if (!strcmp(text, "-1")) {
        *ret = WEIR_NO_LABEL;
        return true;
    }
    if (!*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = value * 10 + (uint64_t)(*text - '0');
        if (value >= WEIR_NO_LABEL)
            return false;
    }
    *ret = (uint32_t)value;
    return true;
}

/* Only its shape: a number too large is a number all the same. */
static bool is_number(const char *text)
{
    text += *text == '-';
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static int push_row(struct list *l, const struct wr_csv_row *row, weir_err *err)
{
    if (l->count >= MAX_LIST_ROWS)
        return wr_fail(err, WEIR_ELIMIT, "'%s': more than %zu rows",
                       l->job->leaf, MAX_LIST_ROWS);
    if (!wr_grow(&l->rows, &l->cap, l->count + 1, sizeof(*l->rows)))
        return wr_fail(err, WEIR_ENOMEM, "'%s': out of memory", l->job->leaf);
    l->rows[l->count++] = (struct row){row->path, row->label, row->line};
    return 0;
}

static int parse_rows(struct list *l, char *text, size_t len, weir_err *err)
{
    const char *spec = l->job->cfg->columns;
    struct wr_list_layout layout;
    struct wr_csv_row row;
    struct wr_csv csv;
    uint64_t seen = 0;
    int r = wr_list_layout_find(text, len, spec, &layout, err);

    if (r < 0)
        return wr_fail_prefix(err, r, "'%s'", l->job->leaf);
    wr_csv_init(&csv, text, len);
    csv.separator = layout.separator;
    csv.path_at = layout.path;
    csv.label_at = layout.label;
    csv.columns = layout.columns;
    while (r == 0 && wr_csv_next(&csv, &row)) {
        if (row.bad)
            add_issue(l, l->job->leaf, row.line, WEIR_EFORMAT, row.bad);
        else if (!*row.path)
            add_issue(l, l->job->leaf, row.line, WEIR_EFORMAT, "no path");
        else if (strlen(row.path) >= MAX_PATH)
            add_issue(l, l->job->leaf, row.line, WEIR_ELIMIT,
                      "a path of 4096 bytes or more");
        else if (seen || !layout.header)
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

    if (l->job->cfg->columns || l->count < 2 || !row->label ||
        is_number(row->label) || strpbrk(row->path, "./") ||
        store->ops->stat(store, row->path, &st, NULL) != WEIR_ENOENT)
        return 0;
    return wr_fail(err, WEIR_EFORMAT,
                   "'%s': line %" PRIu64 " looks like a header (%s, %s): say "
                   "so by path=%s,label=%s, or that it is none by "
                   "path=1,label=2 (option --columns, cfg.columns)",
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
        return parse_label(row->label, ret);
    name = wr_intern_add(&l->names, row->label, strlen(row->label));
    if (name >= 0)
        *ret = l->rank[name];
    return name >= 0;
}

/* Adds object and sample of a file that is there. */
static int add_sample(struct list *l, const char *path, uint64_t size,
                      uint32_t label, weir_err *err)
{
    const char *slash = strrchr(path, '/');
    char folder[MAX_PATH] = "";
    int64_t k;

    if (slash) /* the root's slash stays: "/a.jpg" lies in "/" */
        memcpy(folder, path, (size_t)(slash - path) + (slash == path));
    k = wr_index_add_dir(l->job->index, folder, err);
    if (k >= 0)
        k = wr_index_add_object(l->job->index, k, slash ? slash + 1 : path,
                                size, err);
    if (k < 0)
        return (int)k;
    return wr_index_add_whole(l->job->index, 0, label, err);
}

static int add_row(struct list *l, const struct row *row, weir_err *err)
{
    struct wr_store *store = l->job->store;
    const char *path = row->path;
    struct wr_stat st;
    uint32_t label;
    weir_err e;

    while (path[0] == '.' && path[1] == '/')
        for (path += 2; *path == '/'; path++)
            ;
    if (!row_label(l, row, &label)) {
        add_issue(l, path, row->line, WEIR_EFORMAT,
                  "the label is no number below 4294967295");
        return 0;
    }
    if (store->ops->stat(store, path, &st, &e) < 0) {
        if (wr_err_is_lack(e.code))
            return wr_fail(err, e.code, "%s", e.msg);
        add_issue(l, path, row->line, e.code,
                  e.os_errno ? strerrordesc_np(e.os_errno)
                             : weir_strerror(e.code));
        return 0;
    }
    if (st.kind != WR_KIND_FILE) { /* but a file may come to lie there */
        add_issue(l, path, row->line, WEIR_EFORMAT,
                  st.kind == WR_KIND_DIR ? "a folder, not a file"
                                         : "not a regular file");
        return wr_index_job_stamp(l->job, path, &st, err);
    }
    return add_sample(l, path, st.size, label, err);
}

static int add_rows(struct list *l, weir_err *err)
{
    int r = 0;

    for (size_t k = 0; k < l->count && r == 0; k++) {
        r = add_row(l, &l->rows[k], err);
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

    if (store->ops->stat(store, job->leaf, &st, NULL) < 0)
        return 0; /* reading it will tell */
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
    r = wr_index_job_picture(job, /* unpacked= */ false, err);
    if (r == 0)
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
        r = number_classes(&l, err);
    if (r == 0)
        r = add_rows(&l, err);
    wr_intern_done(&l.names);
    free(l.rank);
    free(l.rows);
    free(text);
    return r;
}

static int list_probe(struct wr_store *st, const char *leaf)
{
    (void)st;
    if (!leaf)
        return 0;
    if (wr_name_has_ext(leaf, ".csv") || wr_name_has_ext(leaf, ".tsv") ||
        wr_name_has_ext(leaf, ".txt") || wr_name_has_ext(leaf, ".lst") ||
        wr_name_has_ext(leaf, ".list"))
        return 80;
    return 10; /* any file may be one */
}

const struct wr_format_ops wr_format_list = {
    .name = "list",
    .help = "a file of path,label lines that name pictures",
    .takes_root = true,
    .probe = list_probe,
    .index = list_index,
};
