/* probe_text.c - the results of a probe as a person reads them: tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/probe_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/probe_plan.h"
#include "cli/probe_verdict.h"
#include "monitor/host.h"
#include "record/emulated.h"

#define WIDE   100 /* columns from which on there is room for CPU seconds */
#define WIDER  116 /* ... and for every pass */
#define LABEL  9   /* width of "Small fi." */
#define PASSES 6   /* at most so many are shown each */

/* What the tests of a group may differ in. */
enum field { OP, BLOCK, ACCESS, WORKERS, DEPTH, FIELDS };

struct group {
    const struct wr_cli *cli;
    const struct wr_probe_plan *plan;
    const struct wr_probe_report *rep;
    enum wr_probe_group id;
    bool differ[FIELDS];               /* what does not is in the title */
    bool shown[FIELDS];                /* as a column */
    bool iops, p95, p999, cpu, passes; /* columns where there is room */
};

char *wr_probe_block_text(uint64_t block, char *buf, size_t cap)
{
    if (block && block % (1u << 20) == 0)
        snprintf(buf, cap, "%" PRIu64 " MiB", block >> 20);
    else if (block && block % 1024 == 0)
        snprintf(buf, cap, "%" PRIu64 " KiB", block >> 10);
    else
        snprintf(buf, cap, "%" PRIu64 " B", block);
    return buf;
}

/* --- before --- */

static void print_fact(const struct wr_cli *cli, const char *label,
                       const char *text)
{
    fprintf(cli->out, "%s%-*s%s", wr_cli_style(cli, WR_STYLE_BOLD), LABEL,
            label, wr_cli_style(cli, WR_STYLE_END));
    wr_text_print(cli->out, text,
                  (struct wr_text_wrap){LABEL, LABEL, cli->width});
}

static double mix_mean(const struct wr_probe_mix *m)
{
    double sum = 0;

    for (size_t k = 0; k < m->count; k++)
        sum += (double)m->part[k].bytes * m->part[k].share;
    return sum;
}

/* "ext4 on vda (QEMU HARDDISK, rotating)"; "" where nothing is known. */
static void describe_place(const char *url, struct wr_store *st, char *buf,
                           size_t cap)
{
    struct wr_host_fs fs;
    char path[4096], device[128];
    const char *kind;

    buf[0] = '\0';
    if (wr_emulated(url, device, sizeof(device))) {
        snprintf(buf, cap, ": %s", device);
        return;
    }
    if (!st->ops->local_path ||
        !st->ops->local_path(st, "", path, sizeof(path)) ||
        wr_host_fs_of(path, &fs, NULL) < 0)
        return;
    kind = fs.rotational == 1   ? "says it rotates"
           : fs.rotational == 0 ? "does not rotate"
                                : "";
    snprintf(buf, cap, ": %s%s%s", fs.type, *fs.device ? " on " : "",
             *fs.device ? fs.device : "");
    if (*fs.model || *kind) {
        size_t used = strlen(buf);

        snprintf(buf + used, cap - used, " (%s%s%s)", fs.model,
                 *fs.model && *kind ? ", " : "", kind);
    }
}

static bool has_op(const struct wr_probe_plan *plan, enum wr_probe_op op)
{
    for (size_t k = 0; k < plan->test_count; k++)
        if (plan->tests[k].op == op)
            return true;
    return false;
}

/* "a fresh one of 537 MB; 1,000 small ones as in imagenet, ..." */
static void describe_files(const struct wr_probe_plan *plan, char *buf,
                           size_t cap)
{
    bool small = has_op(plan, WR_PROBE_FILES) || has_op(plan, WR_PROBE_CREATE);
    char name[4096], a[32], b[32];
    int n;

    if (plan->file)
        n = snprintf(buf, cap, "%s is read",
                     wr_text_show(plan->file, true, name, sizeof(name)));
    else
        n = snprintf(buf, cap, "a fresh one of %s",
                     wr_format_bytes(a, sizeof(a), (double)plan->file_bytes));
    if (small && n >= 0 && (size_t)n < cap)
        snprintf(buf + n, cap - (size_t)n,
                 "; %s small ones as in %s, %s on average",
                 wr_format_count(a, sizeof(a), plan->small_files),
                 wr_text_show(plan->mix.name, true, name, sizeof(name)),
                 wr_format_bytes(b, sizeof(b), mix_mean(&plan->mix)));
}

void wr_probe_print_head(const struct wr_cli *cli,
                         const struct wr_probe_plan *plan, struct wr_store *st)
{
    char place[512], text[8192], name[4096], a[32];
    uint64_t space;

    describe_place(plan->url, st, place, sizeof(place));
    wr_text_show(plan->url, true, name, sizeof(name));
    if (st->ops->space && st->ops->space(st, &space, NULL) == 0)
        snprintf(text, sizeof(text), "%s%s, %s free", name, place,
                 wr_format_bytes(a, sizeof(a), (double)space));
    else
        snprintf(text, sizeof(text), "%s%s", name, place);
    print_fact(cli, "Path", text);
    describe_files(plan, text, sizeof(text));
    print_fact(cli, "Files", text);
    snprintf(text, sizeof(text), "%zu, each %u time%s for %g s: about %.0f s",
             plan->test_count, plan->passes, plan->passes == 1 ? "" : "s",
             plan->seconds,
             ceil((double)plan->test_count * plan->passes * plan->seconds));
    print_fact(cli, "Tests", text);
}

int wr_probe_print_plan(const struct wr_cli *cli,
                        const struct wr_probe_plan *plan, weir_err *err)
{
    struct wr_table *t = wr_table_new("<");
    char name[WR_PROBE_NAME], bytes[32];
    int r;

    for (size_t k = 0; k < plan->test_count; k++)
        wr_table_cell(t, "%s",
                      wr_probe_test_name(&plan->tests[k], name, sizeof(name)));
    fputc('\n', cli->out);
    r = wr_table_print(t, cli, 2, err);
    wr_table_free(t);
    fprintf(
        cli->out,
        "\nNothing was done. It would write %s below the path, and remove "
        "it.\n",
        wr_format_bytes(bytes, sizeof(bytes), (double)wr_probe_space(plan)));
    return r;
}

/* --- the cache --- */

static bool has_read(const struct wr_probe_plan *plan,
                     const struct wr_probe_report *rep)
{
    for (size_t k = 0; k < rep->count; k++)
        if (rep->results[k].run_count && (plan->tests[k].op == WR_PROBE_READ ||
                                          plan->tests[k].op == WR_PROBE_FILES))
            return true;
    return false;
}

static void print_cache(const struct wr_cli *cli,
                        const struct wr_probe_plan *plan,
                        const struct wr_probe_report *rep)
{
    const struct wr_probe_cache *c = &rep->cache;
    char text[512];
    const char *direct = c->direct_works
                             ? "; direct requests pass the page cache"
                             : "; no direct requests here";

    if (!has_read(plan, rep))
        return;
    if (c->resident < 0)
        snprintf(
            text, sizeof(text),
            "%s the kernel does not tell what was resident before a "
            "read%s",
            c->dropped ? "dropped before every read, but" : "unknown:", direct);
    else if (c->resident > 0.01)
        snprintf(text, sizeof(text),
                 "not cold: up to %.1f %% was resident before a read%s",
                 c->resident * 100, direct);
    else
        snprintf(text, sizeof(text),
                 "cold: at most %.1f %% was resident before any read, as the "
                 "kernel says%s",
                 c->resident * 100, direct);
    print_fact(cli, "Cache", text);
    if (!c->below)
        return;
    fprintf(cli->out, "%s", wr_cli_style(cli, WR_STYLE_WARN));
    snprintf(text, sizeof(text),
             "Something below the kernel caches: %s. Data written long ago may "
             "be read far more slowly; probe an old file with --file.",
             c->signs);
    print_fact(cli, "Warning", text);
    fprintf(cli->out, "%s", wr_cli_style(cli, WR_STYLE_END));
}

/* --- cells --- */

/* Three digits and a unit: "4.21us", "118us", "12.3ms". */
static void time_cell(struct wr_table *t, double ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t k = 0;

    while (k + 1 < WR_ARRAY_LEN(units) && ns < 0.9995 * units[k].ns)
        k++;
    ns /= units[k].ns;
    wr_table_cell(t, "%.*f%s",
                  ns < 9.995   ? 2
                  : ns < 99.95 ? 1
                               : 0,
                  ns, units[k].unit);
}

static void rate_cell(struct wr_table *t, double bytes_per_s)
{
    double mb = bytes_per_s / 1e6;

    wr_table_cell(t, mb < 9.95 ? "%.2f" : mb < 99.5 ? "%.1f" : "%.0f", mb);
}

static void count_cell(struct wr_table *t, double count)
{
    char buf[32];

    if (count < 99.5)
        wr_table_cell(t, "%.1f", count);
    else
        wr_table_cell(
            t, "%s",
            wr_format_count(buf, sizeof(buf), (uint64_t)(count + 0.5)));
}

static void spread_cell(struct wr_table *t, const struct wr_probe_result *r)
{
    if (r->ops_per_s > 0 && r->run_count > 1)
        wr_table_cell(t, "%.0f%%", r->ops_spread / r->ops_per_s * 100);
    else
        wr_table_cell(t, "-");
}

static void passes_cell(struct wr_table *t, const struct wr_probe_result *r,
                        bool bytes)
{
    char text[256] = "";
    size_t used = 0;

    for (unsigned k = 0; k < WR_MIN(r->run_count, (unsigned)PASSES); k++)
        used += (size_t)snprintf(
            text + used, sizeof(text) - used, "%s%.0f", k ? " " : "",
            bytes ? r->runs[k].bytes_per_s / 1e6 : r->runs[k].ops_per_s);
    wr_table_cell(t, "%s%s", text, r->run_count > PASSES ? " ..." : "");
}

static void latency_cells(struct wr_table *t, const struct group *g,
                          const struct wr_probe_result *r)
{
    const struct {
        double q;
        bool shown;
    } columns[] = {{0.5, true}, {0.95, g->p95}, {0.99, true}, {0.999, g->p999}};
    struct wr_hist all;

    wr_probe_latency(r, WR_PROBE_ALL_STEPS, &all);
    for (size_t k = 0; k < WR_ARRAY_LEN(columns); k++)
        if (columns[k].shown)
            time_cell(t, (double)wr_hist_quantile(&all, columns[k].q));
}

static void step_cell(struct wr_table *t, const struct wr_probe_result *r,
                      enum wr_probe_step step)
{
    struct wr_hist h;

    wr_probe_latency(r, step, &h);
    if (h.count)
        time_cell(t, (double)wr_hist_quantile(&h, 0.5));
    else
        wr_table_cell(t, "-");
}

/* --- tables --- */

static uint64_t field_of(const struct wr_probe_test *t, enum field f)
{
    switch (f) {
    case OP:
        return t->op;
    case BLOCK:
        return t->block;
    case ACCESS:
        return t->direct;
    case WORKERS:
        return t->workers;
    case DEPTH:
        return t->depth;
    case FIELDS:
        break;
    }
    return 0;
}

static const char *op_text(const struct wr_probe_test *t)
{
    static const char *const names[] = {[WR_PROBE_READ] = "read",
                                        [WR_PROBE_WRITE] = "write",
                                        [WR_PROBE_FILES] = "read",
                                        [WR_PROBE_CREATE] = "create",
                                        [WR_PROBE_SYNC] = "sync"};

    return names[t->op];
}

static void field_text(const struct wr_probe_test *t, enum field f, char *buf,
                       size_t cap)
{
    switch (f) {
    case OP:
        snprintf(buf, cap, "%s", op_text(t));
        break;
    case BLOCK:
        wr_probe_block_text(t->block, buf, cap);
        break;
    case ACCESS:
        snprintf(buf, cap, "%s", t->direct ? "direct" : "buffered");
        break;
    case DEPTH: /* of so many workers each */
        if (t->workers > 1)
            snprintf(buf, cap, "%ux%u", t->workers, t->depth);
        else
            snprintf(buf, cap, "%u", t->depth);
        break;
    case WORKERS:
    case FIELDS:
        snprintf(buf, cap, "%u", t->workers);
        break;
    }
}

static bool is_in(const struct group *g, size_t k)
{
    return wr_probe_plan_group(&g->plan->tests[k]) == g->id;
}

static const struct wr_probe_test *first_of(const struct group *g)
{
    for (size_t k = 0; k < g->plan->test_count; k++)
        if (is_in(g, k))
            return &g->plan->tests[k];
    return NULL;
}

static void choose_columns(struct group *g, const struct wr_probe_test *first)
{
    bool files = g->id == WR_PROBE_GROUP_FILES;

    for (unsigned f = 0; f < FIELDS; f++)
        g->differ[f] = false;
    for (size_t k = 0; k < g->plan->test_count; k++)
        for (unsigned f = 0; f < FIELDS; f++)
            g->differ[f] |= is_in(g, k) && field_of(&g->plan->tests[k], f) !=
                                               field_of(first, f);
    memcpy(g->shown, g->differ, sizeof(g->shown));
    g->shown[DEPTH] = g->id <= WR_PROBE_GROUP_MIX;
    g->shown[WORKERS] = files; /* elsewhere it stands before the depth */
    g->cpu = g->cli->width >= WIDE;
    g->passes = g->cli->width >= WIDER;
    g->iops = g->cpu || g->id != WR_PROBE_GROUP_SEQ;
    g->p95 = !files &&
             (g->cpu || g->id != WR_PROBE_GROUP_RANDOM || !g->shown[ACCESS]);
    g->p999 = g->cpu || !files;
}

/* "Random reads: direct, 1 worker" - what all its tests have alike. */
static void print_title(const struct group *g,
                        const struct wr_probe_test *first)
{
    static const char *const titles[WR_PROBE_GROUPS] = {
        [WR_PROBE_GROUP_SEQ] = "Sequential",
        [WR_PROBE_GROUP_RANDOM] = "Random reads",
        [WR_PROBE_GROUP_MIX] = "Random reads of the sizes of samples",
        [WR_PROBE_GROUP_FILES] = "Small files: open, read or write, close",
        [WR_PROBE_GROUP_SYNC] = "A write of 4 KiB, then a sync",
    };
    const char *between = ": ";
    char text[64];

    fprintf(g->cli->out, "\n%s%s%s", wr_cli_style(g->cli, WR_STYLE_BOLD),
            titles[g->id], wr_cli_style(g->cli, WR_STYLE_END));
    for (unsigned f = 0; f < FIELDS && g->id <= WR_PROBE_GROUP_MIX; f++) {
        if (g->differ[f] || g->shown[f] || f == OP ||
            (f == BLOCK && g->id == WR_PROBE_GROUP_MIX))
            continue;
        field_text(first, f, text, sizeof(text));
        fprintf(g->cli->out, "%s%s%s", between, text,
                f == BLOCK                            ? " requests"
                : f == WORKERS && first->workers == 1 ? " worker"
                : f == WORKERS                        ? " workers"
                                                      : "");
        between = ", ";
    }
    fputc('\n', g->cli->out);
}

/* Rates in bytes, with requests in flight. */
static bool is_range(const struct group *g)
{
    return g->id <= WR_PROBE_GROUP_MIX;
}

/* The first bits are 1 << enum field. */
enum {
    RANGES = 1u << FIELDS,
    FILE_TESTS = RANGES << 1,
    SYNCS = RANGES << 2,
    IOPS = RANGES << 3,
    P95 = RANGES << 4,
    P999 = RANGES << 5,
    CPU = RANGES << 6,
    RANGE_PASSES = RANGES << 7,
    OTHER_PASSES = RANGES << 8,
};

static const struct wr_column columns[] = {
    {"op", "what is done", '<', 1u << OP},
    {"size", "bytes of one request", '<', 1u << BLOCK},
    {"access", "past the page cache (direct) or through it (buffered)", '<',
     1u << ACCESS},
    {"workers", "threads (--threads)", '>', 1u << WORKERS},
    {"depth", "requests in flight; 4x8: 8 for each of 4 threads", '>',
     1u << DEPTH},
    {"files/s", "files per second, median of the passes", '>', FILE_TESTS},
    {"syncs/s", "writes and syncs per second, median of the passes", '>',
     SYNCS},
    {"MB/s", "bytes per second, 10^6, median of the passes", '>', RANGES},
    {"IOPS", "requests per second, median of the passes", '>', IOPS},
    {"+-", "half of the passes are within this of the median", '>', 0},
    {"MB/s", NULL, '>', FILE_TESTS},
    {"p50", "latency: half of all requests (files) take no longer", '>', 0},
    {"p95", "95 % take no longer", '>', P95},
    {"p99", "99 % take no longer", '>', 0},
    {"p99.9", "99.9 % take no longer", '>', P999},
    {"open", "median time to open or create a file", '>', FILE_TESTS},
    {"data", "... to read or write its data", '>', FILE_TESTS},
    {"close", "... to close it", '>', FILE_TESTS},
    {"CPU s/GB", "CPU seconds per 10^9 bytes; on wide terminals", '>', CPU},
    {"MB/s of each pass", "in order; on wide terminals", '<', RANGE_PASSES},
    {"each pass", "the same for files or syncs per second", '<', OTHER_PASSES},
    {NULL, NULL, 0, 0}};

static struct wr_table *new_table(const struct group *g)
{
    unsigned shown = 0;

    for (unsigned f = 0; f < FIELDS; f++)
        shown |= g->shown[f] ? 1u << f : 0;
    shown |= g->id == WR_PROBE_GROUP_FILES ? FILE_TESTS
             : is_range(g)                 ? RANGES
                                           : SYNCS;
    shown |= is_range(g) && g->iops ? IOPS : 0;
    shown |= (g->p95 ? P95 : 0) | (g->p999 ? P999 : 0) | (g->cpu ? CPU : 0);
    if (g->passes)
        shown |= is_range(g) ? RANGE_PASSES : OTHER_PASSES;
    return wr_table_of(columns, shown);
}

static void add_result(struct wr_table *t, const struct group *g,
                       const struct wr_probe_result *r)
{
    bool files = g->id == WR_PROBE_GROUP_FILES;

    if (is_range(g))
        rate_cell(t, r->bytes_per_s);
    if (g->iops)
        count_cell(t, r->ops_per_s);
    spread_cell(t, r);
    if (files)
        rate_cell(t, r->bytes_per_s);
    latency_cells(t, g, r);
    if (files) {
        step_cell(t, r, WR_PROBE_OPEN);
        step_cell(t, r, WR_PROBE_TRANSFER);
        step_cell(t, r, WR_PROBE_CLOSE);
    }
    if (g->cpu)
        wr_table_cell(t, r->cpu_s_per_gb < 1 ? "%.3f" : "%.2f",
                      r->cpu_s_per_gb);
    if (g->passes)
        passes_cell(t, r, is_range(g));
}

static int print_group(struct group *g, weir_err *err)
{
    const struct wr_probe_test *first = first_of(g);
    struct wr_table *t;
    char text[64];
    size_t rows = 0;
    int r = 0;

    if (!first)
        return 0;
    choose_columns(g, first);
    t = new_table(g);
    for (size_t k = 0; k < g->plan->test_count; k++) {
        if (!is_in(g, k) || g->rep->results[k].skipped)
            continue;
        for (unsigned f = 0; f < FIELDS; f++)
            if (g->shown[f]) {
                field_text(&g->plan->tests[k], f, text, sizeof(text));
                wr_table_cell(t, "%s", text);
            }
        add_result(t, g, &g->rep->results[k]);
        rows++;
    }
    if (rows) {
        print_title(g, first);
        r = wr_table_print(t, g->cli, 2, err);
    }
    wr_table_free(t);
    return r;
}

/* What could not be run, a line for each reason. */
static void print_skipped(const struct wr_cli *cli,
                          const struct wr_probe_plan *plan,
                          const struct wr_probe_report *rep)
{
    char name[WR_PROBE_NAME + 32], text[512];
    const char *last = "";

    for (size_t k = 0; k < rep->count; k++) {
        const struct wr_probe_result *r = &rep->results[k];
        size_t more = 0;

        if (!r->skipped || !strcmp(r->reason, last))
            continue;
        last = r->reason;
        for (size_t i = k + 1; i < rep->count; i++)
            more += rep->results[i].skipped &&
                    !strcmp(rep->results[i].reason, last);
        wr_probe_test_name(&plan->tests[k], name, sizeof(name));
        if (more)
            snprintf(name + strlen(name), sizeof(name) - strlen(name),
                     " and %zu more", more);
        snprintf(text, sizeof(text), "%s: %s%s", name, last,
                 rep->cache.direct_works ? ""
                                         : " (--access buffered runs them)");
        fputc('\n', cli->out);
        print_fact(cli, "Not run", text);
    }
}

int wr_probe_print_tables(const struct wr_cli *cli,
                          const struct wr_probe_plan *plan,
                          const struct wr_probe_report *rep, weir_err *err)
{
    struct group g = {.cli = cli, .plan = plan, .rep = rep};
    int r = 0;

    print_fact(cli, "Engine", rep->engine);
    print_cache(cli, plan, rep);
    for (unsigned k = 0; k < WR_PROBE_GROUPS && r == 0; k++) {
        g.id = (enum wr_probe_group)k;
        r = print_group(&g, err);
    }
    print_skipped(cli, plan, rep);
    return r;
}

const struct wr_columns wr_probe_columns[] = {
    {"of the tests", columns},
    {"of Saturation", wr_probe_saturation_columns},
    {NULL, NULL}};
