/* json.h - strict reading of JSON: no key twice, reasons that can be shown.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_SAFETENSORS_JSON_H
#define WR_SAFETENSORS_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "weir/error.h"

/* An object or array in `bytes`, with nothing but white space around it; to be
 * released with json_decref. */
int wr_json_load(const void *bytes, size_t len, json_t **ret, weir_err *err);

#endif
