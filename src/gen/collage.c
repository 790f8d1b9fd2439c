/* collage.c - pictures put together from the rows of others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/collage.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/rng.h"
#include "gen/jpeg_rows.h"
#include "gen/texture.h"

#define STREAM     0x636f6c6cu /* of the choices made here */
#define DIMS_MAX   16u
#define TRIES      4u /* to find a second picture that fits */
#define STRETCH    8u /* at most one of so many rows is from it */
#define NOTE       64u
#define COM        0xfeu
#define EOI        0xd9u
#define MEAN_BYTES 115000.0 /* of a picture of the profile imagenet */

/* A picture that was drawn. */
struct base_picture {
    uint8_t *bytes; /* owned */
    size_t len;
    struct wr_jpeg_rows rows;
};

struct wr_collage {
    struct wr_collage_config cfg;
    struct wr_photo_profile profile; /* scaled */
    struct wr_photo_dims dims[DIMS_MAX];
    struct base_picture *bases; /* owned */
};

/* What the threads that draw share. */
struct collage_work {
    struct wr_collage *c;         /* borrowed */
    struct wr_textures *textures; /* owned */
    struct wr_photo **photos;     /* owned: one per thread */
    /* Guards what follows; taken alone. */
    pthread_mutex_t lock;
    int failed; /* the first failure, and its message */
    weir_err why;
};

static int keep_base(struct base_picture *b, const uint8_t *bytes, size_t len,
                     weir_err *err)
{
    b->bytes = malloc(len);
    if (!b->bytes)
        return wr_fail(err, WEIR_ENOMEM, "no memory for pictures");
    memcpy(b->bytes, bytes, len);
    b->len = len;
    return wr_jpeg_rows_find(b->bytes, len, &b->rows, err);
}

static void draw_base(void *arg, size_t k, unsigned thread)
{
    struct collage_work *w = arg;
    const struct wr_collage_config *cfg = &w->c->cfg;
    struct wr_photo_sample s = {
        .seed = cfg->seed, .index = k, .label = (uint32_t)(k % cfg->classes)};
    const uint8_t *bytes;
    size_t len;
    weir_err err;
    int r = wr_photo_make(w->photos[thread], &s, &bytes, &len, &err);

    if (r == 0)
        r = keep_base(&w->c->bases[k], bytes, len, &err);
    if (r == 0)
        return;
    pthread_mutex_lock(&w->lock);
    if (!w->failed) {
        w->failed = r;
        w->why = err;
    }
    pthread_mutex_unlock(&w->lock);
}

static int draw_all(struct collage_work *w, weir_err *err)
{
    struct wr_collage *c = w->c;
    unsigned threads = WR_MAX(1, WR_MIN(c->cfg.threads, c->cfg.count));
    struct wr_pool *pool = NULL;
    int r = wr_textures_new(&w->textures, c->cfg.seed, err);

    w->photos = calloc(threads, sizeof(*w->photos));
    if (r == 0 && !w->photos)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (unsigned k = 0; k < threads && r == 0; k++)
        r = wr_photo_new(&w->photos[k], &c->profile, w->textures, err);
    if (r == 0)
        r = wr_pool_new(&pool, threads, "weir-draw", err);
    if (r == 0) {
        wr_pool_run(pool, c->cfg.count, draw_base, w);
        r = wr_fail_as(err, w->failed, &w->why);
    }
    wr_pool_free(pool);
    for (unsigned k = 0; k < threads && w->photos; k++)
        wr_photo_free(w->photos[k]);
    free(w->photos);
    wr_textures_free(w->textures);
    return r;
}

static uint16_t scaled(uint16_t side, double by)
{
    return (uint16_t)WR_MAX(16.0, WR_MIN(16000.0, side * by + 0.5));
}

/* Bytes go with the area. */
static void scale_profile(struct wr_collage *c)
{
    const struct wr_photo_profile *pf = c->cfg.profile;
    double mean = c->cfg.mean_bytes;
    double by = mean > 0 ? sqrt(mean / MEAN_BYTES) : 1.0;
    unsigned n = 0;

    c->profile = *pf;
    for (; n + 1 < DIMS_MAX && pf->dims[n].width; n++) {
        c->dims[n] = pf->dims[n];
        c->dims[n].width = scaled(pf->dims[n].width, by);
        c->dims[n].height = scaled(pf->dims[n].height, by);
    }
    c->profile.side_min = scaled(pf->side_min, by);
    c->profile.side_max = scaled(pf->side_max, by);
    c->profile.dims = c->dims; /* the rest is zeros, and ends it */
}

int wr_collage_new(struct wr_collage **ret, const struct wr_collage_config *cfg,
                   weir_err *err)
{
    struct wr_collage *c = calloc(1, sizeof(*c));
    struct collage_work w = {.c = c};
    int r = 0;

    if (c)
        c->bases = calloc(cfg->count, sizeof(*c->bases));
    if (!c || !c->bases)
        r = wr_fail(err, WEIR_ENOMEM, "no memory for pictures");
    if (r == 0) {
        c->cfg = *cfg;
        scale_profile(c);
        pthread_mutex_init(&w.lock, NULL);
        r = draw_all(&w, err);
        pthread_mutex_destroy(&w.lock);
    }
    if (r < 0)
        wr_collage_free(c);
    else
        *ret = c;
    return r;
}

void wr_collage_free(struct wr_collage *c)
{
    if (!c)
        return;
    for (uint32_t k = 0; c->bases && k < c->cfg.count; k++) {
        wr_jpeg_rows_done(&c->bases[k].rows);
        free(c->bases[k].bytes);
    }
    free(c->bases);
    free(c);
}

struct wr_slice wr_collage_drawn(const struct wr_collage *c, uint32_t k)
{
    return (struct wr_slice){c->bases[k].bytes, c->bases[k].len};
}

double wr_collage_mean(const struct wr_collage *c)
{
    double sum = 0;

    for (uint32_t k = 0; k < c->cfg.count; k++)
        sum += (double)c->bases[k].len;
    return sum / c->cfg.count;
}

/* One of the pictures of a class; of any, if none was drawn of it. */
static const struct base_picture *pick(const struct wr_collage *c,
                                       uint32_t label, struct wr_rng *r)
{
    uint32_t classes = c->cfg.classes, count = c->cfg.count, have;

    if (label >= count)
        label %= count;
    have = (count - label + classes - 1) / classes;
    return &c->bases[label + classes * wr_rng_below(r, have)];
}

/* Whether rows of one can be rows of the other. */
static bool is_alike(const struct wr_jpeg_rows *a, const struct wr_jpeg_rows *b)
{
    return a->across == b->across && a->components == b->components &&
           a->sampling == b->sampling && !memcmp(a->dc, b->dc, sizeof(a->dc));
}

/* Another one whose rows fit. */
static const struct base_picture *pick_second(const struct wr_collage *c,
                                              uint32_t label,
                                              const struct base_picture *first,
                                              struct wr_rng *r)
{
    for (unsigned k = 0; k < TRIES; k++) {
        const struct base_picture *b = pick(c, label, r);

        if (b != first && is_alike(&b->rows, &first->rows))
            return b;
    }
    return first;
}

/* A picture to be put together. */
struct collage_plan {
    const struct base_picture *first, *second;
    size_t turn;     /* the row of `first` that comes first */
    size_t from, to; /* rows that are the second's */
};

/* The picture that row `y` is from, and the row there. */
static const struct base_picture *
base_at(const struct collage_plan *p, size_t y, const struct wr_jpeg_row **ret)
{
    const struct base_picture *b = y >= p->from && y < p->to ? p->second
                                                             : p->first;

    *ret = &b->rows.rows[(y + p->turn) % b->rows.count];
    return b;
}

static void make_plan(const struct wr_collage *c, uint64_t index,
                      struct collage_plan *ret)
{
    uint32_t label = (uint32_t)(index % c->cfg.classes);
    struct wr_rng r = {.seed = c->cfg.seed ^ STREAM, .stream = index};
    size_t rows;

    ret->first = pick(c, label, &r);
    ret->second = pick_second(c, label, ret->first, &r);
    rows = ret->first->rows.count;
    ret->turn = (size_t)wr_rng_below(&r, rows);
    ret->from = (size_t)wr_rng_below(&r, rows);
    ret->to = ret->from + (size_t)wr_rng_below(&r, rows / STRETCH + 1);
    ret->to = WR_MIN(ret->to, rows);
}

static uint8_t *put(uint8_t *to, const void *bytes, size_t len)
{
    memcpy(to, bytes, len);
    return to + len;
}

static uint8_t *put_comment(uint8_t *to, const struct wr_collage *c,
                            uint64_t index)
{
    char note[NOTE];
    int n = snprintf(note, sizeof(note), "weir %" PRIu64 " %" PRIu64,
                     c->cfg.seed, index);
    const uint8_t head[4] = {0xff, COM, 0, (uint8_t)(n + 2)};

    to = put(to, head, sizeof(head));
    return put(to, note, (size_t)n);
}

/* Bytes that a picture takes at most. */
static size_t room_for(const struct collage_plan *p)
{
    size_t room = p->first->rows.head_len + NOTE + 16;
    const struct wr_jpeg_row *row;

    for (size_t y = 0; y < p->first->rows.count; y++) {
        base_at(p, y, &row);
        room += wr_jpeg_row_room(row);
    }
    return room;
}

int wr_collage_make(const struct wr_collage *c, uint64_t index,
                    struct wr_bytes *to, struct wr_picture_info *ret_info,
                    weir_err *err)
{
    static const uint8_t end[2] = {0xff, EOI};
    const struct wr_jpeg_row *row;
    const struct base_picture *b;
    struct wr_jpeg_bits bits = {0};
    struct collage_plan p;
    uint8_t *out, *start;

    make_plan(c, index, &p);
    b = p.first;
    start = out = wr_bytes_room(to, room_for(&p));
    if (!out)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a picture");
    out = put(out, b->bytes, b->rows.soi_len);
    out = put_comment(out, c, index);
    bits.out = put(out, b->bytes + b->rows.soi_len,
                   b->rows.head_len - b->rows.soi_len);
    for (size_t y = 0; y < p.first->rows.count; y++) {
        b = base_at(&p, y, &row);
        wr_jpeg_bits_row(&bits, &b->rows, row);
    }
    wr_jpeg_bits_end(&bits);
    out = put(bits.out, end, sizeof(end));
    to->len += (size_t)(out - start);
    if (ret_info)
        *ret_info = (struct wr_picture_info){
            .kind = WR_PICTURE_JPEG,
            .width = p.first->rows.width,
            .height = p.first->rows.height,
            .components = p.first->rows.components,
            .orientation = 1};
    return 0;
}
