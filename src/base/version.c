/* version.c - the library's version.
 * SPDX-License-Identifier: Apache-2.0 */
#include "weir/weir.h"

int weir_version(void)
{
    return WEIR_VERSION;
}

const char *weir_version_string(void)
{
#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)
    return TEXT(WEIR_VERSION_MAJOR) "." TEXT(WEIR_VERSION_MINOR) "." TEXT(
        WEIR_VERSION_PATCH);
}
