/* shown.h - what tests of views ask of a document.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_RECORD_SHOWN_H
#define TEST_RECORD_SHOWN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <string.h>

#include "report/doc_private.h"
#include "report/view.h"

static inline json_t *shown_json(const char *text)
{
    json_error_t error;
    json_t *j = json_loads(text, 0, &error);

    if (!j)
        fail_msg("line %d: %s", error.line, error.text);
    return j;
}

/* The page of these records of a command. */
static inline struct wr_doc *shown_page(const char *command,
                                        struct wr_view_record *r, size_t n)
{
    struct wr_doc *d = wr_doc_new("", "");

    for (size_t i = 0; i < n; i++)
        assert_true(wr_view_record_read(&r[i]));
    wr_view_find(command)->summarize(d, r, n, 4);
    wr_view_build(wr_view_find(command), d, r, n);
    assert_false(wr_doc_failed(d));
    for (size_t i = 0; i < n; i++)
        wr_view_record_done(&r[i]);
    return d;
}

/* NULL: there is none. */
static inline const struct wr_doc_chart *
shown_find_chart(const struct wr_doc *d, const char *title)
{
    for (size_t i = 0; i < d->section_count; i++)
        for (size_t k = 0; k < d->sections[i]->item_count; k++) {
            const struct wr_doc_chart *c = d->sections[i]->items[k].chart;

            if (c && !strcmp(c->title, title))
                return c;
        }
    return NULL;
}

static inline const struct wr_doc_chart *shown_chart(const struct wr_doc *d,
                                                     const char *title)
{
    const struct wr_doc_chart *c = shown_find_chart(d, title);

    if (!c)
        fail_msg("there is no chart '%s'", title);
    return c;
}

#endif
