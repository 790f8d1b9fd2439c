/* fuzz_number.c - decimal numbers, against the C library.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "codec/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* strtod knows more: blanks, hexadecimal numbers and words. */
static bool is_decimal(const char *text)
{
    text += *text == '-' || *text == '+';
    if (text[0] == '0' && (text[1] | 0x20) == 'x')
        return false;
    text += *text == '.';
    return *text >= '0' && *text <= '9';
}

static void check_floats(const char *text, const char *copy, size_t size)
{
    char *want_end;
    double want = strtod(text, &want_end), got = 0;
    float single = strtof(text, NULL), got_single = 0;
    const char *end = wr_number_f64(copy, copy + size, &got);

    wr_number_f32(copy, copy + size, &got_single);
    if (!is_decimal(text)) {
        if (end && !(text[0] == '0' || text[1] == '0'))
            abort();
        return;
    }
    if (end - copy != want_end - text || memcmp(&want, &got, sizeof(got)) ||
        memcmp(&single, &got_single, sizeof(single)))
        abort();
}

/* Numbers of these bits, there and back. */
static void check_written(const uint8_t *data, size_t size)
{
    char text[WR_NUMBER_TEXT + 1];
    double v, back;
    float f, back_f;

    if (size < 8)
        return;
    memcpy(&v, data, sizeof(v));
    memcpy(&f, data, sizeof(f));
    text[wr_number_write_f64(v, text)] = '\0';
    back = strtod(text, NULL);
    if (!isnan(v) && memcmp(&v, &back, sizeof(v)) != 0)
        abort();
    text[wr_number_write_f32(f, text)] = '\0';
    back_f = strtof(text, NULL);
    if (!isnan(f) && memcmp(&f, &back_f, sizeof(f)) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *copy = malloc(size + !size);
    int64_t i;
    uint64_t u;
    double list[8];
    bool large;

    if (text && copy) {
        struct wr_number_list l = {copy, copy + size, ',', size % 2};

        memcpy(text, data, size);
        memcpy(copy, data, size);
        text[size] = '\0';
        if (strlen(text) == size)
            check_floats(text, copy, size);
        wr_number_i64(copy, copy + size, &i, &large);
        wr_number_u64(copy, copy + size, &u, &large);
        wr_number_word(copy, copy + size, list);
        wr_number_list_f64(&l, list, 8);
        check_written(data, size);
    }
    free(text);
    free(copy);
    return 0;
}
