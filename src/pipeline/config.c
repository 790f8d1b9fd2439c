/* config.c - the settings of a pipeline: checks, what they mean here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/shares.h"
#include "base/thread.h"
#include "codec/augment.h"
#include "pipeline/arrays.h"
#include "pipeline/cache.h"
#include "pipeline/settings.h"
#include "pipeline/split.h"

/* Where WEIR_AUTO begins, and how far it goes. */
#define AUTO_DEPTH         32u
#define AUTO_PREFETCH      1u
#define AUTO_MOST_DEPTH    1024u
#define AUTO_MOST_PREFETCH 8u

/* Samples of more parts than this have so many reads in flight at most. */
#define WIDE       64u
#define WIDE_READS 2048u

/* --- checking what was asked for --- */

/* Are pictures of any field made by chance? */
static bool has_chance(const weir_pipeline_config *c)
{
    bool chance = c->picture.crop == WEIR_CROP_RANDOM || c->picture.flip;

    for (uint32_t i = 0; i < c->field_count && !chance; i++)
        chance = c->field[i].picture.crop == WEIR_CROP_RANDOM ||
                 c->field[i].picture.flip;
    return chance;
}

static int check_cache(const weir_pipeline_config *c, weir_err *err)
{
    bool decoded = c->cache_what == WEIR_CACHE_DECODED;

    if (!c->cache)
        return 0;
    if (decoded && has_chance(c))
        return wr_fail(
            err, WEIR_EINVAL,
            "a cache of decoded samples would repeat the same random "
            "crops and flips: cache encoded samples");
    if (decoded && c->stages != WEIR_STAGES_ALL)
        return wr_fail(err, WEIR_EINVAL,
                       "a cache of decoded samples needs all stages");
    return wr_cache_check_spec(c->cache, err);
}

static int check_fields(const weir_pipeline_config *c, weir_err *err)
{
    for (uint32_t i = 0; i < c->field_count; i++)
        if (!c->field || !c->field[i].name)
            return wr_fail(err, WEIR_EINVAL,
                           "field: entry %" PRIu32 " has no name", i);
    return 0;
}

static int check_all(const weir_pipeline_config *c, weir_err *err)
{
    int r = wr_settings_check(c, err);

    if (r < 0)
        return r;
    if (c->rank >= c->world)
        return wr_fail(err, WEIR_EINVAL,
                       "rank %" PRIu32 " is not below world %" PRIu32, c->rank,
                       c->world);
    for (int i = 0; i < 3; i++)
        if (!isfinite(c->picture.mean[i]) || !isfinite(c->picture.std[i]) ||
            c->picture.std[i] == 0)
            return wr_fail(err, WEIR_EINVAL,
                           "mean and std must be finite, std not 0");
    for (size_t i = 0; i < WR_ARRAY_LEN(c->picture.reserved); i++)
        if (c->picture.reserved[i])
            return wr_fail(err, WEIR_EINVAL, "picture.reserved must be 0");
    if (!c->alloc != !c->free)
        return wr_fail(err, WEIR_EINVAL, "alloc and free go together");
    r = check_fields(c, err);
    if (r == 0)
        r = wr_split_check(c, err);
    if (r == 0)
        r = wr_augment_check(&c->picture, err);
    return r < 0 ? r : check_cache(c, err);
}

/* What is left to the library, as far as it needs no data set. */
static void fill_numbers(weir_pipeline_config *c)
{
    if (!c->threads || c->threads == WEIR_AUTO)
        c->threads = wr_cpu_count();
    if (c->depth == WEIR_AUTO)
        c->depth = AUTO_DEPTH;
    if (c->prefetch == WEIR_AUTO)
        c->prefetch = AUTO_PREFETCH;
}

int wr_config_check(const weir_pipeline_config *cfg, weir_err *err)
{
    weir_pipeline_config c = *cfg;

    fill_numbers(&c);
    return check_all(&c, err);
}

static int check_config(const weir_dataset *ds, const weir_pipeline_config *c,
                        weir_err *err)
{
    int r = check_all(c, err);

    if (r < 0)
        return r;
    if (!wr_index_count(ds->index))
        return wr_fail(err, WEIR_ENOENT, "'%s': no samples", ds->url);
    return wr_split_check_count(c, ds->url, wr_index_count(ds->index), err);
}

/* --- what is left to us --- */

/* Samples of about 1.5 MiB together: what a request may be made of. A gzip
 * object is inflated as a whole, so its samples had better be used together. */
static uint32_t usual_block(const weir_dataset *ds)
{
    const struct wr_index *ix = ds->index;
    uint64_t n = WR_MAX(wr_index_count(ix), (uint64_t)1);
    uint64_t mean = WR_MAX(wr_index_bytes(ix) / n, (uint64_t)1);
    uint64_t block = ((uint64_t)3 << 19) / mean;
    uint64_t chunk = wr_index_tile_samples(ix);
    struct wr_part first;

    wr_index_part(ix, 0, 0, &first);
    if (chunk) /* whole chunks, so that each is unpacked once */
        block = WR_MAX(block / chunk, (uint64_t)1) * chunk;
    else if (wr_part_is_packed(&first))
        block = n / WR_MAX(wr_index_object_count(ix), (uint64_t)1);
    return (uint32_t)WR_MIN(WR_MAX(block, (uint64_t)1), (uint64_t)65536);
}

uint64_t wr_config_memory(const weir_pipeline_config *c)
{
    return c->memory ? c->memory : wr_share_all(WR_SHARE_MEMORY);
}

/* As far as half of the memory reaches for each of reads and batches. */
static void most_of(const weir_dataset *ds, weir_pipeline_config *c,
                    struct wr_knobs *most)
{
    uint64_t half = wr_config_memory(c) / 2;
    uint64_t n = wr_index_count(ds->index);
    uint64_t mean = wr_index_bytes(ds->index) / WR_MAX(n, (uint64_t)1);
    uint64_t depth = half / most->threads / (2 * mean + 4096);
    struct wr_arrays arrays;
    uint64_t batches;

    most->depth = (uint32_t)WR_MIN(WR_MAX(depth, (uint64_t)1),
                                   (uint64_t)AUTO_MOST_DEPTH);
    wr_arrays_init(&arrays, ds, c, NULL);
    batches = half / WR_MAX((uint64_t)arrays.bytes, (uint64_t)1);
    if (arrays.parts > WIDE) { /* each part may be a read of its own */
        uint32_t fit = WR_MAX(WIDE_READS / arrays.parts, 1u);

        most->depth = WR_MIN(most->depth, fit);
        c->depth = WR_MIN(c->depth, fit);
    }
    wr_arrays_done(&arrays);
    most->prefetch = (uint32_t)WR_MIN(WR_MAX(batches, (uint64_t)3) - 2,
                                      (uint64_t)AUTO_MOST_PREFETCH);
}

int wr_config_settle(const weir_dataset *ds, weir_pipeline_config *c,
                     struct wr_tune *ret_tune, weir_err *err)
{
    const bool is_auto[] = {c->threads == WEIR_AUTO, c->depth == WEIR_AUTO,
                            c->prefetch == WEIR_AUTO};
    struct wr_knobs first, most;
    int r;

    fill_numbers(c);
    first.threads = most.threads = c->threads;
    r = check_config(ds, c, err);
    if (r < 0)
        return r;
    if (!c->block_samples)
        c->block_samples = usual_block(ds);
    wr_share_raise(WR_SHARE_MEMORY, c->memory);
    most_of(ds, c, &most);
    if (is_auto[WR_KNOB_DEPTH])
        c->depth = most.depth;
    if (is_auto[WR_KNOB_PREFETCH])
        c->prefetch = most.prefetch;
    first.depth = is_auto[WR_KNOB_DEPTH] ? WR_MIN(AUTO_DEPTH, c->depth)
                                         : c->depth;
    first.prefetch = is_auto[WR_KNOB_PREFETCH] ? AUTO_PREFETCH : c->prefetch;
    most = (struct wr_knobs){c->threads, c->depth, c->prefetch};
    wr_tune_init(ret_tune, &first, &most, is_auto);
    return 0;
}
