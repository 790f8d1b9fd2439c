/* jpeg_guard.h - libjpeg held in: errors, input's end and limits.
 * SPDX-License-Identifier: Apache-2.0
 *
 * libjpeg reports by callbacks and leaves by longjmp. A guard turns all that
 * into a return code and a message, takes warnings about the data as the
 * errors they are, and bounds what a hostile file can cost. */
#ifndef WR_CODEC_JPEG_GUARD_H
#define WR_CODEC_JPEG_GUARD_H

#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

#include "weir/error.h"

enum wr_jpeg_phase {
    WR_JPEG_HEADER = 0,
    WR_JPEG_SCANS, /* all scans of a progressive picture are read */
    WR_JPEG_ROWS,
};

/* Lives at one address while libjpeg uses it. Zero it to start. */
struct wr_jpeg_guard {
    struct jpeg_decompress_struct jpeg;
    jmp_buf jump; /* set by the caller before every call into libjpeg */
    int is_live;  /* jpeg is created and not destroyed */
    enum wr_jpeg_phase phase;
    int is_cut;    /* the data ended, and an end marker was made up */
    unsigned seen; /* bits of components that had a scan of several */
    int code;
    char msg[JMSG_LENGTH_MAX + 100];
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
};

/* Makes a fresh libjpeg object (tables of a picture before must not leak into
 * the next) that reads `bytes`, borrowed. May jump. */
void wr_jpeg_guard_open(struct wr_jpeg_guard *g, const void *bytes, size_t len);

/* After all scans were read: leaves if some are missing. Those that are there
 * are complete; but the data may have ended between two. May jump. */
void wr_jpeg_guard_check_scans(struct wr_jpeg_guard *g);

/* Destroys the object, if there is one. */
void wr_jpeg_guard_close(struct wr_jpeg_guard *g);

/* After a jump: closes and returns the failure with its message. */
int wr_jpeg_guard_fail(struct wr_jpeg_guard *g, weir_err *err);

#endif
