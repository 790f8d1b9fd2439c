/* fuzz_wt.c - headers of .wt files.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "format/tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Samples and labels must lie inside the file. */
static void check(const uint8_t *data, size_t size, uint64_t file_size)
{
    struct wr_tensor_file t;
    weir_err err;

    if (wr_wt_parse(data, size, file_size, &t, &err) < 0)
        return;
    if (t.data_offset > file_size || !t.sample_bytes ||
        t.count > (file_size - t.data_offset) / t.sample_bytes)
        abort();
    if (t.labels_offset && t.count > (t.data_offset - t.labels_offset) / 4)
        abort();
    if (t.shape.ndim > 7 || t.sample_bytes > WR_TENSOR_MAX_SAMPLE)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_tensor_file t = {0};
    uint64_t file_size = size;

    check(data, size, size);
    check(data, size, UINT64_MAX);
    /* The size that the header asks for, so that good ones get through. */
    if (size >= WR_WT_HEADER) {
        uint64_t bytes = data[12] == 0 ? 4 : data[12] == 1 ? 2 : 1;

        t.count = data[24] | (uint64_t)data[25] << 8;
        for (unsigned k = 0; k < 7 && k < data[16]; k++)
            bytes *= data[64 + 8 * k];
        file_size = (128 + (data[20] & 1 ? 4 * t.count : 0) + 4095) / 4096 *
                        4096 +
                    t.count * bytes;
        check(data, size, file_size);
    }
    return 0;
}
