/* named.h - the entry of a list by its name.
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

#endif
