/* textsets.h - a data set of text, opened and unpacked as a worker does it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FORMAT_TEXTSETS_H
#define TEST_FORMAT_TEXTSETS_H

#include "format/decode.h"
#include "format/format.h"
#include "tmpdir.h"
#include "weir/dataset.h"

struct textset {
    struct tmpdir dir;
    weir_dataset *ds; /* NULL: it did not open */
    struct wr_unpack u;
    uint8_t *bytes; /* of the sample read last */
    weir_err err;
};

/* Opens "<tmp>/NAME<what>" as `format` says (NULL: detected). */
static inline int textset_open(struct textset *t, const char *what,
                               const char *format, const char *schema)
{
    weir_dataset_config cfg;
    int r;

    weir_dataset_close(&t->ds);
    wr_unpack_done(&t->u);
    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    cfg.format = format;
    cfg.schema = schema;
    r = weir_dataset_open(&t->ds, tmpdir_at(&t->dir, what), &cfg, &t->err);
    if (r == 0 &&
        wr_unpack_init(&t->u, wr_index_schema(t->ds->index), NULL) < 0)
        abort();
    return r;
}

/* One file, and the data set that it is. */
static inline int textset_make(struct textset *t, const char *name,
                               const char *text, size_t len, const char *schema)
{
    char file[256];

    memset(t, 0, sizeof(*t));
    tmpdir_init(&t->dir);
    snprintf(file, sizeof(file), "%.*s", (int)strcspn(name, "#"), name);
    tmpdir_put(&t->dir, file, text, len);
    return textset_open(t, name, strstr(name, "json") ? "json" : "csv", schema);
}

static inline void textset_done(struct textset *t)
{
    weir_dataset_close(&t->ds);
    wr_unpack_done(&t->u);
    free(t->bytes);
    tmpdir_done(&t->dir);
}

/* All fields of sample i into t->u; *ret_label: its label. */
static inline int textset_take(struct textset *t, uint64_t i,
                               uint32_t *ret_label)
{
    const struct wr_schema *s = wr_index_schema(t->ds->index);
    struct wr_sample io = {.id = i};
    struct wr_object *o;
    struct wr_part p;
    char path[256];
    int r;

    wr_index_part(t->ds->index, 0, i, &p);
    wr_index_object_path(t->ds->index, p.object, path, sizeof(path));
    if (t->ds->store->ops->object_open(t->ds->store, path, WR_OPEN_READ, &o,
                                       NULL) < 0)
        abort();
    free(t->bytes);
    t->bytes = malloc((size_t)p.length + !p.length);
    if (!t->bytes ||
        wr_object_read_fully(o, t->bytes, (size_t)p.length, p.offset, NULL) < 0)
        abort();
    o->ops->close(o, /* sync= */ false, NULL);
    io.bytes = t->bytes;
    io.len = (size_t)p.length;
    io.label = p.label;
    for (unsigned k = 0; k < s->count; k++)
        t->u.wanted[k] = true;
    r = t->ds->format->unpack(t->ds->index, 0, &io, &t->u, &t->err);
    if (ret_label)
        *ret_label = io.label;
    return r;
}

/* A field of the sample taken last. */
static inline struct wr_slice textset_field(const struct textset *t,
                                            const char *name)
{
    const struct wr_schema *s = wr_index_schema(t->ds->index);
    const struct wr_field *f = wr_schema_find(s, name);

    return f ? t->u.fields[f - s->fields] : (struct wr_slice){0};
}

static inline float textset_f32(const struct textset *t, const char *name,
                                size_t k)
{
    struct wr_slice s = textset_field(t, name);
    float v = -12345;

    if (s.bytes && (k + 1) * 4 <= s.len)
        memcpy(&v, s.bytes + 4 * k, sizeof(v));
    return v;
}

static inline bool textset_is(const struct textset *t, const char *name,
                              const char *text)
{
    struct wr_slice s = textset_field(t, name);

    return s.bytes && s.len == strlen(text) && !memcmp(s.bytes, text, s.len);
}

#endif
