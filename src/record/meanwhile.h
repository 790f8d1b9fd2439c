/* meanwhile.h - what the machine did while something ran, in one sentence.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_MEANWHILE_H
#define WR_RECORD_MEANWHILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* "Meanwhile: disk vda read 410 MB/s, 63 % busy; 1.9 of 2 cores busy, ..." of
 * a record and the seconds between; false, and "" in buf, when
 * it was not watched or too short to tell. */
bool wr_meanwhile(const json_t *record, double from_s, double to_s, char *buf,
                  size_t cap);

#endif
