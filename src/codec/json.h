/* json.h - JSON where it lies: values passed over, strings, positions.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing is allocated and no tree is built. RFC 8259, and what Python writes
 * for floats that are not finite: NaN, Infinity and -Infinity. */
#ifndef WR_CODEC_JSON_H
#define WR_CODEC_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WR_JSON_DEPTH 64 /* of arrays and objects in each other */

struct wr_json {
    const char *at, *end; /* borrowed */
    const char *bad;      /* static: what is wrong at `at`, or NULL */
};

struct wr_json_string {
    const char *at; /* borrowed: between the quotes */
    size_t len;
    bool escaped;
};

/* Steps behind blanks; the byte there, or 0 at the end. */
static inline char wr_json_peek(struct wr_json *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\n' ||
                              *j->at == '\r' || *j->at == '\t'))
        j->at++;
    return j->at < j->end ? *j->at : '\0';
}

/* False, with `why` as what is wrong here. */
bool wr_json_fail(struct wr_json *j, const char *why);

/* Takes `c`, or says what was expected. */
bool wr_json_take(struct wr_json *j, char c, const char *why);

/* Passes over one value; of numbers only the characters are looked at. */
bool wr_json_skip(struct wr_json *j);

/* A string; a member's name with the colon behind it. */
bool wr_json_string(struct wr_json *j, struct wr_json_string *ret);
bool wr_json_name(struct wr_json *j, struct wr_json_string *ret);

/* An escape, whose backslash was taken, as UTF-8 at *to, which is moved behind
 * it: never longer than it was. Half of a pair of surrogates is refused. */
bool wr_json_escape(struct wr_json *j, char **to);

/* The string in UTF-8 into buf (s->len are enough); false: an escape in it is
 * none, or half of a pair of surrogates. */
bool wr_json_unescape(const struct wr_json_string *s, char *buf,
                      size_t *ret_len);

/* A number, true, false, null or NaN, not yet looked at. */
bool wr_json_word(struct wr_json *j, const char **ret, size_t *ret_len);

/* Where the value at `at` ends, going by quotes and brackets alone: NULL: not
 * before `end`. */
const char *wr_json_value_end(const char *at, const char *end);

#endif
