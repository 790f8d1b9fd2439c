/* storage.c - the registry of storage backends, URLs, and small helpers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "storage/storage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

/* One line per backend. The first is taken for URLs without a scheme. */
static const struct wr_storage_ops *const backends[] = {
    &wr_storage_file,
    &wr_storage_fault,
    &wr_storage_emu,
};

const struct wr_storage_ops *wr_storage_at(unsigned k)
{
    return k < WR_ARRAY_LEN(backends) ? backends[k] : NULL;
}

/* The backend that a URL names, NULL when it is a plain path. */
static const struct wr_storage_ops *by_scheme(const char *url)
{
    for (unsigned k = 0; k < WR_ARRAY_LEN(backends); k++) {
        size_t n = strlen(backends[k]->name);

        if (!strncmp(url, backends[k]->name, n) && url[n] == ':')
            return backends[k];
    }
    return NULL;
}

const char *wr_url_path(const char *url)
{
    const struct wr_storage_ops *ops;
    const char *colon;

    while ((ops = by_scheme(url))) {
        url += strlen(ops->name) + 1;
        if (!ops->wraps)
            break;
        colon = strchr(url, ':');
        if (!colon)
            break;
        url = colon + 1;
    }
    return url;
}

int wr_url_split(const char *url, char **ret_parent, char **ret_name,
                 weir_err *err)
{
    const char *path = wr_url_path(url), *slash;
    int scheme = (int)(path - url), r;
    size_t len = strlen(path);
    char *parent = NULL, *name;

    while (len > 1 && path[len - 1] == '/')
        len--;
    slash = memrchr(path, '/', len);
    name = slash ? strndup(slash + 1, len - (size_t)(slash + 1 - path))
                 : strndup(path, len);
    r = !slash          ? asprintf(&parent, "%.*s.", scheme, url)
        : slash == path ? asprintf(&parent, "%.*s/", scheme, url)
                        : asprintf(&parent, "%.*s", (int)(slash - url), url);
    if (r < 0)
        parent = NULL; /* what it is then is not said */
    if (!parent || !name)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    else if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
        r = wr_fail(err, WEIR_EINVAL, "'%s': names no entry of a folder", url);
    if (r < 0) {
        free(parent);
        free(name);
        return r;
    }
    *ret_parent = parent;
    *ret_name = name;
    return 0;
}

/* "s3" of "s3://bucket/x": its length; 0 for what does not look so. */
static size_t scheme_len(const char *url)
{
    size_t n = strspn(url, "abcdefghijklmnopqrstuvwxyz0123456789+.-");

    return n && url[0] >= 'a' && url[0] <= 'z' && !strncmp(url + n, "://", 3)
               ? n
               : 0;
}

static int fail_scheme(const char *url, size_t len, weir_err *err)
{
    char all[128] = "";
    size_t used = 0;

    for (unsigned k = 0; k < WR_ARRAY_LEN(backends) && used < sizeof(all); k++)
        used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
                                 k ? ", " : "", backends[k]->name);
    return wr_fail(err, WEIR_ENOTSUP,
                   "'%s': no storage '%.*s'; there are %s (to name a path, "
                   "write ./%s)",
                   url, (int)len, url, all, url);
}

int wr_store_open_with(const char *url, unsigned flags, struct wr_store **ret,
                       char **ret_leaf, weir_err *err)
{
    const struct wr_storage_ops *ops = by_scheme(url);

    if (ops)
        return ops->open(url + strlen(ops->name) + 1, flags, ret, ret_leaf,
                         err);
    if (scheme_len(url))
        return fail_scheme(url, scheme_len(url), err);
    return backends[0]->open(url, flags, ret, ret_leaf, err);
}

int wr_store_open(const char *url, struct wr_store **ret, char **ret_leaf,
                  weir_err *err)
{
    return wr_store_open_with(url, 0, ret, ret_leaf, err);
}

int wr_store_open_own(const char *url, struct wr_store **ret, weir_err *err)
{
    struct wr_store *st;
    char *leaf;
    int r = wr_store_open_with(url, WR_STORE_OWN, &st, &leaf, err);

    if (r < 0)
        return r;
    if (leaf) {
        free(leaf);
        wr_store_close(st);
        return wr_fail(err, WEIR_EINVAL, "'%s': not a folder", url);
    }
    *ret = st;
    return 0;
}

void wr_store_close(struct wr_store *st)
{
    if (st)
        st->ops->close(st);
}

size_t wr_read_cap(size_t len, bool direct)
{
    /* Direct: the range may begin and end inside an aligned block. */
    return direct
               ? WR_ALIGN_UP(len + 1, (size_t)WR_DIRECT_ALIGN) + WR_DIRECT_ALIGN
               : len + 1;
}

void wr_queue_hurry(struct wr_queue *q)
{
    if (q && q->ops->hurry)
        q->ops->hurry(q);
}

int wr_io_error(const struct wr_io *rd, const char *name, weir_err *err)
{
    if (rd->step == WR_STEP_WRITE)
        return wr_fail_errno(err, rd->os_errno,
                             "'%s': cannot write %zu bytes at offset %" PRIu64,
                             name, rd->len, rd->offset);
    if (rd->step == WR_STEP_COMPARE)
        return wr_fail(err, rd->result,
                       "'%s': replaced or written to since it was indexed",
                       name);
    if (rd->result == WEIR_ECHANGED && rd->got < rd->len)
        return wr_fail(err, rd->result,
                       "'%s': ends at byte %" PRIu64 ", %" PRIu64
                       " bytes were indexed",
                       name, rd->offset + rd->got, rd->offset + rd->len);
    if (rd->result == WEIR_ECHANGED)
        return wr_fail(err, rd->result,
                       "'%s': longer than the %" PRIu64 " bytes indexed", name,
                       rd->offset + rd->len);
    if (rd->step == WR_STEP_OPEN && rd->os_errno == ENXIO)
        return wr_fail(err, rd->result, "'%s': is no regular file (any more)",
                       name);
    if (rd->step == WR_STEP_OPEN)
        return wr_fail_errno(err, rd->os_errno, "'%s': cannot open", name);
    return wr_fail_errno(err, rd->os_errno,
                         "'%s': cannot read %zu bytes at offset %" PRIu64, name,
                         rd->len, rd->offset);
}

static int fail_read_only(weir_err *err)
{
    return wr_fail(err, WEIR_ENOTSUP, "read-only storage");
}

static int fail_lockless(weir_err *err)
{
    return wr_fail(err, WEIR_ENOTSUP, "storage without locks");
}

int wr_object_write(struct wr_object *o, const void *buf, size_t len,
                    uint64_t offset, weir_err *err)
{
    return o->ops->write ? o->ops->write(o, buf, len, offset, err)
                         : fail_read_only(err);
}

int wr_object_sync(struct wr_object *o, weir_err *err)
{
    return o->ops->sync ? o->ops->sync(o, err) : fail_read_only(err);
}

int wr_object_lock(struct wr_object *o, weir_err *err)
{
    return o->ops->lock ? o->ops->lock(o, err) : fail_lockless(err);
}

int wr_object_locked(struct wr_object *o, weir_err *err)
{
    return o->ops->locked ? o->ops->locked(o, err) : fail_lockless(err);
}

int wr_object_resize(struct wr_object *o, uint64_t size, weir_err *err)
{
    return o->ops->resize ? o->ops->resize(o, size, err) : fail_read_only(err);
}

int wr_store_change(struct wr_store *st, enum wr_change what, const char *path,
                    const char *to, weir_err *err)
{
    return st->ops->change ? st->ops->change(st, what, path, to, err)
                           : fail_read_only(err);
}

int wr_store_space(struct wr_store *st, uint64_t *ret_bytes, weir_err *err)
{
    return st->ops->space
               ? st->ops->space(st, ret_bytes, err)
               : wr_fail(err, WEIR_ENOTSUP, "free space is not known");
}

int64_t wr_object_read_all(struct wr_object *o, void *buf, size_t len,
                           uint64_t offset, weir_err *err)
{
    size_t done = 0;
    int64_t n = 1;

    while (done < len && n > 0) {
        n = o->ops->read(o, (uint8_t *)buf + done, len - done, offset + done,
                         err);
        done += n > 0 ? (size_t)n : 0;
    }
    return n < 0 ? n : (int64_t)done;
}

int wr_object_read_fully(struct wr_object *o, void *buf, size_t len,
                         uint64_t offset, weir_err *err)
{
    int64_t n = wr_object_read_all(o, buf, len, offset, err);

    if (n < 0)
        return (int)n;
    return (size_t)n == len
               ? 0
               : wr_fail(err, WEIR_EFORMAT, "truncated at byte %" PRIu64,
                         offset + (uint64_t)n);
}

static int slurp_object(struct wr_object *o, size_t limit, char **ret,
                        size_t *ret_len, weir_err *err)
{
    char *text = NULL;
    size_t cap = 0, len = 0;
    int64_t n;

    for (;;) {
        if (!wr_grow(&text, &cap, len + 65536 + 1, 1)) {
            free(text);
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        }
        n = o->ops->read(o, text + len, cap - len - 1, len, err);
        if (n < 0) {
            free(text);
            return (int)n;
        }
        len += (size_t)n;
        if (n == 0)
            break;
        if (len > limit) {
            free(text);
            return wr_fail(err, WEIR_ELIMIT, "larger than %zu bytes", limit);
        }
    }
    text[len] = '\0';
    *ret = text;
    *ret_len = len;
    return 0;
}

int wr_store_slurp(struct wr_store *st, const char *path, size_t limit,
                   char **ret, size_t *ret_len, weir_err *err)
{
    struct wr_object *o;
    int r;

    r = st->ops->object_open(st, path, WR_OPEN_READ, &o, err);
    if (r < 0)
        return r;
    r = slurp_object(o, limit, ret, ret_len, err);
    o->ops->close(o, /* sync= */ false, NULL);
    if (r < 0)
        return wr_fail_prefix(err, r, "'%s'", path);
    return 0;
}
