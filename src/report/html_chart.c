/* html_chart.c - a chart of a page: its legend, its numbers, its data.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "report/doc_private.h"
#include "report/html.h"
#include "report/doc_numbers.h"
#include "report/points.h"

#define X_DIGITS  6
#define Y_DIGITS  4
#define WHOLE_MAX 1e7 /* below it whole numbers are exact */

/* Texts of a document have no control characters and no other ends of lines. */
void wr_html_json_text(FILE *out, const char *s)
{
    char byte[WR_TEXT_ESCAPED];

    fputc('"', out);
    for (; *s; s++)
        fwrite(byte, 1, wr_text_escape(s, 1, /* html= */ true, byte), out);
    fputc('"', out);
}

void wr_html_json_number(FILE *out, double v, int digits)
{
    char text[32], *e;

    if (!isfinite(v)) {
        fputs("null", out);
        return;
    }
    if (v == rint(v) && fabs(v) < WHOLE_MAX) {
        fprintf(out, "%.0f", v == 0 ? 0 : v); /* no -0 */
        return;
    }
    snprintf(text, sizeof(text), "%.*g", digits, v);
    e = strchr(text, 'e');
    if (e) /* 1.2e+05 in fewer letters */
        fprintf(out, "%.*se%d", (int)(e - text), text, atoi(e + 1));
    else
        fputs(text, out);
}

static void put_axis(FILE *out, const char *key, const char *name)
{
    fprintf(out, ",\"%s\":", key);
    wr_html_json_text(out, name);
}

/* y that cannot be drawn is a gap. */
static double drawable(const struct wr_doc_chart *c, double y)
{
    return c->log_y && y <= 0 ? NAN : y;
}

/* One end of the whiskers of a series, when it has any. */
static void put_ends(FILE *out, const struct wr_doc_chart *c,
                     const struct wr_doc_series *s, const char *key,
                     double (*end)(const struct wr_doc_series *, size_t))
{
    if (!s->range_count)
        return;
    fprintf(out, ",\"%s\":[", key);
    for (size_t k = 0; k < c->label_count; k++) {
        if (k)
            fputc(',', out);
        wr_html_json_number(out, drawable(c, end(s, k)), Y_DIGITS);
    }
    fputc(']', out);
}

static void put_role(FILE *out, enum wr_doc_role role)
{
    if (role != WR_DOC_MEASURED)
        fprintf(out, ",\"role\":\"%s\"",
                role == WR_DOC_CEILING ? "ceiling" : "reference");
}

static void put_bands(FILE *out, const struct wr_doc_chart *c)
{
    for (size_t i = 0; i < c->band_count; i++) {
        fputs(i ? ",{\"from\":" : ",\"bands\":[{\"from\":", out);
        wr_html_json_number(out, c->bands[i].from, X_DIGITS);
        fputs(",\"to\":", out);
        wr_html_json_number(out, c->bands[i].to, X_DIGITS);
        put_axis(out, "name", c->bands[i].name);
        fputc('}', out);
    }
    if (c->band_count)
        fputc(']', out);
}

static void put_values(FILE *out, const struct wr_doc_chart *c)
{
    fputs(",\"labels\":[", out);
    for (size_t i = 0; i < c->label_count; i++) {
        if (i)
            fputc(',', out);
        wr_html_json_text(out, c->labels[i]);
    }
    fputs("],\"series\":[", out);
    for (size_t i = 0; i < c->series_count; i++) {
        const struct wr_doc_series *s = c->series[i];

        fputs(i ? ",{\"name\":" : "{\"name\":", out);
        wr_html_json_text(out, s->name);
        fputs(",\"y\":[", out);
        for (size_t k = 0; k < c->label_count; k++) {
            if (k)
                fputc(',', out);
            wr_html_json_number(out, k < s->count ? drawable(c, s->y[k]) : NAN,
                                Y_DIGITS);
        }
        fputc(']', out);
        put_ends(out, c, s, "low", wr_doc_low);
        put_ends(out, c, s, "high", wr_doc_high);
        put_role(out, s->role);
        fputc('}', out);
    }
    fputs("]", out);
}

/* The points of one series that are drawn. */
struct drawn {
    const struct wr_doc_series *s; /* borrowed */
    size_t *index, count;          /* owned */
};

/* Thinning leaves extremes and what is marked. Of a cloud some that are
 * neither are wanted too, or it would look hollow. */
static void keep_some(const struct wr_doc_series *s, size_t cap, bool *keep)
{
    size_t room = cap / 2 > s->marks ? cap / 2 - s->marks : 0;

    for (size_t i = 0; i < room && s->count > cap; i++)
        keep[s->count / room * i + s->count % room * i / room] = true;
}

/* Chooses them: at most `cap`, and none that has no place on x. */
static bool choose(const struct wr_doc_chart *c, const struct wr_doc_series *s,
                   size_t cap, struct drawn *ret)
{
    size_t *index = malloc((s->count + 1) * sizeof(*index)), n = 0;
    bool *keep = malloc(s->count + 1);

    if (!index || !keep) {
        free(index);
        free(keep);
        return false;
    }
    if (s->count) /* else there is no array to copy */
        memcpy(keep, s->marked, s->count * sizeof(*keep));
    if (c->kind == WR_DOC_POINTS)
        keep_some(s, cap, keep);
    wr_thin(s->y, keep, s->count, cap);
    for (size_t i = 0; i < s->count; i++)
        if (keep[i] && isfinite(s->x[i]) && (!c->log_x || s->x[i] > 0))
            index[n++] = i;
    free(keep);
    *ret = (struct drawn){.s = s, .index = index, .count = n};
    return true;
}

static bool same_x(const struct drawn *a, const struct drawn *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->s->x[a->index[i]] != b->s->x[b->index[i]])
            return false;
    return true;
}

static bool is_ascending(const struct drawn *p)
{
    for (size_t i = 1; i < p->count; i++)
        if (!(p->s->x[p->index[i]] > p->s->x[p->index[i - 1]]))
            return false;
    return true;
}

static void put_column(FILE *out, const struct wr_doc_chart *c,
                       const struct drawn *p, bool is_x)
{
    fputs(is_x ? ",\"x\":[" : ",\"y\":[", out);
    for (size_t i = 0; i < p->count; i++) {
        size_t k = p->index[i];

        if (i)
            fputc(',', out);
        if (is_x)
            wr_html_json_number(out, p->s->x[k], X_DIGITS);
        else
            wr_html_json_number(out, drawable(c, p->s->y[k]), Y_DIGITS);
    }
    fputc(']', out);
}

static void put_marked(FILE *out, const struct drawn *p)
{
    const char *before = ",\"marked\":[";

    for (size_t i = 0; i < p->count; i++) {
        if (!p->s->marked[p->index[i]])
            continue;
        fprintf(out, "%s%zu", before, i);
        before = ",";
    }
    if (*before == ',' && before[1] == '\0')
        fputc(']', out);
}

/* False when memory is short. */
static bool put_points(FILE *out, const struct wr_doc_chart *c, size_t cap,
                       size_t *drawn)
{
    struct drawn now = {0}, last = {0};
    bool sorted = true, ok = true;

    fputs(",\"series\":[", out);
    for (size_t i = 0; i < c->series_count; i++) {
        ok = choose(c, c->series[i], cap, &now);
        if (!ok)
            break;
        *drawn += now.count;
        sorted = sorted && is_ascending(&now);
        fputs(i ? ",{\"name\":" : "{\"name\":", out);
        wr_html_json_text(out, now.s->name);
        if (i == 0 || !same_x(&now, &last))
            put_column(out, c, &now, /* is_x= */ true);
        put_column(out, c, &now, /* is_x= */ false);
        put_marked(out, &now);
        put_role(out, now.s->role);
        fputc('}', out);
        free(last.index);
        last = now;
    }
    free(last.index);
    fprintf(out, "],\"sorted\":%s", sorted ? "true" : "false");
    return ok;
}

int wr_html_data(FILE *out, const struct wr_doc_chart *c, size_t cap,
                 size_t *ret_drawn, weir_err *err)
{
    static const char *const kinds[] = {
        [WR_DOC_BARS] = "bars",     [WR_DOC_STACKED] = "stacked",
        [WR_DOC_LINES] = "lines",   [WR_DOC_AREA] = "area",
        [WR_DOC_POINTS] = "points", [WR_DOC_HEAT] = "heat",
    };
    size_t drawn = 0;

    fprintf(out, "{\"kind\":\"%s\"", kinds[c->kind]);
    put_axis(out, "x", c->x);
    put_axis(out, "y", c->y);
    if (c->log_x)
        fputs(",\"logX\":true", out);
    if (c->log_y)
        fputs(",\"logY\":true", out);
    if (c->most > 0)
        fprintf(out, ",\"most\":%.4g", c->most);
    put_bands(out, c);
    if (wr_doc_is_bars(c)) {
        put_values(out, c);
        for (size_t i = 0; i < c->series_count; i++)
            drawn += c->series[i]->count;
    } else if (!put_points(out, c, cap, &drawn)) {
        return wr_fail(err, WEIR_ENOMEM, "no memory for the data of a chart");
    }
    fputs("}", out);
    *ret_drawn = drawn;
    return 0;
}

#define HATCHES     4  /* of page.css */
#define LABEL_LONG  14 /* columns from which bars lie, names at their left */
#define LABELS_LONG 90 /* columns of all labels together, likewise */
#define BARS_WIDE   30 /* bars that take the whole width */
#define POINTS_WIDE 200
#define STACKS_FEW  3
#define SERIES_SAID 4 /* of which the text beside a chart tells the range */

static size_t marks_of(const struct wr_doc_chart *c)
{
    size_t marks = 0;

    for (size_t i = 0; !wr_doc_is_bars(c) && i < c->series_count; i++)
        marks += c->series[i]->marks;
    return marks;
}

static size_t points_of(const struct wr_doc_chart *c)
{
    size_t points = 0;

    for (size_t i = 0; i < c->series_count; i++)
        points += c->series[i]->count;
    return points;
}

/* --- the frame --- */

static bool is_lying(const struct wr_doc_chart *c)
{
    size_t sum = 0, longest = 0;

    for (size_t i = 0; wr_doc_is_bars(c) && i < c->label_count; i++) {
        size_t width = wr_text_width(c->labels[i]);

        sum += width + 2;
        longest = WR_MAX(longest, width);
    }
    if (c->kind == WR_DOC_STACKED && c->label_count < STACKS_FEW)
        return true; /* a lone column looks lost */
    return longest > LABEL_LONG || (sum > LABELS_LONG && longest > 8);
}

static bool is_wide(const struct wr_doc_chart *c)
{
    if (wr_doc_is_bars(c))
        return c->label_count *
                   (c->kind == WR_DOC_STACKED ? 1 : c->series_count) >
               BARS_WIDE;
    if (c->kind ==
        WR_DOC_AREA) /* those that share an axis stand side by side */
        return !(c->most > 0);
    return c->kind == WR_DOC_HEAT || points_of(c) > POINTS_WIDE;
}

/* Bars above each other, in rows of text. */
static size_t rows_of(const struct wr_doc_chart *c)
{
    if (c->log_y) /* dots share a row */
        return c->label_count * 5 / 4 + 1;
    if (c->kind == WR_DOC_STACKED || c->series_count < 2)
        return c->label_count * 3 / 2 + 1;
    return c->label_count * (c->series_count + 1) / 2 + 1;
}

/* What a series looks like; page.js draws it so. Colours are those of measured
 * series, in order. */
static void put_swatch(FILE *out, const struct wr_doc_chart *c, size_t i)
{
    static const char *const points[] = {" dot", "", " diamond"};
    size_t alike = 0; /* of the same role before it */
    const char *form = "";

    for (size_t k = 0; k < i; k++)
        alike += c->series[k]->role == c->series[i]->role;
    if (wr_doc_is_bars(c) && c->series[i]->role == WR_DOC_CEILING)
        fputs("<i class=\"ceiling\"></i>", out);
    else if (wr_doc_is_bars(c) && c->series[i]->role == WR_DOC_REFERENCE)
        fprintf(out, "<i class=\"hatch h%zu\"></i>", alike % HATCHES);
    if (wr_doc_is_bars(c) && c->series[i]->role != WR_DOC_MEASURED)
        return;
    if (c->kind == WR_DOC_POINTS || c->log_y)
        form = points[i % WR_ARRAY_LEN(points)];
    if (!wr_doc_is_bars(c) && c->kind != WR_DOC_POINTS)
        form = " line";
    if (c->series[i]->role == WR_DOC_REFERENCE)
        fprintf(out, "<i class=\"stated%s\"></i>", form);
    else
        fprintf(out, "<i class=\"k%zu%s%s\"></i>", alike % WR_HTML_COLOURS,
                form, alike >= WR_HTML_COLOURS ? " dashed" : "");
}

#define SWITCH "<li><button type=\"button\" aria-pressed=\"true\" data-sets=\""
#define MARK   "<i class=\"mark\"></i>marked"

/* Marked points are sets of their own, those of a line are not. */
static void put_mark(FILE *out, const struct wr_doc_chart *c)
{
    const char *blank = "";

    if (c->kind != WR_DOC_POINTS) {
        fputs("<li>" MARK "</li>\n", out);
        return;
    }
    fputs(SWITCH, out);
    for (size_t i = 0, set = 0; i < c->series_count; i++, set++)
        if (c->series[i]->marks) {
            fprintf(out, "%s%zu", blank, ++set);
            blank = " ";
        }
    fputs("\">" MARK "</button></li>\n", out);
}

/* A part of a stack that is zero everywhere keeps its colour, so that stacks
 * of the same parts look alike, but needs no name. */
static bool is_nothing(const struct wr_doc_chart *c, size_t i)
{
    const struct wr_doc_series *s = c->series[i];

    for (size_t k = 0; k < s->count; k++)
        if (s->y[k] > 0)
            return false;
    return c->kind == WR_DOC_STACKED;
}

/* The sets of a chart are numbered as page.js makes them: a series of POINTS
 * with marked ones is two. A button switches the sets that it names. */
static void put_legend(FILE *out, const struct wr_doc_chart *c)
{
    size_t set = 0, marks = marks_of(c);

    if ((c->series_count < 2 && !marks) || c->kind == WR_DOC_HEAT)
        return;
    fputs("<ul class=\"legend\">\n", out);
    for (size_t i = 0; i < c->series_count; i++, set++) {
        if (is_nothing(c, i))
            continue;
        fprintf(out, SWITCH "%zu", set);
        if (c->kind == WR_DOC_POINTS && c->series[i]->marks)
            fprintf(out, " %zu", ++set);
        fputs("\">", out);
        put_swatch(out, c, i);
        wr_html_text(out, *c->series[i]->name ? c->series[i]->name : c->y);
        fputs("</button></li>\n", out);
    }
    if (marks)
        put_mark(out, c);
    fputs("</ul>\n", out);
}

static void put_range(FILE *out, const struct wr_doc_series *s)
{
    double least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < s->count; i++)
        if (isfinite(s->y[i])) {
            least = fmin(least, s->y[i]);
            most = fmax(most, s->y[i]);
        }
    if (least <= most)
        fprintf(out, " from %.4g to %.4g", least, most);
    fputs(";", out);
}

/* What the picture shows, for those who do not see it. */
static void put_description(FILE *out, const struct wr_doc_chart *c)
{
    static const char *const names[] = {
        [WR_DOC_BARS] = "Bar chart",
        [WR_DOC_STACKED] = "Stacked bar chart",
        [WR_DOC_LINES] = "Line chart",
        [WR_DOC_AREA] = "Area chart",
        [WR_DOC_POINTS] = "Scatter chart",
        [WR_DOC_HEAT] = "Heat map",
    };

    fprintf(out, "%s: ", names[c->kind]);
    wr_html_text(out, c->title);
    fputs(". ", out);
    wr_html_text(out, c->y);
    if (*c->x) {
        fputs(" by ", out);
        wr_html_text(out, c->x);
    }
    fputs(".", out);
    for (size_t i = 0; i < c->series_count && i < SERIES_SAID; i++) {
        fputs(" ", out);
        wr_html_text(out, c->series[i]->name);
        put_range(out, c->series[i]);
    }
    if (c->series_count > SERIES_SAID)
        fprintf(out, " and %zu more;", c->series_count - SERIES_SAID);
    fputs(" the numbers are in the table below.", out);
}

static void fill_numbers(struct wr_doc_section *s, const void *chart)
{
    wr_doc_numbers_table(s, chart);
}

/* The picture and what it is drawn from. */
static int put_plot(FILE *out, const struct wr_doc_chart *c, size_t cap,
                    size_t *ret_drawn, weir_err *err)
{
    int r;

    put_legend(out, c);
    fputs("<div class=\"plot\"", out);
    if (is_lying(c))
        fprintf(out, " data-rows=\"%zu\"", rows_of(c));
    if (c->kind == WR_DOC_HEAT)
        fprintf(out, " data-lanes=\"%zu\"", c->series_count);
    fputs("><canvas role=\"img\" aria-label=\"", out);
    put_description(out, c);
    fputs("\"></canvas></div>\n<script type=\"application/json\">", out);
    r = wr_html_data(out, c, cap, ret_drawn, err);
    fputs("</script>\n", out);
    return r;
}

static int put_figure(FILE *out, const struct wr_doc_chart *c, size_t cap,
                      weir_err *err)
{
    size_t drawn = 0, points = points_of(c);
    char some[32], all[32];
    int r;

    fprintf(out, "<figure class=\"%s%s\"><figcaption><h3>",
            is_wide(c) ? "wide" : "", is_lying(c) ? " lying" : "");
    wr_html_text(out, c->title);
    fputs("</h3></figcaption>\n", out);
    r = put_plot(out, c, cap, &drawn, err);
    fputs("<p class=\"why\">", out);
    wr_html_text(out, c->note);
    if (drawn < points)
        fprintf(out,
                " %s of %s points are drawn, the lowest and the highest "
                "among them; the numbers are of all.",
                wr_format_count(some, sizeof(some), drawn),
                wr_format_count(all, sizeof(all), points));
    fputs("</p>\n", out);
    if (r == 0)
        r = wr_html_numbers(out, fill_numbers, c, err);
    fputs("</figure>\n", out);
    return r;
}

static double most_of(const struct wr_doc_chart *c)
{
    double most = 0;

    for (size_t i = 0; i < c->series_count; i++)
        for (size_t k = 0; k < c->series[i]->count; k++)
            if (isfinite(c->series[i]->y[k]))
                most = fmax(most, c->series[i]->y[k]);
    return most;
}

/* No colour is used twice: more series than colours make more charts, whose
 * axes reach as far. Parts of a stack and rows of a map stay together. */
int wr_html_figure(FILE *out, const struct wr_doc_chart *c, size_t cap,
                   weir_err *err)
{
    bool whole = c->kind == WR_DOC_STACKED || c->kind == WR_DOC_HEAT;
    size_t step = whole ? WR_MAX(c->series_count, (size_t)1)
                        : (size_t)WR_HTML_COLOURS;
    size_t charts = (c->series_count + step - 1) / step;
    struct wr_doc_chart part = *c;
    int r = 0;

    if (charts < 2)
        return put_figure(out, c, cap, err);
    part.most = most_of(c);
    for (size_t i = 0; i < charts && r == 0; i++) {
        part.series = c->series + i * step;
        part.series_count = WR_MIN(step, c->series_count - i * step);
        if (asprintf(&part.title, "%s (%zu of %zu)", c->title, i + 1, charts) <
            0)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        if (!wr_doc_is_empty(&part))
            r = put_figure(out, &part, cap, err);
        free(part.title);
    }
    return r;
}
