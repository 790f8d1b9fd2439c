/* workload.h - what a training does with its storage, as a description says.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A description is a YAML file: one of weir's own (the catalog in workloads/), or
 * one that DLIO or MLPerf Storage ships, which is accepted as it is. The sections
 * and keys are DLIO's, as research on its code found them; what DLIO has no key
 * for stands in a section `weir`. One table (schema.c) has a row for each key:
 * parsing, checks, overrides, `--explain` and the files for DLIO's tools come
 * from it.
 *
 * This is the description alone: what it says, nothing of where data lies. What
 * follows from it for so many accelerators is computed in derive.h. */
#ifndef WR_WORKLOAD_WORKLOAD_H
#define WR_WORKLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

enum wr_wl_framework { WR_WL_TENSORFLOW, WR_WL_PYTORCH };

enum wr_wl_format {
    WR_WL_TFRECORD,
    WR_WL_HDF5,
    WR_WL_CSV,
    WR_WL_NPZ,
    WR_WL_NPY,
    WR_WL_JPEG,
    WR_WL_PNG,
    WR_WL_INDEXED_BINARY,
    WR_WL_MMAP_INDEXED_BINARY, /* read as indexed_binary */
    WR_WL_SYNTHETIC,           /* nothing is read */
    WR_WL_HDF5_OPT,            /* a name that DLIO has no code for */
    WR_WL_PARQUET,             /* described, not generated or run */
    WR_WL_JSONL,               /* these three are weir's */
    WR_WL_TAR,
    WR_WL_TENSOR,
    WR_WL_FORMATS
};

enum wr_wl_shuffle {
    WR_WL_SHUFFLE_OFF,
    WR_WL_SHUFFLE_SEED,
    WR_WL_SHUFFLE_RANDOM, /* DLIO treats it as `seed`, and so does weir */
};

/* Who reads which bytes (reader.file_access). */
enum wr_wl_access {
    WR_WL_ACCESS_AUTO,       /* DLIO ignores the key: samples are dealt out */
    WR_WL_ACCESS_MULTI,      /* files are dealt out: no two ranks share one */
    WR_WL_ACCESS_SHARED,     /* each rank has a range of the samples */
    WR_WL_ACCESS_SAME,       /* every rank reads the same samples (weir's) */
    WR_WL_ACCESS_COLLECTIVE, /* few ranks read, the others get it from them */
    WR_WL_ACCESS_MPIIO,      /* the same by MPI-IO's collective reads */
    WR_WL_ACCESS_POSIX,      /* as auto */
};

enum wr_wl_read_type { WR_WL_ON_DEMAND, WR_WL_MEMORY };

/* What is done with the bytes (weir.consume, --consume). */
enum wr_wl_consume {
    WR_WL_DROP,   /* read and forgotten */
    WR_WL_READ,   /* delivered as they are stored */
    WR_WL_DECODE, /* decoded into tensors */
};

enum wr_wl_content {
    WR_WL_NOISE,  /* bytes that cannot be compressed; weir.compressible */
    WR_WL_PHOTOS, /* JPEG files or records like ImageNet's: weir's */
};

/* A time in seconds: a number, or one of a distribution, drawn for each step.
 * What is drawn is used without its sign, as DLIO does. */
enum wr_wl_law {
    WR_WL_NONE, /* no time is given */
    WR_WL_FIXED,
    WR_WL_NORMAL,
    WR_WL_UNIFORM,
    WR_WL_GAMMA,
    WR_WL_EXPONENTIAL,
    WR_WL_POISSON,
};

struct wr_wl_time {
    enum wr_wl_law law;
    double a, b; /* fixed: a; normal: mean, stdev; uniform: min, max; gamma:
                    shape, scale; exponential: scale; poisson: lambda */
};

#define WR_WL_DIMS 8
#define WR_WL_LIST 16

struct wr_wl_dims {
    unsigned count;
    uint64_t dim[WR_WL_DIMS];
};

struct wr_wl_list {
    unsigned count;
    uint64_t item[WR_WL_LIST];
};

/* What the analysis of ten workloads (or another source) measured, beside which
 * a record puts what weir measured. NaN: it does not say. */
struct wr_wl_figures {
    double io_percent;    /* of the run's time */
    double request_bytes; /* the usual one */
    double sequential_percent, consecutive_percent;
    double bytes_per_s; /* of a request */
    double step_s;      /* of a step, computing included */
    double ranks;       /* it was run with */
};

/* Where the value of a key was said: on the command line, in a line of the file,
 * or nowhere (0), which is the default. */
struct wr_wl_said {
    bool command;
    unsigned line;
};

struct wr_workload {
    char *text_memory; /* owned: all strings below lie in it or are static */
    const char *file;  /* where it was read from, for messages */

    enum wr_wl_framework framework;
    struct {
        const char *name, *type;
        uint64_t size_bytes; /* model_size_bytes */
        const char *datatype, *optimizer_datatype;
        int64_t num_layers; /* -1: not given */
        struct wr_wl_list optimization_groups, layer_parameters;
        uint64_t tensor, pipeline, zero_stage;
        int64_t data; /* -1: world / (tensor * pipeline) */
        uint64_t vocab, hidden, ffn_hidden, heads, kv_heads;
    } model;
    struct {
        bool generate_data, train, evaluation, checkpoint, profiling;
    } workflow;
    struct {
        enum wr_wl_format format;
        const char *data_folder, *file_prefix;
        uint64_t files_train, files_eval, samples_per_file;
        uint64_t subfolders_train, subfolders_eval;
        double record_bytes, record_stdev, record_resize;
        struct wr_wl_dims record_dims;
        const char *element_type; /* a name of NumPy's; "uint8" */
        const char *compression;  /* "none", "gzip", ... */
        uint64_t compression_level;
        uint64_t datasets; /* hdf5.num_dset_per_record */
        struct wr_wl_dims chunk_dims;
        bool keep_files;
    } dataset;
    struct {
        const char *data_loader;
        uint64_t batch, batch_eval;
        uint64_t threads, computation_threads, prefetch;
        enum wr_wl_shuffle file_shuffle, sample_shuffle;
        uint64_t shuffle_size;
        enum wr_wl_read_type read_type;
        enum wr_wl_access access;
        uint64_t transfer_size; /* 0: not given */
        struct wr_wl_time preprocess;
        bool odirect;
        struct wr_wl_dims transformed_dims;
        const char *transformed_type;
    } reader;
    struct {
        uint64_t epochs;
        struct wr_wl_time computation;
        int64_t
            steps; /* total_training_steps: of each epoch at most; -1: all */
        uint64_t seed;
        bool seed_change_epoch;
    } train;
    struct {
        struct wr_wl_time time;
        uint64_t after_epoch, epochs_between;
    } eval;
    struct {
        const char *folder;
        uint64_t after_epoch, epochs_between;
        int64_t steps_between; /* -1: by epochs */
        bool subset;           /* mode: subset */
        bool fsync;
        double time_between;   /* seconds; of checkpoint-only runs */
        int64_t writes, reads; /* num_checkpoints_*; -1: none is said */
        bool rank_shift, rank_sync, randomize;
    } checkpoint;
    struct {
        const char *folder, *log_file;
        uint64_t exclude_start, exclude_end; /* steps of DLIO's AU */
    } output;
    struct {
        double au; /* target, 0 to 1 */
    } metric;
    struct {
        const char *type, *root;
    } storage;
    struct {
        const char *title;  /* one line for `weir run --list` */
        const char *source; /* where the numbers come from */
        enum wr_wl_consume consume;
        enum wr_wl_content content;
        double compressible; /* part of each block that is constant, 0 to 1 */
        uint64_t readers;    /* ranks that read, of a collective access */
        uint64_t nodes;      /* it was run on; 0: not said */
        struct wr_wl_dims label_dims; /* unused where count is 0 */
        /* Written at the end of the run by every rank, besides checkpoints. */
        uint64_t final_files, final_bytes; /* each */
        /* Files of a checkpoint besides the state, and their bytes. */
        struct wr_wl_list checkpoint_files;
        struct wr_wl_figures figures;
    } weir;

    /* Of the keys that name places: data_folder, storage_root,
     * checkpoint_folder. A description may be a stranger's: whoever opens such a
     * place asks who named it. */
    struct {
        struct wr_wl_said data, root, checkpoints;
    } said;
};

/* A remark on a description that is accepted: a key that has no effect, say. */
typedef void wr_workload_note(void *arg, const char *text);

/* One of the catalog by name ("unet3d_a100"), or a YAML file by path. `overrides`
 * are "section.key=value" (DLIO's "++workload." in front is fine). Messages name
 * file, line and column. On success *ret is the caller's, to be freed with
 * wr_workload_free. */
int wr_workload_load(const char *name, const char *const *overrides,
                     size_t override_count, wr_workload_note *note, void *arg,
                     struct wr_workload **ret, weir_err *err);

/* The same from text in memory; `file` is for messages. */
int wr_workload_parse(const char *file, const char *text, size_t len,
                      const char *const *overrides, size_t override_count,
                      wr_workload_note *note, void *arg,
                      struct wr_workload **ret, weir_err *err);
void wr_workload_free(struct wr_workload *w); /* takes NULL */

/* Shrinks data and steps together: fewer samples (files, then samples per
 * file), as many steps as they give, at least one batch for each of `world`
 * accelerators and two steps; checkpoints come as often per run. Sizes of
 * samples, batches, checkpoints and times stay. */
int wr_workload_scale(struct wr_workload *w, double factor, uint64_t world,
                      weir_err *err);

/* The whole description, defaults filled in, as YAML that wr_workload_parse
 * reads (without comments); fresh memory. */
char *wr_workload_yaml(const struct wr_workload *w);

#endif
