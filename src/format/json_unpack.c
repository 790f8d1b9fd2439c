/* json_unpack.c - a JSON sample as the bytes of its fields, numbers among them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "format/decode.h"
#include "format/guess.h"
#include "format/json.h"
#include "format/json_fields.h"
#include "format/text_number.h"

/* --- rectangular arrays of numbers of a JSON text --- */

static bool is_word(const char *at, size_t len, const char *word)
{
    return strlen(word) == len && !memcmp(at, word, len);
}

/* JSON has no such texts, though a list of numbers may. */
static bool is_loose(const char *at, size_t len)
{
    const char *digits = at + (len && *at == '-');
    const char *point = memchr(at, '.', len);

    if (digits == at + len) /* nothing, or a sign alone */
        return true;
    return *at == '+' || *digits == '.' ||
           (digits + 1 < at + len && digits[0] == '0' && digits[1] >= '0' &&
            digits[1] <= '9') ||
           (point &&
            (point + 1 == at + len || point[1] < '0' || point[1] > '9')) ||
           is_word(at, len, "nan") || is_word(at, len, "inf");
}

bool wr_json_number(struct wr_json *j, enum weir_dtype t, void *to)
{
    const char *at, *why;
    size_t len;

    if (!wr_json_word(j, &at, &len))
        return false;
    if (is_word(at, len, "true") || is_word(at, len, "false"))
        why = wr_text_number(*at == 't' ? "1" : "0", 1, t, to);
    else if (is_word(at, len, "null"))
        why = wr_text_nan(t, to) ? NULL : "null where an integer was to come";
    else
        why = is_loose(at, len) ? "not a number"
                                : wr_text_number(at, len, t, to);
    if (!why)
        return true;
    j->at = at;
    return wr_json_fail(j, why);
}

/* The numbers from here to the bracket that closes their array. */
static bool take_row(struct wr_json *j, struct wr_json_numbers *n,
                     uint64_t *ret_count)
{
    size_t bytes = wr_dtype_bytes(n->dtype);
    uint64_t count = 0;
    const char *word;
    size_t len;

    for (;;) {
        struct wr_number_list l = {j->at, j->end, ',', /* strict= */ true};
        size_t max = (size_t)(j->end - j->at) / 2 + 1, got;

        wr_json_peek(j);
        l.at = j->at;
        got = n->to ? wr_text_numbers(&l, n->dtype, *n->to + n->at, max) : 0;
        if (got) {
            j->at = l.at;
            count += got;
            n->at += got * bytes;
            if (l.at[-1] == ',')
                continue;
        } else {
            if (!(n->to ? wr_json_number(j, n->dtype, *n->to + n->at)
                        : wr_json_word(j, &word, &len)))
                return false;
            count++;
            n->at += bytes;
        }
        if (wr_json_peek(j) != ',')
            break;
        j->at++;
    }
    *ret_count = count;
    return wr_json_take(j, ']', "a comma or the end was to come here");
}

static bool take_level(struct wr_json *j, struct wr_json_numbers *n,
                       uint32_t depth);

static bool take_rows(struct wr_json *j, struct wr_json_numbers *n,
                      uint32_t depth, uint64_t *ret_count)
{
    uint64_t count = 0;

    for (;; j->at++) {
        if (wr_json_peek(j) != '[')
            return wr_json_fail(j, "an array was to come here, as before");
        if (!take_level(j, n, depth + 1))
            return false;
        count++;
        if (wr_json_peek(j) != ',')
            break;
    }
    *ret_count = count;
    return wr_json_take(j, ']', "a comma or the end was to come here");
}

/* An array at j->at, whose level is `depth` from 0 on. */
static bool take_level(struct wr_json *j, struct wr_json_numbers *n,
                       uint32_t depth)
{
    const char *start = j->at;
    uint64_t count = 0;
    bool ok, arrays;

    if (depth == WR_ARRAY_LEN(n->dims))
        return wr_json_fail(j, "an array of more than 7 dimensions");
    j->at++;
    arrays = wr_json_peek(j) == '[';
    if (n->ndim && arrays != (depth + 1 < n->ndim))
        return wr_json_fail(j, "an array that is not rectangular");
    if (!arrays && !n->ndim)
        n->ndim = depth + 1;
    if (wr_json_peek(j) == ']') {
        j->at++;
        ok = true;
    } else {
        ok = arrays ? take_rows(j, n, depth, &count) : take_row(j, n, &count);
    }
    if (!ok)
        return false;
    if (n->dims[depth] == WEIR_DIM_VARIES)
        n->dims[depth] = count;
    if (n->dims[depth] == count)
        return true;
    j->at = start;
    return wr_json_fail(j, "an array that is not rectangular");
}

bool wr_json_numbers(struct wr_json *j, struct wr_json_numbers *n)
{
    /* A number takes two bytes of text, with what follows it. */
    size_t most = (size_t)(j->end - j->at) / 2 + 2;

    n->ndim = 0;
    for (size_t k = 0; k < WR_ARRAY_LEN(n->dims); k++)
        n->dims[k] = WEIR_DIM_VARIES;
    if (n->to &&
        !wr_grow(n->to, n->cap, n->at + most * wr_dtype_bytes(n->dtype), 1)) {
        n->no_memory = true;
        return wr_json_fail(j, "out of memory");
    }
    if (wr_json_peek(j) != '[')
        return wr_json_fail(j, "an array was to come here");
    return take_level(j, n, 0);
}

/* --- a JSON sample as the bytes of its fields --- */

/* Scratch memory may move while it grows: until the end a slice in it is known
 * by its offset. */
struct json_slice {
    const char *at; /* borrowed from the sample; NULL: in scratch */
    size_t offset, len;
    const char *bad; /* static: what is wrong at `at`; NULL: nothing */
};

static const char other_shape[] = "an array of another shape";

struct json_unpacking {
    const struct wr_schema *schema;
    struct wr_unpack *out;
    unsigned field[WR_JSON_TARGETS]; /* of target k */
    struct json_slice slice[WR_JSON_TARGETS];
    size_t used; /* bytes of scratch */
    bool no_memory;
    /* The array read last, whose dimensions may be fields, too. */
    const char *array, *array_end; /* borrowed from the sample */
    struct wr_json_numbers shape;
};

/* --- values --- */

static bool room(struct json_unpacking *u, size_t bytes)
{
    u->used = WR_ALIGN_UP(u->used, (size_t)8);
    u->no_memory |= !wr_grow(&u->out->scratch, &u->out->cap, u->used + bytes,
                             1);
    return !u->no_memory;
}

static bool take_string(struct json_unpacking *u, struct wr_json *j,
                        struct json_slice *to)
{
    struct wr_json_string s;

    if (wr_json_peek(j) == 'n') { /* null: the sample does not have it */
        *to = (struct json_slice){0};
        return wr_json_skip(j);
    }
    if (!wr_json_string(j, &s))
        return false;
    *to = (struct json_slice){.at = s.at, .len = s.len};
    if (!s.escaped)
        return true;
    if (!room(u, s.len))
        return wr_json_fail(j, "out of memory");
    *to = (struct json_slice){.offset = u->used};
    if (!wr_json_unescape(&s, (char *)u->out->scratch + u->used, &to->len)) {
        j->at = s.at;
        return wr_json_fail(j, "an escape in this string is none, or half of "
                               "a surrogate pair");
    }
    u->used += to->len;
    return true;
}

/* null, and "" where numbers are: no label. */
static bool is_no_label(struct wr_json j, enum weir_dtype t)
{
    double nan;
    char c = wr_json_peek(&j);

    return c == '"' ? j.end - j.at > 1 && j.at[1] == '"'
                    : c == 'n' && !wr_text_nan(t, &nan);
}

static bool take_scalar(struct json_unpacking *u, struct wr_json *j,
                        const weir_field *f, struct json_slice *to)
{
    enum weir_dtype t = f->dtype;
    bool none = f->is_label && is_no_label(*j, t);
    uint8_t *at;

    if (!room(u, 8))
        return wr_json_fail(j, "out of memory");
    at = u->out->scratch + u->used;
    *to = (struct json_slice){.offset = u->used, .len = wr_dtype_bytes(t)};
    if (none && !wr_text_nan(t, at))
        *to = (struct json_slice){0};
    if (!(none ? wr_json_skip(j) : wr_json_number(j, t, at)))
        return false;
    u->used += 8;
    return true;
}

/* An empty array may have fewer dimensions: it does not show them. */
static bool has_shape(const struct wr_field *f, const struct wr_json_numbers *n,
                      size_t len)
{
    /* Of a declared shape an array may have the numbers alone, or show no
     * dimension that the declared one does not have. */
    if (f->scalar && wr_field_bytes(&f->pub) &&
        (n->ndim == 1 || f->pub.ndim == 1))
        return len == wr_field_bytes(&f->pub);
    if (n->ndim > f->pub.ndim ||
        (n->ndim < f->pub.ndim && n->dims[n->ndim - 1]))
        return false;
    for (uint32_t k = 0; k < n->ndim; k++)
        if (f->pub.dims[k] != n->dims[k] && f->pub.dims[k] != WEIR_DIM_VARIES)
            return false;
    return true;
}

static bool take_tensor(struct json_unpacking *u, struct wr_json *j,
                        const struct wr_field *f, struct json_slice *to)
{
    struct wr_json_numbers n = {
        .dtype = f->pub.dtype, .to = &u->out->scratch, .cap = &u->out->cap};
    const char *start = j->at;
    bool ok;

    if (!room(u, 8))
        return wr_json_fail(j, "out of memory");
    n.at = u->used;
    *to = (struct json_slice){.offset = u->used};
    ok = wr_json_numbers(j, &n);
    to->len = n.at - u->used;
    u->used = n.at;
    u->no_memory |= n.no_memory;
    if (!ok)
        return false;
    u->array = start;
    u->array_end = j->at;
    u->shape = n;
    if (has_shape(f, &n, to->len))
        return true;
    j->at = start;
    return wr_json_fail(j, other_shape);
}

/* A dimension of the array here. */
static bool take_dim(struct json_unpacking *u, struct wr_json *j, unsigned d,
                     struct json_slice *to)
{
    int64_t value;

    if (!room(u, sizeof(value)))
        return wr_json_fail(j, "out of memory");
    if (u->array != j->at) { /* it is not wanted itself */
        u->array = j->at;
        u->shape = (struct wr_json_numbers){.dtype = WEIR_F32};
        if (!wr_json_numbers(j, &u->shape))
            return false;
        u->array_end = j->at;
    }
    j->at = u->array_end;
    value = d < u->shape.ndim ? (int64_t)u->shape.dims[d] : 0;
    memcpy(u->out->scratch + u->used, &value, sizeof(value));
    *to = (struct json_slice){.offset = u->used, .len = sizeof(value)};
    u->used += sizeof(value);
    return true;
}

static bool take_field(struct json_unpacking *u, const struct wr_field *f,
                       struct wr_json *j, struct json_slice *to)
{
    switch (f->pub.kind) {
    case WEIR_FIELD_TENSOR:
        return take_tensor(u, j, f, to);
    case WEIR_FIELD_SCALAR:
        return f->scalar ? take_dim(u, j, f->scalar - 1, to)
                         : take_scalar(u, j, &f->pub, to);
    default:
        return take_string(u, j, to);
    }
}

/* What is wrong with a value that is JSON is said at the end: another one of
 * its name may follow, and counts. */
static bool take_value(void *arg, unsigned k, struct wr_json *j)
{
    struct json_unpacking *u = arg;
    struct json_slice *to = &u->slice[k];
    struct wr_json own = *j;

    if (take_field(u, &u->schema->fields[u->field[k]], &own, to)) {
        *j = own;
        return true;
    }
    *to = (struct json_slice){.at = own.at, .bad = own.bad};
    if (u->no_memory || !wr_json_skip(j)) {
        *j = own;
        return false;
    }
    return true;
}

/* --- a sample --- */

static int fail_at(const struct wr_index *ix, const struct wr_sample *io,
                   const struct wr_json *j, weir_err *err)
{
    const char *start = (const char *)io->bytes, *from = start;
    const struct wr_field *f = wr_text_line_field(wr_index_schema(ix));
    bool array = f && f->path[0];
    int64_t line = wr_text_line(ix, io->id);

    for (const char *p = start; p < j->at; p++)
        if (*p == '\n') {
            line++;
            from = p + 1;
        }
    return wr_fail(err, WEIR_EFORMAT, "line %" PRIi64 ", column %zu%s: %s",
                   line, (size_t)(j->at - from) + 1,
                   array && from == start ? " of the sample" : "",
                   j->bad ? j->bad : "not JSON");
}

/* The fields that are wanted, and the label. */
static void list_targets(struct json_unpacking *u, struct wr_json_walk *w)
{
    for (unsigned k = 0; k < u->schema->count; k++) {
        const struct wr_field *f = &u->schema->fields[k];

        if (!f->unpacked || w->count == WR_JSON_TARGETS ||
            !wr_text_holds(f->pub.dtype) ||
            !(u->out->wanted[k] || f->pub.is_label))
            continue;
        u->field[w->count] = k;
        w->pointer[w->count++] = f->path;
    }
}

static int fail_value(const struct wr_index *ix, const struct wr_sample *io,
                      const struct wr_field *f, const struct json_slice *s,
                      weir_err *err)
{
    struct wr_json j = {
        .at = s->at, .end = (const char *)io->bytes + io->len, .bad = s->bad};
    struct wr_json_numbers n = {.dtype = f->pub.dtype};
    weir_field seen = f->pub;
    char seen_text[160], text[160];

    if (s->bad != other_shape)
        return fail_at(ix, io, &j, err);
    wr_json_numbers(&j, &n);
    seen.ndim = n.ndim;
    memcpy(seen.dims, n.dims, sizeof(seen.dims));
    return wr_fail(err, WEIR_EFORMAT, "line %" PRIi64 ": '%s' is %s, not %s",
                   wr_text_line(ix, io->id), f->path[0] ? f->path : ".",
                   wr_field_text(&seen, seen_text, sizeof(seen_text)),
                   wr_field_text(&f->pub, text, sizeof(text)));
}

static int give_fields(const struct wr_index *ix, struct json_unpacking *u,
                       const struct wr_json_walk *w, struct wr_sample *io,
                       weir_err *err)
{
    for (unsigned k = 0; k < w->count; k++) {
        const struct wr_field *f = &u->schema->fields[u->field[k]];
        struct wr_slice *to = &u->out->fields[u->field[k]];
        const struct json_slice *s = &u->slice[k];
        bool found = w->found >> k & 1;

        if (!found && (f->pub.kind == WEIR_FIELD_TENSOR ||
                       (f->pub.kind == WEIR_FIELD_SCALAR && !f->pub.is_label)))
            return wr_fail(err, WEIR_EFORMAT,
                           "line %" PRIi64 ": there is no '%s' in the sample",
                           wr_text_line(ix, io->id), f->path);
        if (found && s->bad)
            return fail_value(ix, io, f, s, err);
        if (found && s->at)
            *to = (struct wr_slice){(const uint8_t *)s->at, s->len};
        else if (found && (s->len || f->pub.kind == WEIR_FIELD_TENSOR))
            *to = (struct wr_slice){u->out->scratch + s->offset, s->len};
        if (f->pub.is_label && f->pub.dtype == WEIR_I64)
            io->label = wr_label_of_bytes(to->bytes, to->len);
    }
    return 0;
}

/* Is it, or something in it, a field? */
static bool is_delivered(const struct wr_schema *s, const char *pointer)
{
    size_t len = strlen(pointer);

    for (unsigned k = 0; k < s->count; k++) {
        const struct wr_field *f = &s->fields[k];

        if (*f->path ? !strncmp(f->path, pointer, len) &&
                           (!f->path[len] || f->path[len] == '/')
                     : f->unpacked)
            return true;
    }
    return false;
}

/* Names the members of a sample, which is JSON, that no field has. */
static void name_left(struct wr_json j, const struct wr_schema *s,
                      struct wr_left_out *left)
{
    char plain[WR_JSON_PLAIN], pointer[WR_FIELD_PATH];
    struct wr_json_string name;

    if (wr_json_peek(&j) != '{')
        return;
    for (j.at++; wr_json_peek(&j) != '}'; j.at += *j.at == ',') {
        if (!wr_json_name(&j, &name) || !wr_json_skip(&j))
            return;
        if (!wr_json_plain_name(&name, plain, sizeof(plain)) ||
            !wr_json_pointer(&name, pointer) || !is_delivered(s, pointer))
            wr_left_out_add(left, name.at, name.len);
        wr_json_peek(&j);
    }
}

int wr_json_unpack(const struct wr_index *ix, unsigned column,
                   struct wr_sample *io, struct wr_unpack *out, weir_err *err)
{
    struct json_unpacking u = {.schema = wr_index_schema(ix), .out = out};
    const char *at = (const char *)io->bytes, *odd;
    struct wr_json_walk w = {
        .j = {.at = at, .end = at + io->len}, .take = take_value, .arg = &u};

    (void)column; /* there is one */
    odd = wr_text_not_utf8(at, at + io->len);
    if (odd) {
        w.j.at = odd;
        w.j.bad = "a byte that is not UTF-8";
        return fail_at(ix, io, &w.j, err);
    }
    if (out) {
        memset(out->fields, 0, u.schema->count * sizeof(*out->fields));
        list_targets(&u, &w);
    }
    if (!wr_json_walk(&w))
        return u.no_memory ? wr_fail(err, WEIR_ENOMEM, "out of memory")
                           : fail_at(ix, io, &w.j, err);
    if (out && out->left)
        name_left((struct wr_json){.at = at, .end = at + io->len}, u.schema,
                  out->left);
    return out ? give_fields(ix, &u, &w, io, err) : 0;
}
