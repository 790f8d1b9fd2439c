/* writers.h - the writers that a tier knows of, by number and nonce.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Generations are numbers, and a slow tier that was restored from a backup hands
 * the same numbers out again: a lower number does not mean an earlier writer.
 * Each writer therefore notes on its tiers which writers were there before it
 * (`.weir/writers`). One that the fast tier has not heard of went on without it.
 *
 * The file is one line a writer, "NUMBER NONCE", from low to high, and a last
 * line with the CRC32C of those before. It is a cache: where it is missing or
 * damaged, numbers alone tell. */
#ifndef WR_TIER_WRITERS_H
#define WR_TIER_WRITERS_H

#include <stdbool.h>
#include <stddef.h>

#include "tier/link.h"

#define WR_WRITERS_MAX 512 /* the newest ones: more are not kept */

struct wr_writers {
    struct wr_generation *all; /* owned; rising */
    size_t count, cap;
};

void wr_writers_done(struct wr_writers *w);
/* One without a nonce is of an earlier version, and is not noted. */
int wr_writers_add(struct wr_writers *w, uint64_t number, const char *nonce,
                   weir_err *err);

/* Whether `text` is such a file; adds what it says if so. */
bool wr_writers_parse(const char *text, struct wr_writers *add);
/* Fresh memory (free()); NULL when memory is short. */
char *wr_writers_text(const struct wr_writers *w);

/* Adds those that a tier knows; none where its file is missing or damaged. */
int wr_writers_read(struct wr_tier *t, struct wr_writers *add, weir_err *err);
/* Makes or replaces the file, durably; for the tier's writer. */
int wr_writers_write(struct wr_tier *t, const struct wr_writers *w,
                     weir_err *err);
/* Whether a tier says which writers it knows, and this is not one of them. */
int wr_writers_lack(struct wr_tier *t, const struct wr_generation *g, bool *ret,
                    weir_err *err);

#endif
