/* fuzz_ckpt_shapes.c - the lists of tensors that weir ckpt bench --state reads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "measure/ckpt_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_ckpt_load l = {0};
    weir_err err = {0};

    if (wr_ckpt_load_parse((const char *)data, size, "x", &l, &err) < 0) {
        if (l.tensors || err.code >= 0 || !err.msg[0])
            abort();
        return 0;
    }
    for (size_t i = 0; i < l.count; i++)
        if (!l.tensors[i].name || l.tensors[i].ndim > WEIR_TENSOR_DIMS)
            abort();
    wr_ckpt_load_done(&l);
    return 0;
}
