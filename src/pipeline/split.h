/* split.h - the training part and the held-out part of a data set.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The samples, in the order of the data set, are cut into strata of 1 / holdout
 * samples; of each one is held out, chosen by a hash of the seed and the
 * stratum. So the part of a sample is a function of (holdout, seed, sample)
 * alone: it stays what it is when samples are appended, it needs no list, the
 * parts keep the order, and where classes lie together each of them gives its
 * share. */
#ifndef WR_PIPELINE_SPLIT_H
#define WR_PIPELINE_SPLIT_H

#include <stdint.h>

#include "weir/pipeline.h"
#include "weir/split.h"

struct wr_split {
    uint64_t ppm; /* held out, of a million; 1 to 500,000; ALL: any */
    uint64_t seed;
    enum weir_part part;   /* the one that is meant */
    uint64_t first, count; /* ALL: of these samples; count 0: all that follow */
};

/* The split of settings that were checked. */
struct wr_split wr_split_of(const weir_pipeline_config *cfg);

/* Samples of the part among the first n of the data set. */
uint64_t wr_split_count(const struct wr_split *s, uint64_t n);

/* The k-th sample of the part; grows with k. */
uint64_t wr_split_sample(const struct wr_split *s, uint64_t k);

/* The inverse, of a sample that is in the part. */
uint64_t wr_split_place(const struct wr_split *s, uint64_t sample);

/* Which of the two a sample belongs to. */
enum weir_part wr_split_part(const struct wr_split *s, uint64_t sample);

/* A number that differs between splits; 0: all samples. */
uint64_t wr_split_id(const struct wr_split *s);

/* Whether these settings are a split; a message begins with the name of the
 * field. */
int wr_split_check(const weir_pipeline_config *cfg, weir_err *err);

/* Whether the part has any of the n samples of the data set `name`. */
int wr_split_check_count(const weir_pipeline_config *cfg, const char *name,
                         uint64_t n, weir_err *err);

#endif
