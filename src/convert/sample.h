/* sample.h - the names of samples: in messages, and in what is made of them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CONVERT_SAMPLE_H
#define WR_CONVERT_SAMPLE_H

#include "convert/kind.h"

/* The key of a sample, safe as a path, with its suffix. */
void wr_convert_key(const struct wr_convert_plan *p, const struct wr_sample *s,
                    char key[WR_CONVERT_KEY_MAX]);

/* Puts the name of a sample in front of a message. */
void wr_convert_name_sample(const weir_dataset *ds, uint64_t id, weir_err *err);

/* Finds out which samples need a suffix, so that no two get the same path, and
 * which labels there are.
 * Where keys or labels lie inside the samples, all of them are read. */
int wr_convert_find_names(struct wr_convert_plan *p, unsigned threads,
                          weir_err *err);

#endif
