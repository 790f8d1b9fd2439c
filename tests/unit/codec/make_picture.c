/* make_picture.c - encoded pictures for the tests, made on the spot.
 * SPDX-License-Identifier: Apache-2.0 */
#include "make_picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#ifdef WR_HAVE_SPNG
#include <spng.h>
#endif

uint8_t make_value(uint32_t x, uint32_t y, uint32_t c)
{
    uint32_t shade = 40 + (x * (3 + c) + y * (2 + 2 * c)) / 8 % 150;
    uint32_t edge = (x / 24 + y / 16 + c) % 3 == 0 ? 40 : 0;
    uint32_t texture = (x * 7919u + y * 104729u + x * y) % 13;

    return (uint8_t)(shade + edge + texture);
}

/* A block of exactly its size, so that sanitizers see reads behind it. */
static struct made exact_copy(const void *bytes, size_t len)
{
    struct made m = {malloc(len ? len : 1), len};

    if (!m.bytes)
        abort();
    memcpy(m.bytes, bytes, len);
    return m;
}

static void set_colors(struct jpeg_compress_struct *c,
                       const struct make_jpeg *how)
{
    static const int components[] = {1, 3, 4, 4};
    static const J_COLOR_SPACE spaces[] = {JCS_GRAYSCALE, JCS_RGB, JCS_CMYK,
                                           JCS_CMYK};

    c->input_components = components[how->color];
    c->in_color_space = spaces[how->color];
    jpeg_set_defaults(c);
    if (how->color == MAKE_YCCK)
        jpeg_set_colorspace(c, JCS_YCCK);
    jpeg_set_quality(c, 92, TRUE);
    for (int i = 0; i < c->num_components; i++)
        c->comp_info[i].h_samp_factor = c->comp_info[i].v_samp_factor = 1;
    c->comp_info[0].h_samp_factor = how->h_samp ? how->h_samp : 1;
    c->comp_info[0].v_samp_factor = how->v_samp ? how->v_samp : 1;
    c->arith_code = how->arithmetic;
    c->restart_in_rows = how->restart_rows;
    if (how->progressive)
        jpeg_simple_progression(c);
    if (how->separate) {
        static const jpeg_scan_info scans[] = {{1, {0}, 0, 63, 0, 0},
                                               {1, {1}, 0, 63, 0, 0},
                                               {1, {2}, 0, 63, 0, 0}};

        c->scan_info = scans;
        c->num_scans = c->num_components;
    }
}

struct made make_jpeg(const struct make_jpeg *how)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    unsigned long len = 0;
    struct made m;
    uint8_t *row;

    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &bytes, &len);
    c.image_width = how->width;
    c.image_height = how->height;
    set_colors(&c, how);
    row = malloc((size_t)how->width * 4);
    jpeg_start_compress(&c, TRUE);
    for (uint32_t y = 0; y < how->height; y++) {
        for (uint32_t x = 0; x < how->width; x++)
            for (int k = 0; k < c.input_components; k++)
                row[x * (uint32_t)c.input_components + (uint32_t)k] =
                    make_value(x, y, (uint32_t)k);
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    m = exact_copy(bytes, len);
    free(row);
    free(bytes);
    return m;
}

#ifdef WR_HAVE_SPNG

static size_t samples_of(uint8_t color_type)
{
    static const size_t samples[] = {1, 0, 3, 1, 2, 0, 4};

    return samples[color_type];
}

/* Sample s of the picture as `depth` bits, packed by hand. */
static void put_sample(uint8_t *row, size_t s, uint8_t depth, uint8_t value)
{
    if (depth == 16) {
        row[2 * s] = row[2 * s + 1] = value; /* in any byte order */
    } else if (depth == 8) {
        row[s] = value;
    } else {
        size_t bit = s * depth;
        uint8_t v = (uint8_t)(value >> (8 - depth));

        row[bit / 8] |= (uint8_t)(v << (8 - depth - bit % 8));
    }
}

static uint8_t *png_pixels(const struct make_png *how, size_t *ret_size)
{
    size_t samples = samples_of(how->color_type);
    size_t stride = (how->width * samples * how->bit_depth + 7) / 8;
    uint8_t *image = calloc(how->height, stride);

    for (uint32_t y = 0; y < how->height; y++)
        for (uint32_t x = 0; x < how->width; x++)
            for (size_t c = 0; c < samples; c++)
                put_sample(image + y * stride, x * samples + c, how->bit_depth,
                           make_value(x, y, (uint32_t)c));
    *ret_size = stride * how->height;
    return image;
}

struct made make_png(const struct make_png *how)
{
    spng_ctx *ctx = spng_ctx_new(SPNG_CTX_ENCODER);
    struct spng_ihdr ihdr = {
        .width = how->width,
        .height = how->height,
        .bit_depth = how->bit_depth,
        .color_type = how->color_type,
        .interlace_method = how->interlaced ? 1 : 0,
    };
    struct spng_plte plte = {.n_entries = 1u << (how->bit_depth & 15)};
    size_t size, len;
    uint8_t *image = png_pixels(how, &size), *bytes;
    struct made m;
    int error = 0;

    spng_set_option(ctx, SPNG_ENCODE_TO_BUFFER, 1);
    spng_set_ihdr(ctx, &ihdr);
    for (unsigned i = 0; i < 256; i++)
        plte.entries[i] = (struct spng_plte_entry){
            (uint8_t)i, (uint8_t)(255 - i), (uint8_t)(i * 3), 255};
    if (how->color_type == SPNG_COLOR_TYPE_INDEXED)
        spng_set_plte(ctx, &plte);
    if (spng_encode_image(ctx, image, size, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE))
        abort();
    bytes = spng_get_png_buffer(ctx, &len, &error);
    m = exact_copy(bytes, len);
    free(bytes);
    free(image);
    spng_ctx_free(ctx);
    return m;
}

#else

struct made make_png(const struct make_png *how)
{
    (void)how;
    return exact_copy("", 0);
}

#endif
