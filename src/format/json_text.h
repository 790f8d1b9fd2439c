/* json_text.h - JSON where it lies: values passed over, strings, positions.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing is allocated and no tree is built. RFC 8259, and what Python writes
 * for floats that are not finite: NaN, Infinity and -Infinity. */
#ifndef WR_FORMAT_JSON_TEXT_H
#define WR_FORMAT_JSON_TEXT_H

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

/* The string in UTF-8 into buf (s->len are enough); false: an escape in it is
 * none, or half of a pair of surrogates. */
bool wr_json_unescape(const struct wr_json_string *s, char *buf,
                      size_t *ret_len);

/* A number, true, false, null or NaN, not yet looked at. */
bool wr_json_word(struct wr_json *j, const char **ret, size_t *ret_len);

/* Where the value at `at` ends, going by quotes and brackets alone: NULL: not
 * before `end`. */
const char *wr_json_value_end(const char *at, const char *end);

/* The first byte that is not UTF-8; NULL: all are. */
const char *wr_json_not_utf8(const char *at, const char *end);

/* --- values at a place --- */

#define WR_JSON_TARGETS 64

/* Values that are searched for by their pointers (RFC 6901). */
struct wr_json_walk {
    struct wr_json j;
    const char *pointer[WR_JSON_TARGETS]; /* borrowed */
    unsigned count;
    uint64_t found; /* bit k: pointer k was there */
    /* Takes the value at j->at for pointer k and steps behind it. */
    bool (*take)(void *arg, unsigned k, struct wr_json *j);
    void *arg; /* borrowed */
};

/* Goes through one value, to the end of the text; false: w->j.bad says why. */
bool wr_json_walk(struct wr_json_walk *w);

#endif
