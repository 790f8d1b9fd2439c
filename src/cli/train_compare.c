/* train_compare.c - what `weir train --compare` says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/train_compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/units.h"
#include "cli/chart.h"

#define SEEN  0.005 /* a cost below that is none */
#define NOISE 0.1   /* rounds that differ by more tell nothing */

/* "1,310", "41.7", "0.043": three digits, or all whole ones. */
static char *rate_text(double rate, char *buf, size_t cap)
{
    if (rate >= 100)
        return wr_format_count(buf, cap, (uint64_t)(rate + 0.5));
    snprintf(buf, cap, "%.3g", rate);
    return buf;
}

static void print_bars(const struct wr_cli *cli,
                       const struct wr_train_compared *c)
{
    struct wr_chart_bar bars[WR_TRAIN_WAYS];
    char notes[WR_TRAIN_WAYS][128], a[32], b[32], d[32];

    for (int w = 0; w < WR_TRAIN_WAYS; w++) {
        const struct wr_train_spread *s = &c->rate[w];

        snprintf(notes[w], sizeof(notes[w]), "%s images/s (%s to %s)",
                 rate_text(s->median, a, sizeof(a)),
                 rate_text(s->min, b, sizeof(b)),
                 rate_text(s->max, d, sizeof(d)));
        bars[w] = (struct wr_chart_bar){
            .label = wr_train_way_name((enum wr_train_way)w),
            .value = s->median,
            .note = notes[w]};
    }
    wr_chart_bars(cli, bars, WR_TRAIN_WAYS, 2);
}

/* A cost that is smaller than what the rounds differ by cannot be told from
 * none. */
static bool is_seen(const struct wr_train_spread *cost)
{
    return cost->median >= SEEN && (cost->min > 0 || cost->max == cost->min);
}

static void print_cost(const struct wr_cli *cli,
                       const struct wr_train_compared *c)
{
    char full[32], synthetic[32], input[32];

    if (is_seen(&c->cost))
        fprintf(cli->out,
                "The input pipeline costs %.1f %% of the training time (",
                100 * c->cost.median);
    else if (fabs(c->cost.median) < NOISE && c->cost.median < SEEN &&
             c->cost.max - c->cost.min < NOISE)
        fprintf(cli->out,
                "The input pipeline costs nothing that can be seen here (");
    else
        fprintf(cli->out, "What the input pipeline costs cannot be told, the "
                          "times differ too much (");
    if (c->rounds > 1)
        fprintf(cli->out, "%.1f to %.1f %% in %u rounds", 100 * c->cost.min,
                100 * c->cost.max, c->rounds);
    else
        fprintf(cli->out, "%.1f %% in one round", 100 * c->cost.median);
    fprintf(
        cli->out,
        " of %" PRIu64 " iteration%s): %s images/s with it, %s without; "
        "alone it delivers %s images/s.\n",
        c->iterations, c->iterations == 1 ? "" : "s",
        rate_text(c->rate[WR_TRAIN_WAY_FULL].median, full, sizeof(full)),
        rate_text(c->rate[WR_TRAIN_WAY_SYNTHETIC].median, synthetic,
                  sizeof(synthetic)),
        rate_text(c->rate[WR_TRAIN_WAY_INPUT].median, input, sizeof(input)));
}

/* Why, where the numbers tell. */
static void print_reason(const struct wr_cli *cli,
                         const struct wr_train_plan *plan,
                         const struct wr_train_compared *c)
{
    double input = c->rate[WR_TRAIN_WAY_INPUT].median;
    double synthetic = c->rate[WR_TRAIN_WAY_SYNTHETIC].median;

    if (!is_seen(&c->cost))
        return;
    if (input < synthetic)
        fprintf(cli->out, "Alone it delivers less than computing takes: 'weir "
                          "bench' says what limits it.\n");
    else if (!plan->feed.prefetch)
        fprintf(cli->out, "It is fast enough, but nothing is prefetched: "
                          "--prefetch 1.\n");
    else if (plan->accelerator.kind == WR_ACCELERATOR_CPU)
        fprintf(cli->out, "It is fast enough alone: what it costs is the cores "
                          "that it shares with computing.\n");
    else
        fprintf(cli->out, "It is fast enough on average, but batches come too "
                          "late now and then: a larger --prefetch may help.\n");
}

void wr_train_print_compared(const struct wr_cli *cli,
                             const struct wr_train_plan *plan,
                             const struct wr_train_compared *c)
{
    print_bars(cli, c);
    fputc('\n', cli->out);
    print_cost(cli, c);
    print_reason(cli, plan, c);
}

static json_t *rate_json(const struct wr_train_spread *s, unsigned runs)
{
    return json_pack("{s:f, s:f, s:f, s:i}", "images_per_s", s->median, "min",
                     s->min, "max", s->max, "runs", (int)runs);
}

json_t *wr_train_compared_json(const struct wr_train_compared *c)
{
    return json_pack(
        "{s:i, s:i, s:I, s:{s:f, s:f, s:f}, s:o, s:o, s:o}", "rounds",
        (int)c->rounds, "warm_up_runs", 1, "iterations",
        (json_int_t)c->iterations, "cost", "median", c->cost.median, "min",
        c->cost.min, "max", c->cost.max, "input",
        rate_json(&c->rate[WR_TRAIN_WAY_INPUT], c->rounds), "synthetic",
        rate_json(&c->rate[WR_TRAIN_WAY_SYNTHETIC], c->rounds), "full",
        rate_json(&c->rate[WR_TRAIN_WAY_FULL], c->rounds));
}
