/* json_fields.c - values of JSON samples as fields: which there are.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/mem.h"
#include "format/fragment.h"
#include "format/json.h"
#include "format/text_number.h"

#define LOOK_BYTES   ((size_t)1 << 20)
#define LOOK_SAMPLES 16u

enum json_kind {
    JSON_UNSEEN,
    JSON_ARRAY, /* of numbers */
    JSON_INTEGER,
    JSON_FLOAT,
    JSON_STRING,
    JSON_OTHER, /* not to be used */
};

/* A value that may become a field. */
struct json_seen {
    char name[WR_FIELD_NAME], path[WR_FIELD_PATH];
    enum json_kind kind;
    uint32_t ndim;
    uint64_t dims[7];
    bool asked; /* by its pointer, behind '#' */
};

struct json_look {
    struct wr_index_job *job; /* borrowed */
    struct json_seen *seen;   /* owned: WR_JSON_TARGETS of them */
    unsigned count;
    bool array;        /* the samples are elements of one */
    const char *label; /* borrowed: name of the field that is to be it */
};

/* --- values --- */

/* Whether the array at j is one of numbers; its shape. */
static void look_at_array(struct wr_json *j, struct json_seen *s,
                          enum json_kind *ret)
{
    struct wr_json_numbers n = {.dtype = WEIR_F32};
    struct wr_json own = *j;

    *ret = wr_json_numbers(&own, &n) ? JSON_ARRAY : JSON_OTHER;
    if (*ret == JSON_ARRAY && s->kind == JSON_UNSEEN) {
        s->ndim = n.ndim;
        memcpy(s->dims, n.dims, sizeof(s->dims));
    }
    for (uint32_t k = 0; *ret == JSON_ARRAY && k < n.ndim && s->ndim == n.ndim;
         k++)
        if (s->dims[k] != n.dims[k])
            s->dims[k] = WEIR_DIM_VARIES;
}

static enum json_kind kind_of_word(const char *at, size_t len)
{
    int64_t i;
    double f;

    if (!wr_text_number(at, len, WEIR_I64, &i) || *at == 't' || *at == 'f')
        return JSON_INTEGER;
    if (len == 4 && !memcmp(at, "null", 4))
        return JSON_UNSEEN;
    return wr_text_number(at, len, WEIR_F64, &f) ? JSON_OTHER : JSON_FLOAT;
}

/* The first sample decides; one that has something else there is broken. */
static enum json_kind join_kinds(enum json_kind first, enum json_kind kind)
{
    if (first == JSON_INTEGER && kind == JSON_FLOAT)
        return JSON_FLOAT;
    return first == JSON_UNSEEN ? kind : first;
}

static bool note_value(void *arg, unsigned k, struct wr_json *j)
{
    struct json_look *look = arg;
    struct json_seen *s = &look->seen[k];
    enum json_kind kind = JSON_OTHER;
    struct wr_json own;
    const char *word;
    size_t len;

    switch (wr_json_peek(j)) {
    case '"':
        kind = JSON_STRING;
        break;
    case '[':
        look_at_array(j, s, &kind);
        break;
    case '{':
        break;
    default:
        own = *j;
        if (wr_json_word(&own, &word, &len))
            kind = kind_of_word(word, len);
    }
    s->kind = join_kinds(s->kind, kind);
    return wr_json_skip(j);
}

/* --- which values --- */

/* "a/b" as a part of a pointer. */
static bool put_pointer(const struct wr_json_string *name, char *path)
{
    size_t w = 0;

    path[w++] = '/';
    for (size_t k = 0; k < name->len; k++) {
        char c = name->at[k];

        if (w + 3 > WR_FIELD_PATH || !c)
            return false;
        if (c == '~' || c == '/') {
            path[w++] = '~';
            c = c == '~' ? '0' : '1';
        }
        path[w++] = c;
    }
    path[w] = '\0';
    return true;
}

/* All members of the first sample, where nothing was asked for. */
static void list_members(struct json_look *look, struct wr_json j)
{
    struct json_seen *s = look->seen;
    struct wr_json_string name;

    if (wr_json_peek(&j) == '[') {
        snprintf(s->name, sizeof(s->name), "x");
        look->count = 1;
        return;
    }
    if (!wr_json_take(&j, '{', "") || wr_json_peek(&j) == '}')
        return;
    do {
        if (!wr_json_name(&j, &name) || !wr_json_skip(&j))
            return;
        if (name.escaped || !name.len || name.len >= WR_FIELD_NAME - 1 ||
            look->count == WR_JSON_TARGETS ||
            !put_pointer(&name, s[look->count].path))
            continue;
        memcpy(s[look->count].name, name.at, name.len);
        s[look->count++].name[name.len] = '\0';
    } while (wr_json_peek(&j) == ',' && j.at++);
}

static int list_asked(struct json_look *look, const struct wr_fragment *f,
                      weir_err *err)
{
    for (unsigned k = 0; k < f->count; k++) {
        const struct wr_fragment_pair *p = &f->pairs[k];
        struct json_seen *s = &look->seen[look->count++];

        if (p->value[0] != '/' && strcmp(p->value, ".") != 0)
            return wr_fail(err, WEIR_EINVAL,
                           "'#%s=%s': write a JSON pointer, as /data/x, or . "
                           "for all of the sample",
                           p->name, p->value);
        memcpy(s->name, p->name, sizeof(s->name));
        if (p->value[0] == '/')
            memcpy(s->path, p->value, sizeof(s->path));
        s->asked = true;
    }
    return 0;
}

static int look_at_sample(struct json_look *look, const char *at, size_t len,
                          bool first)
{
    struct wr_json_walk w = {
        .j = {.at = at, .end = at + len}, .take = note_value, .arg = look};

    if (first && !look->count)
        list_members(look, w.j);
    for (unsigned k = 0; k < look->count; k++)
        w.pointer[k] = look->seen[k].path;
    w.count = look->count;
    return wr_json_walk(&w);
}

/* The first records of `text`; how many there were. */
static unsigned look_at_text(struct json_look *look, const char *path,
                             const char *text, size_t len, bool all)
{
    bool closed = false;
    struct wr_json_rule rule = {.closed = &closed};
    const char *at, *end = text + len;
    unsigned samples = 0;
    size_t from;

    look->array = rule.array = wr_json_is_array(path, text, len, &from);
    at = text + from;
    while (samples < LOOK_SAMPLES && at < end) {
        struct wr_text_record rec = {0};
        int64_t n = wr_json_next(&rule, at, end, all, &rec, NULL);

        if (n <= 0)
            break;
        if (!rec.none)
            look_at_sample(look, at + rec.skip, rec.length, !samples);
        samples += !rec.none;
        at += n;
    }
    return samples;
}

static int look_at_file(struct json_look *look, const char *path, weir_err *err)
{
    unsigned samples = 0;
    bool all = false;

    for (size_t max = LOOK_BYTES; !samples && !all; max *= 8) {
        size_t len;
        char *text;
        int r;

        if (max > WR_TEXT_MAX_RECORD)
            return wr_fail(err, WEIR_ELIMIT,
                           "'%s': the first sample has more than 1 GiB", path);
        r = wr_text_head(look->job->store, path, max, &text, &len, &all, err);
        if (r < 0)
            return r;
        samples = look_at_text(look, path, text, len, all);
        free(text);
    }
    return 0;
}

/* --- fields --- */

static bool is_label_name(const char *name)
{
    static const char *const usual[] = {"label", "class", "target", "y"};

    for (size_t k = 0; k < WR_ARRAY_LEN(usual); k++)
        if (!strcasecmp(name, usual[k]))
            return true;
    return false;
}

/* The value that is the label: what is called so, or what was said. */
static const struct json_seen *find_label(const struct json_look *look)
{
    for (unsigned k = 0; k < look->count; k++) {
        const struct json_seen *s = &look->seen[k];
        bool scalar = s->kind == JSON_INTEGER || s->kind == JSON_FLOAT ||
                      s->kind == JSON_STRING;

        if (scalar && (look->label ? !strcmp(s->name, look->label)
                                   : is_label_name(s->name)))
            return s;
    }
    return NULL;
}

static int add_label(struct json_look *look, const struct json_seen *s,
                     weir_err *err)
{
    struct wr_field f = {
        .pub = {.kind = WEIR_FIELD_SCALAR, .dtype = WEIR_I64, .is_label = 1},
        .unpacked = true};
    int r;

    memcpy(f.name, s->name, sizeof(f.name));
    memcpy(f.path, s->path, sizeof(f.path));
    if (s->kind == JSON_STRING) {
        f.column = WR_NO_COLUMN;
        f.scalar = WR_SCALAR_IS_LABEL;
        f.unpacked = false;
        return wr_index_add_field(look->job->index, &f, err);
    }
    r = wr_text_declared(look->job->cfg->schema, s->name,
                         s->kind == JSON_INTEGER ? WEIR_I64 : WEIR_F32,
                         &f.pub.dtype, err);
    return r < 0 ? r : wr_index_add_field(look->job->index, &f, err);
}

static int add_seen(struct json_look *look, const struct json_seen *s,
                    bool extra, weir_err *err)
{
    bool array = s->kind == JSON_ARRAY, string = s->kind == JSON_STRING;
    struct wr_field f = {
        .pub = {.kind = array    ? WEIR_FIELD_TENSOR
                        : string ? WEIR_FIELD_BYTES
                                 : WEIR_FIELD_SCALAR,
                .dtype = WEIR_U8,
                .ndim = array ? s->ndim : string,
                .dims = {WEIR_DIM_VARIES},
                .is_extra = extra},
        .unpacked = true,
    };
    int r;

    memcpy(f.name, s->name, sizeof(f.name));
    memcpy(f.path, s->path, sizeof(f.path));
    if (!strcmp(f.name, "line"))
        strcpy(f.name, "line_");
    if (array)
        memcpy(f.pub.dims, s->dims, s->ndim * sizeof(s->dims[0]));
    for (uint32_t k = 0; array && k < s->ndim; k++)
        if (!s->dims[k])
            f.pub.dims[k] = WEIR_DIM_VARIES;
    if (!string) {
        r = wr_text_declared(look->job->cfg->schema, f.name,
                             array                     ? WEIR_F32
                             : s->kind == JSON_INTEGER ? WEIR_I64
                                                       : WEIR_F32,
                             &f.pub.dtype, err);
        if (r < 0)
            return r;
    }
    return wr_index_add_field(look->job->index, &f, err);
}

static bool is_used(const struct json_seen *s)
{
    return s->kind != JSON_UNSEEN && s->kind != JSON_OTHER;
}

/* The one array of numbers is called x. */
static void name_array(struct json_look *look)
{
    struct json_seen *only = NULL;

    for (unsigned k = 0; k < look->count; k++) {
        struct json_seen *s = &look->seen[k];

        if (s->asked || (s->kind == JSON_ARRAY && only) ||
            (!strcmp(s->name, "x") && s->kind != JSON_ARRAY))
            return;
        only = s->kind == JSON_ARRAY ? s : only;
    }
    if (only)
        strcpy(only->name, "x");
}

static int add_all(struct json_look *look, const char *path, weir_err *err)
{
    const struct json_seen *label;
    unsigned fields = 0;
    int r = 0;

    name_array(look);
    label = find_label(look);
    for (unsigned k = 0; k < look->count; k++)
        if (look->seen[k].asked && !is_used(&look->seen[k]))
            return wr_fail(err, WEIR_EFORMAT,
                           "'%s': '#%s=%s': the first samples have no number, "
                           "string or rectangular array of numbers there",
                           path, look->seen[k].name, look->seen[k].path);
    for (int pass = 0; pass < 2; pass++) /* tensors first */
        for (unsigned k = 0; k < look->count && r == 0; k++) {
            const struct json_seen *s = &look->seen[k];
            bool array = s->kind == JSON_ARRAY;

            if (!is_used(s) || array != (pass == 0))
                continue;
            fields++;
            r = s == label ? add_label(look, s, err)
                           : add_seen(look, s, !array && !s->asked, err);
        }
    if (r == 0 && !fields)
        r = wr_fail(err, WEIR_EFORMAT,
                    "'%s': the first samples have no numbers and no strings; "
                    "name some by #x=/POINTER",
                    path);
    return r < 0 ? r
                 : wr_text_add_line(look->job->index,
                                    look->array ? "array" : "", err);
}

int wr_json_add_fields(struct wr_index_job *job, const char *path,
                       weir_err *err)
{
    struct json_look look = {.job = job};
    struct wr_fragment *f = malloc(sizeof(*f));
    char label[WR_FIELD_NAME];
    int r = 0;

    look.seen = calloc(WR_JSON_TARGETS, sizeof(*look.seen));
    if (!f || !look.seen)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0)
        r = wr_fragment_parse(job->fragment, f, err);
    if (r == 0)
        r = list_asked(&look, f, err);
    if (r == 0 && job->cfg->schema &&
        wr_schema_option(job->cfg->schema, "label", label, sizeof(label)) &&
        !strchr(label, ':'))
        look.label = label;
    if (r == 0)
        r = look_at_file(&look, path, err);
    if (r == 0)
        r = add_all(&look, path, err);
    free(look.seen);
    free(f);
    return r;
}
