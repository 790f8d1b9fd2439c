/* shares.c - several pipelines in one process, against one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: bench-shares URL PIPELINES SECONDS
 *
 * Opens the data set and a pipeline that only reads so many times, and takes
 * batches from all at once for so long; one batch each at least. Prints the
 * samples per second of all together, and the bytes that were resident at
 * most. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/units.h"
#include "weir/weir.h"

#define MOST 64

struct feed {
    weir_dataset *ds;
    weir_pipeline *p;
    pthread_t thread;
    uint64_t until_ns;
    int result;
    weir_err err;
};

static void *take(void *arg)
{
    struct feed *f = arg;
    const weir_batch *batch;

    do {
        f->result = weir_pipeline_next(f->p, &batch, &f->err);
        if (f->result > 0)
            weir_batch_release(batch);
    } while (f->result > 0 && wr_clock_ns() < f->until_ns);
    return NULL;
}

/* It begins to read at once. */
static int open_pipeline(struct feed *f, unsigned number)
{
    weir_pipeline_config cfg;

    weir_pipeline_defaults(&cfg);
    cfg.stages = WEIR_STAGES_READ;
    cfg.epochs = 0;
    cfg.depth = 128; /* alone it keeps the device busy, too */
    cfg.prefetch = 4;
    cfg.seed = number;
    return weir_pipeline_open(&f->p, f->ds, &cfg, &f->err);
}

static void take_all(struct feed *feeds, unsigned count, uint64_t until_ns)
{
    for (unsigned i = 0; i < count; i++) {
        feeds[i].until_ns = until_ns;
        if (pthread_create(&feeds[i].thread, NULL, take, &feeds[i]))
            abort();
    }
    for (unsigned i = 0; i < count; i++)
        pthread_join(feeds[i].thread, NULL);
}

/* The first that failed, or NULL; then the sums are printed. */
static const struct feed *measure(struct feed *feeds, const char *url,
                                  unsigned count, uint64_t seconds)
{
    uint64_t samples = 0, start;
    struct rusage usage;
    double took;

    for (unsigned i = 0; i < count; i++)
        if (weir_dataset_open(&feeds[i].ds, url, NULL, &feeds[i].err) < 0)
            return &feeds[i];
    start = wr_clock_ns();
    for (unsigned i = 0; i < count; i++)
        if (open_pipeline(&feeds[i], i) < 0)
            return &feeds[i];
    take_all(feeds, count, start + seconds * WR_NS_PER_SEC);
    took = (double)(wr_clock_ns() - start) / 1e9;
    for (unsigned i = 0; i < count; i++) {
        weir_stats st;

        if (feeds[i].result < 0)
            return &feeds[i];
        weir_pipeline_stats(feeds[i].p, &st);
        samples += st.samples;
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("%.3f %.0f\n", (double)samples / took,
           (double)usage.ru_maxrss * 1024);
    return NULL;
}

static int run(const char *url, unsigned count, uint64_t seconds)
{
    struct feed *feeds = calloc(count, sizeof(*feeds));
    const struct feed *bad;

    if (!feeds)
        return 1;
    bad = measure(feeds, url, count, seconds);
    if (bad)
        fprintf(stderr, "bench-shares: %s\n", bad->err.msg);
    for (unsigned i = 0; i < count; i++) {
        weir_pipeline_close(&feeds[i].p);
        weir_dataset_close(&feeds[i].ds);
    }
    free(feeds);
    return bad != NULL;
}

int main(int argc, char **argv)
{
    uint64_t count, seconds;
    weir_err err;

    if (argc != 4 || wr_parse_uint(argv[2], 1, MOST, &count, &err) < 0 ||
        wr_parse_uint(argv[3], 0, 3600, &seconds, &err) < 0) {
        fprintf(stderr, "usage: bench-shares URL PIPELINES SECONDS\n");
        return 2;
    }
    return run(argv[1], (unsigned)count, seconds);
}
