/* doc_base.h - memory and texts of a document, for those that build it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_DOC_BASE_H
#define WR_RECORD_DOC_BASE_H

#include <stdarg.h>

#include "record/doc_private.h"

/* Zeroed memory that lives as long as the document; NULL: short, which the
 * document remembers. */
void *wr_doc_alloc(struct wr_doc *d, size_t size);

/* Makes room for one more; the document remembers when there is none. */
bool wr_doc_grow(struct wr_doc *d, void *array, size_t *cap, size_t count,
                 size_t size);

/* A copy that every renderer can show; NULL when memory is short. */
char *wr_doc_copy(struct wr_doc *d, const char *s);
char *wr_doc_format(struct wr_doc *d, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* Values under labels, not points with an x of their own. */
bool wr_doc_is_bars(const struct wr_doc_chart *c);

/* Nothing in it can be drawn: it is left out. */
bool wr_doc_is_empty(const struct wr_doc_chart *c);

/* The ends of the whisker of value k; NaN where it has none. */
double wr_doc_low(const struct wr_doc_series *s, size_t k);
double wr_doc_high(const struct wr_doc_series *s, size_t k);

#endif
