/* trace_io.c - calls on files, timed, for the cost of tracing them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: bench-trace-io pread FILE THREADS COUNT
 *        bench-trace-io files FOLDER FILES ROUNDS
 *
 * Prints nanoseconds of CPU time per call, or per file: what the program itself
 * pays, whatever else the cores do. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

struct trace_io {
    const char *path;
    long count;
    double ns;
};

static void *read_blocks(void *arg)
{
    struct trace_io *t = arg;
    int fd = open(t->path, O_RDONLY | O_CLOEXEC);
    char buf[4096];
    uint64_t start = wr_clock_thread_cpu_ns();

    for (long i = 0; i < t->count; i++)
        if (pread(fd, buf, sizeof(buf), i % 256 * 4096) != sizeof(buf))
            exit(1);
    t->ns = (double)(wr_clock_thread_cpu_ns() - start) / (double)t->count;
    close(fd);
    return NULL;
}

static double blocks(const char *path, int threads, long count)
{
    struct trace_io t[64];
    pthread_t id[64];
    double sum = 0;

    for (int i = 0; i < threads && i < 64; i++) {
        t[i] = (struct trace_io){path, count, 0};
        if (pthread_create(&id[i], NULL, read_blocks, &t[i]))
            exit(1);
    }
    for (int i = 0; i < threads && i < 64; i++) {
        pthread_join(id[i], NULL);
        sum += t[i].ns;
    }
    return sum / threads;
}

static double files(const char *folder, int count, long rounds)
{
    char path[4096], buf[4096];
    uint64_t start = wr_clock_thread_cpu_ns();

    for (long r = 0; r < rounds; r++)
        for (int i = 0; i < count; i++) {
            int fd;

            snprintf(path, sizeof(path), "%s/f%d", folder, i);
            fd = open(path, O_RDONLY | O_CLOEXEC);
            if (fd < 0 || read(fd, buf, sizeof(buf)) <= 0)
                exit(1);
            close(fd);
        }
    return (double)(wr_clock_thread_cpu_ns() - start) /
           ((double)rounds * count);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    if (!strcmp(argv[1], "pread"))
        printf("%.1f\n", blocks(argv[2], atoi(argv[3]), atol(argv[4])));
    else
        printf("%.1f\n", files(argv[2], atoi(argv[3]), atol(argv[4])));
    return 0;
}
