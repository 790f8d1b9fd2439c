/* pairs.h - metadata: JSON objects of texts, from and to pairs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_SAFETENSORS_PAIRS_H
#define WR_SAFETENSORS_PAIRS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "safetensors/head.h"

/* Refuses what is no object of texts; `what` names it in messages. */
int wr_pairs_parse(json_t *object, const char *what, struct wr_st_pair **ret,
                   size_t *ret_count, weir_err *err);
/* A new object; NULL when memory is short or a text is no UTF-8. */
json_t *wr_pairs_json(const struct wr_st_pair *pairs, size_t count);
/* *ret is a key that is there twice, or NULL; false when memory is short. */
bool wr_pairs_twice(const struct wr_st_pair *pairs, size_t count,
                    const char **ret);
void wr_pairs_free(struct wr_st_pair *pairs, size_t count);

#endif
