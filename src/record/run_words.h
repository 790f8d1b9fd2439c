/* run_words.h - a run of a workload in sentences: fed or not, and why.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_RUN_WORDS_H
#define WR_RECORD_RUN_WORDS_H

#include "record/view.h"

/* What makes all other numbers doubtful, as warnings: a machine too slow to
 * emulate the accelerators, data from the page cache. */
void wr_run_warnings(struct wr_scope *v);

/* Whether so many accelerators are fed: "AU 81.2 %, target 90 %: no, ...", or
 * how many can be; "" if the record does not tell. Returns buf. */
char *wr_run_answer(const json_t *record, char *buf, size_t cap);

/* What the time went to, and bytes measured beside bytes demanded; "" as
 * above. Return buf. */
char *wr_run_loss(const json_t *record, char *buf, size_t cap);
char *wr_run_demand(const json_t *record, char *buf, size_t cap);

/* All of that as notes. */
void wr_run_says(struct wr_scope *v);

/* What the reads looked like, how batches came, and what it took. */
void wr_run_reads(struct wr_scope *v);

/* "8 accelerators of unet3d_a100". Returns buf. */
char *wr_run_who(const json_t *record, char *buf, size_t cap);

/* Whether all accelerators were fed; false also if that is not known. */
bool wr_run_meets(const json_t *record);

#endif
