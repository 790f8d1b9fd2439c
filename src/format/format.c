/* format.c - the registry of formats, and what indexers share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "base/named.h"
#include "format/files.h"
#include "format/guess.h"

/* --- where it begins --- */

/* "NAME=": letters, digits, '_', '-' and '.'. */
static bool starts_like_pair(const char *text)
{
    size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuv"
                            "wxyz0123456789_-.");

    return n && text[n] == '=';
}

/* Opens `plain` (which is freed, and may be NULL), what stands before a '#';
 * `behind` is what stands behind it. */
static int open_before(char *plain, const char *behind, unsigned flags,
                       struct wr_store **ret, char **ret_leaf,
                       char **ret_fragment)
{
    char *fragment = strdup(behind);
    int r = plain && fragment ? 0 : WEIR_ENOMEM;

    if (r == 0)
        r = wr_store_open_with(plain, flags, ret, ret_leaf, NULL);
    free(plain);
    if (r < 0)
        free(fragment);
    else
        *ret_fragment = fragment;
    return r;
}

int wr_fragment_open(const char *url, unsigned flags, struct wr_store **ret,
                     char **ret_leaf, char **ret_fragment, weir_err *err)
{
    weir_err whole;
    int r = wr_store_open_with(url, flags, ret, ret_leaf, &whole);

    *ret_fragment = NULL;
    if (r == 0)
        return 0;
    for (const char *at = strchr(url, '#'); at; at = strchr(at + 1, '#')) {
        int before = WEIR_ENOENT;

        if (starts_like_pair(at + 1))
            before = open_before(strndup(url, (size_t)(at - url)), at + 1,
                                 flags, ret, ret_leaf, ret_fragment);
        if (before == 0)
            return 0;
        if (before == WEIR_ENOMEM)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    return wr_fail(err, r, "%s", whole.msg);
}

/* --- its pairs --- */

static int fail_pair(const char *pair, size_t len, const char *why,
                     weir_err *err)
{
    return wr_fail(err, WEIR_EINVAL, "'#%.*s': %s",
                   (int)(len < 200 ? len : 200), pair, why);
}

static int add_pair(struct wr_fragment *f, const char *text, size_t len,
                    weir_err *err)
{
    const char *equals = memchr(text, '=', len);
    size_t name_len = equals ? (size_t)(equals - text) : 0;
    size_t value_len = equals ? len - name_len - 1 : 0;
    struct wr_fragment_pair *p;

    if (!name_len || !value_len)
        return fail_pair(text, len, "write NAME=VALUE", err);
    if (f->count == WR_FRAGMENT_PAIRS)
        return fail_pair(text, len, "more than 64 of them", err);
    if (name_len >= WR_FRAGMENT_NAME || value_len >= WR_FRAGMENT_VALUE)
        return fail_pair(text, len, "too long", err);
    p = &f->pairs[f->count];
    memcpy(p->name, text, name_len);
    p->name[name_len] = '\0';
    memcpy(p->value, equals + 1, value_len);
    p->value[value_len] = '\0';
    if (wr_fragment_find(f, p->name))
        return fail_pair(text, len, "the name is there twice", err);
    f->count++;
    return 0;
}

int wr_fragment_parse(const char *text, struct wr_fragment *ret, weir_err *err)
{
    int r = 0;

    ret->count = 0;
    for (const char *at = text; at && r == 0;) {
        size_t len = strcspn(at, ",");

        r = add_pair(ret, at, len, err);
        at = at[len] ? at + len + 1 : NULL;
    }
    return r;
}

const char *wr_fragment_find(const struct wr_fragment *f, const char *name)
{
    int k = wr_named_text(f->pairs, f->count, sizeof(*f->pairs), name);

    return k < 0 ? NULL : f->pairs[k].value;
}

int wr_fragment_check(const struct wr_fragment *f, const char *const *known,
                      weir_err *err)
{
    char all[256] = "";

    for (unsigned k = 0; k < f->count; k++) {
        if (wr_named_find(WR_NAMED_OPEN(known), f->pairs[k].name))
            continue;
        for (unsigned n = 0; known[n]; n++)
            snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
                     n ? ", " : "", known[n]);
        return wr_fail(err, WEIR_EINVAL, "'#%s=%s': the name is none of %s",
                       f->pairs[k].name, f->pairs[k].value, all);
    }
    return 0;
}

#define PROGRESS_NS (100 * WR_NS_PER_MS)

static const struct wr_format_ops *const formats[] = {
#define FORMAT(name) &wr_format_##name,
#include "format/formats.def"
};

const struct wr_format_ops *wr_format_at(unsigned k)
{
    return k < WR_ARRAY_LEN(formats) ? formats[k] : NULL;
}

const struct wr_format_ops *wr_format_find(const char *name)
{
    return wr_named_ops(formats, WR_ARRAY_LEN(formats), name);
}

int wr_format_probe(const struct wr_format_ops *f, struct wr_store *st,
                    const char *leaf)
{
    return f->probe ? f->probe(st, leaf) : wr_files_probe(&f->files, st, leaf);
}

int wr_format_choose(const struct wr_index_job *job,
                     const struct wr_format_ops **ret, weir_err *err)
{
    const struct wr_format_ops *best = NULL;
    int best_score = 0;

    for (unsigned k = 0; k < WR_ARRAY_LEN(formats); k++) {
        bool fits = (!job->fragment || formats[k]->takes_fragment) &&
                    (!job->leaf || !job->cfg->columns ||
                     formats[k]->takes_root);
        int score = fits ? wr_format_probe(formats[k], job->leaf_store,
                                           job->leaf)
                         : 0;

        if (score < 0)
            return wr_fail(err, score, "%s", weir_strerror(score));
        if (score > best_score) {
            best_score = score;
            best = formats[k];
        }
    }
    if (job->leaf && best_score <= WR_PROBE_GUESS) {
        int lack;
        const char *name = wr_foreign_name(job->leaf_store, job->leaf, &lack);

        if (lack < 0)
            return wr_fail(err, lack, "%s", weir_strerror(lack));
        if (name)
            return wr_fail(err, WEIR_ENOTSUP, "%s", name);
    }
    *ret = best;
    return 0;
}

bool wr_name_has_ext(const char *name, const char *exts)
{
    size_t n = strlen(name), e;

    for (; *exts; exts += e + (exts[e] == ' ')) {
        e = strcspn(exts, " ");
        if (n > e && !wr_strncasecmp(name + n - e, exts, e))
            return true;
    }
    return false;
}

int wr_index_job_progress(struct wr_index_job *job, weir_err *err)
{
    uint64_t now;

    if (job->lack.code)
        return wr_fail(err, job->lack.code, "%s", job->lack.msg);
    if (!job->cfg->progress)
        return 0;
    now = wr_clock_ns();
    if (now < job->next_progress_ns)
        return 0;
    job->next_progress_ns = now + PROGRESS_NS;
    if (job->cfg->progress(job->cfg->progress_arg,
                           wr_index_count(job->index)) != 0)
        return wr_fail(err, WEIR_ECANCELED, "canceled while indexing");
    return 0;
}

bool wr_index_fails(int code)
{
    return wr_err_is_lack(code) || code == WEIR_EIO;
}

void wr_index_job_issue(struct wr_index_job *job, const char *name,
                        const weir_err *e)
{
    const char *past = wr_error_past_name(e->msg, name);
    const char *text = past && !strncmp(past, ": ", 2) ? past + 2 : e->msg;

    if (wr_index_fails(e->code))
        wr_fail(&job->lack, e->code, "'%s': %s", name, text);
    else
        wr_index_add_issue(job->index, name, e->code, text);
}

int wr_index_job_picture(struct wr_index_job *job, bool unpacked, weir_err *err)
{
    struct wr_field image = wr_guess_field("image", WEIR_FIELD_PICTURE,
                                           WEIR_U8);

    image.unpacked = unpacked;
    return wr_index_add_field(job->index, &image, err);
}

int wr_index_job_stamp(struct wr_index_job *job, const char *path,
                       const struct wr_stat *st, weir_err *err)
{
    const struct wr_stamp stamp = {
        .dev = st->dev,
        .ino = st->ino,
        .size = st->size,
        .mtime_ns = st->mtime_ns,
        .identity = st->identity,
    };

    if (st->link)
        wr_index_job_link(job, path);
    return wr_index_add_stamp(job->index, path, &stamp, err);
}

void wr_index_job_link(struct wr_index_job *job, const char *path)
{
    wr_index_add_link(job->index);
    if (job->cfg->no_links && !job->lack.code)
        wr_fail(&job->lack, WEIR_EACCES,
                "'%s': is a symbolic link, and links are refused here", path);
}

int wr_index_job_open(struct wr_index_job *job, const char *path,
                      struct wr_object **ret, uint64_t *ret_size, weir_err *err)
{
    struct wr_store *store = job->store;
    struct wr_stat st;
    int r;

    r = store->ops->stat(store, path, &st, err);
    if (r < 0)
        return r;
    if (st.kind != WR_KIND_FILE)
        return wr_fail(err, WEIR_EFORMAT, "not a regular file");
    r = wr_index_job_stamp(job, path, &st, err);
    if (r < 0)
        return r;
    *ret_size = st.size;
    return store->ops->object_open(store, path, WR_OPEN_READ, ret, err);
}
