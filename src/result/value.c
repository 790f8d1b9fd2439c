/* value.c - measured values: one row each, from which all their forms come.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/value.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "result/record.h"
#include "result/stats.h"

#define WHOLE_MAX 9007199254740992. /* 2^53 */

static void *at(const void *of, const struct wr_val *v)
{
    return (char *)(uintptr_t)of + v->at;
}

static bool is_number(const struct wr_val *v)
{
    return v->kind == WR_VAL_REAL || v->kind == WR_VAL_COUNT;
}

static bool has_place(const struct wr_val *v)
{
    return v->at != WR_VAL_NOWHERE;
}

/* --- to JSON --- */

/* Whether what is not known is null. */
static bool has_null(const struct wr_val *v, enum wr_val_for whom)
{
    return whom == WR_FOR_RANKS || !(v->flags & (WR_VAL_ZERO | WR_VAL_BELOW_0));
}

static bool is_for(const struct wr_val *v, enum wr_val_for whom)
{
    return whom == WR_FOR_RANKS ||
           (whom == WR_FOR_EACH ? v->flags & WR_VAL_EACH
                                : !(v->flags & WR_VAL_INSIDE));
}

/* What its elements are for. */
static enum wr_val_for of_list(const struct wr_val *v, enum wr_val_for whom)
{
    return v->flags & WR_VAL_EACH ? WR_FOR_EACH : whom;
}

static json_t *number_json(const struct wr_val *v, double x,
                           enum wr_val_for whom)
{
    if (!isfinite(x) && has_null(v, whom))
        return json_null();
    if (!isfinite(x))
        x = v->flags & WR_VAL_ZERO ? 0 : -1;
    return v->kind == WR_VAL_COUNT && fabs(x) <= WHOLE_MAX
               ? json_integer((json_int_t)x)
               : json_real(x);
}

/* Whether nothing of it is known. */
static bool is_nothing(json_t *j)
{
    const char *key;
    json_t *v;

    if (json_is_string(j))
        return !*json_string_value(j);
    if (!json_is_object(j))
        return json_is_null(j) || (json_is_array(j) && !json_array_size(j));
    json_object_foreach(j, key, v) if (!json_is_boolean(v) &&
                                       !is_nothing(v)) return false;
    return true;
}

static json_t *list_json(const struct wr_vals *t, const struct wr_list *l,
                         enum wr_val_for whom)
{
    json_t *list = json_array();

    for (size_t i = 0; i < l->count; i++)
        if (json_array_append_new(
                list, wr_vals_json(t, wr_list_at(l, i), whom)) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *wr_vals_list_json(const struct wr_vals *t, const void *first,
                          size_t count, enum wr_val_for whom)
{
    return list_json(
        t, &(struct wr_list){(void *)(uintptr_t)first, count, t->size}, whom);
}

static json_t *group_json(const struct wr_val *v, const void *from,
                          enum wr_val_for whom)
{
    json_t *j = wr_vals_json(v->of, from, whom);

    if (!j || !(v->flags & WR_VAL_NULL) || !is_nothing(j))
        return j;
    json_decref(j);
    return json_null();
}

/* What is not in a struct, but follows from it. */
static json_t *derived_json(const struct wr_val *v, const void *from,
                            enum wr_val_for whom)
{
    const char *text;

    if (is_number(v))
        return number_json(v, v->derive(from), whom);
    if (v->kind != WR_VAL_TEXT)
        return v->json(from);
    text = v->text(from);
    return text ? wr_text_json(text) : json_null();
}

static json_t *value_json(const struct wr_val *v, const void *from,
                          enum wr_val_for whom)
{
    const void *p = at(from, v);

    switch (v->kind) {
    case WR_VAL_REAL:
    case WR_VAL_COUNT:
        return number_json(v, *(const double *)p, whom);
    case WR_VAL_FLAG:
        return json_boolean(*(const bool *)p);
    case WR_VAL_MAYBE:
        return isnan(*(const double *)p) ? json_null()
                                         : json_boolean(*(const double *)p > 0);
    case WR_VAL_TEXT:
        return v->flags & WR_VAL_NULL && !*(const char *const *)p
                   ? json_null()
                   : wr_text_json(wr_text_at(from, v->at));
    case WR_VAL_GROUP:
        return group_json(v, p, whom);
    case WR_VAL_LIST:
        return list_json(v->of, p, of_list(v, whom));
    case WR_VAL_JSON:
        return json_incref(*(json_t *const *)p);
    case WR_VAL_U64:
        return json_integer((json_int_t) * (const uint64_t *)p);
    case WR_VAL_U32:
        return json_integer(*(const uint32_t *)p);
    case WR_VAL_TRUTH:
        return json_boolean(*(const int *)p);
    case WR_VAL_CHARS:
        return v->flags & WR_VAL_NULL && !*(const char *)p ? json_null()
                                                           : wr_text_json(p);
    }
    return NULL;
}

json_t *wr_vals_json(const struct wr_vals *t, const void *from,
                     enum wr_val_for whom)
{
    json_t *o = json_object();

    for (const struct wr_val *v = t->rows; v->key; v++) {
        json_t *j;

        if (!is_for(v, whom))
            continue;
        j = has_place(v) ? value_json(v, from, whom)
                         : derived_json(v, from, whom);
        if (!j && (v->kind == WR_VAL_JSON || v->json))
            continue;
        if (v->flags & WR_VAL_SPARE && j &&
            (is_nothing(j) || json_is_false(j))) {
            json_decref(j);
        } else if (json_object_set_new(o, v->key, j) < 0) {
            json_decref(o);
            return NULL;
        }
    }
    return o;
}

/* --- from JSON --- */

static double number_of(const struct wr_val *v, const json_t *j)
{
    double x = json_is_number(j) ? json_number_value(j) : NAN;

    if ((v->flags & WR_VAL_ZERO && x == 0) ||
        (v->flags & WR_VAL_BELOW_0 && x < 0))
        return NAN;
    return x;
}

static bool read_all(const struct wr_vals *t, const json_t *o, void *to,
                     bool lists);

bool wr_vals_read_list(const struct wr_vals *t, const json_t *list,
                       struct wr_list *ret)
{
    size_t n = json_array_size(list); /* 0 of what is no list */

    *ret = (struct wr_list){calloc(n + 1, t->size), 0, t->size};
    for (; ret->v && ret->count < n; ret->count++)
        if (!wr_vals_read(t, json_array_get(list, ret->count),
                          (char *)ret->v + ret->count * t->size))
            return false;
    if (ret->v)
        wr_vals_clear(t, (char *)ret->v + n * t->size);
    return ret->v;
}

static bool read_value(const struct wr_val *v, const json_t *j, void *to,
                       bool lists)
{
    const char *text = json_string_value(j);

    switch (v->kind) {
    case WR_VAL_REAL:
    case WR_VAL_COUNT:
        *(double *)to = number_of(v, j);
        break;
    case WR_VAL_FLAG:
        *(bool *)to = json_is_true(j);
        break;
    case WR_VAL_MAYBE:
        *(double *)to = json_is_boolean(j) ? json_is_true(j) : NAN;
        break;
    case WR_VAL_TEXT:
        *(const char **)to = text || v->flags & WR_VAL_NULL ? text : "";
        break;
    case WR_VAL_GROUP:
        return read_all(v->of, j, to, lists);
    case WR_VAL_LIST:
        *(struct wr_list *)to = (struct wr_list){.step = v->of->size};
        return !lists || wr_vals_read_list(v->of, j, to);
    case WR_VAL_JSON:
        *(const json_t **)to = j;
        break;
    case WR_VAL_U64:
        *(uint64_t *)to = (uint64_t)json_integer_value(j);
        break;
    case WR_VAL_U32:
        *(uint32_t *)to = (uint32_t)json_integer_value(j);
        break;
    case WR_VAL_TRUTH:
        *(int *)to = json_is_true(j);
        break;
    case WR_VAL_CHARS: /* how much room it has is not known here */
        *(char *)to = '\0';
        break;
    }
    return true;
}

static bool read_all(const struct wr_vals *t, const json_t *o, void *to,
                     bool lists)
{
    bool ok = true;

    for (const struct wr_val *v = t->rows; v->key; v++)
        ok &= !has_place(v) ||
              read_value(v, json_object_get(o, v->key), at(to, v), lists);
    return ok;
}

bool wr_vals_read(const struct wr_vals *t, const json_t *o, void *to)
{
    return read_all(t, o, to, true);
}

void wr_vals_clear(const struct wr_vals *t, void *to)
{
    read_all(t, NULL, to, false);
}

void wr_vals_done(const struct wr_vals *t, void *of)
{
    for (const struct wr_val *v = t->rows; v->key; v++) {
        struct wr_list *l = at(of, v);

        if (!has_place(v))
            continue;
        if (v->kind == WR_VAL_GROUP)
            wr_vals_done(v->of, l);
        for (size_t i = 0; v->kind == WR_VAL_LIST && i < l->count; i++)
            wr_vals_done(v->of, (char *)l->v + i * l->step);
        if (v->kind == WR_VAL_LIST)
            free(l->v);
    }
}

static void drop_json(const struct wr_vals *t, void *of)
{
    for (const struct wr_val *v = t->rows; v->key; v++) {
        struct wr_list *l = at(of, v);

        if (v->kind == WR_VAL_JSON)
            json_decref(*(json_t **)at(of, v));
        if (v->kind == WR_VAL_GROUP)
            drop_json(v->of, l);
        for (size_t i = 0; v->kind == WR_VAL_LIST && i < l->count; i++)
            drop_json(v->of, (char *)l->v + i * l->step);
    }
}

json_t *wr_vals_give(const struct wr_vals *t, void *from, bool whole)
{
    json_t *j = whole ? wr_vals_json(t, from, WR_FOR_RECORD) : NULL;

    drop_json(t, from);
    wr_vals_done(t, from);
    return j;
}

void *wr_list_new(const struct wr_vals *t, struct wr_list *l, size_t count)
{
    *l = (struct wr_list){calloc(count + 1, t->size), 0, t->size};
    for (; l->v && l->count < count; l->count++)
        wr_vals_clear(t, (char *)l->v + l->count * t->size);
    return l->v;
}

/* --- of several ranks --- */

static double gather_number(const struct wr_val *v, const struct wr_list *parts,
                            size_t where)
{
    double sum = 0, most = NAN;
    size_t known = 0;

    for (size_t k = 0; k < parts->count; k++) {
        double x = wr_number_at(wr_list_at(parts, k), where);

        most = fmax(most, x);
        sum += isnan(x) ? 0 : x;
        known += !isnan(x);
    }
    if (v->gather == WR_OF_MAX || !known)
        return most;
    return v->gather == WR_OF_MEAN ? sum / (double)known : sum;
}

static const char *gather_text(const struct wr_val *v,
                               const struct wr_list *parts, size_t where,
                               size_t slowest)
{
    const char *best = wr_text_at(wr_list_at(parts, slowest), where);
    size_t most = 0;

    for (size_t k = 0; v->gather == WR_OF_ANY && k < parts->count; k++)
        if (*wr_text_at(wr_list_at(parts, k), where))
            return wr_text_at(wr_list_at(parts, k), where);
    /* The slowest is the first to be counted: it wins where two have as many. */
    for (size_t k = 0; v->gather == WR_OF_MOST && k < parts->count; k++) {
        const char *s = wr_text_at(
            wr_list_at(parts, (slowest + k) % parts->count), where);
        size_t votes = 0;

        for (size_t i = 0; i < parts->count; i++)
            votes += !strcmp(s, wr_text_at(wr_list_at(parts, i), where));
        best = votes > most ? s : best;
        most = votes > most ? votes : most;
    }
    return best;
}

static void gather(const struct wr_vals *t, void *to,
                   const struct wr_list *parts, size_t base, size_t slowest)
{
    for (const struct wr_val *v = t->rows; v->key; v++) {
        void *p = at(to, v);

        if (v->kind == WR_VAL_GROUP)
            gather(v->of, p, parts, base + v->at, slowest);
        if (v->gather == WR_OF_FIRST || !has_place(v))
            continue;
        if (is_number(v) && v->gather == WR_OF_SLOWEST)
            *(double *)p = wr_number_at(wr_list_at(parts, slowest),
                                        base + v->at);
        else if (is_number(v))
            *(double *)p = gather_number(v, parts, base + v->at);
        else if (v->kind == WR_VAL_TEXT)
            *(const char **)p = gather_text(v, parts, base + v->at, slowest);
    }
}

void wr_vals_derive(const struct wr_vals *t, void *of)
{
    for (const struct wr_val *v = t->rows; v->key; v++)
        if (v->derive && has_place(v))
            *(double *)at(of, v) = v->derive(of);
}

void wr_vals_gather(const struct wr_vals *t, void *to,
                    const struct wr_list *parts, size_t slowest)
{
    gather(t, to, parts, 0, slowest);
    wr_vals_derive(t, to);
}

/* `x` has room for a number of each. */
static void find_medians(const struct wr_vals *t, void *to,
                         const struct wr_list *parts, size_t base, double *x)
{
    for (const struct wr_val *v = t->rows; v->key; v++) {
        if (v->kind == WR_VAL_GROUP)
            find_medians(v->of, at(to, v), parts, base + v->at, x);
        if (!is_number(v) || !has_place(v))
            continue;
        for (size_t k = 0; k < parts->count; k++)
            x[k] = wr_number_at(wr_list_at(parts, k), base + v->at);
        *(double *)at(to, v) = wr_stats_quantile(
            x, wr_stats_sort(x, parts->count), 0.5);
    }
}

void wr_vals_median(const struct wr_vals *t, void *to,
                    const struct wr_list *parts)
{
    double *x = calloc(parts->count + 1, sizeof(*x));

    wr_vals_clear(t, to);
    if (x)
        find_medians(t, to, parts, 0, x);
    free(x);
}

/* --- rows --- */

const struct wr_val *wr_vals_at(const struct wr_vals *t, size_t where)
{
    for (const struct wr_val *v = t->rows; v->key; v++)
        if (v->kind == WR_VAL_GROUP ? where - v->at < v->of->size
                                    : where == v->at)
            return v->kind == WR_VAL_GROUP ? wr_vals_at(v->of, where - v->at)
                                           : v;
    return NULL;
}

const struct wr_val *wr_vals_compared(const struct wr_vals *t, unsigned place,
                                      size_t *ret_at)
{
    for (const struct wr_val *v = t->rows; v->key; v++) {
        const struct wr_val *found = v->compared == place ? v : NULL;

        *ret_at = 0;
        if (v->kind == WR_VAL_GROUP)
            found = wr_vals_compared(v->of, place, ret_at);
        *ret_at += v->at;
        if (found)
            return found;
    }
    return NULL;
}

/* --- the schema --- */

static json_t *type_schema(const struct wr_val *v, enum wr_val_for whom)
{
    const char *type = v->kind == WR_VAL_REAL    ? "number"
                       : v->kind == WR_VAL_COUNT ? "integer"
                       : v->kind == WR_VAL_U64   ? "integer"
                       : v->kind == WR_VAL_U32   ? "integer"
                       : v->kind == WR_VAL_TEXT  ? "string"
                       : v->kind == WR_VAL_CHARS ? "string"
                                                 : "boolean";

    if (v->flags & WR_VAL_NULL || v->kind == WR_VAL_MAYBE ||
        (is_number(v) && has_null(v, whom) && !(v->flags & WR_VAL_SPARE)))
        return json_pack("{s:[s,s]}", "type", type, "null");
    return json_pack("{s:s}", "type", type);
}

static json_t *value_schema(const struct wr_val *v, enum wr_val_for whom)
{
    json_t *o;

    if (v->kind == WR_VAL_GROUP && v->flags & WR_VAL_NULL)
        return json_pack("{s:[o, {s:s}]}", "anyOf", wr_vals_schema(v->of, whom),
                         "type", "null");
    if (v->kind == WR_VAL_GROUP)
        return wr_vals_schema(v->of, whom);
    if (v->kind == WR_VAL_LIST || (v->kind == WR_VAL_JSON && v->of))
        return json_pack("{s:s, s:o}", "type", "array", "items",
                         wr_vals_schema(v->of, of_list(v, whom)));
    if (v->kind == WR_VAL_JSON)
        return json_object();
    o = type_schema(v, whom);
    if (v->help)
        json_object_set_new(o, "description", json_string(v->help));
    for (const char *const *w = v->words; w && *w; w++) {
        if (w == v->words)
            json_object_set_new(o, "enum", json_array());
        json_array_append_new(json_object_get(o, "enum"), json_string(*w));
    }
    return o;
}

json_t *wr_vals_schema(const struct wr_vals *t, enum wr_val_for whom)
{
    json_t *all = json_object(), *needed = json_array();

    for (const struct wr_val *v = t->rows; v->key; v++) {
        if (!is_for(v, whom))
            continue;
        json_object_set_new(all, v->key, value_schema(v, whom));
        if (!(v->flags & WR_VAL_SPARE) && v->kind != WR_VAL_JSON)
            json_array_append_new(needed, json_string(v->key));
    }
    return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties",
                     all, "required", needed, "additionalProperties", 0);
}
