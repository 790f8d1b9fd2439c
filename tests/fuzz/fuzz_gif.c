/* fuzz_gif.c - any bytes through the GIF decoder.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_picture(data, size);
    return 0;
}
