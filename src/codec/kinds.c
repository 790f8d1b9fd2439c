/* kinds.c - the registry of picture kinds, by first bytes and by name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"

#include <string.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/mem.h"

/* One line per kind. */
static const struct wr_codec *const codecs[] = {
    &wr_codec_jpeg, &wr_codec_png, &wr_codec_webp, &wr_codec_tiff,
    &wr_codec_gif,  &wr_codec_bmp, &wr_codec_pnm,
};
_Static_assert(WR_ARRAY_LEN(codecs) == WR_CODEC_COUNT,
               "codec.h says how many there are");

const struct wr_codec *wr_codec_at(size_t i)
{
    return codecs[i];
}

/* The codec for these bytes, built or not; -1: none. */
static int sniff(const void *bytes, size_t len)
{
    for (size_t i = 0; i < WR_CODEC_COUNT; i++)
        if (codecs[i]->sniff(bytes, len))
            return (int)i;
    return -1;
}

static int fail_unknown(const uint8_t *b, size_t len, weir_err *err)
{
    if (len == 0)
        return wr_fail(err, WEIR_EFORMAT, "empty: 0 bytes");
    if (len < 4)
        return wr_fail(err, WEIR_EFORMAT,
                       "not a picture of a known kind: %zu bytes", len);
    return wr_fail(err, WEIR_EFORMAT,
                   "not a picture of a known kind (begins with "
                   "%02x %02x %02x %02x)",
                   b[0], b[1], b[2], b[3]);
}

int wr_codec_find(const void *bytes, size_t len, weir_err *err)
{
    int i = sniff(bytes, len);

    if (i < 0)
        return fail_unknown(bytes, len, err);
    if (codecs[i]->missing)
        return wr_fail(err, WEIR_ENOTSUP, "%s: %s", codecs[i]->name,
                       codecs[i]->missing);
    return i;
}

unsigned wr_codec_orientation(const void *bytes, size_t len)
{
    int i = sniff(bytes, len);

    return i < 0 || !codecs[i]->orientation
               ? WR_PICTURE_UPRIGHT
               : codecs[i]->orientation(bytes, len);
}

enum wr_picture_kind wr_picture_probe(const void *bytes, size_t len)
{
    int i = sniff(bytes, len);

    return i < 0 ? WR_PICTURE_UNKNOWN : codecs[i]->kind;
}

static const struct wr_codec *of_kind(enum wr_picture_kind kind)
{
    for (size_t i = 0; i < WR_CODEC_COUNT; i++)
        if (codecs[i]->kind == kind)
            return codecs[i];
    return NULL;
}

const char *wr_picture_kind_name(enum wr_picture_kind kind)
{
    const struct wr_codec *c = of_kind(kind);

    return c ? c->name : "unknown";
}

const char *wr_picture_kind_ext(enum wr_picture_kind kind)
{
    const struct wr_codec *c = of_kind(kind);

    return c ? c->exts[0] : "";
}

const char *wr_picture_ext_at(unsigned k)
{
    for (size_t i = 0; i < WR_CODEC_COUNT; i++)
        for (size_t n = 0; n < WR_ARRAY_LEN(codecs[i]->exts); n++)
            if (codecs[i]->exts[n] && k-- == 0)
                return codecs[i]->exts[n];
    return NULL;
}

static bool has_ext(const char *name, size_t len, const char *ext)
{
    size_t n = strlen(ext);

    return len > n && !wr_strncasecmp(name + len - n, ext, n);
}

enum wr_picture_kind wr_picture_kind_of_name(const char *name, size_t len)
{
    for (size_t i = 0; i < WR_CODEC_COUNT; i++)
        for (size_t k = 0; k < WR_ARRAY_LEN(codecs[i]->exts); k++)
            if (codecs[i]->exts[k] && has_ext(name, len, codecs[i]->exts[k]))
                return codecs[i]->kind;
    return WR_PICTURE_UNKNOWN;
}
