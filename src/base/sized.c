/* sized.c - public structs of programs that were built with another header.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/sized.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "weir/weir.h"

#define SIZE_LIMIT 65536u /* no struct of settings will ever be as large */
static int check_behind(size_t own_size, const void *given, size_t size,
                        weir_err *err)
{
    const unsigned char *bytes = given;

    for (size_t i = own_size; i < size; i++)
        if (bytes[i])
            return wr_fail(err, WEIR_ENOTSUP,
                           "settings of a newer version of weir than %s",
                           weir_version_string());
    return 0;
}

int wr_sized_take(void *own, size_t own_size, const void *given,
                  const char *fill, weir_err *err)
{
    size_t size;
    int r;

    memcpy(&size, given, sizeof(size));
    if (size < sizeof(size) || size > SIZE_LIMIT)
        return wr_fail(err, WEIR_EINVAL,
                       "size is %zu: fill the settings with %s first", size,
                       fill);
    r = check_behind(own_size, given, size, err);
    if (r < 0)
        return r;
    memcpy(own, given, WR_MIN(size, own_size));
    memcpy(own, &own_size, sizeof(own_size));
    return 0;
}

int wr_sized_copy(void *own, size_t own_size, const void *given, size_t size,
                  weir_err *err)
{
    int r = check_behind(own_size, given, size, err);

    if (r == 0)
        wr_sized_give(own, own_size, given, size);
    return r;
}

void wr_sized_give(void *ret, size_t size, const void *own, size_t own_size)
{
    memset(ret, 0, size);
    memcpy(ret, own, WR_MIN(size, own_size));
}
