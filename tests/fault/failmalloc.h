/* failmalloc.h - allocations that fail on command, in the libraries too.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FAILMALLOC_H
#define TEST_FAILMALLOC_H

#include <stdbool.h>

/* False where a sanitizer has an allocator of its own: nothing ever fails. */
bool fm_can_fail(void);

/* From now on allocations are counted from 0, and those of [from, to) fail. */
void fm_start(unsigned long from, unsigned long to);
/* Ends that; returns how many there were. */
unsigned long fm_stop(void);

#endif
