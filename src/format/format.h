/* format.h - a format is an indexer and, where samples are wrapped, unpack.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One const table and one line in formats.def per format. Reading is not a
 * format's business: the pipeline reads the byte ranges that the index names
 * and hands each field's bytes to the decoder of its kind (decode.h). */
#ifndef WR_FORMAT_FORMAT_H
#define WR_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/picture.h"
#include "format/files.h"
#include "format/index.h"
#include "storage/storage.h"
#include "weir/error.h"
#include "weir/pipeline.h"

struct wr_format_ops;

#define WR_PROBE_GUESS 10

/* What an indexer works on. */
struct wr_index_job {
    struct wr_store *store;      /* borrowed: holds the objects */
    struct wr_store *leaf_store; /* borrowed: holds the leaf; another one than
                                    `store` only for a list with a root */
    const char *leaf;     /* borrowed: the file named, or NULL: the folder */
    const char *fragment; /* borrowed: what stands behind '#' of the URL
                             (wr_fragment); NULL: nothing */
    const weir_dataset_config *cfg; /* borrowed */
    struct wr_index *index;         /* borrowed; to be filled */
    uint64_t next_progress_ns;      /* 0 at first */
    weir_err lack; /* code: what wr_index_fails; the index is void */
};

/* Calls the user's progress function now and then; WEIR_ECANCELED to stop. */
int wr_index_job_progress(struct wr_index_job *job, weir_err *err);

/* Whether an error tells nothing of a file: a lack of resources (base/lack.h)
 * or failed I/O. It ends probing and indexing: what was left out for it would
 * not be missed. */
bool wr_index_fails(int code);

/* Remembers `e` as a problem with `name`; "'NAME': " in front of its message
 * is not said twice. What wr_index_fails is none of its problems: it ends the
 * job, at the next wr_index_job_progress or at last when it is done. */
void wr_index_job_issue(struct wr_index_job *job, const char *name,
                        const weir_err *e);

/* The index is true as long as `path` (below job->store) looks like this. */
int wr_index_job_stamp(struct wr_index_job *job, const char *path,
                       const struct wr_stat *st, weir_err *err);

/* `path` is a symbolic link: it is counted, or ends the job as what
 * wr_index_fails does where the user wants none. Stamping counts it already. */
void wr_index_job_link(struct wr_index_job *job, const char *path);

/* Opens a file below job->store, and lets the index depend on it. */
int wr_index_job_open(struct wr_index_job *job, const char *path,
                      struct wr_object **ret, uint64_t *ret_size,
                      weir_err *err);

/* The field "image" of samples that are one picture each. */
int wr_index_job_picture(struct wr_index_job *job, bool unpacked,
                         weir_err *err);

/* Does `name` end in one of these (".tar .tgz")? ASCII case does not count. */
bool wr_name_has_ext(const char *name, const char *exts);

/* The format that says most surely that it can read this, with a fragment or
 * without; *ret is NULL when none can. Fails for a lack of resources, and with
 * its name for a file of other software. */
int wr_format_choose(const struct wr_index_job *job,
                     const struct wr_format_ops **ret, weir_err *err);

/* One tensor as it leaves the decoder. */
struct wr_tensor_shape {
    enum weir_dtype dtype;
    uint32_t ndim; /* without the batch dimension */
    uint64_t dims[7];
    size_t bytes;
    bool direct; /* the bytes in storage are the tensor: read into the slot */
};

/* The bytes of one sample, and what is known of it. */
struct wr_sample {
    const uint8_t *bytes; /* borrowed */
    size_t len;
    uint64_t id, epoch; /* with cfg.seed: the key of its random numbers */
    uint32_t label;     /* or WEIR_NO_LABEL */
    const char *key;    /* borrowed, no NUL behind it; NULL: none */
    size_t key_len;
};

/* The bytes of one field. */
struct wr_slice {
    const uint8_t *bytes; /* borrowed; NULL: the sample does not have it */
    size_t len;
};

/* What a sample is unpacked into; of one thread (decode.h). */
struct wr_unpack {
    struct wr_slice *fields; /* owned: one per field of the schema; those that
                                were wanted of the column are set, to bytes of
                                the part or of scratch */
    bool *wanted;            /* owned: one per field */
    uint8_t *scratch;        /* owned */
    size_t cap;
    struct wr_left_out *left; /* borrowed: where what a sample has and no field
                                 delivers is named; NULL: nowhere */
};

/* A decoder belongs to one thread. First member of each format's own. */
struct wr_decoder {
    const struct wr_decoder_ops *ops;
};

struct wr_decoder_ops {
    /* required: bytes of one sample -> slot (NULL slot: stages DECODE, the
     * result is dropped). On failure the message says what is wrong with the
     * bytes; the caller puts the name in front. */
    int (*decode)(struct wr_decoder *d, const struct wr_sample *s, void *slot,
                  struct wr_picture_times *times, weir_err *err);
    void (*free)(struct wr_decoder *d); /* required */
};

struct wr_format_ops {
    const char *name;
    const char *help;    /* one line */
    bool takes_root;     /* weir_dataset_config.root means something to it */
    bool takes_fragment; /* so does what stands behind '#' of a URL */
    bool folders_are_classes; /* those in the root */
    bool tensors;   /* samples are tensors: at most converted, never decoded */
    unsigned looks; /* so many first samples tell what the fields are, and later
                       ones may have more; 0: all do */
    struct wr_format_files files; /* which are its own */
    /* optional, instead of `files`: 0 (no), WR_PROBE_GUESS (any file may be one)
     * .. 100 (surely) for this store and leaf; WEIR_E... when resources lacked
     * to tell. */
    int (*probe)(struct wr_store *st, const char *leaf);
    /* required: fills job->index. */
    int (*index)(struct wr_index_job *job, weir_err *err);
    /* optional (NULL: a part's bytes are what is decoded): checks what the part
     * in io->bytes is wrapped in (lengths, checksums), then finds the fields
     * of the column that `out` wants and sets label and key where the
     * wrapping has them. Without `out` only the checks are made. Any thread.
     * On failure the message says what is wrong, the caller names the place. */
    int (*unpack)(const struct wr_index *ix, unsigned column,
                  struct wr_sample *io, struct wr_unpack *out, weir_err *err);
};

/* How sure the format is that this store and leaf are its own, as above. */
int wr_format_probe(const struct wr_format_ops *f, struct wr_store *st,
                    const char *leaf);

/* The registry: table k, NULL past the end; by name, NULL if unknown. */
const struct wr_format_ops *wr_format_at(unsigned k);
const struct wr_format_ops *wr_format_find(const char *name);

/* --- what the pipeline sees of an open data set (dataset.c) --- */

struct weir_dataset {
    const struct wr_format_ops *format;
    struct wr_store *store; /* owned */
    struct wr_index *index; /* owned */
    weir_field *fields;     /* owned: of the index's schema */
    char *url;              /* owned */
    bool index_reused;      /* from a side file */
};

#define FORMAT(name) extern const struct wr_format_ops wr_format_##name;
#include "format/formats.def"

#define WR_FRAGMENT_PAIRS 64
#define WR_FRAGMENT_NAME  128 /* bytes of a name, with its NUL */
#define WR_FRAGMENT_VALUE 256 /* bytes of a value, with its NUL */

/* --- what a user says behind '#' of a data set's URL --- */

/* "/data/a.jsonl#x=/pixels,label=/class": pairs NAME=VALUE, comma between. What
 * they mean is the format's business. A file whose own name has the '#' comes
 * first: only where there is none of the full name is it a fragment. */

struct wr_fragment_pair {
    char name[WR_FRAGMENT_NAME];
    char value[WR_FRAGMENT_VALUE];
};

struct wr_fragment {
    struct wr_fragment_pair pairs[WR_FRAGMENT_PAIRS];
    unsigned count;
};

/* Opens the store of `url` as wr_store_open does. Where there is nothing of
 * that name but of what stands before a '#', opens that, and *ret_fragment is
 * the text behind it (fresh memory); else it is NULL. */
int wr_fragment_open(const char *url, unsigned flags, struct wr_store **ret,
                     char **ret_leaf, char **ret_fragment, weir_err *err);

/* The pairs of `text` (NULL: none); names are neither empty nor the same, and
 * no value is empty. The message shows the pair that is wrong. */
int wr_fragment_parse(const char *text, struct wr_fragment *ret, weir_err *err);

/* The value of the pair that is called so; NULL: there is none. */
const char *wr_fragment_find(const struct wr_fragment *f, const char *name);

/* WEIR_EINVAL when a name is none of `known` (NULL behind the last one). */
int wr_fragment_check(const struct wr_fragment *f, const char *const *known,
                      weir_err *err);

#endif
