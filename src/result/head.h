/* head.h - what records of several commands say of the machine and the data.
 * SPDX-License-Identifier: Apache-2.0
 *
 * V(kind, member, how ranks become one, more of struct wr_val): result/value.h.
 * docs/formats/record.md says what each means. */
#ifndef WR_RESULT_HEAD_H
#define WR_RESULT_HEAD_H

#include "result/value.h"

#define WR_FILE_SYSTEM_VALUES(V)                                               \
    V(TEXT, type, FIRST)                                                       \
    V(TEXT, source, FIRST)                                                     \
    V(TEXT, device, FIRST)                                                     \
    V(TEXT, model, FIRST)                                                      \
    V(COUNT, rotational, FIRST)

#define WR_HOST_VALUES(V)                                                      \
    V(TEXT, name, FIRST)                                                       \
    V(TEXT, kernel, FIRST)                                                     \
    V(TEXT, cpu, FIRST)                                                        \
    V(COUNT, cores, FIRST)                                                     \
    V(COUNT, memory_bytes, FIRST)                                              \
    V(GROUP(file_system), file_system, FIRST, .flags = WR_VAL_SPARE)

/* Stored samples of `from` to `to` bytes. */
#define WR_SIZES_VALUES(V)                                                     \
    V(COUNT, from, FIRST)                                                      \
    V(COUNT, to, FIRST)                                                        \
    V(COUNT, count, FIRST)                                                     \
    V(COUNT, bytes, FIRST)

#define WR_DATASET_VALUES(V)                                                   \
    V(TEXT, url, FIRST)                                                        \
    V(TEXT, format, FIRST)                                                     \
    V(COUNT, samples, FIRST)                                                   \
    V(COUNT, bytes, FIRST)                                                     \
    V(COUNT, files, FIRST)                                                     \
    V(COUNT, classes, FIRST)                                                   \
    V(COUNT, index_problems, FIRST)                                            \
    V(COUNT, ignored_files, FIRST)                                             \
    V(LIST(sizes), sizes, FIRST)

#define WR_ACCELERATOR_VALUES(V)                                               \
    V(TEXT, name, FIRST)                                                       \
    V(REAL, step_ms, FIRST)                                                    \
    V(TEXT, source, FIRST)                                                     \
    V(REAL, fixed_ms, FIRST, .flags = WR_VAL_SPARE)                            \
    V(REAL, per_sample_ms, FIRST, .flags = WR_VAL_SPARE)

/* A sample that could not be delivered. */
#define WR_BAD_VALUES(V)                                                       \
    V(COUNT, sample, FIRST)                                                    \
    V(TEXT, error, FIRST)                                                      \
    V(TEXT, text, FIRST)

/* What the machine did meanwhile. */
#define WR_MONITOR_VALUES(V)                                                   \
    V(REAL, hz, FIRST)                                                         \
    V(COUNT, merged, FIRST)                                                    \
    V(REAL, cpu_s, FIRST)                                                      \
    V(JSON, machine, FIRST)                                                    \
    V(JSON, disks, FIRST)

WR_VALUES(file_system, WR_FILE_SYSTEM_VALUES);
WR_VALUES(host, WR_HOST_VALUES);
WR_VALUES(sizes, WR_SIZES_VALUES);
WR_VALUES(dataset, WR_DATASET_VALUES);
WR_VALUES(accelerator, WR_ACCELERATOR_VALUES);
WR_VALUES(bad, WR_BAD_VALUES);
WR_VALUES(monitor, WR_MONITOR_VALUES);

#endif
