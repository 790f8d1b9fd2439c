/* saves.h - two folders, a state of one number, and what was saved of it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_CHECKPOINT_SAVES_H
#define TEST_CHECKPOINT_SAVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/ckpt_manage.h"

#define SAVES_PATH  400
#define SAVES_COUNT 50000 /* elements of the tensor */

/* The folders are not made. `w` is the state: SAVES_COUNT times a number. */
struct saves {
    char root[200], fast[220], slow[220];
    uint32_t *w;
    weir_tensor tensor;
    weir_ckpt_state state;
};

/* From here on folders are in memory, where that is possible: a busy disk may take
 * longer to sync than a test waits for storage that hangs. */
void saves_in_memory(void);

/* cmocka's setup and teardown; *state is the struct saves. */
int saves_setup(void **state);
int saves_teardown(void **state);

/* Defaults and one or two of the folders; `fast_rules` and `slow_rules` are
 * those of the fault store (NULL: none). Texts live as long as `s`. */
struct saves_tiers {
    bool two;
    const char *fast_rules, *slow_rules;
};
weir_ckpt_config saves_config(const struct saves *s, struct saves_tiers t);

weir_ckpt *saves_open(const weir_ckpt_config *cfg); /* must */
void saves_close(weir_ckpt *c);                     /* must */

/* Saves the number as the state of a step. */
int saves_put(struct saves *s, weir_ckpt *c, uint64_t step, uint32_t number,
              enum weir_level level, weir_err *err);
void saves_must(struct saves *s, weir_ckpt *c, uint64_t step,
                enum weir_level level); /* with the number step + 1 */

/* The number of a step in a folder, all checksums checked; -1: no such step.
 * A damaged one fails the test. */
int64_t saves_number(const char *dir, uint64_t step);

/* Damages a step's manifest. */
void saves_damage(const char *dir, uint64_t step);

/* Waits for the step; must. */
void saves_wait(weir_ckpt *c, uint64_t step, enum weir_level level);

weir_ckpt_stats saves_stats(const weir_ckpt *c);

/* Names, sizes, inodes and times of all below the root, as text; free(). */
char *saves_tree(const struct saves *s);

unsigned saves_fds(void);
unsigned saves_threads(void);

#endif
