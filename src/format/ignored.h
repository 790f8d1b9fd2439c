/* ignored.h - files that no format takes, counted by their endings.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_IGNORED_H
#define WR_FORMAT_IGNORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WR_IGNORED_KINDS                                                       \
    64 /* endings told apart; the rest is WR_IGNORED_REST */
#define WR_IGNORED_REST "*"

/* As it lies in index files. */
struct wr_ignored_ext {
    uint64_t files;
    char ext[16]; /* ".gif", in small letters; "" for names without one */
};

/* Zeroed memory is none; end it with wr_ignored_done. */
struct wr_ignored {
    struct wr_ignored_ext *list; /* owned */
    size_t count, cap;
};

void wr_ignored_done(struct wr_ignored *ig);

/* Is it worth a remark that this file is not used? Not if it is hidden, or what
 * usually lies beside data: README and the like, texts, tables and metadata. */
bool wr_ignored_counts(const char *name);

/* Counts the file `name`; false when memory is short. */
bool wr_ignored_add(struct wr_ignored *ig, const char *name);

/* Adds all of `from`. */
bool wr_ignored_merge(struct wr_ignored *ig, const struct wr_ignored *from);

/* Most files first; those of equal number by their endings. */
void wr_ignored_sort(struct wr_ignored *ig);

uint64_t wr_ignored_files(const struct wr_ignored *ig);

#endif
