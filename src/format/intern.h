/* intern.h - texts that occur many times, kept once and numbered.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_INTERN_H
#define WR_FORMAT_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/* Zeroed memory is an empty one; end it with wr_intern_done. */
struct wr_intern {
    char *pool; /* owned if pool_cap: the texts, each with its NUL */
    size_t pool_len, pool_cap;
    uint64_t *at; /* owned if at_cap: where text k starts in pool */
    size_t count, at_cap;
    struct wr_map table; /* of struct wr_map_number; empty: not needed now */
};

/* The number of `text` (no NUL inside), new or known; WEIR_ENOMEM when memory
 * is short, WEIR_ELIMIT above 2^31 texts. */
int64_t wr_intern_add(struct wr_intern *in, const char *text, size_t len);

/* Text `k`, valid until the next add. */
const char *wr_intern_text(const struct wr_intern *in, uint64_t k);

/* Gives back what only adding needs; adding again is allowed, but slow once. */
void wr_intern_seal(struct wr_intern *in);
size_t wr_intern_memory(const struct wr_intern *in);
void wr_intern_done(struct wr_intern *in);

#endif
