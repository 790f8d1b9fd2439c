/* hdf5_answer.c - what the HDF5 helper says, checked, and what is chosen of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/hdf5_answer.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"
#include "base/text.h"
#include "codec/filters.h"
#include "codec/inflate.h"
#include "format/format.h"

/* Of all files of a data set, whatever their size; and of bytes, one each. A
 * chunk that is stored takes at least 24 of the index alone. */
#define CHUNKS_FEW  ((uint64_t)1 << 20)
#define CHUNKS_MAX  ((uint64_t)1 << 28)
#define CHUNK_BYTES 8

/* HDF5's numbers of filters, and ours. */
static const struct {
    uint32_t id;
    enum wr_filter filter;
} filters[] = {
    {1, WR_FILTER_ZLIB},
    {2, WR_FILTER_SHUFFLE},
    {3, WR_FILTER_FLETCHER32},
    {32000, WR_FILTER_LZF},
    {32015, WR_FILTER_ZSTD},
    {32001, WR_FILTER_BLOSC},
    {32004, WR_FILTER_LZ4},
    {32008, WR_FILTER_BITSHUFFLE},
    {WR_H5_BITSHUFFLE_LZ4, WR_FILTER_BITSHUFFLE_LZ4},
};

static enum wr_filter find_filter(uint32_t id)
{
    for (size_t k = 0; k < WR_ARRAY_LEN(filters); k++)
        if (filters[k].id == id)
            return filters[k].filter;
    return WR_FILTER_NONE;
}

uint32_t wr_h5_filters(const struct wr_h5_array *a, uint32_t mask)
{
    uint32_t list = 0;

    /* The last one that was applied is undone first: the lowest byte. */
    for (uint32_t k = 0; k < a->said.filter_count; k++)
        if (!(mask >> k & 1))
            list = list << 8 | find_filter(a->said.filters[k]);
    return list;
}

/* --- datasets --- */

static int check_texts(const struct wr_h5_dataset *d, weir_err *err)
{
    if (!memchr(d->name, '\0', sizeof(d->name)) ||
        !memchr(d->why, '\0', sizeof(d->why)) || !d->name[0])
        return wr_fail(err, WEIR_EFORMAT, "a name that does not end");
    if (!wr_text_is_utf8(d->name))
        return wr_fail(err, WEIR_EFORMAT, "a dataset's name is not UTF-8");
    return 0;
}

static int find_type(const struct wr_h5_dataset *d, enum weir_dtype *ret,
                     weir_err *err)
{
    static const struct {
        enum wr_h5_class class;
        uint32_t size;
        enum weir_dtype dtype;
    } types[] = {
        {WR_H5_UNSIGNED, 1, WEIR_U8},  {WR_H5_UNSIGNED, 2, WEIR_U16},
        {WR_H5_UNSIGNED, 4, WEIR_U32}, {WR_H5_UNSIGNED, 8, WEIR_U64},
        {WR_H5_SIGNED, 1, WEIR_I8},    {WR_H5_SIGNED, 2, WEIR_I16},
        {WR_H5_SIGNED, 4, WEIR_I32},   {WR_H5_SIGNED, 8, WEIR_I64},
        {WR_H5_FLOAT, 2, WEIR_F16},    {WR_H5_FLOAT, 4, WEIR_F32},
        {WR_H5_FLOAT, 8, WEIR_F64},    {WR_H5_BFLOAT, 2, WEIR_BF16},
        {WR_H5_BOOL, 1, WEIR_BOOL},    {WR_H5_COMPLEX, 8, WEIR_C64},
    };

    for (size_t k = 0; k < WR_ARRAY_LEN(types); k++)
        if (d->type == types[k].class && d->size == types[k].size) {
            *ret = types[k].dtype;
            return 0;
        }
    return wr_fail(err, WEIR_EFORMAT, "elements of no known type");
}

static int count_bytes(const struct wr_h5_dataset *d, const uint64_t *dims,
                       uint64_t *ret, weir_err *err)
{
    size_t bytes = d->size;

    for (uint32_t k = 0; k < d->ndim; k++)
        if (!wr_mul_ok(bytes, dims[k], &bytes))
            return wr_fail(err, WEIR_EFORMAT,
                           "the dimensions' product overflows 64 bits");
    *ret = bytes;
    return 0;
}

static int check_filters(const struct wr_h5_array *a, weir_err *err)
{
    const struct wr_h5_dataset *d = &a->said;
    struct wr_packing p = {.argument = d->element, .stored = a->chunk_bytes};
    weir_err e;

    if (d->filter_count > WR_H5_FILTERS)
        return wr_fail(err, WEIR_EFORMAT, "%" PRIu32 " filters",
                       d->filter_count);
    for (uint32_t k = 0; k < d->filter_count; k++)
        if (!find_filter(d->filters[k]))
            return wr_fail(err, WEIR_ENOTSUP, "packed by filter %" PRIu32,
                           d->filters[k]);
    /* Sizes are of each chunk; here it is the list that counts. */
    p.filters = wr_h5_filters(a, 0);
    if (wr_filters_check(&p, &e) == WEIR_ENOTSUP)
        return wr_fail(err, WEIR_ENOTSUP, "%s", e.msg);
    return 0;
}

uint64_t wr_h5_chunks_max(uint64_t size)
{
    return CHUNKS_FEW + size / CHUNK_BYTES;
}

static int check_chunks(struct wr_h5_array *a, uint64_t size, weir_err *err)
{
    const uint64_t most = WR_MIN(CHUNKS_MAX, wr_h5_chunks_max(size));
    const struct wr_h5_dataset *d = &a->said;
    size_t chunks = 1;
    int r;

    for (uint32_t k = 0; k < d->ndim; k++) {
        if (!d->chunk[k])
            return wr_fail(err, WEIR_EFORMAT, "chunks without elements");
        if (!wr_mul_ok(chunks,
                       d->dims[k] / d->chunk[k] + !!(d->dims[k] % d->chunk[k]),
                       &chunks) ||
            chunks > most)
            return wr_fail(err, WEIR_ELIMIT,
                           "more than %" PRIu64 " chunks, in a file of "
                           "%" PRIu64 " bytes",
                           most, size);
    }
    a->chunks = chunks;
    r = count_bytes(d, d->chunk, &a->chunk_bytes, err);
    if (r == 0 && a->chunk_bytes > WR_INFLATE_MAX)
        r = wr_fail(err, WEIR_ELIMIT, "chunks of %" PRIu64 " bytes",
                    a->chunk_bytes);
    return r < 0 ? r : check_filters(a, err);
}

static int check_layout(struct wr_h5_array *a, uint64_t size, weir_err *err)
{
    const struct wr_h5_dataset *d = &a->said;

    switch (d->layout) {
    case WR_H5_CONTIGUOUS:
        if (d->address > size || a->bytes > size - d->address)
            return wr_fail(err, WEIR_EFORMAT,
                           "truncated: %" PRIu64 " bytes of data at offset "
                           "%" PRIu64 ", the file has %" PRIu64,
                           a->bytes, d->address, size);
        return 0;
    case WR_H5_CHUNKED:
        return check_chunks(a, size, err);
    case WR_H5_UNWRITTEN:
        return 0;
    default:
        return wr_fail(err, WEIR_EFORMAT, "data of no known layout");
    }
}

static int check_dataset(struct wr_h5_array *a, uint64_t size, weir_err *err)
{
    const struct wr_h5_dataset *d = &a->said;
    int r = find_type(d, &a->dtype, err);

    if (r == 0 && (!d->ndim || d->ndim > WR_H5_DIMS))
        r = wr_fail(err, WEIR_EFORMAT, "%" PRIu32 " dimensions", d->ndim);
    if (r == 0)
        r = count_bytes(d, d->dims, &a->bytes, err);
    if (r == 0)
        r = check_layout(a, size, err);
    a->swap = d->size > 1 && !d->big_endian != (htole16(1) == 1);
    return r;
}

int wr_h5_check(const struct wr_h5_dataset *d, uint64_t size,
                struct wr_h5_array *ret, weir_err *err)
{
    struct wr_h5_array a = {.said = *d};
    int r = check_texts(d, err);
    weir_err why;

    if (r < 0)
        return r;
    if (d->layout == WR_H5_REFUSED)
        a.code = WEIR_ENOTSUP;
    else
        a.code = check_dataset(&a, size, &why);
    if (a.code < 0 && d->layout != WR_H5_REFUSED)
        snprintf(a.said.why, sizeof(a.said.why), "%.*s", WR_H5_WHY - 1,
                 why.msg);
    *ret = a;
    return 0;
}

/* --- chunks --- */

int wr_h5_check_place(const struct wr_h5_array *a, const struct wr_h5_place *p,
                      uint64_t size, weir_err *err)
{
    struct wr_packing packing = {.filters = wr_h5_filters(a, p->mask),
                                 .argument = a->said.element,
                                 .stored = p->stored,
                                 .inflated = a->chunk_bytes};

    if (p->address == WR_H5_UNALLOCATED)
        return 0;
    if (p->address > size || p->stored > size - p->address)
        return wr_fail(err, WEIR_EFORMAT,
                       "truncated: a chunk of %" PRIu64 " bytes at offset "
                       "%" PRIu64 ", the file has %" PRIu64,
                       p->stored, p->address, size);
    if (!packing.filters && p->stored != a->chunk_bytes)
        return wr_fail(err, WEIR_EFORMAT,
                       "a chunk of %" PRIu64 " bytes at offset %" PRIu64
                       ", not %" PRIu64,
                       p->stored, p->address, a->chunk_bytes);
    return packing.filters ? wr_filters_check(&packing, err) : 0;
}

/* --- which datasets of a file are the fields of its samples --- */

/* One more dataset, at a path that may begin with '/'. */
static int add(struct wr_h5_choice *c, const char *field, const char *path,
               weir_err *err)
{
    const char *name = path + strspn(path, "/");

    if (!*name || strlen(name) >= sizeof(c->list[0].path))
        return wr_fail(err, WEIR_EINVAL,
                       "'%s=%s' is not NAME=/PATH of a dataset, of up to %d "
                       "bytes",
                       wr_show(field).text, wr_show(path).text, WR_H5_NAME - 1);
    if (c->count == WR_NPZ_MAX)
        return wr_fail(err, WEIR_ELIMIT, "more than %d datasets", WR_NPZ_MAX);
    snprintf(c->list[c->count].field, sizeof(c->list[0].field), "%s", field);
    strcpy(c->list[c->count++].path, name);
    return 0;
}

int wr_h5_choice_parse(const char *fragment, struct wr_h5_choice *ret,
                       weir_err *err)
{
    struct wr_fragment f;
    struct wr_h5_choice c = {0};
    int r = wr_fragment_parse(fragment, &f, err);

    for (unsigned k = 0; r == 0 && k < f.count; k++)
        r = add(&c, f.pairs[k].name, f.pairs[k].value, err);
    if (r == 0)
        *ret = c;
    return r;
}

/* --- without being told --- */

static bool is_record(const char *name)
{
    return !strncmp(name, "records_", 8) && name[8] &&
           strspn(name + 8, "0123456789") == strlen(name + 8);
}

/* Dimensions of elements: a complex number of two f64 is one. */
static uint32_t rank_of(const struct wr_h5_array *a)
{
    return a->said.ndim - !!a->said.inner;
}

static bool is_empty(const struct wr_h5_array *a)
{
    return a->code == 0 && a->bytes == 0;
}

static bool has_samples(const struct wr_h5_array *a)
{
    return a->code == 0 && rank_of(a) >= 2 && !a->said.text && !is_empty(a);
}

/* The first of several dimensions; NULL: none, or several that are not called
 * records_K. */
static const struct wr_h5_array *find_tensor(const struct wr_h5_array *list,
                                             size_t count)
{
    const struct wr_h5_array *first = NULL;

    for (size_t k = 0; k < count; k++) {
        if (!has_samples(&list[k]))
            continue;
        if (first &&
            !(is_record(first->said.name) && is_record(list[k].said.name)))
            return NULL;
        first = first ? first : &list[k];
    }
    return first;
}

static bool is_integer(const struct wr_h5_array *a)
{
    return a->said.ndim == 1 &&
           (a->said.type == WR_H5_SIGNED || a->said.type == WR_H5_UNSIGNED);
}

static bool is_beside(const struct wr_h5_array *a,
                      const struct wr_h5_array *tensor)
{
    return (rank_of(a) == 1 || a->said.text) &&
           a->said.dims[0] == tensor->said.dims[0];
}

/* Would it be a field if its bytes could be had? */
static bool is_missed(const struct wr_h5_array *a,
                      const struct wr_h5_array *tensor)
{
    return a->code &&
           (a->said.layout != WR_H5_REFUSED || a->said.unreachable) &&
           (is_beside(a, tensor) || (a->said.ndim != 1 && !a->said.text));
}

/* "/x 1000x28x28" */
struct array_text {
    char text[256];
};

static struct array_text show_array(const struct wr_h5_dataset *d)
{
    struct array_text t;
    char shown[64];
    int used = snprintf(
        t.text, sizeof(t.text), "/%s",
        wr_text_show(d->name, /* controls= */ true, shown, sizeof(shown)));

    for (uint32_t k = 0; k < d->ndim && k < WR_H5_DIMS; k++)
        used += snprintf(t.text + used, sizeof(t.text) - (size_t)used,
                         "%c%" PRIu64, k ? 'x' : ' ', d->dims[k]);
    return t;
}

/* What a user may choose from: as many as there is room for, and how many there
 * are beside. */
static void tell(const struct wr_h5_array *list, size_t count, char *buf,
                 size_t cap)
{
    const size_t more = sizeof(" and 1024 more");
    size_t used = 0;

    buf[0] = '\0';
    for (size_t k = 0; k < count; k++) {
        struct array_text t = show_array(&list[k].said);

        if (used + strlen(t.text) + 2 + more > cap) {
            snprintf(buf + used, cap - used, " and %zu more", count - k);
            return;
        }
        used += (size_t)snprintf(buf + used, cap - used, "%s%s", k ? ", " : "",
                                 t.text);
    }
}

static int fail_choice(const struct wr_h5_array *list, size_t count,
                       weir_err *err)
{
    char known[300], why[WR_H5_WHY];

    if (!count)
        return wr_fail(err, WEIR_EFORMAT, "it has no datasets");
    tell(list, count, known, sizeof(known));
    for (size_t k = 0; k < count; k++)
        if (list[k].code)
            return wr_fail(err, list[k].code,
                           "which dataset holds the samples? Name it: "
                           "FILE#data=/path. It has %s; '/%s' cannot be read: "
                           "%s",
                           known, wr_show(list[k].said.name).text,
                           wr_text_show(list[k].said.why, /* controls= */ true,
                                        why, sizeof(why)));
    return wr_fail(err, WEIR_EFORMAT,
                   "which dataset holds the samples? Name it: "
                   "FILE#data=/path,label=/path. It has %s",
                   known);
}

/* A field that is not there would not be seen: it is refused. */
static int check_missed(const struct wr_h5_array *list, size_t count,
                        const struct wr_h5_array *tensor, weir_err *err)
{
    for (size_t k = 0; k < count; k++)
        if (is_missed(&list[k], tensor))
            return wr_fail(err, list[k].code,
                           "dataset '/%s' cannot be read: %s. Name the others "
                           "to do without it: FILE#data=/%s",
                           wr_show(list[k].said.name).text,
                           wr_show(list[k].said.why).text,
                           wr_show(tensor->said.name).text);
    return 0;
}

/* Strings, and complex numbers beside the samples, come last: the first tensor is
 * what the samples are. */
static int add_found(const struct wr_h5_array *list, size_t count,
                     const struct wr_h5_array *tensor, struct wr_h5_choice *c,
                     weir_err *err)
{
    int r = 0;

    for (size_t k = 0; k < 2 * count && r == 0; k++) {
        const struct wr_h5_array *a = &list[k % count];

        bool complex = a->said.inner || a->said.type == WR_H5_COMPLEX;
        bool last = a->said.text || (complex && rank_of(a) == 1);

        if ((k >= count) == last && !a->code &&
            (has_samples(a) || is_beside(a, tensor)))
            r = add(c, a->said.name, a->said.name, err);
    }
    return r;
}

int wr_h5_choice_detect(const struct wr_h5_array *list, size_t count,
                        struct wr_h5_choice *ret, weir_err *err)
{
    const struct wr_h5_array *tensor = find_tensor(list, count);
    const struct wr_h5_array *label = NULL;
    struct wr_h5_choice c = {0};
    unsigned integers = 0;
    int r = tensor ? check_missed(list, count, tensor, err)
                   : fail_choice(list, count, err);

    if (r == 0)
        r = add_found(list, count, tensor, &c, err);
    if (r < 0)
        return r;
    for (size_t k = 0; k < count; k++)
        if (!list[k].code && is_beside(&list[k], tensor) &&
            is_integer(&list[k])) {
            integers++;
            label = &list[k];
        }
    if (integers == 1)
        snprintf(c.label, sizeof(c.label), "%s", label->said.name);
    *ret = c;
    return 0;
}

bool wr_h5_choice_omits(const struct wr_h5_choice *c,
                        const struct wr_h5_array *a, weir_err *err)
{
    for (size_t k = 0; k < c->count; k++)
        if (!strcmp(c->list[k].path, a->said.name))
            return false;
    if (a->code)
        wr_fail(err, a->code, "dataset '/%s' is not read: %s",
                wr_show(a->said.name).text, wr_show(a->said.why).text);
    else if (is_empty(a))
        wr_fail(err, WEIR_ENOTSUP, "dataset '/%s' is not read: it is empty",
                wr_show(a->said.name).text);
    else
        wr_fail(err, WEIR_ENOTSUP,
                "dataset '/%s' is not read: it has %" PRIu64
                " numbers, which is not the number of samples",
                wr_show(a->said.name).text, a->said.dims[0]);
    return true;
}

size_t wr_h5_choice_paths(const struct wr_h5_choice *c, char *buf, size_t cap)
{
    size_t used = 0;

    for (size_t k = 0; k < c->count; k++) {
        size_t len = strlen(c->list[k].path) + 1;

        if (used + len > cap)
            break;
        memcpy(buf + used, c->list[k].path, len);
        used += len;
    }
    return used;
}
