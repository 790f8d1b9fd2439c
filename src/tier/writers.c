/* writers.c - the writers that a tier knows of, by number and nonce.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tier/writers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"
#include "codec/crc32c.h"
#include "safetensors/hex.h"
#include "tier/private.h"

#define DIGITS   (WR_MANIFEST_ID - 1)
#define LINE_MAX (20 + 1 + DIGITS + 1) /* "NUMBER NONCE\n" */
#define SUM_MAX  20                    /* "crc32c 0123abcd\n" and a NUL */
#define TEXT_MAX (WR_WRITERS_MAX * LINE_MAX + SUM_MAX)

void wr_writers_done(struct wr_writers *w)
{
    free(w->all);
    *w = (struct wr_writers){0};
}

static int compare_writers(const struct wr_generation *a,
                           const struct wr_generation *b)
{
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return strcmp(a->nonce, b->nonce);
}

static bool writers_has(const struct wr_writers *w,
                        const struct wr_generation *g)
{
    for (size_t i = 0; i < w->count; i++)
        if (compare_writers(&w->all[i], g) == 0)
            return true;
    return false;
}

int wr_writers_add(struct wr_writers *w, uint64_t number, const char *nonce,
                   weir_err *err)
{
    struct wr_generation g = {.number = number};
    size_t at = w->count;

    snprintf(g.nonce, sizeof(g.nonce), "%s", nonce);
    if (!g.nonce[0] || writers_has(w, &g))
        return 0;
    if (!wr_grow(&w->all, &w->cap, w->count + 1, sizeof(*w->all)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (; at > 0 && compare_writers(&w->all[at - 1], &g) > 0; at--)
        w->all[at] = w->all[at - 1];
    w->all[at] = g;
    w->count++;
    return 0;
}

/* --- the file --- */

static int print_sum(char ret[SUM_MAX], const char *text, size_t len)
{
    return snprintf(ret, SUM_MAX, "crc32c %08" PRIx32 "\n",
                    wr_crc32c(0, text, len));
}

char *wr_writers_text(const struct wr_writers *w)
{
    char *text = malloc(TEXT_MAX);
    size_t len = 0;
    size_t skip = w->count > WR_WRITERS_MAX ? w->count - WR_WRITERS_MAX : 0;

    if (!text)
        return NULL;
    for (size_t i = skip; i < w->count; i++)
        len += (size_t)snprintf(text + len, TEXT_MAX - len, "%" PRIu64 " %s\n",
                                w->all[i].number, w->all[i].nonce);
    print_sum(text + len, text, len);
    return text;
}

/* Takes a line off *s: no more than what wr_writers_text writes. */
static bool take_line(const char **s, struct wr_generation *ret)
{
    const char *begin = *s;

    if (!wr_take_digits(s, NULL, &ret->number) || *begin == '0' ||
        ret->number >= INT64_MAX || **s != ' ' || strlen(*s) < DIGITS + 2 ||
        !wr_hex_is(*s + 1, DIGITS) || (*s)[DIGITS + 1] != '\n')
        return false;
    memcpy(ret->nonce, *s + 1, DIGITS);
    ret->nonce[DIGITS] = '\0';
    *s += DIGITS + 2;
    return true;
}

bool wr_writers_parse(const char *text, struct wr_writers *add)
{
    struct wr_generation g, before = {0};
    const char *s = text;
    char sum[SUM_MAX];
    bool rises = true;

    while (rises && take_line(&s, &g)) {
        rises = compare_writers(&before, &g) < 0;
        before = g;
    }
    print_sum(sum, text, (size_t)(s - text));
    if (!rises || strcmp(s, sum) != 0)
        return false;
    for (s = text; take_line(&s, &g);)
        if (wr_writers_add(add, g.number, g.nonce, NULL) < 0)
            return false;
    return true;
}

int wr_writers_read(struct wr_tier *t, struct wr_writers *add, weir_err *err)
{
    weir_err why;
    char *text;
    size_t len;
    int r = wr_tier_slurp(t, WR_NAME_WRITERS, TEXT_MAX, &text, &len, &why);

    if (r == WEIR_ELIMIT)
        return 0;
    if (r < 0)
        return wr_tier_unless_gone(r, &why, err);
    if (strlen(text) == len)
        wr_writers_parse(text, add);
    free(text);
    return 0;
}

int wr_writers_write(struct wr_tier *t, const struct wr_writers *w,
                     weir_err *err)
{
    char *text = wr_writers_text(w);
    int r;

    if (!text)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_tier_replace(t, WR_NAME_WRITERS, text, err);
    free(text);
    return r;
}

int wr_writers_lack(struct wr_tier *t, const struct wr_generation *g, bool *ret,
                    weir_err *err)
{
    struct wr_writers w = {0};
    int r;

    *ret = false;
    if (!g->nonce[0])
        return 0;
    r = wr_writers_read(t, &w, err);
    /* Where the oldest ones were dropped nothing is known of those. */
    if (r == 0 && w.count > 0 &&
        (w.count < WR_WRITERS_MAX || g->number >= w.all[0].number))
        *ret = !writers_has(&w, g);
    wr_writers_done(&w);
    return r;
}
