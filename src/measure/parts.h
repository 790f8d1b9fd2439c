/* parts.h - parts that the records of measurements have in common.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All return NULL when memory is short. */
#ifndef WR_MEASURE_PARTS_H
#define WR_MEASURE_PARTS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/series.h"
#include "measure/accelerator.h"
#include "monitor/cores.h"
#include "pipeline/settings.h"
#include "result/bench.h"
#include "result/head.h"
#include "storage/storage.h"
#include "weir/dataset.h"
#include "weir/pipeline.h"

/* Who had the cores, and whether others had those that were wanted. */
struct wr_cores_values wr_cores_values(const struct wr_cores_use *u,
                                       bool starved);
struct wr_cores_use wr_cores_use_of(const struct wr_cores_values *v);
json_t *wr_cores_json(const struct wr_cores_use *u, bool starved);

/* What works on each batch, and how long on one of `batch` samples. */
struct wr_accelerator_values
wr_accelerator_values(const struct wr_accelerator *a, uint32_t batch);

/* The machine, and the file system of the path (NULL: none), or below the
 * store where the kernel knows one. */
json_t *wr_host_json(const char *path);
json_t *wr_host_json_of(struct wr_store *st);

/* A data set, where the time of its pipeline went, and samples that could not be
 * delivered. */
json_t *wr_dataset_json(const weir_dataset *ds);
struct wr_input_values wr_input_values(const weir_stats *s);
json_t *wr_bad_json(const weir_bad_sample *bad, size_t count);

/* Adds a setting to an object, by its name, if records have it. */
void wr_setting_json(json_t *to, const struct wr_setting *s,
                     const weir_pipeline_config *cfg);

/* "storage-bound", ... "unknown" */
const char *wr_verdict_name(enum weir_verdict v);

/* One column of a series as a list, rounded to `decimals` (at most 6); NaN
 * becomes null. `column` -1 is the time. */
json_t *wr_series_json(const struct wr_series *s, int column,
                       unsigned decimals);

#endif
