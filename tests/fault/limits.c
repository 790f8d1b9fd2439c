/* limits.c - little to work with: all samples come, or the limit is named.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Usage: limits SAMPLES URL...
 *
 * Each data set is indexed and fed through both engines by processes of few
 * descriptors or little memory. A lack says nothing about a sample, so an epoch
 * that ends well holds every one, and one that fails says which limit it met.
 * Prints a line per case that does neither. With WEIR_TEST_PART one of PARTS
 * cases runs. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "part.h"
#include "weir/weir.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1 /* it reserves more than any limit */
#else
#define HAS_SANITIZER 0
#endif

#define AT_ONCE 4 /* processes */
#define PARTS   7 /* shares no factor with the tables: each is mixed */

enum end { END_COMPLETE, END_NAMED, END_WRONG };

struct limit {
    int resource;
    const char *name;
    rlim_t value;
};

struct setting {
    enum weir_io io;
    enum weir_order order;
    uint32_t threads, depth, prefetch;
    int direct;
};

static const struct limit limits[] = {
    {RLIMIT_NOFILE, "descriptors", 16},
    {RLIMIT_NOFILE, "descriptors", 24},
    {RLIMIT_NOFILE, "descriptors", 40},
    {RLIMIT_NOFILE, "descriptors", 64},
    {RLIMIT_NOFILE, "descriptors", 256},
    {RLIMIT_NOFILE, "descriptors", 1024},
    {RLIMIT_AS, "memory", 80 << 20},
    {RLIMIT_AS, "memory", 128 << 20},
    {RLIMIT_AS, "memory", 192 << 20},
    {RLIMIT_AS, "memory", 320 << 20},
    {RLIMIT_AS, "memory", (rlim_t)1 << 30},
    {RLIMIT_DATA, "data", 24 << 20},
    {RLIMIT_DATA, "data", 64 << 20},
};

static const struct setting settings[] = {
    {WEIR_IO_URING, WEIR_ORDER_SHUFFLE, 2, 64, 1, 0},
    {WEIR_IO_BLOCKING, WEIR_ORDER_SHUFFLE, 2, 64, 1, 0},
    {WEIR_IO_AUTO, WEIR_ORDER_BLOCK, 4, 32, 2, 0},
    {WEIR_IO_BLOCKING, WEIR_ORDER_SEQUENTIAL, 4, 32, 0, 1},
};

static bool is_named(const weir_err *err)
{
    return (err->code == WEIR_ENOMEM || err->code == WEIR_EMFILE) &&
           strstr(err->msg, "RLIMIT_");
}

static enum end failed(const char *what, const weir_err *err)
{
    if (is_named(err))
        return END_NAMED;
    printf("%s: %s: %s\n", what, weir_error_name(err->code), err->msg);
    return END_WRONG;
}

/* Takes the whole epoch; `seen` has a place per sample. */
static enum end take_all(weir_pipeline *p, uint64_t samples, bool *seen)
{
    const weir_bad_sample *bad;
    const weir_batch *b;
    uint64_t count = 0;
    weir_err err;
    int r;

    while ((r = weir_pipeline_next(p, &b, &err)) > 0) {
        for (uint32_t i = 0; i < b->count; i++) {
            count += !seen[b->ids[i]];
            seen[b->ids[i]] = true;
        }
        weir_batch_release(b);
    }
    if (weir_pipeline_bad_count(p)) {
        bad = weir_pipeline_bad(p, 0);
        printf("%llu bad samples; the first: %s\n",
               (unsigned long long)weir_pipeline_bad_count(p),
               bad && bad->text ? bad->text : "not named");
        return END_WRONG;
    }
    if (r < 0)
        return failed("next", &err);
    if (count == samples)
        return END_COMPLETE;
    printf("%llu of %llu samples came\n", (unsigned long long)count,
           (unsigned long long)samples);
    return END_WRONG;
}

static enum end feed(const weir_dataset *ds, const struct setting *s,
                     uint64_t samples, bool *seen)
{
    weir_pipeline_config cfg;
    weir_pipeline *p;
    enum end end;
    weir_err err;

    weir_pipeline_defaults(&cfg);
    cfg.batch = 16;
    cfg.picture.width = cfg.picture.height = 64;
    cfg.io = s->io;
    cfg.order = s->order;
    cfg.threads = s->threads;
    cfg.depth = s->depth;
    cfg.prefetch = s->prefetch;
    cfg.direct = s->direct;
    if (weir_pipeline_open(&p, ds, &cfg, &err) < 0)
        return failed("pipeline", &err);
    end = take_all(p, samples, seen);
    weir_pipeline_close(&p);
    return end;
}

static enum end use(const char *url, const struct setting *s, uint64_t samples,
                    bool *seen)
{
    weir_dataset_config cfg;
    weir_dataset *ds;
    enum end end;
    weir_err err;

    weir_dataset_defaults(&cfg);
    cfg.no_index_cache = 1;
    if (weir_dataset_open(&ds, url, &cfg, &err) < 0)
        return failed("index", &err);
    if (weir_dataset_issue_count(ds)) {
        printf("index: %s\n", weir_dataset_issue(ds, 0)->reason);
        end = END_WRONG;
    } else if (weir_dataset_count(ds) != samples) {
        printf("index: %llu samples\n",
               (unsigned long long)weir_dataset_count(ds));
        end = END_WRONG;
    } else {
        end = feed(ds, s, samples, seen);
    }
    weir_dataset_close(&ds);
    return end;
}

/* The child's part: the limit holds for it alone. */
static int run(const char *url, const struct setting *s, const struct limit *l,
               uint64_t samples)
{
    bool *seen = calloc(samples, sizeof(*seen));
    struct rlimit rl = {l->value, l->value};
    enum end end;

    alarm(300); /* rather than hang */
    if (!seen || setrlimit(l->resource, &rl) < 0)
        return END_WRONG;
    end = use(url, s, samples, seen);
    if (end == END_WRONG)
        printf("  ^ %s, setting %td, %s %llu\n", url, s - settings, l->name,
               (unsigned long long)l->value);
    fflush(stdout);
    return (int)end;
}

/* Waits for one of the children. */
static void collect(unsigned ends[3], unsigned *running)
{
    int status = -1;

    if (wait(&status) > 0 && WIFEXITED(status) &&
        WEXITSTATUS(status) < END_WRONG) {
        ends[WEXITSTATUS(status)]++;
    } else {
        ends[END_WRONG]++;
        printf("a child's status: %#x\n", (unsigned)status);
    }
    --*running;
}

int main(int argc, char **argv)
{
    const size_t limit_count = sizeof(limits) / sizeof(limits[0]);
    const size_t setting_count = sizeof(settings) / sizeof(settings[0]);
    size_t cases = (size_t)(argc - 2) * limit_count * setting_count;
    unsigned ends[3] = {0}, running = 0;

    for (size_t k = 0; k < cases; k++) {
        const struct limit *l = &limits[k / setting_count % limit_count];
        const char *url = argv[2 + k / setting_count / limit_count];

        if (k % part_count(PARTS) != part_index(PARTS))
            continue;
        /* Under a sanitizer the others would take long. */
        if (HAS_SANITIZER && (l->resource != RLIMIT_NOFILE || l->value > 64))
            continue;
        if (running == AT_ONCE) /* they wait more than they work */
            collect(ends, &running);
        fflush(stdout);
        if (fork() == 0)
            _exit(run(url, &settings[k % setting_count], l,
                      strtoull(argv[1], NULL, 10)));
        running++;
    }
    while (running)
        collect(ends, &running);
    printf("%u complete, %u named their limit, %u wrong\n", ends[END_COMPLETE],
           ends[END_NAMED], ends[END_WRONG]);
    return ends[END_WRONG] || !ends[END_COMPLETE] ||
           (part_count(PARTS) == 1 && ends[END_COMPLETE] < ends[END_NAMED]);
}
