/* html.c - a document as one self-contained page.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All text stands in the page itself, so that it can be read, searched and
 * printed without a script; page.js only draws the charts from the JSON beside
 * them, and sorts tables. */
#include "report/html.h"

#include <string.h>

#include "base/error.h"
#include "report/doc_private.h"
#include "report/doc_lanes.h"
#include "report/doc_numbers.h"
#include "report/doc_page.h"

static const char *tone_of(const struct wr_doc_section *s)
{
    static const char *const tones[] = {
        [WR_DOC_PLAIN] = "open", [WR_DOC_GOOD] = "good", [WR_DOC_BAD] = "bad"};

    return tones[s->tone];
}

/* A verdict's short form ("holds"), to stand in a line. */
static void html_verdict(FILE *out, const struct wr_doc_section *s)
{
    if (!s->verdict)
        return;
    fprintf(out, "<strong class=\"verdict %s\">", tone_of(s));
    wr_html_put(out, "", s->verdict, "</strong>\n");
}

static void put_summary(FILE *out, const struct wr_doc *d)
{
    if (!d->summary_count)
        return;
    fputs("<p class=\"summary\">", out);
    for (size_t i = 0; i < d->summary_count; i++)
        wr_html_put(out, i ? " " : "", d->summary[i], "");
    fputs("</p>\n", out);
}

static void put_headlines(FILE *out, const struct wr_doc *d)
{
    if (!d->headline_count)
        return;
    fputs("<dl class=\"headlines\">\n", out);
    for (size_t i = 0; i < d->headline_count; i++) {
        wr_html_put(out, "<div><dt>", d->headlines[i].label, "</dt>");
        wr_html_put(out, "<dd>", d->headlines[i].text, "</dd></div>\n");
    }
    fputs("</dl>\n", out);
}

static void put_verdict_row(FILE *out, const struct wr_doc_section *s,
                            size_t number)
{
    fprintf(out, "<tr><th scope=\"row\"><a href=\"#s%zu\">", number);
    wr_html_put(out, "", s->title, "</a></th>");
    wr_html_put(out, "<td>", s->claim ? s->claim : "", "</td><td>");
    html_verdict(out, s);
    wr_html_put(out, "</td><td>", s->why, "</td></tr>\n");
}

static void put_verdicts(FILE *out, const struct wr_doc *d)
{
    bool any = false;

    for (size_t i = 0; i < d->section_count; i++) {
        if (!d->sections[i]->verdict)
            continue;
        if (!any)
            fputs("<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
                  "aria-label=\"Verdicts\"><table class=\"verdicts\">"
                  "<caption class=\"hidden\">Verdicts</caption>\n<thead><tr>"
                  "<th scope=\"col\">what</th><th scope=\"col\">claim</th>"
                  "<th scope=\"col\">verdict</th><th scope=\"col\">here</th>"
                  "</tr></thead>\n<tbody>",
                  out);
        any = true;
        put_verdict_row(out, d->sections[i], i + 1);
    }
    if (any)
        fputs("</tbody></table></div>\n", out);
}

/* The top of the page: summary, figures, verdicts with links to sections. */
static void html_top(FILE *out, const struct wr_doc *d)
{
    put_summary(out, d);
    put_headlines(out, d);
    put_verdicts(out, d);
}

/* Points on a page: some 10 bytes each, of the 10 MB that a page may have. */
#define POINTS_MAX 500000

/* No chart is wide enough to show more of one series. */
#define POINTS_OF_SERIES_MAX 4000

#define ROWS_TALL 30 /* a table of more scrolls by itself */

void wr_html_text(FILE *out, const char *s)
{
    for (;;) {
        size_t plain = strcspn(s, "<>&\"'");

        fwrite(s, 1, plain, out);
        s += plain;
        switch (*s++) {
        case '\0':
            return;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputs("&#39;", out);
        }
    }
}

void wr_html_put(FILE *out, const char *before, const char *text,
                 const char *after)
{
    fputs(before, out);
    wr_html_text(out, text);
    fputs(after, out);
}

/* --- tables --- */

static void put_headings(FILE *out, const struct wr_doc_table *t)
{
    bool any = false;

    for (size_t i = 0; i < t->column_count; i++)
        any = any || *t->columns[i].heading;
    if (!any)
        return;
    fputs("<thead><tr>", out);
    for (size_t i = 0; i < t->column_count; i++) {
        const struct wr_doc_column *c = &t->columns[i];

        fputs(c->right ? "<th scope=\"col\" class=\"r\">"
                       : "<th scope=\"col\">",
              out);
        if (*c->heading)
            wr_html_put(out, "<button type=\"button\">", c->heading,
                        "</button>");
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n", out);
}

static void put_cell(FILE *out, const struct wr_doc_table *t, size_t i)
{
    static const char *const tones[] = {
        [WR_DOC_PLAIN] = "", [WR_DOC_GOOD] = "good", [WR_DOC_BAD] = "bad"};
    bool right = t->columns[i % t->column_count].right;
    const char *tone = i < t->cell_count ? tones[t->cells[i].tone] : "";

    fputs("<td", out);
    if (right || *tone)
        fprintf(out, " class=\"%s%s%s\"", right ? "r" : "",
                right && *tone ? " " : "", tone);
    wr_html_put(out, ">", i < t->cell_count ? t->cells[i].text : "", "</td>");
}

void wr_html_table(FILE *out, const struct wr_doc_table *t, bool titled)
{
    size_t columns = t->column_count;
    bool tall = columns && t->cell_count / columns > ROWS_TALL;

    /* What scrolls must be reachable by the keyboard, and then has a name. */
    fprintf(out, "<div class=\"scroll%s\" role=\"region\" tabindex=\"0\"",
            tall ? " tall" : "");
    wr_html_put(out, " aria-label=\"", t->title, "\"><table>");
    wr_html_put(out, titled ? "<caption>" : "<caption class=\"hidden\">",
                t->title, "</caption>\n");
    put_headings(out, t);
    fputs("<tbody>", out);
    for (size_t row = 0; columns && row < t->cell_count; row += columns) {
        fputs("<tr>", out);
        for (size_t i = 0; i < columns; i++)
            put_cell(out, t, row + i);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

int wr_html_numbers(FILE *out,
                    void (*fill)(struct wr_doc_section *s, const void *of),
                    const void *of, weir_err *err)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_section *s = wr_doc_section(d, "");
    int r = 0;

    if (s)
        fill(s, of);
    if (!s || wr_doc_failed(d)) {
        r = wr_fail(err, WEIR_ENOMEM, "no memory for the numbers of a chart");
    } else {
        fputs("<details><summary>Numbers</summary>", out);
        wr_html_table(out, s->items[0].table, /* titled= */ false);
        fputs("</details>\n", out);
    }
    wr_doc_free(d);
    return r;
}

/* --- sections --- */

static void put_facts(FILE *out, const struct wr_doc_section *s)
{
    if (!s->fact_count)
        return;
    fputs("<dl class=\"facts\">\n", out);
    for (size_t i = 0; i < s->fact_count; i++) {
        wr_html_put(out, "<div><dt>", s->facts[i].key, "</dt>");
        wr_html_put(out, "<dd>", s->facts[i].text, "</dd></div>\n");
    }
    fputs("</dl>\n", out);
}

static void put_notes(FILE *out, const struct wr_doc_section *s)
{
    for (size_t i = 0; i < s->note_count; i++)
        wr_html_put(out,
                    s->notes[i].warning
                        ? "<p class=\"note warning\"><strong>Warning:</strong> "
                        : "<p class=\"note\">",
                    s->notes[i].text, "</p>\n");
}

/* A table that few need is folded. */
static void put_table(FILE *out, const struct wr_doc_table *t)
{
    if (t->folded)
        wr_html_put(out, "<details class=\"more\"><summary>", t->title,
                    "</summary>\n");
    wr_html_table(out, t, /* titled= */ !t->folded);
    if (t->folded)
        fputs("</details>\n", out);
}

static bool is_empty(const struct wr_doc_item *item)
{
    return (item->chart && wr_doc_is_empty(item->chart)) ||
           (item->lanes && wr_doc_lanes_are_empty(item->lanes));
}

static int put_section(FILE *out, const struct wr_doc_section *s, size_t number,
                       size_t cap, weir_err *err)
{
    bool in_charts = false; /* charts that follow each other share a grid */
    int r = 0;

    fprintf(out, "<section id=\"s%zu\" aria-labelledby=\"h%zu\">\n", number,
            number);
    fprintf(out, "<h2 id=\"h%zu\">", number);
    wr_html_put(out, "", s->title, "</h2>\n");
    html_verdict(out, s);
    if (s->lead)
        wr_html_put(out, "<p class=\"lead\">", s->lead, "</p>\n");
    if (s->claim)
        wr_html_put(out, "<p class=\"claim\">", s->claim, "</p>\n");
    put_facts(out, s);
    put_notes(out, s);
    for (size_t i = 0; i < s->item_count && r == 0; i++) {
        const struct wr_doc_item *item = &s->items[i];

        if (is_empty(item))
            continue;
        if (in_charts != !item->table)
            fputs(in_charts ? "</div>\n" : "<div class=\"charts\">\n", out);
        in_charts = !item->table;
        if (item->chart)
            r = wr_html_figure(out, item->chart, cap, err);
        else if (item->lanes)
            r = wr_html_lanes(out, item->lanes, err);
        else
            put_table(out, item->table);
    }
    if (in_charts)
        fputs("</div>\n", out);
    if (s->verdict)
        wr_html_put(out, "<p class=\"here\"><strong>Here:</strong> ", s->why,
                    "</p>\n");
    fputs("</section>\n", out);
    return r;
}

static void put_contents(FILE *out, const struct wr_doc *d)
{
    if (d->section_count < 2)
        return;
    fputs("<nav class=\"toc\" aria-label=\"Contents\"><details open>"
          "<summary>Contents</summary><ol>\n",
          out);
    for (size_t i = 0; i < d->section_count; i++) {
        fprintf(out, "<li><a href=\"#s%zu\">", i + 1);
        wr_html_put(out, "", d->sections[i]->title, "</a></li>\n");
    }
    fputs("</ol></details></nav>\n", out);
}

const char *wr_doc_html_missing(void)
{
    return NULL;
}

int wr_doc_print_html(const struct wr_doc *d, FILE *out, weir_err *err)
{
    size_t cap;
    int r = 0;

    if (wr_doc_failed(d))
        return wr_fail(err, WEIR_ENOMEM, "no memory for the report");
    cap = wr_doc_numbers_cap(d, POINTS_MAX);
    if (cap > POINTS_OF_SERIES_MAX)
        cap = POINTS_OF_SERIES_MAX;
    wr_html_put(out, wr_page_head, d->title, wr_page_body);
    wr_html_put(out, "<header class=\"top\"><div><h1>", d->title, "</h1>\n");
    if (*d->subtitle)
        wr_html_put(out, "<p class=\"subtitle\">", d->subtitle, "</p>");
    fputs("</div><button id=\"theme\" type=\"button\">Dark</button></header>\n",
          out);
    put_contents(out, d);
    fputs("<main id=\"main\" tabindex=\"-1\">\n", out);
    html_top(out, d);
    for (size_t i = 0; i < d->section_count && r == 0; i++)
        r = put_section(out, d->sections[i], i + 1, cap, err);
    fputs("</main>\n", out);
    fputs(wr_page_tail, out);
    return r;
}
