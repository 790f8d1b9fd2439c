/* fuzz_npy.c - headers of .npy files.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "format/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_tensor_file t;
    struct wr_npy npy;
    uint64_t file_size = size;
    weir_err err;

    if (wr_npy_parse(data, size, &npy, &err) < 0)
        return 0;
    if (npy.ndim > WR_NPY_MAX_DIMS || npy.data_offset > size)
        abort();
    /* As it is, and as if the file went on for long. */
    for (int k = 0; k < 2; k++, file_size = UINT64_C(1) << 62) {
        if (wr_npy_tensor(&npy, file_size, &t, &err) == 0 &&
            (t.count > (file_size - t.data_offset) / t.sample_bytes ||
             t.sample_bytes > WR_TENSOR_MAX_SAMPLE || t.shape.ndim > 7))
            abort();
        if (npy.ndim)
            wr_npy_labels(&npy, file_size, npy.shape[0], &err);
    }
    return 0;
}
