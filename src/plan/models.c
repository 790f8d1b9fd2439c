/* models.c - networks whose demands are known, and from where.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/models.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/mem.h"
#include "measure/accelerator.h"

#define MLPERF    "MLPerf Storage and DLIO's configurations"
#define IMAGES(n) (224.0 * 224 * 3 * (n)) /* bytes of u8 pictures */

/* Decoding by tf.data: about 30 cores for 8,600 images/s. */
#define TF_DECODE_S (30.0 / 8600)

static const struct wr_plan_model table[] = {
    {.name = "resnet50",
     .title = "ResNet-50 on ImageNet",
     .samples = 1281167,
     .sample_bytes = 114660,
     .sample_cv = 0.6,
     .per_object = 1,
     .tensor_bytes = IMAGES(1),
     .cpu_s = TF_DECODE_S,
     .cpu_source = "Nelson 2022: tf.data took about 30 cores for 8,600 "
                   "images/s",
     .state_bytes = 205e6,
     .state_source = "25.6 million parameters and momentum, fp32",
     .source = MLPERF "; sizes vary as Nelson 2022 counted them",
     .steps = {{"V100", 64, 0.195, "DLIO's resnet50_v100"},
               {"V100-fp16", 256, 256 / (10526.0 / 8),
                "TensorFlow 1.12 with XLA, fp16: 10,526 images/s on 8 V100 at "
                "batch 256 (Boyd et al. 2018), which Nelson 2022 reached"},
               {"A100", 400, 0.435, MLPERF ", resnet50_a100"},
               {"H100", 400, 0.224, MLPERF ", resnet50_h100"}}},
    {.name = "alexnet",
     .title = "AlexNet on Caltech 101, the mini-application of Chien et al.",
     .samples = 9144,
     .sample_bytes = 14e3,
     .sample_cv = 0.6,
     .per_object = 1,
     .tensor_bytes = IMAGES(1),
     .state_bytes = 600e6,
     .state_source = "Chien et al. 2018: roughly 600 MB",
     .source = "Chien et al. 2018: 9,144 images, mean 14 kB, median 12 kB",
     .steps = {{"K4000", 64, 1.5,
                "the middle of the \"1-2 s\" that Chien et al. 2018 state"},
               {"K80", 512, 512 / 656.0,
                "656 images/s at batch 512, TensorFlow's benchmarks of 2017"},
               {"P100", 512, 512 / 2987.0,
                "2,987 images/s at batch 512, TensorFlow's benchmarks of "
                "2017"}}},
    {.name = "unet3d",
     .title = "U-Net 3D on KiTS19",
     .samples = 168,
     .sample_bytes = 146600628,
     .sample_cv = 68341808 / 146600628.0 / 1.4142135623730951,
     .per_object = 1,
     .tensor_bytes = 0,
     .source = MLPERF,
     .steps = {{"V100", 4, 1.3604, "DLIO's unet3d_v100"},
               {"A100", 7, 0.636, MLPERF ", unet3d_a100"},
               {"H100", 7, 0.323, MLPERF ", unet3d_h100"},
               {"B200", 7, 0.162, "MLPerf Storage 3.0, unet3d_b200"}}},
    {.name = "cosmoflow",
     .title = "CosmoFlow",
     .samples = 524288,
     .sample_bytes = 2828486,
     .sample_cv = 71311 / 2828486.0 / 1.4142135623730951,
     .per_object = 1,
     .source = MLPERF,
     .steps = {{"V100", 1, 0.00936, "DLIO's cosmoflow_v100"},
               {"A100", 1, 0.00551, MLPERF ", cosmoflow_a100"},
               {"H100", 1, 0.0035, MLPERF ", cosmoflow_h100"}}},
    {.name = "bert",
     .title = "BERT, pre-training",
     .samples = 500 * UINT64_C(313532),
     .sample_bytes = 2500,
     .sample_cv = 0,
     .per_object = 313532,
     .state_bytes = 4034713312,
     .state_source = "DLIO's bert_v100",
     .source = "DLIO's bert_v100",
     .steps = {{"V100", 48, 0.968, "DLIO's bert_v100"}}},
};

const struct wr_plan_model *wr_plan_model_at(size_t k)
{
    return k < WR_ARRAY_LEN(table) ? &table[k] : NULL;
}

const struct wr_plan_model *wr_plan_model_find(const char *name, weir_err *err)
{
    char names[160] = "";
    size_t len = 0;

    for (size_t k = 0; k < WR_ARRAY_LEN(table); k++) {
        if (!wr_strcasecmp(name, table[k].name))
            return &table[k];
        len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
                                k ? ", " : "", table[k].name);
    }
    wr_fail(err, WEIR_EINVAL, "'%s' is not one of %s", name, names);
    return NULL;
}

int wr_plan_from_model(struct wr_plan_draft *d, const struct wr_plan_model *m,
                       weir_err *err)
{
    const struct wr_plan_saying data = {m->source, WR_PLAN_TABLED};
    const struct wr_plan_saying cpu = {m->cpu_source, WR_PLAN_TABLED};
    const struct wr_plan_saying state = {m->state_source, WR_PLAN_TABLED};
    const struct wr_plan_said list[] = {
        {WR_PLAN_K_SAMPLES, (double)m->samples},
        {WR_PLAN_K_BYTES, m->sample_bytes},
        {WR_PLAN_K_BYTES_CV, m->sample_cv},
        {WR_PLAN_K_PER_OBJECT, (double)m->per_object},
        {WR_PLAN_K_TENSOR_BYTES, m->tensor_bytes > 0 ? m->tensor_bytes : NAN}};
    int r = wr_plan_say_all(d, &data, list, WR_ARRAY_LEN(list), err);

    if (r == 0 && m->cpu_s > 0)
        r = wr_plan_say(d, &cpu, WR_PLAN_K_CPU, m->cpu_s, err);
    if (r == 0 && m->state_bytes > 0)
        r = wr_plan_say(d, &state, WR_PLAN_K_STATE, m->state_bytes, err);
    return r;
}

/* --- accelerators --- */

/* The step is known by name; the plan gets it when its batch is known. */
static int take_step(struct wr_plan_draft *d, const char *name,
                     const char *source, double fixed_s, double per_sample_s,
                     uint32_t batch, weir_err *err)
{
    char text[200];
    const struct wr_plan_saying who = {text, WR_PLAN_TABLED};
    const struct wr_plan_saying given = {"--accelerator", WR_PLAN_GIVEN};
    const struct wr_plan_saying step = {text, WR_PLAN_GIVEN};
    int r = wr_plan_say_text(d, &given, WR_PLAN_K_ACCELERATOR, name, err);

    snprintf(text, sizeof(text), "%.160s", source);
    if (r < 0)
        return r;
    d->fixed_s = fixed_s;
    d->per_sample_s = per_sample_s;
    d->batch_of_step = batch;
    r = wr_plan_say(d, &step, WR_PLAN_K_STEP, fixed_s + per_sample_s * batch,
                    err);
    if (r == 0 && batch)
        r = wr_plan_say(d, &who, WR_PLAN_K_BATCH, batch, err);
    return r;
}

static int take_model_step(struct wr_plan_draft *d, const char *name,
                           const struct wr_plan_model *m, weir_err *err)
{
    char names[160] = "";
    size_t len = 0;

    for (const struct wr_plan_model_step *s = m->steps; s->accelerator; s++) {
        if (!wr_strcasecmp(name, s->accelerator))
            return take_step(d, s->accelerator, s->source, 0,
                             s->seconds / s->batch, s->batch, err);
        len += (size_t)snprintf(names + len, sizeof(names) - len, "%s, ",
                                s->accelerator);
    }
    return wr_fail(err, WEIR_EINVAL,
                   "'%s': no time of a step of %s is known for it: one of %sor "
                   "ms=MS is needed",
                   name, m->name, names);
}

int wr_plan_from_accelerator(struct wr_plan_draft *d, const char *name,
                             const struct wr_plan_model *m, weir_err *err)
{
    struct wr_accelerator a;
    int r;

    if (m && wr_strncasecmp(name, "ms=", 3) != 0)
        return take_model_step(d, name, m, err);
    if (!wr_strcasecmp(name, "V100-fp16")) /* the table of models has it */
        return take_model_step(d, name, &table[0], err);
    r = wr_accelerator_parse(name, &a, err);
    if (r < 0)
        return r;
    if (a.kind == WR_ACCELERATOR_CPU)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': how long its steps take is not known: ms=MS says "
                       "it",
                       name);
    return take_step(d, a.name, a.source, a.fixed_ms / 1e3,
                     a.per_sample_ms / 1e3, 0, err);
}
