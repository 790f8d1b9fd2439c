/* turns_clock.h - a wall clock that is wrong.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CKPT_TURNS_CLOCK_H
#define CKPT_TURNS_CLOCK_H

#include <stdint.h>

/* From now on CLOCK_REALTIME is off by so much, in this process. */
void turns_clock_skew(int64_t seconds);

#endif
