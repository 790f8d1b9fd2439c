/* unpacks.h - one record of TFRecord unpacked, as a worker does it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_FORMAT_UNPACKS_H
#define TEST_FORMAT_UNPACKS_H

#include "format/decode.h"
#include "format/tfrecord.h"

/* As a data set with a picture and a label does; ret->bytes is the picture. */
static inline int unpack_at(bool payload, struct wr_sample *ret, weir_err *err)
{
    const struct wr_field image = {
        .pub = {.kind = WEIR_FIELD_PICTURE, .dtype = WEIR_U8},
        .name = "image",
        .unpacked = true,
        .scalar = WR_TFRECORD_SEARCHED};
    struct wr_index *ix = wr_index_new();
    struct wr_unpack u;
    int r;

    assert_int_equal(wr_index_add_field(ix, &image, NULL), 0);
    assert_int_equal(wr_unpack_init(&u, wr_index_schema(ix), NULL), 0);
    u.wanted[0] = true;
    r = wr_format_tfrecord.unpack(ix, 0, ret, payload ? &u : NULL, err);
    if (r == 0 && payload) {
        ret->bytes = u.fields[0].bytes;
        ret->len = u.fields[0].len;
    }
    wr_unpack_done(&u);
    wr_index_free(ix);
    return r;
}

#endif
