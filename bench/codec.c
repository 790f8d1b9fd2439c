/* codec.c - what decoding costs: the limit, exact and fast, side by side.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: bench-codec DIRECTORY [ROUNDS [SIDE]]
 *
 * Loads the pictures of a directory into memory and times, in one thread and
 * one after the other for each picture (CPU time), a full decode to RGB (the limit), and
 * decode + resize + normalize to SIDE x SIDE x 3 f32, exact and fast. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "codec/picture.h"

#define MAX_FILES 1024
#define SLOTS     64 /* a batch: the slots do not stay in the cache */

enum { LIMIT, EXACT, FAST, MODES };
static const char *const mode_name[MODES] = {"decode only", "exact", "fast"};

struct file {
    uint8_t *bytes; /* owned */
    size_t len;
};

struct bench {
    struct file *files; /* owned */
    size_t count, rounds;
    struct wr_picture_decoder *decoder[MODES]; /* owned */
    size_t slot_bytes;
    uint8_t *slots; /* owned */
    double *us[MODES];
    struct wr_picture_times times[MODES];
};

static int load_file(const char *path, struct file *ret)
{
    FILE *f = fopen(path, "rb");
    long size;

    if (!f)
        return -1;
    fseek(f, 0, SEEK_END);
    size = ftell(f);
    rewind(f);
    ret->len = size > 0 ? (size_t)size : 0;
    ret->bytes = malloc(ret->len + 1);
    if (!ret->bytes || fread(ret->bytes, 1, ret->len, f) != ret->len)
        ret->len = 0;
    fclose(f);
    return 0;
}

static int load_directory(struct bench *b, const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *e;

    b->files = calloc(MAX_FILES, sizeof(*b->files));
    if (!dir || !b->files) {
        fprintf(stderr, "bench-codec: cannot read '%s'\n", path);
        return -1;
    }
    while ((e = readdir(dir)) && b->count < MAX_FILES) {
        struct file *f = &b->files[b->count];
        char name[4096];

        snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
        if (e->d_name[0] == '.' || load_file(name, f) < 0)
            continue;
        if (wr_picture_probe(f->bytes, f->len) == WR_PICTURE_UNKNOWN)
            free(f->bytes);
        else
            b->count++;
    }
    closedir(dir);
    return b->count ? 0 : -1;
}

static int run_one(struct bench *b, int mode, size_t i, weir_err *err)
{
    uint8_t *slot = b->slots + (i % SLOTS) * b->slot_bytes;
    struct file *f = &b->files[i % b->count];
    uint64_t begin = wr_clock_thread_cpu_ns();
    int r;

    if (mode == LIMIT)
        r = wr_picture_decode_only(b->decoder[mode], f->bytes, f->len, NULL,
                                   NULL, err);
    else
        r = wr_picture_decode(b->decoder[mode], f->bytes, f->len, NULL, slot,
                              &b->times[mode], err);
    b->us[mode][i] = (double)(wr_clock_thread_cpu_ns() - begin) / 1000;
    return r;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int setup(struct bench *b, uint32_t side, weir_err *err)
{
    weir_picture_config spec = {
        .width = side,
        .height = side,
        .channels = 3,
        .mean = {0.485f, 0.456f, 0.406f},
        .std = {0.229f, 0.224f, 0.225f},
    };

    b->slot_bytes = wr_picture_slot_bytes(&spec);
    b->slots = wr_big_alloc(b->slot_bytes * SLOTS);
    for (int m = 0; m < MODES; m++) {
        spec.decode = m == FAST ? WEIR_DECODE_FAST : WEIR_DECODE_EXACT;
        b->us[m] = calloc(b->rounds * b->count, sizeof(double));
        if (wr_picture_new(&b->decoder[m], &spec, err) < 0 || !b->us[m])
            return -1;
    }
    return b->slots ? 0 : -1;
}

static void report(struct bench *b, size_t total)
{
    double limit = 0;

    for (int m = 0; m < MODES; m++) {
        double median;

        qsort(b->us[m], total, sizeof(double), compare);
        median = b->us[m][total / 2];
        limit = m == LIMIT ? median : limit;
        printf("%-12s %8.1f us  %5.3f of the limit's time, rate %5.3f", //
               mode_name[m], median, median / limit, limit / median);
        if (m != LIMIT)
            printf("   (decode %.1f, resample %.1f us)",
                   (double)b->times[m].decode_ns / 1e3 / (double)total,
                   (double)b->times[m].resample_ns / 1e3 / (double)total);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    struct bench b = {.rounds = 20};
    uint32_t side = argc > 3 ? (uint32_t)atoi(argv[3]) : 224;
    weir_err err = {0};
    size_t bytes = 0, total;

    if (argc < 2 || load_directory(&b, argv[1]) < 0) {
        fprintf(stderr, "usage: bench-codec DIRECTORY [ROUNDS [SIDE]]\n");
        return 2;
    }
    if (argc > 2)
        b.rounds = (size_t)WR_MAX(atoi(argv[2]), 1);
    total = b.rounds * b.count;
    if (setup(&b, side, &err) < 0) {
        fprintf(stderr, "bench-codec: %s\n", err.msg);
        return 1;
    }
    for (size_t i = 0; i < total; i++)
        for (int m = 0; m < MODES; m++)
            if (run_one(&b, m, i, &err) < 0) {
                fprintf(stderr, "bench-codec: %s\n", err.msg);
                return 1;
            }
    for (size_t i = 0; i < b.count; i++)
        bytes += b.files[i].len;
    printf("%zu pictures, mean %zu bytes, %zu rounds\n", b.count,
           bytes / b.count, b.rounds);
    report(&b, total);
    for (int m = 0; m < MODES; m++) {
        wr_picture_free(b.decoder[m]);
        free(b.us[m]);
    }
    for (size_t i = 0; i < b.count; i++)
        free(b.files[i].bytes);
    free(b.files);
    wr_big_free(b.slots, b.slot_bytes * SLOTS);
    return 0;
}
