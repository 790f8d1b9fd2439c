/* columns.c - columns of tables, and the cells of a row.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/columns.h"

#include <math.h>

#include "report/view.h"
#include "report/say.h"
#include "result/get.h"

static const struct wr_val *value_of(const struct wr_column *c)
{
    return c->of ? wr_vals_at(c->of, c->at) : NULL;
}

const char *wr_column_head(const struct wr_column *c)
{
    return c->head ? c->head : value_of(c)->head;
}

const char *wr_column_help(const struct wr_column *c)
{
    const char *help = c->help || !c->of ? c->help : value_of(c)->help;

    return help && *help ? help : NULL;
}

const char *wr_cell_setting(const struct wr_column *c, const struct wr_row *r,
                            char *buf, size_t cap)
{
    return wr_get_shown(json_object_get(r->row->settings, c->key), buf, cap);
}

const char *wr_cell_record(const struct wr_column *c, const struct wr_row *r,
                           char *buf, size_t cap)
{
    return r->c->records[r->row->record].label;
}

const char *wr_cell_name(const struct wr_column *c, const struct wr_row *r,
                         char *buf, size_t cap)
{
    return wr_cases_name(r->c, r->k, "all", buf, cap);
}

double wr_cell_place(const struct wr_row *r)
{
    return (double)(r->i + 1);
}

unsigned wr_column_bits(const struct wr_column *list, const struct wr_column *c)
{
    unsigned bit = 1u << 31;

    if (!c->if_any)
        return c->only;
    for (; list < c; list++)
        bit >>= list->if_any;
    return bit;
}

bool wr_column_is_shown(const struct wr_column *list, const struct wr_column *c,
                        unsigned which)
{
    unsigned bits = wr_column_bits(list, c);

    return !bits || bits & which;
}

static void number_cell(struct wr_doc_table *t, const struct wr_column *c,
                        double x, unsigned digits)
{
    if (c->show == WR_SHOW_PERCENT)
        wr_doc_percent(t, x, digits);
    else if (c->show == WR_SHOW_TIME)
        wr_say_time_cell(t, x);
    else if (c->show == WR_SHOW_RATE)
        wr_say_rate_cell(t, x);
    else if (c->show == WR_SHOW_BYTES)
        wr_say_bytes_cell(t, x);
    else
        wr_doc_number(t, x,
                      c->show == WR_SHOW_BRIEF && !(x < 100) ? 0 : digits);
}

static void value_cell(struct wr_doc_table *t, const struct wr_column *c,
                       const struct wr_row *r)
{
    const struct wr_val *v = value_of(c);
    const void *all = c->from == WR_FROM_RUN      ? r->run
                      : c->from == WR_FROM_MEDIAN ? r->row->median
                                                  : r->row->values;
    double x;

    if (v->kind == WR_VAL_TEXT) {
        wr_doc_cell(t, "%s", wr_text_at(all, c->at));
        return;
    }
    x = wr_number_at(all, c->at);
    if (v->unit > 1)
        x /= v->unit;
    else if (v->unit > 0)
        x *= round(1 / v->unit); /* 100 * x is not x / 0.01 in the last bit */
    number_cell(t, c, x, v->digits - c->fewer);
}

void wr_cells(struct wr_doc_table *t, const struct wr_column *list,
              unsigned which, const struct wr_row *r)
{
    char text[WR_VIEW_NAME];

    for (const struct wr_column *c = list; wr_column_is(c); c++)
        if (!wr_column_is_shown(list, c, which))
            continue;
        else if (c->cell)
            c->cell(t, c, r);
        else if (c->number)
            number_cell(t, c, c->number(r), c->digits);
        else if (c->text)
            wr_doc_cell(t, "%s", c->text(c, r, text, sizeof(text)));
        else
            value_cell(t, c, r);
}
