/* picture_dump.c - a picture file -> its tensor on standard output.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: picture-dump FILE WIDTH HEIGHT CHANNELS DTYPE LAYOUT RESIZE DECODE
 *        [X Y W H [flip]]
 * PICTURE_DUMP_ORIENT=exif in the environment turns it upright.
 * WIDTH 0 writes the picture as decoded, u8. Values are not normalized
 * (mean 0, std 1). Exit code 1 and the reason on standard error when the
 * picture is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/picture.h"

static int choose(const char *text, const char *const *names, const char *what)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(text, names[i]))
            return i;
    fprintf(stderr, "picture-dump: unknown %s '%s'\n", what, text);
    exit(2);
}

static uint8_t *load(const char *path, size_t *ret_len)
{
    FILE *f = fopen(path, "rb");
    uint8_t *bytes;
    long size;

    if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0) {
        perror(path);
        exit(2);
    }
    rewind(f);
    bytes = malloc((size_t)size + 1);
    if (!bytes || fread(bytes, 1, (size_t)size, f) != (size_t)size)
        exit(2);
    fclose(f);
    *ret_len = (size_t)size;
    return bytes;
}

static void parse(char **argv, weir_picture_config *ret)
{
    static const char *const dtypes[] = {"f32", "f16", "u8", NULL};
    static const char *const layouts[] = {"nhwc", "nchw", NULL};
    static const char *const resizes[] = {"bilinear", "noaa", "area", NULL};
    static const char *const decodes[] = {"exact", "fast", NULL};

    *ret = (weir_picture_config){
        .width = (uint32_t)atoi(argv[2]),
        .height = (uint32_t)atoi(argv[3]),
        .channels = (uint32_t)atoi(argv[4]),
        .dtype = (enum weir_dtype)choose(argv[5], dtypes, "dtype"),
        .layout = (enum weir_layout)choose(argv[6], layouts, "layout"),
        .resize = (enum weir_resize)choose(argv[7], resizes, "resize"),
        .decode = (enum weir_decode)choose(argv[8], decodes, "decode"),
        .std = {1, 1, 1},
    };
}

static int dump(const weir_picture_config *spec, const uint8_t *bytes,
                size_t len, const struct wr_picture_crop *crop, weir_err *err)
{
    struct wr_picture_decoder *d = NULL;
    struct wr_picture_info info;
    size_t size = wr_picture_slot_bytes(spec);
    uint8_t *slot = malloc(size + 1);
    const uint8_t *out = slot;
    int r = wr_picture_new(&d, spec, err);

    if (r >= 0 && spec->width) {
        r = wr_picture_decode(d, bytes, len, crop, slot, NULL, err);
    } else if (r >= 0) {
        r = wr_picture_decode_only(d, bytes, len, &info, &out, err);
        size = r < 0 ? 0 : (size_t)info.width * info.height * spec->channels;
    }
    if (r >= 0 && fwrite(out, 1, size, stdout) != size)
        r = -1;
    wr_picture_free(d);
    free(slot);
    return r;
}

int main(int argc, char **argv)
{
    weir_picture_config spec;
    struct wr_picture_crop crop = {0};
    weir_err err = {0};
    uint8_t *bytes;
    size_t len;
    int r;

    if (argc != 9 && argc != 13 && argc != 14) {
        fprintf(stderr, "usage: see the head of picture_dump.c\n");
        return 2;
    }
    parse(argv, &spec);
    if (getenv("PICTURE_DUMP_ORIENT"))
        spec.orient = WEIR_ORIENT_EXIF;
    if (argc >= 13)
        crop = (struct wr_picture_crop){
            (uint32_t)atoi(argv[9]), (uint32_t)atoi(argv[10]),
            (uint32_t)atoi(argv[11]), (uint32_t)atoi(argv[12]),
            /* flip= */ argc == 14};
    bytes = load(argv[1], &len);
    r = dump(&spec, bytes, len, &crop, &err);
    free(bytes);
    if (r < 0)
        fprintf(stderr, "%s\n", err.msg);
    return r < 0 ? 1 : 0;
}
