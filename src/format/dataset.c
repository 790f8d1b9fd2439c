/* dataset.c - the public face of an indexed data set.
 * SPDX-License-Identifier: Apache-2.0 */
#include "weir/dataset.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "base/text.h"
#include "format/files.h"
#include "format/format.h"
#include "format/index_cache.h"
#include "format/listing.h"
#include "format/remarks.h"

#define MAX_PATH 4096

void weir_dataset_defaults_sized(weir_dataset_config *cfg, size_t size)
{
    wr_sized_give(cfg, size, &size, sizeof(size)); /* the first member */
}

static int fail_format(const char *name, weir_err *err)
{
    char known[256] = "";

    for (unsigned k = 0; wr_format_at(k); k++) {
        size_t used = strlen(known);

        snprintf(known + used, sizeof(known) - used, "%s%s", k ? ", " : "",
                 wr_format_at(k)->name);
    }
    return wr_fail(err, WEIR_EINVAL, "format '%s' is not one of %s", name,
                   known);
}

static int choose_format(weir_dataset *ds, struct wr_index_job *job,
                         weir_err *err)
{
    const char *name = job->cfg->format;
    int r = 0;

    if (name)
        ds->format = wr_format_find(name);
    else
        r = wr_format_choose(job, &ds->format, err);
    if (r < 0)
        return wr_fail_prefix(err, r, "'%s'", ds->url);
    if (ds->format && job->fragment && !ds->format->takes_fragment)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': the format '%s' takes no '#%.200s'", ds->url,
                       name, job->fragment);
    if (ds->format)
        return 0;
    if (name)
        return fail_format(name, err);
    if (job->fragment)
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s': no format reads this that takes '#%.200s'",
                       ds->url, job->fragment);
    return wr_fail(err, WEIR_ENOTSUP, "'%s': no format reads this", ds->url);
}

static unsigned open_flags(const weir_dataset_config *cfg)
{
    return cfg->no_links ? WR_STORE_NO_LINKS : 0;
}

/* A list's objects may lie below another root than the list itself. */
static int open_root(weir_dataset *ds, const weir_dataset_config *cfg,
                     weir_err *err)
{
    const char *root = cfg->root;
    struct wr_store *store;
    char *leaf = NULL;
    int r;

    r = wr_store_open_with(root, open_flags(cfg), &store, &leaf, err);
    if (r < 0)
        return r;
    if (leaf) {
        wr_store_close(store);
        free(leaf);
        return wr_fail(err, WEIR_EINVAL, "root '%s': a file, not a folder",
                       root);
    }
    ds->store = store;
    return 0;
}

/* "; 'a.parquet': a Parquet file ..." of the first file that was ignored, if it
 * can be told. */
static void foreign_text(const weir_dataset *ds, char *buf, size_t cap)
{
    static const struct wr_format_files ignored = {
        .is_name = wr_ignored_counts};
    char path[MAX_PATH], shown[MAX_PATH];
    const char *name;
    int lack;

    if (wr_files_peek(&ignored, ds->store, path, sizeof(path)) <= 0)
        return;
    name = wr_foreign_name(ds->store, path, &lack);
    if (name)
        snprintf(buf, cap, "; '%s': %s",
                 wr_text_show(path, true, shown, sizeof(shown)), name);
}

/* "; ask for the format tar, ..." where a folder was taken for pictures because it
 * has folders in it, and another format knows files there. */
static void other_text(const weir_dataset *ds, char *buf, size_t cap)
{
    const struct wr_format_ops *f, *best = NULL;
    int best_score = 0;

    for (unsigned k = 0; (f = wr_format_at(k)); k++) {
        int score = f != ds->format ? wr_format_probe(f, ds->store, NULL) : 0;

        if (score > best_score) {
            best_score = score;
            best = f;
        }
    }
    if (best)
        snprintf(buf, cap,
                 "; ask for the format %s, which reads files that are there",
                 best->name);
}

/* No samples is a failure: of a data set, its name, or its rights. */
static int check_not_empty(const weir_dataset *ds, bool folder, weir_err *err)
{
    const weir_issue *first = wr_index_issue(ds->index, 0);
    uint64_t count = wr_index_issue_count(ds->index);
    char ignored[WR_REMARK_BYTES], foreign[WR_REMARK_BYTES] = "";

    if (wr_index_count(ds->index))
        return 0;
    if (first)
        return wr_fail(err, first->code,
                       "'%s': no samples (format %s), %" PRIu64
                       " problem%s; the first: '%s': %s",
                       ds->url, ds->format->name, count, count == 1 ? "" : "s",
                       first->name, first->reason);
    if (folder)
        other_text(ds, foreign, sizeof(foreign));
    if (folder && !foreign[0])
        foreign_text(ds, foreign, sizeof(foreign));
    if (wr_remark_ignored(ds->index, ignored, sizeof(ignored)))
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': no samples (format %s%s%s); %s%s", ds->url,
                       ds->format->name, foreign[0] ? "" : ": ",
                       foreign[0] ? "" : ds->format->help, ignored, foreign);
    return wr_fail(err, WEIR_EFORMAT, "'%s': no samples (format %s%s%s)%s",
                   ds->url, ds->format->name, foreign[0] ? "" : ": ",
                   foreign[0] ? "" : ds->format->help, foreign);
}

/* Opens the store of the objects, if it is another one than the leaf's and
 * not open yet. */
static int settle_store(weir_dataset *ds, struct wr_index_job *job,
                        weir_err *err)
{
    int r = 0;

    if (!ds->store && job->cfg->root)
        r = open_root(ds, job->cfg, err);
    else if (!ds->store)
        ds->store = job->leaf_store;
    if (r == 0)
        job->store = ds->store;
    return r;
}

/* Takes the index from its side file, if there is one that is still true. */
static bool reuse_index(weir_dataset *ds, struct wr_index_job *job,
                        struct wr_index_cache *cache)
{
    if (settle_store(ds, job, NULL) < 0)
        return false; /* building will tell */
    wr_index_cache_init(cache, job);
    ds->index_reused = wr_index_cache_load(cache, job->store, &ds->index,
                                           &ds->format);
    if (ds->index_reused && job->cfg->no_links &&
        (wr_index_link_count(ds->index) || ds->format->takes_root)) {
        wr_index_free(ds->index); /* building will name the first one */
        ds->index = NULL;
        ds->index_reused = false;
    }
    return ds->index_reused;
}

/* Parts that are delivered as they lie must have the size that was declared. */
static int check_sizes(const struct wr_index *ix, const struct wr_field *f,
                       weir_err *err)
{
    uint64_t span = f->column == WR_NO_COLUMN ? 0 : wr_field_span(f);
    struct wr_part p;

    for (uint64_t i = 0; span && !f->unpacked && i < wr_index_count(ix); i++) {
        wr_index_part(ix, f->column, i, &p);
        if (p.length != span)
            return wr_fail(err, WEIR_EINVAL,
                           "schema: '%s' has %" PRIu64
                           " bytes in sample %" PRIu64 ", not the %" PRIu64
                           " declared",
                           f->name, p.length, i, span);
    }
    return 0;
}

/* What the user says of the fields. */
static int declare(weir_dataset *ds, const char *text, weir_err *err)
{
    struct wr_schema *s = wr_index_fields(ds->index);
    const char *why;
    int r = wr_schema_declare(s, text, err);

    wr_index_order(ds->index);
    for (unsigned k = 0; k < s->count && r == 0; k++)
        r = check_sizes(ds->index, &s->fields[k], err);
    if (r < 0)
        return r;
    wr_index_add_declared(ds->index, text);
    why = wr_schema_check(s, wr_index_columns(ds->index));
    return why ? wr_fail(err, WEIR_EINVAL, "schema '%s': %s", text, why) : 0;
}

/* The fields as users see them. */
static int publish_fields(weir_dataset *ds, weir_err *err)
{
    const struct wr_schema *s = wr_index_schema(ds->index);

    ds->fields = calloc((size_t)s->count + 1, sizeof(*ds->fields));
    if (!ds->fields)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (unsigned k = 0; k < s->count; k++)
        ds->fields[k] = s->fields[k].pub;
    return 0;
}

static int build_index(weir_dataset *ds, struct wr_index_job *job,
                       weir_err *err)
{
    int r;

    r = choose_format(ds, job, err);
    if (r < 0)
        return r;
    if (job->cfg->root && !ds->format->takes_root)
        return wr_fail(err, WEIR_EINVAL,
                       "a root is for lists; '%s' has the format '%s'", ds->url,
                       ds->format->name);
    if (job->cfg->columns && !ds->format->takes_root)
        return wr_fail(err, WEIR_EINVAL,
                       "columns are of lists; '%s' has the format '%s'",
                       ds->url, ds->format->name);
    r = settle_store(ds, job, err);
    if (r < 0)
        return r;
    ds->index = wr_index_new();
    if (!ds->index)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    job->index = ds->index;
    r = ds->format->index(job, err);
    if (r == 0 && job->lack.code)
        r = wr_fail(err, job->lack.code, "%s", job->lack.msg);
    if (r < 0)
        return r;
    if (job->fragment)
        wr_index_add_declared(ds->index, job->fragment);
    if (job->cfg->schema)
        r = declare(ds, job->cfg->schema, err);
    if (r == 0)
        r = wr_index_seal(ds->index, err);
    return r < 0 ? r : check_not_empty(ds, !job->leaf, err);
}

static int index_dataset(weir_dataset *ds, struct wr_index_job *job,
                         weir_err *err)
{
    struct wr_index_cache cache = {0};
    int r = 0;

    if (!reuse_index(ds, job, &cache)) {
        r = build_index(ds, job, err);
        if (r == 0)
            wr_index_cache_save(&cache, ds->index, ds->format->name);
        if (r == 0 && cache.strange.code)
            wr_index_add_remark(ds->index, cache.strange.msg);
    }
    if (r == 0)
        r = publish_fields(ds, err);
    wr_index_cache_done(&cache);
    return r;
}

int weir_dataset_open(weir_dataset **ret, const char *url,
                      const weir_dataset_config *cfg, weir_err *err)
{
    weir_dataset_config own;
    struct wr_index_job job = {0};
    weir_dataset *ds;
    char *leaf = NULL, *fragment = NULL;
    int r = 0;

    if (!ret || !url)
        return wr_fail(err, WEIR_EINVAL, "no URL, or nowhere to put it");
    weir_dataset_defaults(&own);
    if (cfg)
        r = wr_sized_take(&own, sizeof(own), cfg, "weir_dataset_defaults", err);
    if (r < 0)
        return r;
    job.cfg = &own;
    ds = calloc(1, sizeof(*ds));
    if (!ds || !(ds->url = strdup(url))) {
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
        goto out;
    }
    r = wr_fragment_open(url, open_flags(&own), &job.leaf_store, &leaf,
                         &fragment, err);
    if (r < 0)
        goto out;
    if (fragment) /* the rest is the name of the data */
        ds->url[strlen(url) - strlen(fragment) - 1] = '\0';
    job.leaf = leaf;
    job.fragment = fragment;
    r = index_dataset(ds, &job, err);
    if (ds->store == job.leaf_store)
        job.leaf_store = NULL; /* the data set's own */
    if (r == 0) {
        *ret = ds;
        ds = NULL;
    }
out:
    wr_store_close(job.leaf_store);
    weir_dataset_close(&ds);
    free(leaf);
    free(fragment);
    return r;
}

void weir_dataset_close(weir_dataset **ds)
{
    if (!ds || !*ds)
        return;
    free((*ds)->fields);
    wr_index_free((*ds)->index);
    wr_store_close((*ds)->store);
    free((*ds)->url);
    free(*ds);
    *ds = NULL;
}

uint64_t weir_dataset_count(const weir_dataset *ds)
{
    return wr_index_count(ds->index);
}

uint64_t weir_dataset_bytes(const weir_dataset *ds)
{
    return wr_index_bytes(ds->index);
}

uint64_t weir_dataset_max_length(const weir_dataset *ds)
{
    return wr_index_max_length(ds->index);
}

const char *weir_dataset_format(const weir_dataset *ds)
{
    return ds->format->name;
}

const weir_field *weir_dataset_fields(const weir_dataset *ds,
                                      uint32_t *ret_count)
{
    *ret_count = wr_index_schema(ds->index)->count;
    return ds->fields;
}

uint32_t weir_dataset_class_count(const weir_dataset *ds)
{
    return wr_index_class_count(ds->index);
}

const char *weir_dataset_class_name(const weir_dataset *ds, uint32_t label)
{
    return wr_index_class_name(ds->index, label);
}

int weir_dataset_sample(const weir_dataset *ds, uint64_t i, char *name_buf,
                        size_t cap, weir_sample *ret, weir_err *err)
{
    struct wr_part p;

    if (i >= wr_index_count(ds->index))
        return wr_fail(err, WEIR_EINVAL,
                       "sample %" PRIu64 " of %" PRIu64 ": out of range", i,
                       wr_index_count(ds->index));
    wr_index_part(ds->index, 0, i, &p);
    if (cap)
        wr_index_object_path(ds->index, p.object, name_buf, cap);
    *ret = (weir_sample){
        .name = cap ? name_buf : NULL,
        .offset = p.offset,
        .length = p.length,
        .label = p.label,
    };
    return 0;
}

size_t weir_dataset_key(const weir_dataset *ds, uint64_t i, char *buf,
                        size_t cap)
{
    const char *name;
    struct wr_part p;
    size_t len;
    char *dot;

    if (i >= wr_index_count(ds->index))
        return 0;
    name = wr_index_sample_name(ds->index, i);
    if (name)
        return (size_t)snprintf(buf, cap, "%s", name);
    wr_index_part(ds->index, 0, i, &p);
    if (!p.whole) {
        if (cap)
            buf[0] = '\0';
        return 0;
    }
    len = wr_index_object_path(ds->index, p.object, buf, cap);
    dot = len < cap ? strrchr(buf, '.') : NULL;
    if (!dot || strchr(dot, '/') || dot == buf || dot[-1] == '/')
        return len;
    *dot = '\0';
    return (size_t)(dot - buf);
}

int weir_dataset_index_reused(const weir_dataset *ds)
{
    return ds->index_reused;
}

uint64_t weir_dataset_ignored_count(const weir_dataset *ds)
{
    return wr_ignored_files(wr_index_ignored(ds->index));
}

const char *weir_dataset_ignored(const weir_dataset *ds, uint32_t k,
                                 uint64_t *ret_files)
{
    const struct wr_ignored *ig = wr_index_ignored(ds->index);

    if (k >= ig->count)
        return NULL;
    *ret_files = ig->list[k].files;
    return ig->list[k].ext;
}

uint64_t weir_dataset_link_count(const weir_dataset *ds)
{
    return wr_index_link_count(ds->index);
}

uint64_t weir_dataset_issue_count(const weir_dataset *ds)
{
    return wr_index_issue_count(ds->index);
}

const weir_issue *weir_dataset_issue(const weir_dataset *ds, uint64_t k)
{
    return wr_index_issue(ds->index, k);
}
