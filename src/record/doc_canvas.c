/* doc_canvas.c - lines of a chart on a terminal: names, numbers, texts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/doc_canvas.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

char *wr_canvas_number(double v, char *buf, size_t cap)
{
    if (!isfinite(v))
        snprintf(buf, cap, "-");
    else
        snprintf(buf, cap, fabs(v) >= 1000 && fabs(v) < 1e9 ? "%.0f" : "%.3g",
                 v);
    return buf;
}

void wr_canvas_name(const struct wr_doc_canvas *cv, const char *s, size_t width)
{
    size_t columns = wr_text_width(s), bytes = strlen(s);

    if (columns > width) {
        bytes = wr_text_fit(s, width - 1);
        fprintf(cv->out, "%.*s%s", (int)bytes, s, cv->utf8 ? "…" : "~");
        return;
    }
    fprintf(cv->out, "%s%*s", s, (int)(width - columns), "");
}

void wr_canvas_text(const struct wr_doc_canvas *cv, const char *s)
{
    fputs("  ", cv->out);
    wr_text_print(
        cv->out, s,
        (struct wr_text_wrap){.at = 2, .indent = 2, .width = cv->width});
}
