/* find_coverage.c - D06: files of the data set that no epoch reads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"

#include "base/rng.h"

#define LEAST 20 /* files of a folder that are read */

static uint64_t hash_of(const char *s, size_t len)
{
    uint64_t h = len;

    for (size_t k = 0; k < len; k++)
        h = wr_mix64(h ^ (uint8_t)s[k]);
    return h;
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Hashes of the folders of all names of one sort, in order. */
static size_t folders(const struct wr_trace_analysis *a, bool is_read,
                      uint64_t *to)
{
    size_t n = 0;

    for (size_t k = 0; k < a->use_count; k++) {
        const char *path = wr_trace_file_name(a->file, k)->path;
        const char *slash = strrchr(path, '/');
        const struct wr_trace_use *u = &a->uses[k];

        if (slash && (is_read ? u->role == WR_TRACE_ROLE_SET : u->entries > 0))
            to[n++] = hash_of(path, (size_t)(slash - path));
    }
    qsort(to, n, sizeof(*to), by_hash);
    return n;
}

static size_t count_of(const uint64_t *list, size_t n, uint64_t h)
{
    size_t lo = 0, hi = n, first;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (list[mid] < h)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (first = lo; lo < n && list[lo] == h; lo++)
        ;
    return lo - first;
}

static void example(struct wr_trace_finding *f,
                    const struct wr_trace_analysis *a, size_t k,
                    uint64_t missing)
{
    struct wr_trace_finding_example *x = &f->examples[f->example_count];

    if (f->example_count == WR_TRACE_FINDING_EXAMPLES)
        return;
    *x = (struct wr_trace_finding_example){.at_ns = a->uses[k].first_ns,
                                           .file = (uint32_t)k};
    snprintf(x->detail, sizeof(x->detail), "%" PRIu64 " not read", missing);
    f->example_count++;
}

/* Folders that were listed, and have more than was read of them. */
static uint64_t missing_in(const struct wr_trace_analysis *a,
                           struct wr_trace_finding *f, uint64_t *files,
                           uint64_t *ret_all)
{
    uint64_t *below = files + a->use_count, missing = 0;
    size_t n = folders(a, true, files), m = folders(a, false, below);

    for (size_t k = 0; k < a->use_count; k++) {
        const char *path = wr_trace_file_name(a->file, k)->path;
        uint64_t h = hash_of(path, strlen(path));
        size_t read = a->uses[k].entries ? count_of(files, n, h) : 0, there;

        if (read < LEAST)
            continue;
        there = read + count_of(below, m, h);
        *ret_all += a->uses[k].entries;
        if (a->uses[k].entries <= there)
            continue;
        missing += a->uses[k].entries - there;
        example(f, a, k, a->uses[k].entries - there);
    }
    return missing;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    uint64_t *files, missing, all = 0;

    if (a->epoch_count < 2) /* else the first may not be over */
        return false;
    files = malloc((2 * a->use_count + 1) * sizeof(*files));
    if (!files)
        return false;
    missing = missing_in(a, f, files, &all);
    free(files);
    if (missing * 1000 < all || !missing)
        return false;
    f->risk = true;
    f->sure = WR_TRACE_FINDING_LIKELY;
    snprintf(f->what, sizeof(f->what),
             "%" PRIu64 " of %" PRIu64 " files in the folders of the data set "
             "are read in no epoch.",
             missing, all);
    snprintf(f->evidence, sizeof(f->evidence),
             "The folders were listed with %" PRIu64 " entries; %" PRIu64
             " files were read in %zu epochs.",
             all, a->set_files, a->epoch_count);
    snprintf(
        f->change, sizeof(f->change),
        "Check drop_last, the sampler's length and the shard of each rank: "
        "len(sampler) * world_size should be %" PRIu64,
        all);
    return true;
}

const struct wr_trace_finding_rule wr_find_coverage = {
    "D06", "a part of the data set is never read", look};
