/* doc_top.c - what stands on top of a document: sentences, figures, verdicts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/doc_base.h"

void wr_doc_summary(struct wr_doc *d, const char *fmt, ...)
{
    va_list ap;

    if (!d || !wr_doc_grow(d, &d->summary, &d->summary_cap, d->summary_count,
                           sizeof(*d->summary)))
        return;
    va_start(ap, fmt);
    d->summary[d->summary_count++] = wr_doc_format(d, fmt, ap);
    va_end(ap);
}

void wr_doc_headline(struct wr_doc *d, const char *label, const char *fmt, ...)
{
    struct wr_doc_headline h;
    va_list ap;

    if (!d || !wr_doc_grow(d, &d->headlines, &d->headline_cap,
                           d->headline_count, sizeof(h)))
        return;
    va_start(ap, fmt);
    h.label = wr_doc_copy(d, label);
    h.text = wr_doc_format(d, fmt, ap);
    va_end(ap);
    d->headlines[d->headline_count++] = h;
}

void wr_doc_lead(struct wr_doc_section *s, const char *fmt, ...)
{
    va_list ap;

    if (!s)
        return;
    va_start(ap, fmt);
    s->lead = wr_doc_format(s->doc, fmt, ap);
    va_end(ap);
}

void wr_doc_claim(struct wr_doc_section *s, const char *fmt, ...)
{
    va_list ap;

    if (!s)
        return;
    va_start(ap, fmt);
    s->claim = wr_doc_format(s->doc, fmt, ap);
    va_end(ap);
}

void wr_doc_verdict(struct wr_doc_section *s, enum wr_doc_tone tone,
                    const char *verdict, const char *fmt, ...)
{
    va_list ap;

    if (!s)
        return;
    va_start(ap, fmt);
    s->tone = tone;
    s->verdict = wr_doc_copy(s->doc, verdict);
    s->why = wr_doc_format(s->doc, fmt, ap);
    va_end(ap);
}
