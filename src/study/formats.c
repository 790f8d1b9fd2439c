/* formats.c - the format and size of samples: tensor, PNG and JPEG.
 * SPDX-License-Identifier: Apache-2.0
 *
 * From a talk on data loading (E. Watkins, 2019) beside the paper: of its charts
 * only the order survives, so only the order is judged. Samples come from
 * memory: it is about what they cost, not about a device. */
#include "study/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "study/data.h"

static const char *const forms[] = {"tensor", "png", "jpeg"};
static const unsigned sides[] = {224, 768};

#define BATCH 16

static void add_one(struct wr_study *st, const struct wr_figure *f,
                    const char *form, unsigned side)
{
    struct wr_cell_job job = {.kind = WR_CELL_FEED,
                              .device = "memory",
                              .threads = WR_MAX(st->cores, 1u),
                              .batch = BATCH,
                              .prefetch = 1,
                              .samples = st->scale.format_images};
    char size[24];

    snprintf(size, sizeof(size), "%ux%u", side, side);
    snprintf(job.data, sizeof(job.data), "%s-%u", form, side);
    wr_study_measure(st, f, WR_AT("rate", size, form), &job, "value");
    wr_study_measure(st, f, WR_AT("KB per sample", size, form), &job,
                     "sample_kb");
}

static void add(struct wr_study *st, const struct wr_figure *f)
{
    const char *why;

    for (size_t s = 0; s < WR_ARRAY_LEN(sides); s++)
        for (size_t k = 0; k < WR_ARRAY_LEN(forms); k++)
            if (wr_forms_can(forms[k], &why))
                add_one(st, f, forms[k], sides[s]);
}

static double rate(const struct wr_study *st, const struct wr_figure *f,
                   const char *form, const char *size)
{
    return wr_study_value(st, f, WR_AT("rate", size, form));
}

static void judge_pair(const struct wr_study *st, const struct wr_figure *f,
                       const char *form, struct wr_judgement *j)
{
    double small = rate(st, f, form, "224x224");
    double large = rate(st, f, form, "768x768");
    double tensor = rate(st, f, "tensor", "768x768");

    if (isnan(small) || isnan(large)) {
        wr_judge_unseen(j, "%s was not measured", form);
        return;
    }
    wr_judge(j, large < small, "%s: %.0f images/s at 224, %.0f at 768", form,
             small, large);
    if (strcmp(form, "tensor") && !isnan(tensor) && large > tensor)
        wr_judge_fails(j, "%s at 768 is faster than tensors", form);
}

static void judge(const struct wr_study *st, const struct wr_figure *f,
                  struct wr_judgement *ret)
{
    for (size_t k = 0; k < WR_ARRAY_LEN(forms); k++)
        judge_pair(st, f, forms[k], ret);
}

const struct wr_figure wr_figure_formats = {
    .id = "formats",
    .title = "Formats: tensor, PNG and JPEG",
    .question = "What do the format and the size of a sample cost when it is "
                "loaded?",
    .conclusion = "more complex and larger samples take longer to load: "
                  "tensors are the fastest, pictures of 768x768 the slowest",
    .unit = "images/s",
    .x = "format",
    .add = add,
    .judge = judge,
};
