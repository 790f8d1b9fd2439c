/* behind.c - how far the slow tier is behind, and room on the fast one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/saver.h"

#include <stdlib.h>

/* Steps of the near tier that the far one does not have. */
static int count_missing(weir_ckpt *c, unsigned *ret, weir_err *err)
{
    unsigned missing = 0;
    uint64_t *steps;
    size_t count;
    int r = wr_tier_steps(c->near, &steps, &count, err);

    if (r < 0)
        return r;
    for (size_t i = 0; i < count; i++)
        missing += !wr_tier_has(c->far, steps[i]);
    free(steps);
    pthread_mutex_lock(&c->lock);
    c->stats.behind = missing;
    pthread_mutex_unlock(&c->lock);
    *ret = missing;
    return 0;
}

int wr_ckpt_behind(weir_ckpt *c, unsigned *ret, weir_err *err)
{
    if (c->drainer || !c->far) {
        *ret = c->drainer ? wr_drainer_behind(c->drainer) : 0;
        return 0;
    }
    return count_missing(c, ret, err);
}

int wr_ckpt_is_behind(weir_ckpt *c, bool *ret, weir_err *err)
{
    unsigned behind;
    int r = wr_ckpt_behind(c, &behind, err);

    if (r == 0)
        *ret = behind >= c->cfg.max_behind;
    return r;
}

/* The copy on the far tier is as good as it will get. */
static bool is_safe(weir_ckpt *c, uint64_t step)
{
    struct wr_manifest m;
    bool safe;

    if (wr_tier_marked(c->near, WR_MARK_PIN, step, NULL, 0) ||
        wr_tier_manifest(c->far, step, &m, NULL) < 0)
        return false;
    safe = !c->cfg.verify || wr_tier_is_verified(c->far, &m);
    wr_manifest_done(&m);
    return safe;
}

bool wr_ckpt_make_room(weir_ckpt *c)
{
    bool made = false;
    uint64_t *steps;
    size_t count;

    if (!c->far || wr_tier_steps(c->near, &steps, &count, NULL) < 0)
        return false;
    for (size_t i = 0; i < count && !made; i++)
        made = is_safe(c, steps[i]) &&
               wr_tier_retire(c->near, steps[i], NULL) == 0;
    free(steps);
    return made;
}
