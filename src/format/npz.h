/* npz.h - the arrays of a .npy or .npz file: types, shapes, places.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_NPZ_H
#define WR_FORMAT_NPZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/format.h"
#include "storage/storage.h"
#include "weir/dtype.h"
#include "weir/error.h"

/* --- the header of a .npy file --- */

#define WR_NPY_PREFIX     12u    /* bytes that tell the header's length */
#define WR_NPY_MAX_HEADER 65536u /* bytes of the header's text */
#define WR_NPY_MAX_DIMS   8u

/* What the header says; nothing in it is checked against the file. */
struct wr_npy {
    char descr[16]; /* "<f4" */
    enum weir_dtype dtype;
    bool swap;    /* in the other byte order than the processor's */
    bool fortran; /* the first dimension's elements lie next to each other */
    uint32_t ndim;
    uint64_t shape[WR_NPY_MAX_DIMS];
    uint64_t data_offset;
};

/* Where the data start, from the file's first WR_NPY_PREFIX bytes. */
int wr_npy_data_offset(const uint8_t *bytes, size_t len, uint64_t *ret,
                       weir_err *err);

/* Parses the header; `bytes` must reach up to the data. Refuses types that are
 * no numbers, structured ones, and more dimensions than WR_NPY_MAX_DIMS. */
int wr_npy_parse(const uint8_t *bytes, size_t len, struct wr_npy *ret,
                 weir_err *err);

/* "f4"; NULL for types that NumPy has not. */
const char *wr_npy_type(enum weir_dtype dtype);

/* --- the arrays of a file --- */

#define WR_ARRAY_NAME  128                  /* bytes, with the NUL */
#define WR_NPZ_MAX     64                   /* in one file */
#define WR_NPZ_OTHERS  160                  /* bytes, with the NUL */
#define WR_ARRAY_WHOLE UINT64_C(0x80000000) /* bytes read at once */

struct wr_npz_array {
    char name[WR_ARRAY_NAME]; /* without ".npy"; "x" in a .npy file */
    struct wr_npy npy;
    uint64_t elements, bytes;
    uint64_t offset; /* of the first element: in the file, or, deflated, in what
                        it inflates to */
    bool deflated;
    /* Where the deflated bytes lie. */
    uint64_t stored_at, stored, inflated;
    uint32_t crc;
    /* Of formats that know better where samples lie (array_set.h). */
    bool placed;
    uint64_t tile[WR_NPY_MAX_DIMS]; /* of the array, [0] 0: it is not cut */
    const void *values; /* borrowed: all elements, as stored; NULL: none */
};

struct wr_npz {
    /* Before it is read: members by the names that their arrays get; borrowed,
     * NULL: all. */
    const struct wr_fragment *chosen;
    struct wr_npz_array *list; /* owned */
    size_t count;
    char others[WR_NPZ_OTHERS]; /* "'a.txt', 'b.txt'": members that are not
                                   arrays, cut to fit; "": none, or chosen */
};

/* Does a file begin like a ZIP file? */
bool wr_is_zip(const void *bytes, size_t len);

/* What a file of `size` bytes holds. Members of a ZIP file that are not called
 * .npy are left out. Only ZIP files have members to choose. */
int wr_npz_read(struct wr_object *o, uint64_t size, bool zip, struct wr_npz *io,
                weir_err *err);
void wr_npz_done(struct wr_npz *a);

/* Counts elements and bytes, and finds the first one, of an array whose header,
 * stored_at and inflated are known. */
int wr_npz_settle(struct wr_npz_array *a, weir_err *err);

/* The array called so; NULL: there is none. */
const struct wr_npz_array *wr_npz_find(const struct wr_npz *a,
                                       const char *name);

/* All elements, in the processor's byte order, in fresh memory. Only of arrays
 * of at most WR_ARRAY_WHOLE bytes. */
int wr_npz_values(struct wr_object *o, const struct wr_npz_array *a, void **ret,
                  weir_err *err);

#endif
