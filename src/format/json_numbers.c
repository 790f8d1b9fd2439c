/* json_numbers.c - rectangular arrays of numbers of a JSON text.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/dtype.h"
#include "base/mem.h"
#include "format/json.h"
#include "format/text_number.h"

static bool is_word(const char *at, size_t len, const char *word)
{
    return strlen(word) == len && !memcmp(at, word, len);
}

/* JSON has no such texts, though a list of numbers may. */
static bool is_loose(const char *at, size_t len)
{
    const char *digits = at + (len && *at == '-');
    const char *point = memchr(at, '.', len);

    if (digits == at + len) /* nothing, or a sign alone */
        return true;
    return *at == '+' || *digits == '.' ||
           (digits + 1 < at + len && digits[0] == '0' && digits[1] >= '0' &&
            digits[1] <= '9') ||
           (point &&
            (point + 1 == at + len || point[1] < '0' || point[1] > '9')) ||
           is_word(at, len, "nan") || is_word(at, len, "inf");
}

bool wr_json_number(struct wr_json *j, enum weir_dtype t, void *to)
{
    const char *at, *why;
    size_t len;

    if (!wr_json_word(j, &at, &len))
        return false;
    if (is_word(at, len, "true") || is_word(at, len, "false"))
        why = wr_text_number(*at == 't' ? "1" : "0", 1, t, to);
    else if (is_word(at, len, "null"))
        why = wr_text_nan(t, to) ? NULL : "null where an integer was to come";
    else
        why = is_loose(at, len) ? "not a number"
                                : wr_text_number(at, len, t, to);
    if (!why)
        return true;
    j->at = at;
    return wr_json_fail(j, why);
}

/* The numbers from here to the bracket that closes their array. */
static bool take_row(struct wr_json *j, struct wr_json_numbers *n,
                     uint64_t *ret_count)
{
    size_t bytes = wr_dtype_bytes(n->dtype);
    uint64_t count = 0;
    const char *word;
    size_t len;

    for (;;) {
        struct wr_number_list l = {j->at, j->end, ',', /* strict= */ true};
        size_t max = (size_t)(j->end - j->at) / 2 + 1, got;

        wr_json_peek(j);
        l.at = j->at;
        got = n->to ? wr_text_numbers(&l, n->dtype, *n->to + n->at, max) : 0;
        if (got) {
            j->at = l.at;
            count += got;
            n->at += got * bytes;
            if (l.at[-1] == ',')
                continue;
        } else {
            if (!(n->to ? wr_json_number(j, n->dtype, *n->to + n->at)
                        : wr_json_word(j, &word, &len)))
                return false;
            count++;
            n->at += bytes;
        }
        if (wr_json_peek(j) != ',')
            break;
        j->at++;
    }
    *ret_count = count;
    return wr_json_take(j, ']', "a comma or the end was to come here");
}

static bool take_level(struct wr_json *j, struct wr_json_numbers *n,
                       uint32_t depth);

static bool take_rows(struct wr_json *j, struct wr_json_numbers *n,
                      uint32_t depth, uint64_t *ret_count)
{
    uint64_t count = 0;

    for (;; j->at++) {
        if (wr_json_peek(j) != '[')
            return wr_json_fail(j, "an array was to come here, as before");
        if (!take_level(j, n, depth + 1))
            return false;
        count++;
        if (wr_json_peek(j) != ',')
            break;
    }
    *ret_count = count;
    return wr_json_take(j, ']', "a comma or the end was to come here");
}

/* An array at j->at, whose level is `depth` from 0 on. */
static bool take_level(struct wr_json *j, struct wr_json_numbers *n,
                       uint32_t depth)
{
    const char *start = j->at;
    uint64_t count = 0;
    bool ok, arrays;

    if (depth == WR_ARRAY_LEN(n->dims))
        return wr_json_fail(j, "an array of more than 7 dimensions");
    j->at++;
    arrays = wr_json_peek(j) == '[';
    if (n->ndim && arrays != (depth + 1 < n->ndim))
        return wr_json_fail(j, "an array that is not rectangular");
    if (!arrays && !n->ndim)
        n->ndim = depth + 1;
    if (wr_json_peek(j) == ']') {
        j->at++;
        ok = true;
    } else {
        ok = arrays ? take_rows(j, n, depth, &count) : take_row(j, n, &count);
    }
    if (!ok)
        return false;
    if (n->dims[depth] == WEIR_DIM_VARIES)
        n->dims[depth] = count;
    if (n->dims[depth] == count)
        return true;
    j->at = start;
    return wr_json_fail(j, "an array that is not rectangular");
}

bool wr_json_numbers(struct wr_json *j, struct wr_json_numbers *n)
{
    /* A number takes two bytes of text, with what follows it. */
    size_t most = (size_t)(j->end - j->at) / 2 + 2;

    n->ndim = 0;
    for (size_t k = 0; k < WR_ARRAY_LEN(n->dims); k++)
        n->dims[k] = WEIR_DIM_VARIES;
    if (n->to &&
        !wr_grow(n->to, n->cap, n->at + most * wr_dtype_bytes(n->dtype), 1)) {
        n->no_memory = true;
        return wr_json_fail(j, "out of memory");
    }
    if (wr_json_peek(j) != '[')
        return wr_json_fail(j, "an array was to come here");
    return take_level(j, n, 0);
}
