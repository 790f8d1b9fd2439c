/* fuzz_example.c - tf.train.Example messages.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "format/example.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_example ex;
    const uint8_t *key;
    weir_err err;

    if (wr_example_parse(data, size, &ex, &err) < 0)
        return 0;
    key = (const uint8_t *)ex.key;
    if (ex.picture < data || ex.picture_len > size ||
        ex.picture + ex.picture_len > data + size)
        abort();
    if (key &&
        (key < data || ex.key_len > size || key + ex.key_len > data + size))
        abort();
    return 0;
}
