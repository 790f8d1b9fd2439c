/* json_fields.c - what JSON samples have, and which of it are fields.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/json_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/mem.h"
#include "format/guess.h"
#include "format/remarks.h"
#include "format/text_number.h"

#define LOOK_BYTES ((size_t)1 << 20)
#define LOOK_MOST  ((size_t)8 << 20) /* unless one sample has more */

/* --- values --- */

static void note_bad(struct wr_json_look *look, const struct wr_json *j)
{
    const char *from = look->text;
    unsigned line = 1;

    if (look->bad.code)
        return;
    for (const char *p = look->text; p < j->at; p++)
        if (*p == '\n') {
            line++;
            from = p + 1;
        }
    wr_fail(&look->bad, WEIR_EFORMAT, "line %u, column %zu: %s", line,
            (size_t)(j->at - from) + 1, j->bad ? j->bad : "not JSON");
}

/* Whether the array at j is one of numbers; its shape. */
static enum wr_json_kind look_at_array(struct wr_json j,
                                       struct wr_json_value *v)
{
    struct wr_json_numbers n = {.dtype = WEIR_F32};

    if (!wr_json_numbers(&j, &n))
        return WR_JSON_OTHER;
    v->ndim = n.ndim;
    memcpy(v->dims, n.dims, sizeof(v->dims));
    return WR_JSON_ARRAY;
}

/* Of a number that is none the other samples tell what it was to be. */
static enum wr_json_kind look_at_word(struct wr_json_look *look,
                                      struct wr_json j)
{
    struct wr_json own = j;
    int64_t i;
    double f;

    if (wr_json_peek(&own) == 'n')
        return WR_JSON_UNSEEN;
    if (wr_json_number(&own, WEIR_I64, &i))
        return WR_JSON_INTEGER;
    if (wr_json_number(&j, WEIR_F64, &f))
        return WR_JSON_FLOAT;
    note_bad(look, &j);
    return WR_JSON_UNSEEN;
}

static bool note_value(void *arg, unsigned k, struct wr_json *j)
{
    struct wr_json_look *look = arg;
    struct wr_json_value *v = &look->seen[k].each[look->samples];

    v->there = true;
    switch (wr_json_peek(j)) {
    case '"':
        v->kind = j->end - j->at > 1 && j->at[1] == '"' ? WR_JSON_EMPTY
                                                        : WR_JSON_STRING;
        break;
    case '[':
        v->kind = look_at_array(*j, v);
        break;
    case '{':
        v->kind = WR_JSON_OTHER;
        v->there = look->seen[k].path[0]; /* not where arrays are samples */
        break;
    default:
        v->kind = look_at_word(look, *j);
    }
    return wr_json_skip(j);
}

/* --- values of several samples --- */

/* What most of them have: a broken one, also the first, decides nothing. Where
 * as many have this as that, words stand for numbers that are missing. */
static enum wr_json_kind usual_kind(const struct wr_json_seen *s)
{
    unsigned n[WR_JSON_KINDS] = {0}, numbers;

    for (unsigned k = 0; k < WR_JSON_LOOK; k++)
        n[s->each[k].kind]++;
    numbers = n[WR_JSON_INTEGER] + n[WR_JSON_FLOAT];
    if (n[WR_JSON_ARRAY] &&
        n[WR_JSON_ARRAY] >= WR_MAX(numbers, n[WR_JSON_STRING]))
        return WR_JSON_ARRAY;
    if (numbers && !wr_guess_words(n[WR_JSON_STRING], numbers))
        return n[WR_JSON_FLOAT] ? WR_JSON_FLOAT : WR_JSON_INTEGER;
    if (n[WR_JSON_STRING] || n[WR_JSON_EMPTY])
        return WR_JSON_STRING;
    return n[WR_JSON_OTHER] ? WR_JSON_OTHER : WR_JSON_UNSEEN;
}

/* An empty array does not show the dimensions below. */
static bool is_empty(const struct wr_json_value *v)
{
    return !v->dims[v->ndim - 1];
}

/* How many dimensions most arrays have, of those that show them; the first one's
 * where as many have others. */
static uint32_t usual_ndim(const struct wr_json_seen *s)
{
    unsigned n[WR_ARRAY_LEN(s->all.dims) + 1] = {0};
    uint32_t best = 0, most = 0;

    for (unsigned k = 0; k < WR_JSON_LOOK; k++) {
        const struct wr_json_value *v = &s->each[k];

        if (v->kind != WR_JSON_ARRAY)
            continue;
        most = WR_MAX(most, v->ndim);
        n[v->ndim] += !is_empty(v);
    }
    for (unsigned k = 0; k < WR_JSON_LOOK; k++)
        if (n[s->each[k].ndim] > n[best])
            best = s->each[k].ndim;
    return best ? best : most;
}

/* Dimensions that differ vary; an array that has more or fewer of them is a
 * broken sample. */
static void join_shapes(struct wr_json_seen *s)
{
    struct wr_json_value *all = &s->all;
    bool known[WR_ARRAY_LEN(all->dims)] = {false};

    all->ndim = usual_ndim(s);
    for (unsigned k = 0; k < WR_JSON_LOOK; k++) {
        const struct wr_json_value *v = &s->each[k];

        if (v->kind != WR_JSON_ARRAY || v->ndim > all->ndim ||
            (v->ndim < all->ndim && !is_empty(v)))
            continue;
        for (uint32_t d = 0; d < v->ndim; d++) {
            if (known[d] && all->dims[d] != v->dims[d])
                all->dims[d] = WEIR_DIM_VARIES;
            else if (!known[d])
                all->dims[d] = v->dims[d];
            known[d] = true;
        }
    }
}

static void join_values(struct wr_json_look *look)
{
    for (unsigned k = 0; k < look->count; k++) {
        struct wr_json_seen *s = &look->seen[k];

        s->all.kind = usual_kind(s);
        if (s->all.kind == WR_JSON_ARRAY)
            join_shapes(s);
    }
}

/* --- which values --- */

bool wr_json_pointer(const struct wr_json_string *name, char *path)
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

bool wr_json_plain_name(struct wr_json_string *name, char *buf, size_t cap)
{
    if (!name->escaped)
        return true;
    if (name->len > cap || !wr_json_unescape(name, buf, &name->len))
        return false;
    name->at = buf;
    return true;
}

static bool is_listed(const struct wr_json_look *look, const char *path)
{
    for (unsigned k = 0; k < look->count; k++)
        if (!strcmp(look->seen[k].path, path))
            return true;
    return false;
}

/* A member of a sample: it may become a field. */
static int list_member(struct wr_json_look *look, struct wr_json_string name)
{
    char plain[WR_JSON_PLAIN], path[WR_FIELD_PATH];
    struct wr_json_seen *s = &look->seen[look->count];

    if (!wr_json_plain_name(&name, plain, sizeof(plain)) || !name.len ||
        name.len >= WR_FIELD_NAME - 1 || !wr_json_pointer(&name, path))
        return wr_intern_add(&look->left, name.at, name.len) < 0;
    if (is_listed(look, path))
        return 0;
    if (look->count == WR_JSON_TARGETS)
        return wr_intern_add(&look->left, name.at, name.len) < 0;
    *s = (struct wr_json_seen){.all = {.kind = WR_JSON_UNSEEN}};
    memcpy(s->name, name.at, name.len);
    strcpy(s->path, path);
    look->count++;
    return 0;
}

/* The sample itself, if it is an array. */
static void list_whole(struct wr_json_look *look)
{
    struct wr_json_seen *s = &look->seen[look->count];

    if (is_listed(look, "") || look->count == WR_JSON_TARGETS)
        return;
    *s = (struct wr_json_seen){.name = "x"};
    look->count++;
}

/* All members of a sample, where nothing was asked for. */
static int list_members(struct wr_json_look *look, struct wr_json j)
{
    struct wr_json_string name;

    if (wr_json_peek(&j) == '[')
        list_whole(look);
    if (wr_json_peek(&j) != '{')
        return 0;
    j.at++;
    if (wr_json_peek(&j) == '}')
        return 0;
    do {
        if (!wr_json_name(&j, &name) || !wr_json_skip(&j))
            return 0;
        if (list_member(look, name) != 0)
            return WEIR_ENOMEM;
    } while (wr_json_peek(&j) == ',' && j.at++);
    return 0;
}

/* Values that a user asks for, by their pointers. */
static int json_look_ask(struct wr_json_look *look, const struct wr_fragment *f,
                         weir_err *err)
{
    for (unsigned k = 0; k < f->count; k++) {
        const struct wr_fragment_pair *p = &f->pairs[k];
        struct wr_json_seen *s = &look->seen[look->count++];

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

/* What is not JSON is a broken sample, and decides nothing. */
static int look_at_sample(struct wr_json_look *look, const char *at, size_t len)
{
    struct wr_json_walk w = {
        .j = {.at = at, .end = at + len}, .take = note_value, .arg = look};
    const struct wr_json start = w.j;
    bool ok;
    int r = 0;

    if (wr_json_walk(&w) && !look->asked)
        r = list_members(look, start);
    if (w.j.bad || r < 0) {
        note_bad(look, &w.j);
        return r;
    }
    w.j = start;
    for (unsigned k = 0; k < look->count; k++)
        w.pointer[k] = look->seen[k].path;
    w.count = look->count;
    ok = wr_json_walk(&w);
    for (unsigned k = 0; k < look->count; k++)
        if (!ok || !(w.found >> k & 1))
            look->seen[k].each[look->samples] = (struct wr_json_value){0};
    look->samples += ok;
    return 0;
}

/* The first records of `text`; how many there were, or WEIR_E... */
static int look_at_text(struct wr_json_look *look, const char *path,
                        const char *text, size_t len, bool all)
{
    struct wr_json_place place = {0};
    struct wr_json_rule rule = {.place = &place};
    const char *at, *end = text + len;
    int samples = 0, r = 0;
    size_t from;

    look->array = rule.array = wr_json_is_array(path, text, len, &from);
    look->text = text;
    at = text + from;
    while (samples < WR_JSON_LOOK && at < end && r == 0) {
        struct wr_text_record rec = {0};
        int64_t n = wr_json_next(&rule, at, end, all, &rec, NULL);

        if (n <= 0)
            break;
        if (!rec.none)
            r = look_at_sample(look, at + rec.skip, rec.length);
        samples += !rec.none;
        at += n;
    }
    return r < 0 ? r : samples;
}

/* Nothing was looked at. */
static void forget_samples(struct wr_json_look *look)
{
    if (!look->asked)
        look->count = 0;
    for (unsigned k = 0; k < look->count; k++)
        memset(look->seen[k].each, 0, sizeof(look->seen[k].each));
    look->samples = 0;
    wr_intern_done(&look->left);
}

/* Looks at the first samples of `path`: look->seen has what most of them have,
 * their members or what was asked for. */
static int json_look_file(struct wr_json_look *look, const char *path,
                          weir_err *err)
{
    bool all = false;
    int samples = 0;

    for (size_t max = LOOK_BYTES;
         !all && (!samples || (max <= LOOK_MOST && samples < WR_JSON_LOOK));
         max *= 8) {
        size_t len;
        char *text;
        int r;

        if (max > WR_TEXT_MAX_RECORD)
            return wr_fail(err, WEIR_ELIMIT,
                           "'%s': the first sample has more than 1 GiB", path);
        r = wr_text_head(look->job->store, path, max, &text, &len, &all, err);
        if (r < 0)
            return r;
        forget_samples(look);
        samples = look_at_text(look, path, text, len, all);
        free(text);
    }
    if (samples < 0)
        return wr_fail(err, samples, "out of memory");
    join_values(look);
    return 0;
}

/* --- fields --- */

static const struct wr_json_seen *find_scalar(const struct wr_json_look *look,
                                              const char *name, bool any_case)
{
    for (unsigned k = 0; k < look->count; k++) {
        const struct wr_json_seen *s = &look->seen[k];
        enum wr_json_kind kind = s->all.kind;

        if ((kind == WR_JSON_INTEGER || kind == WR_JSON_FLOAT ||
             kind == WR_JSON_STRING) &&
            !(any_case ? wr_strcasecmp(s->name, name) : strcmp(s->name, name)))
            return s;
    }
    return NULL;
}

/* The value that is the label: what is called so, or what was said. */
static const struct wr_json_seen *find_label(const struct wr_json_look *look)
{
    const struct wr_json_seen *s = NULL;
    const char *name;

    if (look->label)
        return find_scalar(look, look->label, /* any_case= */ false);
    for (unsigned k = 0; !s && (name = wr_label_name(WR_LABEL_COLUMN, k)); k++)
        s = find_scalar(look, name, /* any_case= */ true);
    return s;
}

static int add_label(struct wr_json_look *look, const struct wr_json_seen *s,
                     weir_err *err)
{
    struct wr_field f = wr_guess_field(s->name, WEIR_FIELD_SCALAR, WEIR_I64);
    int r;

    memcpy(f.path, s->path, sizeof(f.path));
    f.pub.is_label = 1;
    f.unpacked = true;
    if (s->all.kind == WR_JSON_STRING) {
        f.column = WR_NO_COLUMN;
        f.scalar = WR_SCALAR_IS_LABEL;
        f.unpacked = false;
        return wr_index_add_field(look->job->index, &f, err);
    }
    r = wr_text_declared(look->job->cfg->schema, s->name,
                         s->all.kind == WR_JSON_INTEGER ? WEIR_I64 : WEIR_F32,
                         &f.pub.dtype, err);
    return r < 0 ? r : wr_index_add_field(look->job->index, &f, err);
}

/* Did the user declare a shape for it? */
static bool is_reshaped(const struct wr_json_look *look, const char *name)
{
    char text[256], *dtype;

    if (!look->job->cfg->schema ||
        !wr_schema_option(look->job->cfg->schema, name, text, sizeof(text)))
        return false;
    dtype = strchr(text, ':');
    return dtype && strchr(dtype + 1, ':');
}

static int add_seen(struct wr_json_look *look, const struct wr_json_seen *s,
                    bool extra, weir_err *err)
{
    bool array = s->all.kind == WR_JSON_ARRAY,
         string = s->all.kind == WR_JSON_STRING;
    struct wr_field f = wr_guess_field(
        strcmp(s->name, "line") != 0 ? s->name : "line_",
        array    ? WEIR_FIELD_TENSOR
        : string ? WEIR_FIELD_BYTES
                 : WEIR_FIELD_SCALAR,
        s->all.kind == WR_JSON_INTEGER ? WEIR_I64 : WEIR_F32);
    int r;

    memcpy(f.path, s->path, sizeof(f.path));
    f.pub.is_extra = extra;
    f.unpacked = true;
    if (array) {
        wr_guess_dims(&f, s->all.dims, s->all.ndim);
        f.scalar = is_reshaped(look, f.name);
    }
    if (!string) {
        r = wr_text_declared(look->job->cfg->schema, f.name, f.pub.dtype,
                             &f.pub.dtype, err);
        if (r < 0)
            return r;
    }
    return wr_index_add_field(look->job->index, &f, err);
}

/* Dimensions that vary are fields of their own, "x.dim0", unless the samples
 * have members that are called so. */
static int add_dims(struct wr_json_look *look, const struct wr_json_seen *s,
                    weir_err *err)
{
    const struct wr_schema *fields = wr_index_fields(look->job->index);
    struct wr_field f = {.pub = {.kind = WEIR_FIELD_SCALAR,
                                 .dtype = WEIR_I64,
                                 .is_extra = s->all.ndim == 1},
                         .unpacked = true};
    int r = 0;

    memcpy(f.path, s->path, sizeof(f.path));
    for (uint32_t k = 0; k < s->all.ndim && r == 0; k++) {
        if (s->all.dims[k] && s->all.dims[k] != WEIR_DIM_VARIES)
            continue;
        f.scalar = k + 1;
        if ((size_t)snprintf(f.name, sizeof(f.name), "%s.dim%u", s->name, k) >=
                sizeof(f.name) ||
            fields->count >= WR_JSON_TARGETS)
            return wr_fail(err, WEIR_ELIMIT,
                           "'%s' varies: its dimensions would be more than "
                           "%d fields, or of too long a name",
                           s->name, WR_JSON_TARGETS);
        if (!wr_schema_find(fields, f.name))
            r = wr_index_add_field(look->job->index, &f, err);
    }
    return r;
}

static bool is_used(const struct wr_json_seen *s)
{
    return s->all.kind != WR_JSON_UNSEEN && s->all.kind != WR_JSON_OTHER;
}

static unsigned count_there(const struct wr_json_seen *s)
{
    unsigned n = 0;

    for (unsigned k = 0; k < WR_JSON_LOOK; k++)
        n += s->each[k].there;
    return n;
}

/* The array that most samples have. */
static const struct wr_json_seen *find_array(const struct wr_json_look *look)
{
    const struct wr_json_seen *best = NULL;

    for (unsigned k = 0; k < look->count; k++) {
        const struct wr_json_seen *s = &look->seen[k];

        if (s->all.kind == WR_JSON_ARRAY &&
            (!best || count_there(s) > count_there(best)))
            best = s;
    }
    return best;
}

/* A sample without a field's array or number is broken. So what only some
 * samples have is not a field unless it was asked for, or is the label or the
 * array of the samples; strings may be missing. */
static void drop_rare(struct wr_json_look *look,
                      const struct wr_json_seen *label)
{
    const struct wr_json_seen *array = find_array(look);

    for (unsigned k = 0; k < look->count; k++) {
        struct wr_json_seen *s = &look->seen[k];
        bool beside = array && !array->path[0] && s != array;

        if (s->asked)
            continue;
        if (beside ||
            (s != label && s != array && s->all.kind != WR_JSON_STRING &&
             count_there(s) * 2 <= look->samples))
            s->all.kind = WR_JSON_OTHER;
    }
}

/* The one array of numbers is called x. */
static void name_array(struct wr_json_look *look)
{
    struct wr_json_seen *only = NULL;

    for (unsigned k = 0; k < look->count; k++) {
        struct wr_json_seen *s = &look->seen[k];

        if (s->asked || (s->all.kind == WR_JSON_ARRAY && only) ||
            (!strcmp(s->name, "x") && is_used(s) &&
             s->all.kind != WR_JSON_ARRAY))
            return;
        only = s->all.kind == WR_JSON_ARRAY ? s : only;
    }
    if (only)
        strcpy(only->name, "x");
}

/* Where the user did not choose, what is not taken is named. */
static void remark_left(struct wr_json_look *look)
{
    char text[WR_REMARK_BYTES];
    size_t used = 0, total = look->count + look->left.count;

    for (size_t k = 0; k < total && !look->asked && used < 900; k++) {
        const struct wr_json_seen *s = &look->seen[WR_MIN(k, look->count)];
        const char *name = k < look->count
                               ? s->name
                               : wr_intern_text(&look->left, k - look->count);

        if (k >= look->count || !is_used(s))
            used += (size_t)snprintf(
                text + used, sizeof(text) - used, "%s'%.100s'",
                used ? ", " : "values that are not used: ", name);
    }
    if (used >= 900)
        snprintf(text + used, sizeof(text) - used, ", ...");
    if (used)
        wr_index_add_remark(look->job->index, text);
}

/* No field: because of what is wrong, or there is none. */
static int fail_fields(const struct wr_json_look *look, const char *path,
                       weir_err *err)
{
    if (look->bad.code)
        return wr_fail(err, WEIR_EFORMAT, "'%s': %s", path, look->bad.msg);
    return wr_fail(err, WEIR_EFORMAT,
                   "'%s': the first samples have no numbers and no strings; "
                   "name some by #x=/POINTER",
                   path);
}

static int add_all(struct wr_json_look *look, const char *path, weir_err *err)
{
    const struct wr_json_seen *label;
    unsigned fields = 0;
    int r = 0;

    label = find_label(look);
    drop_rare(look, label);
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
            const struct wr_json_seen *s = &look->seen[k];
            bool array = s->all.kind == WR_JSON_ARRAY;

            if (!is_used(s) || array != (pass == 0))
                continue;
            fields++;
            r = s == label ? add_label(look, s, err)
                           : add_seen(look, s, !array && !s->asked, err);
        }
    if (r == 0 && !fields)
        r = fail_fields(look, path, err);
    for (unsigned k = 0; k < look->count && r == 0; k++)
        if (look->seen[k].all.kind == WR_JSON_ARRAY)
            r = add_dims(look, &look->seen[k], err);
    remark_left(look);
    return r < 0 ? r
                 : wr_text_add_line(look->job->index,
                                    look->array ? "array" : "", err);
}

int wr_json_add_fields(struct wr_index_job *job, const char *path,
                       weir_err *err)
{
    struct wr_json_look look = {.job = job};
    struct wr_fragment *f = malloc(sizeof(*f));
    char label[WR_FIELD_NAME];
    int r = 0;

    look.seen = calloc(WR_JSON_TARGETS, sizeof(*look.seen));
    if (!f || !look.seen)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0)
        r = wr_fragment_parse(job->fragment, f, err);
    if (r == 0)
        r = json_look_ask(&look, f, err);
    look.asked = look.count;
    look.label = wr_label_said(job->cfg->schema, label);
    if (r == 0)
        r = json_look_file(&look, path, err);
    if (r == 0)
        r = add_all(&look, path, err);
    wr_intern_done(&look.left);
    free(look.seen);
    free(f);
    return r;
}
