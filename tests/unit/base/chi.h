/* chi.h - is a table of counts what equal chances give?
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_BASE_CHI_H
#define TEST_BASE_CHI_H

#include <math.h>

/* The value that chi-square with `freedom` degrees exceeds with a chance of
 * 0.001 (Wilson and Hilferty's approximation). */
static inline double chi_limit(unsigned freedom)
{
    double k = freedom, a = 2 / (9 * k);

    return k * pow(1 - a + 3.0902 * sqrt(a), 3);
}

static inline void assert_uniform(const uint64_t *cells, unsigned count,
                                  double expected)
{
    double sum = 0;

    for (unsigned i = 0; i < count; i++) {
        double d = (double)cells[i] - expected;

        sum += d * d / expected;
    }
    if (sum > chi_limit(count - 1))
        fail_msg("chi-square %g of %u cells is over %g", sum, count,
                 chi_limit(count - 1));
}

#endif
