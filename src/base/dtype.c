/* dtype.c - names and sizes of element types, and of what they make up.
 * SPDX-License-Identifier: Apache-2.0 */

#include "base/dtype.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/shown.h"

static const struct {
    const char *name;
    unsigned bits;
} types[] = {
#define ENTRY(name, value, text, bits) [value] = {text, bits},
    WEIR_DTYPE_MAP(ENTRY)
#undef ENTRY
};

/* The same in small letters: few, so that no buffer is needed. */
static const char *const texts[] = {
    [WEIR_F32] = "f32",
    [WEIR_F16] = "f16",
    [WEIR_U8] = "u8",
    [WEIR_BF16] = "bf16",
    [WEIR_F64] = "f64",
    [WEIR_I8] = "i8",
    [WEIR_I16] = "i16",
    [WEIR_U16] = "u16",
    [WEIR_I32] = "i32",
    [WEIR_U32] = "u32",
    [WEIR_I64] = "i64",
    [WEIR_U64] = "u64",
    [WEIR_BOOL] = "bool",
    [WEIR_C64] = "c64",
    [WEIR_F4] = "f4",
    [WEIR_F6_E2M3] = "f6_e2m3",
    [WEIR_F6_E3M2] = "f6_e3m2",
    [WEIR_F8_E5M2] = "f8_e5m2",
    [WEIR_F8_E4M3] = "f8_e4m3",
    [WEIR_F8_E8M0] = "f8_e8m0",
    [WEIR_F8_E4M3FNUZ] = "f8_e4m3fnuz",
    [WEIR_F8_E5M2FNUZ] = "f8_e5m2fnuz",
};

_Static_assert(WR_ARRAY_LEN(texts) == WR_ARRAY_LEN(types), "one text each");

const char *wr_dtype_name(enum weir_dtype t)
{
    return (size_t)t < WR_ARRAY_LEN(types) ? types[t].name : NULL;
}

const char *wr_dtype_text(enum weir_dtype t)
{
    return (size_t)t < WR_ARRAY_LEN(texts) ? texts[t] : NULL;
}

unsigned wr_dtype_bits(enum weir_dtype t)
{
    return (size_t)t < WR_ARRAY_LEN(types) ? types[t].bits : 0;
}

size_t wr_dtype_bytes(enum weir_dtype t)
{
    unsigned bits = wr_dtype_bits(t);

    return bits % 8 ? 0 : bits / 8;
}

bool wr_dtype_find(const char *name, enum weir_dtype *ret)
{
    int k = wr_named_index(WR_NAMED(types), name);

    if (k >= 0)
        *ret = (enum weir_dtype)k;
    return k >= 0;
}

bool wr_dtype_parse(const char *text, enum weir_dtype *ret)
{
    int k = wr_named_index(WR_NAMED(texts), text);

    if (k >= 0)
        *ret = (enum weir_dtype)k;
    return k >= 0;
}

int wr_tensor_bytes(const weir_tensor *t, uint64_t *ret, weir_err *err)
{
    unsigned width = wr_dtype_bits(t->dtype);
    const char *name = t->name ? t->name : "";
    uint64_t bits = 1;
    bool fits = true;

    if (!width)
        return wr_fail(err, WEIR_EINVAL, "'%s': type %d is unknown",
                       wr_show(name).text, (int)t->dtype);
    if (t->ndim > WEIR_TENSOR_DIMS)
        return wr_fail(err, WEIR_ELIMIT,
                       "'%s': has %" PRIu32 " dimensions, at most %d are "
                       "supported",
                       wr_show(name).text, t->ndim, WEIR_TENSOR_DIMS);
    /* A dimension of 0 behind others that overflow is refused too, as other
     * readers do. */
    for (uint32_t k = 0; k < t->ndim && fits; k++)
        fits = !__builtin_mul_overflow(bits, t->shape[k], &bits);
    if (!fits || __builtin_mul_overflow(bits, width, &bits))
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': the shape overflows: its size does not fit into "
                       "64 bits",
                       wr_show(name).text);
    if (bits % 8)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': %" PRIu64 " bits of %s are no whole bytes",
                       wr_show(name).text, bits, wr_dtype_name(t->dtype));
    *ret = bits / 8;
    return 0;
}
