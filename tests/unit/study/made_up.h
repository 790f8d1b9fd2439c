/* made_up.h - studies whose cells were never measured, for the tests of rules.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TEST_MADE_UP_H
#define WR_TEST_MADE_UP_H

#include "study/figure.h"
#include "study/study.h"

/* A quick study of one figure, on a machine with so many cores. */
void made_up_study(struct wr_study *st, const char *only, unsigned cores);

/* Gives every run of the cell named `id` this number; the test fails when there
 * is no such cell. */
void made_up_number(struct wr_study *st, const char *id, const char *key,
                    double value);

/* Judges the only figure and ends the study; checks the verdict and that the
 * reason has `why` in it (NULL: anything). */
void made_up_judge(struct wr_study *st, enum wr_ruling wanted, const char *why);

#endif
