/* run_words.c - a run of a workload in sentences: fed or not, and why.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/run_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "result/get.h"
#include "record/meanwhile.h"
#include "record/view.h"
#include "record/view_say.h"

#define CACHED      0.1    /* of the bytes from the page cache: a warning */
#define MEMORY_RULE 5.0    /* times its memory: a data set that cannot stay */
#define SEEN        0.0005 /* a share below is not told */
#define NOMINAL     0.05   /* bytes that differ by more from nominal ones */

static double result(const json_t *record, const char *key)
{
    return wr_get_number(wr_get_object(record, "result"), key);
}

char *wr_run_who(const json_t *j, char *buf, size_t cap)
{
    double n = wr_get_number(j, "config.accelerators");
    const char *workload = wr_get_text(j, "config.workload");
    char count[32] = "the";

    if (n >= 0)
        wr_say_number(n, count, sizeof(count));
    snprintf(buf, cap, "%s accelerator%s%s%s", count, n == 1 ? "" : "s",
             *workload ? " of " : "", workload);
    return buf;
}

bool wr_run_meets(const json_t *j)
{
    const json_t *meets = wr_get(j, "result.meets");

    if (json_is_boolean(meets))
        return json_is_true(meets);
    return result(j, "au") >= wr_get_number(j, "config.au_target");
}

/* --- what makes the rest doubtful --- */

static void warn_of_machine(struct wr_doc_section *s, const json_t *j)
{
    const json_t *test = wr_get_object(j, "selftest");
    double au = wr_get_number(test, "au");
    double us = wr_get_number(test, "overhead_us");
    char au_text[64] = "", us_text[64] = "", time[32];

    if (!json_is_false(wr_get(test, "ok")))
        return;
    if (au >= 0)
        snprintf(au_text, sizeof(au_text), "without any reading AU is %.1f %%",
                 100 * au);
    if (us >= 0)
        snprintf(us_text, sizeof(us_text), "a step takes %s too long",
                 wr_say_time(us / 1e6, time, sizeof(time)));
    wr_doc_note(s, true,
                "This machine is too slow to emulate it: %s%s%s. What follows "
                "is about the machine, not about the storage: run fewer "
                "accelerators here, or more ranks.",
                *au_text || *us_text ? au_text : "the self-test failed",
                *au_text && *us_text ? ", " : "", us_text);
}

/* Why so much came from there, if sizes tell. */
static void cache_reason(const json_t *j, char *buf, size_t cap)
{
    double found = wr_get_number(j, "dataset.bytes"); /* what is there */
    double data = found > 0 ? found : wr_get_number(j, "demand.dataset_bytes");
    double memory = wr_get_number(j, "host.memory_bytes");
    char a[32], b[32];

    *buf = '\0';
    if (data > 0 && memory > 0 && data < MEMORY_RULE * memory)
        snprintf(buf, cap,
                 ": the data set (%s) is smaller than 5 x memory (%s)",
                 wr_format_bytes(a, sizeof(a), data),
                 wr_format_bytes(b, sizeof(b), memory));
}

static void warn_of_cache(struct wr_doc_section *s, const json_t *j)
{
    double resident = result(j, "resident");
    char reason[WR_VIEW_NAME];

    if (!(resident >= CACHED) || wr_view_is_emulated(j))
        return; /* an emulated device takes its time from there, too */
    cache_reason(j, reason, sizeof(reason));
    wr_doc_note(s, true,
                "%.0f %% of the bytes may have come from the page cache%s.",
                100 * fmin(resident, 1), reason);
}

void wr_run_warnings(struct wr_scope *v)
{
    struct wr_doc_section *s = v->s;
    const json_t *j = v->r->json;
    warn_of_machine(s, j);
    warn_of_cache(s, j);
    if (wr_get_true(j, "config.no_io"))
        wr_doc_note(s, true,
                    "Nothing was read (--no-io): this is the "
                    "emulation alone.");
}

/* --- the answer --- */

static const char *search_limit(const json_t *j)
{
    static const char *const limits[][2] = {
        {"storage", "; for more the storage is too slow"},
        {"cpu", "; for more this machine has too few cores"},
        {"data", "; for more the data set is too small"},
        {"asked", "; more were not tried"}};

    for (size_t i = 0; i < WR_ARRAY_LEN(limits); i++)
        if (!strcmp(wr_get_text(j, "search.limit"), limits[i][0]))
            return limits[i][1];
    return "";
}

static char *search_answer(const json_t *j, char *buf, size_t cap)
{
    double most = wr_get_number(j, "search.most");
    double target = 100 * wr_get_number(j, "search.target");
    char count[32];

    if (!(most >= 0))
        snprintf(buf, cap, "%s", "");
    else if (most < 1)
        snprintf(buf, cap,
                 "Not even one accelerator of this kind can be fed (AU >= "
                 "%.4g %%).",
                 target);
    else
        snprintf(buf, cap,
                 "%s accelerator%s of this kind can be fed (AU >= %.4g %%)%s.",
                 wr_say_number(most, count, sizeof(count)),
                 most == 1 ? "" : "s", target, search_limit(j));
    return buf;
}

char *wr_run_answer(const json_t *j, char *buf, size_t cap)
{
    double au = 100 * result(j, "au");
    double target = 100 * wr_get_number(j, "config.au_target");
    bool meets = wr_run_meets(j);
    char who[WR_VIEW_NAME];

    if (wr_get_object(j, "search"))
        return search_answer(j, buf, cap);
    wr_run_who(j, who, sizeof(who));
    *buf = '\0';
    if (!isfinite(au))
        return buf;
    if (wr_get_true(j, "config.no_io"))
        snprintf(buf, cap, "AU %.1f %% of %s without any I/O.", au, who);
    else if (!(target > 0))
        snprintf(buf, cap, "AU %.1f %% of %s; no target is set.", au, who);
    else if (!meets && json_is_false(wr_get(j, "selftest.ok")))
        snprintf(buf, cap,
                 "AU %.1f %%, target %.4g %%: this machine is too slow to tell "
                 "whether the storage feeds %s.",
                 au, target, who);
    else
        snprintf(buf, cap,
                 "AU %.1f %%, target %.4g %%: %s, this storage %s %s.", au,
                 target, meets ? "yes" : "no",
                 meets ? "feeds" : "does not feed", who);
    return buf;
}

/* The rank that all others wait for waits least itself; -1: not known. */
static double slowest_rank(const json_t *j)
{
    const json_t *ranks = wr_get_list(j, "ranks");
    double least = INFINITY, slowest = -1;

    for (size_t i = 0; i < json_array_size(ranks); i++) {
        const json_t *o = json_array_get(ranks, i);
        double waited = wr_get_number(o, "barrier_s");

        if (!(waited < least))
            continue;
        least = waited;
        slowest = wr_get_number(o, "rank");
    }
    return json_array_size(ranks) > 1 ? slowest : -1;
}

/* Whether the input was short of cores, not of bytes. */
static bool is_decoding(const json_t *j)
{
    const char *verdict = wr_get_text(j, "input.verdict");

    return verdict && (!strcmp(verdict, "decode-bound") ||
                       !strcmp(verdict, "convert-bound"));
}

/* What stands in parentheses behind a part of the time. */
static void part_detail(const json_t *j, const char *key, char *buf, size_t cap)
{
    double p99 = wr_get_number(j, "reads.p99_us") / 1e6;
    double rank = slowest_rank(j);
    char text[32];

    *buf = '\0';
    if (!strcmp(key, "read") && is_decoding(j))
        snprintf(buf, cap, " (decoding: the cores, not the storage)");
    else if (!strcmp(key, "read") && p99 > 0)
        snprintf(buf, cap, " (p99 of a read %s)",
                 wr_say_time(p99, text, sizeof(text)));
    if (!strcmp(key, "barrier") && rank >= 0)
        snprintf(buf, cap, " (rank %.0f)", rank);
}

char *wr_run_loss(const json_t *j, char *buf, size_t cap)
{
    static const struct {
        const char *key, *name;
    } parts[] = {{"compute", "computing"},
                 {"read", "waiting for input"},
                 {"barrier", "waiting for the slowest accelerator"},
                 {"save", "saving checkpoints"},
                 {"eval", "evaluating"},
                 {"emulator", "the emulator itself"}};
    const json_t *loss = wr_get_object(j, "loss");
    char list[WR_VIEW_NAME] = "", detail[64], time[32], count[32];

    for (size_t i = 0; i < WR_ARRAY_LEN(parts); i++) {
        double share = wr_get_number(loss, parts[i].key);

        if (!(share >= SEEN))
            continue;
        part_detail(j, parts[i].key, detail, sizeof(detail));
        wr_say(list, sizeof(list), "%.1f %% %s %s%s", 100 * share,
               *list ? "to" : "went to", parts[i].name, detail);
    }
    *buf = '\0';
    wr_say_time(result(j, "seconds"), time, sizeof(time));
    if (*list && wr_get_object(j, "search")) /* of which of them it is */
        snprintf(buf, cap, "With %s accelerator%s: of %s, %s.",
                 wr_say_number(wr_get_number(j, "config.accelerators"), count,
                               sizeof(count)),
                 wr_get_number(j, "config.accelerators") == 1 ? "" : "s", time,
                 list);
    else if (*list)
        snprintf(buf, cap, "Of %s, %s.", time, list);
    return buf;
}

char *wr_run_demand(const json_t *j, char *buf, size_t cap)
{
    double n = wr_get_number(j, "config.accelerators");
    double asked = n * wr_get_number(j, "demand.bytes_per_s");
    double got = result(j, "bytes_per_s");
    double nominal = result(j, "nominal_bytes_per_s");
    double samples = n * wr_get_number(j, "demand.samples_per_s");
    char a[32], b[32], c[32], more[WR_VIEW_NAME] = "";

    *buf = '\0';
    if (!(got >= 0) || !(asked > 0) || wr_get_true(j, "config.no_io"))
        return buf;
    if (samples > 0 && result(j, "samples_per_s") >= 0)
        snprintf(more, sizeof(more), " (%s of %s samples/s)",
                 wr_say_number(result(j, "samples_per_s"), b, sizeof(b)),
                 wr_say_number(samples, c, sizeof(c)));
    if (fabs(nominal - got) > NOMINAL * got)
        snprintf(more + strlen(more), sizeof(more) - strlen(more),
                 "; by the sizes of the samples it would be %s/s",
                 wr_format_bytes(c, sizeof(c), nominal));
    snprintf(buf, cap,
             "They were given %s/s of the %s/s that they take if they never "
             "wait%s.",
             wr_format_bytes(a, sizeof(a), got),
             wr_format_bytes(b, sizeof(b), asked), more);
    return buf;
}

void wr_run_says(struct wr_scope *v)
{
    struct wr_doc_section *s = v->s;
    const json_t *j = v->r->json;
    static char *(*const say[])(const json_t *, char *, size_t) = {
        wr_run_answer, wr_run_loss, wr_run_demand};
    char text[2 * WR_VIEW_NAME];

    for (size_t i = 0; i < WR_ARRAY_LEN(say); i++)
        if (*say[i](j, text, sizeof(text)))
            wr_doc_note(s, false, "%s", text);
}

/* --- reads, batches, cost --- */

/* "p50 0.3 ms, p95 9 ms" of keys whose unit is `unit` seconds. */
static void add_times(char *buf, size_t cap, const json_t *o,
                      const char *const (*keys)[2], double unit)
{
    char text[32];

    for (; (*keys)[0]; keys++) {
        double v = wr_get_number(o, (*keys)[0]);

        if (v >= 0)
            wr_say(buf, cap, "%s %s", (*keys)[1],
                   wr_format_ns(text, sizeof(text), v * unit * 1e9));
    }
}

static void say_sizes(char *buf, size_t cap, const json_t *reads)
{
    double usual = wr_get_number(reads, "usual_bytes");
    double mean = wr_get_number(reads, "mean_bytes");
    double sequential = wr_get_number(reads, "sequential");
    double consecutive = wr_get_number(reads, "consecutive");
    char text[32];

    if (usual > 0)
        wr_say(buf, cap, "mostly of %s",
               wr_format_binary(text, sizeof(text), usual));
    if (mean > 0)
        wr_say(buf, cap, "mean %s", wr_format_binary(text, sizeof(text), mean));
    if (sequential >= 0)
        wr_say(buf, cap, "%.0f %% sequential", 100 * sequential);
    if (consecutive >= 0)
        wr_say(buf, cap, "%.0f %% consecutive", 100 * consecutive);
}

static void say_reads(struct wr_doc_section *s, const json_t *j)
{
    static const char *const keys[][2] = {{"p50_us", "p50"},
                                          {"p95_us", "p95"},
                                          {"p99_us", "p99"},
                                          {"max_us", "longest"},
                                          {NULL, NULL}};
    const json_t *reads = wr_get_object(j, "reads");
    double count = wr_get_number(reads, "count");
    double share = wr_get_number(reads, "io_share");
    char sizes[WR_VIEW_NAME] = "", times[WR_VIEW_NAME] = "", busy[80] = "",
         number[32];

    if (!(count > 0))
        return;
    say_sizes(sizes, sizeof(sizes), reads);
    add_times(times, sizeof(times), reads, keys, 1e-6);
    if (share >= 0)
        snprintf(busy, sizeof(busy), "; one was in flight %.0f %% of the time",
                 100 * share);
    wr_doc_note(s, false, "%s reads: %s%s%s%s.",
                wr_say_number(count, number, sizeof(number)), sizes,
                *times ? "; latency " : "", times, busy);
}

static void say_batches(struct wr_doc_section *s, const json_t *j)
{
    static const char *const keys[][2] = {{"wait_p50_ms", "p50"},
                                          {"wait_p95_ms", "p95"},
                                          {"wait_p99_ms", "p99"},
                                          {"wait_max_ms", "longest"},
                                          {NULL, NULL}};
    const json_t *b = wr_get_object(j, "batches");
    double stalls = wr_get_number(b, "stalls");
    double steps = wr_get_number(b, "steps");
    char times[WR_VIEW_NAME] = "", n[32], of[32];

    if (!(stalls >= 0) || !(steps > 0))
        return;
    add_times(times, sizeof(times), b, keys, 1e-3);
    wr_doc_note(s, false,
                "%s of %s steps waited for their batch longer than 1 %% of a "
                "step%s%s.",
                wr_say_number(stalls, n, sizeof(n)),
                wr_say_number(steps, of, sizeof(of)), *times ? "; waits: " : "",
                times);
}

static void say_cost(struct wr_doc_section *s, const json_t *j)
{
    double cpu = result(j, "cpu_s_per_gb"), peak = result(j, "peak_bytes");
    double first = result(j, "first_batch_ms"),
           resident = result(j, "resident");
    char text[WR_VIEW_NAME] = "", a[32];

    if (cpu >= 0)
        wr_say(text, sizeof(text), "%.3g CPU seconds per GB", cpu);
    if (peak > 0)
        wr_say(text, sizeof(text), "%s of memory",
               wr_format_bytes(a, sizeof(a), peak));
    if (first >= 0)
        wr_say(text, sizeof(text), "%s until the first batch",
               wr_say_time(first / 1e3, a, sizeof(a)));
    if (*text)
        wr_doc_note(s, false, "It took %s.", text);
    if (resident >= 0 && resident < CACHED)
        wr_doc_note(s, false,
                    "%.1f %% of the bytes may have come from the page cache.",
                    100 * resident);
}

void wr_run_reads(struct wr_scope *v)
{
    struct wr_doc_section *s = v->s;
    const json_t *j = v->r->json;
    double from = wr_get_number(j, "start_s");
    char machine[WR_VIEW_NAME];

    say_reads(s, j);
    say_batches(s, j);
    say_cost(s, j);
    from = from > 0 ? from : 0;
    if (wr_meanwhile(j, from, from + result(j, "seconds"), machine,
                     sizeof(machine)))
        wr_doc_note(s, false, "%s", machine);
}
