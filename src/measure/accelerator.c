/* accelerator.c - what computes on each batch: here, or emulated.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/accelerator.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"

#define MAX_MS  1e6
#define POLL_NS (200 * WR_NS_PER_MS)

/* A wake-up that is later than that was no wake-up: the process was stopped, or
 * the host had no core for it, and a real accelerator would have run dry. */
#define MAX_LATE_NS (20 * WR_NS_PER_MS)

#define IMAGES_PER_S(n) (1000.0 / (n))

/* One line each: name, kind, fixed and per-sample milliseconds, source. */
static const struct wr_accelerator table[] = {
    {"none", WR_ACCELERATOR_NONE, 0, 0, "takes batches as fast as they come"},
    {"cpu", WR_ACCELERATOR_CPU, 0, 0, "computed on this machine's cores"},
    {"K4000", WR_ACCELERATOR_EMULATED, 300, 18.75,
     "AlexNet: 1,500 ms at batch 64, the middle of the \"1-2 s\" that Chien et "
     "al. 2018 state; the law 300 ms + 18.75 ms per image is an assumption"},
    {"K80", WR_ACCELERATOR_EMULATED, 0, IMAGES_PER_S(656),
     "AlexNet: 656 images/s at batch 512 on one GPU, TensorFlow's published "
     "benchmarks of 2017; other batches in proportion"},
    {"P100", WR_ACCELERATOR_EMULATED, 0, IMAGES_PER_S(2987),
     "AlexNet: 2,987 images/s at batch 512 on one GPU, TensorFlow's published "
     "benchmarks of 2017; other batches in proportion"},
    {"V100", WR_ACCELERATOR_EMULATED, 0, 195.0 / 64,
     "ResNet-50, not AlexNet: 195 ms at batch 64, DLIO's configuration; other "
     "batches in proportion"},
    {"A100", WR_ACCELERATOR_EMULATED, 0, 435.0 / 400,
     "ResNet-50, not AlexNet: 435 ms at batch 400, DLIO's configuration; other "
     "batches in proportion"},
    {"H100", WR_ACCELERATOR_EMULATED, 0, 103.0 / 64,
     "ResNet-50, not AlexNet: 103 ms at batch 64, DLIO's configuration; other "
     "batches in proportion"},
};

const struct wr_accelerator *wr_accelerator_at(size_t k)
{
    return k < WR_ARRAY_LEN(table) ? &table[k] : NULL;
}

/* "ms=1500": a step of that, whatever the batch. */
static int parse_ms(const char *text, struct wr_accelerator *ret, weir_err *err)
{
    struct wr_accelerator a = {.kind = WR_ACCELERATOR_EMULATED,
                               .source = "as given"};

    if (wr_parse_double(text + 3, 0, MAX_MS, &a.fixed_ms, err) < 0)
        return wr_fail_prefix(err, WEIR_EINVAL, "'%s'", text);
    snprintf(a.name, sizeof(a.name), "ms=%g", a.fixed_ms);
    *ret = a;
    return 0;
}

int wr_accelerator_parse(const char *text, struct wr_accelerator *ret,
                         weir_err *err)
{
    char names[160];
    size_t len = 0;

    if (!wr_strncasecmp(text, "ms=", 3))
        return parse_ms(text, ret, err);
    for (size_t k = 0; k < WR_ARRAY_LEN(table); k++) {
        if (!wr_strcasecmp(text, table[k].name)) {
            *ret = table[k];
            return 0;
        }
        len += (size_t)snprintf(names + len, sizeof(names) - len, "%s, ",
                                table[k].name);
    }
    return wr_fail(err, WEIR_EINVAL,
                   "'%s' is not one of %sor ms=MS (a step of MS milliseconds)",
                   text, names);
}

double wr_accelerator_step_ms(const struct wr_accelerator *a, uint32_t batch)
{
    return a->kind == WR_ACCELERATOR_EMULATED
               ? a->fixed_ms + a->per_sample_ms * batch
               : 0;
}

char *wr_accelerator_text(const struct wr_accelerator *a, uint32_t batch,
                          char *buf, size_t cap)
{
    double step_ms = wr_accelerator_step_ms(a, batch);

    if (a->kind != WR_ACCELERATOR_EMULATED)
        snprintf(buf, cap, "%s", a->name);
    else if (a->per_sample_ms == 0)
        snprintf(buf, cap, "%s (emulated), %.6g ms per batch", a->name,
                 a->fixed_ms);
    else if (batch)
        snprintf(buf, cap, "%s (emulated), %.4g ms per batch of %" PRIu32,
                 a->name, step_ms, batch);
    else if (a->fixed_ms == 0)
        snprintf(buf, cap, "%s (emulated), %.4g ms per sample", a->name,
                 a->per_sample_ms);
    else
        snprintf(buf, cap, "%s (emulated), %.4g ms + %.4g ms per sample",
                 a->name, a->fixed_ms, a->per_sample_ms);
    return buf;
}

uint64_t wr_accelerator_begin(struct wr_accelerator_clock *c, uint64_t now_ns,
                              uint64_t step_ns)
{
    uint64_t start = now_ns - WR_MIN(c->late_ns, now_ns);

    c->end_ns = WR_MAX(start, c->end_ns) + step_ns;
    c->late_ns = 0;
    return c->end_ns;
}

void wr_accelerator_woke(struct wr_accelerator_clock *c, uint64_t now_ns)
{
    uint64_t late = now_ns - WR_MIN(c->end_ns, now_ns);

    c->late_ns = late <= MAX_LATE_NS ? late : 0;
}

void wr_accelerator_start(const struct wr_accelerator *a,
                          struct wr_accelerator_clock *c, uint32_t batch)
{
    double ms = wr_accelerator_step_ms(a, batch);

    wr_accelerator_begin(c, wr_clock_ns(), (uint64_t)(ms * 1e6 + 0.5));
}

bool wr_accelerator_wait(struct wr_accelerator_clock *c, bool (*stopped)(void))
{
    uint64_t now;

    while ((now = wr_clock_ns()) < c->end_ns) {
        if (stopped && stopped())
            return false;
        wr_clock_sleep_closely(WR_MIN(c->end_ns, now + POLL_NS));
    }
    wr_accelerator_woke(c, now);
    return true;
}
