/* golden_sets.h - the data sets of the golden test, the same on every machine.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_GOLDEN_SETS_H
#define TEST_GOLDEN_SETS_H

#include <stdbool.h>

#include "../format/tmpdir.h"

/* Makes all of them below `t`. */
void gs_make(const struct tmpdir *t);

/* The k-th: its name, and what to open below `t`; NULL past the last. */
struct gs_set {
    const char *name, *path;
    bool needs_png;
};
const struct gs_set *gs_at(unsigned k);
const struct gs_set *gs_find(const char *name);

/* Files of the set "bad" that go and grow once it is open; and back. */
void gs_harm(const struct tmpdir *t);
void gs_mend(const struct tmpdir *t);

#endif
