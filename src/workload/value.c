/* value.c - values of a description: numbers, times, and those of keys.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload/value.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "workload/choices.h"

#define EXACT_BELOW 9007199254740992.0 /* 2^53 */

/* A text for a message, cut and without what a terminal cannot show. */
static const char *wl_shown(const char *text, char buf[64])
{
    char all[200];

    snprintf(buf, 64, "%.60s", wr_text_show(text, true, all, sizeof(all)));
    buf[wr_text_fit(buf, 60)] = '\0';
    return buf;
}

/* Without the underscores that YAML 1.1 allows between digits. */
static bool bare_number(const char *text, char buf[64])
{
    size_t used = 0;

    for (const char *c = text; *c; c++) {
        if (*c == '_')
            continue;
        if (used == 63)
            return false;
        buf[used++] = *c;
    }
    buf[used] = '\0';
    return used > 0;
}

static int out_of_range(const struct wr_wl_key *k, const char *text,
                        weir_err *err)
{
    char cut[64];

    if (k->max > 0)
        return wr_fail(err, WEIR_EINVAL, "%s is not between %.15g and %.15g",
                       wl_shown(text, cut), k->min, k->max);
    return wr_fail(err, WEIR_EINVAL, "%s is less than %.15g",
                   wl_shown(text, cut), k->min);
}

static bool in_range(const struct wr_wl_key *k, double value)
{
    return value >= k->min && (k->max <= 0 || value <= k->max);
}

/* Each checks the range of the key. A message says what is wrong with the text,
 * not where it stands. */
static int wl_parse_number(const struct wr_wl_key *k, const char *text,
                           double *ret, weir_err *err)
{
    char bare[64], cut[64];
    double value;

    /* What strtod takes besides: infinity, nan, hexadecimals. */
    if (!bare_number(text, bare) ||
        strspn(bare, "0123456789+-.eE") != strlen(bare) ||
        wr_parse_double(bare, -DBL_MAX, DBL_MAX, &value, NULL) < 0)
        return wr_fail(err, WEIR_EINVAL, "'%s' is not a number",
                       wl_shown(text, cut));
    if (!in_range(k, value))
        return out_of_range(k, text, err);
    *ret = value;
    return 0;
}

/* Digits, or a number such as 1e6 or 400.0 that is a whole one. */
static int wl_parse_whole(const struct wr_wl_key *k, const char *text,
                          int64_t *ret, weir_err *err)
{
    char bare[64], cut[64];
    uint64_t whole;
    double value;
    int r;

    if (bare_number(text, bare) &&
        wr_parse_uint(bare, 0, UINT64_MAX, &whole, NULL) == 0) {
        if (!in_range(k, (double)whole))
            return out_of_range(k, text, err);
        *ret = (int64_t)whole;
        return 0;
    }
    r = wl_parse_number(k, text, &value, err);
    if (r < 0)
        return r;
    if (fabs(value) >= EXACT_BELOW)
        return wr_fail(err, WEIR_EINVAL, "%s is too large",
                       wl_shown(text, cut));
    if (value != floor(value))
        return wr_fail(err, WEIR_EINVAL, "'%s' is not a whole number",
                       wl_shown(text, cut));
    *ret = (int64_t)value;
    return 0;
}

/* A number, or one with a unit (base/units.h). */
static int wl_parse_bytes(const struct wr_wl_key *k, const char *text,
                          double *ret, weir_err *err)
{
    uint64_t bytes;

    if (*text && strchr("kKmMgGtTbB", text[strlen(text) - 1]) &&
        wr_parse_size(text, &bytes, NULL) == 0) {
        if (!in_range(k, (double)bytes))
            return out_of_range(k, text, err);
        *ret = (double)bytes;
        return 0;
    }
    return wl_parse_number(k, text, ret, err);
}

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
    r = wl_parse_number(k, n->text, ret, err);
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
                       wl_shown(c->key, cut),
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
        r = wr_choice_find(wr_wl_laws, wl_shown(type->text, cut), &law, err);
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

/* A number of seconds, or a mapping; empty: no time is given. As
 * wr_wl_value_set. */
static int wl_law_set(const struct wr_wl_key *k, const struct wr_wl_node *n,
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
        r = wl_parse_number(k, n->text, &t.a, err);
    } else if (n->first) {
        r = read_law(k, n, &t, ret_bad, err);
    }
    if (r == 0)
        *ret = t;
    return r;
}

#define MAX_TEXT 4000

static int set_size(const struct wr_wl_key *k, const char *text, uint64_t *ret,
                    weir_err *err)
{
    char cut[64];
    double bytes;
    int r = wl_parse_bytes(k, text, &bytes, err);

    if (r < 0)
        return r;
    if (bytes != floor(bytes))
        return wr_fail(err, WEIR_EINVAL, "'%s' is not a whole number",
                       wl_shown(text, cut));
    *ret = (uint64_t)bytes;
    return 0;
}

/* --- words --- */

static int set_bool(const char *text, bool *ret, weir_err *err)
{
    static const char *const words[] = {"no",    "yes",  "false", "true",
                                        "False", "True", "off",   "on",
                                        "No",    "Yes",  "FALSE", "TRUE"};
    char cut[64];

    for (size_t i = 0; i < WR_ARRAY_LEN(words); i++)
        if (!strcmp(words[i], text)) {
            *ret = i % 2;
            return 0;
        }
    return wr_fail(err, WEIR_EINVAL, "'%s' is not true or false",
                   wl_shown(text, cut));
}

static int find_choice(const struct wr_wl_key *k, const char *text, int *ret,
                       weir_err *err)
{
    char cut[64];

    if (!strcmp(text, "False"))
        text = "false";
    return wr_choice_find(k->choices, wl_shown(text, cut), ret, err);
}

/* The pointer to the choice's own name: it outlives the tree. */
static int set_word(const struct wr_wl_key *k, const char *text,
                    const char **ret, weir_err *err)
{
    int value, r = find_choice(k, text, &value, err);

    if (r < 0)
        return r;
    for (const struct wr_choice *c = k->choices; c->name; c++)
        if (!strcmp(c->name, text))
            *ret = c->name;
    return 0;
}

static int set_text(const char *text, const char **ret, weir_err *err)
{
    if (strlen(text) > MAX_TEXT)
        return wr_fail(err, WEIR_EINVAL, "text of more than %d bytes",
                       MAX_TEXT);
    *ret = text;
    return 0;
}

/* Everything that is one scalar. */
static int set_scalar(const struct wr_wl_key *k, const char *text, void *field,
                      weir_err *err)
{
    int value = 0, r;

    switch (k->kind) {
    case WR_WL_KEY_BOOL:
        return set_bool(text, field, err);
    case WR_WL_KEY_U64:
    case WR_WL_KEY_I64:
        return wl_parse_whole(k, text, field, err);
    case WR_WL_KEY_NUMBER:
    case WR_WL_KEY_STDEV:
        return wl_parse_number(k, text, field, err);
    case WR_WL_KEY_BYTES:
    case WR_WL_KEY_FIGURE:
        return wl_parse_bytes(k, text, field, err);
    case WR_WL_KEY_SIZE:
        return set_size(k, text, field, err);
    case WR_WL_KEY_TEXT:
        return set_text(text, field, err);
    case WR_WL_KEY_WORD:
        return set_word(k, text, field, err);
    case WR_WL_KEY_CHOICE:
        return find_choice(k, text, field, err);
    case WR_WL_KEY_EITHER:
        r = find_choice(k, text, &value, err);
        if (r == 0)
            *(bool *)field = value;
        return r;
    default:
        return wr_fail(err, WEIR_EINVAL, "is not a plain value");
    }
}

/* --- lists --- */

/* A sequence of whole numbers; one number alone is a list of one. */
static int read_list(const struct wr_wl_key *k, const struct wr_wl_node *n,
                     struct wr_wl_list *ret, const struct wr_wl_node **ret_bad,
                     weir_err *err)
{
    unsigned most = k->kind == WR_WL_KEY_DIMS ? WR_WL_DIMS : WR_WL_LIST;
    bool alone = n->kind == WR_WL_SCALAR;

    if (n->kind == WR_WL_MAPPING)
        return wr_fail(err, WEIR_EINVAL, "is a mapping, not a list");
    for (const struct wr_wl_node *c = alone ? n : n->first; c;
         c = alone ? NULL : c->next) {
        int64_t item;
        int r;

        *ret_bad = c;
        if (c->kind != WR_WL_SCALAR)
            return wr_fail(err, WEIR_EINVAL, "is not a whole number");
        if (ret->count == most)
            return wr_fail(err, WEIR_EINVAL, "has more than %u items", most);
        r = wl_parse_whole(k, c->text, &item, err);
        if (r < 0)
            return r;
        ret->item[ret->count++] = (uint64_t)item;
    }
    return 0;
}

static int set_list(const struct wr_wl_key *k, const struct wr_wl_node *n,
                    void *field, const struct wr_wl_node **ret_bad,
                    weir_err *err)
{
    struct wr_wl_list list = {0};
    struct wr_wl_dims dims = {0};
    int r = read_list(k, n, &list, ret_bad, err);

    if (r < 0)
        return r;
    if (k->kind == WR_WL_KEY_LIST) {
        *(struct wr_wl_list *)field = list;
        return 0;
    }
    dims.count = list.count;
    memcpy(dims.dim, list.item, list.count * sizeof(dims.dim[0]));
    *(struct wr_wl_dims *)field = dims;
    return 0;
}

/* --- all of them --- */

static void preset(const struct wr_wl_key *k, void *field)
{
    static const struct wr_wl_list no_list;
    static const struct wr_wl_dims no_dims;
    static const struct wr_wl_time no_time;

    if (k->kind == WR_WL_KEY_FIGURE || k->kind == WR_WL_KEY_STDEV)
        *(double *)field = NAN;
    else if (k->kind == WR_WL_KEY_DIMS)
        *(struct wr_wl_dims *)field = no_dims;
    else if (k->kind == WR_WL_KEY_LIST)
        *(struct wr_wl_list *)field = no_list;
    else if (k->kind == WR_WL_KEY_TIME)
        *(struct wr_wl_time *)field = no_time;
    else if (k->preset)
        set_scalar(k, k->preset, field, NULL);
    else if (k->kind == WR_WL_KEY_TEXT)
        *(const char **)field = NULL;
}

int wr_wl_value_set(const struct wr_wl_key *k, const struct wr_wl_node *n,
                    struct wr_wl_draft *draft,
                    const struct wr_wl_node **ret_bad, weir_err *err)
{
    void *field = (char *)draft + k->at;

    *ret_bad = n;
    if (k->kind == WR_WL_KEY_DEAD)
        return 0;
    if (wr_wl_node_is_null(n)) {
        preset(k, field);
        return 0;
    }
    if (k->kind == WR_WL_KEY_TIME)
        return wl_law_set(k, n, field, ret_bad, err);
    if (k->kind == WR_WL_KEY_DIMS || k->kind == WR_WL_KEY_LIST)
        return set_list(k, n, field, ret_bad, err);
    if (n->kind != WR_WL_SCALAR)
        return wr_fail(err, WEIR_EINVAL, "is a %s, not one value",
                       n->kind == WR_WL_SEQUENCE ? "list" : "mapping");
    return set_scalar(k, n->text, field, err);
}

void wr_wl_value_presets(struct wr_wl_draft *draft)
{
    const struct wr_wl_key *k;

    memset(draft, 0, sizeof(*draft));
    for (size_t i = 0; (k = wr_wl_key_at(i)); i++)
        preset(k, (char *)draft + k->at);
}

int wr_wl_value_join(struct wr_wl_draft *d, const char **ret_path,
                     weir_err *err)
{
    struct {
        const char *path;
        struct wr_wl_time *time;
    } part[] = {
        {"train.computation_time", &d->w.train.computation},
        {"reader.preprocess_time", &d->w.reader.preprocess},
        {"evaluation.eval_time", &d->w.eval.time},
    };

    for (size_t i = 0; i < WR_ARRAY_LEN(part); i++) {
        struct wr_wl_time *t = part[i].time;

        if (isnan(d->stdev[i]) || (t->law == WR_WL_NONE && d->stdev[i] == 0))
            continue;
        *ret_path = part[i].path;
        if (t->law == WR_WL_NONE)
            return wr_fail(err, WEIR_EINVAL,
                           "has a standard deviation but no mean");
        if (t->law != WR_WL_FIXED && t->law != WR_WL_NORMAL)
            return wr_fail(err, WEIR_EINVAL,
                           "a %s distribution has no standard deviation",
                           wr_choice_name(wr_wl_laws, (int)t->law));
        t->law = d->stdev[i] > 0 ? WR_WL_NORMAL : WR_WL_FIXED;
        t->b = d->stdev[i];
    }
    return 0;
}
