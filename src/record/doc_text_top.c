/* doc_text_top.c - the top of a document, and its verdicts, on a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/doc_text_top.h"

#include <stdint.h>

#include "base/mem.h"
#include "base/text.h"
#include "record/doc_private.h"

#define BOLD  "\033[1m"
#define GREEN "\033[32m"
#define RED   "\033[31m"
#define END   "\033[0m"

size_t wr_doc_text_width(const struct wr_doc_text_style *style)
{
    return style->whole ? SIZE_MAX : style->width;
}

static void put_wrapped(const char *text, size_t at, size_t width, FILE *out)
{
    const struct wr_text_wrap wrap = {.at = at, .indent = at, .width = width};

    wr_text_print(out, text, wrap);
}

/* Text in `width` columns, in bold or in the colour of its tone. */
static void put_painted(const char *text, size_t width, const char *code,
                        const struct wr_doc_text_style *style, FILE *out)
{
    size_t columns = wr_text_width(text);

    fprintf(out, "%s%s%s%*s", style->colour ? code : "", text,
            style->colour && *code ? END : "",
            width > columns ? (int)(width - columns) : 0, "");
}

static const char *code_of(enum wr_doc_tone tone)
{
    return tone == WR_DOC_GOOD ? GREEN : tone == WR_DOC_BAD ? RED : "";
}

static void put_headlines(const struct wr_doc *d,
                          const struct wr_doc_text_style *style, FILE *out)
{
    size_t width = 0;

    for (size_t i = 0; i < d->headline_count; i++)
        width = WR_MAX(width, wr_text_width(d->headlines[i].text));
    width = WR_MIN(width, (size_t)style->width / 2);
    if (d->headline_count)
        fputc('\n', out);
    for (size_t i = 0; i < d->headline_count; i++) {
        fputs("  ", out);
        put_painted(d->headlines[i].text, width, BOLD, style, out);
        fputs("  ", out);
        put_wrapped(d->headlines[i].label, width + 4, style->width, out);
    }
}

static void put_verdicts(const struct wr_doc *d,
                         const struct wr_doc_text_style *style, FILE *out)
{
    size_t width = 0;

    for (size_t i = 0; i < d->section_count; i++)
        if (d->sections[i]->verdict)
            width = WR_MAX(width, wr_text_width(d->sections[i]->verdict));
    width = WR_MIN(width, (size_t)style->width / 2);
    if (width)
        fputc('\n', out);
    for (size_t i = 0; i < d->section_count; i++) {
        const struct wr_doc_section *s = d->sections[i];

        if (!s->verdict)
            continue;
        fputs("  ", out);
        put_painted(s->verdict, width, code_of(s->tone), style, out);
        fputs("  ", out);
        put_wrapped(s->title, width + 4, style->width, out);
    }
}

void wr_doc_text_top(const struct wr_doc *d,
                     const struct wr_doc_text_style *style, FILE *out)
{
    if (d->summary_count)
        fputc('\n', out);
    for (size_t i = 0; i < d->summary_count; i++)
        put_wrapped(d->summary[i], 0, style->width, out);
    put_headlines(d, style, out);
    put_verdicts(d, style, out);
}

void wr_doc_text_claim(const struct wr_doc_section *s,
                       const struct wr_doc_text_style *style, FILE *out)
{
    const char *const texts[] = {s->lead, s->claim};

    for (size_t i = 0; i < WR_ARRAY_LEN(texts); i++) {
        if (!texts[i])
            continue;
        fputs("  ", out);
        put_wrapped(texts[i], 2, wr_doc_text_width(style), out);
    }
}

void wr_doc_text_verdict(const struct wr_doc_section *s,
                         const struct wr_doc_text_style *style, FILE *out)
{
    if (!s->verdict)
        return;
    fputs("\n  ", out);
    put_painted(s->verdict, 0, code_of(s->tone), style, out);
    fputs(": ", out);
    wr_text_print(out, s->why,
                  (struct wr_text_wrap){.at = wr_text_width(s->verdict) + 4,
                                        .indent = 4,
                                        .width = wr_doc_text_width(style)});
}
