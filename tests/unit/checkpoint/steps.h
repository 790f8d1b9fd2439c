/* steps.h - two folders and steps in them, for tests of what happens to steps.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_CHECKPOINT_STEPS_H
#define TEST_CHECKPOINT_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "checkpoint/store.h"
#include "tier/tier.h"
#include "weir/ckpt_manage.h"

#define STEPS_PATH  400
#define STEPS_STORE "00112233445566778899aabbccddeeff" /* the id of theirs */

struct steps {
    char root[200], fast[220], slow[220];
};

/* cmocka's setup and teardown; *state is the struct steps. */
int steps_setup(void **state);
int steps_teardown(void **state);

enum { FAST, SLOW };

/* Saves a step of `world` files with content made from `seed`, at time
 * `time_ns`, which is also its count, on one of the tiers; not drained. */
struct step_is {
    uint64_t step, time_ns;
    uint32_t world;
    uint64_t seed;
};
void steps_save(const struct steps *s, int tier, struct step_is is);
/* The same by another writer than the first one of STEPS_STORE. */
struct step_by {
    const char *store; /* "": of a version before */
    uint64_t generation;
    const char *nonce; /* "": none */
};
void steps_save_by(const struct steps *s, int tier, struct step_is is,
                   struct step_by by);
/* Plain ones: 1, 2, ... `last`, one file each, on the fast tier. */
void steps_save_up_to(const struct steps *s, uint64_t last);

/* The manifest's id of a copy; "" when there is none. */
void steps_id(const struct steps *s, int tier, uint64_t step,
              char ret[WR_MANIFEST_ID]);
/* One letter a step from 1 on, as in test_retention: - d c v; s: stale. */
void steps_shown(weir_ckpt *c, uint64_t last, char *fast, char *slow);

/* Changes one byte of a file of a step: "r00000.safetensors", "MANIFEST". */
void steps_flip(const struct steps *s, int tier, uint64_t step,
                const char *file, long offset);
void steps_remove(const struct steps *s, int tier, uint64_t step,
                  const char *file);

/* Entries of a tier whose names begin so. */
unsigned steps_count(const struct steps *s, int tier, const char *prefix);
/* The same in the folders of its writers: "slot-", "tmp-", "trash-". */
unsigned steps_left(const struct steps *s, int tier, const char *prefix);

/* Both tiers, defaults, and this role. */
void steps_config(const struct steps *s, enum weir_ckpt_role role,
                  weir_ckpt_config *ret);
weir_ckpt *steps_open(const weir_ckpt_config *cfg);
void steps_close(weir_ckpt *c);
/* The fast tier belongs to no store any more. */
void steps_unlink(const struct steps *s);

#endif
