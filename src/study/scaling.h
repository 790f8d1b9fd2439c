/* scaling.h - strong scaling over threads: what Fig. 4 and Fig. 5 share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_STUDY_SCALING_H
#define WR_STUDY_SCALING_H

#include "study/figure.h"

/* The points of all devices and threads; read only, or all stages. */
void wr_scaling_add(struct wr_study *st, const struct wr_figure *f,
                    bool read_only);

/* Images per second; NaN: not measured. */
double wr_scaling_rate(const struct wr_study *st, const char *device,
                       unsigned threads, bool read_only);

/* The cell itself; NULL. */
const struct wr_cell *wr_scaling_cell(const struct wr_study *st,
                                      const char *device, unsigned threads,
                                      bool read_only);

/* The rate over that of one thread; NaN. */
double wr_scaling_speedup(const struct wr_study *st, const char *device,
                          unsigned threads, bool read_only);

/* What the paper states: speedup of a device at some threads; NaN: nothing. */
double wr_scaling_stated(const char *device, unsigned threads);

/* Adds what the paper's scaling would make of one thread's rate here. */
void wr_scaling_reference(struct wr_study *st, const struct wr_figure *f,
                          const char *device, bool read_only);

/* Says if the real disk was not cold. */
void wr_scaling_note_cold(const struct wr_study *st, bool read_only,
                          struct wr_judgement *j);

/* Whether there are too few pictures for so many threads: the end of an epoch
 * would count more than its middle. */
bool wr_scaling_few(const struct wr_study *st, unsigned threads);

#endif
