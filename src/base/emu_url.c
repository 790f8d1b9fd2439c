/* emu_url.c - URLs of emulated devices: emu:PROFILE[,trace=FILE]:URL.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/emu_url.h"

#include <stdio.h>
#include <string.h>

#define SCHEME "emu:"
#define TRACE  ",trace="

bool wr_emu_url_rest(const char *rest, struct wr_emu_url *ret)
{
    const char *colon = strchr(rest, ':');
    char *trace;

    if (!colon || (size_t)(colon - rest) >= sizeof(ret->profile))
        return false;
    snprintf(ret->profile, sizeof(ret->profile), "%.*s", (int)(colon - rest),
             rest);
    trace = strstr(ret->profile, TRACE);
    ret->trace = trace ? trace + strlen(TRACE) : NULL;
    if (trace)
        *trace = '\0';
    ret->inner = colon + 1;
    return true;
}

bool wr_emu_url(const char *url, struct wr_emu_url *ret)
{
    return !strncmp(url, SCHEME, strlen(SCHEME)) &&
           wr_emu_url_rest(url + strlen(SCHEME), ret);
}
