/* cast.c - elements of one type -> another; bytes in the other order.
 * SPDX-License-Identifier: Apache-2.0
 *
 * In blocks that stay in the nearest cache: every type widens to f64 or i64,
 * and both narrow to every type. A few pairs that are met often have a loop of
 * their own, with the same results. */
#include "codec/cast.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/dtype.h"
#include "base/mem.h"
#include "codec/kernel.h"

#define BLOCK 512u /* elements */

/* X(type, member of union block, smallest, largest); 64 bits apart, as they
 * have values that f64 has not. */
#define INTEGERS(X)                                                            \
    X(WEIR_I8, i8, INT8_MIN, INT8_MAX)                                         \
    X(WEIR_U8, u8, 0, UINT8_MAX)                                               \
    X(WEIR_I16, i16, INT16_MIN, INT16_MAX)                                     \
    X(WEIR_U16, u16, 0, UINT16_MAX)                                            \
    X(WEIR_I32, i32, INT32_MIN, INT32_MAX)                                     \
    X(WEIR_U32, u32, 0, UINT32_MAX)

union wide {
    double f[BLOCK];
    int64_t i[BLOCK];
};

union block {
    uint64_t aligned;
    uint8_t bytes[BLOCK * 8];
    int8_t i8[BLOCK];
    uint8_t u8[BLOCK]; /* bool too */
    int16_t i16[BLOCK];
    uint16_t u16[BLOCK]; /* f16 and bf16 too */
    int32_t i32[BLOCK];
    uint32_t u32[BLOCK];
    int64_t i64[BLOCK];
    uint64_t u64[BLOCK];
    float f32[BLOCK];
    double f64[BLOCK];
};

static float float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

static float f32_from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t mag = half & 0x7fffu;
    /* Moved to its place and scaled by 2^112: right for subnormal ones too. */
    float value = float_of(mag << 13) * float_of(0x77800000u);
    uint32_t rare = 0x7f800000u | mag << 13 | (mag > 0x7c00u ? 0x400000u : 0);
    uint32_t bits = mag >= 0x7c00u ? rare : bits_of(value);

    return float_of(sign | bits);
}

static uint16_t bf16_from_f32(float value)
{
    uint32_t bits = bits_of(value);
    uint32_t nan = bits >> 16 | 0x40u;
    uint32_t near = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;

    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? nan : near);
}

/* Rounded to odd: what is then rounded to a narrower type is as if it had been
 * rounded once (Boldo and Melquiond, "Emulation of FMA"). */
static float odd_f32(double value)
{
    float near = (float)value;
    uint32_t bits = bits_of(near);
    double back = near;
    bool away = (back < 0 ? -back : back) > (value < 0 ? -value : value);
    bool inexact = back < value || back > value; /* not NaN */

    return float_of(inexact && !(bits & 1) ? bits + (away ? -1u : 1u) : bits);
}

/* The same of a whole number: over 53 bits the last one takes what is lost. */
static double odd_f64(uint64_t mag)
{
    uint64_t lost = mag >> 53 ? mag & 0x7ffu : 0;

    return (double)(lost ? (mag & ~UINT64_C(0x7ff)) | 0x800u : mag);
}

static double odd_from_i64(int64_t v)
{
    return v < 0 ? -odd_f64(-(uint64_t)v) : odd_f64((uint64_t)v);
}

/* A case of those that are as they are in every wider type. */
#define WIDEN(type, name, low, high)                                           \
    case type:                                                                 \
        for (size_t k = 0; k < n; k++)                                         \
            out[k] = in->name[k];                                              \
        break;

/* `exact`: f64 is what is wanted, so that it is rounded to the nearest. */
static void widen_float(enum weir_dtype from, const union block *in, size_t n,
                        bool exact, double *out)
{
    switch (from) {
        INTEGERS(WIDEN)
    case WEIR_I64:
        for (size_t k = 0; k < n; k++)
            out[k] = exact ? (double)in->i64[k] : odd_from_i64(in->i64[k]);
        break;
    case WEIR_U64:
        for (size_t k = 0; k < n; k++)
            out[k] = exact ? (double)in->u64[k] : odd_f64(in->u64[k]);
        break;
    case WEIR_F64:
        memcpy(out, in->f64, n * sizeof(*out));
        break;
    case WEIR_F32:
        for (size_t k = 0; k < n; k++)
            out[k] = in->f32[k];
        break;
    case WEIR_F16:
        for (size_t k = 0; k < n; k++)
            out[k] = f32_from_f16(in->u16[k]);
        break;
    case WEIR_BF16:
        for (size_t k = 0; k < n; k++)
            out[k] = float_of((uint32_t)in->u16[k] << 16);
        break;
    default: /* bool */
        for (size_t k = 0; k < n; k++)
            out[k] = in->u8[k] != 0;
    }
}

static void widen_integer(enum weir_dtype from, const union block *in, size_t n,
                          int64_t *out)
{
    switch (from) {
        INTEGERS(WIDEN)
    case WEIR_I64:
        memcpy(out, in->i64, n * sizeof(*out));
        break;
    case WEIR_U64: /* what is over i64 is over every type but its own */
        for (size_t k = 0; k < n; k++)
            out[k] = (int64_t)WR_MIN(in->u64[k], (uint64_t)INT64_MAX);
        break;
    default: /* bool */
        for (size_t k = 0; k < n; k++)
            out[k] = in->u8[k] != 0;
    }
}

static int64_t i64_from_f64(double v)
{
    if (!(v < 0x1p63)) /* NaN too */
        return v >= 0x1p63 ? INT64_MAX : 0;
    return v > -0x1p63 ? (int64_t)v : INT64_MIN;
}

static uint64_t u64_from_f64(double v)
{
    if (!(v < 0x1p64))
        return v >= 0x1p64 ? UINT64_MAX : 0;
    return v > 0 ? (uint64_t)v : 0;
}

static inline double at_least(double x, double low)
{
    return x > low ? x : isnan(x) ? 0 : low;
}

static inline int64_t at_least_whole(int64_t x, int64_t low)
{
    return x > low ? x : low;
}

/* One case of a switch: each of `in` as the nearest value of an integer type. */
#define NARROW(type, name, low, high)                                          \
    case type:                                                                 \
        for (size_t k = 0; k < n; k++) {                                       \
            __typeof__(in[k] + 0) v = _Generic(in[k], double                   \
                                               : at_least, default             \
                                               : at_least_whole)(in[k], low);  \
                                                                               \
            out->name[k] = (__typeof__(out->name[0]))(v < (high) ? v           \
                                                                 : (high));    \
        }                                                                      \
        break;

static void narrow_float(const double *in, size_t n, enum weir_dtype to,
                         union block *out)
{
    switch (to) {
        INTEGERS(NARROW)
    case WEIR_I64:
        for (size_t k = 0; k < n; k++)
            out->i64[k] = i64_from_f64(in[k]);
        break;
    case WEIR_U64:
        for (size_t k = 0; k < n; k++)
            out->u64[k] = u64_from_f64(in[k]);
        break;
    case WEIR_F64:
        memcpy(out->f64, in, n * sizeof(*in));
        break;
    case WEIR_F32:
        for (size_t k = 0; k < n; k++)
            out->f32[k] = (float)in[k];
        break;
    case WEIR_F16:
        for (size_t k = 0; k < n; k++)
            out->u16[k] = wr_f16_from_f32(odd_f32(in[k]));
        break;
    case WEIR_BF16:
        for (size_t k = 0; k < n; k++)
            out->u16[k] = bf16_from_f32(odd_f32(in[k]));
        break;
    default: /* bool */
        for (size_t k = 0; k < n; k++)
            out->u8[k] = in[k] < 0 || in[k] > 0 || isnan(in[k]);
    }
}

static void narrow_integer(const int64_t *in, size_t n, enum weir_dtype to,
                           union block *out)
{
    switch (to) {
        INTEGERS(NARROW)
    case WEIR_I64:
        memcpy(out->i64, in, n * sizeof(*in));
        break;
    case WEIR_U64:
        for (size_t k = 0; k < n; k++)
            out->u64[k] = (uint64_t)(in[k] > 0 ? in[k] : 0);
        break;
    default: /* bool */
        for (size_t k = 0; k < n; k++)
            out->u8[k] = in[k] != 0;
    }
}

static bool is_float(enum weir_dtype t)
{
    return t == WEIR_F32 || t == WEIR_F16 || t == WEIR_BF16 || t == WEIR_F64;
}

static bool is_number(enum weir_dtype t)
{
    return (size_t)t <= WEIR_BOOL; /* by their numbers: floats and integers */
}

bool wr_cast_can(enum weir_dtype from, enum weir_dtype to)
{
    return (is_number(from) && is_number(to)) ||
           (from == to && wr_dtype_bytes(from));
}

static void cast_block(enum weir_dtype from, enum weir_dtype to,
                       const union block *in, size_t n, union block *out)
{
    union wide wide;

    if (is_float(from) || is_float(to)) {
        widen_float(from, in, n, /* exact= */ to == WEIR_F64, wide.f);
        narrow_float(wide.f, n, to, out);
    } else {
        widen_integer(from, in, n, wide.i);
        narrow_integer(wide.i, n, to, out);
    }
}

/* Pairs that are met often, without the way over f64. */
static bool cast_often(enum weir_dtype from, enum weir_dtype to,
                       const union block *in, size_t n, union block *out)
{
    if (from == WEIR_F32 && to == WEIR_F16) {
        wr_kernels_best()->to_f16(in->f32, n, out->u16);
        return true;
    }
    if (to != WEIR_F32)
        return false;
    switch (from) {
    case WEIR_F16:
        for (size_t k = 0; k < n; k++)
            out->f32[k] = f32_from_f16(in->u16[k]);
        return true;
    case WEIR_F64:
        for (size_t k = 0; k < n; k++)
            out->f32[k] = (float)in->f64[k];
        return true;
    case WEIR_U8:
        for (size_t k = 0; k < n; k++)
            out->f32[k] = in->u8[k];
        return true;
    case WEIR_I16:
        for (size_t k = 0; k < n; k++)
            out->f32[k] = in->i16[k];
        return true;
    case WEIR_U16:
        for (size_t k = 0; k < n; k++)
            out->f32[k] = in->u16[k];
        return true;
    default:
        return false;
    }
}

/* Copies a block in and out: arrays of files are aligned to nothing, and what
 * the copies cost, the nearest cache pays. */
static void cast_blocks(enum weir_dtype from, enum weir_dtype to,
                        const uint8_t *in, size_t n, uint8_t *out)
{
    size_t in_size = wr_dtype_bytes(from), out_size = wr_dtype_bytes(to);

    while (n) {
        size_t some = WR_MIN(n, (size_t)BLOCK);
        union block a, b;

        memcpy(a.bytes, in, some * in_size);
        if (!cast_often(from, to, &a, some, &b))
            cast_block(from, to, &a, some, &b);
        memcpy(out, b.bytes, some * out_size);
        in += some * in_size;
        out += some * out_size;
        n -= some;
    }
}

void wr_cast(enum weir_dtype from, enum weir_dtype to, const void *in, size_t n,
             void *out)
{
    if (from == to)
        memcpy(out, in, n * wr_dtype_bytes(from));
    else
        cast_blocks(from, to, in, n, out);
}

void wr_cast_plain(enum weir_dtype from, enum weir_dtype to, const void *in,
                   size_t n, void *out)
{
    const uint8_t *p = in;
    uint8_t *q = out;

    for (; n; n--, p += wr_dtype_bytes(from), q += wr_dtype_bytes(to)) {
        union block a, b;

        memcpy(a.bytes, p, wr_dtype_bytes(from));
        cast_block(from, to, &a, 1, &b);
        memcpy(q, b.bytes, wr_dtype_bytes(to));
    }
}

size_t wr_swap_width(enum weir_dtype t)
{
    return t == WEIR_C64 ? 4 : wr_dtype_bytes(t);
}

static void swap_block(union block *b, size_t bytes, size_t width)
{
    if (width == 2)
        for (size_t k = 0; k < bytes / 2; k++)
            b->u16[k] = __builtin_bswap16(b->u16[k]);
    else if (width == 4)
        for (size_t k = 0; k < bytes / 4; k++)
            b->u32[k] = __builtin_bswap32(b->u32[k]);
    else if (width == 8)
        for (size_t k = 0; k < bytes / 8; k++)
            b->u64[k] = __builtin_bswap64(b->u64[k]);
}

void wr_swap(const void *in, size_t bytes, size_t width, void *out)
{
    const uint8_t *p = in;
    uint8_t *q = out;

    while (bytes) {
        size_t some = WR_MIN(bytes, sizeof(union block) / 4);
        union block b;

        memcpy(b.bytes, p, some);
        swap_block(&b, some, width);
        memcpy(q, b.bytes, some);
        p += some;
        q += some;
        bytes -= some;
    }
}
