/* scan.h - JSON taken apart where it lies, without memory of its own.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Heads of safetensors files may come from anywhere and have 100 MB: a tree of
 * objects would take 70 times as much. Messages say "not JSON: ... at byte N".
 */
#ifndef WR_SAFETENSORS_SCAN_H
#define WR_SAFETENSORS_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/json.h"
#include "weir/error.h"

struct wr_scan {
    char *text; /* borrowed; UTF-8 without a NUL; is overwritten */
    struct wr_json j;
};

/* The next character that is not white space; NUL at the end. */
char wr_scan_peek(struct wr_scan *s);
/* Takes one character that must come next. */
int wr_scan_take(struct wr_scan *s, char c, weir_err *err);
/* After the opening bracket and after each member: 1 when there is another one,
 * 0 when `close` was taken. *first is true before the first. */
int wr_scan_more(struct wr_scan *s, char close, bool *first, weir_err *err);
/* A text, which lies in s->text from then on. NUL in it is refused. */
int wr_scan_text(struct wr_scan *s, char **ret, weir_err *err);
/* A text and the colon behind it. */
int wr_scan_key(struct wr_scan *s, char **ret, weir_err *err);
/* A number; *ret_whole: it is written as a whole number from 0, *ret is that or
 * UINT64_MAX when it is larger. */
int wr_scan_number(struct wr_scan *s, bool *ret_whole, uint64_t *ret,
                   weir_err *err);
/* Passes over a value of any kind. */
int wr_scan_skip(struct wr_scan *s, weir_err *err);
/* Nothing but white space may follow. */
int wr_scan_end(struct wr_scan *s, weir_err *err);

#endif
