/* moved.h - what an emulated device moved, over time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * emu:PROFILE,trace=FILE:URL appends to FILE when the store is closed: a line
 * "MILLISECOND READ WRITTEN" for each tenth of a second in which bytes came
 * from or went to the device, by the clock of wr_clock_ns. Several stores of
 * one file add their lines; readers sum them up. */
#ifndef WR_STORAGE_MOVED_H
#define WR_STORAGE_MOVED_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

#define WR_MOVED_STEP_MS 100u

struct wr_moved;

/* Opens FILE to append to it. */
int wr_moved_open(const char *path, struct wr_moved **ret, weir_err *err);

/* Bytes that the device was done with at `at_ns`. Takes NULL; any thread. */
void wr_moved_read(struct wr_moved *t, uint64_t bytes, uint64_t at_ns);
void wr_moved_written(struct wr_moved *t, uint64_t bytes, uint64_t at_ns);

/* Writes the lines and frees; takes NULL. */
void wr_moved_close(struct wr_moved *t);

/* One row of what was moved. */
struct wr_moved_row {
    uint64_t ms; /* of wr_clock_ns, at the beginning of the row */
    uint64_t read, written;
};

/* Reads a file of such lines: rows in order of time, each time once. Lines that
 * are none are passed over. Free *ret. */
int wr_moved_load(const char *path, struct wr_moved_row **ret,
                  size_t *ret_count, weir_err *err);

#endif
