/* player.h - threads that send things when they are due.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One thread sleeps until the earliest is due. Before it sends something that
 * takes long (`heavy`), it wakes another one to watch the clock meanwhile. */
#ifndef WR_MOUNT_PLAYER_H
#define WR_MOUNT_PLAYER_H

#include <stdbool.h>

#include "base/clock.h"
#include "weir/error.h"

struct wr_player;

struct wr_play {
    struct wr_due due; /* first: the heap's */
    bool heavy;        /* sending it takes long */
};

/* Sends and frees `item`; called from any of the threads, and from
 * wr_player_add when memory is short. */
typedef void (*wr_player_fn)(void *arg, struct wr_play *item);

int wr_player_start(struct wr_player **ret, unsigned threads, wr_player_fn send,
                    void *arg, weir_err *err);

/* Hands `item` over: it is sent at item->due.at_ns of wr_clock_ns(). */
void wr_player_add(struct wr_player *p, struct wr_play *item);

/* Whether something waits to be sent. */
bool wr_player_is_busy(struct wr_player *p);

/* Sends what is left at once, and ends the threads. Takes NULL. */
void wr_player_stop(struct wr_player *p);

#endif
