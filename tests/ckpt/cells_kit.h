/* cells_kit.h - two tiers with a past, and what is left of it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A save is known by its step and its salt, which are what its tensor holds;
 * copies of it by the id in their manifests. */
#ifndef CKPT_CELLS_KIT_H
#define CKPT_CELLS_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/ckpt_manage.h"

#define CELLS_PATH  400
#define CELLS_MOST  120
#define CELLS_TEXT  2000 /* room for what is told */
#define CELLS_ID    33
#define CELLS_EMPTY INT64_C(-1000000) /* in place of a step: none */

struct cells {
    char dir[100];
    char fast[CELLS_PATH], slow[CELLS_PATH]; /* are not made */
};

/* cmocka's setup and teardown; *state is the struct cells. */
int cells_setup(void **state);
int cells_teardown(void **state);

/* "DIR/NAME"; good for many calls. */
const char *cells_at(const char *dir, const char *name);

/* --- saving and restoring --- */

/* Keeps all steps; nothing waits for a drain. `slow` NULL: one tier. */
void cells_config(const char *fast, const char *slow, enum weir_ckpt_role role,
                  weir_ckpt_config *ret);
weir_ckpt *cells_open(const weir_ckpt_config *cfg); /* must */
void cells_close(weir_ckpt *c); /* must; no problem is left */
/* Closes whatever was told before; all problems as one text. */
void cells_drop(weir_ckpt *c, char *told, size_t cap);

int cells_put(weir_ckpt *c, uint64_t step, unsigned salt, enum weir_level level,
              weir_err *err);
void cells_save(weir_ckpt *c, uint64_t step, enum weir_level level); /* must */

/* Adds what weir_ckpt_problem tells to the text; how many there were. */
unsigned cells_problems(weir_ckpt *c, char *told, size_t cap);

/* What a restore finds: the step, CELLS_EMPTY, or an error's code. Adds what was
 * passed over to `told` (may be NULL), and fails the test when the values are
 * not those of the step. */
int64_t cells_restore(weir_ckpt *c, uint64_t step, char *told, size_t cap);
/* The same of the newest one by a reader; the error's text is told, too. */
int64_t cells_latest(const char *fast, const char *slow, char *told,
                     size_t cap);

/* A life of a trainer: restores `from` (0: nothing), saves the steps from
 * `first` to `last`, goes. Levels of FAST and below are not drained. Keeps
 * all. */
struct cells_life {
    uint64_t from, first, last;
    enum weir_level level;
    uint32_t keep_last; /* 0: all */
    bool keeps_none;    /* keep_fast is 0 */
    unsigned salt;
};
void cells_live(const char *fast, const char *slow, struct cells_life life);

/* --- folders --- */

/* One copy, as its manifest has it; missing fields are 0 and "". */
struct cells_copy {
    uint64_t step, generation, seq;
    char id[CELLS_ID], store[CELLS_ID], nonce[CELLS_ID];
    bool aside;
};

struct cells_copies {
    unsigned count;
    struct cells_copy all[CELLS_MOST];
};

/* Adds the copies in a folder; none is fine. */
void cells_look(const char *dir, struct cells_copies *add);
const struct cells_copy *cells_find(const struct cells_copies *in,
                                    const char *id);
/* The one of a step that is not set aside; NULL. */
const struct cells_copy *cells_of(const struct cells_copies *in, uint64_t step);
/* a was saved after b, by counting. */
bool cells_is_newer(const struct cells_copy *a, const struct cells_copy *b);

/* cp -r FROM/. TO, or (without dots) cp -r FROM/STAR TO. */
void cells_copy(const char *from, const char *to, bool dots);
void cells_remove(const char *dir);
/* Entries whose names begin so. */
unsigned cells_count(const char *dir, const char *prefix);
/* The id in a folder's .weir/store; "" when there is none. */
void cells_store_id(const char *dir, char ret[CELLS_ID]);

/* --- what many tests ask --- */

/* What opening returns; nothing stays open. */
int cells_open_code(const char *fast, const char *slow,
                    enum weir_ckpt_role role, weir_err *err);
/* What a process of its own that drains returns. */
int cells_drain_code(const char *fast, const char *slow, weir_err *err);
void cells_adopt(const char *fast,
                 const char *slow); /* must; nothing is left */
/* A reader restores that step as the newest; must. */
void cells_must_find(const char *fast, const char *slow, int64_t step);
/* Steps in a folder as text, "51 52 53"; good until the next call. */
const char *cells_steps(const char *dir);

/* --- the past that most tests share ---
 *
 * generation 1: 48, 49, 50; 2: 98, 99, 100; 3 went back to 50: 51, 52;
 * then both tiers are backed up (fast-then, slow-then); 4: 53, and 54, 55 that
 * only the fast tier has, which also keeps 53. All others are verified. */
void cells_history(const struct cells *s);

#endif
