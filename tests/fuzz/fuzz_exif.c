/* fuzz_exif.c - any bytes as EXIF, alone and inside of each kind of picture.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/turn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(unsigned orientation)
{
    if (orientation < 1 || orientation > 8)
        abort();
}

/* What such pictures begin with, so that each walk is reached. */
static void check_inside(const char *head, size_t len, const uint8_t *data,
                         size_t size)
{
    uint8_t *bytes = malloc(len + size);

    if (!bytes)
        return;
    memcpy(bytes, head, len);
    memcpy(bytes + len, data, size);
    check(wr_codec_orientation(bytes, len + size));
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check(wr_exif_orientation(data, size));
    check(wr_exif_orientation_named(data, size));
    check(wr_codec_orientation(data, size));
    if (!size)
        return 0;
    check_inside("\xff\xd8\xff", 3, data, size);
    check_inside("\x89PNG\r\n\x1a\n", 8, data, size);
    check_inside("RIFF....WEBP", 12, data, size);
    return 0;
}
