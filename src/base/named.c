/* named.c - the entry of a list by its name, or the nearest one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/named.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* --- the nearest of several words, for "did you mean" --- */

#define WORD_MAX 63

static size_t min3(size_t a, size_t b, size_t c)
{
    return WR_MIN(WR_MIN(a, b), c);
}

/* Optimal string alignment: three rows of the classic table are enough. */
size_t wr_suggest_distance(const char *a, const char *b)
{
    size_t rows[3][WORD_MAX + 1];
    size_t la = strlen(a), lb = strlen(b);
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    if (la > WORD_MAX || lb > WORD_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= lb; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *spare = before;

        now[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            bool same = a[i - 1] == b[j - 1];

            now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = WR_MIN(now[j], before[j - 2] + 1);
        }
        before = last;
        last = now;
        now = spare;
    }
    return last[lb];
}

void wr_suggest_init(struct wr_suggest *s, const char *word)
{
    size_t len = strlen(word);

    /* A third of the word may be wrong; one letter of a short one. */
    *s = (struct wr_suggest){.word = word, .distance = len / 3 + 2};
}

void wr_suggest_try(struct wr_suggest *s, const char *candidate)
{
    size_t d = wr_suggest_distance(s->word, candidate);
    size_t len = strlen(s->word);

    /* The beginning of a longer word is near as well. */
    if (len >= 2 && !strncmp(candidate, s->word, len))
        d = 1;
    if (d >= s->distance)
        return;
    s->distance = d;
    s->best = candidate;
}

struct wr_suggested wr_suggest_said(const struct wr_suggest *s,
                                    const char *prefix)
{
    struct wr_suggested said = {""};

    if (s->best)
        snprintf(said.text, sizeof(said.text), " (did you mean %s%s?)", prefix,
                 s->best);
    return said;
}

/* --- by name --- */

int wr_named_index(const void *list, size_t count, size_t size,
                   const char *name)
{
    for (size_t k = 0; k < count; k++) {
        const char *const *e = (const void *)((const char *)list + k * size);

        if (!*e)
            break;
        if (!strcmp(*e, name))
            return (int)k;
    }
    return -1;
}

const void *wr_named_find(const void *list, size_t count, size_t size,
                          const char *name)
{
    int k = wr_named_index(list, count, size, name);

    return k < 0 ? NULL : (const char *)list + (size_t)k * size;
}

int wr_named_text(const void *list, size_t count, size_t size, const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (!strcmp((const char *)list + k * size, name))
            return (int)k;
    return -1;
}

const void *wr_named_ops(const void *list, size_t count, const char *name)
{
    const void *const *at = list;

    for (size_t k = 0; k < count && at[k]; k++)
        if (!strcmp(*(const char *const *)at[k], name))
            return at[k];
    return NULL;
}
