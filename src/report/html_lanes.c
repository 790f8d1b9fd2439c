/* html_lanes.c - lanes over time on a page: legend, numbers, data.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/html.h"

#include "base/error.h"
#include "report/doc_lanes.h"

#define X_DIGITS 7
#define ROWS_MAX 2000 /* of the table */
#define CELLS    600  /* of a row that is thinned */
#define FEW      64   /* spans of a row that is not */

static void put_legend(FILE *out, const struct wr_doc_lanes *l)
{
    fputs("<ul class=\"legend\">\n", out);
    for (enum wr_doc_look k = 0; k < WR_DOC_LOOKS; k++)
        if (wr_doc_lanes_has(l, k)) {
            fprintf(out, "<li><i class=\"look l%d\"></i>", (int)k);
            wr_html_put(out, "", l->looks[k], "</li>\n");
        }
    fputs("</ul>\n", out);
}

static void put_names(FILE *out, const struct wr_doc_lanes *l,
                      const struct wr_doc_rows *r)
{
    fputs(",\"lanes\":[", out);
    for (size_t i = 0; i < l->lane_count; i++) {
        fputs(i ? ",{\"name\":" : "{\"name\":", out);
        wr_html_json_text(out, l->names[i]);
        fprintf(out, ",\"rows\":%zu}", r->counts[i]);
    }
    fputs("],\"looks\":[", out);
    for (size_t i = 0; i < WR_DOC_LOOKS; i++) {
        fputs(i ? "," : "", out);
        wr_html_json_text(out, l->looks[i]);
    }
    fputs("]", out);
}

/* A span: from, to, its row among all, its lane, its look, its number. */
static void put_span(FILE *out, const struct wr_doc_span *s, size_t row,
                     bool first)
{
    fputs(first ? "[" : ",[", out);
    wr_html_json_number(out, s->from, X_DIGITS);
    fputc(',', out);
    wr_html_json_number(out, s->to, X_DIGITS);
    fprintf(out, ",%zu,%zu,%d,", row, s->lane, (int)s->look);
    wr_html_json_number(out, s->number, X_DIGITS);
    fputc(']', out);
}

/* What a row is made of, while its spans are written. */
struct html_row {
    const struct wr_doc_lanes *l;
    const struct wr_doc_rows *r;
    size_t lane, row; /* the row among all */
    bool first;       /* no span was written yet */
};

/* Who reads and decodes sample by sample has thousands of spans, too short to
 * be told apart: what has most of each cell is drawn. */
static bool put_thinned(FILE *out, struct html_row *h)
{
    struct wr_doc_lane_cell cells[CELLS];
    double from, to;

    if (!wr_doc_lanes_cells(h->l, h->r, h->row, cells, CELLS))
        return false;
    wr_doc_lanes_ends(h->l, &from, &to);
    for (size_t i = 0, end; i < CELLS; i = end) {
        for (end = i + 1;
             end < CELLS && wr_doc_lane_cells_same(&cells[i], &cells[end]);)
            end++;
        if (!cells[i].any)
            continue;
        put_span(out,
                 &(struct wr_doc_span){
                     .from = from + (to - from) * (double)i / CELLS,
                     .to = from + (to - from) * (double)end / CELLS,
                     .lane = h->lane,
                     .look = cells[i].look,
                     .number = cells[i].number},
                 h->row, h->first);
        h->first = false;
    }
    return true;
}

/* False: memory is short. */
static bool put_row(FILE *out, struct html_row *h)
{
    size_t n = 0;

    for (size_t i = 0; i < h->l->span_count; i++)
        n += h->r->row[i] == h->row;
    if (n > FEW)
        return put_thinned(out, h);
    for (size_t i = 0; i < h->l->span_count; i++)
        if (h->r->row[i] == h->row) {
            put_span(out, &h->l->spans[i], h->row, h->first);
            h->first = false;
        }
    return true;
}

static bool put_spans(FILE *out, const struct wr_doc_lanes *l,
                      const struct wr_doc_rows *r)
{
    struct html_row h = {.l = l, .r = r, .first = true};
    bool ok = true;

    fputs(",\"spans\":[", out);
    for (; h.lane < l->lane_count && ok; h.lane++)
        for (size_t k = 0; k < r->counts[h.lane] && ok; k++) {
            h.row = r->first[h.lane] + k;
            ok = put_row(out, &h);
        }
    fputs("]", out);
    return ok;
}

static bool put_data(FILE *out, const struct wr_doc_lanes *l,
                     const struct wr_doc_rows *r)
{
    double from, to;
    bool ok;

    wr_doc_lanes_ends(l, &from, &to);
    fputs("<script type=\"application/json\">{\"kind\":\"lanes\",\"x\":", out);
    wr_html_json_text(out, l->x);
    fputs(",\"thing\":", out);
    wr_html_json_text(out, l->thing);
    fputs(",\"from\":", out);
    wr_html_json_number(out, from, X_DIGITS);
    fputs(",\"to\":", out);
    wr_html_json_number(out, to, X_DIGITS);
    put_names(out, l, r);
    ok = put_spans(out, l, r);
    fputs("}</script>\n", out);
    return ok;
}

/* What the picture shows, for those who do not see it. */
static void put_plot(FILE *out, const struct wr_doc_lanes *l,
                     const struct wr_doc_rows *r)
{
    double from, to;

    wr_doc_lanes_ends(l, &from, &to);
    fprintf(out,
            "<div class=\"plot\" data-spans=\"%zu\"><canvas role=\"img\" "
            "aria-label=\"Lanes over time: ",
            r->total);
    wr_html_text(out, l->title);
    fprintf(out, ". %zu lanes, %zu spans, from %.4g to %.4g; ", l->lane_count,
            l->span_count, from, to);
    wr_html_put(out, "", l->x,
                "; the spans are in the table below.\"></canvas></div>\n");
}

static void fill_numbers(struct wr_doc_section *s, const void *lanes)
{
    wr_doc_lanes_table(s, lanes);
}

static int put_numbers(FILE *out, const struct wr_doc_lanes *l, weir_err *err)
{
    if (l->span_count > ROWS_MAX) {
        fprintf(
            out,
            "<p class=\"why\">CSV and JSON have all %zu spans; of rows with "
            "many, what has most of the time is drawn.</p>\n",
            l->span_count);
        return 0;
    }
    return wr_html_numbers(out, fill_numbers, l, err);
}

int wr_html_lanes(FILE *out, const struct wr_doc_lanes *l, weir_err *err)
{
    struct wr_doc_rows r;
    int e = 0;

    if (!wr_doc_rows_init(&r, l))
        return wr_fail(err, WEIR_ENOMEM, "no memory for lanes");
    wr_html_put(out, "<figure class=\"wide\"><figcaption><h3>", l->title,
                "</h3></figcaption>\n");
    put_legend(out, l);
    put_plot(out, l, &r);
    if (!put_data(out, l, &r))
        e = wr_fail(err, WEIR_ENOMEM, "no memory for the spans of lanes");
    wr_html_put(out, "<p class=\"why\">", l->note, "</p>\n");
    if (e == 0)
        e = put_numbers(out, l, err);
    fputs("</figure>\n", out);
    wr_doc_rows_done(&r);
    return e;
}
