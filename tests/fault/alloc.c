/* alloc.c - allocations that fail: all samples come, or memory is blamed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Usage: alloc SAMPLES URL...
 *
 * Indexes and feeds each data set again and again; each time other allocations
 * fail, one or a few in a row. No sample is bad for it, the index has no
 * problems, and what fails says that memory is short. With WEIR_TEST_PART one of
 * PARTS places is tried. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failmalloc.h"
#include "part.h"
#include "weir/weir.h"

#define POINTS 60 /* places where allocations fail, spread over all of them */
#define PARTS  8

enum end { END_COMPLETE, END_SHORT, END_WRONG };

struct outcome {
    enum end end;
    char why[600];
};

struct setting {
    enum weir_io io;
    enum weir_order order;
    const char *cache;
    enum weir_decode decode;
};

static const struct setting settings[] = {
    {WEIR_IO_BLOCKING, WEIR_ORDER_BLOCK, NULL, WEIR_DECODE_EXACT},
    {WEIR_IO_AUTO, WEIR_ORDER_SHUFFLE, "ram:1MiB", WEIR_DECODE_FAST},
};

static void failed(struct outcome *o, const char *what, const weir_err *err)
{
    o->end = err->code == WEIR_ENOMEM ? END_SHORT : END_WRONG;
    snprintf(o->why, sizeof(o->why), "%s: %s", what, err->msg);
}

static void take_all(weir_pipeline *p, uint64_t samples, bool *seen,
                     struct outcome *o)
{
    const weir_bad_sample *bad;
    const weir_batch *b;
    uint64_t n = 0;
    weir_err err;
    int r;

    while ((r = weir_pipeline_next(p, &b, &err)) > 0) {
        for (uint32_t i = 0; i < b->count; i++) {
            n += !seen[b->ids[i]];
            seen[b->ids[i]] = true;
        }
        weir_batch_release(b);
    }
    bad = weir_pipeline_bad(p, 0);
    if (weir_pipeline_bad_count(p)) {
        o->end = END_WRONG;
        snprintf(o->why, sizeof(o->why), "bad: %s",
                 bad && bad->text ? bad->text : "not named");
    } else if (r < 0) {
        failed(o, "next", &err);
    } else if (n != samples) {
        o->end = END_WRONG;
        snprintf(o->why, sizeof(o->why), "%llu samples came",
                 (unsigned long long)n);
    }
}

static void feed(const weir_dataset *ds, const struct setting *s, bool *seen,
                 struct outcome *o)
{
    weir_pipeline_config cfg;
    weir_pipeline *p;
    weir_err err;

    weir_pipeline_defaults(&cfg);
    cfg.batch = 8;
    cfg.picture.width = cfg.picture.height = 32;
    cfg.threads = 2;
    cfg.depth = 8;
    cfg.io = s->io;
    cfg.order = s->order;
    cfg.cache = s->cache;
    cfg.picture.decode = s->decode;
    if (weir_pipeline_open(&p, ds, &cfg, &err) < 0) {
        failed(o, "pipeline", &err);
        return;
    }
    take_all(p, weir_dataset_count(ds), seen, o);
    weir_pipeline_close(&p);
}

static void use(const char *url, const struct setting *s, uint64_t samples,
                bool *seen, struct outcome *o)
{
    weir_dataset_config cfg;
    weir_dataset *ds;
    weir_err err;

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    if (weir_dataset_open(&ds, url, &cfg, &err) < 0) {
        failed(o, "index", &err);
        return;
    }
    if (weir_dataset_issue_count(ds) || weir_dataset_count(ds) != samples) {
        const weir_issue *issue = weir_dataset_issue(ds, 0);

        o->end = END_WRONG;
        snprintf(o->why, sizeof(o->why), "index: %llu samples, %s",
                 (unsigned long long)weir_dataset_count(ds),
                 issue ? issue->reason : "no problem");
    } else {
        feed(ds, s, seen, o);
    }
    weir_dataset_close(&ds);
}

/* Once, with allocations [from, to) failing; returns how many there were. */
static unsigned long run(const char *url, const struct setting *s,
                         uint64_t samples, unsigned long from, unsigned long to,
                         struct outcome *o)
{
    bool *seen = calloc(samples, sizeof(*seen));
    unsigned long n;

    *o = (struct outcome){0};
    if (!seen)
        abort();
    fm_start(from, to);
    use(url, s, samples, seen, o);
    n = fm_stop();
    free(seen);
    return n;
}

static int check_one(const char *url, const struct setting *s, uint64_t samples,
                     unsigned ends[3])
{
    struct outcome o;
    unsigned long all = run(url, s, samples, 0, 0, &o);
    int wrong = o.end != END_COMPLETE;

    if (wrong)
        printf("%s: with all memory: %s\n", url, o.why);
    for (unsigned long k = 0; k < 2 * POINTS; k++) {
        unsigned long from = all * (k / 2) / POINTS + k / 2 % 7;

        if (k / 2 % part_count(PARTS) != part_index(PARTS))
            continue;
        alarm(120); /* rather than hang */
        run(url, s, samples, from, from + (k % 2 ? 12 : 1), &o);
        ends[o.end]++;
        if (o.end != END_WRONG)
            continue;
        wrong++;
        printf("%s: allocation %lu of %lu: %s\n", url, from, all, o.why);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    unsigned ends[3] = {0};
    int wrong = 0;

    if (!fm_can_fail())
        return 77;
    for (int i = 2; i < argc; i++)
        for (size_t k = 0; k < sizeof(settings) / sizeof(settings[0]); k++)
            wrong += check_one(argv[i], &settings[k],
                               strtoull(argv[1], NULL, 10), ends);
    printf("%u complete, %u short of memory, %u wrong\n", ends[END_COMPLETE],
           ends[END_SHORT], ends[END_WRONG]);
    return wrong || !ends[END_COMPLETE] || !ends[END_SHORT];
}
