/* files.h - which files are of a format, those of others, and what a data set has.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_FILES_H
#define WR_FORMAT_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "format/listing.h"
#include "storage/storage.h"

/* --- files of other software that weir does not read, by name --- */

/* "a Parquet file; write ..." (static), or NULL: it may be text. Negative in
 * *ret_lack: resources lacked to tell. */
const char *wr_foreign_name(struct wr_store *st, const char *path,
                            int *ret_lack);

/* --- which files are of a format, and those that a data set has --- */

/* Folders of pictures inside each other, the root included; deeper ones are not
 * read. */
#define WR_IMAGES_DEPTH 64

#define WR_FILES_BESIDE 2u /* files that belong to one, at most */

struct wr_index_job;

/* How the files of a format are told from others; a member of its table. How
 * sure that is, is a number from 1 to 100 (WR_PROBE_GUESS: any file may be one). */
struct wr_format_files {
    const char *endings; /* of names that tell it: ".tar .tgz" */
    const char *but;     /* of names that are none, though they end so */
    int named;           /* how sure a file is that is called so */
    /* optional: names that files of other kinds have, too: `check` tells. */
    bool (*is_name)(const char *name);
    /* optional: does the file begin like one, whatever it is called? 1 or 0;
     * WEIR_E... when resources lacked to tell. */
    int (*check)(struct wr_store *st, const char *path);
    int checked; /* how sure a file is of which `check` says so */
    int folder;  /* how sure a folder is that has such files */
    int tree;    /* the same, if it has folders beside them; 0: as `folder` */
    /* optional: the name of file k that belongs to the samples of the file
     * `name` (labels, an index), k from 0; false: there is none or no more, or it
     * does not fit. */
    bool (*beside)(const char *name, unsigned k, char *buf, size_t cap);
    bool yields; /* folders in which pictures are met first are pictures */
};

/* How sure it is that the file `leaf`, or the folder that `st` is (NULL), is of
 * the format; 0: it is not. WEIR_E... when resources lacked to tell. */
int wr_files_probe(const struct wr_format_files *f, struct wr_store *st,
                   const char *leaf);

/* Looks at some entries of the folder that `st` is and copies the name of the
 * first file of the format that it meets: 1, or 0 when there is none among them
 * or its name does not fit; negative when resources lacked. */
int wr_files_peek(const struct wr_format_files *f, struct wr_store *st,
                  char *buf, size_t cap);

/* The leaf alone, whatever it is called; or the files of the folder that are of
 * the format, sorted byte by byte, and if it has none those of the folders
 * in it, folder by folder; hidden ones are left out. The index then depends on
 * these folders. Zeroed *l before; wr_listing_done after, in any case. */
int wr_files_list(struct wr_index_job *job, const struct wr_format_files *f,
                  struct wr_listing *l, weir_err *err);

/* For formats with labels in files of their own: notes the folder, too, where a
 * file was named; they may come to lie beside it. */
int wr_files_stamp_folder(struct wr_index_job *job, weir_err *err);

/* Calls `add` for each of them: it adds the samples of one file; *ret_skip tells
 * whether a failure is the file's own. Then others are still added, and it is a
 * problem of the data set. */
int wr_files_each(struct wr_index_job *job, const struct wr_format_files *f,
                  int (*add)(void *arg, const char *name, bool *ret_skip,
                             weir_err *err),
                  void *arg, weir_err *err);

#endif
