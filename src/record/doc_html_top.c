/* doc_html_top.c - the top of a page: summary, figures, verdicts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/doc_html.h"

static const char *tone_of(const struct wr_doc_section *s)
{
    static const char *const tones[] = {
        [WR_DOC_PLAIN] = "open", [WR_DOC_GOOD] = "good", [WR_DOC_BAD] = "bad"};

    return tones[s->tone];
}

void wr_html_verdict(FILE *out, const struct wr_doc_section *s)
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
    wr_html_verdict(out, s);
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

void wr_html_top(FILE *out, const struct wr_doc *d)
{
    put_summary(out, d);
    put_headlines(out, d);
    put_verdicts(out, d);
}
