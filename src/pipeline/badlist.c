/* badlist.c - the samples that could not be delivered, by name and reason.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/badlist.h"

#include <stdlib.h>

static char *text_of(const weir_bad_sample *s)
{
    union {
        const char *shown;
        char *owned;
    } text = {.shown = s->text};

    return text.owned;
}

void wr_badlist_done(struct wr_badlist *b)
{
    for (uint64_t k = 0; wr_badlist_at(b, k); k++)
        free(text_of(&b->entries[k]));
    free(b->entries);
    *b = (struct wr_badlist){0};
}

void wr_badlist_add(struct wr_badlist *b, const weir_bad_sample *s, char *text)
{
    if (!b->entries)
        b->entries = calloc(WR_BADLIST_KEPT, sizeof(*b->entries));
    if (!b->entries || b->count >= WR_BADLIST_KEPT) {
        free(text);
    } else {
        b->entries[b->count] = *s;
        b->entries[b->count].text = text;
    }
    b->count++;
}

const weir_bad_sample *wr_badlist_at(const struct wr_badlist *b, uint64_t k)
{
    return b->entries && k < b->count && k < WR_BADLIST_KEPT ? &b->entries[k]
                                                             : NULL;
}
