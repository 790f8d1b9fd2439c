/* tfrecord_write.c - samples -> TFRecord shards of tf.train.Example.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/writer.h"

#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "codec/crc32c.h"
#include "format/example.h"
#include "format/tfrecord.h"

/* Protobuf messages end at 2 GiB; readers refuse more. */
#define MESSAGE_MAX  ((size_t)INT32_MAX)
#define FEATURES_MAX 7
#define TAG(n, wire) ((uint8_t)((n) << 3 | (wire)))
#define WIRE_LEN     2
#define BYTES_LIST   1
#define INT64_LIST   3

/* One feature: bytes in two parts (name and ending), or a number. */
struct put_feature {
    const char *key;
    unsigned list; /* BYTES_LIST or INT64_LIST */
    const void *bytes;
    size_t len;
    const char *ending; /* behind the bytes; "" for none */
    uint64_t number;
};

static size_t varint_size(uint64_t v)
{
    size_t n = 1;

    while (v >>= 7)
        n++;
    return n;
}

/* A field of `len` bytes: tag, length, body. All tags here are one byte. */
static size_t field_size(size_t len)
{
    return 1 + varint_size(len) + len;
}

static size_t value_size(const struct put_feature *f)
{
    return f->list == INT64_LIST ? varint_size(f->number)
                                 : f->len + strlen(f->ending);
}

static size_t list_size(const struct put_feature *f)
{
    return field_size(value_size(f));
}

static size_t entry_size(const struct put_feature *f)
{
    return field_size(strlen(f->key)) + field_size(field_size(list_size(f)));
}

static uint8_t *put_varint(uint8_t *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

static uint8_t *put_head(uint8_t *p, unsigned number, size_t len)
{
    *p++ = TAG(number, WIRE_LEN);
    return put_varint(p, len);
}

static uint8_t *put_bytes(uint8_t *p, const void *bytes, size_t len)
{
    if (len)
        memcpy(p, bytes, len);
    return p + len;
}

static uint8_t *put_feature(uint8_t *p, const struct put_feature *f)
{
    size_t key_len = strlen(f->key);

    p = put_head(p, 1, entry_size(f)); /* of the map */
    p = put_head(p, 1, key_len);
    p = put_bytes(p, f->key, key_len);
    p = put_head(p, 2, field_size(list_size(f))); /* the Feature */
    p = put_head(p, f->list, list_size(f));
    p = put_head(p, 1, value_size(f)); /* numbers are packed */
    if (f->list == INT64_LIST)
        return put_varint(p, f->number);
    p = put_bytes(p, f->bytes, f->len);
    return put_bytes(p, f->ending, strlen(f->ending));
}

static struct put_feature text_of(const char *key, const char *text,
                                  const char *ending)
{
    return (struct put_feature){.key = key,
                                .list = BYTES_LIST,
                                .bytes = text,
                                .len = strlen(text),
                                .ending = ending};
}

static struct put_feature number_of(const char *key, uint64_t number)
{
    return (struct put_feature){
        .key = key, .list = INT64_LIST, .number = number, .ending = ""};
}

/* In the order of their names, so that equal samples are equal bytes. */
static unsigned features_of(const struct wr_write_sample *s,
                            struct put_feature *f)
{
    enum wr_picture_kind kind = s->info.kind;
    unsigned n = 0;

    if (s->label != WEIR_NO_LABEL)
        f[n++] = number_of(WR_EXAMPLE_LABEL, s->label);
    if (s->class_name)
        f[n++] = text_of(WR_EXAMPLE_TEXT, s->class_name, "");
    f[n++] = (struct put_feature){.key = WR_EXAMPLE_ENCODED,
                                  .list = BYTES_LIST,
                                  .bytes = s->bytes,
                                  .len = s->len,
                                  .ending = ""};
    f[n++] = text_of(WR_EXAMPLE_FILENAME, s->key, wr_picture_kind_ext(kind));
    if (kind == WR_PICTURE_UNKNOWN)
        return n;
    f[n++] = text_of(WR_EXAMPLE_FORMAT, wr_picture_kind_name(kind), "");
    if (s->info.width && s->info.height) {
        f[n++] = number_of(WR_EXAMPLE_HEIGHT, s->info.height);
        f[n++] = number_of(WR_EXAMPLE_WIDTH, s->info.width);
    }
    return n;
}

static void put_record(uint8_t *p, const struct put_feature *f, unsigned count,
                       size_t features_len)
{
    size_t len = field_size(features_len);
    uint8_t *data = p + WR_TFRECORD_HEADER, *end;

    wr_le_put(p, len, 8);
    wr_le_put(p + 8, wr_crc32c_mask(wr_crc32c(0, p, 8)), 4);
    end = put_head(data, 1, features_len);
    for (unsigned k = 0; k < count; k++)
        end = put_feature(end, &f[k]);
    wr_le_put(end, wr_crc32c_mask(wr_crc32c(0, data, len)), 4);
}

static int tfrecord_add(struct wr_bytes *to, const struct wr_write_sample *s,
                        weir_err *err)
{
    struct put_feature f[FEATURES_MAX];
    unsigned count = features_of(s, f);
    size_t features_len = 0, total;
    uint8_t *p;

    if (s->len > MESSAGE_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "'%s': %zu bytes do not fit into an Example", s->key,
                       s->len);
    for (unsigned k = 0; k < count; k++)
        features_len += field_size(entry_size(&f[k]));
    total = field_size(features_len) + WR_TFRECORD_EXTRA;
    if (total > MESSAGE_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "'%s': an Example of %zu bytes is too long", s->key,
                       total);
    p = wr_bytes_room(to, total);
    if (!p)
        return wr_fail(err, WEIR_ENOMEM, "'%s': out of memory", s->key);
    put_record(p, f, count, features_len);
    to->len += total;
    return 0;
}

const struct wr_writer_ops wr_writer_tfrecord = {
    .name = "tfrecord",
    .ext = ".tfrecord",
    .add = tfrecord_add,
};
