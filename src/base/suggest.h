/* suggest.h - the nearest of several words, for "did you mean".
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_SUGGEST_H
#define WR_BASE_SUGGEST_H

#include <stddef.h>

/* Edits (insert, delete, replace, swap of neighbours) from a to b. Words of
 * more than 63 characters count as far apart. */
size_t wr_suggest_distance(const char *a, const char *b);

/* Keeps the nearest candidate seen so far. */
struct wr_suggest {
    const char *word; /* borrowed: what was typed */
    const char *best; /* borrowed; NULL: nothing is near */
    size_t distance;
};

void wr_suggest_init(struct wr_suggest *s, const char *word);
void wr_suggest_try(struct wr_suggest *s, const char *candidate);

/* " (did you mean WORD?)", with `prefix` before the word, or nothing. */
struct wr_suggested {
    char text[96];
};

struct wr_suggested wr_suggest_said(const struct wr_suggest *s,
                                    const char *prefix);

#endif
