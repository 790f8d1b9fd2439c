/* dataset.h - data sets: samples, their locations and labels.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Opening a data set only determines where each sample is (object, offset,
 * length, label); sample data are read by a pipeline. An open data set is
 * immutable: any number of threads and pipelines may use it at once, and it
 * must outlive the pipelines on it.
 */
#ifndef WEIR_DATASET_H
#define WEIR_DATASET_H

#include <stddef.h>
#include <stdint.h>

#include "weir/dtype.h"
#include "weir/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_dataset weir_dataset;

/* How a data set is opened. Fill with weir_dataset_defaults first. */
typedef struct weir_dataset_config {
    size_t size;        /* of this struct: set by weir_dataset_defaults */
    const char *format; /* "images", "tfrecord", ...: as weir inspect --help
                           lists them; NULL: detected */
    const char *root;   /* list: folder that its relative paths start from;
                           NULL: the folder of the list file */
    /* The index is kept in a file and reused as long as the data have not
     * changed. */
    const char *index_dir; /* folder of index files; NULL: $WEIR_INDEX_DIR, or
                              weir/index in the user's cache folder, where only
                              indexes that took long are kept */
    int no_index_cache;    /* neither read nor write an index file */
    /* Called about ten times per second while indexing; a nonzero return
     * cancels with WEIR_ECANCELED. May be NULL. */
    int (*progress)(void *arg, uint64_t samples_so_far);
    void *progress_arg;
    const char *columns; /* list: columns to use, as names in its header or
                             numbers from 1: "path=file,label=class"; NULL:
                             "path" and "label", or the first two */
    const char *schema;  /* what a format cannot know of its fields:
                             NAME=KIND[:DTYPE[:DIMS]] and label=NAME, separated
                             by commas: "volume=tensor:u16:128x128x128x4"; of
                             .npy and .npz files axis=first, last or file, too
                             (docs/formats/npz.md), of HDF5 first or file; NULL: as detected */
    int no_links; /* refuse a data set with symbolic links, and a list with
                     paths that are absolute or go up (WEIR_EACCES); the last
                     part of `url` and of `root` may be one if it leads to a
                     folder. Without it links are followed wherever they lead */
} weir_dataset_config;

/* What a field of a sample is. */
enum weir_field_kind {
    WEIR_FIELD_TENSOR = 0, /* numbers of one type */
    WEIR_FIELD_PICTURE,    /* an encoded picture */
    WEIR_FIELD_BYTES,      /* bytes of any length */
    WEIR_FIELD_SCALAR,     /* one number */
};

#define WEIR_DIM_VARIES UINT64_MAX

/* A field that every sample has. */
typedef struct weir_field {
    const char *name; /* borrowed from the data set */
    enum weir_field_kind kind;
    enum weir_dtype dtype; /* as stored; pictures and bytes: WEIR_U8; scalars:
                              WEIR_I64, WEIR_F32 or WEIR_F64 */
    uint32_t ndim;         /* of one sample */
    uint64_t dims[7];      /* WEIR_DIM_VARIES where samples differ */
    int is_label;          /* weir_batch.labels has it */
    int is_extra;          /* delivered only if it is asked for by its name */
    uint64_t reserved[3];  /* 0 */
} weir_field;

/* A problem met while indexing that did not stop it (a directory that cannot
 * be read, a line of a list that names a missing file, ...). */
typedef struct weir_issue {
    const char *name;   /* object, borrowed from the data set */
    const char *reason; /* borrowed from the data set */
    int code;           /* WEIR_E... */
} weir_issue;

/* Where sample i is. */
typedef struct weir_sample {
    const char *name;     /* path below the data set's root */
    uint64_t offset;      /* first byte inside the object */
    uint64_t length;      /* bytes */
    uint32_t label;       /* class number, or WEIR_NO_LABEL */
    uint64_t reserved[4]; /* 0 */
} weir_sample;

#define WEIR_NO_LABEL UINT32_MAX

/* Fills `cfg` with defaults (all of them zero, but the size). (_sized: as with
 * weir_pipeline_defaults.) */
WEIR_API void weir_dataset_defaults_sized(weir_dataset_config *cfg,
                                          size_t size);
static inline void weir_dataset_defaults(weir_dataset_config *cfg)
{
    weir_dataset_defaults_sized(cfg, sizeof(*cfg));
}

/* Opens and indexes the data set at `url`: a folder with one subfolder per
 * class, a list file of "path,label" lines, a file of another format (README.md
 * has a table of them), or a folder of such files. A storage prefix may precede it
 * ("fault:...:/data"). Behind a '#' may stand which values are fields:
 * "a.jsonl#x=/pixels,label=/class", "train.h5#data=/x,label=/y"; a file of that
 * whole name comes first. `cfg` may be NULL. On success the caller owns *ret and
 * closes it with weir_dataset_close; on failure *ret is untouched. */
WEIR_API int weir_dataset_open(weir_dataset **ret, const char *url,
                               const weir_dataset_config *cfg, weir_err *err);

/* Closes *ds and sets it to NULL; NULL and pointer to NULL are fine. No
 * pipeline may still use it. */
WEIR_API void weir_dataset_close(weir_dataset **ds);

/* Number of samples; sum and maximum of their lengths in bytes (in the sum,
 * bytes that samples lie in among each other count once). */
WEIR_API uint64_t weir_dataset_count(const weir_dataset *ds);
WEIR_API uint64_t weir_dataset_bytes(const weir_dataset *ds);
WEIR_API uint64_t weir_dataset_max_length(const weir_dataset *ds);

/* What weir_dataset_config.format would say. Static. */
WEIR_API const char *weir_dataset_format(const weir_dataset *ds);

/* The fields of the samples, *ret_count of them (borrowed). */
WEIR_API const weir_field *weir_dataset_fields(const weir_dataset *ds,
                                               uint32_t *ret_count);

/* Classes: their number, and the name of class `label` (borrowed; NULL when
 * it has none or the number is out of range). */
WEIR_API uint32_t weir_dataset_class_count(const weir_dataset *ds);
WEIR_API const char *weir_dataset_class_name(const weir_dataset *ds,
                                             uint32_t label);

/* Fills *ret for sample `i`; `name_buf` (of `cap` bytes) receives the name
 * that ret->name points at, cut if it does not fit. WEIR_EINVAL when i is out
 * of range. */
WEIR_API int weir_dataset_sample(const weir_dataset *ds, uint64_t i,
                                 char *name_buf, size_t cap, weir_sample *ret,
                                 weir_err *err);

/* The key of sample `i` into buf of `cap` bytes: the name of a file, or of a
 * member of an archive, without its extension; "" if the index has none.
 * Returns its length as snprintf does; 0 when i is out of range. */
WEIR_API size_t weir_dataset_key(const weir_dataset *ds, uint64_t i, char *buf,
                                 size_t cap);

/* Whether the index came from a file (weir_dataset_config.index_dir). */
WEIR_API int weir_dataset_index_reused(const weir_dataset *ds);

/* How many of the data set's files and folders were reached through symbolic
 * links, which may lead anywhere (weir_dataset_config.no_links). */
WEIR_API uint64_t weir_dataset_link_count(const weir_dataset *ds);

/* Problems met while indexing: their number and the k-th of them (NULL when
 * out of range). At most 1,000 are kept; the number counts all. */
WEIR_API uint64_t weir_dataset_issue_count(const weir_dataset *ds);
WEIR_API const weir_issue *weir_dataset_issue(const weir_dataset *ds,
                                              uint64_t k);

/* Files in the data set's folders that its format does not read: their number,
 * and the k-th extension among them (".gif", in lower case; "" for names
 * without one, "*" for the rest), most files first, with the number of files in
 * *ret_files; NULL when out of range. Hidden files and files that usually
 * accompany data (README, .txt, .json, ...) do not count. */
WEIR_API uint64_t weir_dataset_ignored_count(const weir_dataset *ds);
WEIR_API const char *weir_dataset_ignored(const weir_dataset *ds, uint32_t k,
                                          uint64_t *ret_files);

#ifdef __cplusplus
}
#endif
#endif
