/* doc_html_data.c - the data of a chart as JSON inside a page.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Numbers have as many digits as a screen can show. A series whose x are those
 * of the series before has none of its own. */
#include "record/doc_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "record/doc_base.h"
#include "record/thin.h"

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
