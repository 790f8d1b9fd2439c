/* json_tree.h - JSON as a tree: reasons that can be shown, and memory that is short.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_JSON_TREE_H
#define WR_CODEC_JSON_TREE_H

#include <jansson.h>
#include <stddef.h>

#include "weir/error.h"

/* What is in `bytes`, with nothing but white space around it, by flags of jansson;
 * to be released with json_decref. */
int wr_json_load(const void *bytes, size_t len, size_t flags, json_t **ret,
                 weir_err *err);

#endif
