/* golden_pictures.c - pictures whose pixels no decoding library can change.
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden_pictures.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes on their way out. */
struct out {
    uint8_t *at;
    size_t len;
    uint32_t bits, held; /* of a JPEG's scan, not yet written */
};

uint8_t gp_noise(uint32_t i, uint32_t at)
{
    uint32_t v = i * 2654435761u + at * 2246822519u + 374761393u;

    v = (v ^ v >> 15) * 2246822519u;
    v = (v ^ v >> 13) * 3266489917u;
    return (uint8_t)(v >> 16);
}

/* Shades with some noise in them. */
static uint8_t level(uint32_t i, uint32_t x, uint32_t y, uint32_t c)
{
    uint32_t shade = 30 + (x * (3 + c) + y * (5 - c) + i * 11) % 170;

    return (uint8_t)(shade + gp_noise(i, x * 3 + y * 1000 + c) % 50);
}

static uint32_t width_of(uint32_t i)
{
    return 19 + i % 5 * 7;
}

static uint32_t height_of(uint32_t i)
{
    return 17 + i % 3 * 9;
}

static void put(struct out *o, const void *bytes, size_t n)
{
    if (n > GP_CAP - o->len)
        abort();
    memcpy(o->at + o->len, bytes, n);
    o->len += n;
}

static void put_byte(struct out *o, uint32_t v)
{
    uint8_t b = (uint8_t)v;

    put(o, &b, 1);
}

static void put_le(struct out *o, uint32_t v, unsigned bytes)
{
    for (unsigned k = 0; k < bytes; k++)
        put_byte(o, v >> (8 * k));
}

static void put_be(struct out *o, uint32_t v, unsigned bytes)
{
    while (bytes--)
        put_byte(o, v >> (8 * bytes));
}

static void make_pnm(struct out *o, uint32_t i, uint32_t channels)
{
    uint32_t w = width_of(i), h = height_of(i);
    char head[40];

    snprintf(head, sizeof(head), "P%c\n%u %u\n255\n", channels == 3 ? '6' : '5',
             w, h);
    put(o, head, strlen(head));
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++)
            for (uint32_t c = 0; c < channels; c++)
                put_byte(o, level(i, x, y, c));
}

static void make_bmp(struct out *o, uint32_t i)
{
    uint32_t w = width_of(i), h = height_of(i);
    uint32_t pad = (4 - w * 3 % 4) % 4;

    put(o, "BM", 2);
    put_le(o, 54 + (w * 3 + pad) * h, 4);
    put_le(o, 0, 4);
    put_le(o, 54, 4);
    put_le(o, 40, 4);
    put_le(o, w, 4);
    put_le(o, h, 4);
    put_le(o, 1, 2);
    put_le(o, 24, 2);
    for (unsigned k = 0; k < 6; k++)
        put_le(o, 0, 4);
    for (uint32_t y = h; y-- > 0; put_le(o, 0, pad))
        for (uint32_t x = 0; x < w; x++)
            for (uint32_t c = 3; c-- > 0;)
                put_byte(o, level(i, x, y, c));
}

/* --- PNG: rows without filters in one stored block --- */

static uint32_t crc32_of(const uint8_t *bytes, size_t len)
{
    uint32_t crc = UINT32_MAX;

    for (size_t k = 0; k < len; k++) {
        crc ^= bytes[k];
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static uint32_t adler32_of(const uint8_t *bytes, size_t len)
{
    uint32_t a = 1, b = 0;

    for (size_t k = 0; k < len; k++) {
        a = (a + bytes[k]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static size_t chunk_begin(struct out *o, const char *type)
{
    put_be(o, 0, 4);
    put(o, type, 4);
    return o->len;
}

static void chunk_end(struct out *o, size_t from)
{
    uint32_t len = (uint32_t)(o->len - from);
    uint32_t crc = crc32_of(o->at + from - 4, len + 4);
    size_t end = o->len;

    o->len = from - 8;
    put_be(o, len, 4);
    o->len = end;
    put_be(o, crc, 4);
}

static void put_rows(struct out *o, uint32_t i)
{
    uint32_t w = width_of(i), h = height_of(i), len = (w * 3 + 1) * h;
    size_t from;

    put_be(o, 0x7801, 2);
    put_byte(o, 1);
    put_le(o, len, 2);
    put_le(o, ~len, 2);
    from = o->len;
    for (uint32_t y = 0; y < h; y++) {
        put_byte(o, 0);
        for (uint32_t x = 0; x < w; x++)
            for (uint32_t c = 0; c < 3; c++)
                put_byte(o, level(i, x, y, c));
    }
    put_be(o, adler32_of(o->at + from, len), 4);
}

static void make_png(struct out *o, uint32_t i)
{
    size_t from;

    put(o, "\x89PNG\r\n\x1a\n", 8);
    from = chunk_begin(o, "IHDR");
    put_be(o, width_of(i), 4);
    put_be(o, height_of(i), 4);
    put(o, "\x08\x02\0\0\0", 5);
    chunk_end(o, from);
    from = chunk_begin(o, "IDAT");
    put_rows(o, i);
    chunk_end(o, from);
    chunk_end(o, chunk_begin(o, "IEND"));
}

/* --- JPEG: every block has one level, every picture one colour --- */

static void put_bits(struct out *o, uint32_t v, unsigned n)
{
    while (n--) {
        o->held = o->held << 1 | (v >> n & 1);
        if (++o->bits < 8)
            continue;
        put_byte(o, o->held);
        if (o->held == 0xff)
            put_byte(o, 0);
        o->bits = o->held = 0;
    }
}

/* The code of category k is k in four bits; that of an end of block is 0. */
static void put_block(struct out *o, int value, int *before)
{
    int diff = value - *before, size = 0;

    *before = value;
    while (abs(diff) >> size)
        size++;
    put_bits(o, (uint32_t)size, 4);
    put_bits(o, (uint32_t)(diff < 0 ? diff - 1 : diff), (unsigned)size);
    put_bits(o, 0, 1);
}

static void put_tables(struct out *o)
{
    static const uint8_t dc[] = {0xff, 0xc4, 0, 28, 0, 0, 0, 0, 9};
    static const uint8_t ac[] = {0xff, 0xc4, 0, 20, 0x10, 1};

    put_be(o, 0xffdb0043, 4);
    put_byte(o, 0);
    for (unsigned k = 0; k < 64; k++)
        put_byte(o, 8); /* a level is a level */
    put(o, dc, sizeof(dc));
    put_le(o, 0, 4);
    put_le(o, 0, 4);
    put_le(o, 0, 4);
    for (unsigned k = 0; k < 9; k++)
        put_byte(o, k);
    put(o, ac, sizeof(ac));
    for (unsigned k = 0; k < 16; k++)
        put_byte(o, 0);
}

static void put_heads(struct out *o, uint32_t i, unsigned comps)
{
    static const uint8_t exif[] =
        "\xff\xe1\0\x22"
        "Exif\0\0II*\0\x8\0\0\0\1\0\x12\1\3\0\1\0\0\0";

    put_be(o, 0xffd8, 2);
    put(o, exif, sizeof(exif) - 1);
    put_le(o, 1 + i % 8, 4);
    put_le(o, 0, 4);
    put_tables(o);
    put_be(o, 0xffc00008 + 3 * comps, 4);
    put_byte(o, 8);
    put_be(o, height_of(i), 2);
    put_be(o, width_of(i), 2);
    put_byte(o, comps);
    for (unsigned c = 0; c < comps; c++)
        put_be(o, (c + 1) << 16 | (c || comps == 1 ? 0x1100 : 0x2200), 3);
    put_be(o, 0xffda0006 + 2 * comps, 4);
    put_byte(o, comps);
    for (unsigned c = 0; c < comps; c++)
        put_be(o, (c + 1) << 8, 2);
    put_be(o, 0x003f00, 3);
}

static void make_jpeg(struct out *o, uint32_t i, bool colour)
{
    uint32_t mcu = colour ? 16 : 8, blocks = colour ? 4 : 1, k = 0;
    int before[3] = {0};

    put_heads(o, i, colour ? 3 : 1);
    for (uint32_t y = 0; y < height_of(i); y += mcu)
        for (uint32_t x = 0; x < width_of(i); x += mcu) {
            for (uint32_t b = 0; b < blocks; b++)
                put_block(o, gp_noise(i, k++) - 128, &before[0]);
            for (uint32_t c = 1; c < (colour ? 3 : 1); c++)
                put_block(o, gp_noise(i, 90000 + c) % 120 - 60, &before[c]);
        }
    put_bits(o, 0x7f, 7);
    put_be(o, 0xffd9, 2);
}

size_t gp_make(enum gp_kind kind, uint32_t i, uint8_t *to)
{
    struct out o = {.at = to};

    if (kind == GP_PPM || kind == GP_PGM)
        make_pnm(&o, i, kind == GP_PPM ? 3 : 1);
    else if (kind == GP_BMP)
        make_bmp(&o, i);
    else if (kind == GP_PNG)
        make_png(&o, i);
    else
        make_jpeg(&o, i, kind == GP_JPEG);
    return o.len;
}

const char *gp_ext(enum gp_kind kind)
{
    static const char *const exts[] = {"ppm", "bmp", "jpg",
                                       "pgm", "jpg", "png"};

    return exts[kind];
}
