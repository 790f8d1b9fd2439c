/* split.c - the training part and the held-out part of a data set.
 * SPDX-License-Identifier: Apache-2.0
 *
 * With p = ppm and M = a million, stratum j begins at sample floor(j M / p) and
 * holds at least two. The smallest j whose floor(j a / b) is above x, less one,
 * is ceil((x + 1) b / a) - 1: that inverts both this and, with M - p for M, the
 * number of training samples in front of a stratum. */
#include "pipeline/split.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"

#define MILLION      UINT64_C(1000000)
#define PICK_STREAM  UINT64_C(0x73706c6974) /* apart from all other uses */
#define ID_STREAM    UINT64_C(0x73706c6975)
#define RANGE_STREAM UINT64_C(0x73706c6976)

/* x a / b without overflow. */
static uint64_t scale(uint64_t x, uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)x * a / b);
}

/* The last j with floor(j a / b) <= x. */
static uint64_t last_at(uint64_t x, uint64_t a, uint64_t b)
{
    unsigned __int128 top = ((unsigned __int128)x + 1) * b;

    return (uint64_t)((top + a - 1) / a - 1);
}

static uint64_t stratum_begin(const struct wr_split *s, uint64_t j)
{
    return scale(j, MILLION, s->ppm);
}

static uint64_t stratum_of(const struct wr_split *s, uint64_t sample)
{
    return last_at(sample, MILLION, s->ppm);
}

/* The sample of stratum j that is held out. */
static uint64_t held_out(const struct wr_split *s, uint64_t j)
{
    uint64_t begin = stratum_begin(s, j);
    uint64_t width = stratum_begin(s, j + 1) - begin;

    return begin + wr_rng_at(s->seed, PICK_STREAM, j) % width;
}

/* Samples below `n` that are held out. */
static uint64_t held_out_below(const struct wr_split *s, uint64_t n)
{
    uint64_t j;

    if (!n)
        return 0;
    j = stratum_of(s, n - 1);
    return j + (held_out(s, j) < n);
}

static uint64_t ppm_of(float holdout)
{
    return (uint64_t)((double)holdout * (double)MILLION + 0.5);
}

struct wr_split wr_split_of(const weir_pipeline_config *cfg)
{
    return (struct wr_split){.ppm = ppm_of(cfg->holdout),
                             .seed = cfg->split_seed,
                             .part = cfg->part,
                             .first = cfg->sample_first,
                             .count = cfg->sample_count};
}

/* Samples of the range among the first n. */
static uint64_t range_count(const struct wr_split *s, uint64_t n)
{
    uint64_t behind = n - WR_MIN(s->first, n);

    return s->count ? WR_MIN(s->count, behind) : behind;
}

uint64_t wr_split_count(const struct wr_split *s, uint64_t n)
{
    switch (s->part) {
    case WEIR_PART_TRAIN:
        return n - held_out_below(s, n);
    case WEIR_PART_HELD_OUT:
        return held_out_below(s, n);
    case WEIR_PART_ALL:
        break;
    }
    return range_count(s, n);
}

static uint64_t train_sample(const struct wr_split *s, uint64_t k)
{
    uint64_t j = last_at(k, MILLION - s->ppm, s->ppm);
    uint64_t sample = k + j; /* as many are held out in front of its stratum */

    return sample + (sample >= held_out(s, j));
}

uint64_t wr_split_sample(const struct wr_split *s, uint64_t k)
{
    switch (s->part) {
    case WEIR_PART_TRAIN:
        return train_sample(s, k);
    case WEIR_PART_HELD_OUT:
        return held_out(s, k);
    case WEIR_PART_ALL:
        break;
    }
    return s->first + k;
}

uint64_t wr_split_place(const struct wr_split *s, uint64_t sample)
{
    assert(s->part == WEIR_PART_ALL || wr_split_part(s, sample) == s->part);
    switch (s->part) {
    case WEIR_PART_TRAIN:
        return sample - held_out_below(s, sample);
    case WEIR_PART_HELD_OUT:
        return stratum_of(s, sample);
    case WEIR_PART_ALL:
        break;
    }
    return sample - s->first;
}

enum weir_part wr_split_part(const struct wr_split *s, uint64_t sample)
{
    return held_out(s, stratum_of(s, sample)) == sample ? WEIR_PART_HELD_OUT
                                                        : WEIR_PART_TRAIN;
}

uint64_t wr_split_id(const struct wr_split *s)
{
    if (s->part == WEIR_PART_ALL && !s->first && !s->count)
        return 0;
    if (s->part == WEIR_PART_ALL)
        return wr_rng_at(s->first, RANGE_STREAM, s->count) | 1;
    return wr_rng_at(s->seed, ID_STREAM, s->ppm << 8 | s->part) | 1;
}

/* --- what users ask for --- */

static bool is_holdout(float holdout)
{
    return holdout > 0 && holdout <= 0.5f && ppm_of(holdout) >= 1;
}

int wr_split_check(const weir_pipeline_config *cfg, weir_err *err)
{
    if (cfg->part > WEIR_PART_HELD_OUT)
        return wr_fail(err, WEIR_EINVAL,
                       "part: %u is not one of all, train, held-out",
                       (unsigned)cfg->part);
    if (cfg->holdout != 0 && !is_holdout(cfg->holdout))
        return wr_fail(err, WEIR_EINVAL,
                       "holdout: %g is not between 0.000001 and 0.5",
                       (double)cfg->holdout);
    if (cfg->part != WEIR_PART_ALL && cfg->holdout == 0)
        return wr_fail(err, WEIR_EINVAL,
                       "part: there are no parts without a holdout");
    if ((cfg->sample_first || cfg->sample_count) && cfg->holdout != 0)
        return wr_fail(err, WEIR_EINVAL,
                       "sample_first: a range of samples has no holdout");
    return 0;
}

int wr_split_check_count(const weir_pipeline_config *cfg, const char *name,
                         uint64_t n, weir_err *err)
{
    const struct wr_split s = wr_split_of(cfg);

    if (wr_split_count(&s, n) || !n)
        return 0;
    if (s.part == WEIR_PART_ALL)
        return wr_fail(err, WEIR_ENOENT,
                       "'%s': has no sample %" PRIu64 ": it has %" PRIu64, name,
                       s.first, n);
    return wr_fail(err, WEIR_ENOENT,
                   "'%s': holdout %g leaves none of its %" PRIu64
                   " samples for this part",
                   name, (double)cfg->holdout, n);
}

enum weir_part weir_split_part(float holdout, uint64_t split_seed,
                               uint64_t sample)
{
    struct wr_split s = {.seed = split_seed};

    if (!is_holdout(holdout))
        return WEIR_PART_ALL;
    s.ppm = ppm_of(holdout);
    return wr_split_part(&s, sample);
}
