/* room.h - two folders to save in and a canary beside them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The state of a step is a function of its number, so that what is restored
 * tells which step it is. The canary is a tree that links in the folders lead
 * to, and that must stay as it is, times included. */
#ifndef CKPT_ROOM_H
#define CKPT_ROOM_H

#include <stdbool.h>
#include <sys/stat.h>

#include "weir/ckpt_manage.h"

#define ROOM_FLOATS   5000
#define ROOM_CANARIES 6

struct room {
    char dir[200];
    char fast[220], slow[220]; /* folders */
    char canary[220];
    struct stat was[ROOM_CANARIES];
    unsigned tiers; /* 1 or 2 */
    float *w;       /* owned: what is saved, ROOM_FLOATS */
};

/* For cmocka: a room of one or two tiers. */
int room_setup_one(void **state);
int room_setup_two(void **state);
int room_teardown(void **state);

/* "FAST/NAME" (or any folder); good until the next call but three. */
const char *room_at(const char *dir, const char *name);

/* A config of this room, with URLs that may be NULL: the plain folders. */
void room_config(const struct room *rm, const char *fast, const char *slow,
                 weir_ckpt_config *ret);

/* The one tensor, on rm->w, and whether that is the state of `step`. */
weir_tensor room_tensor(const struct room *rm);
void room_check(const struct room *rm, uint64_t step);

int room_save(struct room *rm, weir_ckpt *c, uint64_t step,
              enum weir_level level, weir_err *err);
/* Opens, saves, waits for the last level, closes, without faults; fails the
 * test when it cannot. */
void room_must_save(struct room *rm, uint64_t step);
/* Restores `step` (WEIR_LATEST: the newest) from the plain folders and checks
 * every value. Returns the step that was found, 0 when there is none, and fails
 * the test when a call does. */
uint64_t room_must_restore(struct room *rm, uint64_t step);
/* Whether a call would find the step. */
bool room_has(struct room *rm, uint64_t step);

void room_canary_note(struct room *rm);
void room_canary_check(struct room *rm);

#endif
