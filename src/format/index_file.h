/* index_file.h - an index in a file, and back: docs/formats/index.md.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_INDEX_FILE_H
#define WR_FORMAT_INDEX_FILE_H

#include "format/index.h"
#include "storage/storage.h"

#define WR_INDEX_FILE_VERSION 6u
#define WR_INDEX_TEMP_SUFFIX  ".tmp" /* of files that are being written */

/* What an index file is of. */
struct wr_index_about {
    const char *key;    /* the data set, as the caller names it */
    const char *format; /* the format that indexed it */
};

/* Writes a sealed index to `file` in the folder `st`: to a file of another
 * name that is synced and then renamed, so that whoever opens `file` sees all
 * of an index, whatever happens meanwhile. */
int wr_index_save(const struct wr_index *ix, struct wr_store *st,
                  const char *file, const struct wr_index_about *about,
                  weir_err *err);

/* Maps the index file at the local path `path` and checks all of it. Its key
 * must be `key`. *ret_format (the format's name) lives as long as *ret.
 * WEIR_ENOENT: there is none; WEIR_EFORMAT: it is not to be believed;
 * WEIR_EACCES: it is not ours (base/own.h). */
int wr_index_load(const char *path, const char *key, struct wr_index **ret,
                  const char **ret_format, weir_err *err);

/* The same of a file that is in memory, which must outlive *ret; `bytes` is
 * aligned to 8. */
int wr_index_parse(const void *bytes, size_t len, const char *key,
                   struct wr_index **ret, const char **ret_format,
                   weir_err *err);

/* The checksum that belongs into such a file, at byte 8. For the tests. */
uint64_t wr_index_file_checksum(const void *bytes, size_t len);

#endif
