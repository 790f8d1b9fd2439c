/* hdf5_helper.h - the program that parses HDF5 files for us, in a jail.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One process for many files. One that crashes, hangs or answers nonsense costs
 * the file that it was about: it is ended, and the next file starts another. */
#ifndef WR_FORMAT_HDF5_HELPER_H
#define WR_FORMAT_HDF5_HELPER_H

#include "format/hdf5_answer.h"
#include "storage/storage.h"

struct wr_h5_helper;

/* Nothing is started yet. */
int wr_h5_helper_new(struct wr_h5_helper **ret, weir_err *err);
void wr_h5_helper_free(struct wr_h5_helper *h); /* takes NULL */

/* The file that is talked about from now on; `o` is borrowed. */
int wr_h5_open(struct wr_h5_helper *h, struct wr_object *o, uint64_t size,
               weir_err *err);

/* Its datasets: those of the `len` bytes of `names`, each with its NUL, or all;
 * in fresh memory. Dataset k of the list is `number` k below. */
int wr_h5_list(struct wr_h5_helper *h, const char *names, size_t len,
               struct wr_h5_array **ret, size_t *ret_count, weir_err *err);

/* Where the chunks of dataset `number`, which `a` is, lie: a->chunks of them, in
 * fresh memory. */
int wr_h5_places(struct wr_h5_helper *h, size_t number,
                 const struct wr_h5_array *a, struct wr_h5_place **ret,
                 weir_err *err);

/* Bytes of metadata at an offset of the file; lives during the call. */
typedef int (*wr_h5_write_fn)(void *arg, const void *bytes, size_t len,
                              uint64_t offset, weir_err *err);

/* A file that is to be made. */
struct wr_h5_create {
    struct wr_h5_dataset *datasets; /* borrowed: name, type, dims,
                                       layout, chunk */
    size_t count;
    wr_h5_write_fn write;
    void *arg;
};

/* Lays it out: sets the addresses of the datasets, in rising order (chunks lie one
 * behind the other from there, in C order), gives its
 * metadata to c->write and its size to *ret_size. */
int wr_h5_create(struct wr_h5_helper *h, const struct wr_h5_create *c,
                 uint64_t *ret_size, weir_err *err);

#endif
