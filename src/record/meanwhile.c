/* meanwhile.c - what the machine did while something ran, in one sentence.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/meanwhile.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "result/get.h"

#define ROWS_MIN   5   /* fewer tell nothing */
#define TOLD_BYTES 1e6 /* a second; less is not worth a word */

/* Rows first <= i < end of a span of time. */
struct row_span {
    size_t first, end;
};

static struct row_span span_of(const json_t *table, double from_s, double to_s)
{
    const json_t *t = wr_get_list(table, "t_s");
    struct row_span span = {0, json_array_size(t)};

    while (span.first < span.end && !(wr_get_at(t, span.first) > from_s))
        span.first++;
    while (span.end > span.first && !(wr_get_at(t, span.end - 1) <= to_s))
        span.end--;
    return span;
}

static double mean_of(const json_t *table, const char *key,
                      struct row_span span)
{
    const json_t *list = wr_get_list(table, key);
    double sum = 0;
    size_t n = 0;

    for (size_t i = span.first; i < span.end; i++) {
        double x = wr_get_at(list, i);

        if (!isnan(x)) {
            sum += x;
            n++;
        }
    }
    return n ? sum / (double)n : NAN;
}

__attribute__((format(printf, 3, 4))) static void append(char *buf, size_t cap,
                                                         const char *fmt, ...)
{
    size_t used = strlen(buf);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(buf + used, cap - used, fmt, ap);
    va_end(ap);
}

static void say_disk(const json_t *disk, struct row_span span, char *buf,
                     size_t cap)
{
    double read = mean_of(disk, "read_bytes_per_s", span);
    double write = mean_of(disk, "write_bytes_per_s", span);

    if (!(read >= TOLD_BYTES || write >= TOLD_BYTES))
        return;
    append(buf, cap, "disk %s", wr_get_text(disk, "name"));
    if (read >= TOLD_BYTES)
        append(buf, cap, " read %.*f MB/s,", read < 1e7, read / 1e6);
    if (write >= TOLD_BYTES)
        append(buf, cap, " wrote %.*f MB/s,", write < 1e7, write / 1e6);
    append(buf, cap, " %.0f %% busy; ", 100 * mean_of(disk, "busy", span));
}

bool wr_meanwhile(const json_t *record, double from_s, double to_s, char *buf,
                  size_t cap)
{
    const json_t *m = wr_get_object(record, "monitor.machine");
    const json_t *disks = wr_get_list(record, "monitor.disks");
    const json_t *pages = wr_get_list(m, "page_cache_bytes");
    struct row_span span = span_of(m, from_s, to_s);
    double busy = mean_of(m, "cpu_machine_cores", span), grown;
    char bytes[32];

    *buf = '\0';
    if (span.end - span.first < ROWS_MIN || isnan(busy))
        return false;
    append(buf, cap, "Meanwhile: ");
    for (size_t k = 0; k < json_array_size(disks); k++)
        say_disk(json_array_get(disks, k), span, buf, cap);
    append(buf, cap, "%.1f of %.0f cores busy, %.1f of them by this program",
           busy, fmax(0, wr_get_number(record, "host.cores")),
           mean_of(m, "cpu_process_cores", span));
    grown = wr_get_at(pages, span.end - 1) - wr_get_at(pages, span.first);
    if (fabs(grown) >= 1e7)
        append(buf, cap, "; page cache %c%s", grown < 0 ? '-' : '+',
               wr_format_bytes(bytes, sizeof(bytes), fabs(grown)));
    append(buf, cap, ".");
    return true;
}
