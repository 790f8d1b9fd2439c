/* ledger.h - what a workload was promised, and so what must be found later.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The workload tells events; whoever cuts the power or kills it keeps those
 * that came before that. An event is plain data: it may go through a pipe. */
#ifndef LEDGER_H
#define LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/ckpt_manage.h"

enum scn_what {
    SCN_BEGUN,      /* a save begins: from now on the step may be there */
    SCN_REACHED,    /* the step has reached `level` */
    SCN_BACK_BEGUN, /* steps above `step` are taken away: may be gone */
    SCN_BACK_DONE,  /* they are gone for good */
    SCN_PRUNED,     /* only the newest `step` ones must be there */
    SCN_PINNED,
    SCN_UNPINNED,
    SCN_GO, /* what is to be killed begins */
};

struct scn_event {
    uint32_t what;  /* enum scn_what */
    uint32_t level; /* enum weir_level, of SCN_REACHED */
    uint64_t step;
    uint64_t salt; /* tells two saves of a step apart */
};

#define SCN_SAVES 64

/* One save that was begun. */
struct scn_save {
    uint64_t step, salt;
    enum weir_level level; /* 0: nothing was promised */
    bool pinned;
    bool may_go, gone; /* taken away: begun, done */
};

struct scn_ledger {
    unsigned keep_last; /* of the workload */
    uint64_t keep_every;
    struct scn_save saves[SCN_SAVES];
    size_t count;
};

void scn_note(struct scn_ledger *l, const struct scn_event *e);
/* What of it holds for a place that was promised nothing below `level`. */
void scn_from(struct scn_ledger *l, enum weir_level level);
/* Those of two ledgers that are alike are alike. */
uint64_t scn_sum(const struct scn_ledger *l);

/* The save that a step found is of; NULL: it must not be there. */
const struct scn_save *scn_find(const struct scn_ledger *l, uint64_t step,
                                uint64_t salt);
/* The newest step that must be there where `level` was promised; false: none. */
bool scn_newest(const struct scn_ledger *l, enum weir_level level,
                uint64_t *ret_step);
/* Whether this very one must be there: pinned, or a multiple. */
bool scn_must_stay(const struct scn_ledger *l, const struct scn_save *s,
                   enum weir_level level);
/* How many steps must be there at least. */
unsigned scn_at_least(const struct scn_ledger *l, enum weir_level level);

#endif
