/* to_tensors.c - samples as the pipeline would deliver them: .wt and .npy.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "convert/shardfile.h"
#include "format/tensor.h"

#define COPY_BYTES (4u << 20)

static bool is_npy(const struct wr_convert_plan *p)
{
    return p->kind == &wr_convert_npy;
}

static int tensors_check(const struct wr_convert_plan *p, weir_err *err)
{
    if (p->cfg->max_side || p->cfg->quality)
        return wr_fail(err, WEIR_EINVAL,
                       "a longest side and a quality are for pictures, not "
                       "for tensors");
    return 0;
}

static struct wr_gen_shape shape_of(const struct wr_convert_plan *p)
{
    struct wr_gen_shape s = {.dtype = p->shape.dtype, .ndim = p->shape.ndim};

    memcpy(s.dims, p->shape.dims, sizeof(s.dims));
    return s;
}

/* The head of a file of `count` samples. */
static int make_head(const struct wr_convert_plan *p, uint64_t count,
                     const uint32_t *labels, struct wr_tensor_bytes *ret,
                     weir_err *err)
{
    struct wr_gen_shape s = shape_of(p);

    return is_npy(p) ? wr_tensor_npy_header(&s, count, ret, err)
                     : wr_tensor_wt_header(&s, count, labels, ret, err);
}

/* As large as it is when no sample is bad. */
static int tensors_head_room(const struct wr_convert_plan *p, uint64_t shard,
                             uint64_t *ret, weir_err *err)
{
    uint64_t count = p->first[shard + 1] - p->first[shard];
    struct wr_tensor_bytes head;
    uint32_t *labels = p->labels ? calloc(count, sizeof(*labels)) : NULL;
    int r;

    if (p->labels && !labels)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = make_head(p, count, labels, &head, err);
    free(labels);
    if (r < 0)
        return r;
    *ret = head.len;
    free(head.bytes);
    return 0;
}

static int tensors_open(const struct wr_convert_plan *p,
                        struct wr_convert_shard *s, weir_err *err)
{
    return tensors_head_room(p, s->number, &s->end, err);
}

static int tensors_put(const struct wr_convert_plan *p, struct wr_stage *st,
                       struct wr_convert_shard *s,
                       const struct wr_convert_run *run, weir_err *err)
{
    const weir_batch *b = run->batch;
    size_t bytes = p->shape.bytes;

    if (!wr_grow(&s->labels, &s->label_cap, s->label_count + run->count,
                 sizeof(*s->labels)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(s->labels + s->label_count, b->labels + run->first,
           run->count * sizeof(*s->labels));
    s->label_count += run->count;
    return wr_shardfile_append(st, s,
                               (const uint8_t *)b->data + run->first * bytes,
                               run->count * bytes, err);
}

static int copy_range(struct wr_stage *st, struct wr_object *from,
                      struct wr_object *to, const uint64_t range[3],
                      weir_err *err)
{
    uint8_t *buf = malloc(COPY_BYTES);
    int r = buf ? 0 : wr_fail(err, WEIR_ENOMEM, "out of memory");

    for (uint64_t at = 0; r == 0 && at < range[2];) {
        uint64_t left = range[2] - at;
        int64_t n = from->ops->read(from, buf,
                                    (size_t)WR_MIN(left, (uint64_t)COPY_BYTES),
                                    range[0] + at, err);

        if (n <= 0)
            r = n < 0 ? (int)n : wr_fail(err, WEIR_EIO, "ends early");
        else
            r = wr_stage_write(st, to, buf, (size_t)n, range[1] + at, err);
        at += r == 0 ? (uint64_t)n : 0;
    }
    free(buf);
    return r;
}

/* So many samples were bad that the head is smaller than was thought: the
 * samples move up, in a new file. */
static int move_samples(struct wr_stage *st, struct wr_convert_shard *s,
                        uint64_t room, uint64_t head, weir_err *err)
{
    char hidden[WR_CONVERT_NAME_MAX], moved[WR_CONVERT_NAME_MAX + 8];
    struct wr_object *o = NULL;
    int r;

    wr_shardfile_hidden(s->number, hidden);
    snprintf(moved, sizeof(moved), "%s-moved", hidden);
    r = wr_stage_create(st, moved, &o, err);
    if (r < 0)
        return r;
    r = copy_range(st, s->object, o, (uint64_t[]){room, head, s->end - room},
                   err);
    if (r == 0)
        r = wr_stage_rename(st, moved, hidden, err);
    if (r < 0) {
        o->ops->close(o, /* sync= */ false, NULL);
        return r;
    }
    s->object->ops->close(s->object, /* sync= */ false, NULL);
    s->object = o;
    s->end = s->end - room + head;
    return 0;
}

static int put_labels(const struct wr_convert_plan *p, struct wr_stage *st,
                      const struct wr_convert_shard *s, weir_err *err)
{
    char name[WR_CONVERT_NAME_MAX + 16];
    struct wr_tensor_bytes file;
    int r = wr_tensor_npy_labels(s->labels, s->label_count, &file, err);

    if (r < 0)
        return r;
    wr_convert_plan_shard_name(p, s->number, name);
    strcpy(strrchr(name, '.'), ".labels.npy");
    r = wr_stage_put(st, name, file.bytes, file.len, err);
    free(file.bytes);
    return r;
}

static int tensors_finish(const struct wr_convert_plan *p, struct wr_stage *st,
                          struct wr_convert_shard *s, weir_err *err)
{
    struct wr_tensor_bytes head = {0};
    uint64_t room = 0;
    int r = wr_shardfile_flush(st, s, 0, err);

    if (r == 0)
        r = tensors_head_room(p, s->number, &room, err);
    if (r == 0)
        r = make_head(p, s->label_count, p->labels ? s->labels : NULL, &head,
                      err);
    if (r < 0)
        return r;
    if (head.len != room)
        r = move_samples(st, s, room, head.len, err);
    if (r == 0)
        r = wr_stage_write(st, s->object, head.bytes, head.len, 0, err);
    free(head.bytes);
    if (r == 0 && p->labels && is_npy(p))
        r = put_labels(p, st, s, err);
    return r < 0 ? r : wr_shardfile_finish(p, st, s, err);
}

#define TENSORS                                                                \
    .tensors = true, .check = tensors_check, .open = tensors_open,             \
    .put = tensors_put, .finish = tensors_finish

const struct wr_convert_kind wr_convert_tensor = {
    .name = "tensor",
    .ext = ".wt",
    TENSORS,
};

const struct wr_convert_kind wr_convert_npy = {
    .name = "npy",
    .ext = ".npy",
    TENSORS,
};
