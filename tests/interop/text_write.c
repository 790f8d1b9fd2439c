/* text_write.c - 1,000 samples by a writer of text, and their numbers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: text_write csv|jsonl FILE
 * To standard output: all x (f32, 2x3 per sample), then all d (f64). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "format/writer.h"

#define SAMPLES 1000

static const weir_field fields[] = {
    {.name = "x", .dtype = WEIR_F32, .ndim = 2, .dims = {2, 3}},
    {.name = "d", .kind = WEIR_FIELD_SCALAR, .dtype = WEIR_F64},
    {.name = "label",
     .kind = WEIR_FIELD_SCALAR,
     .dtype = WEIR_I64,
     .is_label = 1},
    {.name = "text",
     .kind = WEIR_FIELD_BYTES,
     .dtype = WEIR_U8,
     .ndim = 1,
     .dims = {WEIR_DIM_VARIES}},
};

/* Any bits that are a finite number. */
static void fill(struct wr_rng *rng, float *x, double *d)
{
    uint64_t bits;
    uint32_t half;

    for (int k = 0; k < 6; k++) {
        half = (uint32_t)wr_rng_next(rng);
        memcpy(&x[k], &half, sizeof(half));
        if (!isfinite(x[k]))
            x[k] = NAN;
    }
    do {
        bits = wr_rng_next(rng);
        memcpy(d, &bits, sizeof(bits));
    } while (!isfinite(*d));
}

static int add(const struct wr_writer_ops *w, struct wr_bytes *to,
               const float *x, const double *d, unsigned k)
{
    int64_t label = k % 7;
    char text[32];
    const struct wr_slice values[] = {
        {(const uint8_t *)x, 24},
        {(const uint8_t *)d, 8},
        {(const uint8_t *)&label, 8},
        {(const uint8_t *)text,
         (size_t)snprintf(text, sizeof(text), "a \"%u\",\nb", k)},
    };
    const struct wr_write_sample s = {
        .fields = fields, .values = values, .field_count = 4};

    return w->add(to, &s, NULL);
}

int main(int argc, char **argv)
{
    static float x[SAMPLES][6];
    static double d[SAMPLES];
    const struct wr_writer_ops *w = argc == 3 ? wr_writer_find(argv[1]) : NULL;
    struct wr_rng rng = {.seed = 11};
    struct wr_bytes to = {0};
    FILE *f;
    int r = 0;

    if (!w)
        return 2;
    if (w->begin)
        r = w->begin(&to, fields, 4, NULL);
    for (unsigned k = 0; k < SAMPLES && r == 0; k++) {
        fill(&rng, x[k], &d[k]);
        r = add(w, &to, x[k], &d[k], k);
    }
    f = fopen(argv[2], "wb");
    if (r < 0 || !f || fwrite(to.bytes, 1, to.len, f) != to.len || fclose(f))
        return 1;
    free(to.bytes);
    fwrite(x, sizeof(x), 1, stdout);
    fwrite(d, sizeof(d), 1, stdout);
    return 0;
}
