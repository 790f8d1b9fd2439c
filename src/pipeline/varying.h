/* varying.h - fields whose samples differ in length: kept, then joined.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where such a sample goes in the array of its batch is known when all of them
 * are there. Until then each has memory of its own. */
#ifndef WR_PIPELINE_VARYING_H
#define WR_PIPELINE_VARYING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory, aligned to 64 bytes. */
struct wr_kept {
    uint8_t *bytes; /* owned; NULL: none */
    size_t len, cap;
};

/* Large memory that was touched once is used again: to touch it for the first
 * time takes longer than to read into it. */
#define WR_SPARES 8u

struct wr_spares {
    pthread_mutex_t lock; /* guards the others; a leaf lock */
    struct wr_kept of[WR_SPARES];
    unsigned count;
};

void wr_spares_init(struct wr_spares *s);
void wr_spares_done(struct wr_spares *s);

/* One such field of one batch. */
struct wr_varying {
    struct wr_spares *spares; /* borrowed */
    struct wr_kept *kept;     /* owned: one entry per slot */
    uint32_t slots;
    struct wr_kept joined;
};

/* wr_varying_done also after a failure; false: no memory. */
bool wr_varying_init(struct wr_varying *v, struct wr_spares *spares,
                     uint32_t slots);
void wr_varying_done(struct wr_varying *v);

/* Memory of `len` bytes for the sample of a slot, in place of what it had;
 * NULL: there is none. Whoever has the slot's ticket. */
uint8_t *wr_varying_keep(struct wr_varying *v, uint32_t slot, size_t len);
/* The sample moves to another slot. */
void wr_varying_move(struct wr_varying *v, uint32_t from, uint32_t to);

/* Writes the samples behind each other, and where they begin and end to
 * ret_offsets[count + 1]; returns the bytes, aligned to 64, or NULL: no memory.
 * They stay until wr_varying_drop. */
const uint8_t *wr_varying_join(struct wr_varying *v, uint32_t count,
                               uint64_t *ret_offsets);
/* The samples are not needed any more. */
void wr_varying_drop(struct wr_varying *v);

#endif
