/* kind.h - what a data set can become: one const table per kind.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The pipeline reads the samples. A kind either makes bytes of each of them,
 * in the pipeline's threads (`add`), or takes batches of decoded fields (`put`);
 * both go to their shard in order. So the hooks below see one sample, some that
 * follow each other, or one finished shard, and nothing of threads. */
#ifndef WR_CONVERT_KIND_H
#define WR_CONVERT_KIND_H

#include "convert/plan.h"
#include "format/writer.h"

/* One sample on its way. */
struct wr_convert_item {
    struct wr_sample s;     /* unpacked: the encoded picture */
    const char *key;        /* borrowed; safe as a path, unique if need be */
    const char *class_name; /* borrowed; NULL: none */
    struct wr_convert_saving *saving; /* borrowed; NULL: not measured */
    bool fatal; /* set by `add`: it was not the sample's fault */
};

/* What a sample has become. */
struct wr_convert_part {
    struct wr_bytes out;
    uint64_t bytes; /* written elsewhere than to `out` */
};

/* A shard in the making. */
struct wr_convert_shard {
    uint64_t number;
    struct wr_sink_file file; /* zeroed, of a kind without files of shards */
    uint64_t bytes;           /* written elsewhere */
    struct wr_bytes bad;      /* a line for each sample that was left out */
    struct wr_convert_shard *next; /* to be finished */
};

/* Samples [first, first + count) of a batch: all are good, and of one shard. */
struct wr_convert_run {
    const weir_batch *batch; /* borrowed */
    uint32_t first, count;
};

struct wr_convert_kind {
    const char *name; /* NULL: that of a writer (wr_convert_plan.writer) */
    bool singles;     /* a file for each sample, none for a shard */
    bool tensors;     /* the first picture or tensor, and labels */
    bool fields;      /* the fields that cfg.tensor asks for */
    bool paths;       /* keys become paths: no two may be the same */
    /* required: whether this source can become that. */
    int (*check)(const struct wr_convert_plan *p, weir_err *err);
    /* optional (NULL: the key itself): a text that is the same for two samples
     * when their paths are. The classes may not all be known yet. */
    void (*unique)(const struct wr_convert_plan *p, uint32_t label,
                   const char *key, char buf[WR_CONVERT_KEY_MAX]);
    /* optional: once, before all work. */
    int (*begin)(const struct wr_convert_plan *p, struct wr_sink *sink,
                 weir_err *err);
    /* `add`, or NULL: what one thread needs; state_free takes NULL. */
    int (*state_new)(const struct wr_convert_plan *p, struct wr_sink *sink,
                     void **ret, weir_err *err);
    void (*state_free)(void *state);
    /* one sample; on failure nothing was added. The message says what is wrong,
     * the caller names the sample. Any thread. */
    int (*add)(void *state, struct wr_convert_item *it,
               struct wr_convert_part *to, weir_err *err);
    /* without `add`: the samples that follow. */
    int (*put)(const struct wr_convert_plan *p, struct wr_convert_shard *s,
               const struct wr_convert_run *run, weir_err *err);
};

/* The kind called so, or that of a writer, and the form of its files; NULL if
 * unknown. */
const struct wr_convert_kind *wr_convert_kind_find(const char *name,
                                                   struct wr_file_form *ret);

extern const struct wr_convert_kind wr_convert_records;
extern const struct wr_convert_kind wr_convert_archives;
extern const struct wr_convert_kind wr_convert_jpeg;
extern const struct wr_convert_kind wr_convert_tensor;
extern const struct wr_convert_kind wr_convert_npy;
extern const struct wr_convert_kind wr_convert_arrays;
extern const struct wr_convert_kind wr_convert_rows;

#endif
