/* fuzz_npy.c - headers of .npy files, and arrays of .npz files.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "format/array_shape.h"
#include "memory_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every sample lies in the array, whatever the axis. */
static void check_axis(const struct wr_npz_array *a, enum wr_axis axis)
{
    struct wr_array_shape s;

    if (wr_array_shape(a, axis, &s, NULL) < 0 || !s.count)
        return;
    if (s.field.pub.ndim > 7 || !s.length || s.length > a->bytes ||
        (s.count - 1) * s.step + s.length > a->bytes)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_object o = memory_object(data, size);
    struct wr_npz arrays = {0};
    struct wr_npy npy;
    weir_err err;

    if (wr_npy_parse(data, size, &npy, &err) == 0 &&
        (npy.ndim > WR_NPY_MAX_DIMS || npy.data_offset > size))
        abort();
    if (wr_npz_read(&o.base, size, wr_is_zip(data, size), &arrays, &err) < 0)
        return 0;
    for (size_t k = 0; k < arrays.count; k++) {
        const struct wr_npz_array *a = &arrays.list[k];
        void *values = NULL;

        if (!a->deflated && (a->offset > size || a->bytes > size - a->offset))
            abort();
        check_axis(a, WR_AXIS_FIRST);
        check_axis(a, WR_AXIS_LAST);
        check_axis(a, WR_AXIS_FILE);
        wr_npz_values(&o.base, a, &values, &err);
        free(values);
    }
    wr_npz_done(&arrays);
    return 0;
}
