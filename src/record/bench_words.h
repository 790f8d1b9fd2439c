/* bench_words.h - what limits a case of weir bench, in words.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_BENCH_WORDS_H
#define WR_RECORD_BENCH_WORDS_H

#include "record/view.h"

/* What limits the cases, what the machine did meanwhile and what the tiers
 * did: of a few cases each, of a sweep the last and the fastest. With `d` each
 * has a section, without they are notes of `s`. */
void wr_bench_words(struct wr_doc *d, struct wr_doc_section *s,
                    const struct wr_cases *c);

#endif
