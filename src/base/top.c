/* top.c - the few entries with the highest scores, the highest first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/top.h"

#include <string.h>

/* By insertion: lists are short, and most entries do not get in. */
void *wr_top_add(struct wr_top *t, double score)
{
    size_t k = t->count, last;
    char *at;

    while (k && t->scores[k - 1] < score)
        k--;
    if (k == t->cap)
        return NULL;
    last = t->count < t->cap ? t->count++ : t->cap - 1;
    at = (char *)t->list + k * t->size;
    memmove(at + t->size, at, (last - k) * t->size);
    memmove(&t->scores[k + 1], &t->scores[k], (last - k) * sizeof(double));
    t->scores[k] = score;
    return at;
}
