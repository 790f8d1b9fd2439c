/* fuzz_tracefs.c - any text as the format of a tracepoint.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/preload/rank.h"
#include "trace/collect/kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_tracepoint t = {
        .name = "x", .fields = {{"id", 0, 0}, {"args", 0, 0}, {"comm", 0, 0}}};
    char *text = malloc(size + 1);
    int32_t rank, world;
    weir_err err;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (wr_tracefs_parse(text, &t, &err) == 0)
        for (size_t k = 0; k < 3; k++)
            (void)wr_tracepoint_value(&t.fields[k], data, size);
    wr_rank_of(text, size, &rank, &world);
    free(text);
    return 0;
}
