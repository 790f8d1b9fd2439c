/* probe_verdict.c - what a probe means for training, in words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/probe_verdict.h"

#include <math.h>
#include <stdarg.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/probe_plan.h"
#include "cli/probe_text.h"

#define ACCELERATOR_PER_S 1000.0 /* an example that is easy to multiply */
#define CHECKPOINT_BYTES  1e9
#define WORTH             1.2 /* gains below that are not worth a word */

struct best {
    const struct wr_probe_test *test; /* borrowed; NULL: there is none */
    const struct wr_probe_result *result;
};

struct view {
    const struct wr_cli *cli;
    const struct wr_probe_plan *plan;
    const struct wr_probe_report *rep;
    bool said; /* the heading is out */
};

/* One sentence or two, as a point of a list. */
__attribute__((format(printf, 2, 3))) static void say(struct view *v,
                                                      const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (!v->said)
        fprintf(v->cli->out, "\n%sWhat it means%s\n",
                wr_cli_style(v->cli, WR_STYLE_BOLD),
                wr_cli_style(v->cli, WR_STYLE_END));
    v->said = true;
    fprintf(v->cli->out, "  - ");
    wr_text_print(v->cli->out, text,
                  (struct wr_text_wrap){4, 4, v->cli->width});
}

static char *count_text(double n, char *buf, size_t cap)
{
    if (n < 9.95)
        snprintf(buf, cap, "%.1f", n);
    else
        wr_format_count(buf, cap, (uint64_t)(n + 0.5));
    return buf;
}

/* The fastest test of a group and op; `workers` 0 and `depth` 0 are any. */
static struct best find(const struct view *v, enum wr_probe_group group,
                        enum wr_probe_op op, unsigned workers, unsigned depth)
{
    struct best b = {NULL, NULL};

    for (size_t k = 0; k < v->plan->test_count; k++) {
        const struct wr_probe_test *t = &v->plan->tests[k];
        const struct wr_probe_result *r = &v->rep->results[k];

        if (wr_probe_plan_group(t) != group || t->op != op || r->skipped ||
            (workers && t->workers != workers) || (depth && t->depth != depth))
            continue;
        if (!b.test || r->bytes_per_s > b.result->bytes_per_s)
            b = (struct best){t, r};
    }
    return b;
}

static double sample_bytes(const struct wr_probe_mix *m)
{
    double sum = 0;

    for (size_t k = 0; k < m->count; k++)
        sum += (double)m->part[k].bytes * m->part[k].share;
    return sum;
}

const struct wr_column wr_probe_saturation_columns[] = {
    {"what", "pattern and operation", '<', 0},
    {"size", "bytes of one request", '<', 0},
    {"access", "past the page cache (direct) or through it (buffered)", '<', 0},
    {"workers", "threads", '>', 0},
    {"depth", "the depth that suffices; '>=': more was not tried", '>', 0},
    {"MB/s", "bytes per second there, 10^6", '>', 0},
    {"IOPS", "requests per second there", '>', 0},
    {NULL, NULL, 0, 0}};

static void saturation_row(const struct view *v, size_t k, bool reached,
                           struct wr_table *to)
{
    const struct wr_probe_test *t = &v->plan->tests[k];
    const struct wr_probe_result *r = &v->rep->results[k];
    char text[32];

    wr_table_cell(to, "%s %s",
                  t->pattern == WR_PROBE_RANDOM ? "random" : "sequential",
                  t->op == WR_PROBE_WRITE ? "write" : "read");
    wr_table_cell(to, "%s",
                  t->block ? wr_probe_block_text(t->block, text, sizeof(text))
                           : "samples");
    wr_table_cell(to, "%s", t->direct ? "direct" : "buffered");
    wr_table_cell(to, "%u", t->workers);
    wr_table_cell(to, reached ? "%u" : ">= %u", t->depth);
    wr_table_cell(to, r->bytes_per_s < 1e8 ? "%.1f" : "%.0f",
                  r->bytes_per_s / 1e6);
    wr_table_cell(to, "%s", count_text(r->ops_per_s, text, sizeof(text)));
}

/* The depth that is enough, for each size of request. */
static int print_saturation(const struct view *v, weir_err *err)
{
    struct wr_table *to = wr_table_of(wr_probe_saturation_columns, 0);
    size_t rows = 0;
    int r = 0;

    for (size_t k = 0; k < v->plan->test_count; k++) {
        const struct wr_probe_test *t = &v->plan->tests[k];
        bool reached;

        if (wr_probe_saturation(v->plan, v->rep, t, &reached) != t->depth)
            continue;
        saturation_row(v, k, reached, to);
        rows++;
    }
    if (rows) {
        fprintf(
            v->cli->out,
            "\n%sSaturation%s: depth beyond which nothing is gained (>=: not "
            "reached)\n",
            wr_cli_style(v->cli, WR_STYLE_BOLD),
            wr_cli_style(v->cli, WR_STYLE_END));
        r = wr_table_print(to, v->cli, 2, err);
    }
    wr_table_free(to);
    return r;
}

static void say_files(struct view *v)
{
    struct best many = find(v, WR_PROBE_GROUP_FILES, WR_PROBE_FILES, 0, 0);
    struct best lone = find(v, WR_PROBE_GROUP_FILES, WR_PROBE_FILES, 1, 0);
    double resident = v->rep->cache.resident;
    const char *state = resident > 0.01 ? "cached"
                        : resident < 0  ? "dropped"
                                        : "cold";
    char mean[32], rate[32], name[256];

    if (!many.test)
        return;
    wr_format_bytes(mean, sizeof(mean), sample_bytes(&v->plan->mix));
    wr_text_show(v->plan->mix.name, true, name, sizeof(name));
    count_text(many.result->ops_per_s, rate, sizeof(rate));
    if (lone.test && many.test->workers > 1)
        say(v,
            "Samples as single files (sizes of %s, %s on average): %s "
            "samples/s from %s files by %u readers, %.1fx of what one gets.",
            name, mean, rate, state, many.test->workers,
            many.result->ops_per_s / lone.result->ops_per_s);
    else
        say(v,
            "Samples as single files (sizes of %s, %s on average): %s "
            "samples/s from %s files by %u reader%s.",
            name, mean, rate, state, many.test->workers,
            many.test->workers == 1 ? "" : "s");
}

static void say_shards(struct view *v)
{
    struct best mix = find(v, WR_PROBE_GROUP_MIX, WR_PROBE_READ, 0, 0);
    struct best seq = find(v, WR_PROBE_GROUP_SEQ, WR_PROBE_READ, 0, 0);
    struct best files = find(v, WR_PROBE_GROUP_FILES, WR_PROBE_FILES, 0, 0);
    double mean = sample_bytes(&v->plan->mix);
    char a[32], b[32];

    if (mix.test)
        say(v,
            "The same samples packed into big files: %s samples/s in random "
            "order with %u requests in flight.",
            count_text(mix.result->ops_per_s, a, sizeof(a)),
            mix.test->workers * mix.test->depth);
    if (!seq.test || mean <= 0)
        return;
    say(v, "Read in order, big files give %s samples/s (%s/s).",
        count_text(seq.result->bytes_per_s / mean, a, sizeof(a)),
        wr_format_bytes(b, sizeof(b), seq.result->bytes_per_s));
    if (files.test) {
        double gain = seq.result->bytes_per_s / mean / files.result->ops_per_s;

        if (gain > WORTH)
            say(v,
                "Packing single files into shards (weir convert) can give up "
                "to %.1fx here.",
                gain);
        else
            say(v, "Packing single files into shards gains little here.");
    }
}

static void say_accelerators(struct view *v)
{
    struct best files = find(v, WR_PROBE_GROUP_FILES, WR_PROBE_FILES, 0, 0);
    double mean = sample_bytes(&v->plan->mix);
    char need[32];
    double fed;

    if (!files.test || mean <= 0)
        return;
    wr_format_bytes(need, sizeof(need), mean * ACCELERATOR_PER_S);
    fed = files.result->ops_per_s / ACCELERATOR_PER_S;
    if (fed >= 1)
        say(v,
            "An accelerator that takes %.0f samples/s needs %s/s: single files "
            "feed %.0f of them.",
            ACCELERATOR_PER_S, need, floor(fed));
    else
        say(v,
            "An accelerator that takes %.0f samples/s needs %s/s: single files "
            "feed it %.0f %% of the time, unless they come from a cache.",
            ACCELERATOR_PER_S, need, fed * 100);
}

static void say_depth(struct view *v)
{
    struct best deep = {NULL, NULL}, lone = {NULL, NULL};
    bool tried = false; /* more than one in flight */

    for (size_t k = 0; k < v->plan->test_count; k++) {
        const struct wr_probe_test *t = &v->plan->tests[k];
        const struct wr_probe_result *r = &v->rep->results[k];

        if (wr_probe_plan_group(t) != WR_PROBE_GROUP_RANDOM || r->skipped ||
            t->block != 128 * 1024 || !t->direct || t->workers != 1)
            continue;
        tried |= t->depth > 1;
        if (t->depth == 1)
            lone = (struct best){t, r};
        if (!deep.test || r->ops_per_s > deep.result->ops_per_s)
            deep = (struct best){t, r};
    }
    if (!lone.test || !tried || lone.result->ops_per_s <= 0)
        return;
    if (deep.result->ops_per_s > WORTH * lone.result->ops_per_s)
        say(v,
            "Depth pays: random reads of 128 KiB gain %.1fx from one in flight "
            "to %u (weir bench --depth).",
            deep.result->ops_per_s / lone.result->ops_per_s, deep.test->depth);
    else
        say(v, "Depth does not pay: one request in flight is as fast as many.");
}

static void say_writes(struct view *v)
{
    struct best w = find(v, WR_PROBE_GROUP_SEQ, WR_PROBE_WRITE, 0, 0);
    struct best sync = find(v, WR_PROBE_GROUP_SYNC, WR_PROBE_SYNC, 0, 0);
    char a[32], b[32];

    if (w.test && w.result->bytes_per_s > 0)
        say(v, "A checkpoint of 1 GB takes %s to write.",
            wr_format_ns(a, sizeof(a),
                         CHECKPOINT_BYTES / w.result->bytes_per_s * 1e9));
    if (sync.test) {
        struct wr_hist h;

        wr_probe_latency(sync.result, WR_PROBE_ALL_STEPS, &h);
        say(v, "A sync takes %s, one in a hundred longer than %s.",
            wr_format_ns(a, sizeof(a), (double)wr_hist_quantile(&h, 0.5)),
            wr_format_ns(b, sizeof(b), (double)wr_hist_quantile(&h, 0.99)));
    }
}

int wr_probe_print_verdict(const struct wr_cli *cli,
                           const struct wr_probe_plan *plan,
                           const struct wr_probe_report *rep, weir_err *err)
{
    struct view v = {.cli = cli, .plan = plan, .rep = rep};
    int r = print_saturation(&v, err);

    if (r < 0)
        return r;
    say_files(&v);
    say_shards(&v);
    say_accelerators(&v);
    say_depth(&v);
    say_writes(&v);
    return 0;
}
