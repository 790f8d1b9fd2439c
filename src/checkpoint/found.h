/* found.h - what a restore found, as its caller gets it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CHECKPOINT_FOUND_H
#define WR_CHECKPOINT_FOUND_H

#include "checkpoint/reading.h"
#include "weir/checkpoint.h"

/* Takes the manifest and the heads of the part, and leaves both empty, also on
 * failure. `passed`: texts one behind the other, each with its NUL. */
int wr_found_new(struct wr_manifest *m, struct wr_reading *p,
                 const char *passed, size_t passed_len, weir_ckpt_found **ret);

#endif
