/* generate.h - data sets on disk from a seed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A kind of data set is one const table (struct wr_gen_kind) and one line in
 * WR_GEN_KIND_MAP. What a file holds is a function of the settings and its number
 * alone: the same seed gives the same bytes with any number of threads. */
#ifndef WR_GEN_GENERATE_H
#define WR_GEN_GENERATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/hist.h"
#include "format/tensor.h"
#include "dataset/sink_file.h"
#include "dataset/sink.h"

#define WR_GEN_CLASSES_MAX 10000 /* four digits in the names */
#define WR_GEN_DRAWN       1024  /* about 120 MB of memory */
#define WR_GEN_SAMPLES_MAX UINT64_C(1000000000)
#define WR_GEN_THREADS_MAX 256
#define WR_GEN_PATH_MAX    64 /* of a file below the data set */

struct wr_gen_config {
    const char *kind;   /* borrowed */
    const char *target; /* borrowed: URL of the folder to be made */
    const char *list;   /* borrowed, may be NULL: "path,label" file to write */
    uint64_t samples;   /* 0: the kind's default */
    uint32_t classes;   /* 0: the kind's default */
    uint64_t seed;
    unsigned threads; /* 0: one per core */
    bool force;       /* replace a data set that is there */
    uint32_t drawn;   /* pictures only: so many are drawn, and of more samples
                         the others are put together from them (collage.h); 0:
                         WR_GEN_DRAWN */

    /* Tensors only. */
    const char *to; /* borrowed: "wt", "npy", or a writer of arrays or of fields
                       (writer.h); NULL: "wt" */
    bool packed;    /* deflated, by a writer of arrays that can */
    struct wr_gen_shape shape; /* ndim 0: 224x224x3 */
    uint64_t samples_per_file; /* 0: 1024 */
    unsigned vary; /* percent by which the first dimension differs, up and
                      down; for files of one sample */

    /* Called from the calling thread about ten times a second; a return other
     * than 0 cancels with WEIR_ECANCELED. May be NULL. */
    int (*progress)(void *arg, uint64_t samples_done, uint64_t samples);
    void *progress_arg;
};

struct wr_gen_result {
    uint64_t samples, files, bytes;
    uint32_t classes;
    uint64_t elapsed_ns;
    unsigned threads;
    struct wr_hist sizes; /* bytes of each sample */
};

/* A run in progress, as its workers see it. */
struct wr_gen_run {
    struct wr_gen_config cfg;       /* defaults filled in */
    const struct wr_gen_kind *kind; /* borrowed, static */
    struct wr_file_form form;       /* tensors: of the files */
    struct wr_sink *sink;           /* owned */
    void *shared;                   /* owned: what the kind's begin made */
    uint64_t units;                 /* pieces of work */
    _Atomic uint64_t next_unit;     /* the next one to take */
    _Atomic uint64_t samples_done, files, bytes;
};

/* One piece of work being done. */
struct wr_gen_job {
    struct wr_gen_run *run;   /* borrowed */
    void *worker;             /* borrowed: from the kind's worker_new */
    struct wr_hist *sizes;    /* borrowed: of this thread */
    const _Atomic bool *stop; /* borrowed: set when all are to end */
};

/* X(name, help): every kind, as the table wr_gen_<name>. */
#define WR_GEN_KIND_MAP(X)                                                     \
    X(imagenet, "JPEG files in class folders: about 500x375, mean 113 KB")     \
    X(caltech101, "JPEG files in class folders: about 300x200, mean 14 KB")    \
    X(tensors, "raw tensors of one shape, many per file")

struct wr_gen_kind {
    const char *name;
    uint64_t samples; /* default */
    uint32_t classes; /* default */
    bool pictures;    /* one file per sample, in class folders */
    /* required: pieces of work for the settings. */
    uint64_t (*units)(const struct wr_gen_config *cfg);
    /* required: makes what all threads read, once. */
    int (*begin)(struct wr_gen_run *run, weir_err *err);
    /* required: frees run->shared, which may be NULL. */
    void (*end)(struct wr_gen_run *run);
    /* required: memory of one thread. */
    int (*worker_new)(const struct wr_gen_run *run, void **ret, weir_err *err);
    void (*worker_free)(void *worker);
    /* required: does piece `unit`; ends early when *job->stop is set. */
    int (*make)(const struct wr_gen_job *job, uint64_t unit, weir_err *err);
};

/* The registry: the kind of a name, or NULL. */
const struct wr_gen_kind *wr_gen_kind_find(const char *name);

/* Makes the data set, or what a run that was killed had not made of it. On
 * failure nothing is left of it, unless it was complete and only its list could
 * not be written; *ret is untouched. */
int wr_gen_run(const struct wr_gen_config *cfg, struct wr_gen_result *ret,
               weir_err *err);

/* For kinds: the label of sample i, and the name of its file below the data
 * set. Classes take turns, so that any beginning of the samples has all. */
uint32_t wr_gen_label(const struct wr_gen_config *cfg, uint64_t i);
void wr_gen_picture_path(const struct wr_gen_config *cfg, uint64_t i,
                         char buf[WR_GEN_PATH_MAX]);

/* For kinds: counts one sample of `bytes`. */
void wr_gen_count(const struct wr_gen_job *job, uint64_t bytes);

#define WR_GEN_DECLARE(name, help)                                             \
    extern const struct wr_gen_kind wr_gen_##name;
WR_GEN_KIND_MAP(WR_GEN_DECLARE)
#undef WR_GEN_DECLARE

#endif
