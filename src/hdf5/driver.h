/* driver.h - libhdf5's file driver whose bytes weir reads and writes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * While it is armed, a read of raw data is noted and not made: H5Dread_chunk
 * then costs one lookup in the chunk index. The library's own calls that tell
 * where a chunk is go through all chunks before it. */
#ifndef WR_HDF5_DRIVER_H
#define WR_HDF5_DRIVER_H

#include <hdf5.h>
#include <stdbool.h>

struct h5_file; /* one file after another */

struct h5_file *h5_file_new(void); /* NULL: no memory */
/* A file of `size` bytes; one that was open is closed. */
bool h5_file_open(struct h5_file *f, uint64_t size);
/* An empty one: its metadata go to weir as they are written. With `chunked` it
 * has what libhdf5 1.10 brought: chunks that need no index. */
bool h5_file_create(struct h5_file *f, bool chunked);
bool h5_file_close(struct h5_file *f);
hid_t h5_file_id(const struct h5_file *f); /* negative: none is open */
uint64_t h5_file_size(const struct h5_file *f);

struct h5_note {
    bool armed, seen;
    haddr_t address;
    size_t len;
};
struct h5_note *h5_note(struct h5_file *f);

/* Reads through the cache. */
bool h5_bytes(struct h5_file *f, uint64_t offset, size_t len, void *buf);

/* Where bytes like these lie in what was read of the file so far; false: they
 * do not. */
bool h5_find_bytes(struct h5_file *f, const void *bytes, size_t len,
                   uint64_t *ret);

#endif
