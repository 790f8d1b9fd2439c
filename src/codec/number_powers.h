/* number_powers.h - powers of five, and the number that w * 10^q is.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_NUMBER_POWERS_H
#define WR_CODEC_NUMBER_POWERS_H

#include <stdbool.h>
#include <stdint.h>

#define WR_POWER_FIRST (-342)
#define WR_POWER_LAST  308

/* The highest 64 bits of 5^(WR_POWER_FIRST + k), and the next (made by
 * scripts/powers.py). */
extern const uint64_t wr_number_powers[WR_POWER_LAST - WR_POWER_FIRST + 1][2];

/* w * 10^q, correctly rounded to a double (wide) or a float; too large: infinity.
 * w is not 0. */
double wr_number_round(uint64_t w, int64_t q, bool wide);

#endif
