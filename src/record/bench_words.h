/* bench_words.h - what limits a case of weir bench, in words.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_BENCH_WORDS_H
#define WR_RECORD_BENCH_WORDS_H

#include "record/view.h"

/* What limits the cases, what the machine did meanwhile and what the tiers
 * did: of a few cases each, of a sweep the last and the fastest. They are notes
 * of the section; printed, each case has a section. */
void wr_bench_words(struct wr_scope *v);

#endif
