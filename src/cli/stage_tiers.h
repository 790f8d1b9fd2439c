/* stage_tiers.h - the folder tiers of weir stage, and what lies in them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_STAGE_TIERS_H
#define WR_CLI_STAGE_TIERS_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/cache.h"

struct wr_stage_tier {
    char *spec; /* owned: "/fast/dir:200G" */
    char *url;  /* owned: "/fast/dir" */
    uint64_t budget;
};

struct wr_stage_tiers {
    unsigned count;
    struct wr_stage_tier list[WR_CACHE_TIERS];
};

/* "/fast/dir:200G,...": folders only. To be ended with _done. */
int wr_stage_tiers_init(struct wr_stage_tiers *t, const char *spec,
                        weir_err *err);
void wr_stage_tiers_done(struct wr_stage_tiers *t);

/* What a data set is known by in the tiers. */
struct wr_stage_set {
    const char *name; /* borrowed: the data set's */
    uint64_t samples;
    uint64_t sample_bytes; /* of decoded samples; 0: encoded ones */
    uint64_t bytes;        /* that the tier says it holds of it */
};

/* The maps of one data set, and what they said last. */
struct wr_stage_kept {
    bool found[WR_CACHE_TIERS];
    uint64_t fingerprint[WR_CACHE_TIERS];
    uint64_t samples; /* of the set */
    uint64_t bytes;   /* that they take */
    uint64_t room;    /* the most that a tier has left of its budget */
};

/* Finds the map of a set in tier `i` (docs/formats/cache.md), while a pipeline
 * has it open that does not work yet. */
int wr_stage_tiers_find(const struct wr_stage_tiers *t, unsigned i,
                        const struct wr_stage_set *set, struct wr_stage_kept *k,
                        weir_err *err);

/* Counts what is there now. */
int wr_stage_tiers_count(const struct wr_stage_tiers *t,
                         struct wr_stage_kept *k, weir_err *err);

#endif
