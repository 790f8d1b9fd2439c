/* numbers.h - numbers of a description, checked.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_WORKLOAD_NUMBERS_H
#define WR_WORKLOAD_NUMBERS_H

#include "workload/schema.h"

/* Each checks the range of the key. A message says what is wrong with the text,
 * not where it stands. */
int wr_wl_parse_number(const struct wr_wl_key *k, const char *text, double *ret,
                       weir_err *err);

/* Digits, or a number such as 1e6 or 400.0 that is a whole one. For a key without
 * negative values *ret is to be read as a uint64_t. */
int wr_wl_parse_whole(const struct wr_wl_key *k, const char *text, int64_t *ret,
                      weir_err *err);

/* A number, or one with K, M, G or T for powers of 1024. */
int wr_wl_parse_bytes(const struct wr_wl_key *k, const char *text, double *ret,
                      weir_err *err);

/* A text for a message: cut, and without what a terminal cannot show. */
const char *wr_wl_shown(const char *text, char buf[64]);

#endif
