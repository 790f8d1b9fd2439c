/* sample.h - one sample out of a load: unpacked, labelled, named.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CONVERT_SAMPLE_H
#define WR_CONVERT_SAMPLE_H

#include "convert/kind.h"
#include "convert/reader.h"

/* Fills it->s, it->key (in `key`) and it->class_name from sample k. A failure
 * is the sample's own, and named. */
int wr_convert_sample(const struct wr_convert_plan *p, struct wr_load *l,
                      uint32_t k, char key[WR_CONVERT_KEY_MAX],
                      struct wr_convert_item *it, weir_err *err);

/* Puts the name of sample k in front of a message. */
void wr_convert_name_sample(const struct wr_load *l, uint32_t k, weir_err *err);

/* Finds out which samples need a suffix, so that no two get the same path, and
 * which labels there are.
 * Where keys or labels lie inside the samples, all of them are read. */
int wr_convert_find_names(struct wr_convert_plan *p,
                          const struct wr_reader_config *cfg, weir_err *err);

#endif
