/* json_walk.c - the values at some pointers, in one pass over a text.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/json.h"

#define NAME_MAX_BYTES 1024 /* six for each of a field's name */

/* Where the next part of each pointer begins ("/a/b": at a slash, or at the
 * NUL). `mask` has the pointers that lead through the value at w->j.at. */
static bool walk_value(struct wr_json_walk *w, uint64_t mask, const char **rest,
                       unsigned depth);

/* Behind the part of the pointer at `p` if it is `name`; else NULL. */
static const char *match_part(const char *p, const char *name, size_t len)
{
    size_t k = 0;

    for (p++; *p && *p != '/'; p++, k++) {
        char c = *p;

        if (c == '~' && (p[1] == '0' || p[1] == '1'))
            c = *++p == '0' ? '~' : '/';
        if (k >= len || name[k] != c)
            return NULL;
    }
    return k == len ? p : NULL;
}

/* The value of a member or element called so. */
static bool walk_child(struct wr_json_walk *w, uint64_t mask, const char **rest,
                       unsigned depth, struct wr_json_string name)
{
    const char *below[WR_JSON_TARGETS];
    uint64_t into = 0;

    for (uint64_t left = mask; left; left &= left - 1) {
        unsigned k = (unsigned)__builtin_ctzll(left);

        below[k] = match_part(rest[k], name.at, name.len);
        into |= below[k] ? UINT64_C(1) << k : 0;
    }
    if (!into)
        return wr_json_skip(&w->j);
    w->found &= ~into; /* of members of one name the last counts */
    return walk_value(w, into, below, depth + 1);
}

static bool walk_object(struct wr_json_walk *w, uint64_t mask,
                        const char **rest, unsigned depth)
{
    char plain[NAME_MAX_BYTES];
    struct wr_json_string name;

    w->j.at++;
    if (wr_json_peek(&w->j) == '}') {
        w->j.at++;
        return true;
    }
    for (;;) {
        wr_json_peek(&w->j);
        if (!wr_json_name(&w->j, &name))
            return false;
        if (name.escaped && name.len < sizeof(plain) &&
            wr_json_unescape(&name, plain, &name.len))
            name.at = plain;
        if (!walk_child(w, mask, rest, depth, name))
            return false;
        if (wr_json_peek(&w->j) != ',')
            return wr_json_take(&w->j, '}',
                                "a comma or the end was to come here");
        w->j.at++;
    }
}

static bool walk_array(struct wr_json_walk *w, uint64_t mask, const char **rest,
                       unsigned depth)
{
    char number[24];

    w->j.at++;
    if (wr_json_peek(&w->j) == ']') {
        w->j.at++;
        return true;
    }
    for (uint64_t n = 0;; n++) {
        struct wr_json_string name = {.at = number};

        name.len = (size_t)snprintf(number, sizeof(number), "%" PRIu64, n);
        if (!walk_child(w, mask, rest, depth, name))
            return false;
        if (wr_json_peek(&w->j) != ',')
            return wr_json_take(&w->j, ']',
                                "a comma or the end was to come here");
        w->j.at++;
    }
}

static bool walk_value(struct wr_json_walk *w, uint64_t mask, const char **rest,
                       unsigned depth)
{
    const char *start;
    uint64_t further = 0;
    char c = wr_json_peek(&w->j);

    if (depth > WR_JSON_DEPTH)
        return wr_json_fail(&w->j, "nested deeper than 64");
    start = w->j.at;
    for (; mask; mask &= mask - 1) {
        unsigned k = (unsigned)__builtin_ctzll(mask);

        if (*rest[k]) {
            further |= UINT64_C(1) << k;
            continue;
        }
        w->j.at = start;
        w->found |= UINT64_C(1) << k;
        if (!w->take(w->arg, k, &w->j))
            return false;
    }
    if (!further)
        return true;
    w->j.at = start;
    if (c == '{')
        return walk_object(w, further, rest, depth);
    if (c == '[')
        return walk_array(w, further, rest, depth);
    return wr_json_skip(&w->j);
}

bool wr_json_walk(struct wr_json_walk *w)
{
    uint64_t all = w->count == 64 ? UINT64_MAX : (UINT64_C(1) << w->count) - 1;

    w->found = 0;
    if (!(all ? walk_value(w, all, w->pointer, 0) : wr_json_skip(&w->j)))
        return false;
    wr_json_peek(&w->j);
    return w->j.at == w->j.end ||
           wr_json_fail(&w->j, "text behind the end of the value");
}
