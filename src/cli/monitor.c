/* monitor.c - what the machine did while a command measured.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/monitor.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/record_json.h"

#define PRINT_ROWS 5   /* fewer tell nothing */
#define TOLD_BYTES 1e6 /* a second; less is not worth a word */

void wr_monitor_start(struct wr_monitor *m, const struct wr_cli *cli,
                      const struct wr_monitor_spec *spec)
{
    struct wr_store *st = spec->store;
    struct wr_sampler_config cfg = {.hz = spec->hz};
    char local[PATH_MAX];
    const char **paths;
    weir_err err;

    *m = (struct wr_monitor){.hz = spec->hz, .start_ns = wr_clock_ns()};
    wr_cores_now(&m->from);
    if (spec->hz == 0)
        return;
    paths = calloc(spec->path_count + 1, sizeof(*paths));
    if (paths && st && st->ops->local_path &&
        st->ops->local_path(st, "", local, sizeof(local)))
        paths[cfg.path_count++] = local;
    for (size_t k = 0; paths && k < spec->path_count; k++)
        paths[cfg.path_count++] = spec->paths[k];
    cfg.paths = paths;
    if (wr_sampler_start(&cfg, &m->sampler, &err) < 0)
        wr_cli_note(cli, "the machine is not watched: %s", err.msg);
    else
        m->start_ns = wr_sampler_start_ns(m->sampler);
    free(paths);
}

void wr_monitor_stop(struct wr_monitor *m)
{
    struct wr_cores now;

    wr_sampler_stop(m->sampler);
    wr_cores_now(&now);
    wr_cores_between(&m->from, &now, &m->cores);
    m->starved = wr_cores_is_starved(&m->cores, 0);
}

void wr_monitor_free(struct wr_monitor *m)
{
    wr_sampler_free(m->sampler);
    m->sampler = NULL;
}

double wr_monitor_at(const struct wr_monitor *m, uint64_t clock_ns)
{
    return ((double)clock_ns - (double)m->start_ns) / 1e9;
}

/* --- the record --- */

static json_t *number_json(double x, unsigned decimals)
{
    static const double scales[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
    double scale = scales[decimals];

    if (!isfinite(x))
        return json_null();
    x = round(x * scale);
    /* What has no fraction is shorter without a point. */
    if (fmod(x, scale) == 0 && fabs(x / scale) < 1e15)
        return json_integer((json_int_t)(x / scale));
    return json_real(x / scale);
}

json_t *wr_series_json(const struct wr_series *s, int column, unsigned decimals)
{
    json_t *list = json_array();
    size_t rows = wr_series_rows(s);

    for (size_t i = 0; i < rows; i++)
        if (json_array_append_new(
                list,
                number_json(column < 0 ? s->t[i]
                                       : wr_series_value(s, i, (size_t)column),
                            decimals)) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* Bytes have no fraction; of counts a second one digit is plenty. */
static unsigned decimals_of(const char *name)
{
    return strstr(name, "bytes") ? 0 : strstr(name, "_per_s") ? 1 : 4;
}

static int put_columns(json_t *to, const struct wr_series *s,
                       const char *const *names)
{
    int bad = json_object_set_new(to, "t_s", wr_series_json(s, -1, 3));

    for (size_t c = 0; c < s->columns; c++)
        bad |= json_object_set_new(
            to, names[c], wr_series_json(s, (int)c, decimals_of(names[c])));
    return bad;
}

static json_t *disk_json(const struct wr_sampler_disk *d)
{
    json_t *j = json_pack("{s:s}", "name", d->name);

    if (put_columns(j, &d->series, wr_sampler_disk_column_names)) {
        json_decref(j);
        return NULL;
    }
    return j;
}

static int put_sampler(const struct wr_monitor *m, json_t *record)
{
    const struct wr_series *s = wr_sampler_machine(m->sampler);
    json_t *j, *machine = json_object(), *disks = json_array();
    int bad;

    bad = put_columns(machine, s, wr_sampler_column_names);
    for (size_t k = 0; k < wr_sampler_disk_count(m->sampler); k++)
        bad |= json_array_append_new(disks,
                                     disk_json(wr_sampler_disk(m->sampler, k)));
    j = json_pack("{s:f, s:I, s:f, s:o, s:o}", "hz", m->hz, "merged",
                  (json_int_t)s->merge, "cpu_s", wr_sampler_cpu_s(m->sampler),
                  "machine", machine, "disks", disks);
    return json_object_set_new(record, "monitor", j) || bad ? -1 : 0;
}

int wr_monitor_record(const struct wr_monitor *m, json_t *record)
{
    int bad = 0;

    if (m->cores.known)
        bad = json_object_set_new(record, "cores",
                                  wr_cores_json(&m->cores, m->starved));
    if (m->sampler)
        bad |= put_sampler(m, record);
    return bad ? -1 : 0;
}

/* --- in words --- */

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
