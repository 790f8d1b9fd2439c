/* named.h - the entry of a list by its name, or the nearest one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The name is the first member of an entry. A list ends after `count` entries,
 * or at one whose name is NULL. */
#ifndef WR_BASE_NAMED_H
#define WR_BASE_NAMED_H

#include <stddef.h>

/* The first three arguments for an array, and for a list that ends with NULL. */
#define WR_NAMED(list)                                                         \
    (list), sizeof(list) / sizeof((list)[0]), sizeof((list)[0])
#define WR_NAMED_OPEN(list) (list), (size_t)-1, sizeof((list)[0])

/* Entries that begin with a pointer to the name, or are nothing else. The first
 * returns -1, the second NULL when there is none. */
int wr_named_index(const void *list, size_t count, size_t size,
                   const char *name);
const void *wr_named_find(const void *list, size_t count, size_t size,
                          const char *name);

/* Entries that begin with the text of the name; -1: none. */
int wr_named_text(const void *list, size_t count, size_t size,
                  const char *name);

/* A list of pointers to what begins with a pointer to its name: formats,
 * commands. It may end with a NULL pointer, too. */
const void *wr_named_ops(const void *list, size_t count, const char *name);

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
