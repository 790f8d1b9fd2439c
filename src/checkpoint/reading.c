/* reading.c - what one rank reads of one copy of a step.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"
#include "codec/crc32c.h"

struct wr_reading_want {
    uint32_t shard; /* index into heads */
    struct wr_stretch range;
    const char *name; /* borrowed from the caller */
};

/* --- heads --- */

/* The bytes [0, data_offset) of a file. */
static int read_bytes(struct wr_store *st, const char *path, uint64_t len,
                      uint8_t **ret, weir_err *err)
{
    struct wr_object *o;
    uint8_t *bytes;
    int64_t got;
    int r;

    if (len > (uint64_t)WR_ST_MAX_JSON + 8)
        return wr_fail(err, WEIR_ELIMIT, "'%s': head of %" PRIu64 " bytes",
                       path, len);
    bytes = malloc((size_t)len);
    if (!bytes)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = st->ops->object_open(st, path, WR_OPEN_READ, &o, err);
    if (r < 0) {
        free(bytes);
        return r;
    }
    got = wr_object_read_all(o, bytes, (size_t)len, 0, err);
    if (got < 0)
        r = (int)got;
    else if ((uint64_t)got < len)
        r = wr_fail(err, WEIR_EDAMAGED, "'%s': ends after %" PRId64 " bytes",
                    path, got);
    o->ops->close(o, /* sync= */ false, NULL);
    if (r < 0)
        free(bytes);
    else
        *ret = bytes;
    return r;
}

/* A head that is damaged must not look like one that lacks a tensor: its
 * checksum is compared before anything in it counts. */
static int read_head(const struct wr_reading *p, uint32_t k, weir_err *err)
{
    const struct wr_st_shard *s = &p->m->shards[p->first + k];
    char path[WR_TIER_PATH];
    uint8_t *bytes = NULL;
    int r;

    wr_tier_shard_path(p->m->step, p->first + k, path);
    r = read_bytes(p->tier->store, path, s->data_offset, &bytes, err);
    if (r < 0)
        return wr_tier_name_whole(p->tier, path, r, err);
    if (wr_crc32c(0, bytes, (size_t)s->data_offset) != s->head_crc)
        r = wr_fail(err, WEIR_EDAMAGED,
                    "'%s': checksum mismatch in bytes 0 to %" PRIu64, path,
                    s->data_offset);
    else
        r = wr_st_parse(bytes, (size_t)s->data_offset, s->size, path,
                        &p->heads[k], err);
    free(bytes);
    return wr_tier_name_whole(p->tier, path, r, err);
}

int wr_reading_open(struct wr_reading *p, struct wr_tier *t,
                    const struct wr_manifest *m, const weir_ckpt_config *reader,
                    weir_err *err)
{
    bool same = m->world == reader->world;

    *p = (struct wr_reading){.tier = t, .m = m};
    p->first = same ? reader->rank : 0;
    p->count = same ? 1 : m->world;
    p->heads = calloc(p->count, sizeof(*p->heads));
    if (!p->heads)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint32_t k = 0; k < p->count; k++) {
        int r = read_head(p, k, err);

        if (r < 0)
            return r;
    }
    return 0;
}

void wr_reading_done(struct wr_reading *p)
{
    for (uint32_t k = 0; p->heads && k < p->count; k++)
        wr_st_done(&p->heads[k]);
    free(p->heads);
    free(p->wants);
    *p = (struct wr_reading){0};
}

/* --- what is wanted --- */

/* "F32 [3, 224]" */
static void describe(const weir_tensor *t, char *buf, size_t cap)
{
    size_t used = (size_t)snprintf(buf, cap, "%s [", wr_dtype_name(t->dtype));

    for (uint32_t d = 0; d < t->ndim && used < cap; d++)
        used += (size_t)snprintf(buf + used, cap - used, "%s%" PRIu64,
                                 d ? ", " : "", t->shape[d]);
    if (used < cap)
        snprintf(buf + used, cap - used, "]");
}

/* Whether type and shape agree. */
static bool reading_is_alike(const weir_tensor *a, const weir_tensor *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim &&
           !memcmp(a->shape, b->shape, a->ndim * sizeof(a->shape[0]));
}

static int check_same(const struct wr_reading *p, const weir_tensor *want,
                      const weir_tensor *is, weir_err *err)
{
    char a[128], b[128];

    if (reading_is_alike(want, is))
        return 0;
    describe(is, a, sizeof(a));
    describe(want, b, sizeof(b));
    return wr_fail(err, WEIR_EINVAL,
                   "'%s': is %s in step %" PRIu64 ", %s is wanted",
                   wr_show(want->name).text, a, p->m->step, b);
}

/* Whether the checksums of two ranks' files tell that a tensor of that name is
 * not the same in both: chunks that hold nothing else, at the same place. That
 * they do not tell means nothing. */
static bool is_told_apart(const struct wr_reading *p, uint32_t one,
                          const struct wr_st_tensor *a, uint32_t other,
                          const struct wr_st_tensor *b)
{
    const struct wr_st_shard *x = &p->m->shards[p->first + one];
    const struct wr_st_shard *y = &p->m->shards[p->first + other];
    uint64_t chunk = p->m->chunk;

    if (a->begin != b->begin || a->end != b->end)
        return false;
    for (uint64_t i = (a->begin + chunk - 1) / chunk; (i + 1) * chunk <= a->end;
         i++)
        if (x->crcs[i] != y->crcs[i])
            return true;
    return false;
}

/* The file that has it: the lowest rank's, where several have a copy, as ranks
 * have that train in parallel on different data. */
static int find(struct wr_reading *p, const char *name,
                struct wr_reading_want *ret, const weir_tensor **ret_is,
                weir_err *err)
{
    const struct wr_st_tensor *found = NULL;
    bool differs = false;

    for (uint32_t k = 0; k < p->count; k++) {
        const struct wr_st_tensor *t = wr_st_find(&p->heads[k], name);

        if (!t)
            continue;
        if (found && !reading_is_alike(&found->t, &t->t))
            return wr_fail(err, WEIR_EINVAL,
                           "'%s': ranks %" PRIu32 " and %" PRIu32
                           " of step %" PRIu64 " both have it, with other "
                           "types or shapes; there were %" PRIu32
                           " ranks, so which one is meant is not known",
                           wr_show(name).text, ret->shard, k, p->m->step,
                           p->m->world);
        if (found) {
            differs |= is_told_apart(p, ret->shard, found, k, t);
            continue;
        }
        found = t;
        ret->shard = k;
        ret->range.begin = t->begin;
        ret->range.end = t->end;
    }
    if (!found && p->count == 1 && p->m->world > 1)
        return wr_fail(err, WEIR_ENOENT,
                       "'%s': rank %" PRIu32 " of step %" PRIu64
                       " has no such tensor",
                       wr_show(name).text, p->first, p->m->step);
    if (!found)
        return wr_fail(err, WEIR_ENOENT,
                       "'%s': step %" PRIu64 " has no such tensor",
                       wr_show(name).text, p->m->step);
    p->differing += differs;
    *ret_is = &found->t;
    return 0;
}

static int by_offset(const void *a, const void *b)
{
    const struct wr_reading_want *x = a, *y = b;

    if (x->shard != y->shard)
        return x->shard < y->shard ? -1 : 1;
    return (x->range.begin > y->range.begin) -
           (x->range.begin < y->range.begin);
}

/* What has to be read: heads, and all of each chunk that something is in. */
static uint64_t count_bytes(const struct wr_reading *p)
{
    uint64_t bytes = 0, next = 0; /* chunk that was not counted yet */

    for (size_t k = 0; k < p->want_count; k++) {
        const struct wr_reading_want *w = &p->wants[k];
        uint64_t chunk = p->m->chunk, last = (w->range.end - 1) / chunk;
        uint64_t data = p->heads[w->shard].data_bytes;
        uint64_t first = w->range.begin / chunk;

        if (k == 0 || w->shard != p->wants[k - 1].shard) {
            bytes += p->heads[w->shard].data_offset;
            next = 0;
        }
        first = WR_MAX(first, next);
        if (first > last)
            continue;
        bytes += WR_MIN((last + 1) * chunk, data) - first * chunk;
        next = last + 1;
    }
    return bytes;
}

int wr_reading_match(struct wr_reading *p, const weir_tensor *into,
                     size_t count, weir_err *err)
{
    if (count == 0)
        return 0;
    p->wants = calloc(count, sizeof(*p->wants));
    if (!p->wants)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < count; k++) {
        struct wr_reading_want *w = &p->wants[p->want_count];
        const weir_tensor *is = NULL;
        int r = find(p, into[k].name, w, &is, err);

        if (r == 0)
            r = check_same(p, &into[k], is, err);
        if (r < 0)
            return r;
        w->name = into[k].name;
        w->range.at = into[k].data;
        p->want_count += w->range.end > w->range.begin;
    }
    qsort(p->wants, p->want_count, sizeof(*p->wants), by_offset);
    for (size_t k = 1; k < p->want_count; k++)
        if (by_offset(&p->wants[k - 1], &p->wants[k]) == 0)
            return wr_fail(err, WEIR_EINVAL, "'%s': is wanted twice",
                           wr_show(p->wants[k].name).text);
    p->bytes = count_bytes(p);
    return 0;
}

/* --- data --- */

int wr_reading_read(const struct wr_reading *p,
                    const struct wr_byte_meter *meter, weir_err *err)
{
    struct wr_stretch *ranges;
    int r = 0;

    if (p->want_count == 0)
        return 0;
    ranges = calloc(p->want_count, sizeof(*ranges));
    if (!ranges)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0, n; r == 0 && k < p->want_count; k += n) {
        uint32_t rank = p->first + p->wants[k].shard;
        char path[WR_TIER_PATH];
        struct wr_shard_at from = {.store = p->tier->store, .path = path};

        for (n = 0; k + n < p->want_count &&
                    p->wants[k + n].shard == p->wants[k].shard;
             n++)
            ranges[n] = p->wants[k + n].range;
        wr_tier_shard_path(p->m->step, rank, path);
        r = wr_shard_read(&from, &p->m->shards[rank], p->m->chunk, ranges,
                          wr_stretches_join(ranges, n), meter, err);
        r = wr_tier_name_whole(p->tier, path, r, err);
    }
    free(ranges);
    return r;
}

/* --- what a restore found, as its caller gets it --- */

struct found {
    weir_ckpt_found shown; /* first: what the caller has is its address */
    struct wr_manifest m;
    struct wr_reading part;
    weir_tensor *tensors;
    weir_pair *metadata;
    const void **pipeline;
    size_t *pipeline_len;
    char *passed;
    const char **passed_over;
};

static void free_found(struct found *f)
{
    wr_reading_done(&f->part);
    wr_manifest_done(&f->m);
    free(f->tensors);
    free(f->metadata);
    free(f->pipeline);
    free(f->pipeline_len);
    free(f->passed);
    free(f->passed_over);
    free(f);
}

void weir_ckpt_found_free(weir_ckpt_found **found)
{
    if (!found || !*found)
        return;
    free_found((struct found *)*found);
    *found = NULL;
}

/* calloc() that gives memory for nothing, too. */
static void *array(size_t count, size_t size)
{
    return calloc(count ? count : 1, size);
}

/* A lower rank has it, too: one of them is shown, which is the one that would be
 * restored. */
static bool is_shown(const struct wr_reading *p, uint32_t rank,
                     const weir_tensor *t)
{
    for (uint32_t k = 0; k < rank; k++) {
        const struct wr_st_tensor *same = wr_st_find(&p->heads[k], t->name);

        if (same && reading_is_alike(&same->t, t))
            return true;
    }
    return false;
}

static bool show_tensors(struct found *f)
{
    size_t count = 0;

    for (uint32_t k = 0; k < f->part.count; k++)
        count += f->part.heads[k].count;
    f->tensors = array(count, sizeof(*f->tensors));
    if (!f->tensors)
        return false;
    f->shown.tensors = f->tensors;
    for (uint32_t k = 0; k < f->part.count; k++)
        for (size_t i = 0; i < f->part.heads[k].count; i++)
            if (!is_shown(&f->part, k, &f->part.heads[k].tensors[i].t))
                f->tensors[f->shown.count++] = f->part.heads[k].tensors[i].t;
    return true;
}

static bool show_metadata(struct found *f)
{
    f->metadata = array(f->m.metadata_count, sizeof(*f->metadata));
    if (!f->metadata)
        return false;
    for (size_t k = 0; k < f->m.metadata_count; k++) {
        f->metadata[k].key = f->m.metadata[k].key;
        f->metadata[k].value = f->m.metadata[k].value;
    }
    f->shown.metadata = f->metadata;
    f->shown.metadata_count = f->m.metadata_count;
    return true;
}

/* Those that there are: a rank may have had none. */
static bool show_pipeline(struct found *f)
{
    f->pipeline = array(f->m.world, sizeof(*f->pipeline));
    f->pipeline_len = array(f->m.world, sizeof(*f->pipeline_len));
    if (!f->pipeline || !f->pipeline_len)
        return false;
    for (uint32_t k = 0; k < f->m.world; k++) {
        const struct wr_st_shard *s = &f->m.shards[k];
        size_t at = f->shown.pipeline_count;

        if (!s->pipeline)
            continue;
        f->pipeline[at] = s->pipeline;
        f->pipeline_len[at] = s->pipeline_len;
        f->shown.pipeline_count++;
    }
    f->shown.pipeline = f->pipeline;
    f->shown.pipeline_len = f->pipeline_len;
    return true;
}

static bool show_passed(struct found *f, const char *passed, size_t len)
{
    size_t count = 0;

    for (size_t k = 0; k < len; k++)
        count += passed[k] == '\0';
    f->passed = array(len, 1);
    f->passed_over = array(count, sizeof(*f->passed_over));
    if (!f->passed || !f->passed_over)
        return false;
    if (len)
        memcpy(f->passed, passed, len);
    for (const char *at = f->passed; f->shown.passed_over_count < count;
         at += strlen(at) + 1)
        f->passed_over[f->shown.passed_over_count++] = at;
    f->shown.passed_over = f->passed_over;
    return true;
}

int wr_found_new(struct wr_manifest *m, struct wr_reading *p,
                 const char *passed, size_t passed_len, weir_ckpt_found **ret)
{
    struct found *f = calloc(1, sizeof(*f));

    if (!f) {
        wr_reading_done(p);
        wr_manifest_done(m);
        return WEIR_ENOMEM;
    }
    f->m = *m;
    f->part = *p;
    f->part.m = &f->m;
    *m = (struct wr_manifest){0};
    *p = (struct wr_reading){0};
    f->shown.step = f->m.step;
    f->shown.time_ns = f->m.time_ns;
    f->shown.world = f->m.world;
    f->shown.differing = f->part.differing;
    f->shown.tier = f->part.tier->label;
    if (!show_tensors(f) || !show_metadata(f) || !show_pipeline(f) ||
        !show_passed(f, passed, passed_len)) {
        free_found(f);
        return WEIR_ENOMEM;
    }
    *ret = &f->shown;
    return 0;
}
