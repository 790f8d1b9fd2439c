/* place.h - small data sets to convert, and a hash of what came out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TEST_CONVERT_PLACE_H
#define WR_TEST_CONVERT_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "../gen/scratch.h"
#include "convert/convert.h"

#define PLACE_SAMPLES 24
#define PLACE_CLASSES 3

/* Makes `name` in the folder: three class folders of JPEGs that differ in
 * size and content. */
void place_make(struct scratch *s, const char *name);

/* The picture of sample i, below the data set. */
const char *place_file(uint32_t i);

weir_dataset *place_open(struct scratch *s, const char *prefix,
                         const char *name);

/* Settings for small shards of `to`; target is `to` in the folder. `path`
 * keeps the URL. */
void place_config(struct scratch *s, const weir_dataset *ds, const char *to,
                  struct wr_convert_config *cfg, char path[512]);

/* A hash of all names and bytes below the folder `name`; 0 when it is not
 * there. */
uint64_t place_hash(struct scratch *s, const char *name);

/* Labels and pixels of all samples, in one number that knows neither their
 * order nor their names. */
uint64_t place_content(const weir_dataset *ds);

/* Runs it and fails the test unless it works. */
void place_convert(const struct wr_convert_config *cfg,
                   struct wr_convert_result *ret);

#endif
