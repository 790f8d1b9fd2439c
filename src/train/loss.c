/* loss.c - softmax cross entropy: the loss, its gradient, and what was right.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/loss.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"

/* The largest of a row; of equal ones the first. */
static uint32_t largest(const float *z, uint32_t n)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < n; i++)
        if (z[i] > z[best])
            best = i;
    return best;
}

/* log(sum(exp(z))) is max + `log_sum`: never overflows, and kept apart, for
 * next to a large maximum the second would vanish. */
struct softmax {
    double max, log_sum;
};

/* A NaN or +infinity in the row makes log_sum a NaN. */
static struct softmax softmax_of(const float *z, uint32_t n, uint32_t best)
{
    struct softmax s = {.max = z[best]};
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += exp((double)z[i] - s.max);
    s.log_sum = log(sum);
    return s;
}

static void row_gradient(const float *z, const struct wr_loss_batch *b,
                         uint32_t label, struct softmax s, float *dz)
{
    double share = 1.0 / b->valid;

    for (uint32_t i = 0; i < b->classes; i++) {
        double p = exp((double)z[i] - s.max - s.log_sum);
        double d = (p - (i == label)) * share;

        /* no subnormal numbers: they would slow down all of backward */
        dz[i] = fabs(d) < FLT_MIN ? 0 : (float)d;
    }
}

static int check_labels(const struct wr_loss_batch *b, weir_err *err)
{
    for (uint32_t i = 0; i < b->valid; i++)
        if (b->labels[i] >= b->classes)
            return wr_fail(err, WEIR_EINVAL,
                           "label %u of sample %u in the batch: the network "
                           "has %u classes",
                           b->labels[i], i, b->classes);
    return 0;
}

int wr_loss_of(const struct wr_loss_batch *b, float *dlogits,
               struct wr_loss *ret, weir_err *err)
{
    struct wr_loss loss = {0};
    double sum = 0;
    int r = check_labels(b, err);

    if (r < 0)
        return r;
    if (dlogits)
        memset(dlogits, 0, (size_t)b->rows * b->classes * sizeof(*dlogits));
    for (uint32_t i = 0; i < b->valid; i++) {
        const float *z = b->logits + (size_t)i * b->classes;
        uint32_t best = largest(z, b->classes);
        struct softmax s = softmax_of(z, b->classes, best);

        sum += s.max - z[b->labels[i]] + s.log_sum;
        loss.correct += best == b->labels[i];
        if (dlogits)
            row_gradient(z, b, b->labels[i], s,
                         dlogits + (size_t)i * b->classes);
    }
    loss.mean = b->valid ? sum / b->valid : 0;
    loss.is_finite = isfinite(loss.mean);
    *ret = loss;
    return 0;
}
