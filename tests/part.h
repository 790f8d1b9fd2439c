/* part.h - which part of a long test runs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * `make test` sets WEIR_TEST_PART to a number that follows the commit
 * (scripts/part.sh); a test of N parts runs that number modulo N. Without the
 * variable, as in `make check-full`, everything runs. */
#ifndef TESTS_PART_H
#define TESTS_PART_H

#include <stdlib.h>

/* Into how many parts the test is split: `parts`, or 1 if everything runs. */
static inline unsigned part_count(unsigned parts)
{
    const char *text = getenv("WEIR_TEST_PART");

    return text && *text ? parts : 1;
}

/* Which of them runs: 0 ... part_count(parts) - 1. */
static inline unsigned part_index(unsigned parts)
{
    const char *text = getenv("WEIR_TEST_PART");

    return text && *text ? (unsigned)(strtoull(text, NULL, 10) % parts) : 0;
}

#endif
