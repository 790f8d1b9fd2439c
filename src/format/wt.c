/* wt.c - the header of .wt files: docs/formats/wt.md.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/wt.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/le.h"
#include "base/mem.h"

/* Offsets of the fields. */
enum {
    AT_VERSION = 8,
    AT_DTYPE = 12,
    AT_NDIM = 16,
    AT_FLAGS = 20,
    AT_COUNT = 24,
    AT_DIMS = 64,
};

static int check_fields(const uint8_t *h, weir_err *err)
{
    uint32_t ndim = wr_le32(h + AT_NDIM);

    if (memcmp(h, WR_WT_MAGIC, 8) != 0)
        return wr_fail(err, WEIR_EFORMAT,
                       "not a .wt file: it does not begin with " WR_WT_MAGIC);
    if (wr_le32(h + AT_VERSION) != WR_WT_VERSION)
        return wr_fail(err, WEIR_ENOTSUP, ".wt version %" PRIu32 ", not 1",
                       wr_le32(h + AT_VERSION));
    if (wr_le32(h + AT_DTYPE) > 2)
        return wr_fail(err, WEIR_EFORMAT, "unknown dtype %" PRIu32,
                       wr_le32(h + AT_DTYPE));
    if (ndim > 7)
        return wr_fail(err, WEIR_EFORMAT,
                       "%" PRIu32 " dimensions, at most 7 are allowed", ndim);
    if (wr_le32(h + AT_FLAGS) & ~WR_WT_LABELS)
        return wr_fail(err, WEIR_EFORMAT, "unknown flags 0x%" PRIx32,
                       wr_le32(h + AT_FLAGS));
    for (uint32_t k = 0; k < 7; k++)
        if ((wr_le64(h + AT_DIMS + 8 * k) != 0) != (k < ndim))
            return wr_fail(err, WEIR_EFORMAT, "dimension %" PRIu32 " is %s", k,
                           k < ndim ? "zero" : "not zero");
    return 0;
}

int wr_wt_parse(const uint8_t *bytes, size_t len, uint64_t file_size,
                struct wr_tensor_file *ret, weir_err *err)
{
    static const enum weir_dtype elems[] = {WEIR_F32, WEIR_F16, WEIR_U8};
    struct wr_tensor_file t = {.data_offset = WR_WT_HEADER};
    size_t labels = 0;
    int r;

    if (len < WR_WT_HEADER)
        return wr_fail(err, WEIR_EFORMAT,
                       "%zu bytes are too few for a .wt header", len);
    r = check_fields(bytes, err);
    if (r < 0)
        return r;
    t.shape.dtype = elems[wr_le32(bytes + AT_DTYPE)];
    t.shape.ndim = wr_le32(bytes + AT_NDIM);
    t.count = wr_le64(bytes + AT_COUNT);
    for (uint32_t k = 0; k < t.shape.ndim; k++)
        t.shape.dims[k] = wr_le64(bytes + AT_DIMS + 8 * k);
    if (wr_le32(bytes + AT_FLAGS) & WR_WT_LABELS) {
        if (!wr_mul_ok(t.count, 4, &labels) || labels > file_size)
            return wr_fail(err, WEIR_EFORMAT,
                           "%" PRIu64 " labels do not fit into the file",
                           t.count);
        t.labels_offset = WR_WT_HEADER;
    }
    /* No overflow: labels <= file_size, which is an offset. */
    if (file_size > INT64_MAX)
        return wr_fail(err, WEIR_ELIMIT, "larger than 2^63 bytes");
    t.data_offset = WR_ALIGN_UP(WR_WT_HEADER + (uint64_t)labels,
                                (uint64_t)WR_WT_ALIGN);
    r = wr_tensor_file_settle(&t, file_size, /* exact= */ true, err);
    if (r < 0)
        return r;
    *ret = t;
    return 0;
}
