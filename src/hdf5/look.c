/* look.c - what datasets a file has, and how each is stored.
 * SPDX-License-Identifier: Apache-2.0 */
#include "hdf5/look.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(struct wr_h5_dataset *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static bool refuse(struct wr_h5_dataset *d, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(d->why, sizeof(d->why), fmt, ap);
    va_end(ap);
    d->layout = WR_H5_REFUSED;
    return false;
}

/* --- types --- */

static bool look_at_integer(hid_t type, struct wr_h5_dataset *d)
{
    size_t size = H5Tget_size(type);

    if ((size != 1 && size != 2 && size != 4 && size != 8) ||
        H5Tget_precision(type) != 8 * size || H5Tget_offset(type) != 0)
        return refuse(d, "integers of %zu bits in %zu bytes",
                      H5Tget_precision(type), size);
    d->type = H5Tget_sign(type) == H5T_SGN_NONE ? WR_H5_UNSIGNED : WR_H5_SIGNED;
    d->size = (uint32_t)size;
    d->big_endian = H5Tget_order(type) == H5T_ORDER_BE;
    return true;
}

static bool look_at_float(hid_t type, struct wr_h5_dataset *d)
{
    static const struct {
        size_t size, exponent_at, exponent, mantissa, bias;
        enum wr_h5_class class;
    } known[] = {{2, 10, 5, 10, 15, WR_H5_FLOAT},
                 {2, 7, 8, 7, 127, WR_H5_BFLOAT},
                 {4, 23, 8, 23, 127, WR_H5_FLOAT},
                 {8, 52, 11, 52, 1023, WR_H5_FLOAT}};
    size_t size = H5Tget_size(type), sign = 0, at = 0, exponent = 0, low = 0;
    size_t mantissa = 0;
    H5T_order_t order = H5Tget_order(type);

    H5Tget_fields(type, &sign, &at, &exponent, &low, &mantissa);
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
        if (size != known[k].size || at != known[k].exponent_at ||
            exponent != known[k].exponent || mantissa != known[k].mantissa ||
            low || sign + 1 != 8 * size ||
            H5Tget_ebias(type) != known[k].bias ||
            (order != H5T_ORDER_LE && order != H5T_ORDER_BE))
            continue;
        d->type = known[k].class;
        d->size = (uint32_t)size;
        d->big_endian = order == H5T_ORDER_BE;
        return true;
    }
    return refuse(d, "floating-point numbers of %zu bytes that are not IEEE's",
                  size);
}

/* Has an enumeration of bytes this member? */
static bool has_member(hid_t type, const char *name, signed char want)
{
    signed char value = -1;

    return H5Tenum_valueof(type, name, &value) >= 0 && value == want;
}

/* h5py's bool; an enumeration of a cat and a dog is not. */
static bool is_bool(hid_t type)
{
    return H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2 &&
           has_member(type, "FALSE", 0) && has_member(type, "TRUE", 1);
}

static bool look_at_enum(hid_t type, struct wr_h5_dataset *d)
{
    hid_t super = H5Tget_super(type);
    bool good = H5Tget_class(super) == H5T_INTEGER && look_at_integer(super, d);

    H5Tclose(super);
    if (good && is_bool(type))
        d->type = WR_H5_BOOL;
    return good;
}

/* Two floats of type `part`, which is closed. */
static bool look_at_pair(hid_t part, struct wr_h5_dataset *d)
{
    bool good = look_at_float(part, d);

    H5Tclose(part);
    if (!good)
        return false;
    if (d->size == 8) { /* weir has no such type: two numbers */
        d->inner = 2;
        d->element = 16;
        return true;
    }
    if (d->size != 4)
        return refuse(d, "complex numbers of %u bytes, not 8 or 16",
                      2 * d->size);
    d->type = WR_H5_COMPLEX;
    d->size = 8;
    return true;
}

/* Are these the parts of a complex number? Radius and angle are not. */
static bool are_parts(const char *first, const char *second)
{
    static const char *const known[][2] = {
        {"r", "i"}, {"re", "im"}, {"real", "imag"}, {"real", "imaginary"}};

    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
        if (first && second && !strcmp(first, known[k][0]) &&
            !strcmp(second, known[k][1]))
            return true;
    return false;
}

/* Complex numbers are a compound type of two floats, as h5py has them. */
static bool look_at_compound(hid_t type, struct wr_h5_dataset *d)
{
    bool pair = H5Tget_nmembers(type) == 2 &&
                H5Tget_member_class(type, 0) == H5T_FLOAT &&
                H5Tget_member_class(type, 1) == H5T_FLOAT &&
                H5Tget_member_offset(type, 0) == 0;
    hid_t real = pair ? H5Tget_member_type(type, 0) : -1;
    hid_t imaginary = pair ? H5Tget_member_type(type, 1) : -1;
    char *first = pair ? H5Tget_member_name(type, 0) : NULL;
    char *second = pair ? H5Tget_member_name(type, 1) : NULL;

    pair = are_parts(first, second) && H5Tequal(real, imaginary) > 0 &&
           H5Tget_member_offset(type, 1) == H5Tget_size(real) &&
           H5Tget_size(type) == 2 * H5Tget_size(real);
    H5free_memory(first);
    H5free_memory(second);
    if (imaginary >= 0)
        H5Tclose(imaginary);
    if (pair)
        return look_at_pair(real, d);
    if (real >= 0)
        H5Tclose(real);
    return refuse(d, "a compound type that is not complex numbers");
}

/* Strings of a fixed length are bytes, one more dimension of them. */
static bool look_at_string(hid_t type, struct wr_h5_dataset *d)
{
    if (H5Tis_variable_str(type) > 0)
        return refuse(d, "strings of variable length (save them with a fixed "
                         "one: dtype 'S20' of NumPy)");
    d->type = WR_H5_UNSIGNED;
    d->size = 1;
    d->element = (uint32_t)H5Tget_size(type);
    d->inner = d->element;
    d->text = 1;
    return true;
}

static bool look_at_type(hid_t type, struct wr_h5_dataset *d)
{
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        return look_at_integer(type, d);
    case H5T_FLOAT:
        return look_at_float(type, d);
    case H5T_ENUM:
        return look_at_enum(type, d);
    case H5T_STRING:
        return look_at_string(type, d);
    case H5T_COMPOUND:
        return look_at_compound(type, d);
#if H5_VERSION_GE(2, 0, 0)
    case H5T_COMPLEX:
        return look_at_pair(H5Tget_super(type), d);
#endif
    case H5T_VLEN:
        return refuse(d, "elements of variable length");
    case H5T_REFERENCE:
        return refuse(d, "references");
    case H5T_OPAQUE:
        return refuse(d, "opaque bytes");
    case H5T_ARRAY:
        return refuse(d, "an array type");
    default:
        return refuse(d, "a type that is not a number");
    }
}

/* --- space, filters, fill value --- */

static bool look_at_space(hid_t dataset, struct wr_h5_dataset *d)
{
    hid_t space = H5Dget_space(dataset);
    int ndim = H5Sget_simple_extent_ndims(space);
    hsize_t dims[H5S_MAX_RANK];
    H5S_class_t kind = H5Sget_simple_extent_type(space);
    bool simple = kind == H5S_SIMPLE;

    if (simple && ndim > 0 && ndim <= WR_H5_DIMS) {
        H5Sget_simple_extent_dims(space, dims, NULL);
        d->ndim = (uint32_t)ndim;
        for (int k = 0; k < ndim; k++)
            d->dims[k] = dims[k];
    }
    H5Sclose(space);
    if (d->ndim == WR_H5_DIMS && d->inner)
        return refuse(d, "%s of %d dimensions",
                      d->text ? "strings" : "complex numbers", ndim);
    if (d->ndim && d->inner)
        d->dims[d->ndim++] = d->inner;
    if (!simple || ndim <= 0)
        return refuse(d, kind == H5S_NULL ? "it is empty" : "no dimensions");
    return d->ndim ||
           refuse(d, "%d dimensions, more than %d", ndim, WR_H5_DIMS);
}

static const char *filter_name(int id)
{
    switch (id) {
    case H5Z_FILTER_SZIP:
        return "szip";
    case H5Z_FILTER_NBIT:
        return "nbit";
    case H5Z_FILTER_SCALEOFFSET:
        return "scaleoffset";
    case 307:
        return "bzip2";
    case 32013:
        return "zfp";
    case 32026:
        return "blosc2";
    default:
        return "unknown";
    }
}

static bool is_known(int id)
{
    return id == H5Z_FILTER_DEFLATE || id == H5Z_FILTER_SHUFFLE ||
           id == H5Z_FILTER_FLETCHER32 || id == 32000 || id == 32001 ||
           id == 32004 || id == 32015;
}

/* Values of bitshuffle: two of its version, bytes of an element, elements of a
 * block (0: by itself), and what packs it (2: LZ4). */
static bool look_at_bitshuffle(const unsigned *values, size_t count,
                               struct wr_h5_dataset *d, uint32_t *ret)
{
    unsigned packs = count > 4 ? values[4] : 0;

    if (count < 3 || values[2] != d->element)
        return refuse(d, "packed by bitshuffle, of elements of another size");
    if (packs == 2)
        *ret = WR_H5_BITSHUFFLE_LZ4;
    else if (packs || (count > 3 && values[3]))
        return refuse(d, "packed by bitshuffle with %s",
                      packs == 3 ? "zstd" : "blocks of a chosen size");
    return true;
}

static bool look_at_filters(hid_t dcpl, struct wr_h5_dataset *d)
{
    int n = H5Pget_nfilters(dcpl);

    if (n < 0 || n > WR_H5_FILTERS)
        return refuse(d, "%d filters, more than %d", n, WR_H5_FILTERS);
    for (int k = 0; k < n; k++) {
        unsigned flags, config, values[8];
        size_t count = 8;
        int id = H5Pget_filter2(dcpl, (unsigned)k, &flags, &count, values, 0,
                                NULL, &config);

        d->filters[k] = (uint32_t)id;
        if (id == 32008 ? !look_at_bitshuffle(values, count, d, &d->filters[k])
                        : !is_known(id))
            return d->why[0] ? false
                             : refuse(d, "packed by filter %d (%s)", id,
                                      filter_name(id));
    }
    d->filter_count = (uint32_t)n;
    return true;
}

/* Bytes of strings that were never written are 0, or it is refused. */
static bool is_filled(hid_t dcpl, hid_t type, size_t len)
{
    char *text = calloc(1, len);
    bool filled = !text || H5Pget_fill_value(dcpl, type, text) < 0;

    for (size_t k = 0; k < len && !filled; k++)
        filled = text[k] != '\0';
    free(text);
    return filled;
}

static bool look_at_fill(hid_t dcpl, hid_t type, struct wr_h5_dataset *d)
{
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;

    H5Pfill_value_defined(dcpl, &defined);
    if (defined != H5D_FILL_VALUE_USER_DEFINED)
        return true;
    if (d->inner)
        return !is_filled(dcpl, type, d->element) ||
               refuse(d, "%s with a fill value",
                      d->text ? "strings" : "complex numbers");
    if (H5Pget_fill_value(dcpl, type, d->fill) < 0)
        memset(d->fill, 0, sizeof(d->fill));
    return true;
}

/* --- layouts --- */

static uint64_t data_bytes(const struct wr_h5_dataset *d)
{
    uint64_t bytes = d->size;

    for (uint32_t k = 0; k < d->ndim; k++)
        if (__builtin_mul_overflow(bytes, d->dims[k], &bytes))
            return UINT64_MAX;
    return bytes;
}

static void look_at_contiguous(hid_t dataset, hid_t dcpl,
                               struct wr_h5_dataset *d)
{
    haddr_t at = H5Dget_offset(dataset);

    if (H5Pget_external_count(dcpl) > 0) {
        refuse(d, "its data lie in external files");
        return;
    }
    d->layout = at == HADDR_UNDEF ? WR_H5_UNWRITTEN : WR_H5_CONTIGUOUS;
    d->address = at == HADDR_UNDEF ? 0 : at;
}

/* Compact data lie in the object's header, which was read: they are found
 * there. Equal bytes elsewhere will do as well. */
static void look_at_compact(struct h5_file *f, hid_t dataset, hid_t type,
                            struct wr_h5_dataset *d)
{
    uint64_t bytes = data_bytes(d);
    void *values = bytes <= 65536 ? malloc(bytes + 1) : NULL;
    uint64_t at = 0;

    if (!values ||
        H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0 ||
        (bytes && !h5_find_bytes(f, values, bytes, &at))) {
        refuse(d, "compact data that cannot be found in the file");
    } else {
        d->layout = WR_H5_CONTIGUOUS;
        d->address = at;
    }
    free(values);
}

static void look_at_chunked(hid_t dcpl, struct wr_h5_dataset *d)
{
    hsize_t chunk[H5S_MAX_RANK];
    int n = H5Pget_chunk(dcpl, H5S_MAX_RANK, chunk);

    if (n != (int)(d->ndim - !!d->inner)) {
        refuse(d, "chunks of %d dimensions", n);
        return;
    }
    for (int k = 0; k < n; k++)
        d->chunk[k] = chunk[k];
    if (d->inner)
        d->chunk[n] = d->inner;
    if (look_at_filters(dcpl, d))
        d->layout = WR_H5_CHUNKED;
}

static void look_at_layout(struct h5_file *f, hid_t dataset, hid_t type,
                           struct wr_h5_dataset *d)
{
    hid_t dcpl = H5Dget_create_plist(dataset);
    H5D_layout_t layout = H5Pget_layout(dcpl);

    d->bytes = data_bytes(d);
    d->unreachable = 1; /* if it is refused from here on */
    if (!look_at_fill(dcpl, type, d))
        ; /* it said why */
    else if (layout == H5D_COMPACT)
        look_at_compact(f, dataset, type, d);
    else if (layout == H5D_CONTIGUOUS)
        look_at_contiguous(dataset, dcpl, d);
    else if (layout == H5D_CHUNKED)
        look_at_chunked(dcpl, d);
    else if (layout == H5D_VIRTUAL)
        refuse(d, "a virtual dataset: its data lie in other datasets");
    else
        refuse(d, "an unknown layout");
    H5Pclose(dcpl);
}

void h5_look(struct h5_file *f, hid_t dataset, struct wr_h5_dataset *d)
{
    hid_t type = H5Dget_type(dataset);

    if (type < 0)
        d->unreachable = !refuse(d, "its type cannot be read");
    else if (look_at_type(type, d)) {
        d->element = d->inner ? d->element : d->size;
        if (look_at_space(dataset, d))
            look_at_layout(f, dataset, type, d);
    }
    if (type >= 0)
        H5Tclose(type);
}
