/* log.h - what went wrong in the background: which save, at which level.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every error has one entry, whoever meets it: the next call, who waits for the
 * save, the drain that does not try it again. Who returns it has told it for
 * all. Entries that were told go when nobody can ask for them any more: those of
 * a save with the save (WR_TIMES_KEPT), those of a step that the drain gave up
 * with the step, attempts with WR_LOG_ATTEMPTS newer ones. */
#ifndef WR_CHECKPOINT_LOG_H
#define WR_CHECKPOINT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tier/manifest.h"
#include "weir/checkpoint.h"

#define WR_STEP_NONE    (UINT64_MAX - 1)
#define WR_LOG_ATTEMPTS 32u

enum wr_log_kind {
    WR_LOG_NOTE,    /* of no save */
    WR_LOG_ATTEMPT, /* at draining, which will be repeated */
    WR_LOG_END,     /* a save gets no further, or a step */
};

struct wr_log_entry {
    enum wr_log_kind kind;
    enum weir_level level;   /* that was to be reached */
    uint64_t seq;            /* the save of this run; 0: none of it */
    uint64_t step;           /* WEIR_LATEST: all of them; WR_STEP_NONE: none */
    char id[WR_MANIFEST_ID]; /* of the step's manifest; "": cannot be read */
    bool marked;             /* the step, as damaged, on the near tier */
    bool due;                /* not told yet: the next call does */
    uint64_t number;         /* rising, from 1 */
    weir_err err;
    size_t reason; /* where in its text the reason begins, behind the names */
};

struct wr_log {
    struct wr_log_entry *all; /* owned; rising */
    size_t count, cap;
    uint64_t last; /* number */
};

/* Memory for the first ones, so that a lack of it is told, too. */
bool wr_log_init(struct wr_log *l);
void wr_log_done(struct wr_log *l);

/* Adds an entry and gives it its number, which is returned. `oldest` is the
 * first save that can still be asked for. */
uint64_t wr_log_add(struct wr_log *l, const struct wr_log_entry *e,
                    uint64_t oldest);
/* Whether one waits to be told; the first one, or NULL. */
struct wr_log_entry *wr_log_due(struct wr_log *l);
/* A call returns it; it is not told again. */
void wr_log_told(struct wr_log *l, uint64_t number);

/* Why a save gets no further; NULL: it may. */
struct wr_log_entry *wr_log_end(struct wr_log *l, uint64_t seq);
/* Why a step is not drained, by its manifest's id (NULL: any); NULL: it is. */
struct wr_log_entry *wr_log_given_up(struct wr_log *l, uint64_t step,
                                     const char *id);
/* The last attempt after number `since` that has to do with the step
 * (WEIR_LATEST: any); NULL: none. */
const struct wr_log_entry *wr_log_attempt(const struct wr_log *l, uint64_t step,
                                          uint64_t since);

#endif
