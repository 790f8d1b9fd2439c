/* to_arrays.c - fields into files of arrays, and of rows: by any writer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/kind.h"

#include <stdlib.h>

#include "base/error.h"
#include "convert/sample.h"
#include "convert/shardfile.h"
#include "format/schema.h"

static int check_pictures(const struct wr_convert_plan *p, weir_err *err)
{
    if (p->cfg->max_side || p->cfg->quality)
        return wr_fail(err, WEIR_EINVAL,
                       "a longest side and a quality are for pictures, not "
                       "for arrays");
    return 0;
}

/* All samples of an array are alike. */
static int arrays_check(const struct wr_convert_plan *p, weir_err *err)
{
    for (uint32_t k = 0; k < p->field_count; k++)
        if (!wr_field_bytes(&p->fields[k]))
            return wr_fail(err, WEIR_ENOTSUP,
                           "field '%s' differs from sample to sample and is no "
                           "array of '%s': leave it out (--fields)",
                           p->fields[k].name, p->cfg->to);
    if (p->to_arrays->single && p->field_count > 1)
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s' holds one field and no labels: choose it "
                       "(--fields %s)",
                       p->cfg->to, p->fields[0].name);
    if (p->cfg->packed && !p->to_arrays->packs)
        return wr_fail(err, WEIR_ENOTSUP, "'%s' does not deflate", p->cfg->to);
    return check_pictures(p, err);
}

/* Field `k` of the sample in a slot. */
static struct wr_slice slice(const weir_batch *b, uint32_t k, uint32_t slot)
{
    const weir_batch_field *f = &b->fields[k];
    const uint8_t *bytes = f->data;
    size_t len = f->bytes / b->count;

    if (f->offsets)
        return (struct wr_slice){
            bytes + f->offsets[slot],
            (size_t)(f->offsets[slot + 1] - f->offsets[slot])};
    return (struct wr_slice){bytes + slot * len, len};
}

static int arrays_open(const struct wr_convert_plan *p,
                       struct wr_convert_shard *s, weir_err *err)
{
    const struct wr_array_layout layout = {
        .fields = p->fields,
        .count = p->field_count,
        .samples = p->first[s->number + 1] - p->first[s->number],
        .packed = p->cfg->packed,
    };

    return p->to_arrays->open(s->object, &layout, &s->arrays, err);
}

static int arrays_put(const struct wr_convert_plan *p, struct wr_stage *st,
                      struct wr_convert_shard *s,
                      const struct wr_convert_run *run, weir_err *err)
{
    struct wr_slice values[WR_FIELD_MAX];
    int r = 0;

    (void)st;
    for (uint32_t i = 0; i < run->count && r == 0; i++) {
        for (uint32_t k = 0; k < p->field_count; k++)
            values[k] = slice(run->batch, k, run->first + i);
        r = p->to_arrays->add(s->arrays, values, err);
    }
    return r;
}

static int put_side(void *stage, const char *path, const void *bytes,
                    size_t len, weir_err *err)
{
    return wr_stage_put(stage, path, bytes, len, err);
}

static int arrays_finish(const struct wr_convert_plan *p, struct wr_stage *st,
                         struct wr_convert_shard *s, weir_err *err)
{
    char name[WR_CONVERT_NAME_MAX];
    int r = p->to_arrays->finish(s->arrays, &s->end, err);

    if (r < 0)
        return r;
    wr_convert_plan_shard_name(p, s->number, name);
    r = wr_array_writer_sides(p->to_arrays, s->arrays,
                              &(struct wr_side_sink){name, put_side, st}, err);
    return r < 0 ? r : wr_shardfile_finish(p, st, s, err);
}

const struct wr_convert_kind wr_convert_arrays = {
    .fields = true,
    .check = arrays_check,
    .open = arrays_open,
    .put = arrays_put,
    .finish = arrays_finish,
};

/* --- rows --- */

static int rows_check(const struct wr_convert_plan *p, weir_err *err)
{
    if (p->cfg->packed)
        return wr_fail(err, WEIR_ENOTSUP, "'%s' does not deflate", p->cfg->to);
    return check_pictures(p, err);
}

static int rows_open(const struct wr_convert_plan *p,
                     struct wr_convert_shard *s, weir_err *err)
{
    return p->writer->begin
               ? p->writer->begin(&s->ahead, p->fields, p->field_count, err)
               : 0;
}

static int rows_put(const struct wr_convert_plan *p, struct wr_stage *st,
                    struct wr_convert_shard *s,
                    const struct wr_convert_run *run, weir_err *err)
{
    struct wr_slice values[WR_FIELD_MAX];
    char key[WR_CONVERT_KEY_MAX];
    int r = 0;

    for (uint32_t i = 0; i < run->count && r == 0; i++) {
        uint32_t slot = run->first + i;
        const struct wr_sample sample = {.id = run->batch->ids[slot]};
        const struct wr_write_sample w = {.key = key,
                                          .label = run->batch->labels[slot],
                                          .fields = p->fields,
                                          .values = values,
                                          .field_count = p->field_count};

        for (uint32_t k = 0; k < p->field_count; k++)
            values[k] = slice(run->batch, k, slot);
        wr_convert_key(p, &sample, key);
        r = p->writer->add(&s->ahead, &w, err);
        if (r == 0)
            r = wr_shardfile_flush(st, s, WR_SHARDFILE_AHEAD, err);
    }
    return r;
}

static int rows_finish(const struct wr_convert_plan *p, struct wr_stage *st,
                       struct wr_convert_shard *s, weir_err *err)
{
    int r = p->writer->finish ? p->writer->finish(&s->ahead, err) : 0;

    return r < 0 ? r : wr_shardfile_finish(p, st, s, err);
}

const struct wr_convert_kind wr_convert_rows = {
    .fields = true,
    .check = rows_check,
    .open = rows_open,
    .put = rows_put,
    .finish = rows_finish,
};
