/* error.h - failing with a message, in one expression.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_ERROR_H
#define WR_BASE_ERROR_H

#include "weir/error.h"

/* Fills `err` (if any) and returns `code`, so that a caller can write
 * `return wr_fail(err, WEIR_EFORMAT, "'%s': ...", name);`. The limit behind a
 * lack of resources is appended: see base/lack.h. */
int wr_fail(weir_err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));

/* The same for a failed system call: `os_errno` chooses the code and its text
 * is appended: "'a/b.jpg': cannot open: No such file or directory". */
int wr_fail_errno(weir_err *err, int os_errno, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Puts "prefix: " in front of the message that is there; returns err->code
 * (or `code` when err is NULL). For callers that know the name. */
int wr_fail_prefix(weir_err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Fails as something else did: `why` becomes `err` (if any) when `code` is
 * negative; returns `code`. For callers that look at an error before they pass it
 * on, whether or not theirs wants to hear of it. */
int wr_fail_as(weir_err *err, int code, const weir_err *why);

/* What follows "'NAME'" at the beginning of a message, which shows the name as
 * base/text.h does; NULL: it begins otherwise. */
const char *wr_error_past_name(const char *msg, const char *name);

/* WEIR_E... for an errno value. A symbolic link where none is followed (ELOOP)
 * is WEIR_EACCES; a lack of resources has codes of its own (base/lack.h). */
int wr_error_from_errno(int os_errno);

#endif
