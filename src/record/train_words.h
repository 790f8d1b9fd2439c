/* train_words.h - a run of training: its tables, and what limits it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_TRAIN_WORDS_H
#define WR_RECORD_TRAIN_WORDS_H

#include "record/view.h"

/* What the columns of the tables mean. */
extern const struct wr_columns wr_train_columns[];
extern const struct wr_column wr_train_run_columns[];

/* The run in one row, its validations (one is said in words), and what its
 * saves cost. */
void wr_train_run_table(struct wr_doc_section *s, const char *title,
                        const json_t *record);
void wr_train_validation_table(struct wr_doc_section *s, const char *title,
                               const json_t *record);
void wr_train_save_table(struct wr_doc_section *s, const char *title,
                         const json_t *record);

/* How good it became, what limits it, and what the machine did. */
void wr_train_words(struct wr_doc_section *s, const json_t *record);

/* What the input costs, if that was compared. */
void wr_train_cost(struct wr_doc_section *s, const json_t *record);

/* Whether what other programs had was taken from it: an emulated accelerator
 * computes nothing, and needs no cores as long as its input is in time. */
bool wr_train_needs_cores(const json_t *record);

#endif
