/* form.h - how one file of a workload's data set is made.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A form is one const table and one line in form.c. What it writes is a function
 * of the spec alone; to check a file, it is made again into an object that
 * compares (compare.h). */
#ifndef WR_GEN_FORM_H
#define WR_GEN_FORM_H

#include "format/writer.h"
#include "gen/pen.h"
#include "workload/workload.h"

struct wr_collage;
struct wr_jpeg_noise;

/* One file. */
struct wr_gen_spec {
    const struct wr_workload *w; /* borrowed */
    uint64_t seed;
    uint64_t file;  /* its number; evaluation files count on from training */
    uint64_t first; /* number of its first sample, counted in the same way */
    uint64_t samples;
    struct wr_wl_dims dims; /* of a sample */
    enum weir_dtype dtype;
    uint64_t sample_bytes;
};

/* What all threads read. */
struct wr_gen_stock {
    struct wr_collage *photos;   /* owned; NULL: not needed */
    struct wr_jpeg_noise *jpegs; /* owned; NULL: not needed */
};

/* What a thread works with. */
struct wr_gen_maker {
    const struct wr_gen_stock *stock; /* borrowed */
    struct wr_pen pen;                /* into the file that is made */
    struct wr_bytes scratch;          /* owned */
    uint8_t *buf;                     /* owned: of the pen */
};

struct wr_gen_form {
    /* required: bytes of the file, or nearly so; what lies beside it included */
    uint64_t (*size)(const struct wr_gen_spec *s);
    /* required: writes it with m->pen, whose failures the caller looks for. */
    int (*make)(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                weir_err *err);
    /* optional: what this description must not ask for. */
    int (*check)(const struct wr_workload *w, weir_err *err);
    const char *single; /* why a file has one sample; NULL: it can have many */
    /* optional: endings of the files beside it, NULL after the last, and what
     * is in number `k`. */
    const char *const *sides;
    const char *side_folder; /* DLIO's for them: FOLDER/train/NAME.idx of
                                train/NAME; NULL: beside it */
    int (*side)(const struct wr_gen_spec *s, unsigned k, struct wr_bytes *to,
                weir_err *err);
};

/* The form of a description; NULL and a message where weir writes none. */
const struct wr_gen_form *wr_gen_form_of(const struct wr_workload *w,
                                         weir_err *err);

/* Where file `k` of those beside `path` lies, into PATH_MAX bytes; false: it is
 * too long. */
bool wr_gen_side_path(const struct wr_gen_form *f, const char *path, unsigned k,
                      char *buf);

/* File `file` of the description, evaluation files behind training files. */
int wr_gen_spec_init(struct wr_gen_spec *s, const struct wr_workload *w,
                     uint64_t seed, uint64_t file, weir_err *err);

/* The noise of array `array` of the file. */
void wr_gen_spec_noise(const struct wr_gen_spec *s, uint64_t array,
                       struct wr_noise *ret);

/* The class of a photograph of a workload. */
uint32_t wr_gen_photo_label(uint64_t sample);

int wr_gen_stock_init(struct wr_gen_stock *st, const struct wr_workload *w,
                      uint64_t seed, unsigned threads, weir_err *err);
void wr_gen_stock_done(struct wr_gen_stock *st);

int wr_gen_maker_init(struct wr_gen_maker *m, const struct wr_gen_stock *st,
                      weir_err *err);
void wr_gen_maker_done(struct wr_gen_maker *m);

extern const struct wr_gen_form wr_gen_form_npz;
extern const struct wr_gen_form wr_gen_form_npy;
extern const struct wr_gen_form wr_gen_form_tensor;
extern const struct wr_gen_form wr_gen_form_indexed_binary;
extern const struct wr_gen_form wr_gen_form_hdf5;
extern const struct wr_gen_form wr_gen_form_tfrecord;
extern const struct wr_gen_form wr_gen_form_tar;
extern const struct wr_gen_form wr_gen_form_csv;
extern const struct wr_gen_form wr_gen_form_jsonl;
extern const struct wr_gen_form wr_gen_form_png;
extern const struct wr_gen_form wr_gen_form_jpeg;
extern const struct wr_gen_form wr_gen_form_photos;         /* files */
extern const struct wr_gen_form wr_gen_form_photo_tfrecord; /* records */
extern const struct wr_gen_form wr_gen_form_photo_tar;

#endif
