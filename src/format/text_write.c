/* text_write.c - CSV rows and JSON lines, a sample each.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/text.h"
#include "codec/cast.h"
#include "codec/number.h"
#include "format/schema.h"

/* --- numbers as text --- */

/* The wider type that a number is printed as. */
static enum weir_dtype printed_as(enum weir_dtype t)
{
    switch (t) {
    case WEIR_F16:
    case WEIR_BF16:
        return WEIR_F32;
    case WEIR_BOOL:
    case WEIR_I8:
    case WEIR_I16:
    case WEIR_I32:
    case WEIR_U8:
    case WEIR_U16:
    case WEIR_U32:
        return WEIR_I64;
    default:
        return t;
    }
}

static size_t put_word(double v, const char *const words[3], char *p)
{
    const char *word = isnan(v) ? words[0] : v > 0 ? words[1] : words[2];

    memcpy(p, word, strlen(word));
    return strlen(word);
}

/* One element of a type that is printed as it is. */
static size_t put_number(enum weir_dtype t, const uint8_t *at,
                         const char *const words[3], char *p)
{
    double d;
    float f;
    int64_t i;
    uint64_t u;

    switch (t) {
    case WEIR_F32:
        memcpy(&f, at, sizeof(f));
        return isfinite(f) ? wr_number_write_f32(f, p)
                           : put_word((double)f, words, p);
    case WEIR_F64:
        memcpy(&d, at, sizeof(d));
        return isfinite(d) ? wr_number_write_f64(d, p) : put_word(d, words, p);
    case WEIR_U64:
        memcpy(&u, at, sizeof(u));
        return wr_number_write_u64(u, p);
    default:
        memcpy(&i, at, sizeof(i));
        return wr_number_write_i64(i, p);
    }
}

/* Appends `n` numbers of `f`, with a comma between: as few digits as are read
 * as the same number. What is not finite is written as `words` says: NaN,
 * infinity, minus infinity. */
static int write_numbers(struct wr_bytes *to, const weir_field *f,
                         struct wr_slice numbers, const char *const words[3],
                         weir_err *err)
{
    enum weir_dtype t = printed_as(f->dtype);
    size_t bytes = wr_dtype_bytes(f->dtype), count = 0;
    char *p, *start;
    uint8_t wide[8];

    if (!bytes || !wr_cast_can(f->dtype, t) ||
        (t != WEIR_F32 && t != WEIR_F64 && t != WEIR_I64 && t != WEIR_U64))
        return wr_fail(err, WEIR_ENOTSUP, "'%s': %s is not written as text",
                       f->name, wr_dtype_text(f->dtype));
    count = numbers.len / bytes;
    start = p = (char *)wr_bytes_room(to, count * (WR_NUMBER_TEXT + 1) + 1);
    if (!p)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < count; k++) {
        wr_cast(f->dtype, t, numbers.bytes + k * bytes, 1, wide);
        if (k)
            *p++ = ',';
        p += put_number(t, wide, words, p);
    }
    to->len += (size_t)(p - start);
    return 0;
}

static int append_text(struct wr_bytes *to, const char *text, size_t len,
                       weir_err *err)
{
    uint8_t *p = wr_bytes_room(to, len + 1);

    if (!p)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (len)
        memcpy(p, text, len);
    to->len += len;
    return 0;
}

/* --- CSV --- */

static const char *const csv_words[3] = {"nan", "inf", "-inf"};

static bool is_number(const weir_field *f)
{
    return f->kind == WEIR_FIELD_TENSOR || f->kind == WEIR_FIELD_SCALAR;
}

/* Quoted where it has to be. */
static int write_text(struct wr_bytes *to, const char *text, size_t len,
                      weir_err *err)
{
    bool quotes = !len || memchr(text, ',', len) || memchr(text, '"', len) ||
                  memchr(text, '\n', len) || memchr(text, '\r', len) ||
                  text[0] == ' ' || text[len - 1] == ' ' || text[0] == '\t' ||
                  text[len - 1] == '\t';
    int r = quotes ? append_text(to, "\"", 1, err) : 0;

    while (len && r == 0) {
        const char *quote = memchr(text, '"', len);
        size_t n = quote ? (size_t)(quote - text) + 1 : len;

        r = append_text(to, text, n, err);
        if (r == 0 && quote)
            r = append_text(to, "\"", 1, err);
        text += n;
        len -= n;
    }
    return r == 0 && quotes ? append_text(to, "\"", 1, err) : r;
}

/* The columns of one field: name, or name0, name1 and so on. */
static int write_names(struct wr_bytes *to, const weir_field *f, weir_err *err)
{
    uint64_t count = 1;
    char name[WR_FIELD_NAME + 32];
    int r = 0;

    for (uint32_t k = 0; is_number(f) && k < f->ndim; k++)
        count = f->dims[k] == WEIR_DIM_VARIES ? 0 : count * f->dims[k];
    if (!count)
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s' differs in size from sample to sample, and the "
                       "rows of CSV do not: choose jsonl",
                       f->name);
    if (f->kind == WEIR_FIELD_PICTURE)
        return wr_fail(err, WEIR_ENOTSUP, "'%s' is a picture: CSV has none",
                       f->name);
    for (uint64_t k = 0; k < count && r == 0; k++) {
        int n = count == 1
                    ? snprintf(name, sizeof(name), "%s", f->name)
                    : snprintf(name, sizeof(name), "%s%" PRIu64, f->name, k);

        if (k)
            r = append_text(to, ",", 1, err);
        if (r == 0)
            r = write_text(to, name, (size_t)n, err);
    }
    return r;
}

static int csv_begin(struct wr_bytes *to, const weir_field *fields,
                     unsigned count, weir_err *err)
{
    int r = 0;

    for (unsigned k = 0; k < count && r == 0; k++) {
        if (k)
            r = append_text(to, ",", 1, err);
        if (r == 0)
            r = write_names(to, &fields[k], err);
    }
    return r < 0 ? r : append_text(to, "\n", 1, err);
}

static int write_value(struct wr_bytes *to, const weir_field *f,
                       struct wr_slice v, weir_err *err)
{
    if (!v.bytes)
        return 0; /* the sample does not have it */
    if (is_number(f))
        return write_numbers(to, f, v, csv_words, err);
    return write_text(to, (const char *)v.bytes, v.len, err);
}

static int csv_add(struct wr_bytes *to, const struct wr_write_sample *s,
                   weir_err *err)
{
    int r = s->field_count ? 0
                           : wr_fail(err, WEIR_ENOTSUP,
                                     "CSV holds numbers and texts, no "
                                     "pictures");

    for (unsigned k = 0; k < s->field_count && r == 0; k++) {
        if (k)
            r = append_text(to, ",", 1, err);
        if (r == 0)
            r = write_value(to, &s->fields[k], s->values[k], err);
    }
    return r < 0 ? r : append_text(to, "\n", 1, err);
}

const struct wr_writer_ops wr_writer_csv = {
    .name = "csv",
    .ext = ".csv",
    .fields = true,
    .begin = csv_begin,
    .add = csv_add,
};

/* --- JSON lines --- */

static const char *const json_words[3] = {"NaN", "Infinity", "-Infinity"};

static int put(struct wr_bytes *to, const char *text, weir_err *err)
{
    return append_text(to, text, strlen(text), err);
}

static int write_string(struct wr_bytes *to, const char *text, size_t len,
                        weir_err *err)
{
    char *p, *start;

    if (wr_text_not_utf8(text, text + len))
        return wr_fail(err, WEIR_ENOTSUP,
                       "bytes that are not UTF-8 cannot be written as JSON");
    start = p = (char *)wr_bytes_room(to, len * WR_TEXT_ESCAPED + 2);
    if (!p)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *p++ = '"';
    p += wr_text_escape(text, len, /* html= */ false, p);
    *p++ = '"';
    to->len += (size_t)(p - start);
    return 0;
}

/* The array of dimension `depth` on; `v` shrinks from its front. */
static int write_array(struct wr_bytes *to, const weir_field *f, uint32_t depth,
                       struct wr_slice *v, weir_err *err)
{
    size_t bytes = wr_dtype_bytes(f->dtype);
    bool last = depth + 1 >= f->ndim;
    uint64_t count = f->dims[depth];
    struct wr_slice row;
    int r = put(to, "[", err);

    if (last && r == 0) {
        row = (struct wr_slice){v->bytes, count == WEIR_DIM_VARIES
                                              ? v->len
                                              : (size_t)count * bytes};
        if (row.len > v->len)
            return wr_fail(err, WEIR_EINVAL, "'%s': too few bytes", f->name);
        r = write_numbers(to, f, row, json_words, err);
        v->bytes += row.len;
        v->len -= row.len;
    }
    for (uint64_t k = 0; !last && k < count && r == 0; k++) {
        r = k ? put(to, ",", err) : 0;
        if (r == 0)
            r = write_array(to, f, depth + 1, v, err);
    }
    return r < 0 ? r : put(to, "]", err);
}

static int write_tensor(struct wr_bytes *to, const weir_field *f,
                        struct wr_slice v, weir_err *err)
{
    for (uint32_t k = 0; f->ndim > 1 && k < f->ndim; k++)
        if (f->dims[k] == WEIR_DIM_VARIES)
            return wr_fail(err, WEIR_ENOTSUP,
                           "'%s' has several dimensions and differs in size "
                           "from sample to sample",
                           f->name);
    return write_array(to, f, 0, &v, err);
}

static int write_json(struct wr_bytes *to, const weir_field *f,
                      struct wr_slice v, weir_err *err)
{
    if (!v.bytes)
        return put(to, "null", err);
    if (f->kind == WEIR_FIELD_TENSOR && f->ndim)
        return write_tensor(to, f, v, err);
    if (f->kind == WEIR_FIELD_TENSOR || f->kind == WEIR_FIELD_SCALAR)
        return write_numbers(to, f, v, json_words, err);
    if (f->kind == WEIR_FIELD_PICTURE)
        return wr_fail(err, WEIR_ENOTSUP, "'%s' is a picture: JSON has none",
                       f->name);
    return write_string(to, (const char *)v.bytes, v.len, err);
}

static int jsonl_add(struct wr_bytes *to, const struct wr_write_sample *s,
                     weir_err *err)
{
    int r = s->field_count
                ? put(to, "{", err)
                : wr_fail(err, WEIR_ENOTSUP,
                          "JSON lines hold numbers and texts, no pictures");

    for (unsigned k = 0; k < s->field_count && r == 0; k++) {
        const char *name = s->fields[k].name;

        r = k ? put(to, ",", err) : 0;
        if (r == 0)
            r = write_string(to, name, strlen(name), err);
        if (r == 0)
            r = put(to, ":", err);
        if (r == 0)
            r = write_json(to, &s->fields[k], s->values[k], err);
    }
    return r < 0 ? r : put(to, "}\n", err);
}

const struct wr_writer_ops wr_writer_jsonl = {
    .name = "jsonl",
    .ext = ".jsonl",
    .fields = true,
    .add = jsonl_add,
};
