/* law.c - times that are numbers or distributions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload/law.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "workload/choices.h"
#include "workload/numbers.h"

static const struct wr_wl_law_words laws[] = {
    {WR_WL_NORMAL, "mean", "stdev"}, {WR_WL_UNIFORM, "min", "max"},
    {WR_WL_GAMMA, "shape", "scale"}, {WR_WL_EXPONENTIAL, "scale", NULL},
    {WR_WL_POISSON, "lam", NULL},
};

const struct wr_wl_law_words *wr_wl_law_words(enum wr_wl_law law)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(laws); i++)
        if (laws[i].law == law)
            return &laws[i];
    return NULL;
}

static const struct wr_wl_node *entry_of(const struct wr_wl_node *map,
                                         const char *key)
{
    for (const struct wr_wl_node *c = map->first; c; c = c->next)
        if (key && !strcmp(c->key, key))
            return c;
    return NULL;
}

static int law_number(const struct wr_wl_key *k, const struct wr_wl_node *map,
                      const char *name, double *ret,
                      const struct wr_wl_node **ret_bad, weir_err *err)
{
    const struct wr_wl_node *n = entry_of(map, name);
    int r;

    *ret_bad = map;
    if (!n)
        return wr_fail(err, WEIR_EINVAL, "%s is missing", name);
    *ret_bad = n;
    if (n->kind != WR_WL_SCALAR)
        return wr_fail(err, WEIR_EINVAL, "%s is not a number", name);
    r = wr_wl_parse_number(k, n->text, ret, err);
    return r < 0 ? wr_fail_prefix(err, r, "%s", name) : 0;
}

/* All entries are `type` and those of the law. */
static int check_words(const struct wr_wl_node *map,
                       const struct wr_wl_law_words *words,
                       const struct wr_wl_node **ret_bad, weir_err *err)
{
    char cut[64];

    for (const struct wr_wl_node *c = map->first; c; c = c->next) {
        if (!strcmp(c->key, "type") || !strcmp(c->key, words->a) ||
            (words->b && !strcmp(c->key, words->b)))
            continue;
        *ret_bad = c;
        return wr_fail(err, WEIR_EINVAL, "%s is unknown; %s has %s%s%s",
                       wr_wl_shown(c->key, cut),
                       wr_choice_name(wr_wl_laws, (int)words->law), words->a,
                       words->b ? " and " : "", words->b ? words->b : "");
    }
    return 0;
}

static int law_type(const struct wr_wl_node *map, enum wr_wl_law *ret,
                    const struct wr_wl_node **ret_bad, weir_err *err)
{
    const struct wr_wl_node *type = entry_of(map, "type");
    char cut[64];
    int law = WR_WL_NORMAL, r;

    if (type) {
        *ret_bad = type;
        if (type->kind != WR_WL_SCALAR)
            return wr_fail(err, WEIR_EINVAL, "type is not a word");
        r = wr_choice_find(wr_wl_laws, wr_wl_shown(type->text, cut), &law, err);
        if (r < 0)
            return wr_fail_prefix(err, r, "type");
    }
    *ret = (enum wr_wl_law)law;
    return 0;
}

static int read_law(const struct wr_wl_key *k, const struct wr_wl_node *map,
                    struct wr_wl_time *ret, const struct wr_wl_node **ret_bad,
                    weir_err *err)
{
    const struct wr_wl_law_words *words;
    int r = law_type(map, &ret->law, ret_bad, err);

    if (r < 0)
        return r;
    words = wr_wl_law_words(ret->law);
    r = check_words(map, words, ret_bad, err);
    if (r < 0)
        return r;
    r = law_number(k, map, words->a, &ret->a, ret_bad, err);
    if (r == 0 && words->b &&
        (ret->law != WR_WL_NORMAL || entry_of(map, words->b)))
        r = law_number(k, map, words->b, &ret->b, ret_bad, err);
    if (r == 0 && ret->law == WR_WL_UNIFORM && ret->b < ret->a)
        r = wr_fail(err, WEIR_EINVAL, "max is less than min");
    /* A mean alone does not vary. */
    if (r == 0 && ret->law == WR_WL_NORMAL && ret->b == 0)
        ret->law = WR_WL_FIXED;
    return r;
}

int wr_wl_law_set(const struct wr_wl_key *k, const struct wr_wl_node *n,
                  struct wr_wl_time *ret, const struct wr_wl_node **ret_bad,
                  weir_err *err)
{
    struct wr_wl_time t = {0};
    int r = 0;

    if (n->kind == WR_WL_SEQUENCE)
        return wr_fail(err, WEIR_EINVAL,
                       "is a list, not a number or a distribution");
    if (n->kind == WR_WL_SCALAR) {
        t.law = WR_WL_FIXED;
        r = wr_wl_parse_number(k, n->text, &t.a, err);
    } else if (n->first) {
        r = read_law(k, n, &t, ret_bad, err);
    }
    if (r == 0)
        *ret = t;
    return r;
}
