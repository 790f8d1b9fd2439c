/* json_unpack.c - a JSON sample as the bytes of its fields.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "format/json.h"
#include "format/text_number.h"

/* Scratch memory may move while it grows: until the end a slice in it is known
 * by its offset. */
struct json_slice {
    const char *at; /* borrowed from the sample; NULL: in scratch */
    size_t offset, len;
};

struct json_unpacking {
    const struct wr_schema *schema;
    struct wr_unpack *out;
    unsigned field[WR_JSON_TARGETS]; /* of target k */
    struct json_slice slice[WR_JSON_TARGETS];
    size_t used; /* bytes of scratch */
    bool no_memory;
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

static bool take_scalar(struct json_unpacking *u, struct wr_json *j,
                        enum weir_dtype t, struct json_slice *to)
{
    if (!room(u, 8))
        return wr_json_fail(j, "out of memory");
    *to = (struct json_slice){.offset = u->used, .len = wr_dtype_bytes(t)};
    if (!wr_json_number(j, t, u->out->scratch + u->used))
        return false;
    u->used += 8;
    return true;
}

static bool take_tensor(struct json_unpacking *u, struct wr_json *j,
                        const weir_field *f, struct json_slice *to)
{
    struct wr_json_numbers n = {
        .dtype = f->dtype, .to = &u->out->scratch, .cap = &u->out->cap};
    bool ok;

    if (!room(u, 8))
        return wr_json_fail(j, "out of memory");
    n.at = u->used;
    *to = (struct json_slice){.offset = u->used};
    ok = wr_json_numbers(j, &n);
    to->len = n.at - u->used;
    u->used = n.at;
    u->no_memory |= n.no_memory;
    return ok;
}

static bool take_value(void *arg, unsigned k, struct wr_json *j)
{
    struct json_unpacking *u = arg;
    const weir_field *f = &u->schema->fields[u->field[k]].pub;

    switch (f->kind) {
    case WEIR_FIELD_TENSOR:
        return take_tensor(u, j, f, &u->slice[k]);
    case WEIR_FIELD_SCALAR:
        return take_scalar(u, j, f->dtype, &u->slice[k]);
    default:
        return take_string(u, j, &u->slice[k]);
    }
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

static void set_label(struct wr_sample *io, const struct wr_slice *s)
{
    int64_t value;

    io->label = WEIR_NO_LABEL;
    if (!s->bytes || s->len != sizeof(value))
        return;
    memcpy(&value, s->bytes, sizeof(value));
    if (value >= 0 && value < WEIR_NO_LABEL)
        io->label = (uint32_t)value;
}

/* Arrays of another size than the first samples have. */
static int check_size(const struct wr_index *ix, const struct wr_sample *io,
                      const struct wr_field *f, size_t len, weir_err *err)
{
    size_t bytes = wr_dtype_bytes(f->pub.dtype), want;

    want = (size_t)wr_field_bytes(&f->pub);
    if (f->pub.kind != WEIR_FIELD_TENSOR || !want || len == want)
        return 0;
    return wr_fail(
        err, WEIR_EFORMAT, "line %" PRIi64 ": '%s' has %zu numbers, not %zu",
        wr_text_line(ix, io->id), f->path, len / bytes, want / bytes);
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
        if (found && check_size(ix, io, f, s->len, err) < 0)
            return WEIR_EFORMAT;
        if (found && s->at)
            *to = (struct wr_slice){(const uint8_t *)s->at, s->len};
        else if (found && (s->len || f->pub.kind == WEIR_FIELD_TENSOR))
            *to = (struct wr_slice){u->out->scratch + s->offset, s->len};
        if (f->pub.is_label && f->pub.dtype == WEIR_I64)
            set_label(io, to);
    }
    return 0;
}

int wr_json_unpack(const struct wr_index *ix, unsigned column,
                   struct wr_sample *io, struct wr_unpack *out, weir_err *err)
{
    struct json_unpacking u = {.schema = wr_index_schema(ix), .out = out};
    const char *at = (const char *)io->bytes, *odd;
    struct wr_json_walk w = {
        .j = {.at = at, .end = at + io->len}, .take = take_value, .arg = &u};

    (void)column; /* there is one */
    odd = wr_json_not_utf8(at, at + io->len);
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
    return out ? give_fields(ix, &u, &w, io, err) : 0;
}
