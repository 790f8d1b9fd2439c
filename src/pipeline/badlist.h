/* badlist.h - the samples that could not be delivered, by name and reason.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Entries never move, so that a caller may keep a pointer to one. */
#ifndef WR_PIPELINE_BADLIST_H
#define WR_PIPELINE_BADLIST_H

#include "weir/pipeline.h"

#define WR_BADLIST_KEPT 1000

struct wr_badlist {
    uint64_t count;           /* all of them */
    weir_bad_sample *entries; /* owned: the first WR_BADLIST_KEPT */
};

void wr_badlist_done(struct wr_badlist *b);

/* Takes over `text` (malloc'ed, may be NULL). */
void wr_badlist_add(struct wr_badlist *b, const weir_bad_sample *s, char *text);

/* Entry k, or NULL. */
const weir_bad_sample *wr_badlist_at(const struct wr_badlist *b, uint64_t k);

#endif
