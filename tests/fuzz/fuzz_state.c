/* fuzz_state.c - saved states of a pipeline.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "pipeline/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read must hold together, and read the same once written. */
static void check(const struct wr_state *s)
{
    uint64_t left = wr_state_remaining(s);
    size_t len = wr_state_write(s, NULL, 0);
    uint8_t *buf = malloc(len);
    struct wr_state again;

    if (s->position > s->samples || left > s->samples - s->position)
        abort();
    if (left && wr_state_position_at(s, left - 1) >= s->samples)
        abort();
    if (!buf || wr_state_write(s, buf, len) != len ||
        wr_state_read(buf, len, &again, NULL) < 0)
        abort();
    if (again.taken_count != s->taken_count || again.position != s->position ||
        again.epoch != s->epoch || again.batches != s->batches)
        abort();
    wr_state_advance(&again, s->samples);
    if (again.taken_count)
        abort();
    wr_state_done(&again);
    free(buf);
}

static void read_one(const void *bytes, size_t len)
{
    struct wr_state s;
    weir_err err;

    if (wr_state_read(bytes, len, &s, &err) < 0)
        return;
    check(&s);
    wr_state_done(&s);
}

/* Gives the bytes the frame of a state, so that what is inside is reached. */
static void frame(uint8_t *bytes, size_t len)
{
    uint64_t sum;

    if (len < 80)
        return;
    memcpy(bytes, "WEIRST0", 7);
    if (bytes[7] < '1' || bytes[7] > '3')
        bytes[7] = '1';
    sum = XXH64(bytes, len - 8, 0);
    memcpy(bytes + len - 8, &sum, sizeof(sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t half = size / 16 * 8;
    const void *bufs[2];
    size_t lens[2] = {half, half};
    struct wr_state sum;
    uint8_t *copy = malloc(size + 1);
    weir_err err;

    if (!copy)
        return 0;
    read_one(data, size);
    memcpy(copy, data, size);
    frame(copy, size / 8 * 8);
    read_one(copy, size / 8 * 8);
    memcpy(copy, data, size);
    frame(copy, half);
    frame(copy + half, half);
    bufs[0] = copy;
    bufs[1] = copy + half;
    if (wr_state_merge(bufs, lens, 2, &sum, &err) == 0) {
        check(&sum);
        wr_state_done(&sum);
    }
    free(copy);
    return 0;
}
