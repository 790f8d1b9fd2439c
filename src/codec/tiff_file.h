/* tiff_file.h - libtiff held in: input in memory, errors, limits.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_TIFF_FILE_H
#define WR_CODEC_TIFF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <tiffio.h>

#include "weir/error.h"

/* Lives at one address while it is open. */
struct wr_tiff_file {
    TIFF *tiff;           /* owned */
    const uint8_t *bytes; /* borrowed */
    uint64_t len, at;
    bool is_strict; /* warnings are damage, as they are among pixels */
    int code;       /* of the first thing that was wrong; 0: nothing */
    char msg[200];
};

int wr_tiff_open(struct wr_tiff_file *f, const void *bytes, size_t len,
                 weir_err *err);
void wr_tiff_close(struct wr_tiff_file *f);

/* The failure that libtiff reported, or `otherwise`. */
int wr_tiff_fail(const struct wr_tiff_file *f, const char *otherwise,
                 weir_err *err);

#endif
