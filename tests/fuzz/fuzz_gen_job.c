/* fuzz_gen_job.c - what a data set says it was made from, and its first file.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "gen/form.h"
#include "gen/set_job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_workload *w = NULL;
    const struct wr_gen_form *form;
    struct wr_gen_spec s;
    weir_err err = {0};
    uint64_t seed;

    if (wr_gen_job_parse("fuzz", (const char *)data, size, &w, &seed, &err) <
        0) {
        if (err.code >= 0 || !err.msg[0] || w)
            abort();
        return 0;
    }
    form = wr_gen_form_of(w, &err);
    if (form && wr_gen_spec_init(&s, w, seed, 0, &err) == 0)
        form->size(&s);
    wr_workload_free(w);
    return 0;
}
