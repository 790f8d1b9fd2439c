/* io.h - how files are read.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_IO_H
#define WEIR_IO_H

#ifdef __cplusplus
extern "C" {
#endif

enum weir_io {
    WEIR_IO_AUTO = 0, /* io_uring, or blocking if unavailable */
    WEIR_IO_URING,
    WEIR_IO_BLOCKING, /* a pool of blocking readers */
};

#ifdef __cplusplus
}
#endif
#endif
