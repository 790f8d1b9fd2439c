/* limit.c - what plain loops reach: pread of whole files, memcpy into batches.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: bench-limit pread THREADS BLOCK FILE...     -> bytes per second
 *        bench-limit copy THREADS BYTES COUNT BATCH  -> samples per second
 *
 * pread: the threads take whole files (one file: equal parts of it) and read
 * them from the beginning to the end, BLOCK bytes at a time, into one buffer
 * each, eight times. copy: COUNT entries of BYTES bytes lie in memory; the threads copy them
 * in a random order into the places of two batches, three times. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/perm.h"

#define MAX_THREADS 64
#define PASSES      3
#define READ_PASSES 8

struct job {
    bool copies;
    unsigned threads;
    size_t block;
    char **files;
    unsigned file_count;
    atomic_uint next_file;
    atomic_ullong bytes;

    uint8_t *entries, *slots;
    size_t entry_bytes, count, slot_count;
    struct wr_perm perm;
    atomic_ullong next_entry;
};

struct share {
    struct job *job;
    unsigned number;
};

static void read_range(struct job *j, int fd, off_t from, off_t to,
                       uint8_t *buf)
{
    while (from < to) {
        size_t want = WR_MIN((size_t)(to - from), j->block);
        ssize_t n = pread(fd, buf, want, from);

        if (n <= 0)
            return;
        from += n;
        j->bytes += (unsigned long long)n;
    }
}

static void read_files(struct job *j, unsigned number)
{
    uint8_t *buf = aligned_alloc(4096, WR_ALIGN_UP(j->block, (size_t)4096));
    unsigned k;

    while (buf && (k = j->next_file++) < j->file_count * j->threads) {
        bool parts = j->file_count == 1;
        int fd;
        struct stat st;

        if (!parts && k >= j->file_count)
            break;
        fd = open(j->files[parts ? 0 : k], O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0) {
            perror(j->files[parts ? 0 : k]);
            exit(1);
        }
        if (parts)
            read_range(j, fd, st.st_size / j->threads * k,
                       k + 1 == j->threads ? st.st_size
                                           : st.st_size / j->threads * (k + 1),
                       buf);
        else
            read_range(j, fd, 0, st.st_size, buf);
        close(fd);
    }
    (void)number;
    free(buf);
}

static void copy_entries(struct job *j)
{
    unsigned long long k;

    while ((k = j->next_entry++) < (unsigned long long)j->count * PASSES) {
        uint64_t from = wr_perm_at(&j->perm, k % j->count);

        memcpy(j->slots + k % j->slot_count * j->entry_bytes,
               j->entries + from * j->entry_bytes, j->entry_bytes);
    }
}

static void *work(void *arg)
{
    struct share *s = arg;

    if (s->job->copies)
        copy_entries(s->job);
    else
        read_files(s->job, s->number);
    return NULL;
}

static double run(struct job *j)
{
    pthread_t threads[MAX_THREADS];
    struct share shares[MAX_THREADS];
    uint64_t start = wr_clock_ns();

    for (unsigned i = 0; i < j->threads; i++) {
        shares[i] = (struct share){j, i};
        if (pthread_create(&threads[i], NULL, work, &shares[i]))
            exit(1);
    }
    for (unsigned i = 0; i < j->threads; i++)
        pthread_join(threads[i], NULL);
    return (double)(wr_clock_ns() - start) / 1e9;
}

static int run_copy(struct job *j, char **argv)
{
    double seconds;

    j->copies = true;
    j->entry_bytes = strtoull(argv[0], NULL, 10);
    j->count = strtoull(argv[1], NULL, 10);
    j->slot_count = 2 * strtoull(argv[2], NULL, 10);
    j->entries = wr_big_alloc(j->count * j->entry_bytes);
    j->slots = wr_big_alloc(j->slot_count * j->entry_bytes);
    if (!j->entries || !j->slots)
        return 1;
    memset(j->entries, 1, j->count * j->entry_bytes);
    memset(j->slots, 1, j->slot_count * j->entry_bytes);
    wr_perm_init(&j->perm, j->count, 1, 1);
    seconds = run(j);
    printf("%.1f\n", (double)j->count * PASSES / seconds);
    return 0;
}

int main(int argc, char **argv)
{
    static struct job j;
    double seconds = 0;

    if (argc < 5)
        return 2;
    j.threads = (unsigned)strtoul(argv[2], NULL, 10);
    if (!j.threads || j.threads > MAX_THREADS)
        return 2;
    if (!strcmp(argv[1], "copy"))
        return argc == 6 ? run_copy(&j, argv + 3) : 2;
    j.block = strtoull(argv[3], NULL, 10);
    j.files = argv + 4;
    j.file_count = (unsigned)argc - 4;
    for (int pass = 0; pass < READ_PASSES; pass++) {
        j.next_file = 0;
        seconds += run(&j);
    }
    printf("%.0f\n", (double)j.bytes / seconds);
    return 0;
}
