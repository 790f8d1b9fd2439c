/* view_say.c - words for numbers in the sentences of a report.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/view_say.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

void wr_say(char *buf, size_t cap, const char *fmt, ...)
{
    size_t used = strlen(buf);
    va_list ap;

    if (used && used + 3 > cap)
        return;
    if (used) {
        memcpy(buf + used, ", ", 3);
        used += 2;
    }
    va_start(ap, fmt);
    vsnprintf(buf + used, cap - used, fmt, ap);
    va_end(ap);
}

const char *wr_say_stop(const char *text)
{
    size_t len = strlen(text);

    return !len || strchr(".!?", text[len - 1]) ? "" : ".";
}

char *wr_say_time(double seconds, char *buf, size_t cap)
{
    double whole = rint(seconds);

    if (!isfinite(seconds) || seconds < 0)
        snprintf(buf, cap, "-");
    else if (seconds < 1)
        snprintf(buf, cap, "%.3g ms", seconds * 1e3);
    else if (seconds < 100)
        snprintf(buf, cap, "%.3g s", seconds);
    else if (whole < 3600)
        snprintf(buf, cap, "%.0f min %.0f s", floor(whole / 60),
                 fmod(whole, 60));
    else
        snprintf(buf, cap, "%.0f h %.0f min", floor(whole / 3600),
                 floor(fmod(whole, 3600) / 60));
    return buf;
}

char *wr_say_number(double v, char *buf, size_t cap)
{
    if (!isfinite(v))
        snprintf(buf, cap, "-");
    else if (fabs(v) >= 1e15)
        snprintf(buf, cap, "%.3g", v);
    else if (v >= 1000)
        return wr_format_count(buf, cap, (uint64_t)rint(v));
    else if (fabs(v) >= 100)
        snprintf(buf, cap, "%.0f", v);
    else
        snprintf(buf, cap, "%.3g", v);
    return buf;
}

void wr_say_time_cell(struct wr_doc_table *t, double seconds)
{
    char buf[32];

    wr_doc_shown(t, seconds, "%s",
                 isfinite(seconds)
                     ? wr_format_ns(buf, sizeof(buf), seconds * 1e9)
                     : "-");
}

void wr_say_rate_cell(struct wr_doc_table *t, double bytes_per_s)
{
    bool known = isfinite(bytes_per_s) && bytes_per_s > 0;
    char buf[32] = "-";

    if (known)
        wr_format_bytes(buf, sizeof(buf), bytes_per_s);
    wr_doc_shown(t, known ? bytes_per_s : NAN, "%s%s", buf, known ? "/s" : "");
}

void wr_say_bytes_cell(struct wr_doc_table *t, double bytes)
{
    char text[32] = "-";

    if (bytes >= 0)
        wr_format_bytes(text, sizeof(text), bytes);
    wr_doc_shown(t, bytes >= 0 ? bytes : NAN, "%s", text);
}
