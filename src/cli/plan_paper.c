/* plan_paper.c - weir plan --paper: the paper's results from its own numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/plan_paper.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "cli/table.h"
#include "plan/paper.h"

static const char *const devices[] = {"hdd", "ssd", "optane", "lustre"};
static const uint32_t threads[] = {1, 2, 4, 8};

static void put(struct wr_table *t, const char *what, const char *paper,
                double simulated)
{
    wr_table_cell(t, "%s", what);
    wr_table_cell(t, "%s", paper);
    wr_table_cell(t, "%.2fx", simulated);
}

/* What so many threads gain. */
static double gain(const char *device, uint32_t n, weir_err *err)
{
    return wr_paper_read_rate(device, n, err) /
           wr_paper_read_rate(device, 1, err);
}

/* Seconds of a save to the disk over those through the burst buffer. */
static double burst_gain(double saver_s, weir_err *err)
{
    struct wr_paper_saves disk, burst;

    if (wr_paper_saving("hdd", saver_s, &disk, err) < 0 ||
        wr_paper_saving("burst", saver_s, &burst, err) < 0)
        return NAN;
    return disk.stall_s / burst.stall_s;
}

static int print_gains(const struct wr_cli *cli, weir_err *err)
{
    struct wr_table *t = wr_table_new("<what is gained|>paper|>simulated");
    char saver[80];
    int r;

    snprintf(saver, sizeof(saver),
             "the same, TensorFlow's saver taking %.2f s (solved for)",
             WR_PAPER_SAVER_S);
    put(t, "reading by 2 threads, hdd", "1.65x", gain("hdd", 2, err));
    put(t, "by 4 threads", "1.95x", gain("hdd", 4, err));
    put(t, "by 8 threads", "2.30x", gain("hdd", 8, err));
    put(t, "by 8 threads, lustre", "7.80x", gain("lustre", 8, err));
    put(t, "saving through a burst buffer: bandwidths alone", "2.60x",
        burst_gain(0, err));
    put(t, saver, "2.60x", burst_gain(WR_PAPER_SAVER_S, err));
    r = wr_table_print(t, cli, 0, err);
    wr_table_free(t);
    return r;
}

/* Fig. 6: with prefetch all bars are the same. */
static int print_runs(const struct wr_cli *cli, weir_err *err)
{
    struct wr_table *t = wr_table_new(
        "<device|>threads|>with prefetch|>without|>cost of I/O");
    int r;

    for (unsigned d = 0; d < WR_ARRAY_LEN(devices); d++)
        for (unsigned k = 0; k < WR_ARRAY_LEN(threads); k++) {
            double with = wr_paper_run(devices[d], threads[k], 1, err);
            double without = wr_paper_run(devices[d], threads[k], 0, err);

            wr_table_cell(t, "%s", k ? "" : devices[d]);
            wr_table_cell(t, "%" PRIu32, threads[k]);
            wr_table_cell(t, "%.1f s", with);
            wr_table_cell(t, "%.1f s", without);
            wr_table_cell(t, "%.1f s", without - with);
        }
    r = wr_table_print(t, cli, 0, err);
    wr_table_free(t);
    return r;
}

/* Fig. 9. */
static int print_saves(const struct wr_cli *cli, weir_err *err)
{
    static const char *const to[] = {"hdd", "ssd", "optane", "lustre", "burst"};
    struct wr_table *t = wr_table_new("<saves to|>a save|>the whole run");
    struct wr_paper_saves s;
    int r = 0;

    for (unsigned k = 0; r == 0 && k < WR_ARRAY_LEN(to); k++) {
        r = wr_paper_saving(to[k], WR_PAPER_SAVER_S, &s, err);
        wr_table_cell(t, "%s",
                      k == 4 ? "burst buffer: optane, then hdd" : to[k]);
        wr_table_cell(t, "%.2f s", s.stall_s);
        wr_table_cell(t, "%.1f s", s.run_s);
    }
    if (r == 0)
        r = wr_table_print(t, cli, 0, err);
    wr_table_free(t);
    return r;
}

int wr_plan_print_paper(const struct wr_cli *cli, weir_err *err)
{
    int r;

    wr_cli_put(
        cli, "Chien et al. 2018, simulated from Table I's devices and a K4000 "
             "of 1.5 s per batch of 64\n\n");
    r = print_gains(cli, err);
    wr_cli_put(
        cli,
        "\nFig. 6: 142 iterations on Caltech 101. Paper: with prefetch the "
        "time is the same\nfor all threads and devices; without, I/O comes "
        "on top, most on the disk.\n\n");
    if (r == 0)
        r = print_runs(cli, err);
    wr_cli_put(
        cli,
        "\nFig. 9: 100 iterations, a checkpoint of 600 MB every 20. Paper: "
        "Optane is the\nfastest, then SSD; the burst buffer is about as "
        "fast as Optane alone.\n\n");
    if (r == 0)
        r = print_saves(cli, err);
    return r;
}
