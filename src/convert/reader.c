/* reader.c - the samples of a chunk, read ahead of the work on them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "format/decode.h"

/* One read, and one sample; nothing sensible is larger. */
#define EXTENT_BYTES (UINT64_C(4) << 20)
#define SAMPLE_BYTES (UINT64_C(1) << 31)

/* One read: a few samples that follow each other in one object. */
struct extent {
    struct wr_io rd; /* first: reap gives it back */
    size_t path;     /* where its path begins in `paths` */
    size_t at;       /* where its bytes go in `raw` */
    bool sent, arrived;
    bool skip;                         /* not to be read */
    bool inflate;                      /* but inflated, when it is needed */
    struct wr_inflated_object *packed; /* borrowed by use; else NULL */
    weir_err failed;                   /* with skip or a failed inflate */
};

struct wr_load {
    struct wr_reader *reader; /* borrowed */
    bool open;
    struct wr_load_item *items; /* owned */
    size_t item_cap;
    struct extent *extents; /* owned */
    size_t extent_cap;
    uint32_t item_count, extent_count;
    uint32_t sent; /* extents looked at by submit */
    char *paths;   /* owned: of all extents */
    size_t path_len, path_cap;
    uint8_t *raw; /* owned */
    size_t raw_len, raw_cap;
    uint8_t *single; /* owned: a sample that was read again */
    size_t single_cap;
    struct wr_unpack unpack;
};

struct wr_reader {
    struct wr_reader_config cfg;
    struct wr_queue *queue; /* owned */
    unsigned in_flight;
    struct wr_load load[2];
};

int wr_reader_open(struct wr_reader **ret, const struct wr_reader_config *cfg,
                   weir_err *err)
{
    const struct wr_queue_config queue = {.depth = WR_CONVERT_DEPTH};
    struct wr_store *store = cfg->plan->ds->store;
    struct wr_reader *rd = calloc(1, sizeof(*rd));
    int r;

    if (!rd)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    rd->cfg = *cfg;
    rd->load[0].reader = rd->load[1].reader = rd;
    r = store->ops->queue_open(store, &queue, &rd->queue, err);
    if (r < 0) {
        free(rd);
        return r;
    }
    *ret = rd;
    return 0;
}

static void load_free(struct wr_load *l)
{
    free(l->items);
    free(l->extents);
    free(l->paths);
    free(l->raw);
    free(l->single);
    wr_unpack_done(&l->unpack);
}

void wr_reader_hurry(struct wr_reader *rd)
{
    wr_queue_hurry(rd->queue);
}

void wr_reader_close(struct wr_reader *rd)
{
    if (!rd)
        return;
    for (int k = 0; k < 2; k++)
        wr_load_end(&rd->load[k]);
    rd->queue->ops->close(rd->queue);
    load_free(&rd->load[0]);
    load_free(&rd->load[1]);
    free(rd);
}

/* --- what to read --- */

static int add_path(struct wr_load *l, uint64_t object, weir_err *err)
{
    const struct wr_index *ix = l->reader->cfg.plan->ds->index;
    size_t room = 256, len;

    for (;; room = len + 1) {
        if (!wr_grow(&l->paths, &l->path_cap, l->path_len + room, 1))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        room = l->path_cap - l->path_len;
        len = wr_index_object_path(ix, object, l->paths + l->path_len, room);
        if (len < room)
            break;
    }
    l->path_len += len + 1;
    return 0;
}

static bool joins(const struct extent *e, const struct wr_load_item *last,
                  const struct wr_part *p)
{
    if (e->failed.code || last->place.object != p->object || p->whole ||
        !p->length || p->length > SAMPLE_BYTES)
        return false;
    if (wr_part_is_packed(p))
        return true;
    return last->place.offset + last->place.length == p->offset &&
           e->rd.len + p->length <= EXTENT_BYTES;
}

static int new_extent(struct wr_load *l, const struct wr_part *p, weir_err *err)
{
    struct extent *e;
    size_t path = l->path_len;
    int r = add_path(l, p->object, err);

    if (r < 0)
        return r;
    if (!wr_grow(&l->extents, &l->extent_cap, l->extent_count + 1, sizeof(*e)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    e = &l->extents[l->extent_count++];
    *e = (struct extent){.path = path,
                         .rd = {.offset = p->offset,
                                .len = (size_t)p->length,
                                .whole = p->whole},
                         .skip = wr_part_is_packed(p),
                         .inflate = wr_part_is_packed(p)};
    if (!p->length || p->length > SAMPLE_BYTES) {
        e->skip = true;
        if (!p->length)
            wr_fail(&e->failed, WEIR_EFORMAT, "empty");
        else
            wr_fail(&e->failed, WEIR_ELIMIT,
                    "a sample of %" PRIu64 " bytes is over the limit",
                    p->length);
    }
    return 0;
}

static int add_item(struct wr_load *l, uint64_t id, weir_err *err)
{
    struct wr_load_item *it = &l->items[l->item_count];
    struct extent *last = l->extent_count ? &l->extents[l->extent_count - 1]
                                          : NULL;
    int r = 0;

    it->id = id;
    wr_index_part(l->reader->cfg.plan->ds->index, 0, id, &it->place);
    if (last && joins(last, it - 1, &it->place))
        last->rd.len += (size_t)it->place.length;
    else
        r = new_extent(l, &it->place, err);
    if (r < 0)
        return r;
    it->extent = l->extent_count - 1;
    l->item_count++;
    return 0;
}

/* Memory and objects, once nothing will move any more. */
static int place_extents(struct wr_load *l, weir_err *err)
{
    const struct wr_reader_config *cfg = &l->reader->cfg;

    l->raw_len = 0;
    for (uint32_t k = 0; k < l->extent_count; k++) {
        struct extent *e = &l->extents[k];

        e->at = l->raw_len;
        e->rd.cap = wr_read_cap(e->rd.len, /* direct= */ false);
        if (!e->skip)
            l->raw_len += WR_ALIGN_UP(e->rd.cap, (size_t)WR_CACHE_LINE);
    }
    for (uint32_t k = 0; k < l->item_count; k++) {
        struct wr_load_item *it = &l->items[k];

        it->path = l->paths + l->extents[it->extent].path;
    }
    if (!wr_grow(&l->raw, &l->raw_cap, l->raw_len + 1, 1))
        return wr_fail(err, WEIR_ENOMEM, "no memory for %zu bytes", l->raw_len);
    for (uint32_t k = 0; k < l->extent_count; k++) {
        struct extent *e = &l->extents[k];

        e->rd.path = l->paths + e->path;
        e->rd.buf = l->raw + e->at;
    }
    for (uint32_t k = 0; k < l->item_count; k++) {
        struct extent *e = &l->extents[l->items[k].extent];

        if (!e->rd.whole && !e->skip && !e->rd.object)
            e->rd.object = wr_objects_get(cfg->objects,
                                          l->items[k].place.object, e->rd.path);
    }
    return 0;
}

/* --- reading --- */

/* Keeps the queue full, the older load first. */
static void submit(struct wr_reader *rd, struct wr_load *l)
{
    while (l->sent < l->extent_count && rd->in_flight < WR_CONVERT_DEPTH) {
        struct extent *e = &l->extents[l->sent];
        struct wr_io *one = &e->rd;

        if (!e->skip) {
            if (rd->queue->ops->submit(rd->queue, &one, 1) != 1)
                return;
            rd->in_flight++;
            e->sent = true;
        }
        l->sent++;
    }
}

static void reap(struct wr_reader *rd, bool wait)
{
    struct wr_io *done[WR_CONVERT_DEPTH];
    unsigned n = rd->queue->ops->reap(rd->queue, done, WR_CONVERT_DEPTH, wait);

    rd->in_flight -= n;
    for (unsigned k = 0; k < n; k++)
        ((struct extent *)done[k])->arrived = true; /* its first member */
}

int wr_load_begin(struct wr_reader *rd, uint64_t first, uint32_t count,
                  struct wr_load **ret, weir_err *err)
{
    struct wr_load *l = &rd->load[rd->load[0].open];
    int r = 0;

    l->item_count = l->extent_count = l->sent = 0;
    l->path_len = 0;
    if (!wr_grow(&l->items, &l->item_cap, count, sizeof(*l->items)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint32_t k = 0; k < count && r == 0; k++)
        r = add_item(l, wr_convert_plan_sample(rd->cfg.plan, first + k), err);
    if (r == 0)
        r = place_extents(l, err);
    if (r < 0)
        return r;
    l->open = true;
    submit(rd, l);
    *ret = l;
    return 0;
}

void wr_load_end(struct wr_load *l)
{
    if (!l->open)
        return;
    for (uint32_t k = 0; k < l->extent_count; k++) {
        struct extent *e = &l->extents[k];

        while (e->sent && !e->arrived)
            reap(l->reader, /* wait= */ true);
        wr_inflated_put(l->reader->cfg.inflated, e->packed);
        e->packed = NULL;
    }
    l->open = false;
}

struct wr_unpack *wr_load_unpack(struct wr_load *l)
{
    return &l->unpack;
}

const struct wr_load_item *wr_load_item(const struct wr_load *l, uint32_t k)
{
    return &l->items[k];
}

static void name_item(const struct wr_load_item *it, weir_err *err)
{
    if (err && it->place.whole)
        wr_fail_prefix(err, err->code, "'%s'", it->path);
    else if (err)
        wr_fail_prefix(err, err->code,
                       "'%s': sample %" PRIu64 " at offset %" PRIu64, it->path,
                       it->id, it->place.offset);
}

static int read_once(struct wr_load *l, const struct wr_load_item *it,
                     const uint8_t **ret, weir_err *err)
{
    struct wr_reader *rd = l->reader;
    size_t len = (size_t)it->place.length;
    struct extent e = {.rd = {.path = it->path,
                              .object = l->extents[it->extent].rd.object,
                              .offset = it->place.offset,
                              .len = len,
                              .whole = it->place.whole}};
    struct wr_io *one = &e.rd;

    e.rd.cap = wr_read_cap(len, /* direct= */ false);
    if (!wr_grow(&l->single, &l->single_cap, e.rd.cap, 1))
        return wr_fail(err, WEIR_ENOMEM, "no memory for %zu bytes", len);
    e.rd.buf = l->single;
    while (rd->queue->ops->submit(rd->queue, &one, 1) != 1)
        reap(rd, /* wait= */ true);
    rd->in_flight++;
    while (!e.arrived)
        reap(rd, /* wait= */ true);
    if (e.rd.result)
        return wr_io_error(&e.rd, it->path, err);
    *ret = e.rd.data;
    return 0;
}

/* A read of several samples failed, or resources lacked for it: this one may
 * still be good. */
static int read_again(struct wr_load *l, const struct wr_load_item *it,
                      const uint8_t **ret, weir_err *err)
{
    uint64_t since = 0;
    int r;

    do
        r = read_once(l, it, ret, err);
    while (wr_err_is_lack(r) && wr_lack_pause(&since));
    return r;
}

static int packed_bytes(struct wr_load *l, const struct wr_load_item *it,
                        const uint8_t **ret, weir_err *err)
{
    struct extent *e = &l->extents[it->extent];
    int r = 0;

    if (!e->packed)
        r = wr_inflated_get(l->reader->cfg.inflated, it->place.unit, &e->packed,
                            err);
    if (r == 0 && (it->place.offset > e->packed->len ||
                   it->place.length > e->packed->len - it->place.offset))
        r = wr_fail(err, WEIR_ECHANGED, "lies beyond the end");
    if (r < 0) {
        name_item(it, err);
        return r;
    }
    *ret = e->packed->bytes + it->place.offset;
    return 0;
}

int wr_load_bytes(struct wr_load *l, uint32_t k, const uint8_t **ret,
                  weir_err *err)
{
    const struct wr_load_item *it = &l->items[k];
    struct extent *e = &l->extents[it->extent];
    struct wr_reader *rd = l->reader;

    if (e->failed.code) {
        wr_fail(err, e->failed.code, "%s", e->failed.msg);
        name_item(it, err);
        return e->failed.code;
    }
    if (e->inflate)
        return packed_bytes(l, it, ret, err);
    while (!e->arrived) {
        submit(rd, l);
        reap(rd, /* wait= */ true);
    }
    submit(rd, l);
    for (int other = 0; other < 2; other++)
        if (rd->load[other].open)
            submit(rd, &rd->load[other]);
    if (e->rd.result && e->rd.len == it->place.length &&
        !wr_err_is_lack(e->rd.result))
        return wr_io_error(&e->rd, it->path, err);
    if (e->rd.result)
        return read_again(l, it, ret, err);
    *ret = e->rd.data + (it->place.offset - e->rd.offset);
    return 0;
}
