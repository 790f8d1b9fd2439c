/* value.c - the value of one key of a description.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload/value.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "workload/choices.h"
#include "workload/law.h"
#include "workload/numbers.h"

#define MAX_TEXT 4000

static int set_size(const struct wr_wl_key *k, const char *text, uint64_t *ret,
                    weir_err *err)
{
    char cut[64];
    double bytes;
    int r = wr_wl_parse_bytes(k, text, &bytes, err);

    if (r < 0)
        return r;
    if (bytes != floor(bytes))
        return wr_fail(err, WEIR_EINVAL, "'%s' is not a whole number",
                       wr_wl_shown(text, cut));
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
                   wr_wl_shown(text, cut));
}

static int find_choice(const struct wr_wl_key *k, const char *text, int *ret,
                       weir_err *err)
{
    char cut[64];

    if (!strcmp(text, "False"))
        text = "false";
    return wr_choice_find(k->choices, wr_wl_shown(text, cut), ret, err);
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
        return wr_wl_parse_whole(k, text, field, err);
    case WR_WL_KEY_NUMBER:
    case WR_WL_KEY_STDEV:
        return wr_wl_parse_number(k, text, field, err);
    case WR_WL_KEY_BYTES:
    case WR_WL_KEY_FIGURE:
        return wr_wl_parse_bytes(k, text, field, err);
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
        r = wr_wl_parse_whole(k, c->text, &item, err);
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
        return wr_wl_law_set(k, n, field, ret_bad, err);
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
