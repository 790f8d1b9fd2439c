/* text_write.c - elements of fields as text, for writers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/text_write.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "codec/cast.h"

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

int wr_text_write_numbers(struct wr_bytes *to, const weir_field *f,
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

int wr_text_write(struct wr_bytes *to, const char *text, size_t len,
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
