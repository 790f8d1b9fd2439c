/* dlio_summary.h - DLIO's summary.json: the metrics by its formulas.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_DLIO_SUMMARY_H
#define WR_RUN_DLIO_SUMMARY_H

#include <jansson.h>

#include "run/dlio_output.h"

json_t *wr_dlio_summary_json(const struct wr_dlio_source *src);

/* Adds host_cpu_count, host_processor_name, host_memory_GB, host_cpuinfo,
 * host_meminfo, data_size_per_host_GB, potential_caching and hostname. With
 * `per_host` numbers are lists, one for each host. */
void wr_dlio_put_host(json_t *to, const struct wr_dlio_source *src,
                      bool per_host);

/* "Name: value" lines as an object: the last paragraph of them. */
json_t *wr_dlio_fields(const char *text);

/* That of /proc/meminfo now. */
json_t *wr_dlio_meminfo(void);

#endif
