/* wire.h - what weir and its HDF5 helper say to each other.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The helper (weir-hdf5) is the only program that links libhdf5, and runs in a
 * jail: it has one socket and nothing else. weir asks; before the helper answers
 * it may ask for bytes of the file (READ), which weir reads through its storage.
 * Both are of one build on one machine: structs go over the socket as they are,
 * and the version tells a helper of another build. weir checks every answer as
 * if an enemy had sent it. */
#ifndef WR_HDF5_WIRE_H
#define WR_HDF5_WIRE_H

#include <stdint.h>

#define WR_H5_VERSION  4u
#define WR_H5_FD       3   /* the helper's end of the socket */
#define WR_H5_NAME     128 /* bytes of a dataset's path, with the NUL */
#define WR_H5_DIMS     8
#define WR_H5_FILTERS  4
#define WR_H5_DATASETS 1024u                /* of one file */
#define WR_H5_READ_MAX ((uint64_t)16 << 20) /* bytes of one READ */
#define WR_H5_PLACES   4096u                /* of one message */
#define WR_H5_WHY      200 /* bytes of a reason, with the NUL */

/* argv[1] of the helper: seconds of CPU time after which it is ended. */
#define WR_H5_SECONDS_MAX 1000000u

enum wr_h5_kind {
    /* weir asks */
    WR_H5_OPEN = 1, /* number: bytes of the file */
    WR_H5_LIST,     /* payload: paths, each with its NUL; none: all */
    WR_H5_CHUNKS,   /* number: of the dataset, in the order of DATASET */
    WR_H5_CREATE,   /* payload: struct wr_h5_dataset each: name, type, dims,
                       layout, chunk */
    /* the helper asks, weir answers */
    WR_H5_READ,  /* offset, number: bytes */
    WR_H5_BYTES, /* payload: as many */
    WR_H5_FAIL,  /* they could not be read */
    /* the helper answers */
    WR_H5_DATASET, /* payload: struct wr_h5_dataset */
    WR_H5_PLACED,  /* payload: struct wr_h5_place each, in C order of chunks */
    WR_H5_WRITE,   /* offset, payload: bytes of the file's metadata */
    WR_H5_DONE,    /* the end of an answer; number: CREATE: bytes of the file */
    WR_H5_ERROR,   /* the same; payload: why, a text with its NUL */
};

struct wr_h5_head {
    uint32_t version, kind;
    uint64_t number, offset;
    uint64_t len; /* bytes of payload behind it */
};

enum wr_h5_layout {
    WR_H5_REFUSED,    /* `why` says what it is that weir does not read */
    WR_H5_CONTIGUOUS, /* `bytes` at `address` */
    WR_H5_CHUNKED,
    WR_H5_UNWRITTEN, /* nothing is stored: all is fill value */
};

/* Types by what they are, not by weir's numbers. */
enum wr_h5_class {
    WR_H5_UNSIGNED,
    WR_H5_SIGNED,
    WR_H5_FLOAT,
    WR_H5_BFLOAT,
    WR_H5_BOOL,
    WR_H5_COMPLEX /* two floats, the real part first */
};

struct wr_h5_dataset {
    char name[WR_H5_NAME]; /* "group/x" */
    uint32_t layout;       /* enum wr_h5_layout */
    uint32_t type;         /* enum wr_h5_class */
    uint32_t size;         /* bytes of a number */
    uint32_t element;      /* of what filters take for one: size, or a string */
    uint32_t text;         /* strings: the last dimension is their bytes */
    uint32_t inner; /* the last dimension, where it lies in the elements: bytes
                       of strings, 2 for complex numbers of two f64; 0: none */
    uint32_t big_endian;
    uint32_t unreachable; /* refused for where it lies or how it is packed, not
                             for what it holds */
    uint32_t ndim, filter_count;
    uint64_t dims[WR_H5_DIMS], chunk[WR_H5_DIMS];
    uint64_t address, bytes;
    uint32_t filters[WR_H5_FILTERS]; /* HDF5's numbers, as they were applied */
    uint8_t fill[8];                 /* one element, as it is stored */
    char why[WR_H5_WHY];
};

/* Beside HDF5's numbers: 32008 that also packs. */
#define WR_H5_BITSHUFFLE_LZ4 (2u << 16 | 32008u)

#define WR_H5_UNALLOCATED UINT64_MAX

/* Where a chunk lies. */
struct wr_h5_place {
    uint64_t address; /* WR_H5_UNALLOCATED: nowhere, it is fill value */
    uint64_t stored;
    uint32_t mask; /* bit k: filter k was not applied */
    uint32_t zero;
};

#endif
