/* remarks.c - what a user should know of a data set, in a sentence.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/remarks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/c_locale.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"
#include "codec/filters.h"
#include "format/index_private.h"
#include "format/listing.h"

/* --- how the samples of a field are cut, and what reading one costs --- */

/* Adds what column `column` costs for the first sample. */
static void add_tile(const struct wr_index *ix, unsigned column,
                     struct wr_chunks *c)
{
    const struct wr_unit *u;
    struct wr_part p;

    wr_index_part(ix, column, 0, &p);
    u = wr_part_is_packed(&p) ? wr_index_unit(ix, p.unit) : NULL;
    c->unpacked += u ? u->inflated : p.length;
    if (u && u->stored && !c->filters)
        c->filters = u->filters;
}

bool wr_chunks_of(const struct wr_index *ix, unsigned k, struct wr_chunks *ret)
{
    const struct wr_field *f = &wr_index_schema(ix)->fields[k];
    const struct wr_index_segment *s;
    struct wr_chunks c = {0};

    if (f->column == WR_NO_COLUMN || !wr_index_count(ix) ||
        !wr_field_bytes(&f->pub))
        return false;
    s = wr_index_find_segment(ix, f->column, 0);
    if (s->kind != WR_SEGMENT_TILES || !s->stride)
        return false;
    c.ndim = f->pub.ndim + 1;
    c.dims[0] = s->offset;
    memcpy(c.dims + 1, f->tiled ? f->tile : f->pub.dims,
           f->pub.ndim * sizeof(c.dims[0]));
    c.touched = wr_field_columns(f);
    for (unsigned t = 0; t < c.touched; t++)
        add_tile(ix, f->column + t, &c);
    c.amplification = (double)c.unpacked / (double)wr_field_bytes(&f->pub);
    *ret = c;
    return true;
}

const char *wr_chunks_text(const struct wr_chunks *c, char *buf, size_t cap)
{
    size_t used = 0;

    for (uint32_t k = 0; k < c->ndim && used < cap; k++)
        used += (size_t)snprintf(buf + used, cap - used, "%s%" PRIu64,
                                 k ? "x" : "", c->dims[k]);
    for (unsigned k = WR_FILTERS_MAX, n = 0; k-- > 0 && used < cap;) {
        unsigned filter = c->filters >> 8 * k & 0xff;

        if (filter)
            used += (size_t)snprintf(buf + used, cap - used, "%s%s",
                                     n++ ? "+" : ", ", wr_filter_name(filter));
    }
    return buf;
}

/* --- samples -> the equal chunks of one array, in C order --- */

#define AHEAD ((uint64_t)1 << 20) /* bytes that are gathered for a write */

int wr_chunk_write_init(struct wr_chunk_write *w, const struct wr_tiles *tiles,
                        uint64_t samples, weir_err *err)
{
    struct wr_chunk_write c = {.tiles = *tiles, .samples = samples};
    uint64_t whole;

    c.count = wr_tiles_count(tiles);
    c.tile_bytes = wr_tiles_bytes(tiles);
    whole = WR_MAX(c.count * c.tile_bytes, 1);
    c.room = WR_MIN(samples, WR_MAX(AHEAD / whole, 1));
    /* Zeros: nothing is ever copied to where a tile sticks out. */
    c.buf = calloc(c.room, whole);
    if (!c.buf)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *w = c;
    return 0;
}

void wr_chunk_write_done(struct wr_chunk_write *w)
{
    free(w->buf);
    *w = (struct wr_chunk_write){0};
}

int wr_chunk_write_flush(struct wr_chunk_write *w, struct wr_object *to,
                         uint64_t address, weir_err *err)
{
    const uint64_t chunk = w->samples * w->tile_bytes;
    uint64_t at = address + w->first / w->samples * w->count * chunk +
                  w->first % w->samples * w->tile_bytes;
    int r = 0;

    if (w->held == w->samples) /* whole chunks, one behind the other */
        r = to->ops->write(to, w->buf, (size_t)(w->count * chunk), at, err);
    else
        for (uint64_t k = 0; k < w->count && w->held && r == 0; k++)
            r = to->ops->write(to, w->buf + k * w->room * w->tile_bytes,
                               (size_t)(w->held * w->tile_bytes),
                               at + k * chunk, err);
    if (r == 0) {
        w->first += w->held;
        w->held = 0;
    }
    return r;
}

int wr_chunk_write_add(struct wr_chunk_write *w, const void *sample,
                       struct wr_object *to, uint64_t address, weir_err *err)
{
    for (uint64_t k = 0; k < w->count; k++)
        wr_tiles_take(&w->tiles, k, sample,
                      w->buf + (k * w->room + w->held) * w->tile_bytes);
    w->held++;
    if (w->held < w->room && (w->first + w->held) % w->samples)
        return 0;
    return wr_chunk_write_flush(w, to, address, err);
}

#define SHOWN_ENDINGS 8u
#define MAX_PARTS     8u

/* Text that grows in a buffer and is cut where that ends. */
struct remark_text {
    char *buf;
    size_t cap, len;
};

__attribute__((format(printf, 2, 3))) static void add(struct remark_text *t,
                                                      const char *fmt, ...)
{
    size_t at = WR_MIN(t->len, t->cap);
    va_list ap;

    va_start(ap, fmt);
    t->len += (size_t)wr_vsnprintf(t->buf + at, t->cap - at, fmt, ap);
    va_end(ap);
}

static const char *ending_text(const char *ext)
{
    if (!ext[0])
        return "without extension";
    return strcmp(ext, WR_IGNORED_REST) != 0 ? ext : "other";
}

bool wr_remark_ignored(const struct wr_index *ix, char *buf, size_t cap)
{
    const struct wr_ignored *ig = wr_index_ignored(ix);
    uint64_t files = wr_ignored_files(ig), told = 0;
    struct remark_text t = {buf, cap, 0};
    char n[32];

    if (!files)
        return false;
    add(&t, "%s file%s ignored:", wr_format_count(n, sizeof(n), files),
        files == 1 ? "" : "s");
    for (size_t k = 0; k < ig->count && k < SHOWN_ENDINGS; k++) {
        const struct wr_ignored_ext *e = &ig->list[k];

        add(&t, "%s %s %s", k ? "," : "", ending_text(e->ext),
            wr_format_count(n, sizeof(n), e->files));
        told += e->files;
    }
    if (told < files)
        add(&t, ", and %s more", wr_format_count(n, sizeof(n), files - told));
    return true;
}

/* "train", "val2017": a part of a data set, by its name. */
static bool is_part(const char *name)
{
    static const char *const parts[] = {
        "train", "training", "val", "valid", "validation", "test", "testing"};

    for (size_t k = 0; k < WR_ARRAY_LEN(parts); k++) {
        size_t n = strlen(parts[k]);

        if (!wr_strncasecmp(name, parts[k], n) &&
            !name[n + strspn(name + n, "0123456789")])
            return true;
    }
    return false;
}

/* The first MAX_PARTS classes that are called like parts. */
static unsigned find_parts(const struct wr_index *ix, const char **parts)
{
    uint32_t classes = wr_index_class_count(ix);
    unsigned n = 0;

    for (uint32_t c = 0; c < classes && n < MAX_PARTS; c++) {
        const char *name = wr_index_class_name(ix, c);

        if (name && is_part(name))
            parts[n++] = name;
    }
    return n;
}

/* "a, b and c" */
static void add_list(struct remark_text *t, const char *const *names,
                     unsigned n, const char *behind)
{
    for (unsigned k = 0; k < n; k++)
        add(t, "%s%s%s", names[k], behind,
            k + 2 < n    ? ", "
            : k + 2 == n ? " and "
                         : "");
}

/* "contains train/ and val/: ..." into buf, when the folders in the root are
 * parts of a data set rather than classes; false: they are not. */
static bool split_text(const weir_dataset *ds, char *buf, size_t cap)
{
    const char *parts[MAX_PARTS], *best;
    struct remark_text t = {buf, cap, 0};
    size_t url = strlen(ds->url);
    unsigned n;

    if (!ds->format->folders_are_classes)
        return false;
    n = find_parts(ds->index, parts);
    if (n < 2)
        return false;
    best = parts[0];
    for (unsigned k = 0; k < n; k++)
        if (!wr_strncasecmp(parts[k], "train", 5))
            best = parts[k];
    while (url > 1 && ds->url[url - 1] == '/')
        url--;
    add(&t, "contains ");
    add_list(&t, parts, n, "/");
    add(&t, ": their classes would be ");
    add_list(&t, parts, n, "");
    add(&t, "; did you mean %.*s/%s?", (int)WR_MIN(url, (size_t)512), ds->url,
        best);
    return true;
}

static bool chunks_text(const weir_dataset *ds, char *buf, size_t cap)
{
    const struct wr_schema *s = wr_index_schema(ds->index);
    struct remark_text t = {buf, cap, 0};
    struct wr_chunks c;

    for (unsigned k = 0; k < s->count; k++) {
        if (!wr_chunks_of(ds->index, k, &c) ||
            c.amplification <= WR_CHUNKS_MUCH)
            continue;
        add(&t,
            "shuffled, a sample of '%s' unpacks %u chunk%s, %.1f times its "
            "bytes: "
            "--order block takes the samples of a chunk together, and weir "
            "convert stores them apart",
            s->fields[k].name, c.touched, c.touched == 1 ? "" : "s",
            c.amplification);
        return true;
    }
    return false;
}

bool wr_remark_at(const weir_dataset *ds, unsigned k, char *buf, size_t cap)
{
    const char *text;

    if (split_text(ds, buf, cap) && k-- == 0)
        return true;
    if (chunks_text(ds, buf, cap) && k-- == 0)
        return true;
    for (unsigned n = 0; (text = wr_index_remark(ds->index, n)); n++)
        if (k-- == 0) {
            snprintf(buf, cap, "%s", text);
            return true;
        }
    return wr_remark_ignored(ds->index, buf, cap) && k == 0;
}
