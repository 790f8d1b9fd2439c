/* bench_text.c - the benchmark's results for a person.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/bench_args.h"
#include "measure/parts.h"
#include "record/emulated.h"

#define BAD_SHOWN    20
#define DEVICE_BYTES 128 /* "emulated PROFILE" */
#define PAGE_CACHE   1   /* of the columns below */

/* --- the table --- */

#define SETTINGS 7 /* columns with settings; the others have results */
#define ALWAYS   (1u << 0 | 1u << 1 | 1u << 3)

/* Settings that are the same in all rows and not ALWAYS shown stand in a line
 * above the table, to keep it narrow. */
static const struct wr_column columns[] = {
    {"stages", "what is done to each sample (--stages)", '<', 1u << 0},
    {"page-cache", "its state before every run (--page-cache)", '<', 1u << 1},
    {"decode", "how JPEG is decoded (--decode)", '<', 1u << 2},
    {"threads", "workers (--threads)", '>', 1u << 3},
    {"depth", "reads in flight per worker (--depth)", '>', 1u << 4},
    {"prefetch", "finished batches kept ahead (--prefetch)", '>', 1u << 5},
    {"batch", "samples per batch (--batch)", '>', 1u << 6},
    {"samples/s", "rate, median of the counted runs", '>', 0},
    {"+-",
     "spread: half of the runs' range as a fraction of the median; -: one run "
     "only",
     '>', 0},
    {"MB/s", "bytes read from storage per second, 10^6", '>', 0},
    {"CPU s/1000", "CPU seconds per 1,000 samples, all threads", '>', 0},
    {"peak MB", "peak resident memory of the process", '>', 0},
    {"1st ms", "from the start of the run to the first batch", '>', 0},
    {"p99/p50",
     "how evenly batches come: 99th percentile of the time between two "
     "batches, divided by the median",
     '>', 0},
    {"of decode",
     "rate as a fraction of what the same threads reach when they only decode, "
     "from memory",
     '>', 0},
    {"of read",
     "rate as a fraction of what plain pread threads reach on the same bytes",
     '>', 0},
    {"verdict",
     "what limits it: storage-bound, decode-bound, convert-bound or "
     "consumer-bound; starved: other programs used the cores",
     '<', 0},
    {NULL, NULL, 0, 0}};

const struct wr_columns wr_bench_columns[] = {{NULL, columns}, {NULL, NULL}};

static bool is_emulated(const struct wr_bench_plan *plan)
{
    char device[DEVICE_BYTES];

    return wr_emulated(plan->ds->url, device, sizeof(device));
}

static void number_text(uint32_t n, char *buf, size_t cap)
{
    if (n == WEIR_AUTO)
        snprintf(buf, cap, "auto");
    else
        snprintf(buf, cap, "%" PRIu32, n);
}

static void setting_text(const struct wr_bench_case *c, size_t k, char *buf,
                         size_t cap)
{
    const uint32_t numbers[] = {c->cfg.threads, c->cfg.depth, c->cfg.prefetch,
                                c->cfg.batch};
    const int choices[] = {(int)c->cfg.stages, (int)c->cache,
                           (int)c->cfg.picture.decode};

    if (k < WR_ARRAY_LEN(choices))
        snprintf(buf, cap, "%s", wr_bench_choice(columns[k].head, choices[k]));
    else
        number_text(numbers[k - WR_ARRAY_LEN(choices)], buf, cap);
}

static bool is_column(const struct wr_bench_plan *plan, size_t k)
{
    char first[32], other[32];

    setting_text(&plan->cases[0], k, first, sizeof(first));
    for (size_t i = 1; i < plan->case_count; i++) {
        setting_text(&plan->cases[i], k, other, sizeof(other));
        if (strcmp(first, other))
            return true;
    }
    /* What is in the page cache is no part of an emulated device. */
    return ALWAYS >> k & 1 && !(k == PAGE_CACHE && is_emulated(plan));
}

static void print_common(const struct wr_cli *cli,
                         const struct wr_bench_plan *plan)
{
    const char *between = "";
    char value[32], device[DEVICE_BYTES];
    bool emulated = wr_emulated(plan->ds->url, device, sizeof(device));

    if (emulated) {
        fprintf(cli->out, "%s", device);
        between = ", ";
    }
    for (size_t k = 0; k < SETTINGS; k++) {
        if (is_column(plan, k))
            continue;
        setting_text(&plan->cases[0], k, value, sizeof(value));
        fprintf(cli->out, "%s%s%s %s", between, columns[k].head,
                emulated && k == PAGE_CACHE ? " below it" : "", value);
        between = ", ";
    }
    fputs(*between ? "\n\n" : "", cli->out);
}

static struct wr_table *new_table(const struct wr_bench_plan *plan)
{
    unsigned shown = 0;

    for (size_t k = 0; k < SETTINGS; k++)
        if (is_column(plan, k))
            shown |= columns[k].only;
    return wr_table_of(columns, shown);
}

static void ratio_cell(struct wr_table *t, double ratio)
{
    if (ratio > 0)
        wr_table_cell(t, "%.2f", ratio);
    else
        wr_table_cell(t, "-");
}

static void add_results(struct wr_table *t, const struct wr_bench_result *res)
{
    const struct wr_bench_run *run = &res->runs[res->median];
    char count[32];

    wr_table_cell(t, "%s",
                  wr_format_count(count, sizeof(count),
                                  (uint64_t)(res->rate_median + 0.5)));
    /* One run that counts has no spread. */
    if (res->rate_median > 0 && res->round_count > 2)
        wr_table_cell(t, "%.0f%%",
                      (res->rate_max - res->rate_min) / 2 / res->rate_median *
                          100);
    else
        wr_table_cell(t, "-");
    wr_table_cell(t, "%.0f", run->bytes_per_s / 1e6);
    wr_table_cell(t, "%.2f", run->cpu_s_per_1000);
    wr_table_cell(t, "%.0f", (double)run->peak_bytes / 1e6);
    wr_table_cell(t, "%.0f", run->first_batch_ms);
    ratio_cell(t, run->gap_p50_ms > 0 ? run->gap_p99_ms / run->gap_p50_ms : 0);
    ratio_cell(t, res->of_decode);
    ratio_cell(t, res->of_read);
    wr_table_cell(t, "%s",
                  res->starved ? "starved" : wr_verdict_name(run->verdict));
}

static int print_table(const struct wr_cli *cli,
                       const struct wr_bench_plan *plan,
                       const struct wr_bench_result *results, weir_err *err)
{
    struct wr_table *t = new_table(plan);
    char value[32];
    int r;

    print_common(cli, plan);
    for (size_t i = 0; i < plan->case_count; i++) {
        for (size_t k = 0; k < SETTINGS; k++) {
            if (!is_column(plan, k))
                continue;
            setting_text(&plan->cases[i], k, value, sizeof(value));
            wr_table_cell(t, "%s", value);
        }
        add_results(t, &results[i]);
    }
    r = wr_table_print(t, cli, 0, err);
    wr_table_free(t);
    return r;
}

/* --- in words --- */

static double share(uint64_t part, const weir_stats *s)
{
    uint64_t all = s->storage_wait_ns + s->submit_ns + s->decode_ns +
                   s->resample_ns + s->idle_ns;

    return all ? (double)part * 100 / (double)all : 0;
}

static void explain_storage(FILE *out, const struct wr_bench_result *res,
                            const weir_stats *s)
{
    fprintf(out,
            "Storage-bound: the workers waited for data %.0f %% of their time "
            "and worked on it %.0f %%.\n",
            share(s->storage_wait_ns + s->submit_ns, s),
            share(s->decode_ns + s->resample_ns, s));
    if (res->of_read > 0)
        fprintf(out,
                "Plain reads of the same ranges (%u threads) reach %.0f "
                "samples/s: this is %.2f of that.\n",
                res->runs[res->median].read_limit_threads,
                res->runs[res->median].read_limit, res->of_read);
    if (res->of_slot > 0)
        fprintf(out,
                "Plain reads that fill memory of the size of two batches, as "
                "this does, reach %.0f: this is %.2f of that.\n",
                res->runs[res->median].slot_limit, res->of_slot);
}

static void explain_decode(FILE *out, const struct wr_bench_result *res,
                           const weir_stats *s)
{
    const struct wr_bench_run *run = &res->runs[res->median];

    fprintf(out,
            "Decode-bound: the workers decoded %.0f %% of their time, resized "
            "%.0f %%, and waited for data %.0f %%.\n",
            share(s->decode_ns, s), share(s->resample_ns, s),
            share(s->storage_wait_ns + s->submit_ns, s));
    if (res->of_decode > 0)
        fprintf(out,
                "Decoding alone, from memory, reaches %.0f samples/s on %u "
                "threads: this is %.2f of that.\n",
                run->decode_limit, s->workers, res->of_decode);
    if (run->read_limit > run->samples_per_s)
        fprintf(out,
                "Storage could deliver %.1f times as much: more cores, smaller "
                "pictures or decoded tensors help, faster storage does not.\n",
                run->read_limit / run->samples_per_s);
}

static void explain_convert(FILE *out, const struct wr_bench_result *res,
                            const weir_stats *s)
{
    const struct wr_bench_run *run = &res->runs[res->median];

    fprintf(out,
            "Convert-bound: the workers converted or copied tensors %.0f %% of "
            "their time, and waited for data %.0f %%.\n",
            share(s->decode_ns + s->resample_ns, s),
            share(s->storage_wait_ns + s->submit_ns, s));
    if (res->of_decode > 0)
        fprintf(out,
                "Converting alone, from memory, reaches %.0f samples/s on %u "
                "threads: this is %.2f of that.\n",
                run->decode_limit, s->workers, res->of_decode);
    if (run->read_limit > run->samples_per_s)
        fprintf(out,
                "Storage could deliver %.1f times as much: more cores, a "
                "smaller type, or tensors stored in the type and layout that "
                "are asked for help, faster storage does not.\n",
                run->read_limit / run->samples_per_s);
}

/* What was measured is not what the machine can do: nothing that follows is
 * to be believed before this. */
static void print_starved(const struct wr_cli *cli,
                          const struct wr_bench_plan *plan,
                          const struct wr_bench_result *results)
{
    const struct wr_bench_result *first = NULL;
    size_t count = 0;
    char text[160];

    for (size_t k = 0; k < plan->case_count; k++)
        if (results[k].starved) {
            first = first ? first : &results[k];
            count++;
        }
    if (!first)
        return;
    fprintf(
        cli->out, "%sStarved%s: %s", wr_cli_style(cli, WR_STYLE_WARN),
        wr_cli_style(cli, WR_STYLE_END),
        wr_cores_text(&first->runs[first->median].cores, text, sizeof(text)));
    if (plan->case_count > 1)
        fprintf(cli->out, " (in %zu of %zu rows)", count, plan->case_count);
    fprintf(cli->out, ".\nThe figures are too low, and the limit cannot be "
                      "determined: measure again on an idle machine.\n\n");
}

/* "all, cold cache, 2 threads, depth 8: ": where it was read from, and each
 * setting in which the cases differ. */
static void print_heading(const struct wr_cli *cli,
                          const struct wr_bench_plan *plan, size_t at,
                          unsigned workers)
{
    const struct wr_bench_case *c = &plan->cases[at];
    char value[32], device[DEVICE_BYTES];
    bool emulated = wr_emulated(plan->ds->url, device, sizeof(device));

    fprintf(cli->out, "\n%s%s", wr_cli_style(cli, WR_STYLE_BOLD),
            wr_bench_choice("stages", (int)c->cfg.stages));
    if (emulated)
        fprintf(cli->out, ", %s", device);
    if (!emulated || is_column(plan, PAGE_CACHE))
        fprintf(cli->out, ", %s cache%s",
                wr_bench_choice("page-cache", (int)c->cache),
                emulated ? " below it" : "");
    fprintf(cli->out, ", %u thread%s", workers, workers == 1 ? "" : "s");
    for (size_t k = 0; k < SETTINGS; k++) {
        if (ALWAYS >> k & 1 || !is_column(plan, k))
            continue;
        setting_text(c, k, value, sizeof(value));
        fprintf(cli->out, ", %s %s", columns[k].head, value);
    }
    fprintf(cli->out, "%s: ", wr_cli_style(cli, WR_STYLE_END));
}

static void explain(const struct wr_cli *cli, const struct wr_bench_plan *plan,
                    size_t k, const struct wr_bench_result *res)
{
    const struct wr_bench_run *run = &res->runs[res->median];
    const weir_stats *s = &run->stats;
    uint64_t total = s->consumer_wait_ns + s->consumer_busy_ns;

    print_heading(cli, plan, k, s->workers);
    if (res->starved)
        fprintf(cli->out, "Starved; apart from that: ");
    switch (run->verdict) {
    case WEIR_VERDICT_STORAGE:
        explain_storage(cli->out, res, s);
        break;
    case WEIR_VERDICT_DECODE:
        explain_decode(cli->out, res, s);
        break;
    case WEIR_VERDICT_CONVERT:
        explain_convert(cli->out, res, s);
        break;
    case WEIR_VERDICT_CONSUMER:
        fprintf(cli->out,
                "Consumer-bound: the consumer waited %.1f %% of its time; the "
                "pipeline was ahead and idle %.0f %%.\n",
                total ? (double)s->consumer_wait_ns * 100 / (double)total : 0,
                share(s->idle_ns, s));
        break;
    case WEIR_VERDICT_NONE:
        fprintf(cli->out, "too few batches to say what limits it.\n");
        break;
    }
}

/* Cold is what was measured, not what was asked for. */
static void check_cache(const struct wr_cli *cli, const struct wr_bench_case *c,
                        const struct wr_bench_result *res)
{
    double worst = 0;

    if (c->cache != WR_CACHE_COLD)
        return;
    for (unsigned i = 1; i < res->round_count; i++)
        worst = WR_MAX(worst, res->runs[i].resident);
    if (res->runs[0].resident < 0)
        fprintf(cli->out, "Cold cache: it could not be checked here.\n");
    else if (worst > 0.01)
        fprintf(cli->out,
                "Not cold: up to %.0f %% of the data were still in the page "
                "cache (in use by another program?).\n",
                worst * 100);
    else
        fprintf(cli->out,
                "Cold cache: %.1f %% of the data were resident before the "
                "runs, at most. What lies below the kernel (the disk's or the "
                "host's cache) is not dropped.\n",
                worst * 100);
}

/* What the tiers did, and how fast it is once they are filled. */
static void print_tiers(const struct wr_cli *cli, const struct wr_bench_case *c,
                        const struct wr_bench_result *res)
{
    const struct wr_bench_run *run = &res->runs[res->median];
    const weir_stats *s = &run->stats;
    uint64_t hits = s->cache_ram_hits + s->cache_dir_hits;
    uint64_t all = hits + s->cache_misses;
    char ram[32], dir[32];

    if (c->cfg.cache)
        fprintf(cli->out,
                "Tiers: %.1f %% of the samples were found (%" PRIu64
                " in memory, %" PRIu64 " in folders, %" PRIu64
                " not); they hold %s in memory, %s in folders.\n",
                all ? (double)hits * 100 / (double)all : 0, s->cache_ram_hits,
                s->cache_dir_hits, s->cache_misses,
                wr_format_bytes(ram, sizeof(ram), (double)s->cache_ram_bytes),
                wr_format_bytes(dir, sizeof(dir), (double)s->cache_dir_bytes));
    if (*run->cache_error)
        fprintf(cli->out, "A tier takes nothing more: %s\n", run->cache_error);
    if (s->cache_damaged)
        fprintf(cli->out,
                "%" PRIu64 " entries of a folder were damaged; their samples "
                "were read from the data set.\n",
                s->cache_damaged);
    if (run->last_epoch_per_s > 0)
        fprintf(cli->out, "Last epoch: %.0f samples/s.\n",
                run->last_epoch_per_s);
}

static void print_tuning(const struct wr_cli *cli,
                         const struct wr_bench_result *res)
{
    const char *at = res->runs[res->median].tuning;

    for (bool first = true; *at; first = false) {
        size_t n = strcspn(at, "\n");

        fprintf(cli->out, "%s%.*s\n", first ? "Chosen: " : "  ", (int)n, at);
        at += n + (at[n] == '\n');
    }
}

static void print_bad(const struct wr_cli *cli,
                      const struct wr_bench_result *res)
{
    if (!res->bad_count)
        return;
    fprintf(cli->out, "\n%s%" PRIu64 " bad sample%s skipped%s:\n",
            wr_cli_style(cli, WR_STYLE_WARN), res->bad_count,
            res->bad_count == 1 ? "" : "s", wr_cli_style(cli, WR_STYLE_END));
    for (size_t i = 0; i < WR_MIN(res->bad_kept, (size_t)BAD_SHOWN); i++)
        fprintf(cli->out, "  %s\n", res->bad[i].text);
    if (res->bad_count > BAD_SHOWN)
        fprintf(cli->out, "  ... and %" PRIu64 " more (--json lists 1,000)\n",
                res->bad_count - BAD_SHOWN);
}

/* What the machine did during the run that is told about. */
static void print_machine(const struct wr_cli *cli,
                          const struct wr_bench_result *res,
                          const struct wr_monitor *m)
{
    const struct wr_bench_run *run = &res->runs[res->median];
    double from = wr_monitor_at(m, run->start_ns);

    wr_monitor_print(m, cli, from, from + run->seconds);
}

int wr_bench_print(const struct wr_cli *cli, const struct wr_bench_plan *plan,
                   const struct wr_bench_result *results,
                   const struct wr_monitor *m, weir_err *err)
{
    size_t best = 0;
    int r;

    print_starved(cli, plan, results);
    r = print_table(cli, plan, results, err);
    if (r < 0)
        return r;
    for (size_t k = 0; plan->digest && k < plan->case_count; k++)
        fprintf(cli->out, "digest %016" PRIx64 "%s\n",
                results[k].runs[results[k].median].digest,
                plan->case_count > 1 ? " (in the order of the table)" : "");
    for (size_t k = 1; k < plan->case_count; k++)
        if (results[k].rate_median > results[best].rate_median)
            best = k;
    /* A few cases are explained each, of a sweep the last and the fastest. */
    for (size_t k = 0; k < plan->case_count; k++) {
        if (plan->case_count > 3 && k != best && k + 1 != plan->case_count)
            continue;
        explain(cli, plan, k, &results[k]);
        print_machine(cli, &results[k], m);
        check_cache(cli, &plan->cases[k], &results[k]);
        print_tiers(cli, &plan->cases[k], &results[k]);
        print_tuning(cli, &results[k]);
    }
    print_bad(cli, &results[plan->case_count - 1]);
    return 0;
}
