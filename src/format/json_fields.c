/* json_fields.c - values of JSON samples as fields: which there are.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/mem.h"
#include "format/guess.h"
#include "format/json_look.h"
#include "format/remarks.h"
#include "format/text_number.h"

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
        r = wr_json_look_ask(&look, f, err);
    look.asked = look.count;
    look.label = wr_label_said(job->cfg->schema, label);
    if (r == 0)
        r = wr_json_look_file(&look, path, err);
    if (r == 0)
        r = add_all(&look, path, err);
    wr_intern_done(&look.left);
    free(look.seen);
    free(f);
    return r;
}
