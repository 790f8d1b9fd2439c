/* emu_url.h - URLs of emulated devices: emu:PROFILE[,trace=FILE]:URL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_EMU_URL_H
#define WR_BASE_EMU_URL_H

#include <limits.h>
#include <stdbool.h>

struct wr_emu_url {
    char profile[PATH_MAX]; /* a device's name, or a .profile file */
    const char
        *trace; /* in the same memory: where what it moves is written down;
                          NULL: nowhere */
    const char *inner; /* borrowed: what lies behind the second colon */
};

/* False: it is none, or has no second colon. */
bool wr_emu_url(const char *url, struct wr_emu_url *ret);

/* The same of what follows "emu:". */
bool wr_emu_url_rest(const char *rest, struct wr_emu_url *ret);

#endif
