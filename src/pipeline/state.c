/* state.c - how far an epoch is: a few integers, as bytes and back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/state.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"
#include "base/mem.h"

#define MAGIC      UINT64_C(0x3130545352494557) /* "WEIRST01" */
#define MAGIC_2    UINT64_C(0x3230545352494557) /* "WEIRST02": has `dealt` */
#define MAGIC_3    UINT64_C(0x3330545352494557) /* "WEIRST03": as written now */
#define HEADER     9 /* words before the list, the last is its length */
#define EPOCH_WORD 2 /* batches << 32 | epoch */
#define LIST_WORD  8 /* dealt << 32 | length of the list */
#define RANK_WORD  6 /* rank << 32 | world */
#define SPLIT_WORD 7
#define MAX_TAKEN  ((size_t)1 << 24)

void wr_state_done(struct wr_state *s)
{
    free(s->taken);
    s->taken = NULL;
    s->taken_count = s->taken_cap = 0;
}

/* Number of entries of `taken` that are < position. */
static size_t taken_below(const struct wr_state *s, uint64_t position)
{
    size_t lo = 0, hi = s->taken_count;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (s->taken[mid] < position)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool wr_state_take(struct wr_state *s, uint64_t position)
{
    size_t at = taken_below(s, position);

    if (at < s->taken_count && s->taken[at] == position)
        return true;
    if (!wr_grow(&s->taken, &s->taken_cap, s->taken_count + 1,
                 sizeof(*s->taken)))
        return false;
    memmove(&s->taken[at + 1], &s->taken[at],
            (s->taken_count - at) * sizeof(*s->taken));
    s->taken[at] = position;
    s->taken_count++;
    return true;
}

void wr_state_advance(struct wr_state *s, uint64_t position)
{
    size_t gone = taken_below(s, position);

    s->position = position;
    if (!gone)
        return;
    s->taken_count -= gone;
    memmove(s->taken, s->taken + gone, s->taken_count * sizeof(*s->taken));
}

size_t wr_state_write(const struct wr_state *s, void *buf, size_t cap)
{
    uint64_t head[HEADER] = {
        MAGIC_3,
        s->seed,
        (uint64_t)s->batches << 32 | (uint32_t)s->epoch,
        s->position,
        s->samples,
        s->order_id,
        (uint64_t)s->rank << 32 | s->world,
        s->split_id,
        (uint64_t)WR_MAX(s->dealt, 1u) << 32 | s->taken_count,
    };
    size_t words = HEADER + s->taken_count;
    size_t len = (words + 1) * sizeof(uint64_t);
    uint8_t *out = buf;
    uint64_t word;

    if (cap < len)
        return len;
    for (size_t i = 0; i < words; i++) {
        word = htole64(i < HEADER ? head[i] : s->taken[i - HEADER]);
        memcpy(out + i * sizeof(word), &word, sizeof(word));
    }
    word = htole64(XXH64(out, words * sizeof(word), 0));
    memcpy(out + words * sizeof(word), &word, sizeof(word));
    return len;
}

static uint64_t word_at(const void *buf, size_t i)
{
    uint64_t word;

    memcpy(&word, (const uint8_t *)buf + i * sizeof(word), sizeof(word));
    return le64toh(word);
}

/* Words before the list. */
static size_t header_of(const void *buf)
{
    return HEADER + (word_at(buf, 0) == MAGIC_2);
}

static bool is_known(const void *buf)
{
    uint64_t magic = word_at(buf, 0);

    return magic == MAGIC || magic == MAGIC_2 || magic == MAGIC_3;
}

static uint64_t list_length(const void *buf)
{
    uint64_t word = word_at(buf, header_of(buf) - 1);

    return word_at(buf, 0) == MAGIC_3 ? (uint32_t)word : word;
}

/* The ranks that the epoch is dealt to; 0 is none. */
static uint64_t dealt_of(const void *buf)
{
    uint64_t magic = word_at(buf, 0), word = word_at(buf, LIST_WORD);

    return magic == MAGIC ? 1 : magic == MAGIC_2 ? word : word >> 32;
}

static int check_frame(const void *buf, size_t len, weir_err *err)
{
    size_t words = len / sizeof(uint64_t), header;

    if (len % sizeof(uint64_t) || words < HEADER + 1 || !is_known(buf))
        return wr_fail(err, WEIR_EFORMAT, "not a pipeline state");
    if (word_at(buf, words - 1) !=
        XXH64(buf, (words - 1) * sizeof(uint64_t), 0))
        return wr_fail(err, WEIR_EFORMAT, "pipeline state: checksum mismatch");
    header = header_of(buf);
    if (words < header + 1 || words - header - 1 > MAX_TAKEN ||
        list_length(buf) != words - header - 1)
        return wr_fail(err, WEIR_EFORMAT, "pipeline state: wrong length");
    return 0;
}

static int read_taken(const void *buf, struct wr_state *s, weir_err *err)
{
    size_t header = header_of(buf);
    uint64_t count = list_length(buf);

    if (count && !wr_grow(&s->taken, &s->taken_cap, count, sizeof(*s->taken)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint64_t i = 0; i < count; i++) {
        s->taken[i] = word_at(buf, header + i);
        if (s->taken[i] < s->position || s->taken[i] >= s->samples ||
            (i && s->taken[i] <= s->taken[i - 1]))
            return wr_fail(err, WEIR_EFORMAT,
                           "pipeline state: positions out of order");
    }
    s->taken_count = count;
    return 0;
}

int wr_state_read(const void *buf, size_t len, struct wr_state *ret,
                  weir_err *err)
{
    struct wr_state s = {0};
    uint64_t dealt;
    int r = check_frame(buf, len, err);

    if (r < 0)
        return r;
    s.seed = word_at(buf, 1);
    s.epoch = word_at(buf, EPOCH_WORD);
    if (word_at(buf, 0) == MAGIC_3) {
        s.batches = (uint32_t)(s.epoch >> 32);
        s.epoch = (uint32_t)s.epoch;
    }
    s.position = word_at(buf, 3);
    s.samples = word_at(buf, 4);
    s.order_id = word_at(buf, 5);
    s.rank = (uint32_t)(word_at(buf, RANK_WORD) >> 32);
    s.world = (uint32_t)word_at(buf, RANK_WORD);
    s.split_id = word_at(buf, SPLIT_WORD);
    dealt = dealt_of(buf);
    s.dealt = (uint32_t)dealt;
    if (s.position > s.samples || s.rank >= s.world || !dealt ||
        dealt > UINT32_MAX || s.epoch > UINT32_MAX)
        return wr_fail(err, WEIR_EFORMAT, "pipeline state: out of range");
    r = read_taken(buf, &s, err);
    if (r < 0) {
        wr_state_done(&s);
        return r;
    }
    *ret = s;
    return 0;
}

/* An epoch that was resumed with another number of ranks is dealt as it began,
 * the next one as there are ranks: that tells runs apart within an epoch only. */
static int merge_one(struct wr_state *sum, const struct wr_state *s,
                     weir_err *err)
{
    if (s->seed != sum->seed || s->samples != sum->samples ||
        s->order_id != sum->order_id || s->split_id != sum->split_id ||
        s->world != sum->world ||
        (s->epoch == sum->epoch && s->dealt != sum->dealt))
        return wr_fail(err, WEIR_EINVAL,
                       "pipeline states are not of the same run");
    if (s->epoch != sum->epoch || s->position != sum->position)
        return wr_fail(err, WEIR_EINVAL,
                       "pipeline states are of different steps (epoch %" PRIu64
                       " position %" PRIu64 ", epoch %" PRIu64
                       " position %" PRIu64 ")",
                       sum->epoch, sum->position, s->epoch, s->position);
    /* At the end of an epoch one rank may have had a batch more. */
    sum->batches = WR_MAX(sum->batches, s->batches);
    for (size_t i = 0; i < s->taken_count; i++)
        if (!wr_state_take(sum, s->taken[i]))
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

/* The rank of state i must not be among those before it. */
static int check_rank(const void *const *bufs, size_t i, weir_err *err)
{
    for (size_t k = 0; k < i; k++)
        if (word_at(bufs[k], RANK_WORD) == word_at(bufs[i], RANK_WORD))
            return wr_fail(err, WEIR_EINVAL,
                           "two pipeline states are of rank %" PRIu64,
                           word_at(bufs[i], RANK_WORD) >> 32);
    return 0;
}

int wr_state_merge(const void *const *bufs, const size_t *lens, size_t count,
                   struct wr_state *ret, weir_err *err)
{
    struct wr_state sum, s;
    int r = wr_state_read(bufs[0], lens[0], &sum, err);

    if (r < 0)
        return r;
    for (size_t i = 1; i < count && r == 0; i++) {
        r = wr_state_read(bufs[i], lens[i], &s, err);
        if (r < 0)
            break;
        r = merge_one(&sum, &s, err);
        if (r == 0)
            r = check_rank(bufs, i, err);
        wr_state_done(&s);
    }
    if (r == 0 && sum.taken_count && count < sum.world)
        r = wr_fail(err, WEIR_EINVAL,
                    "bad samples were skipped in this epoch: the states of "
                    "all %" PRIu32 " ranks are needed, not %zu",
                    sum.world, count);
    if (r < 0) {
        wr_state_done(&sum);
        return r;
    }
    *ret = sum;
    return 0;
}

uint64_t wr_state_remaining(const struct wr_state *s)
{
    return s->samples - s->position - s->taken_count;
}

uint64_t wr_state_position_at(const struct wr_state *s, uint64_t k)
{
    size_t lo = 0, hi = s->taken_count;

    /* The answer is position + k + (taken entries at or before it): find how
     * many entries have at most k free positions in front of them. */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (s->taken[mid] - s->position - mid <= k)
            lo = mid + 1;
        else
            hi = mid;
    }
    return s->position + k + lo;
}
