/* emulated.c - which device a URL has emulated.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/emulated.h"

#include <stdio.h>
#include <string.h>

#include "base/emu_url.h"

static bool begins(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

bool wr_emulated(const char *url, char *buf, size_t cap)
{
    struct wr_emu_url emu;

    if (cap)
        *buf = '\0';
    while (begins(url, "fault:")) {
        const char *spec = url + strlen("fault:"), *end = strchr(spec, ':');

        if (!end)
            return false;
        url = end + 1;
    }
    if (!wr_emu_url(url, &emu))
        return false;
    snprintf(buf, cap, "emulated %s", emu.profile);
    return true;
}
