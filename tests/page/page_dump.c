/* page_dump.c - prints a page with everything that a document can have.
 * SPDX-License-Identifier: Apache-2.0
 *
 * usage: page-dump full | empty | big
 *   full   every kind of chart, table and text, hostile texts among them
 *   empty  a document without a section
 *   big    50 sections, a million points: how large and how fast it is */
#include "report/doc.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

#define XSS                                                                    \
    "</script><script>window.hacked=1</script>"                                \
    "<img src=x onerror=\"window.hacked=2\">&lt;b&gt;<!--"
#define ODD                                                                    \
    "a|b \"q\" 'p' & \xe2\x80\xa8 \xe2\x80\xae"                                \
    "abc \xff\x01 \xf0\x9f\x92\xbe"

static void head(struct wr_doc *d)
{
    struct wr_doc_section *s = wr_doc_section(d, "Overview");
    struct wr_doc_table *t;

    wr_doc_fact(s, "Host", "%s", "node17, Linux 6.1.0, 2 cores");
    wr_doc_fact(s, "File system", "%s", "ext4 on /dev/vda1 (virtio)");
    wr_doc_fact(s, "Data set", "%s",
                "/data/imagenet/train, 1,281,167 samples, 143.9 GB");
    wr_doc_fact(s, "Memory", "%s", "25.3 GB");
    wr_doc_note(s, false, "%s",
                "The difference is inside the noise (p = 0.4).");
    wr_doc_note(s, true, "%s",
                "0.3 of the data were in the page cache before the run.");
    t = wr_doc_table(s, "Cases", "<device|>threads|>images/s|>size|<verdict");
    static const struct {
        const char *device, *size, *verdict;
        unsigned threads;
        double rate;
    } rows[] = {
        {"hdd", "512 B", "storage-bound", 1, 152.4},
        {"hdd", "4 KiB", "storage-bound", 8, 350.1},
        {"lustre", "1.5 MiB", "decode-bound", 8, 12890.6},
        {"optane", "64 KiB", "decode-bound", 2, 1603},
        {"ssd", "-", "unknown", 4, NAN},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        wr_doc_cell(t, "%s", rows[i].device);
        wr_doc_number(t, rows[i].threads, 0);
        wr_doc_number(t, rows[i].rate, 1);
        if (i == 2)
            wr_doc_tone(t, WR_DOC_GOOD);
        if (i == 0)
            wr_doc_tone(t, WR_DOC_BAD);
        wr_doc_cell(t, "%s", rows[i].size);
        wr_doc_cell(t, "%s", rows[i].verdict);
    }
}

static void bars(struct wr_doc_section *s)
{
    static const char *const devices[] = {"hdd", "ssd", "optane", "lustre"};
    struct wr_doc_chart *c = wr_doc_chart(
        s, &(struct wr_doc_chart_spec){.kind = WR_DOC_BARS,
                                       .title = "Bandwidth by threads",
                                       .x = "threads",
                                       .y = "MB/s",
                                       .note = "Medians of five rounds."});

    for (unsigned n = 1; n <= 8; n *= 2)
        wr_doc_label(c, "%u", n);
    for (unsigned i = 0; i < 4; i++) {
        struct wr_doc_series *e = wr_doc_series(c, devices[i]);

        for (unsigned n = 1; n <= 8; n *= 2)
            wr_doc_value(e,
                         i == 1 && n == 4 ? NAN : 163 * (i + 1) * sqrt(n) + i);
    }
}

static void stacked(struct wr_doc_section *s)
{
    static const char *const stages[] = {"storage wait", "decode", "resample",
                                         "idle"};
    struct wr_doc_chart *c = wr_doc_chart(
        s, &(struct wr_doc_chart_spec){
               .kind = WR_DOC_STACKED,
               .title = "Runtime with and without prefetch",
               .x = "",
               .y = "time (s)"});

    wr_doc_label(c, "hdd, without prefetch");
    wr_doc_label(c, "hdd, prefetch 4");
    wr_doc_label(c, "lustre, without prefetch");
    wr_doc_label(c, "lustre, prefetch 4");
    for (unsigned i = 0; i < 4; i++) {
        struct wr_doc_series *e = wr_doc_series(c, stages[i]);

        for (unsigned k = 0; k < 4; k++)
            wr_doc_value(e, (i + 1) * (5 - k) * 1.37);
    }
}

static void lines(struct wr_doc_section *s)
{
    struct wr_doc_chart *c = wr_doc_chart(
        s, &(struct wr_doc_chart_spec){.kind = WR_DOC_LINES,
                                       .title = "Latency by depth, direct",
                                       .x = "queue depth",
                                       .y = "latency (us)",
                                       .log_x = true,
                                       .log_y = true});
    static const char *const names[] = {"p50", "p95", "p99", "p99.9"};

    for (unsigned i = 0; i < 4; i++) {
        struct wr_doc_series *e = wr_doc_series(c, names[i]);

        for (unsigned n = 1; n <= 128; n *= 2) {
            wr_doc_point(e, n, 80.0 * pow(2.2, i) * (1 + n / 12.0));
            if (n == 32)
                wr_doc_mark(e);
        }
    }
    c = wr_doc_chart(
        s, &(struct wr_doc_chart_spec){.kind = WR_DOC_LINES,
                                       .title = "Rate by request size",
                                       .x = "request size (bytes)",
                                       .y = "MB/s",
                                       .log_x = true});
    for (unsigned i = 0; i < 8; i++) {
        char name[] = "series 0";
        struct wr_doc_series *e;

        name[7] = (char)('0' + i);
        e = wr_doc_series(c, name);
        for (unsigned n = 4096; n <= 1 << 20; n *= 4)
            wr_doc_point(e, n, (i + 1) * 1969.0 * n / (n + 90000.0));
    }
}

static void area(struct wr_doc_section *s, struct wr_rng *rng)
{
    struct wr_doc_chart *c = wr_doc_chart(
        s, &(struct wr_doc_chart_spec){.kind = WR_DOC_AREA,
                                       .title = "I/O over time",
                                       .x = "time (s)",
                                       .y = "MB/s"});
    struct wr_doc_series *r = wr_doc_series(c, "read");
    struct wr_doc_series *w = wr_doc_series(c, "written");

    for (unsigned i = 0; i < 600; i++) {
        double noise = wr_rng_unit(rng);

        wr_doc_point(r, i / 10.0,
                     i == 300 ? NAN : 900 + 300 * sin(i / 40.0) + 200 * noise);
        wr_doc_point(w, i / 10.0, i % 100 < 20 ? 400 + 60 * noise : 3);
    }
    for (unsigned i = 0; i < 3; i++)
        wr_doc_band(c, i * 20.0, i * 20.0 + 18, i ? "run" : "warm-up");
}

static void points(struct wr_doc_section *s, struct wr_rng *rng, unsigned n,
                   unsigned series)
{
    struct wr_doc_chart *c = wr_doc_chart(
        s, &(struct wr_doc_chart_spec){
               .kind = WR_DOC_POINTS,
               .title = "Wait for each batch",
               .x = "time (s)",
               .y = "batch wait (ms)",
               .note = "Stalls (longer than ten times the median) are "
                       "marked."});

    for (unsigned k = 0; k < series; k++) {
        struct wr_doc_series *e = wr_doc_series(c, k ? "prefetch 4" : "waits");

        for (unsigned i = 0; i < n; i++) {
            double y = (1 + k) * 2 + 2 * wr_rng_unit(rng);
            bool stall = wr_rng_below(rng, 400) == 0;

            wr_doc_point(e, i * 0.0121, stall ? y * 14 : y);
            if (stall)
                wr_doc_mark(e);
        }
    }
}

/* Lanes over time: every look, a queue of two, names that are hostile. */
static void lanes(struct wr_doc_section *s)
{
    static const char *const looks[WR_DOC_LOOKS] = {
        "reading", "decoding", "computing", "ready", "waiting", XSS};
    static const struct wr_doc_span spans[] = {
        {0, 10, 0, WR_DOC_LOOK_DOTTED, 1},
        {0, 40, 2, WR_DOC_LOOK_HATCHED, 1},
        {10, 40, 0, WR_DOC_LOOK_STRIPED, 1},
        {40, 50, 0, WR_DOC_LOOK_DOTTED, 2},
        {40, 70, 2, WR_DOC_LOOK_SOLID, 1},
        {45, 70, 1, WR_DOC_LOOK_THIN, 2},
        {50, 90, 1, WR_DOC_LOOK_THIN, 3},
        {70, 90, 2, WR_DOC_LOOK_SOLID, 2},
        {90, 99, 3, WR_DOC_LOOK_CROSSED, NAN}};
    struct wr_doc_lanes *l = wr_doc_lanes(
        s, &(struct wr_doc_lanes_spec){.title = "The life of a batch",
                                       .x = "time (ms)",
                                       .thing = "batch",
                                       .note = XSS});

    wr_doc_lane(l, "worker 1");
    wr_doc_lane(l, "queue");
    wr_doc_lane(l, "GPU");
    wr_doc_lane(l, XSS);
    for (unsigned i = 0; i < WR_DOC_LOOKS; i++)
        wr_doc_lanes_look(l, i, looks[i]);
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
        wr_doc_span(l, &spans[i]);
}

/* Names of files may be anything. */
static void hostile(struct wr_doc *d)
{
    struct wr_doc_section *s = wr_doc_section(d, XSS);
    struct wr_doc_chart *c;
    struct wr_doc_table *t;
    struct wr_doc_series *e;
    char longest[301];

    memset(longest, 'w', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    wr_doc_fact(s, XSS, "%s", XSS);
    wr_doc_fact(s, "odd", "%s", ODD);
    wr_doc_fact(s, longest, "%s", longest);
    wr_doc_note(s, true, "%s", XSS);
    wr_doc_note(s, false, "%s", longest);
    t = wr_doc_table(s, XSS, "<" XSS "|>" XSS);
    wr_doc_cell(t, "%s", XSS);
    wr_doc_cell(t, "%s", ODD);
    wr_doc_cell(t, "%s", longest); /* the row ends early */
    wr_doc_table(s, "a table without rows", "<nothing");
    c = wr_doc_chart(s, &(struct wr_doc_chart_spec){.kind = WR_DOC_BARS,
                                                    .title = XSS,
                                                    .x = XSS,
                                                    .y = XSS,
                                                    .note = XSS});
    wr_doc_label(c, "%s", XSS);
    wr_doc_label(c, "%s", ODD);
    e = wr_doc_series(c, XSS);
    wr_doc_value(e, 1e300);
    e = wr_doc_series(c, ODD);
    wr_doc_value(e, -INFINITY);
    wr_doc_value(e, 3.5);
    c = wr_doc_chart(s, &(struct wr_doc_chart_spec){.kind = WR_DOC_LINES,
                                                    .title = ODD,
                                                    .x = ODD,
                                                    .y = ODD,
                                                    .log_x = true,
                                                    .log_y = true});
    e = wr_doc_series(c, XSS);
    wr_doc_point(e, -1, 5);
    wr_doc_point(e, 0, 5);
    wr_doc_point(e, NAN, 5);
    wr_doc_point(e, 1, 0);
    wr_doc_point(e, 10, 1e-9);
    wr_doc_point(e, 100, NAN);
    wr_doc_point(e, 1000, 1e12);
    wr_doc_point(e, 5000, 1e10);
    wr_doc_chart(s, &(struct wr_doc_chart_spec){.kind = WR_DOC_STACKED,
                                                .title = "nothing in it"});
    wr_doc_chart(s, &(struct wr_doc_chart_spec){.kind = WR_DOC_AREA,
                                                .title = "nothing in it"});
}

/* Two figures of a study: here and in a paper, and what is possible. */
static void study(struct wr_doc *d)
{
    static const char *const names[] = {"here", "here, prefetch", "paper",
                                        "paper, prefetch", "compute alone"};
    struct wr_doc_section *s = wr_doc_section(d, "Runtime by device");
    struct wr_doc_chart *c = wr_doc_chart(
        s, &(struct wr_doc_chart_spec){.kind = WR_DOC_BARS,
                                       .title = "Here and in the paper",
                                       .x = "device",
                                       .y = "seconds",
                                       .note = "Medians of five runs."});

    wr_doc_claim(s, "Prefetching hides the device. %s", XSS);
    wr_doc_verdict(s, WR_DOC_GOOD, "holds", "Within %d %% of each other.", 2);
    wr_doc_label(c, "hdd");
    wr_doc_label(c, "ssd");
    wr_doc_label(c, "optane");
    for (unsigned i = 0; i < 5; i++) {
        struct wr_doc_series *e = wr_doc_series(c, names[i]);

        wr_doc_series_is(e, i == 4  ? WR_DOC_CEILING
                            : i > 1 ? WR_DOC_REFERENCE
                                    : WR_DOC_MEASURED);
        for (unsigned k = 0; k < 3; k++) {
            double v = i == 4 ? 210 : 200 - 20.0 * k + 7 * i;

            wr_doc_value_range(e, v, i < 2 ? 0.8 * v : NAN, 1.3 * v);
        }
    }
    c = wr_doc_chart(s, &(struct wr_doc_chart_spec){.kind = WR_DOC_BARS,
                                                    .title = "Stall by way",
                                                    .x = "way",
                                                    .y = "stall (s)",
                                                    .log_y = true});
    wr_doc_label(c, "synchronous");
    wr_doc_label(c, "background");
    for (unsigned i = 0; i < 2; i++) {
        struct wr_doc_series *e = wr_doc_series(c, i ? "fast tier" : "stall");

        wr_doc_value_range(e, 4 + i, 3, 6);
        wr_doc_value(e, 0.02 + i);
    }
    s = wr_doc_section(d, "A figure that cannot be judged");
    wr_doc_claim(s, "Four threads are twice as fast as one.");
    wr_doc_verdict(s, WR_DOC_PLAIN, "cannot be seen here", "Two cores. %s",
                   XSS);
    s = wr_doc_section(d, "A figure that differs");
    wr_doc_verdict(s, WR_DOC_BAD, "does not hold", "It is the other way.");
}

static void full(struct wr_doc *d)
{
    struct wr_doc_section *s;
    struct wr_rng rng = {.seed = 7};

    wr_doc_summary(d, "Two of four figures hold. %s", XSS);
    wr_doc_summary(d, "Prefetching hides the device.");
    wr_doc_headline(d, "fastest", "%s", "12,890 images/s");
    wr_doc_headline(d, XSS, "%s", "3 %");
    wr_doc_headline(d, "faster by prefetching", "%s", "1.4 times");
    head(d);
    s = wr_doc_section(d, "Devices");
    bars(s);
    stacked(s);
    lines(s);
    s = wr_doc_section(d, "Over time");
    area(s, &rng);
    points(s, &rng, 20000, 1);
    points(s, &rng, 900, 2);
    lanes(s);
    study(d);
    hostile(d);
}

static void big(struct wr_doc *d)
{
    struct wr_rng rng = {.seed = 7};

    for (unsigned i = 0; i < 50; i++) {
        struct wr_doc_section *s = wr_doc_section(d, "Record");

        wr_doc_fact(s, "Host", "node%u", i);
        bars(s);
        stacked(s);
        lines(s);
        area(s, &rng);
        area(s, &rng);
        points(s, &rng, 20000, 1);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "full";
    struct wr_doc *d = wr_doc_new("weir report", "12 records of 3 hosts, "
                                                 "2026-11-16");
    weir_err err;
    int r;

    if (strcmp(what, "full") == 0)
        full(d);
    else if (strcmp(what, "big") == 0)
        big(d);
    r = wr_doc_print_html(d, stdout, &err);
    wr_doc_free(d);
    if (r == WEIR_ENOTSUP)
        return 77;
    if (r < 0)
        fprintf(stderr, "page-dump: %s\n", err.msg);
    return r < 0 || fflush(stdout) != 0;
}
