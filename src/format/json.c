/* json.c - JSON lines and arrays, plain or gzip: each value is a sample.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* --- the values at some pointers, in one pass over a text --- */

#define NAME_MAX_BYTES 1024 /* six for each of a field's name */

/* Where the next part of each pointer begins ("/a/b": at a slash, or at the
 * NUL). `mask` has the pointers that lead through the value at w->j.at. */
static bool walk_value(struct wr_json_walk *w, uint64_t mask, const char **rest,
                       unsigned depth);

/* Behind the part of the pointer at `p` if it is `name`; else NULL. */
static const char *match_part(const char *p, const char *name, size_t len)
{
    size_t k = 0;

    for (p++; *p && *p != '/'; p++, k++) {
        char c = *p;

        if (c == '~' && (p[1] == '0' || p[1] == '1'))
            c = *++p == '0' ? '~' : '/';
        if (k >= len || name[k] != c)
            return NULL;
    }
    return k == len ? p : NULL;
}

/* The value of a member or element called so. */
static bool walk_child(struct wr_json_walk *w, uint64_t mask, const char **rest,
                       unsigned depth, struct wr_json_string name)
{
    const char *below[WR_JSON_TARGETS];
    uint64_t into = 0;

    for (uint64_t left = mask; left; left &= left - 1) {
        unsigned k = (unsigned)__builtin_ctzll(left);

        below[k] = match_part(rest[k], name.at, name.len);
        into |= below[k] ? UINT64_C(1) << k : 0;
    }
    if (!into)
        return wr_json_skip(&w->j);
    w->found &= ~into; /* of members of one name the last counts */
    return walk_value(w, into, below, depth + 1);
}

static bool walk_object(struct wr_json_walk *w, uint64_t mask,
                        const char **rest, unsigned depth)
{
    char plain[NAME_MAX_BYTES];
    struct wr_json_string name;

    w->j.at++;
    if (wr_json_peek(&w->j) == '}') {
        w->j.at++;
        return true;
    }
    for (;;) {
        wr_json_peek(&w->j);
        if (!wr_json_name(&w->j, &name))
            return false;
        if (name.escaped && name.len < sizeof(plain) &&
            wr_json_unescape(&name, plain, &name.len))
            name.at = plain;
        if (!walk_child(w, mask, rest, depth, name))
            return false;
        if (wr_json_peek(&w->j) != ',')
            return wr_json_take(&w->j, '}',
                                "a comma or the end was to come here");
        w->j.at++;
    }
}

static bool walk_array(struct wr_json_walk *w, uint64_t mask, const char **rest,
                       unsigned depth)
{
    char number[24];

    w->j.at++;
    if (wr_json_peek(&w->j) == ']') {
        w->j.at++;
        return true;
    }
    for (uint64_t n = 0;; n++) {
        struct wr_json_string name = {.at = number};

        name.len = (size_t)snprintf(number, sizeof(number), "%" PRIu64, n);
        if (!walk_child(w, mask, rest, depth, name))
            return false;
        if (wr_json_peek(&w->j) != ',')
            return wr_json_take(&w->j, ']',
                                "a comma or the end was to come here");
        w->j.at++;
    }
}

static bool walk_value(struct wr_json_walk *w, uint64_t mask, const char **rest,
                       unsigned depth)
{
    const char *start;
    uint64_t further = 0;
    char c = wr_json_peek(&w->j);

    if (depth > WR_JSON_DEPTH)
        return wr_json_fail(&w->j, "nested deeper than 64");
    start = w->j.at;
    for (; mask; mask &= mask - 1) {
        unsigned k = (unsigned)__builtin_ctzll(mask);

        if (*rest[k]) {
            further |= UINT64_C(1) << k;
            continue;
        }
        w->j.at = start;
        w->found |= UINT64_C(1) << k;
        if (!w->take(w->arg, k, &w->j))
            return false;
    }
    if (!further)
        return true;
    w->j.at = start;
    if (c == '{')
        return walk_object(w, further, rest, depth);
    if (c == '[')
        return walk_array(w, further, rest, depth);
    return wr_json_skip(&w->j);
}

bool wr_json_walk(struct wr_json_walk *w)
{
    uint64_t all = w->count == 64 ? UINT64_MAX : (UINT64_C(1) << w->count) - 1;

    w->found = 0;
    if (!(all ? walk_value(w, all, w->pointer, 0) : wr_json_skip(&w->j)))
        return false;
    wr_json_peek(&w->j);
    return w->j.at == w->j.end ||
           wr_json_fail(&w->j, "text behind the end of the value");
}

/* --- JSON lines and arrays, plain or gzip: each value is a sample --- */

#define PROBE_BYTES 65536u

struct json_files {
    struct wr_text_files text; /* first */
    const char *label; /* borrowed: of labels that are words; NULL: none */
};

/* --- names --- */

#define LINES ".jsonl .ndjson .jsonl.gz .ndjson.gz"

static bool is_lines_name(const char *name)
{
    return wr_name_has_ext(name, LINES);
}

static bool is_json_name(const char *name)
{
    return is_lines_name(name) || wr_name_has_ext(name, ".json .json.gz");
}

bool wr_json_is_array(const char *name, const char *text, size_t len,
                      size_t *ret_from)
{
    size_t mark = len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    struct wr_json j = {.at = text + mark, .end = text + len};

    *ret_from = mark;
    if (is_lines_name(name) || wr_json_peek(&j) != '[')
        return false;
    *ret_from = (size_t)(j.at + 1 - text);
    return true;
}

/* An array of objects or of arrays; other .json files are settings and the
 * like. */
static int check_array(struct wr_store *st, const char *name)
{
    struct wr_json j;
    size_t len, from;
    char *text, c;
    bool all;
    int r;

    if (!is_json_name(name))
        return 0;
    r = wr_text_head(st, name, PROBE_BYTES, &text, &len, &all, NULL);
    if (r < 0)
        return wr_index_fails(r) ? r : 0;
    r = wr_json_is_array(name, text, len, &from);
    j = (struct wr_json){.at = text + from, .end = text + len};
    c = wr_json_peek(&j);
    free(text);
    return r && (c == '{' || c == '[');
}

/* --- records --- */

/* The label at a pointer, if it is a string; null is none. */
static bool take_label(void *arg, unsigned k, struct wr_json *j)
{
    struct wr_text_record *rec = arg;
    struct wr_json_string s;
    char c = wr_json_peek(j);

    (void)k;
    rec->word = NULL;
    rec->bad = c == '"' || c == 'n'
                   ? NULL
                   : "the label is not a string, as the others are";
    if (c != '"')
        return wr_json_skip(j);
    if (!wr_json_string(j, &s))
        return false;
    rec->word = s.at;
    rec->word_len = s.len;
    if (s.escaped) {
        rec->word = rec->own;
        if (s.len > sizeof(rec->own) ||
            !wr_json_unescape(&s, rec->own, &rec->word_len))
            rec->bad = "a label that cannot be read";
    }
    if (!rec->bad && memchr(rec->word, '\0', rec->word_len))
        rec->bad = "a label that cannot be read";
    if (rec->bad || !rec->word_len)
        rec->word = NULL;
    return true;
}

static void read_label(const char *pointer, const char *at, size_t len,
                       struct wr_text_record *rec)
{
    struct wr_json_walk w = {.j = {.at = at, .end = at + len},
                             .pointer = {pointer},
                             .count = 1,
                             .take = take_label,
                             .arg = rec};

    if (!wr_json_walk(&w)) {
        rec->bad = w.j.bad;
        rec->column = (unsigned)(w.j.at - at) + 1;
    } else if (!w.found) { /* no label, or one of an object that is replaced */
        rec->bad = NULL;
        rec->word = NULL;
    }
}

static int64_t next_line(const char *at, const char *end, bool last,
                         struct wr_text_record *ret)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    struct wr_json j = {.at = at, .end = newline ? newline : end};

    if (!newline && !last)
        return 0;
    ret->length = (size_t)(j.end - at);
    if (ret->length && at[ret->length - 1] == '\r')
        ret->length--;
    wr_json_peek(&j);
    ret->none = j.at == j.end;
    return (newline ? newline + 1 : end) - at;
}

/* What stands behind the array. */
static int64_t next_behind(struct wr_json *j, struct wr_text_record *ret,
                           weir_err *err)
{
    const char *at = j->at;

    wr_json_peek(j);
    if (j->at < j->end)
        return wr_fail(err, WEIR_EFORMAT, "text behind the array");
    ret->none = true;
    return j->at - at;
}

static int64_t next_element(const struct wr_json_rule *rule, const char *at,
                            const char *end, bool last,
                            struct wr_text_record *ret, weir_err *err)
{
    struct wr_json j = {.at = at, .end = end};
    const char *value_end;

    if (rule->place->closed)
        return next_behind(&j, ret, err);
    wr_json_peek(&j);
    if (j.at < end && *j.at == ']' && !rule->place->comma) {
        rule->place->closed = true;
        ret->none = true;
        return j.at + 1 - at;
    }
    value_end = j.at < end ? wr_json_value_end(j.at, end) : NULL;
    if (!value_end && last)
        return wr_fail(err, WEIR_EFORMAT,
                       "the text ends before the array does");
    if (!value_end)
        return 0;
    ret->skip = (size_t)(j.at - at);
    ret->length = (size_t)(value_end - j.at);
    while (ret->length && strchr(" \t\r\n", at[ret->skip + ret->length - 1]))
        ret->length--;
    if (!ret->length || *value_end == '}')
        return wr_fail(err, WEIR_EFORMAT, "an element was to come here");
    rule->place->comma = *value_end == ',';
    return value_end - at + rule->place->comma;
}

int64_t wr_json_next(const void *arg, const char *at, const char *end,
                     bool last, struct wr_text_record *ret, weir_err *err)
{
    const struct wr_json_rule *rule = arg;
    int64_t n = rule->array ? next_element(rule, at, end, last, ret, err)
                            : next_line(at, end, last, ret);

    if (n > 0 && !ret->none && rule->label)
        read_label(rule->label, at + ret->skip, ret->length, ret);
    return n;
}

/* --- files --- */

static int scan_file(struct wr_shard *s, weir_err *err)
{
    struct json_files *f = s->arg;
    struct wr_json_place place = {0};
    bool all;
    struct wr_json_rule rule = {.label = f->label, .place = &place};
    struct wr_text_scan scan = {.rule = {.next = wr_json_next, .arg = &rule},
                                .line = 1,
                                .files = &f->text};
    size_t len, from;
    char *text;
    int r = wr_text_head(s->store, s->path, PROBE_BYTES, &text, &len, &all,
                         err);

    if (r < 0)
        return r;
    rule.array = wr_json_is_array(s->path, text, len, &from);
    for (size_t k = 0; k < from; k++)
        scan.line += text[k] == '\n';
    free(text);
    scan.rule.splits = !rule.array;
    scan.from = from;
    return wr_text_scan(s, &scan, err);
}

static int add_fields(struct wr_index_job *job, struct wr_text_files *text,
                      const char *first, weir_err *err)
{
    struct json_files *f = (struct json_files *)text;
    const struct wr_field *label;
    int r = wr_json_add_fields(job, first, err);

    if (r < 0)
        return r;
    label = wr_schema_label(wr_index_schema(job->index));
    f->label = label && label->column == WR_NO_COLUMN ? label->path : NULL;
    return 0;
}

static int json_index(struct wr_index_job *job, weir_err *err)
{
    struct json_files f = {.text = {.names = &wr_format_json.files,
                                    .fields = add_fields,
                                    .scan = scan_file}};

    return wr_text_index(job, &f.text, err);
}

const struct wr_format_ops wr_format_json = {
    .name = "json",
    .help = "JSON lines, or one JSON array of samples, plain or gzip",
    .takes_fragment = true,
    .looks = WR_JSON_LOOK,
    .files = {.endings = LINES,
              .named = 95,
              .check = check_array,
              .checked = 85,
              .folder = 78,
              .tree = 40},
    .index = json_index,
    .unpack = wr_json_unpack,
};
