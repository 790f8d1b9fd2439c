/* watch.h - questions to the slow tier that nobody waits for in vain.
 * SPDX-License-Identifier: Apache-2.0
 *
 * While a store is open for saving, neither the caller's thread nor the writer's
 * calls the slow tier: they ask a thread of their own that does, wait for a
 * while, and go on without an answer when the tier hangs. A question that was
 * given up is still answered some time; who asks the same once more gets that
 * answer, so that a tier that is slow is only slow. */
#ifndef WR_CHECKPOINT_WATCH_H
#define WR_CHECKPOINT_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/mem.h"
#include "checkpoint/store.h"

struct wr_watch;

/* Long enough for any tier that works; who has gone without an answer once does
 * not wait again before there is one. */
#define WR_WATCH_BRIEFLY WR_NS_PER_SEC

/* Of a manifest's id in a question: questions are compared byte by byte, and have
 * no padding. */
#define WR_WATCH_ID WR_ALIGN_UP(WR_MANIFEST_ID, 8)

/* Looks at the far tier. `what` is the question and becomes the answer, without
 * pointers: it is copied. */
typedef int (*wr_watch_fn)(weir_ckpt *c, void *what, weir_err *err);

int wr_watch_new(weir_ckpt *c, struct wr_watch **ret, weir_err *err);
/* Tells the thread to end and waits until it has; whether that came by then. */
bool wr_watch_halt(struct wr_watch *w, uint64_t deadline_ns);
/* After that. A thread that has not ended gets a reference to the store. NULL is
 * fine. */
void wr_watch_free(struct wr_watch *w);

/* What `look` returns, by the thread, which is started with the first question;
 * in the caller's where the store has none. WEIR_ETIMEDOUT: no answer within
 * `patience_ns` (UINT64_MAX: for ever); `what` is as it was. Without
 * weir_ckpt.lock. */
int wr_watch_ask(weir_ckpt *c, wr_watch_fn look, void *what, size_t size,
                 uint64_t patience_ns, weir_err *err);
/* How long the far tier has not answered the last question; NULL is fine. */
uint64_t wr_watch_silent_ns(struct wr_watch *w);

#endif
