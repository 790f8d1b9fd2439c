/* fuzz_tier_writers.c - the file that says which writers a tier knows of.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "tier/writers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is read is written as it was read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_writers w = {0};
    char *again, *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (wr_writers_parse(text, &w) && w.count <= WR_WRITERS_MAX) {
        again = wr_writers_text(&w);
        if (!again || strcmp(text, again) != 0)
            abort();
        free(again);
    }
    wr_writers_done(&w);
    free(text);
    return 0;
}
