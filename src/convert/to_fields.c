/* to_fields.c - decoded fields into files of arrays, rows and tensors.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Arrays and rows take all fields, by any writer. Tensors are samples as the
 * pipeline would deliver them: the first picture or tensor, and the label. */
#include "convert/kind.h"

#include "base/error.h"
#include "convert/sample.h"
#include "format/schema.h"

static int check_pictures(const struct wr_convert_plan *p, const char *what,
                          weir_err *err)
{
    if (p->cfg->max_side || p->cfg->quality)
        return wr_fail(err, WEIR_EINVAL,
                       "a longest side and a quality are for pictures, not "
                       "for %s",
                       what);
    return 0;
}

/* All samples of an array are alike. */
static int arrays_check(const struct wr_convert_plan *p, weir_err *err)
{
    const struct wr_array_writer_ops *to = p->form.arrays;

    for (uint32_t k = 0; k < p->field_count; k++)
        if (!wr_field_bytes(&p->fields[k]))
            return wr_fail(err, WEIR_ENOTSUP,
                           "field '%s' differs from sample to sample and is no "
                           "array of '%s': leave it out (--fields)",
                           p->fields[k].name, p->cfg->to);
    if (to->single && p->field_count > 1)
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s' holds one field and no labels: choose it "
                       "(--fields %s)",
                       p->cfg->to, p->fields[0].name);
    if (p->cfg->packed && !to->packs)
        return wr_fail(err, WEIR_ENOTSUP, "'%s' does not deflate", p->cfg->to);
    return check_pictures(p, "arrays", err);
}

static int rows_check(const struct wr_convert_plan *p, weir_err *err)
{
    if (p->cfg->packed)
        return wr_fail(err, WEIR_ENOTSUP, "'%s' does not deflate", p->cfg->to);
    return check_pictures(p, "arrays", err);
}

static int tensors_check(const struct wr_convert_plan *p, weir_err *err)
{
    return check_pictures(p, "tensors", err);
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

static int fields_put(const struct wr_convert_plan *p,
                      struct wr_convert_shard *s,
                      const struct wr_convert_run *run, weir_err *err)
{
    struct wr_slice values[WR_FIELD_MAX];
    char key[WR_CONVERT_KEY_MAX] = "";
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
        if (p->form.records)
            wr_convert_key(p, &sample, key);
        r = wr_sink_file_add(&s->file, &w, err);
    }
    return r;
}

static int tensors_put(const struct wr_convert_plan *p,
                       struct wr_convert_shard *s,
                       const struct wr_convert_run *run, weir_err *err)
{
    const weir_batch *b = run->batch;
    size_t bytes = p->shape.bytes;

    return wr_sink_file_add_tensors(
        &s->file, (const uint8_t *)b->data + run->first * bytes,
        run->count * bytes, b->labels + run->first, run->count, err);
}

const struct wr_convert_kind wr_convert_arrays = {
    .fields = true, .check = arrays_check, .put = fields_put};

const struct wr_convert_kind wr_convert_rows = {
    .fields = true, .check = rows_check, .put = fields_put};

const struct wr_convert_kind wr_convert_tensor = {.name = "tensor",
                                                  .tensors = true,
                                                  .check = tensors_check,
                                                  .put = tensors_put};

const struct wr_convert_kind wr_convert_npy = {
    .name = "npy", .tensors = true, .check = tensors_check, .put = tensors_put};
