/* answers.c - what the screens of all answers make of made-up values.
 * SPDX-License-Identifier: Apache-2.0
 *
 * With all values known and different, and with as few as there may be: two
 * sentences, columns or rows that change places show. All that sentences name must be
 * values of the answer. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/answers.h"
#include "report/columns.h"
#include "report/say.h"

static const struct wr_answer *const answers[] = {
#define ENTRY(name) &wr_answer_##name,
    WR_ANSWER_MAP(ENTRY)
#undef ENTRY
};

/* What is made up: everything, or nothing. */
struct maker {
    bool full, flags; /* what flags say */
    unsigned number;  /* of values made until now */
};

static json_t *make_all(struct maker *m, const struct wr_vals *of);

static json_t *make_text(struct maker *m, const struct wr_val *v)
{
    char text[64];

    if (v->words)
        return json_string(v->words[m->number++ % 2]);
    snprintf(text, sizeof(text), "%s-%u", v->key, m->number++);
    return json_string(m->full ? text : "");
}

static json_t *make_list(struct maker *m, const struct wr_val *v)
{
    json_t *list = json_array();

    for (unsigned k = 0; m->full && k < 2; k++)
        json_array_append_new(list,
                              v->of ? make_all(m, v->of) : make_text(m, v));
    return list;
}

static json_t *make_value(struct maker *m, const struct wr_val *v)
{
    switch (v->kind) {
    case WR_VAL_GROUP:
        return make_all(m, v->of);
    case WR_VAL_LIST:
    case WR_VAL_JSON:
        return make_list(m, v);
    case WR_VAL_TEXT:
    case WR_VAL_CHARS:
        return make_text(m, v);
    case WR_VAL_FLAG:
    case WR_VAL_MAYBE:
    case WR_VAL_TRUTH:
        return json_boolean(m->flags);
    case WR_VAL_REAL:
        return json_real(m->full ? 10001.25 * ++m->number : 0);
    default:
        return json_integer(m->full ? 10001 * (int)++m->number : 0);
    }
}

static json_t *make_all(struct maker *m, const struct wr_vals *of)
{
    json_t *o = json_object();

    for (const struct wr_val *v = of->rows; v->key; v++)
        json_object_set_new(o, v->key, make_value(m, v));
    return o;
}

/* All values that the text names are there; "{}" is the entry of a list. */
static void check_text(const json_t *o, const char *text)
{
    char path[64];

    for (const char *p = text; p && json_is_object(o) && *p; p++) {
        if (*p != '{')
            continue;
        p += 1 + strspn(p + 1, "?!");
        snprintf(path, sizeof(path), "%.*s", (int)strcspn(p, ":?=<>}"), p);
        if (wr_json_at(o, path))
            continue;
        printf("'%s' is not a value: %s\n", path, text);
        exit(1);
    }
}

static void check_columns(const json_t *o, const struct wr_column *list)
{
    for (const struct wr_column *c = list; c && wr_column_is(c); c++)
        check_text(o, c->say);
}

static void check_answer(const struct wr_answer *a)
{
    struct maker m = {.full = true};
    json_t *all = make_all(&m, a->of);
    const json_t *about = all;

    check_text(all, a->say);
    for (const struct wr_answer_part *p = a->screen;
         p && (p->section || p->say || p->table); p++) {
        const json_t *o = p->section ? all : about;

        if (p->each)
            o = json_array_get(wr_json_at(o, p->each), 0);
        about = p->section ? o : about;
        check_text(o, p->section);
        check_text(o, p->say);
        check_columns(o, p->table);
        for (size_t k = 0; k < WR_ARRAY_LEN(p->below); k++)
            check_columns(o, p->below[k]);
    }
    json_decref(all);
}

static void show(const struct wr_answer *a, bool full, bool flags)
{
    const struct wr_doc_text_style style = {.width = 80, .whole = true};
    struct maker m = {.full = full, .flags = flags};
    json_t *all = make_all(&m, a->of);

    printf("--- %s: %s known, flags %s\n", a->name, full ? "all" : "nothing",
           flags ? "set" : "not set");
    if (wr_answer_show(a, all, style, stdout, NULL) < 0)
        exit(1);
    json_decref(all);
}

int main(void)
{
    for (size_t k = 0; k < WR_ARRAY_LEN(answers); k++) {
        check_answer(answers[k]);
        show(answers[k], /* full= */ true, /* flags= */ true);
        show(answers[k], /* full= */ true, /* flags= */ false);
        show(answers[k], /* full= */ false, /* flags= */ false);
    }
    return 0;
}
