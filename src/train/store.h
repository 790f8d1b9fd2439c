/* store.h - the checkpoints of a run of training.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_STORE_H
#define WR_TRAIN_STORE_H

#include "measure/saves.h"
#include "train/feed.h"
#include "train/state.h"
#include "train/train.h"
#include "train/net.h"

/* The settings that decide what training learns, kept with it: a checkpoint
 * remembers them. Weights that were begun with others would be continued into
 * something that no single run gives: that is refused, by name. */
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

struct wr_train_store {
    struct wr_saves to;               /* its `c` NULL: there is none */
    const struct wr_train_plan *plan; /* borrowed */
    struct wr_train_result *ret;      /* borrowed: saves are noted there */
    const struct wr_train_settings *settings; /* borrowed: saved with a step */
    weir_ckpt_found *found;                   /* owned: what was resumed from */
};

/* Opens it, if the plan has one, and resumes from its newest step into `s`. A
 * store that has steps, and is not to be resumed, is refused. *ret_start says
 * where the input continues. */
int wr_train_store_open(struct wr_train_store *st, struct wr_train_state *s,
                        struct wr_train_start *ret_start, weir_err *err);

/* Saves the state, if it is not saved yet. */
int wr_train_store_save(struct wr_train_store *st,
                        const struct wr_train_state *s, enum weir_level level,
                        weir_err *err);

/* Notes what is to be noted and closes; with `settle` once everything is on the
 * last tier. Returns an error of the background. Fine without a store. */
int wr_train_store_close(struct wr_train_store *st, bool settle, weir_err *err);

#endif
