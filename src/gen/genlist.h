/* genlist.h - the "path,label" list beside a generated data set.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_GEN_GENLIST_H
#define WR_GEN_GENLIST_H

#include "gen/generate.h"

/* Whether cfg->list can be written, before the work is done. */
int wr_gen_list_check(const struct wr_gen_config *cfg, weir_err *err);

/* Writes it, once the data set is in place: paths are relative to the list's
 * folder when the data set lies below it, else absolute. An older list is
 * replaced in one step. */
int wr_gen_list_write(const struct wr_gen_run *run, weir_err *err);

#endif
