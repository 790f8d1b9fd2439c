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
#include "base/named.h"
#include "convert/kind.h"
#include "format/decode.h"
#include "pipeline/arrays.h"
#include "pipeline/settings.h"
#include "storage/storage.h"

#define JOB_VERSION     2
#define ORDER_STREAM    UINT64_C(0x636f6e76) /* apart from the pipeline's */
#define NAME_PART_BYTES 200
#define SHARDS_MAX      UINT64_C(10000000)
#define INFLATED_BYTES  (UINT64_C(1) << 30) /* of packed objects in memory */

uint64_t wr_convert_plan_sample(const struct wr_convert_plan *p, uint64_t pos)
{
    uint64_t place = p->cfg->shuffle ? wr_perm_at(&p->perm, pos) : pos;

    return wr_split_sample(&p->split, place);
}

void wr_convert_plan_shard_name(const struct wr_convert_plan *p, uint64_t shard,
                                char buf[WR_CONVERT_NAME_MAX])
{
    if (p->kind->singles)
        snprintf(buf, WR_CONVERT_NAME_MAX, ".done-%05" PRIu64, shard);
    else
        snprintf(buf, WR_CONVERT_NAME_MAX,
                 "%s-%05" PRIu64 "-of-%05" PRIu64 "%s", p->name, shard,
                 p->shards, p->form.ext);
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

    if (p->shape.bytes)
        return p->shape.bytes;
    wr_index_part(p->ds->index, 0, wr_convert_plan_sample(p, pos), &place);
    return place.length;
}

/* A shard holds one sample at least, and is never larger than asked for if it
 * holds more. */
static int cut_shards(struct wr_convert_plan *p, weir_err *err)
{
    uint64_t limit = p->kind->singles ? WR_CONVERT_RANGE_BYTES
                                      : p->cfg->shard_bytes;
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
    if (p->kind->fields)
        n = asprintf(&tensor, "fields %s deflate %d %s\n",
                     t->fields ? t->fields : "", c->packed, text);
    else if (p->kind->tensors)
        n = asprintf(&tensor, "tensor %s\n", text);
    else
        n = asprintf(&tensor, "picture max-side %u quality %u%s%s\n",
                     c->max_side, c->quality, orient, c->check ? " check" : "");
    if (n >= 0)
        n = asprintf(&p->job,
                     "weir convert, version %d\n"
                     "source %s %016" PRIx64 " samples %" PRIu64
                     " bytes %" PRIu64 " classes %016" PRIx64 "\n"
                     "to %s name %s shard-size %" PRIu64 "\n"
                     "order %s seed %" PRIu64 "\n%s%s",
                     JOB_VERSION, p->ds->format->name,
                     wr_index_fingerprint(p->ds->index), p->count,
                     wr_index_bytes(p->ds->index), names, c->to, p->name,
                     c->shard_bytes, c->shuffle ? "shuffle" : "sequential",
                     c->shuffle ? c->seed : 0, part_text(p, part, sizeof(part)),
                     tensor);
    free(tensor);
    if (n >= 0)
        return 0;
    p->job = NULL;
    return wr_fail(err, WEIR_ENOMEM, "out of memory");
}

/* The order is the plan's; only whether there is one matters. */
static void set_feed(struct wr_convert_plan *p)
{
    const struct wr_field *first = wr_schema_first(
        wr_index_schema(p->ds->index));

    p->feed = p->cfg->tensor;
    p->feed.order = p->cfg->shuffle ? WEIR_ORDER_SHUFFLE
                                    : WEIR_ORDER_SEQUENTIAL;
    p->feed.on_error = p->cfg->fail_on_bad ? WEIR_ON_ERROR_FAIL
                                           : WEIR_ON_ERROR_SKIP;
    if (!p->kind->fields)
        p->feed.fields = first ? first->name : NULL;
}

/* Tensors keep their type: what is asked for is for pictures. */
static int keep_types(struct wr_convert_plan *p, const struct wr_arrays *a,
                      weir_err *err)
{
    p->own = calloc(a->count + 1, sizeof(*p->own));
    if (!p->own)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    p->feed.field = p->own;
    for (unsigned k = 0; k < a->count; k++)
        if (a->of[k].field->pub.kind == WEIR_FIELD_TENSOR)
            p->own[p->feed.field_count++] = (weir_field_config){
                .name = a->of[k].field->name,
                .picture = p->feed.picture,
                .convert = true,
                .dtype = a->of[k].field->pub.dtype,
            };
    return 0;
}

/* The fields as the pipeline delivers them, and the bytes of a sample. */
static int set_fields(struct wr_convert_plan *p, weir_err *err)
{
    struct wr_arrays a;
    int r = wr_arrays_init(&a, p->ds, &p->feed, err);

    if (r == 0)
        r = keep_types(p, &a, err);
    wr_arrays_done(&a);
    if (r < 0)
        return r;
    r = wr_arrays_init(&a, p->ds, &p->feed, err);
    if (r == 0)
        p->fields = calloc(a.count + 1, sizeof(*p->fields));
    if (r == 0 && !p->fields)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (unsigned k = 0; k < a.count && r == 0; k++) {
        const struct wr_tensor_shape *s = &a.of[k].shape;
        weir_field *f = &p->fields[p->field_count++];

        *f = a.of[k].field->pub;
        f->kind = f->kind == WEIR_FIELD_PICTURE ? WEIR_FIELD_TENSOR : f->kind;
        f->dtype = s->dtype;
        f->ndim = s->ndim;
        memcpy(f->dims, s->dims, sizeof(f->dims));
        p->shape.bytes += s->bytes;
    }
    wr_arrays_done(&a);
    return r;
}

/* Inside gzip nothing can be read without all that lies before it: samples in
 * any order are only possible when all fits into memory. */
static int check_units(const struct wr_convert_plan *p, weir_err *err)
{
    uint64_t sum = 0;

    for (uint64_t k = 0; k < wr_index_unit_count(p->ds->index); k++)
        sum += wr_index_unit(p->ds->index, k)->inflated;
    if (p->cfg->shuffle && sum > INFLATED_BYTES)
        return wr_fail(err, WEIR_ENOTSUP,
                       "gzip shards that inflate to %" PRIu64
                       " bytes cannot be read in any order: convert them in "
                       "sequence first, then shuffle the result",
                       sum);
    return 0;
}

const struct wr_convert_kind *wr_convert_kind_find(const char *name,
                                                   struct wr_file_form *ret)
{
    static const struct wr_convert_kind *const kinds[] = {
        &wr_convert_jpeg, &wr_convert_tensor, &wr_convert_npy};
    const struct wr_convert_kind *kind = wr_named_ops(
        kinds, WR_ARRAY_LEN(kinds), name);
    bool found = wr_file_form_find(name, ret);

    if (kind || !found)
        return kind;
    if (ret->arrays)
        return &wr_convert_arrays;
    if (!ret->records)
        return NULL;
    return ret->records->fields  ? &wr_convert_rows
           : ret->records->paths ? &wr_convert_archives
                                 : &wr_convert_records;
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
    p->kind = wr_convert_kind_find(cfg->to, &p->form);
    if (!p->kind)
        return wr_fail(err, WEIR_EINVAL, "'%s' is nothing to convert to",
                       cfg->to);
    r = find_part(p, err);
    if (r < 0)
        return r;
    set_feed(p);
    r = wr_classes_init(&p->classes, ds, err);
    if (r < 0)
        return r;
    p->labels = ds->format->unpack || wr_index_class_count(ds->index);
    wr_perm_init(&p->perm, p->count, cfg->seed, ORDER_STREAM);
    if (p->kind->fields)
        r = set_fields(p, err);
    if (r == 0)
        r = p->kind->check(p, err);
    if (r == 0)
        r = check_units(p, err);
    if (r == 0 && p->kind->tensors)
        r = wr_first_shape(ds->index, &cfg->tensor, &p->shape, err);
    p->tensor = (struct wr_gen_shape){.dtype = p->shape.dtype,
                                      .ndim = p->shape.ndim};
    memcpy(p->tensor.dims, p->shape.dims, sizeof(p->tensor.dims));
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
    free(p->fields);
    free(p->own);
    free(p->name);
    free(p->job);
    *p = (struct wr_convert_plan){0};
}
