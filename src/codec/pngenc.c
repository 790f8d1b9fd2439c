/* pngenc.c - pixels -> a PNG in memory, through libspng.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/pngenc.h"

#include "base/error.h"

#ifdef WR_HAVE_SPNG

#include <spng.h>

bool wr_pngenc_is_there(void)
{
    return true;
}

static int encode(spng_ctx *ctx, const struct wr_pngenc_picture *p)
{
    struct spng_ihdr head = {.width = p->width,
                             .height = p->height,
                             .bit_depth = 8,
                             .color_type = SPNG_COLOR_TYPE_TRUECOLOR};
    size_t len = (size_t)p->width * p->height * 3;
    int r = spng_set_option(ctx, SPNG_ENCODE_TO_BUFFER, 1);

    if (r == 0)
        r = spng_set_ihdr(ctx, &head);
    if (r == 0)
        r = spng_encode_image(ctx, p->pixels, len, SPNG_FMT_PNG,
                              SPNG_ENCODE_FINALIZE);
    return r;
}

int wr_pngenc_encode(const struct wr_pngenc_picture *p, uint8_t **ret_bytes,
                     size_t *ret_len, weir_err *err)
{
    spng_ctx *ctx = spng_ctx_new(SPNG_CTX_ENCODER);
    uint8_t *bytes = NULL;
    size_t len = 0;
    int r = ctx ? encode(ctx, p) : SPNG_EMEM;

    if (r == 0)
        bytes = spng_get_png_buffer(ctx, &len, &r);
    spng_ctx_free(ctx);
    if (r == SPNG_EMEM)
        return wr_fail(err, WEIR_ENOMEM, "no memory to encode a PNG");
    if (r || !bytes)
        return wr_fail(err, WEIR_EINVAL, "cannot encode a PNG: %s",
                       spng_strerror(r));
    *ret_bytes = bytes;
    *ret_len = len;
    return 0;
}

#else

bool wr_pngenc_is_there(void)
{
    return false;
}

int wr_pngenc_encode(const struct wr_pngenc_picture *p, uint8_t **ret_bytes,
                     size_t *ret_len, weir_err *err)
{
    return wr_fail(err, WEIR_ENOTSUP, "PNG: weir was built without libspng");
}

#endif
