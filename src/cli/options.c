/* options.c - command-line arguments against option tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/named.h"

#define ITEM_MAX 128 /* longest single value of a list */

/* One value, as the option describes it. */
static int parse_one(const struct wr_option *opt, enum wr_value_type type,
                     const char *text, void *field, weir_err *err)
{
    const struct wr_value v = {
        .type = type,
        .count = opt->count,
        .odd = opt->odd,
        .min = opt->min,
        .max = opt->max,
        .choices = opt->choices,
    };

    return wr_value_parse(&v, text, field, err);
}

/* One element of a list option, appended. */
static int append_item(const struct wr_option *opt, const char *item,
                       struct wr_uint_list *uints, struct wr_enum_list *enums,
                       weir_err *err)
{
    size_t count = uints ? uints->count : enums->count;
    int r;

    if (count == WR_LIST_MAX)
        return wr_fail(err, WEIR_EINVAL, "more than %d values", WR_LIST_MAX);
    if (uints) {
        int word;

        if (opt->choices &&
            wr_choice_find(opt->choices, item, &word, NULL) == 0) {
            uints->v[count] = (uint32_t)word;
            r = 0;
        } else {
            r = parse_one(opt,
                          opt->flags & WR_OPTION_BYTES ? WR_VALUE_BYTES
                                                       : WR_VALUE_U64,
                          item, &uints->v[count], err);
        }
        uints->count += r == 0;
    } else {
        r = wr_choice_find(opt->choices, item, &enums->v[count], err);
        enums->count += r == 0;
    }
    return r;
}

/* A comma-separated list; it replaces what was there. */
static int parse_list(const struct wr_option *opt, const char *text,
                      void *field, weir_err *err)
{
    struct wr_uint_list uints = {0};
    struct wr_enum_list enums = {0};
    bool is_uint = opt->type == WR_OPTION_UINT_LIST;
    char item[ITEM_MAX];

    for (const char *at = text;;) {
        size_t len = strcspn(at, ",");
        int r;

        if (len == 0)
            return wr_fail(err, WEIR_EINVAL,
                           "'%s': a value is missing (write a,b,c)", text);
        if (len >= sizeof(item))
            return wr_fail(err, WEIR_EINVAL, "'%.20s...' is too long", at);
        memcpy(item, at, len);
        item[len] = '\0';
        r = append_item(opt, item, is_uint ? &uints : NULL,
                        is_uint ? NULL : &enums, err);
        if (r < 0)
            return r;
        if (!at[len])
            break;
        at += len + 1;
    }
    if (is_uint)
        *(struct wr_uint_list *)field = uints;
    else
        *(struct wr_enum_list *)field = enums;
    return 0;
}

static int append_string(const char *text, struct wr_string_list *list,
                         weir_err *err)
{
    if (list->count == WR_LIST_MAX)
        return wr_fail(err, WEIR_EINVAL, "given more than %d times",
                       WR_LIST_MAX);
    list->v[list->count++] = text;
    return 0;
}

static int parse_value(const struct wr_option *opt, const char *text,
                       void *field, weir_err *err)
{
    static const enum wr_value_type types[] = {
        [WR_OPTION_FLAG] = WR_VALUE_BOOL,
        [WR_OPTION_UINT] = WR_VALUE_U64,
        [WR_OPTION_SIZE] = WR_VALUE_BYTES,
        [WR_OPTION_DOUBLE] = WR_VALUE_DOUBLE,
        [WR_OPTION_STRING] = WR_VALUE_TEXT,
        [WR_OPTION_ENUM] = WR_VALUE_CHOICE,
    };

    if (opt->type == WR_OPTION_UINT_LIST || opt->type == WR_OPTION_ENUM_LIST)
        return parse_list(opt, text, field, err);
    if (opt->type == WR_OPTION_STRINGS)
        return append_string(text, field, err);
    return parse_one(opt, opt->store ? opt->store : types[opt->type], text,
                     field, err);
}

int wr_option_set_value(const struct wr_option *opt, const char *text,
                        void *args, weir_err *err)
{
    int r = parse_value(opt, text, (char *)args + opt->offset, err);

    if (r < 0)
        return wr_fail_prefix(err, r, "option --%s", opt->name);
    return 0;
}

/* The state of one parse. */
struct parse {
    struct wr_option_set *sets; /* borrowed */
    size_t set_count;
    char **argv;  /* borrowed */
    int argc, at; /* argv[at] is looked at */
};

/* What an argument named. */
struct match {
    struct wr_option_set *set;   /* borrowed */
    const struct wr_option *opt; /* borrowed; NULL: nothing */
    bool negated;                /* --no-name */
};

/* Whether `text[0..len)` is, or begins, the name of `opt`; an earlier name must
 * be whole, so that it makes no beginning ambiguous. */
static bool names(const struct wr_option *opt, const char *text, size_t len,
                  bool *ret_whole)
{
    if (opt->old && strlen(opt->old) == len && !strncmp(opt->old, text, len))
        return *ret_whole = true;
    if (strncmp(opt->name, text, len))
        return false;
    *ret_whole = opt->name[len] == '\0';
    return true;
}

/* Looks for the long name text[0..len), whole or an unambiguous beginning.
 * Returns how many entries fit; 1 when a whole name did. */
static size_t find_long(const struct parse *p, const char *text, size_t len,
                        struct match *m)
{
    bool no = len > 3 && !strncmp(text, "no-", 3);
    size_t hits = 0;

    for (size_t s = 0; s < p->set_count; s++) {
        const struct wr_option *o = p->sets[s].table;

        for (; o && o->name; o++) {
            bool whole = false, negated = false;
            bool hit = names(o, text, len, &whole);

            if (!hit && no && o->type == WR_OPTION_FLAG)
                hit = negated = names(o, text + 3, len - 3, &whole);
            if (!hit)
                continue;
            *m = (struct match){&p->sets[s], o, negated};
            if (whole)
                return 1;
            hits++;
        }
    }
    return hits;
}

static int fail_unknown(const struct parse *p, const char *name, size_t len,
                        weir_err *err)
{
    struct wr_suggest near;
    char typed[64];

    if (len >= sizeof(typed))
        return wr_fail(err, WEIR_EINVAL, "unknown option '--%.40s...'", name);
    memcpy(typed, name, len);
    typed[len] = '\0';
    wr_suggest_init(&near, typed);
    for (size_t s = 0; s < p->set_count; s++)
        for (const struct wr_option *o = p->sets[s].table; o && o->name; o++)
            if (!(o->flags & WR_OPTION_HIDDEN))
                wr_suggest_try(&near, o->name);
    return wr_fail(err, WEIR_EINVAL, "unknown option '--%s'%s", typed,
                   wr_suggest_said(&near, "--").text);
}

static int store(const struct match *m, const char *value, weir_err *err)
{
    int r = wr_option_set_value(m->opt, value, m->set->args, err);

    if (r < 0)
        return r;
    m->set->given |= UINT64_C(1) << (m->opt - m->set->table);
    return 0;
}

/* The value that follows in the next argument. */
static int take_next(struct parse *p, const struct match *m, weir_err *err)
{
    if (p->at + 1 >= p->argc)
        return wr_fail(err, WEIR_EINVAL, "option --%s: needs a value%s%s",
                       m->opt->name, m->opt->arg ? ": " : "",
                       m->opt->arg ? m->opt->arg : "");
    return store(m, p->argv[++p->at], err);
}

static int parse_long(struct parse *p, const char *text, weir_err *err)
{
    size_t len = strcspn(text, "=");
    const char *value = text[len] ? text + len + 1 : NULL;
    struct match m = {0};
    size_t hits = len ? find_long(p, text, len, &m) : 0;

    if (hits > 1)
        return wr_fail(err, WEIR_EINVAL,
                       "option '--%.*s' could mean several; write more of it",
                       (int)len, text);
    if (hits == 0)
        return fail_unknown(p, text, len, err);
    if (m.opt->type != WR_OPTION_FLAG)
        return value ? store(&m, value, err) : take_next(p, &m, err);
    if (value)
        return wr_fail(err, WEIR_EINVAL, "option --%s: takes no value",
                       m.opt->name);
    return store(&m, m.negated ? "no" : "yes", err);
}

static bool find_letter(const struct parse *p, char letter, struct match *m)
{
    for (size_t s = 0; s < p->set_count; s++) {
        const struct wr_option *o = p->sets[s].table;

        for (; o && o->name; o++) {
            if (o->letter != letter)
                continue;
            *m = (struct match){&p->sets[s], o, false};
            return true;
        }
    }
    return false;
}

/* -t 4, -t4, and flags together: -qj. */
static int parse_letters(struct parse *p, const char *text, weir_err *err)
{
    for (; *text; text++) {
        struct match m;
        int r;

        if (!find_letter(p, *text, &m))
            return wr_fail(err, WEIR_EINVAL, "unknown option '-%c'", *text);
        if (m.opt->type != WR_OPTION_FLAG)
            return text[1] ? store(&m, text + 1, err) : take_next(p, &m, err);
        r = store(&m, "yes", err);
        if (r < 0)
            return r;
    }
    return 0;
}

int wr_options_parse(struct wr_option_set *sets, size_t set_count, int argc,
                     char **argv, size_t *ret_operands, weir_err *err)
{
    struct parse p = {sets, set_count, argv, argc, 0};
    size_t operands = 0;
    bool ended = false;

    for (; p.at < argc; p.at++) {
        const char *arg = argv[p.at];
        int r = 0;

        if (ended || arg[0] != '-' || !arg[1])
            argv[operands++] =
                argv[p.at]; /* operands <= p.at: nothing is lost */
        else if (!strcmp(arg, "--"))
            ended = true;
        else if (arg[1] == '-')
            r = parse_long(&p, arg + 2, err);
        else
            r = parse_letters(&p, arg + 1, err);
        if (r < 0)
            return r;
    }
    *ret_operands = operands;
    return 0;
}

int wr_options_defaults(struct wr_option_set *set, weir_err *err)
{
    const struct wr_option *o = set->table;

    for (; o && o->name; o++) {
        int r = o->def ? wr_option_set_value(o, o->def, set->args, err) : 0;

        if (r < 0)
            return r;
    }
    if (o && o - set->table > WR_OPTIONS_MAX)
        return wr_fail(err, WEIR_ELIMIT, "more than %d options",
                       WR_OPTIONS_MAX);
    return 0;
}

bool wr_options_given(const struct wr_option_set *set, const char *name)
{
    int k = set->table ? wr_named_index(WR_NAMED_OPEN(set->table), name) : -1;

    return k >= 0 && set->given >> k & 1;
}

/* Whether an option that another one goes with (`with`) says what it must. */
static bool is_met(const struct wr_option_set *set, const char *with)
{
    size_t len = strcspn(with, " ");
    const struct wr_option *o = set->table;
    const void *field;

    while (o->name && (strncmp(o->name, with, len) || o->name[len]))
        o++;
    assert(o->name);
    field = (const char *)set->args + o->offset;
    if (with[len])
        return !strcmp(wr_choice_name(o->choices, *(const int *)field),
                       with + len + 1);
    if (o->type == WR_OPTION_FLAG)
        return o->store ? *(const int *)field : *(const bool *)field;
    if (o->type == WR_OPTION_STRING)
        return *(const char *const *)field;
    return set->given >> (o - set->table) & 1;
}

int wr_options_check(const struct wr_option_set *set, weir_err *err)
{
    const struct wr_option *o = set->table;

    for (size_t k = 0; o && o[k].name; k++)
        if (o[k].with && set->given >> k & 1 && !is_met(set, o[k].with))
            return wr_fail(err, WEIR_EINVAL, "option --%s goes with --%s",
                           o[k].name, o[k].with);
    return 0;
}
