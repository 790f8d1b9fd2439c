/* config.h - the settings of a pipeline.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_CONFIG_H
#define WEIR_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"
#include "weir/io.h"
#include "weir/picture.h"
#include "weir/split.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    int convert;  /* tensors: to `dtype`, as NumPy's astype does, and nothing
                     else; u8 is not normalized then */
    enum weir_dtype dtype;
    uint64_t reserved[5]; /* 0 */
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

    /* Tiers in front of the storage, fastest first: "ram:4GiB", "/fast/dir:200GiB",
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

    /* A range of the data set's samples, as if it were all of it: order, epochs,
     * ranks and states are those of the range. Not with a holdout. */
    uint64_t sample_first; /* [0] */
    uint64_t sample_count; /* 0: all that follow [0] */
} weir_pipeline_config;

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
 * the message names the setting, the value and what is possible. "mask.resize"
 * is that of one field: of the entry of cfg.field of this name, which must be
 * there, and is changed. On failure
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

#ifdef __cplusplus
}
#endif
#endif
