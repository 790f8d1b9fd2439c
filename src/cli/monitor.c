/* monitor.c - what the machine did while a command measured, in words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/monitor.h"

#include <math.h>
#include <unistd.h>

#include "base/units.h"

#define PRINT_ROWS 5   /* fewer tell nothing */
#define TOLD_BYTES 1e6 /* a second; less is not worth a word */

void wr_monitor_watch(struct wr_monitor *m, const struct wr_cli *cli,
                      const struct wr_monitor_spec *spec)
{
    weir_err err;

    if (wr_monitor_start(m, spec, &err) < 0)
        wr_cli_note(cli, "the machine is not watched: %s", err.msg);
}

/* Rows first <= i < end of a span of time. */
struct span {
    size_t first, end;
};

static struct span span_of(const struct wr_series *s, double from_s,
                           double to_s)
{
    struct span span = {0, wr_series_rows(s)};

    while (span.first < span.end && s->t[span.first] <= from_s)
        span.first++;
    while (span.end > span.first && s->t[span.end - 1] > to_s)
        span.end--;
    return span;
}

static double mean_of(const struct wr_series *s, struct span span,
                      size_t column)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = span.first; i < span.end; i++) {
        double x = wr_series_value(s, i, column);

        if (!isnan(x)) {
            sum += x;
            n++;
        }
    }
    return n ? sum / (double)n : NAN;
}

static void print_disk(FILE *out, const struct wr_sampler_disk *d,
                       struct span span)
{
    double read = mean_of(&d->series, span, WR_DISK_READ_BYTES);
    double write = mean_of(&d->series, span, WR_DISK_WRITE_BYTES);

    if (!(read >= TOLD_BYTES || write >= TOLD_BYTES))
        return;
    fprintf(out, "disk %s", d->name);
    if (read >= TOLD_BYTES)
        fprintf(out, " read %.*f MB/s,", read < 1e7, read / 1e6);
    if (write >= TOLD_BYTES)
        fprintf(out, " wrote %.*f MB/s,", write < 1e7, write / 1e6);
    fprintf(out, " %.0f %% busy; ",
            mean_of(&d->series, span, WR_DISK_BUSY) * 100);
}

void wr_monitor_print_starved(const struct wr_monitor *m,
                              const struct wr_cli *cli)
{
    char text[160];

    if (m->starved)
        fprintf(cli->out,
                "\n%sStarved%s: %s.\nThe figures may be too low: measure again "
                "on an idle machine.\n\n",
                wr_cli_style(cli, WR_STYLE_WARN),
                wr_cli_style(cli, WR_STYLE_END),
                wr_cores_text(&m->cores, text, sizeof(text)));
}

void wr_monitor_print(const struct wr_monitor *m, const struct wr_cli *cli,
                      double from_s, double to_s)
{
    const struct wr_series *s;
    struct span span;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double busy, grown;
    char bytes[32];

    if (!m->sampler)
        return;
    s = wr_sampler_machine(m->sampler);
    span = span_of(s, from_s, to_s);
    if (span.end - span.first < PRINT_ROWS)
        return;
    busy = mean_of(s, span, WR_SAMPLE_CPU_MACHINE);
    grown = wr_series_value(s, span.end - 1, WR_SAMPLE_PAGE_CACHE) -
            wr_series_value(s, span.first, WR_SAMPLE_PAGE_CACHE);
    if (isnan(busy))
        return;
    fprintf(cli->out, "Meanwhile: ");
    for (size_t k = 0; k < wr_sampler_disk_count(m->sampler); k++)
        print_disk(cli->out, wr_sampler_disk(m->sampler, k), span);
    fprintf(cli->out, "%.1f of %ld cores busy, %.1f of them by this program",
            busy, cores, mean_of(s, span, WR_SAMPLE_CPU_PROCESS));
    if (fabs(grown) >= 1e7)
        fprintf(cli->out, "; page cache %c%s", grown < 0 ? '-' : '+',
                wr_format_bytes(bytes, sizeof(bytes), fabs(grown)));
    fprintf(cli->out, ".\n");
}
