/* index_file.c - an index into a file: docs/formats/index.md.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/index_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "format/index_file_private.h"

/* What is written, section by section. */
struct image {
    struct wr_index_file_header head;
    const void *at[WR_INDEX_SECTIONS];  /* borrowed */
    struct wr_index_file_issue *issues; /* owned */
    char *texts;                        /* owned */
    size_t texts_len;
    struct wr_index_file_field *fields; /* owned */
};

static int pack_issues(struct image *im, const struct wr_index *ix)
{
    size_t cap = 0, need = 0;

    im->issues = calloc(ix->issue_kept + 1, sizeof(*im->issues));
    if (!im->issues)
        return WEIR_ENOMEM;
    for (size_t k = 0; k < ix->issue_kept; k++) {
        const weir_issue *i = &ix->issues[k];
        size_t name = strlen(i->name) + 1, reason = strlen(i->reason) + 1;

        if (!wr_add_ok(need, name + reason, &need) || need > UINT32_MAX)
            return WEIR_ELIMIT;
        if (!wr_grow(&im->texts, &cap, need, 1))
            return WEIR_ENOMEM;
        im->issues[k] = (struct wr_index_file_issue){
            .name = (uint32_t)im->texts_len,
            .reason = (uint32_t)(im->texts_len + name),
            .code = i->code,
        };
        memcpy(im->texts + im->texts_len, i->name, name);
        memcpy(im->texts + im->texts_len + name, i->reason, reason);
        im->texts_len = need;
    }
    return 0;
}

static int pack_fields(struct image *im, const struct wr_schema *s)
{
    im->fields = calloc((size_t)s->count + 1, sizeof(*im->fields));
    if (!im->fields)
        return WEIR_ENOMEM;
    for (unsigned k = 0; k < s->count; k++) {
        const struct wr_field *from = &s->fields[k];
        struct wr_index_file_field *to = &im->fields[k];

        memcpy(to->name, from->name, strlen(from->name));
        memcpy(to->path, from->path, strlen(from->path));
        memcpy(to->dims, from->pub.dims, from->pub.ndim * sizeof(to->dims[0]));
        if (from->strided)
            memcpy(to->strides, from->strides, sizeof(to->strides));
        if (from->tiled)
            memcpy(to->tile, from->tile, sizeof(to->tile));
        to->kind = from->pub.kind;
        to->dtype = from->pub.dtype;
        to->ndim = from->pub.ndim;
        to->column = from->column;
        to->scalar = from->scalar;
        to->flags = (from->pub.is_label ? WR_INDEX_FIELD_LABEL : 0u) |
                    (from->unpacked ? WR_INDEX_FIELD_UNPACKED : 0u) |
                    (from->strided ? WR_INDEX_FIELD_STRIDED : 0u) |
                    (from->scaled ? WR_INDEX_FIELD_SCALED : 0u) |
                    (from->swap ? WR_INDEX_FIELD_SWAP : 0u) |
                    (from->pub.is_extra ? WR_INDEX_FIELD_EXTRA : 0u) |
                    (from->tiled ? WR_INDEX_FIELD_TILED : 0u);
    }
    return 0;
}

static void add_section(struct image *im, unsigned k, const void *at,
                        size_t bytes)
{
    uint64_t end = k ? im->head.section[k - 1].offset +
                           im->head.section[k - 1].bytes
                     : sizeof(struct wr_index_file_header);

    im->at[k] = at;
    im->head.section[k] = (struct wr_index_file_section){
        WR_ALIGN_UP(end, (uint64_t)WR_INDEX_ALIGN), bytes};
    im->head.file_bytes = im->head.section[k].offset + bytes;
}

static void fill_header(struct wr_index_file_header *h,
                        const struct wr_index *ix)
{
    memcpy(h->magic, WR_INDEX_MAGIC, sizeof(h->magic));
    h->version = WR_INDEX_FILE_VERSION;
    h->byte_order = WR_INDEX_BYTE_ORDER;
    h->count = ix->totals.count;
    h->bytes = ix->totals.bytes;
    h->max_length = ix->totals.max_length;
    h->max_label_plus_1 = ix->totals.max_label_plus_1;
    h->issue_count = ix->issue_count;
    h->sections = WR_INDEX_SECTIONS;
    h->declared = ix->declared;
    h->links = ix->links;
}

static int make_image(struct image *im, const struct wr_index *ix,
                      const struct wr_index_about *about)
{
    int r = pack_issues(im, ix);

    if (r == 0)
        r = pack_fields(im, &ix->schema);
    if (r < 0)
        return r;
    fill_header(&im->head, ix);
    for (unsigned k = 0; k < WR_INDEX_ARRAYS; k++) {
        const char *base = (const char *)ix;
        size_t count;
        void *at;

        memcpy(&at, base + wr_index_arrays[k].array, sizeof(at));
        memcpy(&count, base + wr_index_arrays[k].count, sizeof(count));
        add_section(im, k, at, count * wr_index_arrays[k].elem);
    }
    add_section(im, WR_INDEX_KEY, about->key, strlen(about->key) + 1);
    add_section(im, WR_INDEX_FORMAT, about->format, strlen(about->format) + 1);
    add_section(im, WR_INDEX_ISSUES, im->issues,
                ix->issue_kept * sizeof(*im->issues));
    add_section(im, WR_INDEX_ISSUE_TEXTS, im->texts, im->texts_len);
    add_section(im, WR_INDEX_FIELDS, im->fields,
                ix->schema.count * sizeof(*im->fields));
    return 0;
}

static void image_done(struct image *im)
{
    free(im->fields);
    free(im->issues);
    free(im->texts);
    free(im);
}

/* Called for all bytes of the file in turn. */
typedef int (*emit_fn)(void *arg, const void *at, size_t len, weir_err *err);

static int emit_image(const struct image *im, emit_fn emit, void *arg,
                      weir_err *err)
{
    static const uint8_t zeros[WR_INDEX_ALIGN];
    uint64_t at = sizeof(im->head);
    int r = emit(arg, &im->head, sizeof(im->head), err);

    for (unsigned k = 0; k < WR_INDEX_SECTIONS && r == 0; k++) {
        const struct wr_index_file_section *s = &im->head.section[k];

        if (s->offset > at)
            r = emit(arg, zeros, (size_t)(s->offset - at), err);
        if (r == 0 && s->bytes)
            r = emit(arg, im->at[k], (size_t)s->bytes, err);
        at = s->offset + s->bytes;
    }
    return r;
}

struct hashing {
    XXH3_state_t *state; /* owned by the caller */
    size_t skip;         /* bytes that do not count */
};

static int emit_hash(void *arg, const void *at, size_t len, weir_err *err)
{
    struct hashing *h = arg;
    size_t skip = WR_MIN(h->skip, len);

    h->skip -= skip;
    XXH3_64bits_update(h->state, (const char *)at + skip, len - skip);
    return 0;
}

static int set_checksum(struct image *im)
{
    struct hashing h = {XXH3_createState(), WR_INDEX_CHECKED_FROM};

    if (!h.state)
        return WEIR_ENOMEM;
    XXH3_64bits_reset(h.state);
    emit_image(im, emit_hash, &h, NULL);
    im->head.checksum = XXH3_64bits_digest(h.state);
    XXH3_freeState(h.state);
    return 0;
}

struct writing {
    struct wr_object *object; /* borrowed */
    uint64_t at;
};

static int emit_write(void *arg, const void *at, size_t len, weir_err *err)
{
    struct writing *w = arg;
    int r = w->object->ops->write(w->object, at, len, w->at, err);

    w->at += len;
    return r;
}

static int write_image(const struct image *im, struct wr_store *st,
                       const char *name, weir_err *err)
{
    struct writing w = {0};
    int r, closed;

    r = st->ops->object_open(st, name, WR_OPEN_CREATE, &w.object, err);
    if (r < 0)
        return r;
    r = emit_image(im, emit_write, &w, err);
    closed = w.object->ops->close(w.object, /* sync= */ r == 0,
                                  r == 0 ? err : NULL);
    return r < 0 ? r : closed;
}

/* A name that no other builder takes and that nobody can foresee; should one
 * do so all the same, creating the file fails, and nothing is lost but this
 * side file. */
static void temp_name(const char *file, char *buf, size_t cap)
{
    uint64_t number;

    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
        number = wr_clock_ns() ^ (uint64_t)gettid() << 32;
    snprintf(buf, cap, "%s.%016" PRIx64 WR_INDEX_TEMP_SUFFIX, file, number);
}

int wr_index_save(const struct wr_index *ix, struct wr_store *st,
                  const char *file, const struct wr_index_about *about,
                  weir_err *err)
{
    struct image *im = calloc(1, sizeof(*im));
    char temp[512];
    int r;

    if (!im)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    temp_name(file, temp, sizeof(temp));
    r = make_image(im, ix, about);
    if (r == 0)
        r = set_checksum(im);
    if (r < 0) {
        wr_fail(err, r, "'%s': %s", file, weir_strerror(r));
        goto out;
    }
    r = write_image(im, st, temp, err);
    if (r == 0)
        r = st->ops->change(st, WR_RENAME, temp, file, err);
    if (r < 0 && r != WEIR_EEXIST)
        st->ops->change(st, WR_REMOVE, temp, NULL, NULL);
out:
    image_done(im);
    return r;
}
