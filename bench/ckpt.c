/* ckpt.c - the ways of a checkpoint's bytes beside plain loops that do as much.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: bench-ckpt FOLDER [ROUNDS [BYTES]]
 *
 * FOLDER is an empty one on the disk to measure; its caller removes it. Tensors
 * are those of AlexNet with the two moments of Adam (48, the largest 151 MB),
 * cut to BYTES (default: all 730 MB); they and the memory of the plain loops are on
 * huge pages, as large tensors are on most systems. They are there twice: in whole
 * pages, as O_DIRECT itself wants memory to be, and 64 bytes behind pages, as
 * malloc gives it. Each round measures, one after the other:
 *   stall        weir_ckpt_save, level snapshot; memcpy of the same bytes, one call
 *   sync         weir_ckpt_save, level fast, to one tier, from pages; O_DIRECT
 *                writes of 8 MiB of the same bytes by 1 and by 2 threads into a
 *                file that is there, synced
 *   sync-any     the same from malloc's memory
 *   restore      weir_ckpt_restore into pages; O_DIRECT reads of 8 MiB into warm
 *                memory by 1 and by 2 threads
 *   restore-any  the same into malloc's memory
 * and a few times
 *   drain    the drain to an emulated hard disk; its own write speed
 * Output: a line `bytes N`, then lines NAME SECONDS LIMIT_SECONDS RATIO, medians;
 * the limit is the better of its variants; the ratio is the median of the
 * rounds' ratios. drain has two more columns: by what part a loop that computes on
 * all cores is slower beside it than alone, and the drain's ratio then. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "weir/checkpoint.h"

#define MIB             ((uint64_t)1 << 20)
#define BLOCK           (8 * MIB)
#define PAGE            ((uint64_t)4096)
#define ROUNDS_MAX      101
#define TENSORS         48
#define DRAINS          3
#define HDD_BYTES_PER_S 133.14e6 /* writes of emu:hdd */

static const uint64_t elements[] = {
    64 * 3 * 11 * 11,  64,   192 * 64 * 5 * 5,  192, 384 * 192 * 3 * 3, 384,
    256 * 384 * 3 * 3, 256,  256 * 256 * 3 * 3, 256, 4096 * 9216,       4096,
    4096 * 4096,       4096, 1000 * 4096,       1000};

enum lie { PAGES, ANY, LIES };

static const unsigned shift[LIES] = {0, 64}; /* behind a page */

struct bench {
    uint8_t *memory[LIES]; /* of the tensors */
    uint8_t *other;        /* warm memory of the same size */
    uint64_t bytes, memory_len;
    weir_tensor tensors[LIES][TENSORS];
    char names[TENSORS][16];
    size_t count;
    weir_ckpt *store;
    uint64_t step;
};

enum what { STALL, SYNC, SYNC_ANY, RESTORE, RESTORE_ANY, WHATS };

static const char *const names[WHATS] = {"stall", "sync", "sync-any", "restore",
                                         "restore-any"};

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
    for (unsigned i = 0; i < TENSORS && b->bytes < bytes; i++) {
        uint64_t n = 4 * elements[i % WR_ARRAY_LEN(elements)];

        n = WR_MIN(n, bytes - b->bytes) / 4 * 4;
        snprintf(b->names[i], sizeof(b->names[i]), "t%02u", i);
        b->tensors[PAGES][i] = (weir_tensor){.name = b->names[i],
                                             .dtype = WEIR_F32,
                                             .ndim = 1,
                                             .shape = {n / 4}};
        b->bytes += n;
        b->count++;
    }
    memcpy(b->tensors[ANY], b->tensors[PAGES], sizeof(b->tensors[ANY]));
}

static uint8_t *fill(size_t len)
{
    uint8_t *bytes = wr_big_alloc(len);

    if (!bytes)
        die("memory", NULL);
    for (uint64_t i = 0, x = 1; i + 8 <= len;
         i += 8, x = x * 6364136223846793005 + 1)
        memcpy(bytes + i, &x, 8);
    return bytes;
}

static void place_tensors(struct bench *b, enum lie lie)
{
    uint64_t at = 0;

    b->memory[lie] = fill((size_t)b->memory_len);
    for (size_t i = 0; i < b->count; i++) {
        b->tensors[lie][i].data = b->memory[lie] + at + shift[lie];
        at += WR_ALIGN_UP(4 * b->tensors[lie][i].shape[0] + shift[lie], PAGE);
    }
}

/* --- ours: the public functions, on one tier --- */

static weir_ckpt *open_store(const struct bench *b, const char *slow)
{
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err = {0};

    weir_ckpt_defaults(&cfg);
    cfg.fast = slow ? "fast" : "one"; /* two stores */
    cfg.slow = slow;
    cfg.keep_last = 1;
    cfg.verify = 0;
    cfg.reserve = b->bytes;
    if (weir_ckpt_open(&c, &cfg, &err) < 0)
        die("open", &err);
    return c;
}

static void save(struct bench *b, enum lie lie, enum weir_level level)
{
    weir_ckpt_state st = {
        .step = ++b->step, .tensors = b->tensors[lie], .count = b->count};
    weir_err err = {0};

    if (weir_ckpt_save(b->store, &st, level, &err) < 0)
        die("save", &err);
}

static void wait_for(struct bench *b, enum weir_level level)
{
    weir_err err = {0};

    if (weir_ckpt_wait(b->store, WEIR_LATEST, level, -1, &err) < 0)
        die("wait", &err);
}

static double stall(struct bench *b)
{
    uint64_t start = wr_clock_ns();
    double seconds;

    save(b, ANY, WEIR_LEVEL_SNAPSHOT);
    seconds = since(start);
    wait_for(b, WEIR_LEVEL_FAST);
    return seconds;
}

static double sync_save(struct bench *b, enum lie lie)
{
    uint64_t start = wr_clock_ns();

    save(b, lie, WEIR_LEVEL_FAST);
    return since(start);
}

static double restore(struct bench *b, enum lie lie)
{
    weir_err err = {0};
    uint64_t start = wr_clock_ns();

    if (weir_ckpt_restore(b->store, WEIR_LATEST, b->tensors[lie], b->count,
                          NULL, &err) != 1)
        die("restore", &err);
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

    memcpy(b->other, b->memory[ANY], (size_t)b->bytes);
    return since(start);
}

static double limit_of(struct bench *b, enum what w, unsigned threads)
{
    return w == STALL ? copy_once(b) : plain(b, w < RESTORE, threads);
}

static double ours(struct bench *b, enum what w)
{
    enum lie lie = w == SYNC_ANY || w == RESTORE_ANY ? ANY : PAGES;

    return w == STALL    ? stall(b)
           : w < RESTORE ? sync_save(b, lie)
                         : restore(b, lie);
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

/* --- the drain, and a loop that computes on all cores beside it --- */

#define LOOPERS_MAX 64u

struct looper {
    pthread_t thread;
    atomic_bool *stop;
    uint64_t count;
};

static void *loop_main(void *arg)
{
    struct looper *l = arg;
    float x[1024];

    for (unsigned i = 0; i < 1024; i++)
        x[i] = (float)i;
    for (; !*l->stop; l->count++)
        for (unsigned k = 0; k < 64; k++)
            for (unsigned i = 0; i < 1024; i++)
                x[i] = x[i] * 0.999f + 0.5f;
    __asm__ volatile("" : : "r"(x) : "memory");
    return NULL;
}

/* Loops per second on all cores, while `busy` (may be NULL) runs, or for so long
 * as it took. */
static double loops(struct bench *b, void (*busy)(struct bench *), double *s)
{
    struct looper all[LOOPERS_MAX] = {0};
    unsigned n = WR_MIN(wr_cpu_count(), LOOPERS_MAX);
    atomic_bool stop = false;
    uint64_t start = wr_clock_ns(), sum = 0;

    for (unsigned i = 0; i < n; i++) {
        all[i].stop = &stop;
        if (pthread_create(&all[i].thread, NULL, loop_main, &all[i]))
            die("thread", NULL);
    }
    if (busy) {
        busy(b);
        *s = since(start);
    } else {
        wr_clock_sleep_until(start + (uint64_t)(*s * 1e9));
    }
    stop = true;
    for (unsigned i = 0; i < n; i++) {
        pthread_join(all[i].thread, NULL);
        sum += all[i].count;
    }
    return (double)sum / since(start);
}

static void drain_one(struct bench *b)
{
    wait_for(b, WEIR_LEVEL_SLOW);
}

static double drain_seconds(const struct bench *b)
{
    weir_ckpt_times t;

    if (weir_ckpt_times_of(b->store, b->step, &t) < 0 || !t.drain_ns)
        die("times", NULL);
    return (double)t.drain_ns / 1e9;
}

/* The slow tier is an emulated hard disk. */
static void drain(struct bench *b)
{
    double quiet[DRAINS], busy[DRAINS], slower[DRAINS], limit, took = 0;

    b->store = open_store(b, "emu:hdd:slow");
    save(b, ANY, WEIR_LEVEL_FAST); /* the files are there from now on */
    wait_for(b, WEIR_LEVEL_SLOW);
    for (unsigned i = 0; i < DRAINS; i++) {
        double beside, alone;

        save(b, ANY, WEIR_LEVEL_FAST);
        drain_one(b);
        quiet[i] = drain_seconds(b);
        save(b, ANY, WEIR_LEVEL_FAST);
        beside = loops(b, drain_one, &took);
        busy[i] = drain_seconds(b);
        alone = loops(b, NULL, &took);
        slower[i] = 1 - beside / alone;
    }
    weir_ckpt_close(&b->store, NULL);
    limit = (double)b->bytes / HDD_BYTES_PER_S;
    took = median(quiet, DRAINS);
    printf("drain %.4f %.4f %.3f %.4f %.3f\n", took, limit, took / limit,
           median(slower, DRAINS), median(busy, DRAINS) / limit);
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

    if (argc < 2 || chdir(argv[1]) || !rounds || rounds > ROUNDS_MAX)
        die("usage: bench-ckpt FOLDER [ROUNDS [BYTES]]", NULL);
    for (unsigned i = 0; i < TENSORS; i++)
        all += 4 * elements[i % WR_ARRAY_LEN(elements)];
    plan_tensors(&b, argc > 3 ? strtoull(argv[3], NULL, 10) : all);
    b.memory_len = WR_ALIGN_UP(b.bytes + TENSORS * 2 * PAGE, BLOCK);
    for (enum lie lie = 0; lie < LIES; lie++)
        place_tensors(&b, lie);
    b.other = fill((size_t)b.memory_len);
    b.store = open_store(&b, NULL);
    for (unsigned i = 0; i < 3; i++)
        sync_save(&b, ANY); /* files and memory are there from now on */
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
    weir_ckpt_close(&b.store, NULL);
    unlink("plain");
    drain(&b);
    wr_big_free(b.other, (size_t)b.memory_len);
    for (enum lie lie = 0; lie < LIES; lie++)
        wr_big_free(b.memory[lie], (size_t)b.memory_len);
    return 0;
}
