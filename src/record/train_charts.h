/* train_charts.h - charts of one run of training.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_TRAIN_CHARTS_H
#define WR_RECORD_TRAIN_CHARTS_H

#include "record/view.h"

/* The loss of each iteration and of the held-out part, a line a record. */
void wr_train_loss(struct wr_doc *d, struct wr_doc_section *s,
                   const struct wr_view_record *r, size_t n);

/* What the time went for, a bar a record. */
void wr_train_parts(struct wr_doc_section *s, const struct wr_view_record *r,
                    size_t n);

/* The input alone, the computing alone, and all of it. */
void wr_train_compared(struct wr_doc_section *s, const json_t *record);

/* Waiting, computing and saving of each iteration; stalls are marked. */
void wr_train_iterations(struct wr_doc *d, struct wr_doc_section *s,
                         const json_t *record);

/* How long each save took, and how right the held-out part was. */
void wr_train_saves(struct wr_doc_section *s, const json_t *record);
void wr_train_accuracy(struct wr_doc_section *s, const json_t *record);

#endif
