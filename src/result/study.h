/* study.h - what weir study measures: every value, once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * V(kind, member, how ranks become one, more of struct wr_val): result/value.h.
 * docs/formats/record.md says what each means. A record is one row. */
#ifndef WR_RESULT_STUDY_H
#define WR_RESULT_STUDY_H

#include "result/cases.h"
#include "result/value.h"

#define WR_STUDY_DATA_VALUES(V)                                                \
    V(COUNT, images, FIRST)                                                    \
    V(COUNT, batch, FIRST)                                                     \
    V(COUNT, train_batch, FIRST)                                               \
    V(COUNT, iterations, FIRST)                                                \
    V(TEXT, accelerator, FIRST)                                                \
    V(COUNT, checkpoints, FIRST)                                               \
    V(COUNT, save_every, FIRST)                                                \
    V(REAL, width, FIRST)                                                      \
    V(TEXT, scaled, FIRST)

/* A cell beside others, over the same cell alone. */
#define WR_STUDY_CONTROL_VALUES(V)                                             \
    V(REAL, ratio, FIRST)                                                      \
    V(FLAG, alone, FIRST)

/* What was measured at one label. */
#define WR_STUDY_MEASURED_VALUES(V)                                            \
    V(REAL, median, FIRST)                                                     \
    V(REAL, low, FIRST)                                                        \
    V(REAL, high, FIRST)                                                       \
    V(COUNT, runs, FIRST)                                                      \
    V(TEXT, limit, FIRST, .flags = WR_VAL_SPARE)

#define WR_STUDY_SERIES_VALUES(V)                                              \
    V(TEXT, name, FIRST)                                                       \
    V(TEXT, role, FIRST, .words = roles)                                       \
    V(JSON, values, FIRST) /* numbers, or objects of what was measured */

#define WR_STUDY_PART_VALUES(V)                                                \
    V(TEXT, title, FIRST)                                                      \
    V(JSON, labels, FIRST)                                                     \
    V(LIST(study_series), series, FIRST)

#define WR_STUDY_FIGURE_VALUES(V)                                              \
    V(TEXT, id, FIRST)                                                         \
    V(TEXT, title, FIRST)                                                      \
    V(TEXT, question, FIRST)                                                   \
    V(TEXT, unit, FIRST)                                                       \
    V(TEXT, x, FIRST)                                                          \
    V(FLAG, complete, FIRST)                                                   \
    V(LIST(study_part), parts, FIRST)                                          \
    V(JSON, lines, FIRST)                                                      \
    V(JSON, table, FIRST)                                                      \
    V(TEXT, verdict, FIRST, .words = verdicts)                                 \
    V(FLAG, calibration, FIRST)                                                \
    V(TEXT, conclusion, FIRST)                                                 \
    V(TEXT, why, FIRST)

#define WR_STUDY_VALUES(V)                                                     \
    V(TEXT, mode, FIRST, .words = modes)                                       \
    V(JSON, host, FIRST)                                                       \
    V(REAL, seconds, FIRST)                                                    \
    V(COUNT, repeat, FIRST)                                                    \
    V(COUNT, warm_up_runs, FIRST)                                              \
    V(GROUP(study_data), data, FIRST)                                          \
    V(GROUP(study_control), control, FIRST)                                    \
    V(LIST(study_figure), figures, FIRST)

WR_VALUES(study_data, WR_STUDY_DATA_VALUES);
WR_VALUES(study_control, WR_STUDY_CONTROL_VALUES);
WR_VALUES(study_measured, WR_STUDY_MEASURED_VALUES);
WR_VALUES(study_series, WR_STUDY_SERIES_VALUES);
WR_VALUES(study_part, WR_STUDY_PART_VALUES);
WR_VALUES(study_figure, WR_STUDY_FIGURE_VALUES);
WR_VALUES(study, WR_STUDY_VALUES);

extern const struct wr_cases_spec wr_study_spec;

#endif
