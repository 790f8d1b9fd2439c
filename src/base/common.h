/* common.h - things that are there once in a process, by name.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An emulated disk, a tier in memory: the first who asks for one makes it, the
 * others get the same, and the last who leaves it frees it. Any thread may
 * call. */
#ifndef WR_BASE_COMMON_H
#define WR_BASE_COMMON_H

#include "weir/error.h"

/* What can be asked for by name. `make` and `free` run one at a time and must
 * not ask for another. */
struct wr_common_kind {
    int (*make)(const void *arg, void **ret, weir_err *err);
    void (*free)(void *thing);
};

/* The thing of this kind and name; made from `arg` when there is none. */
int wr_common_ref(const struct wr_common_kind *kind, const char *name,
                  const void *arg, void **ret, weir_err *err);
void wr_common_unref(void *thing); /* takes NULL */

#endif
