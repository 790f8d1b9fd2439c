/* fuzz_index.c - index files that lie: refused, or safe to read.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/listing.h"
#include "format/index_file.h"

#define KEY       "fuzz" /* of the corpus */
#define CHECK_MAX 1000   /* samples looked at from either end */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Puts right what would end every try at once. */
static void mend(uint8_t *bytes, size_t size)
{
    const uint64_t file_bytes = size;
    uint64_t sum;

    memcpy(bytes, "WEIRIDX1", 8);
    memcpy(bytes + 24, &file_bytes, sizeof(file_bytes));
    sum = wr_index_file_checksum(bytes, size);
    memcpy(bytes + 8, &sum, sizeof(sum));
}

static void check_part(const struct wr_index *ix, unsigned column, uint64_t i)
{
    uint64_t limit;
    struct wr_part p;
    char path[512];

    wr_index_part(ix, column, i, &p);
    if (p.object >= wr_index_object_count(ix))
        abort();
    wr_index_object_path(ix, p.object, path, sizeof(path));
    limit = wr_part_is_packed(&p) ? wr_index_unit(ix, p.unit)->inflated
                                  : wr_index_object_size(ix, p.object);
    if (p.length > limit || p.offset > limit - p.length ||
        p.length > wr_index_max_length(ix) ||
        (!column && p.label != WEIR_NO_LABEL &&
         p.label >= wr_index_class_count(ix)))
        abort();
}

static void check_fields(const struct wr_index *ix)
{
    const struct wr_schema *s = wr_index_schema(ix);
    char text[64];

    for (unsigned k = 0; k < s->count; k++) {
        const struct wr_field *f = &s->fields[k];
        struct wr_part p;

        wr_field_text(&f->pub, text, sizeof(text));
        if (strlen(f->pub.name) >= WR_FIELD_NAME || !text[0])
            abort();
        if (f->column == WR_NO_COLUMN || f->unpacked || !wr_field_span(f) ||
            !wr_index_count(ix))
            continue;
        wr_index_part(ix, f->column, 0, &p);
        if (!p.absent && p.length != wr_field_span(f))
            abort();
    }
}

static void check_sample(const struct wr_index *ix, uint64_t i)
{
    const char *name = wr_index_sample_name(ix, i);
    union wr_scalar value;

    for (unsigned c = 0; c < wr_index_columns(ix); c++)
        check_part(ix, c, i);
    if (name && strlen(name) > SIZE_MAX / 2)
        abort();
    for (unsigned k = 0; k < wr_index_schema(ix)->count; k++)
        wr_index_scalar(ix, k, i, &value);
}

static void check_rest(const struct wr_index *ix)
{
    size_t sum = wr_index_memory(ix);

    check_fields(ix);
    for (uint64_t k = 0; k < wr_index_stamp_count(ix); k++) {
        struct wr_stamp stamp;
        const char *path;

        wr_index_stamp(ix, k, &stamp, &path);
        sum += strlen(path);
    }
    for (uint64_t k = 0; wr_index_issue(ix, k); k++)
        sum += strlen(wr_index_issue(ix, k)->name) +
               strlen(wr_index_issue(ix, k)->reason);
    for (uint32_t k = 0; wr_index_class_name(ix, k); k++)
        sum += strlen(wr_index_class_name(ix, k));
    for (size_t k = 0; k < wr_index_ignored(ix)->count; k++)
        sum += strlen(wr_index_ignored(ix)->list[k].ext);
    sum += wr_index_fingerprint(ix) & 1;
    if (!sum)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_index *ix;
    const char *format;
    uint8_t *bytes;
    uint64_t n;

    if (size < 64)
        return 0;
    bytes = malloc(size); /* aligned, and of just this size */
    if (!bytes)
        return 0;
    memcpy(bytes, data, size);
    mend(bytes, size);
    if (wr_index_parse(bytes, size, KEY, &ix, &format, NULL) == 0) {
        n = wr_index_count(ix);
        for (uint64_t i = 0; i < n && i < CHECK_MAX; i++) {
            check_sample(ix, i);
            check_sample(ix, n - 1 - i);
        }
        check_rest(ix);
        if (strlen(format) >= size)
            abort();
        wr_index_free(ix);
    }
    free(bytes);
    return 0;
}
