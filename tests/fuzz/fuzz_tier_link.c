/* fuzz_tier_link.c - the file that says which store a tier belongs to.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "tier/link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is read is written as it was read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_tier_link link;
    char again[WR_LINK_TEXT], *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (wr_tier_link_parse(text, &link)) {
        wr_tier_link_text(&link, again);
        if (strcmp(text, again) != 0)
            abort();
    }
    free(text);
    return 0;
}
