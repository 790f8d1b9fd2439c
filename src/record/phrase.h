/* phrase.h - sentences over the values of a result.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A phrase is a text with values of a JSON object in it:
 *     {bytes}           as it is; {index.bytes} of an object inside
 *     {bytes:b}         "1.2 MB"; n: "1,234"; t, u, m, s: "1.5 ms" of
 *                       nanoseconds, microseconds, milliseconds, seconds; w:
 *                       local time of nanoseconds since 1970; M: divided by a
 *                       million
 *     {names} {dims:x}  a list: "a, b" and "2x3"
 *     {rate:.1} {step:8} {tier:-5b}   one digit; 8 columns, right or left
 *     {count?some|none} {count=1?is|are} {tier=fast?a|b}   one of two texts, in
 *                       which there may be values as well
 *     [of {total}|all]  the first of these texts whose values are all
 *                       something: neither missing nor null, 0, "", false or an
 *                       empty list. {?total} shows nothing and asks only that;
 *                       {!total} asks for the opposite */
#ifndef WR_RECORD_PHRASE_H
#define WR_RECORD_PHRASE_H

#include <jansson.h>

/* The text, to be freed; NULL: memory is short. */
char *wr_phrase(const json_t *o, const char *phrase);

/* The value at a path such as "index.bytes"; NULL: there is none. */
json_t *wr_phrase_value(const json_t *o, const char *path);

#endif
