/* genlist.c - the "path,label" list beside a generated data set.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/genlist.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "storage/beside.h"

#define LINE_MAX_BYTES (2 * PATH_MAX + WR_GEN_PATH_MAX + 16)

/* The file that the list becomes. */
struct list_out {
    struct wr_beside at;    /* where it is to be */
    struct wr_object *file; /* owned */
};

static void out_done(struct list_out *o)
{
    if (o->file) {
        o->file->ops->close(o->file, /* sync= */ false, NULL);
        o->at.store->ops->change(o->at.store, WR_REMOVE, o->at.part, NULL,
                                 NULL);
    }
    wr_beside_done(&o->at);
}

static int out_create(struct list_out *o, weir_err *err)
{
    o->at.store->ops->change(o->at.store, WR_REMOVE, o->at.part, NULL, NULL);
    return o->at.store->ops->object_open(o->at.store, o->at.part,
                                         WR_OPEN_CREATE, &o->file, err);
}

int wr_gen_list_check(const struct wr_gen_config *cfg, weir_err *err)
{
    size_t n = strlen(cfg->target);
    struct list_out o = {0};
    struct wr_stat is;
    int r;

    while (n > 1 && cfg->target[n - 1] == '/')
        n--;
    /* Inside, it would be taken for a part of the data set. */
    if (!strncmp(cfg->list, cfg->target, n) &&
        (cfg->list[n] == '/' || !cfg->list[n]))
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': a list lies outside of its data set", cfg->list);
    r = wr_beside_init(&o.at, cfg->list, err);
    if (r == 0 &&
        o.at.store->ops->stat(o.at.store, o.at.name, &is, NULL) == 0 &&
        is.kind != WR_KIND_FILE)
        r = wr_fail(err, WEIR_EEXIST, "'%s': exists and is no file", cfg->list);
    if (r == 0)
        r = out_create(&o, err);
    out_done(&o);
    return r;
}

/* The folder of the data set as lines of the list should name it. */
static void name_root(const struct wr_gen_run *run, const struct list_out *o,
                      char root[PATH_MAX])
{
    char here[PATH_MAX], full[PATH_MAX], target[PATH_MAX];
    size_t n;

    if (!wr_sink_local_path(run->sink, target, sizeof(target))) {
        snprintf(root, PATH_MAX, "%s", run->cfg.target);
        return;
    }
    snprintf(root, PATH_MAX, "%s", target);
    if (!wr_beside_local_path(&o->at, ".", here, sizeof(here)) ||
        !realpath(here, full))
        return;
    n = strlen(full);
    n -= full[n - 1] == '/';
    if (!strncmp(full, target, n) && target[n] == '/')
        snprintf(root, PATH_MAX, "%s", target + n + 1);
}

/* One line; a path with a comma, quote or line end is quoted, and one that
 * begins like a comment or with a blank. */
static size_t format_line(const struct wr_gen_config *cfg, const char *root,
                          uint64_t i, char line[LINE_MAX_BYTES])
{
    bool quote = strpbrk(root, ",\"\r\n") || strchr("# \t", *root);
    char path[WR_GEN_PATH_MAX];
    char *p = line;

    wr_gen_picture_path(cfg, i, path);
    if (quote)
        *p++ = '"';
    for (const char *s = root; *s; s++) {
        if (*s == '"')
            *p++ = '"';
        *p++ = *s;
    }
    p += sprintf(p, "/%s%s,%u\n", path, quote ? "\"" : "",
                 wr_gen_label(cfg, i));
    return (size_t)(p - line);
}

static int write_lines(const struct wr_gen_run *run, struct list_out *o,
                       weir_err *err)
{
    char root[PATH_MAX], line[LINE_MAX_BYTES];
    size_t cap = (size_t)1 << 16, used = 0, len;
    uint64_t at = 0;
    char *buf = malloc(cap);
    int r = 0;

    if (!buf)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    name_root(run, o, root);
    for (uint64_t i = 0; r == 0 && i < run->cfg.samples; i++) {
        len = format_line(&run->cfg, root, i, line);
        if (used + len > cap) {
            r = o->file->ops->write(o->file, buf, used, at, err);
            at += used;
            used = 0;
        }
        memcpy(buf + used, line, len);
        used += len;
    }
    if (r == 0)
        r = o->file->ops->write(o->file, buf, used, at, err);
    free(buf);
    return r;
}

int wr_gen_list_write(const struct wr_gen_run *run, weir_err *err)
{
    struct list_out o = {0};
    int r = wr_beside_init(&o.at, run->cfg.list, err);

    if (r == 0)
        r = out_create(&o, err);
    if (r == 0)
        r = write_lines(run, &o, err);
    if (r == 0) {
        r = o.file->ops->close(o.file, /* sync= */ false, err);
        o.file = NULL;
        if (r == 0)
            r = o.at.store->ops->change(o.at.store, WR_RENAME, o.at.part,
                                        o.at.name, err);
    }
    out_done(&o);
    return r;
}
