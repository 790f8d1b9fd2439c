/* doc_html_lanes.c - lanes over time on a page: legend, numbers, data.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/doc_html.h"

#include "base/error.h"
#include "record/doc_lanes.h"

#define X_DIGITS 7

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
static void put_spans(FILE *out, const struct wr_doc_lanes *l,
                      const struct wr_doc_rows *r)
{
    fputs(",\"spans\":[", out);
    for (size_t i = 0; i < l->span_count; i++) {
        const struct wr_doc_span *s = &l->spans[i];

        fputs(i ? ",[" : "[", out);
        wr_html_json_number(out, s->from, X_DIGITS);
        fputc(',', out);
        wr_html_json_number(out, s->to, X_DIGITS);
        fprintf(out, ",%zu,%zu,%d,", r->first[s->lane] + r->row[i], s->lane,
                (int)s->look);
        wr_html_json_number(out, s->number, X_DIGITS);
        fputc(']', out);
    }
    fputs("]", out);
}

static void put_data(FILE *out, const struct wr_doc_lanes *l,
                     const struct wr_doc_rows *r)
{
    double from, to;

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
    put_spans(out, l, r);
    fputs("}</script>\n", out);
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

static int put_numbers(FILE *out, const struct wr_doc_lanes *l, weir_err *err)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_section *s = wr_doc_section(d, "");
    int r = 0;

    if (s)
        wr_doc_lanes_table(s, l);
    if (!s || wr_doc_failed(d)) {
        r = wr_fail(err, WEIR_ENOMEM, "no memory for the numbers of lanes");
    } else {
        fputs("<details><summary>Numbers</summary>", out);
        wr_html_table(out, s->items[0].table, /* titled= */ false);
        fputs("</details>\n", out);
    }
    wr_doc_free(d);
    return r;
}

int wr_html_lanes(FILE *out, const struct wr_doc_lanes *l, weir_err *err)
{
    struct wr_doc_rows r;
    int e;

    if (!wr_doc_rows_init(&r, l))
        return wr_fail(err, WEIR_ENOMEM, "no memory for lanes");
    wr_html_put(out, "<figure class=\"wide\"><figcaption><h3>", l->title,
                "</h3></figcaption>\n");
    put_legend(out, l);
    put_plot(out, l, &r);
    put_data(out, l, &r);
    wr_html_put(out, "<p class=\"why\">", l->note, "</p>\n");
    e = put_numbers(out, l, err);
    fputs("</figure>\n", out);
    wr_doc_rows_done(&r);
    return e;
}
