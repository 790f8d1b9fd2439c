/* known.h - what manifests said, so that each is read once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A published step never changes. While its manifest is the same file (inode,
 * time, size) it says the same, and retention, which looks at all steps after
 * each save, need not read it again. What was found damaged is not kept. */
#ifndef WR_TIER_KNOWN_H
#define WR_TIER_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/storage.h"
#include "tier/manifest.h"

/* What a manifest says, in short. */
struct wr_gist {
    char id[WR_MANIFEST_ID], store[WR_MANIFEST_ID];
    struct wr_ordinal turn, from; /* turn.step: the step */
    bool continues;
    uint64_t bytes, time_ns;
    uint32_t world;
};

void wr_gist_of(const struct wr_manifest *m, struct wr_gist *ret);

struct wr_known;

struct wr_known *wr_known_new(void); /* NULL: out of memory */
void wr_known_free(struct wr_known *k);

/* Whether it was learned when the manifest was `as` it is now. */
bool wr_known_find(struct wr_known *k, uint64_t step, const struct wr_stat *as,
                   struct wr_gist *ret);
/* When memory is short it is not. */
void wr_known_learn(struct wr_known *k, const struct wr_stat *as,
                    const struct wr_gist *g);
/* Forgets all but these steps, which rise. */
void wr_known_keep(struct wr_known *k, const uint64_t *steps, size_t count);

#endif
