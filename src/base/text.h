/* text.h - widths and wrapping of text for a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_TEXT_H
#define WR_BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Columns that UTF-8 text takes on a terminal; escape sequences for colours
 * take none, bytes that are not UTF-8 one each. */
size_t wr_text_width(const char *s);

bool wr_text_is_utf8(const char *s);

/* The first byte that is not UTF-8; NULL: all are. */
const char *wr_text_not_utf8(const char *at, const char *end);

/* `s` with what a terminal or JSON cannot show as \xNN, into buf, which is
 * returned: bytes that are not UTF-8, and if `controls`, control characters with
 * those that turn the direction of text (U+202E...). */
const char *wr_text_show(const char *s, bool controls, char *buf, size_t cap);

/* The same as a copy, with control characters shown too; NULL: no memory. */
char *wr_text_clean(const char *s);

/* The same, printed: of s[0..len). */
void wr_text_put(FILE *to, const char *s, size_t len);

/* Bytes at the beginning of s[0..len) that have no effect on a terminal: up to
 * what wr_text_show would change. */
size_t wr_text_harmless(const char *s, size_t len);

/* Bytes of the UTF-8 character at s (not the end), and its code point; 0: there
 * is none. */
size_t wr_text_decode(const char *s, uint32_t *ret_point);

/* s[0..len) as it stands between the quotes of a JSON string, into buf, which has
 * WR_TEXT_ESCAPED for each byte; returns how many it takes. `html`: <, > and &
 * are escaped, too, so that no text can end an element or begin a comment. */
#define WR_TEXT_ESCAPED 6
size_t wr_text_escape(const char *s, size_t len, bool html, char *buf);

/* Whether a spreadsheet may run a CSV cell that begins so: = + - @, but not "-5"
 * and "-". CSV puts a ' in front of it, in quotes. */
bool wr_text_is_formula(const char *s);

/* Removes the query strings of URLs in a command: they carry signatures and
 * tokens. Each ends at a blank. */
void wr_text_drop_queries(char *s);

/* Bytes of the longest beginning of `s` that fits into `columns`. */
size_t wr_text_fit(const char *s, size_t columns);

/* Prints `s` wrapped at blanks so that no line passes column `width`. The
 * cursor stands at column `at` already; lines after the first start with
 * `indent` blanks. A blank line in `s` separates paragraphs. Ends with a
 * newline. */
struct wr_text_wrap {
    size_t at, indent, width;
};
void wr_text_print(FILE *to, const char *s, struct wr_text_wrap wrap);

/* The same of s[0..len), one line that is clean already: its blanks and styles are
 * kept, and no newline follows. */
void wr_text_fold(FILE *to, const char *s, size_t len,
                  struct wr_text_wrap wrap);

/* Columns of s[0..len). */
size_t wr_text_columns(const char *s, size_t len);

/* A horizontal bar, `columns` long at value == max, into buf, which is returned
 * (3 bytes a column + 1 are enough). */
char *wr_text_bar(double value, double max, unsigned columns, bool utf8,
                  char *buf);

#endif
