/* bench_words.c - what limits a case of weir bench, in words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/bench_words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/named.h"
#include "base/units.h"
#include "record/bench_tables.h"
#include "result/get.h"
#include "record/view_monitor.h"

#define EACH_MAX 3    /* cases that are explained each */
#define NOT_COLD 0.01 /* more in the page cache is not cold */
#define BYTES    4096 /* of all that is said about a case */

/* A sentence more, in a line of its own; what ends with a blank goes on. */
__attribute__((format(printf, 2, 3))) static void say(char *text,
                                                      const char *fmt, ...)
{
    size_t used = strlen(text);
    va_list ap;

    va_start(ap, fmt);
    if (used && used + 1 < BYTES && text[used - 1] != ' ')
        text[used++] = '\n';
    vsnprintf(text + used, BYTES - used, fmt, ap);
    va_end(ap);
}

/* Of the workers' time, in percent, that went to these. */
static double share(const struct wr_bench_values *run, double a, double b)
{
    const struct wr_input_values *t = &run->times;
    double sum = fmax(0, t->storage_wait_s) + fmax(0, t->submit_s) +
                 fmax(0, t->decode_s) + fmax(0, t->resample_s) +
                 fmax(0, t->idle_s);

    return sum > 0 ? 100 * (fmax(0, a) + fmax(0, b)) / sum : 0;
}

static double waited(const struct wr_bench_values *run)
{
    return share(run, run->times.storage_wait_s, run->times.submit_s);
}

static void say_storage(const struct wr_case *row,
                        const struct wr_bench_values *run, char *text)
{
    double of_read = wr_bench_case(row)->result.of_read_limit;
    double of_slot = wr_bench_case(row)->result.of_slot_limit;

    say(text,
        "Storage-bound: the workers waited for data %.0f %% of their time and "
        "worked on it %.0f %%.",
        waited(run), share(run, run->times.decode_s, run->times.resample_s));
    if (of_read > 0 && run->read_limit_per_s > 0)
        say(text,
            "Plain reads of the same ranges (%.0f thread%s) reach %.0f "
            "samples/s: this is %.2f of that.",
            run->read_limit_threads, run->read_limit_threads == 1 ? "" : "s",
            run->read_limit_per_s, of_read);
    if (of_slot > 0 && run->slot_limit_per_s > 0)
        say(text,
            "Plain reads that fill memory of the size of two batches, as this "
            "does, reach %.0f: this is %.2f of that.",
            run->slot_limit_per_s, of_slot);
}

/* Work limits: `what` alone reaches so much, and storage so much more. */
static void say_work(const struct wr_case *row,
                     const struct wr_bench_values *run, const char *what,
                     const char *help, char *text)
{
    double of_decode = wr_bench_case(row)->result.of_decode_limit;
    double threads = run->in_force.threads;
    double could = run->read_limit_per_s / run->samples_per_s;

    if (of_decode > 0 && run->decode_limit_per_s > 0)
        say(text,
            "%s alone, from memory, reaches %.0f samples/s on %.0f thread%s: "
            "this is %.2f of that.",
            what, run->decode_limit_per_s, threads, threads == 1 ? "" : "s",
            of_decode);
    if (could > 1)
        say(text,
            "Storage could deliver %.1f times as much: %s help, faster storage "
            "does not.",
            could, help);
}

static void say_decode(const struct wr_case *row,
                       const struct wr_bench_values *run, char *text)
{
    say(text,
        "Decode-bound: the workers decoded %.0f %% of their time, resized %.0f "
        "%%, and waited for data %.0f %%.",
        share(run, run->times.decode_s, 0),
        share(run, run->times.resample_s, 0), waited(run));
    say_work(row, run, "Decoding",
             "more cores, smaller pictures or decoded tensors", text);
}

static void say_convert(const struct wr_case *row,
                        const struct wr_bench_values *run, char *text)
{
    say(text,
        "Convert-bound: the workers converted or copied tensors %.0f %% of "
        "their time, and waited for data %.0f %%.",
        share(run, run->times.decode_s, run->times.resample_s), waited(run));
    say_work(row, run, "Converting",
             "more cores, a smaller type, or tensors stored in the type and "
             "layout that are asked for",
             text);
}

static void say_consumer(const struct wr_case *row,
                         const struct wr_bench_values *run, char *text)
{
    double wait = run->times.consumer_wait_s;
    double all = wait + run->times.consumer_busy_s;

    (void)row;
    say(text,
        "Consumer-bound: the consumer waited %.1f %% of its time; the pipeline "
        "was ahead and idle %.0f %%.",
        all > 0 ? 100 * wait / all : 0, share(run, run->times.idle_s, 0));
}

static void say_limit(const struct wr_case *row,
                      const struct wr_bench_values *run, char *text)
{
    static const struct {
        const char *verdict;
        void (*say)(const struct wr_case *, const struct wr_bench_values *,
                    char *);
    } limits[] = {{"storage-bound", say_storage},
                  {"decode-bound", say_decode},
                  {"convert-bound", say_convert},
                  {"consumer-bound", say_consumer}};
    int k = wr_named_index(WR_NAMED(limits), run->verdict);

    if (wr_bench_is_starved(row))
        say(text, "Starved; apart from that: ");
    if (k >= 0)
        limits[k].say(row, run, text);
    else
        say(text, "Too few batches to say what limits it.");
}

/* Cold is what was measured, not what was asked for. */
static void say_cold(const struct wr_case *row, char *text)
{
    const struct wr_bench_values *first = wr_bench_case(row)->runs.v;
    double worst = 0;

    if (strcmp(wr_get_text(row->settings, "page_cache"), "cold"))
        return;
    for (size_t i = 0; i < row->list.count; i++)
        worst = fmax(worst, wr_bench_run(row, i)->resident);
    if (isnan(first->resident))
        say(text, "Cold cache: it could not be checked here.");
    else if (worst > NOT_COLD)
        say(text,
            "Not cold: up to %.0f %% of the data were still in the page cache "
            "(in use by another program?).",
            100 * worst);
    else
        say(text,
            "Cold cache: %.1f %% of the data were resident before the runs, at "
            "most. What lies below the kernel (the disk's or the host's cache) "
            "is not dropped.",
            100 * worst);
}

/* What the tiers did, and how fast it is once they are filled. */
static void say_tiers(const struct wr_case *row,
                      const struct wr_bench_values *run, char *text)
{
    const struct wr_tier_values *cache = &run->cache;
    double ram = fmax(0, cache->ram_hits), dir = fmax(0, cache->dir_hits);
    double misses = fmax(0, cache->misses), last = run->last_epoch_per_s;
    char a[32], b[32];

    if (*wr_get_text(row->settings, "cache"))
        say(text,
            "Tiers: %.1f %% of the samples were found (%.0f in memory, %.0f in "
            "folders, %.0f not); they hold %s in memory, %s in folders.",
            100 * (ram + dir) / fmax(1, ram + dir + misses), ram, dir, misses,
            wr_format_bytes(a, sizeof(a), fmax(0, cache->ram_bytes)),
            wr_format_bytes(b, sizeof(b), fmax(0, cache->dir_bytes)));
    if (*run->cache_error)
        say(text, "A tier takes nothing more: %s", run->cache_error);
    if (cache->damaged > 0)
        say(text,
            "%.0f entries of a folder were damaged; their samples were read "
            "from the data set.",
            cache->damaged);
    if (last > 0)
        say(text, "Last epoch: %.0f samples/s.", last);
}

/* All about one case; its sentences are lines. */
static void say_case(const struct wr_cases *c, size_t k, char *text)
{
    const struct wr_case *row = &c->v[k];
    const struct wr_bench_values *run = wr_bench_middle(row);
    double from = run->start_s;
    char machine[WR_VIEW_NAME];

    *text = '\0';
    say_limit(row, run, text);
    if (wr_meanwhile(c->records[row->record].json, from, from + run->seconds,
                     machine, sizeof(machine)))
        say(text, "%s", machine);
    say_cold(row, text);
    say_tiers(row, run, text);
    if (*run->tuning)
        say(text, "Chosen: %s", run->tuning);
}

/* As a note; printed, in a section with a line for each sentence. */
static void add_words(struct wr_scope *v, size_t k)
{
    char text[BYTES], heading[WR_VIEW_NAME], *at = text, *line;
    struct wr_doc_section *s;

    wr_bench_heading(&v->c, k, heading, sizeof(heading));
    say_case(&v->c, k, text);
    if (v->brief) {
        s = wr_doc_section(v->d, heading);
        while ((line = strsep(&at, "\n")))
            if (*line)
                wr_doc_note(s, false, "%s", line);
        return;
    }
    while ((at = strchr(at, '\n')))
        *at = ' ';
    wr_doc_note(v->s, false, "%s: %s", heading, text);
}

void wr_bench_words(struct wr_scope *v)
{
    const struct wr_cases *c = &v->c;
    double most = 0;
    size_t best = 0;

    for (size_t k = 0; k < c->count; k++) {
        double rate = wr_bench_median(&c->v[k])->samples_per_s;

        if (rate > most)
            best = k;
        most = fmax(most, rate);
    }
    for (size_t k = 0; k < c->count; k++)
        if (c->count <= EACH_MAX || k == best || k + 1 == c->count)
            add_words(v, k);
}
