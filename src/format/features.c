/* features.c - the features of a tf.train.Example, by their names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/features.h"

#include <string.h>

#include "base/le.h"

/* Of a Feature; the list that comes last counts, as in protobuf. */
static bool read_feature(struct wr_pb_span s, struct wr_feature *ret)
{
    struct wr_pb_field f;

    while (s.len) {
        if (!wr_pb_field(&s, &f))
            return false;
        if (f.wire != WR_PB_LEN || f.number < 1 || f.number > 3)
            continue;
        ret->list = f.body;
        ret->kind = (enum wr_feature_kind)f.number;
    }
    return true;
}

/* One entry of the map: its key and its value, which may be missing. */
static bool read_entry(struct wr_pb_span s, struct wr_feature *ret)
{
    struct wr_pb_span value = {0};
    struct wr_pb_field f;

    *ret = (struct wr_feature){0};
    while (s.len) {
        if (!wr_pb_field(&s, &f))
            return false;
        if (f.wire == WR_PB_LEN && f.number == 1)
            ret->name = f.body;
        else if (f.wire == WR_PB_LEN && f.number == 2)
            value = f.body;
    }
    return read_feature(value, ret);
}

bool wr_features_each(struct wr_pb_span example,
                      bool (*fn)(void *arg, const struct wr_feature *f),
                      void *arg)
{
    struct wr_pb_span features, entry;
    struct wr_feature f;

    for (;;) {
        if (!wr_pb_message(&example, 1, &features))
            return false;
        if (!features.at)
            return true;
        for (;;) {
            if (!wr_pb_message(&features, 1, &entry))
                return false;
            if (!entry.at)
                break;
            if (!read_entry(entry, &f) || !fn(arg, &f))
                return false;
        }
    }
}

bool wr_features_are_sequence(struct wr_pb_span example)
{
    struct wr_pb_span lists;

    return wr_pb_message(&example, 2, &lists) && lists.at;
}

/* The values of one field of a list: packed ones, or one. */
static bool count_values(const struct wr_feature *f,
                         const struct wr_pb_field *field, uint64_t *count)
{
    struct wr_pb_span body = field->body;
    uint64_t v;

    if (f->kind == WR_FEATURE_BYTES)
        *count += field->wire == WR_PB_LEN;
    else if (f->kind == WR_FEATURE_FLOAT && field->wire == WR_PB_LEN)
        *count += body.len / 4;
    else if (f->kind == WR_FEATURE_FLOAT)
        *count += field->wire == WR_PB_32;
    else if (field->wire == WR_PB_VARINT)
        *count += 1;
    else if (field->wire == WR_PB_LEN)
        for (; body.len; ++*count)
            if (!wr_pb_varint(&body, &v))
                return false;
    return f->kind != WR_FEATURE_FLOAT || field->wire != WR_PB_LEN ||
           body.len % 4 == 0;
}

bool wr_feature_count(const struct wr_feature *f, uint64_t *ret)
{
    struct wr_pb_span list = f->list;
    struct wr_pb_field field;
    uint64_t count = 0;

    while (list.len) {
        if (!wr_pb_field(&list, &field) ||
            (field.number == 1 && !count_values(f, &field, &count)))
            return false;
    }
    *ret = count;
    return true;
}

bool wr_feature_bytes(const struct wr_feature *f, struct wr_pb_span *ret)
{
    struct wr_pb_span list = f->list;

    return wr_pb_message(&list, 1, ret);
}

static uint8_t *put_float(uint8_t *to, const uint8_t *from)
{
    uint32_t v = wr_le32(from);

    memcpy(to, &v, sizeof(v));
    return to + sizeof(v);
}

static uint8_t *put_int(uint8_t *to, uint64_t v)
{
    memcpy(to, &v, sizeof(v));
    return to + sizeof(v);
}

void wr_feature_numbers(const struct wr_feature *f, void *to)
{
    struct wr_pb_span list = f->list;
    struct wr_pb_field field;
    uint8_t *at = to;
    uint64_t v;

    while (list.len && wr_pb_field(&list, &field)) {
        struct wr_pb_span *body = &field.body;

        if (field.number != 1)
            continue;
        if (f->kind == WR_FEATURE_FLOAT)
            for (; (field.wire == WR_PB_LEN || field.wire == WR_PB_32) &&
                   body->len >= 4;
                 body->at += 4, body->len -= 4)
                at = put_float(at, body->at);
        else if (field.wire == WR_PB_VARINT)
            at = put_int(at, field.value);
        else if (field.wire == WR_PB_LEN)
            while (body->len && wr_pb_varint(body, &v))
                at = put_int(at, v);
    }
}
