/* restore_kit.h - stores with saved steps for tests of restoring.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_CHECKPOINT_RESTORE_KIT_H
#define TEST_CHECKPOINT_RESTORE_KIT_H

#include "../format/tmpdir.h"
#include "checkpoint/store.h"

#define KIT_TENSORS 6

/* Two tiers and their writer. */
struct kit {
    struct tmpdir dir;
    struct wr_tier *fast, *slow;
    uint64_t floats; /* of the largest tensor */
    bool shared;     /* all ranks have the same names */
};

void kit_init(struct kit *k);
void kit_done(struct kit *k);

/* The tensors of a rank, with what was saved, or zeros when `empty`. */
struct kit_state {
    weir_tensor t[KIT_TENSORS];
    char names[KIT_TENSORS][32];
};
void kit_state_init(const struct kit *k, struct kit_state *s, uint64_t step,
                    uint32_t rank, bool empty);
void kit_state_done(struct kit_state *s);
/* Whether the memory is that of the step. */
bool kit_state_is(const struct kit *k, const struct kit_state *s, uint64_t step,
                  uint32_t rank);

/* Saves a step of `world` ranks to a tier. */
void kit_save(struct kit *k, struct wr_tier *t, uint64_t step, uint32_t world);

enum kit_damage {
    FLIP_SIZE, /* the first 8 bytes of the head */
    FLIP_HEAD,
    FLIP_DATA,
    NO_FILE,
    SHORT_FILE,
    LONG_FILE,
    FLIP_MANIFEST,
    NO_MANIFEST,
    EMPTY_MANIFEST,
    KIT_DAMAGES,
};
void kit_damage(struct kit *k, const char *tier, uint64_t step, uint32_t rank,
                enum kit_damage d);

/* A store that only reads: rank of a world that meets below the folder. */
void kit_open(const struct kit *k, weir_ckpt *c, uint32_t rank, uint32_t world,
              bool two_tiers);
void kit_close(weir_ckpt *c);

#endif
