/* jsonl_write.c - samples as JSON lines.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/text.h"
#include "format/text_write.h"

static const char *const words[3] = {"NaN", "Infinity", "-Infinity"};

static int put(struct wr_bytes *to, const char *text, weir_err *err)
{
    return wr_text_write(to, text, strlen(text), err);
}

static int write_string(struct wr_bytes *to, const char *text, size_t len,
                        weir_err *err)
{
    char *p, *start;

    if (wr_text_not_utf8(text, text + len))
        return wr_fail(err, WEIR_ENOTSUP,
                       "bytes that are not UTF-8 cannot be written as JSON");
    start = p = (char *)wr_bytes_room(to, len * WR_TEXT_ESCAPED + 2);
    if (!p)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *p++ = '"';
    p += wr_text_escape(text, len, /* html= */ false, p);
    *p++ = '"';
    to->len += (size_t)(p - start);
    return 0;
}

/* The array of dimension `depth` on; `v` shrinks from its front. */
static int write_array(struct wr_bytes *to, const weir_field *f, uint32_t depth,
                       struct wr_slice *v, weir_err *err)
{
    size_t bytes = wr_dtype_bytes(f->dtype);
    bool last = depth + 1 >= f->ndim;
    uint64_t count = f->dims[depth];
    struct wr_slice row;
    int r = put(to, "[", err);

    if (last && r == 0) {
        row = (struct wr_slice){v->bytes, count == WEIR_DIM_VARIES
                                              ? v->len
                                              : (size_t)count * bytes};
        if (row.len > v->len)
            return wr_fail(err, WEIR_EINVAL, "'%s': too few bytes", f->name);
        r = wr_text_write_numbers(to, f, row, words, err);
        v->bytes += row.len;
        v->len -= row.len;
    }
    for (uint64_t k = 0; !last && k < count && r == 0; k++) {
        r = k ? put(to, ",", err) : 0;
        if (r == 0)
            r = write_array(to, f, depth + 1, v, err);
    }
    return r < 0 ? r : put(to, "]", err);
}

static int write_tensor(struct wr_bytes *to, const weir_field *f,
                        struct wr_slice v, weir_err *err)
{
    for (uint32_t k = 0; f->ndim > 1 && k < f->ndim; k++)
        if (f->dims[k] == WEIR_DIM_VARIES)
            return wr_fail(err, WEIR_ENOTSUP,
                           "'%s' has several dimensions and differs in size "
                           "from sample to sample",
                           f->name);
    return write_array(to, f, 0, &v, err);
}

static int write_value(struct wr_bytes *to, const weir_field *f,
                       struct wr_slice v, weir_err *err)
{
    if (!v.bytes)
        return put(to, "null", err);
    if (f->kind == WEIR_FIELD_TENSOR && f->ndim)
        return write_tensor(to, f, v, err);
    if (f->kind == WEIR_FIELD_TENSOR || f->kind == WEIR_FIELD_SCALAR)
        return wr_text_write_numbers(to, f, v, words, err);
    if (f->kind == WEIR_FIELD_PICTURE)
        return wr_fail(err, WEIR_ENOTSUP, "'%s' is a picture: JSON has none",
                       f->name);
    return write_string(to, (const char *)v.bytes, v.len, err);
}

static int jsonl_add(struct wr_bytes *to, const struct wr_write_sample *s,
                     weir_err *err)
{
    int r = s->field_count
                ? put(to, "{", err)
                : wr_fail(err, WEIR_ENOTSUP,
                          "JSON lines hold numbers and texts, no pictures");

    for (unsigned k = 0; k < s->field_count && r == 0; k++) {
        const char *name = s->fields[k].name;

        r = k ? put(to, ",", err) : 0;
        if (r == 0)
            r = write_string(to, name, strlen(name), err);
        if (r == 0)
            r = put(to, ":", err);
        if (r == 0)
            r = write_value(to, &s->fields[k], s->values[k], err);
    }
    return r < 0 ? r : put(to, "}\n", err);
}

const struct wr_writer_ops wr_writer_jsonl = {
    .name = "jsonl",
    .ext = ".jsonl",
    .fields = true,
    .add = jsonl_add,
};
