/* form_text.c - numbers as text: CSV and JSON lines.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A number is looked up by a byte or two of noise: making its digits would take
 * longer than all else. Integers are 0 to 255, as far as their type has them,
 * floats have six digits behind the point. */
#include "gen/form.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"
#include "format/npz.h"

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
static int put_numbers(struct wr_pen *p, const struct wr_gen_spec *s,
                       const struct text_table *t, uint64_t sample,
                       weir_err *err)
{
    struct wr_noise noise;
    uint64_t count = 1;
    int r = 0;

    for (unsigned k = 0; k < s->dims.count; k++)
        count *= s->dims.dim[k];
    wr_gen_spec_noise(s, 0, &noise);
    noise.mask[0] = noise.mask[1] = UINT32_MAX;
    for (uint64_t done = 0; done < count && r == 0;) {
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
        r = wr_pen_put(p, text, len - (done == count), err);
    }
    return r;
}

/* Every sample between two texts. */
static int put_samples(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                       const char *before, const char *behind, weir_err *err)
{
    struct text_table *t;
    int r = 0;

    m->scratch.len = 0;
    t = (void *)wr_bytes_room(&m->scratch, sizeof(*t));
    if (!t)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    fill_table(t, s->dtype);
    for (uint64_t i = 0; i < s->samples && r == 0; i++) {
        r = wr_pen_put(&m->pen, before, strlen(before), err);
        if (r == 0)
            r = put_numbers(&m->pen, s, t, i, err);
        if (r == 0)
            r = wr_pen_put(&m->pen, behind, strlen(behind), err);
    }
    return r;
}

static int csv_check(const struct wr_workload *w, weir_err *err)
{
    if (strcmp(w->dataset.compression, "none"))
        return wr_fail(err, WEIR_ENOTSUP,
                       "compression '%s': weir writes text as it is",
                       w->dataset.compression);
    return 0;
}

static int csv_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                    weir_err *err)
{
    return put_samples(m, s, "", "\n", err);
}

static int jsonl_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                      weir_err *err)
{
    return put_samples(m, s, "{\"x\":[", "],\"y\":0}\n", err);
}

static uint64_t text_size(const struct wr_gen_spec *s)
{
    double count = 1, mean = is_real(s->dtype) ? MEAN_REAL : MEAN_INT;

    for (unsigned k = 0; k < s->dims.count; k++)
        count *= (double)s->dims.dim[k];
    return (uint64_t)((double)s->samples * (count * mean + 16));
}

const struct wr_gen_form wr_gen_form_csv = {
    .size = text_size, .check = csv_check, .make = csv_make};
const struct wr_gen_form wr_gen_form_jsonl = {
    .size = text_size, .check = csv_check, .make = jsonl_make};
