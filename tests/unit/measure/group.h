/* group.h - ranks of a test that measure together.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_MEASURE_GROUP_H
#define TEST_MEASURE_GROUP_H

#include "../comm/ranks.h"
#include "../format/tmpdir.h"
#include "measure/together.h"

struct group {
    char url[300];
    uint32_t world;
    void *arg;
};

static inline void group_join(const struct group *g, uint32_t rank,
                              struct wr_comm **ret, struct wr_together *t)
{
    struct wr_comm_config cfg = {
        .url = g->url, .rank = rank, .world = g->world, .timeout_ms = 60000};

    CHECK(wr_comm_open(&cfg, ret, NULL) == 0);
    CHECK(wr_together_open(t, *ret, NULL) == 0);
}

static inline void group_leave(struct wr_comm *c, struct wr_together *t)
{
    wr_together_close(t);
    wr_comm_close(c);
}

/* Returns how many ranks failed. */
static inline int group_run(uint32_t world, rank_fn fn, void *arg)
{
    struct group g = {.world = world, .arg = arg};
    struct tmpdir d;
    int failed;

    tmpdir_init(&d);
    snprintf(g.url, sizeof(g.url), "local:%s/s", d.path);
    failed = run_ranks(world, fn, &g);
    tmpdir_done(&d);
    return failed;
}

#endif
