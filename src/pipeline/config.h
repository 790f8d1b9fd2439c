/* config.h - the settings of a pipeline: checks, what they mean here.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PIPELINE_CONFIG_H
#define WR_PIPELINE_CONFIG_H

#include "format/format.h"
#include "pipeline/tune.h"

/* Checks `c` and fills in what is left to the library. threads, depth and
 * prefetch become the most there can be; *ret_tune has what is in force at
 * first. */
int wr_config_settle(const weir_dataset *ds, weir_pipeline_config *c,
                     struct wr_tune *ret_tune, weir_err *err);

/* The same checks without a data set, for who wants to know before opening one.
 * Messages begin with the name of the field, where it is one. */
int wr_config_check(const weir_pipeline_config *cfg, weir_err *err);

/* Bytes that the pipeline may spend as it sees fit, of those that the process
 * has (base/shares.h). */
uint64_t wr_config_memory(const weir_pipeline_config *c);

#endif
