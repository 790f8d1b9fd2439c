/* settings.h - the settings that decide what training learns, kept with it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A checkpoint remembers them. Weights that were begun with others would be
 * continued into something that no single run gives: that is refused, by
 * name. */
#ifndef WR_TRAIN_SETTINGS_H
#define WR_TRAIN_SETTINGS_H

#include "train/net.h"
#include "train/train.h"

#define WR_TRAIN_SETTINGS 20 /* at most */

struct wr_train_settings {
    weir_pair pairs[WR_TRAIN_SETTINGS]; /* values point into `text` */
    char key[WR_TRAIN_SETTINGS][24];    /* of those of the pipeline */
    char text[WR_TRAIN_SETTINGS][40];
    size_t count;
};

void wr_train_settings_of(const struct wr_train_plan *plan,
                          const struct wr_net *net,
                          struct wr_train_settings *ret);

/* Whether a checkpoint with this metadata can be continued with them. */
int wr_train_settings_check(const struct wr_train_settings *s,
                            const weir_pair *found, size_t count,
                            weir_err *err);

#endif
