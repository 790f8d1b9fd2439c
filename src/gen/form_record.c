/* form_record.c - samples one after the other: TFRecord, tar, CSV, JSON lines.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/form.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "codec/crc32c.h"
#include "format/tarmember.h"
#include "format/npz.h"
#include "format/tensor.h"
#include "format/tfrecord.h"

#define EXAMPLE_MAX (UINT64_C(1) << 31) /* protobuf's messages end there */
#define RECORD_TAR  10240u              /* tar pads its archives to this */
#define INDEX_LINE  48u /* bytes of a line of an index, at most */

/* --- TFRecord: Example{"image": the bytes, "size": their number} --- */

/* The bytes around the picture, in which each length counts what follows. */
struct example_frame {
    uint8_t head[64], tail[64];
    size_t head_len, tail_len;
};

static size_t put_varint(uint8_t *p, uint64_t v)
{
    size_t n = 0;

    for (; v >= 0x80; v >>= 7)
        p[n++] = (uint8_t)(v | 0x80);
    p[n++] = (uint8_t)v;
    return n;
}

static size_t field_len(uint64_t body)
{
    uint8_t v[10];

    return 1 + put_varint(v, body) + (size_t)body;
}

/* A field that is a string or message of `body` bytes: tag and length. */
static size_t put_tag(uint8_t *p, unsigned number, uint64_t body)
{
    p[0] = (uint8_t)(number << 3 | 2);
    return 1 + put_varint(p + 1, body);
}

/* One entry of the map, up to its value: `list` is 1 for bytes, 3 for
 * integers. */
static size_t put_entry(uint8_t *p, const char *key, unsigned list,
                        uint64_t value)
{
    uint64_t feature = field_len(field_len(value));
    uint64_t entry = field_len(strlen(key)) + field_len(feature);
    size_t n = put_tag(p, 1, entry);

    n += put_tag(p + n, 1, strlen(key));
    memcpy(p + n, key, strlen(key));
    n += strlen(key);
    n += put_tag(p + n, 2, feature);
    n += put_tag(p + n, list, field_len(value));
    return n + put_tag(p + n, 1, value);
}

static void frame_example(uint64_t bytes, struct example_frame *f)
{
    uint8_t number[10], *data = f->head + WR_TFRECORD_HEADER;
    uint8_t image[64];
    size_t number_len = put_varint(number, bytes);
    size_t image_len = put_entry(image, "image", 1, bytes), n;
    uint64_t features, payload;

    f->tail_len = put_entry(f->tail, "size", 3, number_len);
    memcpy(f->tail + f->tail_len, number, number_len);
    f->tail_len += number_len;
    features = image_len + bytes + f->tail_len;
    n = put_tag(data, 1, features);
    memcpy(data + n, image, image_len);
    payload = n + features;
    f->head_len = WR_TFRECORD_HEADER + n + image_len;
    wr_le_put(f->head, payload, 8);
    wr_le_put(f->head + 8, wr_crc32c_mask(wr_crc32c(0, f->head, 8)), 4);
}

static int tfrecord_check(const struct wr_workload *w, weir_err *err)
{
    if (w->dataset.record_bytes >= (double)EXAMPLE_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "record_length_bytes: an Example ends at 2 GiB");
    return 0;
}

static uint64_t record_bytes(const struct wr_gen_spec *s)
{
    struct example_frame f;

    frame_example(s->sample_bytes, &f);
    return f.head_len + s->sample_bytes + f.tail_len + 4;
}

static uint64_t tfrecord_size(const struct wr_gen_spec *s)
{
    return s->samples * (record_bytes(s) + INDEX_LINE / 2);
}

/* What DALI wants, as tfrecord2idx writes it: "OFFSET BYTES" of each record. */
static int tfrecord_side(const struct wr_gen_spec *s, unsigned k,
                         struct wr_bytes *to, weir_err *err)
{
    uint64_t bytes = record_bytes(s);

    (void)k;
    for (uint64_t i = 0; i < s->samples; i++) {
        uint8_t *line = wr_bytes_room(to, INDEX_LINE);

        if (!line)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        to->len += (size_t)snprintf((char *)line, INDEX_LINE,
                                    "%" PRIu64 " %" PRIu64 "\n", i * bytes,
                                    bytes);
    }
    return 0;
}

static int tfrecord_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                         weir_err *err)
{
    struct wr_pen *p = &m->pen;
    struct example_frame f;
    struct wr_noise n;
    uint8_t crc[4];

    if (s->sample_bytes + sizeof(f) >= EXAMPLE_MAX)
        return wr_fail(err, WEIR_ELIMIT, "an Example ends at 2 GiB");
    frame_example(s->sample_bytes, &f);
    wr_gen_spec_noise(s, 0, &n);
    for (uint64_t i = 0; i < s->samples && !p->failed.code; i++) {
        wr_pen_put(p, f.head, WR_TFRECORD_HEADER);
        p->sum = wr_crc32c;
        p->crc = 0;
        wr_pen_put(p, f.head + WR_TFRECORD_HEADER,
                   f.head_len - WR_TFRECORD_HEADER);
        wr_pen_noise(p, &n, i * s->sample_bytes, s->sample_bytes);
        wr_pen_put(p, f.tail, f.tail_len);
        p->sum = NULL;
        wr_le_put(crc, wr_crc32c_mask(p->crc), 4);
        wr_pen_put(p, crc, 4);
    }
    return 0;
}

/* --- tar: KEY.npy and KEY.cls of each sample --- */

static int put_head(struct wr_gen_maker *m, const char *name, uint64_t len,
                    weir_err *err)
{
    int r;

    m->scratch.len = 0;
    r = wr_tar_put_head(&m->scratch, name, len, err);
    if (r == 0)
        wr_pen_put(&m->pen, m->scratch.bytes, m->scratch.len);
    return r;
}

static int put_array(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                     uint64_t i, weir_err *err)
{
    struct wr_gen_shape shape = {.dtype = s->dtype, .ndim = s->dims.count - 1};
    struct wr_tensor_bytes head;
    struct wr_noise n;
    char name[48];
    int r;

    memcpy(shape.dims, s->dims.dim + 1, shape.ndim * sizeof(shape.dims[0]));
    r = wr_tensor_npy_header(&shape, s->dims.dim[0], &head, err);
    if (r < 0)
        return r;
    snprintf(name, sizeof(name), "%09" PRIu64 ".npy", s->first + i);
    r = put_head(m, name, head.len + s->sample_bytes, err);
    wr_pen_put(&m->pen, head.bytes, head.len);
    free(head.bytes);
    wr_gen_spec_noise(s, 0, &n);
    wr_pen_noise(&m->pen, &n, i * s->sample_bytes, s->sample_bytes);
    wr_pen_pad(&m->pen, WR_TAR_BLOCK);
    return r;
}

static int put_class(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                     uint64_t i, weir_err *err)
{
    char name[48];
    int r;

    snprintf(name, sizeof(name), "%09" PRIu64 ".cls", s->first + i);
    r = put_head(m, name, 1, err);
    wr_pen_put(&m->pen, "0", 1);
    wr_pen_pad(&m->pen, WR_TAR_BLOCK);
    return r;
}

static uint64_t tar_size(const struct wr_gen_spec *s)
{
    return s->samples * (WR_ALIGN_UP(s->sample_bytes + 128, WR_TAR_BLOCK) +
                         (uint64_t)3 * WR_TAR_BLOCK) +
           RECORD_TAR;
}

static int tar_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                    weir_err *err)
{
    int r = 0;

    for (uint64_t i = 0; i < s->samples && r == 0 && !m->pen.failed.code; i++) {
        r = put_array(m, s, i, err);
        if (r == 0)
            r = put_class(m, s, i, err);
    }
    wr_pen_zeros(&m->pen, (uint64_t)2 * WR_TAR_BLOCK);
    wr_pen_pad(&m->pen, RECORD_TAR);
    return r;
}

static const char *const index_ending[] = {".idx", NULL};

const struct wr_gen_form wr_gen_form_tfrecord = {
    .size = tfrecord_size,
    .check = tfrecord_check,
    .make = tfrecord_make,
    .sides = index_ending,
    .side_folder = "index",
    .side = tfrecord_side,
};
const struct wr_gen_form wr_gen_form_tar = {.size = tar_size, .make = tar_make};

/* --- numbers as text: CSV and JSON lines ---
 *
 * A number is looked up by a byte or two of noise: making its digits would take
 * longer than all else. Integers are 0 to 255, as far as their type has them,
 * floats have six digits behind the point. */

#define TEXTS     4096u /* numbers that there are */
#define TEXT_MAX  16u   /* bytes of one at most, with its comma */
#define PIECE     4096u /* numbers written at once */
#define MEAN_INT  3.57  /* bytes of a number of 0 to 255 and its comma */
#define MEAN_REAL 9.0

struct text_table {
    char text[TEXTS][TEXT_MAX];
    uint8_t len[TEXTS];
};

static bool is_real(enum weir_dtype dtype)
{
    const char *type = wr_npy_type(dtype);

    return type && type[0] == 'f';
}

static void fill_table(struct text_table *t, enum weir_dtype dtype)
{
    unsigned top = dtype == WEIR_I8 ? 128 : dtype == WEIR_BOOL ? 2 : 256;

    for (unsigned k = 0; k < TEXTS; k++) {
        char text[24];
        int n = is_real(dtype) ? snprintf(text, sizeof(text), "0.%06u,",
                                          (unsigned)(k * 1000000ull / TEXTS))
                               : snprintf(text, sizeof(text), "%u,", k % top);

        memcpy(t->text[k], text, TEXT_MAX);
        t->len[k] = (uint8_t)n;
    }
}

/* The numbers of a sample, without the comma behind the last one. */
static void put_numbers(struct wr_pen *p, const struct wr_gen_spec *s,
                        const struct text_table *t, uint64_t sample)
{
    struct wr_noise noise;
    uint64_t count = 1;

    for (unsigned k = 0; k < s->dims.count; k++)
        count *= s->dims.dim[k];
    wr_gen_spec_noise(s, 0, &noise);
    noise.mask[0] = noise.mask[1] = UINT32_MAX;
    for (uint64_t done = 0; done < count && !p->failed.code;) {
        size_t n = (size_t)WR_MIN(count - done, (uint64_t)PIECE), len = 0;
        char text[PIECE * TEXT_MAX];
        uint8_t which[PIECE * 2];

        wr_noise_fill(&noise, (sample * count + done) * 2, which, n * 2);
        for (size_t k = 0; k < n; k++) {
            unsigned v = wr_le16(which + 2 * k) % TEXTS;

            memcpy(text + len, t->text[v], TEXT_MAX);
            len += t->len[v];
        }
        done += n;
        wr_pen_put(p, text, len - (done == count));
    }
}

/* Every sample between two texts. */
static int put_texts(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                     const char *before, const char *behind, weir_err *err)
{
    struct text_table *t;

    m->scratch.len = 0;
    t = (void *)wr_bytes_room(&m->scratch, sizeof(*t));
    if (!t)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    fill_table(t, s->dtype);
    for (uint64_t i = 0; i < s->samples && !m->pen.failed.code; i++) {
        wr_pen_put(&m->pen, before, strlen(before));
        put_numbers(&m->pen, s, t, i);
        wr_pen_put(&m->pen, behind, strlen(behind));
    }
    return 0;
}

static int csv_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                    weir_err *err)
{
    return put_texts(m, s, "", "\n", err);
}

static int jsonl_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                      weir_err *err)
{
    return put_texts(m, s, "{\"x\":[", "],\"y\":0}\n", err);
}

static uint64_t text_size(const struct wr_gen_spec *s)
{
    double count = 1, mean = is_real(s->dtype) ? MEAN_REAL : MEAN_INT;

    for (unsigned k = 0; k < s->dims.count; k++)
        count *= (double)s->dims.dim[k];
    return (uint64_t)((double)s->samples * (count * mean + 16));
}

const struct wr_gen_form wr_gen_form_csv = {.size = text_size,
                                            .make = csv_make};
const struct wr_gen_form wr_gen_form_jsonl = {.size = text_size,
                                              .make = jsonl_make};
