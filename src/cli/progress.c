/* progress.c - one line on the terminal while something takes long.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/screen.h"

#define FIRST_NS  (WR_NS_PER_SEC / 2)  /* nothing is shown before */
#define PERIOD_NS (WR_NS_PER_SEC / 10) /* between two drawings */
#define LINE_MAX  512

static char *format_amount(const struct wr_progress_spec *spec, double amount,
                           char *buf, size_t cap)
{
    if (spec->bytes)
        return wr_format_bytes(buf, cap, amount);
    return wr_format_count(buf, cap, (uint64_t)amount);
}

/* "0:12", "1:02:03". */
static char *format_clock(double seconds, char *buf, size_t cap)
{
    uint64_t s = (uint64_t)(seconds + 0.5);

    if (s >= 3600)
        snprintf(buf, cap, "%" PRIu64 ":%02u:%02u", s / 3600,
                 (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    else
        snprintf(buf, cap, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
    return buf;
}

/* Appends `part` if the line stays within `width`. */
static void append(char *buf, size_t cap, const char *part, size_t width)
{
    size_t used = strlen(buf);

    if (used + strlen(part) + 1 > cap)
        return;
    if (wr_text_width(buf) + wr_text_width(part) <= width)
        strcpy(buf + used, part);
}

void wr_progress_line(const struct wr_progress_spec *spec,
                      const struct wr_progress_view *view, char *buf,
                      size_t cap)
{
    double seconds = (double)view->elapsed_ns / 1e9;
    double rate = seconds > 0 ? (double)view->done / seconds : 0;
    double left = (double)view->total - (double)view->done;
    bool counts = spec->bytes || spec->unit;
    char a[32], b[32], part[128];
    size_t fit;

    wr_text_show(spec->label, /* controls= */ true, buf, cap);
    fit = wr_text_fit(buf, view->width);
    buf[fit] = '\0';
    format_amount(spec, (double)view->done, a, sizeof(a));
    format_amount(spec, (double)view->total, b, sizeof(b));
    if (view->total)
        snprintf(part, sizeof(part), "  %3.0f%%",
                 100.0 * (double)view->done / (double)view->total);
    else
        part[0] = '\0';
    append(buf, cap, part, view->width);
    if (counts) {
        snprintf(part, sizeof(part), "  %s%s%s%s%s", a,
                 view->total ? " of " : "", view->total ? b : "",
                 spec->bytes ? "" : " ", spec->bytes ? "" : spec->unit);
        append(buf, cap, part, view->width);
    }
    if (rate > 0 && view->total && left >= 0) {
        snprintf(part, sizeof(part), "  ETA %s",
                 format_clock(left / rate, a, sizeof(a)));
        append(buf, cap, part, view->width);
    }
    if (!counts)
        return;
    snprintf(part, sizeof(part), "  %s/s",
             format_amount(spec, rate, a, sizeof(a)));
    append(buf, cap, part, view->width);
}

void wr_progress_live(const struct wr_cli *cli, const char *text,
                      bool is_terminal)
{
    fprintf(cli->err, is_terminal ? "\r\033[K%s" : "%s\n", text);
    fflush(cli->err);
}

void wr_progress_start(struct wr_progress *p, const struct wr_cli *cli,
                       const struct wr_progress_spec *spec)
{
    bool wanted = !cli->quiet && isatty(fileno(cli->err));

    p->spec = *spec;
    p->to = wanted ? cli->err : NULL;
    p->start_ns = wr_clock_ns();
    p->shown = false;
    atomic_init(&p->done, 0);
    atomic_init(&p->total, spec->total);
    atomic_init(&p->next_ns, p->start_ns + (spec->at_once ? 0 : FIRST_NS));
    pthread_mutex_init(&p->lock, NULL);
}

static size_t line_width(FILE *to)
{
    unsigned width = wr_screen_width(to);

    return (width ? width : 80) - 1u;
}

static void draw(struct wr_progress *p, uint64_t now_ns)
{
    struct wr_progress_view view = {
        .done = atomic_load_explicit(&p->done, memory_order_relaxed),
        .total = atomic_load_explicit(&p->total, memory_order_relaxed),
        .elapsed_ns = now_ns - p->start_ns,
        .width = line_width(p->to),
    };
    char line[LINE_MAX];

    wr_progress_line(&p->spec, &view, line, sizeof(line));
    fprintf(p->to, "\r%s\033[K", line);
    fflush(p->to);
    p->shown = true;
}

/* Draws when it is time, in the one thread that notices first. */
static void maybe_draw(struct wr_progress *p)
{
    uint64_t now_ns, next_ns;

    if (!p->to)
        return;
    now_ns = wr_clock_ns();
    next_ns = atomic_load_explicit(&p->next_ns, memory_order_relaxed);
    if (now_ns < next_ns || !atomic_compare_exchange_strong(
                                &p->next_ns, &next_ns, now_ns + PERIOD_NS))
        return;
    pthread_mutex_lock(&p->lock);
    draw(p, now_ns);
    pthread_mutex_unlock(&p->lock);
}

void wr_progress_add(struct wr_progress *p, uint64_t n)
{
    atomic_fetch_add_explicit(&p->done, n, memory_order_relaxed);
    maybe_draw(p);
}

void wr_progress_set(struct wr_progress *p, uint64_t done)
{
    atomic_store_explicit(&p->done, done, memory_order_relaxed);
    maybe_draw(p);
}

void wr_progress_total(struct wr_progress *p, uint64_t total)
{
    atomic_store_explicit(&p->total, total, memory_order_relaxed);
}

void wr_progress_callback(void *progress, uint64_t done, uint64_t total)
{
    wr_progress_total(progress, total);
    wr_progress_set(progress, done);
}

void wr_progress_hide(struct wr_progress *p)
{
    pthread_mutex_lock(&p->lock);
    if (p->shown) {
        fputs("\r\033[K", p->to);
        fflush(p->to);
    }
    p->shown = false;
    pthread_mutex_unlock(&p->lock);
}

void wr_progress_end(struct wr_progress *p)
{
    wr_progress_hide(p);
    pthread_mutex_destroy(&p->lock);
    p->to = NULL;
}
