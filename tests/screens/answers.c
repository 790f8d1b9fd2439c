/* answers.c - what the screens of all answers make of made-up values.
 * SPDX-License-Identifier: Apache-2.0
 *
 * With all values known and different, and with as few as there may be: two
 * phrases, columns or rows that change places show. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/answers.h"

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
        show(answers[k], /* full= */ true, /* flags= */ true);
        show(answers[k], /* full= */ true, /* flags= */ false);
        show(answers[k], /* full= */ false, /* flags= */ false);
    }
    return 0;
}
