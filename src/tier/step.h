/* step.h - one step on its tiers: looked at, copied, read back.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TIER_STEP_H
#define WR_TIER_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "safetensors/shard.h"
#include "tier/manifest.h"
#include "tier/tier.h"
#include "weir/ckpt_manage.h"

/* A copy of a step, without its data being read. */
struct wr_copy {
    enum weir_copy is;
    struct wr_gist gist; /* id "": its manifest cannot be read, and it is
                            zeroed */
    bool own;            /* was counted in the tier's store */
    weir_err why;        /* when it is damaged, without the step's name */
};

/* Whether an error says that what was read is damaged, and not that it could
 * not be read. */
bool wr_step_is_damage(int code);

/* Whether an error of reading says nothing about what was to be read: no
 * descriptor, no permission, a server that is away. It is neither damaged nor
 * gone, and may be readable in a moment. */
bool wr_step_is_unread(int code);

/* "step 7 on the fast tier is damaged: ..."; returns r. */
int wr_step_say_damaged(const struct wr_tier *t, uint64_t step, int r,
                        weir_err *err);

/* Fails when the tier does not say what is there: an error that is neither
 * damage nor absence. Damaged is also what a drain gave up
 * (WR_MARK_DAMAGED). */
int wr_step_look(struct wr_tier *t, uint64_t step, struct wr_copy *ret,
                 weir_err *err);

/* > 0: a copy is of a later save than another: those of the tier's store are
 * later than those of others, and then they are counted. 0: nothing tells. */
int wr_copy_compare(const struct wr_copy *a, const struct wr_copy *b);

/* The same for who looks at all steps again and again: a manifest that was read
 * once, and files that were there then, are not looked at again. */
int wr_step_glance(struct wr_tier *t, uint64_t step, struct wr_copy *ret,
                   weir_err *err);

/* Copies a step from tier to tier and publishes it there, with its pin. Nothing
 * is done when the same save is there already; a damaged copy, or one of an
 * earlier save of that step, is replaced once the new one is written.
 * WEIR_EEXIST: there is one of a later save. An error that is damage is of the
 * copy on `from`, and does not name the step. */
int wr_step_copy(struct wr_tier *from, struct wr_tier *to, uint64_t step,
                 const struct wr_byte_meter *meter, weir_err *err);
/* The same, also when the same save is there already: it was found damaged. */
int wr_step_copy_anew(struct wr_tier *from, struct wr_tier *to, uint64_t step,
                      const struct wr_byte_meter *meter, weir_err *err);

/* Reads all shards of a step and checks them; marks it verified when `mark`. A
 * step that was taken away meanwhile is WEIR_ENOENT. */
int wr_step_verify(struct wr_tier *t, uint64_t step, bool mark,
                   const struct wr_byte_meter *meter, weir_err *err);

#endif
