/* fuzz_zip.c - directories of ZIP files.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "format/zip.h"
#include "memory_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_object o = memory_object(data, size);
    struct wr_zip z;
    weir_err err;

    if (wr_zip_open(&o.base, size, &z, &err) < 0)
        return 0;
    for (size_t k = 0; k < z.count; k++) {
        const struct wr_zip_member *m = &z.members[k];
        uint64_t at;

        if (m->head > z.end || z.end > size || !m->name[0] ||
            m->stored > z.end || (!m->deflated && m->stored != m->inflated))
            abort();
        if (wr_zip_data(&z, m, data + m->head, (size_t)(z.end - m->head), &at,
                        &err) == 0 &&
            (at < m->head || at > z.end || m->stored > z.end - at))
            abort();
    }
    wr_zip_done(&z);
    return 0;
}
