/* dtype.c - names and sizes of element types.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/dtype.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "checkpoint/shown.h"

static const struct {
    const char *name;
    unsigned bits;
} types[] = {
#define ENTRY(name, value, text, bits) [value] = {text, bits},
    WEIR_DTYPE_MAP(ENTRY)
#undef ENTRY
};

const char *wr_dtype_name(enum weir_dtype t)
{
    return (size_t)t < WR_ARRAY_LEN(types) ? types[t].name : NULL;
}

unsigned wr_dtype_bits(enum weir_dtype t)
{
    return (size_t)t < WR_ARRAY_LEN(types) ? types[t].bits : 0;
}

bool wr_dtype_find(const char *name, enum weir_dtype *ret)
{
    for (size_t k = 0; k < WR_ARRAY_LEN(types); k++)
        if (types[k].name && !strcmp(types[k].name, name)) {
            *ret = (enum weir_dtype)k;
            return true;
        }
    return false;
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
