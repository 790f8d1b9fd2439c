/* csv_write.c - samples as rows of a CSV file with a header.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "format/schema.h"
#include "format/text_write.h"

static const char *const words[3] = {"nan", "inf", "-inf"};

static bool is_number(const weir_field *f)
{
    return f->kind == WEIR_FIELD_TENSOR || f->kind == WEIR_FIELD_SCALAR;
}

/* Quoted where it has to be. */
static int write_text(struct wr_bytes *to, const char *text, size_t len,
                      weir_err *err)
{
    bool quotes = !len || memchr(text, ',', len) || memchr(text, '"', len) ||
                  memchr(text, '\n', len) || memchr(text, '\r', len) ||
                  text[0] == ' ' || text[len - 1] == ' ' || text[0] == '\t' ||
                  text[len - 1] == '\t';
    int r = quotes ? wr_text_write(to, "\"", 1, err) : 0;

    while (len && r == 0) {
        const char *quote = memchr(text, '"', len);
        size_t n = quote ? (size_t)(quote - text) + 1 : len;

        r = wr_text_write(to, text, n, err);
        if (r == 0 && quote)
            r = wr_text_write(to, "\"", 1, err);
        text += n;
        len -= n;
    }
    return r == 0 && quotes ? wr_text_write(to, "\"", 1, err) : r;
}

/* The columns of one field: name, or name0, name1 and so on. */
static int write_names(struct wr_bytes *to, const weir_field *f, weir_err *err)
{
    uint64_t count = 1;
    char name[WR_FIELD_NAME + 32];
    int r = 0;

    for (uint32_t k = 0; is_number(f) && k < f->ndim; k++)
        count = f->dims[k] == WEIR_DIM_VARIES ? 0 : count * f->dims[k];
    if (!count)
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s' differs in size from sample to sample, and the "
                       "rows of CSV do not: choose jsonl",
                       f->name);
    if (f->kind == WEIR_FIELD_PICTURE)
        return wr_fail(err, WEIR_ENOTSUP, "'%s' is a picture: CSV has none",
                       f->name);
    for (uint64_t k = 0; k < count && r == 0; k++) {
        int n = count == 1
                    ? snprintf(name, sizeof(name), "%s", f->name)
                    : snprintf(name, sizeof(name), "%s%" PRIu64, f->name, k);

        if (k)
            r = wr_text_write(to, ",", 1, err);
        if (r == 0)
            r = write_text(to, name, (size_t)n, err);
    }
    return r;
}

static int csv_begin(struct wr_bytes *to, const weir_field *fields,
                     unsigned count, weir_err *err)
{
    int r = 0;

    for (unsigned k = 0; k < count && r == 0; k++) {
        if (k)
            r = wr_text_write(to, ",", 1, err);
        if (r == 0)
            r = write_names(to, &fields[k], err);
    }
    return r < 0 ? r : wr_text_write(to, "\n", 1, err);
}

static int write_value(struct wr_bytes *to, const weir_field *f,
                       struct wr_slice v, weir_err *err)
{
    if (!v.bytes)
        return 0; /* the sample does not have it */
    if (is_number(f))
        return wr_text_write_numbers(to, f, v, words, err);
    return write_text(to, (const char *)v.bytes, v.len, err);
}

static int csv_add(struct wr_bytes *to, const struct wr_write_sample *s,
                   weir_err *err)
{
    int r = s->field_count ? 0
                           : wr_fail(err, WEIR_ENOTSUP,
                                     "CSV holds numbers and texts, no "
                                     "pictures");

    for (unsigned k = 0; k < s->field_count && r == 0; k++) {
        if (k)
            r = wr_text_write(to, ",", 1, err);
        if (r == 0)
            r = write_value(to, &s->fields[k], s->values[k], err);
    }
    return r < 0 ? r : wr_text_write(to, "\n", 1, err);
}

const struct wr_writer_ops wr_writer_csv = {
    .name = "csv",
    .ext = ".csv",
    .fields = true,
    .begin = csv_begin,
    .add = csv_add,
};
