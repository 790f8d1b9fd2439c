/* plan.c - which sample goes into which shard: known before the work.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/error.h"
#include "base/mem.h"
#include "convert/kind.h"
#include "format/decode.h"
#include "pipeline/settings.h"
#include "storage/storage.h"

#define JOB_VERSION     2
#define ORDER_STREAM    UINT64_C(0x636f6e76) /* apart from the pipeline's */
#define NAME_PART_BYTES 200
#define SHARDS_MAX      UINT64_C(10000000)

uint64_t wr_convert_plan_sample(const struct wr_convert_plan *p, uint64_t pos)
{
    uint64_t place = p->cfg->shuffle ? wr_perm_at(&p->perm, pos) : pos;

    return wr_split_sample(&p->split, place);
}

void wr_convert_plan_shard_name(const struct wr_convert_plan *p, uint64_t shard,
                                char buf[WR_CONVERT_NAME_MAX])
{
    if (p->kind->ext)
        snprintf(buf, WR_CONVERT_NAME_MAX,
                 "%s-%05" PRIu64 "-of-%05" PRIu64 "%s", p->name, shard,
                 p->shards, p->kind->ext);
    else
        snprintf(buf, WR_CONVERT_NAME_MAX, ".done-%05" PRIu64, shard);
}

/* The last part of a URL without its ending: "fault:eio:/data/train.csv" ->
 * "train". */
static int source_name(struct wr_convert_plan *p, weir_err *err)
{
    const char *text = p->cfg->name ? p->cfg->name : wr_url_path(p->ds->url);
    size_t len = strlen(text);
    char safe[WR_CONVERT_KEY_MAX];
    const char *from, *dot;

    while (len > 1 && text[len - 1] == '/')
        len--;
    from = memrchr(text, '/', len);
    from = from ? from + 1 : text;
    len -= (size_t)(from - text);
    dot = p->cfg->name ? NULL : memrchr(from, '.', len);
    if (dot && dot > from)
        len = (size_t)(dot - from);
    len = wr_convert_safe_key(from, WR_MIN(len, (size_t)NAME_PART_BYTES), safe);
    if (p->cfg->name && strchr(p->cfg->name, '/'))
        return wr_fail(err, WEIR_EINVAL, "name '%s': has a slash",
                       p->cfg->name);
    p->name = strdup(len ? safe : "data");
    return p->name ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");
}

/* Bytes that count for the size of a shard. */
static uint64_t weight(const struct wr_convert_plan *p, uint64_t pos)
{
    struct wr_part place;

    if (p->kind->tensors)
        return p->shape.bytes;
    wr_index_part(p->ds->index, 0, wr_convert_plan_sample(p, pos), &place);
    return place.length;
}

/* A shard holds one sample at least, and is never larger than asked for if it
 * holds more. */
static int cut_shards(struct wr_convert_plan *p, weir_err *err)
{
    uint64_t limit = p->kind->ext ? p->cfg->shard_bytes
                                  : WR_CONVERT_RANGE_BYTES;
    uint64_t used = 0;
    size_t cap = 0;

    for (uint64_t pos = 0; pos < p->count; pos++) {
        uint64_t bytes = weight(p, pos);

        if (pos && (!limit || used + bytes <= limit)) {
            used += bytes;
            continue;
        }
        if (p->shards == SHARDS_MAX)
            return wr_fail(err, WEIR_ELIMIT,
                           "more than %" PRIu64 " shards: ask for larger ones",
                           SHARDS_MAX);
        if (!wr_grow(&p->first, &cap, p->shards + 2, sizeof(*p->first)))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        p->first[p->shards++] = pos;
        used = bytes;
    }
    p->first[p->shards] = p->count;
    return 0;
}

/* The part, for `describe`; empty for all: such jobs stay what they were. */
static const char *part_text(const struct wr_convert_plan *p, char *buf,
                             size_t cap)
{
    *buf = '\0';
    if (p->split.part != WEIR_PART_ALL)
        snprintf(buf, cap,
                 "part %d holdout %" PRIu64 " split-seed %" PRIu64 "\n",
                 (int)p->split.part, p->split.ppm, p->split.seed);
    return buf;
}

/* All that decides on the result, as text; nothing that does not. */
static int describe(struct wr_convert_plan *p, weir_err *err)
{
    const struct wr_convert_config *c = p->cfg;
    const weir_pipeline_config *t = &c->tensor;
    struct wr_bytes classes = {0};
    /* Jobs from before there was a choice stay what they are. */
    const char *orient = t->picture.orient == WEIR_ORIENT_EXIF ? " orient exif"
                                                               : "";
    char *tensor = NULL, part[80], text[400];
    uint64_t names;
    int n;

    n = wr_classes_text(&p->classes, &classes, err);
    if (n < 0)
        return n;
    names = classes.len ? XXH3_64bits(classes.bytes, classes.len) : 0;
    free(classes.bytes);
    wr_settings_describe(t, text, sizeof(text));
    if (p->kind->tensors)
        n = asprintf(&tensor, "tensor %s\n", text);
    else
        n = asprintf(&tensor, "picture max-side %u quality %u%s\n", c->max_side,
                     c->quality, orient);
    if (n >= 0)
        n = asprintf(
            &p->job,
            "weir convert, version %d\n"
            "source %s %016" PRIx64 " samples %" PRIu64 " bytes %" PRIu64
            " classes %016" PRIx64 "\n"
            "to %s name %s shard-size %" PRIu64 "\n"
            "order %s seed %" PRIu64 "\n%s%s",
            JOB_VERSION, p->ds->format->name,
            wr_index_fingerprint(p->ds->index), p->count,
            wr_index_bytes(p->ds->index), names, p->kind->name, p->name,
            c->shard_bytes, c->shuffle ? "shuffle" : "sequential",
            c->shuffle ? c->seed : 0, part_text(p, part, sizeof(part)), tensor);
    free(tensor);
    if (n >= 0)
        return 0;
    p->job = NULL;
    return wr_fail(err, WEIR_ENOMEM, "out of memory");
}

static int fail_kind(const char *name, weir_err *err)
{
    char known[200] = "";

    for (unsigned k = 0; wr_convert_kind_at(k); k++) {
        size_t used = strlen(known);

        snprintf(known + used, sizeof(known) - used, "%s%s", k ? ", " : "",
                 wr_convert_kind_at(k)->name);
    }
    return wr_fail(err, WEIR_EINVAL, "'%s' is not one of %s", name, known);
}

/* The samples of the part, and their bytes. */
static int find_part(struct wr_convert_plan *p, weir_err *err)
{
    uint64_t n = wr_index_count(p->ds->index);
    struct wr_part place;
    int r = wr_split_check(&p->cfg->tensor, err);

    if (r == 0)
        r = wr_split_check_count(&p->cfg->tensor, p->ds->url, n, err);
    if (r < 0)
        return r;
    p->split = wr_split_of(&p->cfg->tensor);
    p->count = wr_split_count(&p->split, n);
    p->bytes = wr_index_bytes(p->ds->index);
    if (p->split.part == WEIR_PART_ALL)
        return 0;
    p->bytes = 0;
    for (uint64_t k = 0; k < p->count; k++) {
        wr_index_part(p->ds->index, 0, wr_split_sample(&p->split, k), &place);
        p->bytes += place.length;
    }
    return 0;
}

int wr_convert_plan_init(struct wr_convert_plan *p,
                         const struct wr_convert_config *cfg, weir_err *err)
{
    const weir_dataset *ds = cfg->ds;
    int r;

    *p = (struct wr_convert_plan){.cfg = cfg, .ds = ds};
    p->kind = wr_convert_kind_find(cfg->to);
    if (!p->kind)
        return fail_kind(cfg->to, err);
    r = find_part(p, err);
    if (r < 0)
        return r;
    r = wr_classes_init(&p->classes, ds, err);
    if (r < 0)
        return r;
    p->labels = ds->format->unpack || wr_index_class_count(ds->index);
    wr_perm_init(&p->perm, p->count, cfg->seed, ORDER_STREAM);
    r = p->kind->check(p, err);
    if (r == 0 && p->kind->tensors)
        r = wr_first_shape(ds->index, &cfg->tensor, &p->shape, err);
    if (r == 0)
        r = source_name(p, err);
    if (r == 0)
        r = cut_shards(p, err);
    if (r == 0)
        r = describe(p, err);
    if (r < 0)
        wr_convert_plan_done(p);
    return r;
}

void wr_convert_plan_done(struct wr_convert_plan *p)
{
    wr_convert_names_done(&p->names);
    wr_classes_done(&p->classes);
    free(p->first);
    free(p->name);
    free(p->job);
    *p = (struct wr_convert_plan){0};
}
