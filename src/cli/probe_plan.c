/* probe_plan.c - which tests a probe has: quick, full, or as asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/probe_plan.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/mem.h"

#define KIB       1024u
#define MIB       (1024u * KIB)
#define SEQ_BLOCK MIB
#define SEQ_DEPTH 8u

/* A file of a few requests would be read again and again. */
#define SIZE_MIN      (4 * (uint64_t)MIB)
#define SIZE_UNUSED   (16 * (uint64_t)MIB)
#define SIZE_QUICK    (512 * (uint64_t)MIB)
#define SIZE_FULL     (4096 * (uint64_t)MIB)
#define PART_OF_SPACE 8

/* A plan in the making. */
struct maker {
    const struct wr_probe_wish *w;
    struct wr_probe_tests *to;
    bool full; /* no room for one more */
};

static const struct wr_uint_list one = {1, {1}};

static const struct wr_uint_list *or_else(const struct wr_uint_list *given,
                                          const struct wr_uint_list *def)
{
    return given->count ? given : def;
}

static bool is_same(const struct wr_probe_test *a,
                    const struct wr_probe_test *b)
{
    return a->op == b->op && a->pattern == b->pattern && a->block == b->block &&
           a->depth == b->depth && a->workers == b->workers &&
           a->direct == b->direct;
}

/* Adds it once, past the page cache or through it as the user wants. */
static void add(struct maker *m, struct wr_probe_test t)
{
    if (m->w->access != WR_PROBE_BOTH && t.op != WR_PROBE_SYNC)
        t.direct = m->w->access == WR_PROBE_DIRECT;
    for (size_t k = 0; k < m->to->count; k++)
        if (is_same(&m->to->v[k], &t))
            return;
    if (m->to->count == WR_PROBE_TESTS_MAX)
        m->full = true;
    else
        m->to->v[m->to->count++] = t;
}

/* One test for each depth and number of workers. */
static void add_each(struct maker *m, struct wr_probe_test t,
                     const struct wr_uint_list *depth,
                     const struct wr_uint_list *workers)
{
    for (size_t i = 0; i < workers->count; i++)
        for (size_t k = 0; k < depth->count; k++) {
            t.workers = (unsigned)workers->v[i];
            t.depth = (unsigned)depth->v[k];
            add(m, t);
        }
}

static void add_big(struct maker *m)
{
    static const struct wr_uint_list quick = {1, {SEQ_DEPTH}},
                                     full = {2, {1, SEQ_DEPTH}},
                                     four = {1, {4}};
    const struct wr_probe_wish *w = m->w;
    const struct wr_uint_list *depth = or_else(&w->depth,
                                               w->quick ? &quick : &full);
    const struct wr_uint_list *workers = or_else(&w->workers, &one);
    struct wr_probe_test t = {.op = WR_PROBE_READ,
                              .pattern = WR_PROBE_SEQUENTIAL,
                              .block = SEQ_BLOCK,
                              .direct = true};

    add_each(m, t, depth, workers);
    t.direct = false;
    if (w->access == WR_PROBE_BOTH) {
        add_each(m, t, &one, workers);
        if (!w->quick && !w->workers.count)
            add_each(m, t, &one, &four);
    }
    t.op = WR_PROBE_WRITE;
    t.direct = true;
    add_each(m, t, depth, workers);
    t.direct = false;
    if (w->access == WR_PROBE_BOTH)
        add_each(m, t, &one, workers);
}

/* What one request costs when nothing has to be sought. */
static void add_small(struct maker *m)
{
    struct wr_probe_test t = {.op = WR_PROBE_READ,
                              .pattern = WR_PROBE_SEQUENTIAL,
                              .block = 4 * KIB,
                              .direct = true};

    if (m->w->depth.count || m->w->workers.count)
        return;
    add_each(m, t, &one, &one);
    t.op = WR_PROBE_WRITE;
    add_each(m, t, &one, &one);
}

static void add_sequential(struct maker *m)
{
    add_big(m);
    add_small(m);
}

/* Two sizes of request over all depths, the others over a few. */
static void add_random(struct maker *m)
{
    static const struct wr_uint_list quick_blocks = {2, {4 * KIB, 128 * KIB}},
                                     full_blocks = {4,
                                                    {4 * KIB, 32 * KIB,
                                                     128 * KIB, MIB}},
                                     few = {3, {1, 8, 32}},
                                     some = {4, {1, 8, 32, 128}},
                                     all = {8, {1, 2, 4, 8, 16, 32, 64, 128}};
    const struct wr_probe_wish *w = m->w;
    const struct wr_uint_list *blocks = or_else(
        &w->block, w->quick ? &quick_blocks : &full_blocks);
    const struct wr_uint_list *workers = or_else(&w->workers, &one);
    struct wr_probe_test t = {
        .op = WR_PROBE_READ, .pattern = WR_PROBE_RANDOM, .direct = true};

    for (size_t k = 0; k < blocks->count; k++) {
        const struct wr_uint_list *depth;

        t.block = blocks->v[k];
        if (w->quick)
            depth = t.block == 4 * KIB ? &some : &few;
        else
            depth = t.block == 4 * KIB || t.block == 128 * KIB ? &all : &few;
        add_each(m, t, or_else(&w->depth, depth), workers);
    }
    if (!w->quick && !w->depth.count && !w->block.count && !w->workers.count) {
        static const struct wr_uint_list deep = {1, {32}}, two = {1, {2}};

        t.block = 4 * KIB;
        add_each(m, t, &deep, &two);
        t.direct = false;
        t.block = 128 * KIB;
        if (w->access == WR_PROBE_BOTH)
            add_each(m, t, &one, &one);
    }
}

static void add_mix(struct maker *m)
{
    static const struct wr_uint_list quick = {1, {32}},
                                     full = {4, {1, 8, 32, 128}};
    const struct wr_probe_test t = {
        .op = WR_PROBE_READ, .pattern = WR_PROBE_RANDOM, .direct = true};

    add_each(m, t, or_else(&m->w->depth, m->w->quick ? &quick : &full),
             or_else(&m->w->workers, &one));
}

/* As a loader reads them: through the page cache, one file at a time. */
static void add_files(struct maker *m)
{
    static const struct wr_uint_list quick = {2, {1, 8}},
                                     full = {4, {1, 2, 4, 8}},
                                     create = {2, {1, 4}};
    const struct wr_probe_wish *w = m->w;
    struct wr_probe_test t = {.op = WR_PROBE_FILES, .pattern = WR_PROBE_RANDOM};

    add_each(m, t, &one, or_else(&w->workers, w->quick ? &quick : &full));
    t.op = WR_PROBE_CREATE;
    t.pattern = WR_PROBE_SEQUENTIAL;
    add_each(m, t, &one, or_else(&w->workers, w->quick ? &one : &create));
}

static void add_sync(struct maker *m)
{
    const struct wr_probe_test t = {.op = WR_PROBE_SYNC,
                                    .pattern = WR_PROBE_SEQUENTIAL,
                                    .block = 4 * KIB,
                                    .depth = 1,
                                    .workers = 1};

    add(m, t);
}

static int check_blocks(const struct wr_probe_wish *w, weir_err *err)
{
    uint64_t unit = w->access == WR_PROBE_BUFFERED ? 512 : WR_DIRECT_ALIGN;

    for (size_t k = 0; k < w->block.count; k++)
        if (w->block.v[k] == 0 || w->block.v[k] % unit)
            return wr_fail(
                err, WEIR_EINVAL,
                "option --block: %" PRIu64 " is not a multiple of %" PRIu64
                "%s (K is 1000 bytes, KiB 1024: write 4KiB)",
                w->block.v[k], unit,
                w->access == WR_PROBE_BUFFERED ? ""
                                               : ", which direct reads need");
    return 0;
}

int wr_probe_plan_tests(const struct wr_probe_wish *w,
                        struct wr_probe_tests *ret, weir_err *err)
{
    static void (*const adders[WR_PROBE_GROUPS])(struct maker *) = {
        [WR_PROBE_GROUP_SEQ] = add_sequential,
        [WR_PROBE_GROUP_RANDOM] = add_random,
        [WR_PROBE_GROUP_MIX] = add_mix,
        [WR_PROBE_GROUP_FILES] = add_files,
        [WR_PROBE_GROUP_SYNC] = add_sync,
    };
    struct maker m = {.w = w, .to = ret};
    int r = check_blocks(w, err);

    if (r < 0)
        return r;
    ret->count = 0;
    for (unsigned k = 0; k < WR_PROBE_GROUPS; k++)
        if (!w->groups || (w->groups & 1u << k))
            adders[k](&m);
    if (m.full)
        return wr_fail(err, WEIR_EINVAL,
                       "the lists make more than %d tests: give fewer values "
                       "or --only some of the groups",
                       WR_PROBE_TESTS_MAX);
    return 0;
}

uint64_t wr_probe_plan_size(const struct wr_probe_tests *tests, bool quick,
                            uint64_t free_bytes)
{
    uint64_t size = quick ? SIZE_QUICK : SIZE_FULL;
    bool used = false;

    for (size_t k = 0; k < tests->count; k++)
        used |= tests->v[k].op == WR_PROBE_READ ||
                tests->v[k].op == WR_PROBE_WRITE;
    if (!used)
        size = SIZE_UNUSED;
    if (free_bytes)
        size = WR_MIN(size, free_bytes / PART_OF_SPACE / MIB * MIB);
    return WR_MAX(size, SIZE_MIN);
}
