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
#include "weir/dataset.h"
#include "weir/dtype.h"
#include "weir/error.h"
#include "weir/io.h"
#include "weir/picture.h"
#include "weir/split.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_pipeline weir_pipeline;

/* What is done to each sample. */
enum weir_stages {
    WEIR_STAGES_ALL = 0, /* read, decode, resize, lay out: delivers tensors */
    WEIR_STAGES_READ,    /* read only: batches carry labels and ids, no data */
    WEIR_STAGES_DECODE,  /* read and decode, then drop the picture */
};

enum weir_order {
    WEIR_ORDER_SHUFFLE = 0, /* full uniform shuffle */
    WEIR_ORDER_SEQUENTIAL,
    WEIR_ORDER_BLOCK, /* blocks shuffled, samples shuffled inside a window of
                         blocks: big reads, good mixing; ranks share none */
};

/* How to treat a bad sample. One that cannot be read for lack of file
 * descriptors or memory is not bad: the pipeline waits for them and retries; if
 * they stay short, weir_pipeline_next fails with WEIR_EMFILE or WEIR_ENOMEM,
 * whatever is chosen here, and the run can be resumed. */
enum weir_on_error {
    WEIR_ON_ERROR_SKIP = 0, /* count and name it, fill its place from the tail
                               of the epoch */
    WEIR_ON_ERROR_FAIL,     /* weir_pipeline_next fails */
};

/* With several ranks choose PAD: with KEEP and DROP the ranks of an epoch may
 * differ by a batch (if its samples cannot be divided evenly, or some were
 * bad), and states taken there belong to different steps. */
enum weir_remainder {
    WEIR_REMAINDER_KEEP = 0, /* the last batch of an epoch may be short */
    WEIR_REMAINDER_DROP,     /* it is not delivered */
    WEIR_REMAINDER_PAD,      /* it is filled up with repeated samples of this
                                epoch; every rank gets the same number of full
                                batches, whichever samples were bad */
};

/* What a cache keeps. */
enum weir_cache_what {
    WEIR_CACHE_ENCODED = 0, /* samples as they are stored */
    WEIR_CACHE_DECODED,     /* samples as they are delivered */
};

/* threads, depth, prefetch: adjusted while running. */
#define WEIR_AUTO UINT32_MAX

/* How one field is wanted, where that differs from the rest. */
typedef struct weir_field_config {
    const char *name;            /* as in weir_dataset_fields */
    weir_picture_config picture; /* pictures, and tensors of u8 */
    int as_bytes; /* deliver the bytes as they are stored: of pictures, say */
    uint64_t pad; /* fields whose samples differ in length: deliver so many
                        bytes of each, zeros behind it; a longer sample is bad.
                        0: as they are */
    uint64_t reserved[6]; /* 0 */
} weir_field_config;

/* Fill with weir_pipeline_defaults first; defaults are in brackets. Members are
 * added at the end only, and `size` tells which of them a program knows: one
 * that was built with an older header gets the defaults of the others. */
typedef struct weir_pipeline_config {
    size_t size;             /* of this struct: set by weir_pipeline_defaults */
    uint32_t batch;          /* samples per batch [64] */
    enum weir_stages stages; /* [WEIR_STAGES_ALL] */
    weir_picture_config picture; /* weir/picture.h */

    enum weir_order order;  /* [WEIR_ORDER_SHUFFLE] */
    uint64_t seed;          /* [0] */
    uint32_t block_samples; /* order block: samples per block; 0: as many as
                               make about 1.5 MiB [0] */
    uint32_t block_window;  /* order block: blocks mixed together [16] */
    uint64_t epochs; /* end before the epoch of this number, counted from 0; a
                        resumed run keeps its numbers. 0 = no end [1] */
    uint64_t max_batches; /* stop after this many, 0 = no limit [0] */
    uint32_t rank, world; /* this process takes positions rank, rank+world,
                                ... of each epoch [0 of 1] */
    enum weir_remainder remainder; /* [WEIR_REMAINDER_KEEP] */
    enum weir_on_error on_error;   /* [WEIR_ON_ERROR_SKIP] */
    uint64_t max_bad; /* skip: fail once more than this many samples of one
                         epoch were bad, 0 = no limit [0] */

    /* These three may be WEIR_AUTO: adjusted while running, within `memory`;
     * weir_pipeline_tuning reports what was chosen and why. */
    uint32_t threads;  /* workers, 0 = one per core [0] */
    uint32_t depth;    /* reads in flight per worker [32] */
    uint32_t prefetch; /* finished batches kept ahead, while one more is being
                          made; 0: the pipeline works only while the consumer
                          waits [1] */
    uint64_t memory;   /* bytes that WEIR_AUTO may use for batches and reads, of
                          the quarter of the machine's (or its control group's)
                          that the process has; 0 = all of them [0] */
    enum weir_io io;   /* [WEIR_IO_AUTO] */
    int direct;        /* O_DIRECT: past the page cache [0] */

    /* Tiers in front of the storage, fastest first: "ram:4G", "/fast/dir:200G",
     * or both separated by a comma. They are filled with the first samples
     * read, up to their size, and nothing is evicted. A folder is persistent
     * and may be shared by processes. Copied. [NULL: none] */
    const char *cache;
    enum weir_cache_what cache_what; /* [WEIR_CACHE_ENCODED] */

    /* Memory for batches (pinned memory, say): alloc returns 64-byte-aligned
     * memory or NULL. Both or neither. [NULL: libweir's own] */
    void *(*alloc)(void *arg, size_t bytes);
    void (*free)(void *arg, void *p, size_t bytes);
    void *alloc_arg;

    /* Resume: states returned by weir_pipeline_state on all ranks of that run,
     * in any order. One is enough if no rank had skipped a bad sample in that
     * epoch. `seed` and the part must be the same; rank and world may differ.
     * Borrowed
     * during weir_pipeline_open. [none] */
    const void *const *resume;
    const size_t *resume_len;
    size_t resume_count;

    /* Called about ten times per second while weir_pipeline_next waits, by its
     * thread; a nonzero return ends it with WEIR_ECANCELED. [NULL] */
    int (*stopped)(void *arg);
    void *stopped_arg;

    /* One part of the data set, as if it were all of it (weir/split.h): order,
     * epochs, ranks and states are those of the part; ids and labels stay those
     * of the data set. */
    float holdout;       /* fraction that is held out, up to 0.5 [0: none] */
    uint64_t split_seed; /* [0] */
    enum weir_part part; /* the part to deliver [WEIR_PART_ALL] */

    /* Fields to deliver, in this order: "image,mask,label". What is not among
     * them is not read. "*": all; NULL: all but those of kind bytes, if there
     * are others. Both are borrowed during weir_pipeline_open. [NULL] */
    const char *fields;
    const weir_field_config *field; /* [field_count] [NULL: none] */
    uint32_t field_count;
} weir_pipeline_config;

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

/* Fills `cfg` with the defaults named above; the second is for callers that do
 * not compile this header, and takes the size of what they have. */
WEIR_API void weir_pipeline_defaults_sized(weir_pipeline_config *cfg,
                                           size_t size);
static inline void weir_pipeline_defaults(weir_pipeline_config *cfg)
{
    weir_pipeline_defaults_sized(cfg, sizeof(*cfg));
}

/* Settings by name, as text: "resize" and "area", "size" and "320x240",
 * "normalize" and "none", "threads" and "auto", "flip" and "yes". Names are
 * those of the members (of `picture` too), values are those of the options of
 * `weir bench`. A text is borrowed until weir_pipeline_open, which copies it.
 * WEIR_ENOENT: no setting has that name; WEIR_EINVAL: the value is wrong, and
 * the message names the setting, the value and what is possible. On failure
 * `cfg` is untouched. Whether settings fit together is checked by
 * weir_pipeline_open. */
WEIR_API int weir_config_set(weir_pipeline_config *cfg, const char *name,
                             const char *value, weir_err *err);

/* The value of a setting as weir_config_set takes it, into buf of `cap` bytes;
 * returns its length as snprintf does, or WEIR_ENOENT. */
WEIR_API int weir_config_get(const weir_pipeline_config *cfg, const char *name,
                             char *buf, size_t cap, weir_err *err);

/* The name of the k-th setting, counted from 0; NULL when out of range.
 * Static. */
WEIR_API const char *weir_config_name(unsigned k);

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
