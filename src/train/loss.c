/* loss.c - softmax cross entropy: the loss, its gradient, and what was right.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/loss.h"

#include <math.h>
#include <stddef.h>
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

/* log(sum(exp(z))) as max + log(sum(exp(z - max))): never overflows. A NaN or
 * an infinity in the row gives a NaN or an infinity. */
static double log_sum(const float *z, uint32_t n, double max)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += exp((double)z[i] - max);
    return max + log(sum);
}

static void row_gradient(const float *z, const struct wr_loss_batch *b,
                         uint32_t label, double total, float *dz)
{
    double share = 1.0 / b->valid;

    for (uint32_t i = 0; i < b->classes; i++) {
        double p = exp((double)z[i] - total);

        dz[i] = (float)((p - (i == label)) * share);
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
        double total = log_sum(z, b->classes, z[best]);

        sum += total - z[b->labels[i]];
        loss.correct += best == b->labels[i];
        if (dlogits)
            row_gradient(z, b, b->labels[i], total,
                         dlogits + (size_t)i * b->classes);
    }
    loss.mean = b->valid ? sum / b->valid : 0;
    loss.is_finite = isfinite(loss.mean);
    *ret = loss;
    return 0;
}
