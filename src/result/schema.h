/* schema.h - JSON Schemas of run records, from the tables of their values.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RESULT_SCHEMA_H
#define WR_RESULT_SCHEMA_H

#include <jansson.h>

/* An entry of `$defs` for each command whose values have tables; NULL: memory is
 * short. */
json_t *wr_record_schemas(void);

#endif
