/* ckpt.c - the ways of a checkpoint's bytes beside plain loops that do as much.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: bench-ckpt FOLDER [ROUNDS [BYTES]]
 *
 * FOLDER is on the disk to measure; files are made in it and removed. Tensors
 * are those of AlexNet with the two moments of Adam (48, the largest 151 MB),
 * cut to BYTES (default: all 730 MB). Each round measures, one after the other:
 *   stall    tensors into a warm image; memcpy of the same bytes, one call
 *   sync     tensors into a recycled file, synced; O_DIRECT writes of 8 MiB of
 *            the same bytes by 1 and by 2 threads, synced
 *   restore  file to tensors, checked; O_DIRECT reads of 8 MiB into warm memory
 *            by 1 and by 2 threads
 * and once
 *   drain    256 MiB to an emulated hard disk; its own write speed
 * Output: a line `bytes N`, then lines NAME SECONDS LIMIT_SECONDS RATIO, medians;
 * the limit is the better of its variants; the ratio is the median of the
 * rounds' ratios. drain has a fifth column: CPU seconds per second. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "checkpoint/shard.h"

#define MIB             ((uint64_t)1 << 20)
#define BLOCK           (8 * MIB)
#define ROUNDS_MAX      101
#define TENSORS         48
#define HDD_BYTES_PER_S 133.14e6 /* writes of emu:hdd */

static const uint64_t elements[] = {
    64 * 3 * 11 * 11,  64,   192 * 64 * 5 * 5,  192, 384 * 192 * 3 * 3, 384,
    256 * 384 * 3 * 3, 256,  256 * 256 * 3 * 3, 256, 4096 * 9216,       4096,
    4096 * 4096,       4096, 1000 * 4096,       1000};

struct bench {
    uint8_t *flat;  /* the tensors, one behind the other */
    uint8_t *other; /* warm memory of the same size */
    uint64_t bytes;
    weir_tensor tensors[TENSORS];
    char names[TENSORS][16];
    size_t count;
    struct wr_image *img;
    struct wr_store *store;
    struct wr_shard shard;
    struct wr_want wants[TENSORS];
};

enum what { STALL, SYNC, RESTORE, WHATS };

static const char *const names[WHATS] = {"stall", "sync", "restore"};

struct result {
    double mine[ROUNDS_MAX];
    double limit[2][ROUNDS_MAX]; /* with 1 thread, with 2 */
};

static void die(const char *what, const weir_err *err)
{
    fprintf(stderr, "bench-ckpt: %s: %s\n", what, err ? err->msg : "failed");
    exit(1);
}

static double since(uint64_t start)
{
    return (double)(wr_clock_ns() - start) / 1e9;
}

static void plan_tensors(struct bench *b, uint64_t bytes)
{
    weir_err err = {0};
    uint64_t at = 0;

    for (unsigned i = 0; i < TENSORS; i++) {
        uint64_t n = 4 * elements[i % WR_ARRAY_LEN(elements)];

        if (at == bytes)
            break;
        n = WR_MIN(n, bytes - at);
        snprintf(b->names[i], sizeof(b->names[i]), "t%02u", i);
        b->tensors[i] = (weir_tensor){.name = b->names[i],
                                      .dtype = WEIR_F32,
                                      .ndim = 1,
                                      .shape = {n / 4}};
        at += n / 4 * 4;
        b->count++;
    }
    b->bytes = at;
    b->flat = malloc((size_t)at);
    b->other = wr_big_alloc((size_t)WR_ALIGN_UP(at, BLOCK));
    if (!b->flat || !b->other)
        die("memory", NULL);
    for (uint64_t i = 0, x = 1; i + 8 <= at;
         i += 8, x = x * 6364136223846793005 + 1)
        memcpy(b->flat + i, &x, 8);
    memcpy(b->other, b->flat, (size_t)at);
    at = 0;
    for (size_t i = 0; i < b->count; i++) {
        b->tensors[i].data = b->flat + at;
        b->wants[i].begin = at;
        b->wants[i].to = b->flat + at;
        at += 4 * b->tensors[i].shape[0];
        b->wants[i].end = at;
    }
    if (wr_image_new(0, &b->img, &err) < 0 ||
        wr_image_plan(b->img, b->tensors, b->count, NULL, 0, &err) < 0)
        die("image", &err);
}

/* --- ours --- */

static double stall(struct bench *b)
{
    weir_err err = {0};
    uint64_t start;

    if (wr_image_plan(b->img, b->tensors, b->count, NULL, 0, &err) < 0)
        die("plan", &err);
    start = wr_clock_ns();
    wr_image_fill(b->img, b->tensors, /* eager= */ false);
    return since(start);
}

static void *write_main(void *arg)
{
    struct bench *b = arg;
    struct wr_place to = {b->store, "shard"};
    weir_err err = {0};

    free(b->shard.crcs);
    if (wr_shard_write(&to, b->img, &b->shard, NULL, &err) < 0)
        die("write", &err);
    return NULL;
}

static double sync_save(struct bench *b)
{
    weir_err err = {0};
    uint64_t start = wr_clock_ns();
    pthread_t writer;

    if (wr_image_plan(b->img, b->tensors, b->count, NULL, 0, &err) < 0)
        die("plan", &err);
    pthread_create(&writer, NULL, write_main, b);
    wr_image_fill(b->img, b->tensors, /* eager= */ true);
    pthread_join(writer, NULL);
    return since(start);
}

static double restore(struct bench *b)
{
    struct wr_place from = {b->store, "shard"};
    weir_err err = {0};
    uint64_t start = wr_clock_ns();

    if (wr_shard_read(&from, &b->shard, WR_CHUNK, b->wants, b->count, NULL,
                      &err) < 0)
        die("read", &err);
    return since(start);
}

/* --- plain loops --- */

struct plain {
    struct bench *b;
    int fd;
    bool writes;
    uint64_t begin, end;
};

static void *plain_main(void *arg)
{
    struct plain *p = arg;

    for (uint64_t at = p->begin; at < p->end; at += BLOCK) {
        ssize_t n = p->writes
                        ? pwrite(p->fd, p->b->other + at, BLOCK, (off_t)at)
                        : pread(p->fd, p->b->other + at, BLOCK, (off_t)at);

        if (n != (ssize_t)BLOCK)
            die("plain", NULL);
    }
    return NULL;
}

/* Whole blocks: a little more than the shard has. */
static double plain(struct bench *b, bool writes, unsigned threads)
{
    uint64_t blocks = (b->bytes + BLOCK - 1) / BLOCK, start = wr_clock_ns();
    int fd = open("plain", O_RDWR | O_CREAT | O_DIRECT, 0666);
    struct plain parts[2];
    pthread_t other;
    double seconds;

    if (fd < 0)
        die("plain file", NULL);
    for (unsigned i = 0; i < 2; i++)
        parts[i] = (struct plain){b, fd, writes, blocks * i / 2 * BLOCK,
                                  blocks * (i + 1) / 2 * BLOCK};
    if (threads == 1)
        parts[0].end = parts[1].end;
    else
        pthread_create(&other, NULL, plain_main, &parts[1]);
    plain_main(&parts[0]);
    if (threads > 1)
        pthread_join(other, NULL);
    if (writes && fsync(fd) < 0)
        die("fsync", NULL);
    seconds = since(start) * (double)b->bytes / (double)(blocks * BLOCK);
    close(fd);
    return seconds;
}

static double copy_once(struct bench *b)
{
    uint64_t start = wr_clock_ns();

    memcpy(b->other, b->flat, (size_t)b->bytes);
    return since(start);
}

static double limit_of(struct bench *b, enum what w, unsigned threads)
{
    return w == STALL ? copy_once(b) : plain(b, w == SYNC, threads);
}

static double ours(struct bench *b, enum what w)
{
    return w == STALL ? stall(b) : w == SYNC ? sync_save(b) : restore(b);
}

/* --- the drain --- */

static double cpu_seconds(void)
{
    struct rusage ru;

    getrusage(RUSAGE_SELF, &ru);
    return (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
           (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
}

static void drain(struct bench *b)
{
    struct wr_way way = {.from = {b->store, "shard"}, .to = {NULL, "drained"}};
    uint64_t bytes = WR_MIN(b->bytes, 256 * MIB) / WR_CHUNK * WR_CHUNK, start;
    struct wr_shard part = b->shard;
    char *leaf = NULL;
    weir_err err = {0};
    double seconds, cpu, limit;

    part.size = part.data_offset + bytes;
    if (wr_store_open("emu:hdd:.", &way.to.store, &leaf, &err) < 0)
        die("emulated disk", &err);
    cpu = cpu_seconds();
    start = wr_clock_ns();
    if (wr_shard_copy(&way, &part, WR_CHUNK, NULL, &err) < 0)
        die("copy", &err);
    seconds = since(start);
    cpu = cpu_seconds() - cpu;
    limit = (double)part.size / HDD_BYTES_PER_S;
    printf("drain %.4f %.4f %.3f %.4f\n", seconds, limit, seconds / limit,
           cpu / seconds);
    wr_store_close(way.to.store);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *x, unsigned n)
{
    qsort(x, n, sizeof(*x), compare);
    return (x[n / 2] + x[(n - 1) / 2]) / 2;
}

/* Against the variant that is better on the whole. */
static void show(const char *name, struct result *r, unsigned rounds)
{
    double limits[2][ROUNDS_MAX], ratios[ROUNDS_MAX], limit[2];
    unsigned best;

    memcpy(limits, r->limit, sizeof(limits));
    limit[0] = median(limits[0], rounds);
    limit[1] = median(limits[1], rounds);
    best = limit[1] < limit[0];
    for (unsigned i = 0; i < rounds; i++)
        ratios[i] = r->mine[i] / r->limit[best][i];
    printf("%s %.4f %.4f %.3f\n", name, median(r->mine, rounds), limit[best],
           median(ratios, rounds));
}

int main(int argc, char **argv)
{
    static struct result results[WHATS];
    struct bench b = {0};
    unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 11;
    uint64_t all = 0;
    char *leaf = NULL;
    weir_err err = {0};

    if (argc < 2 || chdir(argv[1]) || !rounds || rounds > ROUNDS_MAX)
        die("usage: bench-ckpt FOLDER [ROUNDS [BYTES]]", NULL);
    for (unsigned i = 0; i < TENSORS; i++)
        all += 4 * elements[i % WR_ARRAY_LEN(elements)];
    plan_tensors(&b, argc > 3 ? strtoull(argv[3], NULL, 10) : all);
    if (wr_store_open(".", &b.store, &leaf, &err) < 0)
        die(argv[1], &err);
    stall(&b); /* files and memory are there from now on */
    sync_save(&b);
    plain(&b, /* writes= */ true, 1);
    for (unsigned i = 0; i < rounds; i++)
        for (enum what w = 0; w < WHATS; w++) {
            struct result *r = &results[w];

            r->limit[0][i] = limit_of(&b, w, 1);
            r->mine[i] = ours(&b, w);
            r->limit[1][i] = w == STALL ? r->limit[0][i] : limit_of(&b, w, 2);
        }
    printf("bytes %llu\n", (unsigned long long)b.bytes);
    for (enum what w = 0; w < WHATS; w++)
        show(names[w], &results[w], rounds);
    drain(&b);
    unlink("shard");
    unlink("plain");
    unlink("drained");
    wr_store_close(b.store);
    wr_image_free(b.img);
    wr_big_free(b.other, (size_t)WR_ALIGN_UP(b.bytes, BLOCK));
    free(b.flat);
    free(b.shard.crcs);
    return 0;
}
