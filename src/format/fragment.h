/* fragment.h - what a user says behind '#' of a data set's URL.
 * SPDX-License-Identifier: Apache-2.0
 *
 * "/data/a.jsonl#x=/pixels,label=/class": pairs NAME=VALUE, comma between. What
 * they mean is the format's business. A file whose own name has the '#' comes
 * first: only where there is none of the full name is it a fragment. */
#ifndef WR_FORMAT_FRAGMENT_H
#define WR_FORMAT_FRAGMENT_H

#include <stddef.h>

#include "storage/storage.h"
#include "weir/error.h"

#define WR_FRAGMENT_PAIRS 64
#define WR_FRAGMENT_NAME  128 /* bytes of a name, with its NUL */
#define WR_FRAGMENT_VALUE 256 /* bytes of a value, with its NUL */

struct wr_fragment_pair {
    char name[WR_FRAGMENT_NAME];
    char value[WR_FRAGMENT_VALUE];
};

struct wr_fragment {
    struct wr_fragment_pair pairs[WR_FRAGMENT_PAIRS];
    unsigned count;
};

/* Opens the store of `url` as wr_store_open does. Where there is nothing of
 * that name but of what stands before a '#', opens that, and *ret_fragment is
 * the text behind it (fresh memory); else it is NULL. */
int wr_fragment_open(const char *url, unsigned flags, struct wr_store **ret,
                     char **ret_leaf, char **ret_fragment, weir_err *err);

/* The pairs of `text` (NULL: none); names are neither empty nor the same, and
 * no value is empty. The message shows the pair that is wrong. */
int wr_fragment_parse(const char *text, struct wr_fragment *ret, weir_err *err);

/* The value of the pair that is called so; NULL: there is none. */
const char *wr_fragment_find(const struct wr_fragment *f, const char *name);

/* WEIR_EINVAL when a name is none of `known` (NULL behind the last one). */
int wr_fragment_check(const struct wr_fragment *f, const char *const *known,
                      weir_err *err);

#endif
