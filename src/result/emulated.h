/* emulated.h - which device a URL has emulated.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RESULT_EMULATED_H
#define WR_RESULT_EMULATED_H

#include <stdbool.h>
#include <stddef.h>

/* "emulated hdd" of emu:hdd:PATH, also inside fault:SPEC:; false, and "" in buf,
 * for a URL whose device is the real one. */
bool wr_emulated(const char *url, char *buf, size_t cap);

#endif
