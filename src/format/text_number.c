/* text_number.c - numbers of a text as elements of a tensor.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/text_number.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "format/schema.h"

static const char not_a_number[] = "not a number";
static const char too_large[] = "too large for its type";
static const char no_integer[] = "not an integer";

bool wr_text_holds(enum weir_dtype t)
{
    switch (t) {
    case WEIR_F32:
    case WEIR_F64:
    case WEIR_I8:
    case WEIR_I16:
    case WEIR_I32:
    case WEIR_I64:
    case WEIR_U8:
    case WEIR_U16:
    case WEIR_U32:
    case WEIR_U64:
        return true;
    default:
        return false;
    }
}

/* --- integers --- */

static bool is_signed(enum weir_dtype t)
{
    return t == WEIR_I8 || t == WEIR_I16 || t == WEIR_I32 || t == WEIR_I64;
}

/* The low bytes of a number that fits. */
static void store(uint64_t v, enum weir_dtype t, void *to)
{
    uint8_t b = (uint8_t)v;
    uint16_t h = (uint16_t)v;
    uint32_t w = (uint32_t)v;

    switch (wr_dtype_bytes(t)) {
    case 1:
        memcpy(to, &b, sizeof(b));
        break;
    case 2:
        memcpy(to, &h, sizeof(h));
        break;
    case 4:
        memcpy(to, &w, sizeof(w));
        break;
    default:
        memcpy(to, &v, sizeof(v));
    }
}

/* Returns where it ends; NULL: none, or too large. */
static const char *take_integer(const char *at, const char *end,
                                enum weir_dtype t, void *to, bool *ret_large)
{
    unsigned spare = 64 - wr_dtype_bits(t);
    uint64_t u = 0;
    int64_t i = 0;
    const char *p;

    if (is_signed(t)) {
        p = wr_number_i64(at, end, &i, ret_large);
        u = (uint64_t)i;
        *ret_large |= (int64_t)(u << spare) >> spare != i;
    } else {
        p = wr_number_u64(at, end, &u, ret_large);
        *ret_large |= u << spare >> spare != u;
    }
    if (!p || *ret_large)
        return NULL;
    store(u, t, to);
    return p;
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && *p == ' ')
        p++;
    return p;
}

static size_t take_integers(struct wr_number_list *l, enum weir_dtype t,
                            uint8_t *to, size_t count)
{
    size_t bytes = wr_dtype_bytes(t), n = 0;
    bool more = true, large;

    for (; n < count && more; n++) {
        const char *at = skip_blanks(l->at, l->end), *p;

        if (l->strict && at < l->end && *at == '+')
            break;
        p = take_integer(at, l->end, t, to + n * bytes, &large);
        if (!p)
            break;
        p = skip_blanks(p, l->end);
        more = p < l->end && *p == l->separator;
        l->at = p + more;
    }
    return n;
}

/* --- any --- */

size_t wr_text_numbers(struct wr_number_list *l, enum weir_dtype t, void *to,
                       size_t count)
{
    if (t == WEIR_F32)
        return wr_number_list_f32(l, to, count);
    if (t == WEIR_F64)
        return wr_number_list_f64(l, to, count);
    return take_integers(l, t, to, count);
}

static const char *one_float(const char *at, const char *end, enum weir_dtype t,
                             void *to)
{
    double v = 0;
    float f = 0;
    const char *p;
    bool word = false;

    p = t == WEIR_F64 ? wr_number_f64(at, end, &v) : wr_number_f32(at, end, &f);
    if (!p) {
        p = wr_number_word(at, end, &v);
        f = (float)v;
        word = true;
    }
    if (p != end)
        return not_a_number;
    if (!word && (t == WEIR_F64 ? isinf(v) : isinf(f)))
        return too_large;
    if (t == WEIR_F64)
        memcpy(to, &v, sizeof(v));
    else
        memcpy(to, &f, sizeof(f));
    return NULL;
}

const char *wr_text_number(const char *at, size_t len, enum weir_dtype t,
                           void *to)
{
    const char *end = at + len;
    bool large = false;
    double v;

    if (t == WEIR_F32 || t == WEIR_F64)
        return one_float(at, end, t, to);
    if (take_integer(at, end, t, to, &large) == end)
        return NULL;
    if (large)
        return too_large;
    return one_float(at, end, WEIR_F64, &v) ? not_a_number : no_integer;
}

bool wr_text_nan(enum weir_dtype t, void *to)
{
    double v = (double)NAN;
    float f = NAN;

    if (t == WEIR_F64)
        memcpy(to, &v, sizeof(v));
    else if (t == WEIR_F32)
        memcpy(to, &f, sizeof(f));
    return t == WEIR_F64 || t == WEIR_F32;
}

int wr_text_declared(const char *schema, const char *name,
                     enum weir_dtype usual, enum weir_dtype *ret, weir_err *err)
{
    char text[64], *at;

    *ret = usual;
    if (!schema || !wr_schema_option(schema, name, text, sizeof(text)) ||
        !(at = strchr(text, ':')))
        return 0;
    at++;
    at[strcspn(at, ":")] = '\0';
    if (!wr_dtype_parse(at, ret))
        return 0; /* the schema's own parser says so */
    if (!wr_text_holds(*ret))
        return wr_fail(err, WEIR_ENOTSUP,
                       "schema: '%s' as %s: text is read as f32, f64 or "
                       "integers of 8 to 64 bits",
                       name, at);
    return 0;
}
