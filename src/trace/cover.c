/* cover.c - time that is covered by intervals which overlap.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/cover.h"

#include <string.h>

#include "base/mem.h"

/* Takes stretches [first, end) out, and puts `s` in their place. */
static void replace(struct wr_cover *c, unsigned first, unsigned end,
                    struct wr_covered s)
{
    if (first == end && c->count == WR_COVER_DEPTH) { /* forget the oldest */
        c->floor = c->last[0].to;
        memmove(c->last, c->last + 1, (c->count - 1) * sizeof(s));
        c->count--;
        if (!first) {
            if (s.to <= c->floor)
                return;
            s.from = WR_MAX(s.from, c->floor);
        } else {
            first--;
            end--;
        }
    }
    memmove(c->last + first + 1, c->last + end, (c->count - end) * sizeof(s));
    c->count = c->count - (end - first) + 1;
    c->last[first] = s;
    c->total += s.to - s.from;
}

void wr_cover_add(struct wr_cover *c, uint64_t from, uint64_t to)
{
    struct wr_covered s = {WR_MAX(from, c->floor), to};
    unsigned end = c->count, first;

    if (s.to <= s.from)
        return;
    while (end && c->last[end - 1].from > s.to)
        end--;
    for (first = end; first && c->last[first - 1].to >= s.from; first--) {
        const struct wr_covered *o = &c->last[first - 1];

        s.from = WR_MIN(s.from, o->from);
        s.to = WR_MAX(s.to, o->to);
        c->total -= o->to - o->from;
    }
    replace(c, first, end, s);
}
