/* pipeline.h - batches, in order, ahead of the consumer.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A pipeline reads, decodes, resizes and batches the samples of a data set on
 * its own threads. Its output is a function of the data, the seed and the epoch
 * only: the same bytes for any number of threads, any depth and any I/O engine.
 */
#ifndef WEIR_PIPELINE_H
#define WEIR_PIPELINE_H

#include <stddef.h>
#include <stdint.h>

#include "weir/batch.h"
#include "weir/config.h"
#include "weir/dataset.h"
#include "weir/dtype.h"
#include "weir/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_pipeline weir_pipeline;

/* Where the time went, in nanoseconds, summed over workers where it says so. */
typedef struct weir_stats {
    uint64_t batches, samples; /* delivered so far */
    uint64_t bytes_read;       /* from storage, including prefetched and bad
                                  samples */
    uint64_t requests;         /* number of reads; one may serve many samples */
    uint64_t bad;              /* samples skipped */
    uint64_t consumer_wait_ns; /* inside weir_pipeline_next */
    uint64_t consumer_busy_ns; /* between calls of weir_pipeline_next */
    uint64_t wall_ns;          /* since weir_pipeline_open */
    uint64_t first_batch_ns;   /* from open to the first batch */
    uint32_t workers, depth, prefetch; /* values in effect */
    const char *io;                    /* "io_uring", "blocking"; static */
    /* sums over workers */
    uint64_t storage_wait_ns; /* nothing arrived yet to decode */
    uint64_t submit_ns;       /* inside the I/O engine, not waiting */
    uint64_t decode_ns;
    uint64_t resample_ns; /* resize and layout */
    uint64_t idle_ns;     /* nothing to do: far enough ahead */
    /* of cfg.cache: samples found in memory, in folders, and not found;
     * entries of a folder that were damaged; bytes held by all tiers */
    uint64_t cache_ram_hits, cache_dir_hits, cache_misses, cache_damaged;
    uint64_t cache_ram_bytes, cache_dir_bytes;
    uint64_t cache_ram_entries, cache_dir_entries; /* samples that they hold */
} weir_stats;

/* What limited the run. */
enum weir_verdict {
    WEIR_VERDICT_NONE = 0, /* too little happened to say */
    WEIR_VERDICT_STORAGE,
    WEIR_VERDICT_DECODE, /* decoding and resizing: the CPU */
    WEIR_VERDICT_CONSUMER,
    WEIR_VERDICT_CONVERT, /* the CPU, but almost nothing was decoded: tensors
                             were converted or copied */
};

/* A sample that could not be delivered. */
typedef struct weir_bad_sample {
    uint64_t id, epoch;
    int code;         /* WEIR_E... */
    const char *text; /* "'cat/7.jpg': truncated ..."; borrowed; NULL if memory
                         ran out */
} weir_bad_sample;

/* Opens a pipeline on `ds`, which must outlive it, and starts its threads; with
 * prefetch > 0 they start reading immediately. On success the caller owns *ret
 * and closes it with weir_pipeline_close; on failure *ret is untouched. `cfg`
 * (not NULL) is copied. */
WEIR_API int weir_pipeline_open(weir_pipeline **ret, const weir_dataset *ds,
                                const weir_pipeline_config *cfg, weir_err *err);

/* Waits for the next batch. Returns 1 and sets *ret, which must be returned
 * with weir_batch_release; 0 after the last one; a negative WEIR_E... on
 * failure, after which every further call fails the same way. The caller may
 * hold prefetch + 1 batches at once (some pipelines allow one more); beyond
 * that it fails with WEIR_ESTATE, and works again once a batch has been
 * released. One thread at a time, and not while the pipeline is closed. */
WEIR_API int weir_pipeline_next(weir_pipeline *p, const weir_batch **ret,
                                weir_err *err);

/* Returns a batch to the pipeline, which reuses its memory. NULL is fine. Any
 * thread. */
WEIR_API void weir_batch_release(const weir_batch *b);

/* The state after the last batch that weir_pipeline_next returned, for
 * cfg.resume. Returns its length in bytes (80, plus at most 8 per sample
 * skipped in this epoch) and writes it to `buf` if `cap` is large enough (call
 * with cap 0 to get the length). Same thread as _next. */
WEIR_API size_t weir_pipeline_state(const weir_pipeline *p, void *buf,
                                    size_t cap);

/* Batches this rank gets from one whole epoch when no sample is bad. */
WEIR_API uint64_t weir_pipeline_batches_per_epoch(const weir_pipeline *p);

/* Statistics so far, and the verdict on them. Any thread. (_sized: as with
 * weir_pipeline_defaults.) */
WEIR_API void weir_pipeline_stats_sized(const weir_pipeline *p, weir_stats *ret,
                                        size_t size);
static inline void weir_pipeline_stats(const weir_pipeline *p, weir_stats *ret)
{
    weir_pipeline_stats_sized(p, ret, sizeof(*ret));
}
WEIR_API enum weir_verdict weir_stats_verdict(const weir_stats *s);

/* Why a tier of cfg.cache accepts no more samples, other than being full (it
 * cannot be written, for example): a negative WEIR_E... and *err, or 0. Any
 * thread. */
WEIR_API int weir_pipeline_cache_error(const weir_pipeline *p, weir_err *err);

/* What WEIR_AUTO chose and why, one line per change, into buf of `cap` bytes;
 * returns its length as snprintf does. Any thread. */
WEIR_API size_t weir_pipeline_tuning(const weir_pipeline *p, char *buf,
                                     size_t cap);

/* Bad samples: how many, and the k-th, k counted from 0, in batch order (NULL
 * when out of range; the first 1,000 are kept). The entry stays valid until the
 * pipeline is closed. Any thread. */
WEIR_API uint64_t weir_pipeline_bad_count(const weir_pipeline *p);
WEIR_API const weir_bad_sample *weir_pipeline_bad(const weir_pipeline *p,
                                                  uint64_t k);

/* Stops the threads, frees everything (unreleased batches too) and sets *p
 * to NULL. NULL and pointer to NULL are fine. */
WEIR_API void weir_pipeline_close(weir_pipeline **p);

#ifdef __cplusplus
}
#endif
#endif
