/* probe_say.c - what a probe means for training, in sentences.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/probe_say.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "result/get.h"
#include "record/probe_tables.h"
#include "record/view_say.h"

#define MB                1e6
#define ACCELERATOR_PER_S 1000.0 /* an example that is easy to multiply */
#define CHECKPOINT_BYTES  1e9
#define WORTH             1.2  /* gains below that are not worth a word */
#define NOT_COLD          0.01 /* more in the page cache is not cold */
#define RECORDS_MAX       4    /* about which all is said */

/* Who speaks about what, and to where. */
struct probe_words {
    const struct wr_cases *c;
    size_t record;
    struct wr_doc_section *s; /* notes of it, or */
    struct wr_doc *d;         /* the top of the page */
    size_t said;
};

/* One sentence or two. */
__attribute__((format(printf, 2, 3))) static void tell(struct probe_words *w,
                                                       const char *fmt, ...)
{
    const char *of = w->c->record_count > 1 ? w->c->records[w->record].label
                                            : "";
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    w->said++;
    if (w->s)
        wr_doc_note(w->s, false, "%s%s%s", of, *of ? ": " : "", text);
    else
        wr_doc_summary(w->d, "%s%s%s", of, *of ? ": " : "", text);
}

static char *count_text(double n, char *buf, size_t cap)
{
    if (n < 9.95)
        snprintf(buf, cap, "%.1f", n);
    else
        wr_format_count(buf, cap, (uint64_t)(n + 0.5));
    return buf;
}

static double ops_of(const struct wr_case *row)
{
    return WR_PROBE_RESULT(row, ops_per_s);
}

static double workers_of(const struct wr_case *row)
{
    return wr_probe_test_of(row)->workers;
}

/* The fastest test of a kind and operation; `alone`: of one worker. */
static const struct wr_case *find(const struct probe_words *w,
                                  enum wr_probe_kind kind, const char *op,
                                  bool alone)
{
    const struct wr_case *best = NULL;
    double most = 0;

    for (size_t k = 0; k < w->c->count; k++) {
        const struct wr_case *row = &w->c->v[k];
        double rate = WR_PROBE_RESULT(row, bytes_per_s);

        if (row->record != w->record || wr_probe_kind_of(row) != kind ||
            strcmp(wr_probe_test_of(row)->op, op) ||
            (alone && workers_of(row) != 1) || !(rate > most))
            continue;
        best = row;
        most = rate;
    }
    return best;
}

static const json_t *record_of(const struct probe_words *w)
{
    return w->c->records[w->record].json;
}

/* Mean size of the samples that the probe stands for. */
static double sample_bytes(const struct probe_words *w)
{
    const json_t *parts = wr_get_list(record_of(w), "sizes.parts");
    double sum = 0;

    for (size_t k = 0; k < json_array_size(parts); k++) {
        const json_t *part = json_array_get(parts, k);

        sum += wr_get_number(part, "bytes") * wr_get_number(part, "share");
    }
    return sum;
}

static void say_files(struct probe_words *w)
{
    const struct wr_case *many = find(w, WR_PROBE_KIND_FILES, "files", false);
    const struct wr_case *lone = find(w, WR_PROBE_KIND_FILES, "files", true);
    double resident = wr_get_number(record_of(w), "cache.resident");
    char mean[32], rate[32], gain[64] = "";

    if (!many)
        return;
    if (lone && workers_of(many) > 1)
        snprintf(gain, sizeof(gain), ", %.1fx of what one gets",
                 ops_of(many) / ops_of(lone));
    tell(w,
         "Samples as single files (sizes of %.100s, %s on average): %s "
         "samples/s from %s files by %.0f reader%s%s.",
         wr_get_text(record_of(w), "sizes.name"),
         wr_format_bytes(mean, sizeof(mean), fmax(0, sample_bytes(w))),
         count_text(ops_of(many), rate, sizeof(rate)),
         resident > NOT_COLD ? "cached"
         : resident < 0      ? "dropped"
                             : "cold",
         workers_of(many), workers_of(many) == 1 ? "" : "s", gain);
}

static void say_shards(struct probe_words *w)
{
    const struct wr_case *mix = find(w, WR_PROBE_KIND_MIX, "read", false);
    const struct wr_case *seq = find(w, WR_PROBE_KIND_SEQ, "read", false);
    const struct wr_case *files = find(w, WR_PROBE_KIND_FILES, "files", false);
    double mean = sample_bytes(w), rate;
    char a[32], b[32];

    if (mix)
        tell(w,
             "The same samples packed into big files: %s samples/s in random "
             "order with %.0f requests in flight.",
             count_text(ops_of(mix), a, sizeof(a)),
             workers_of(mix) * wr_probe_test_of(mix)->depth);
    if (!seq || !(mean > 0))
        return;
    rate = WR_PROBE_RESULT(seq, bytes_per_s);
    tell(w, "Read in order, big files give %s samples/s (%s/s).",
         count_text(rate / mean, a, sizeof(a)),
         wr_format_bytes(b, sizeof(b), rate));
    if (files && rate / mean > WORTH * ops_of(files))
        tell(w,
             "Packing single files into shards (weir convert) can give up to "
             "%.1fx here.",
             rate / mean / ops_of(files));
    else if (files)
        tell(w, "Packing single files into shards gains little here.");
}

static void say_accelerators(struct probe_words *w)
{
    const struct wr_case *files = find(w, WR_PROBE_KIND_FILES, "files", false);
    double mean = sample_bytes(w), fed;
    char need[32];

    if (!files || !(mean > 0))
        return;
    wr_format_bytes(need, sizeof(need), mean * ACCELERATOR_PER_S);
    fed = ops_of(files) / ACCELERATOR_PER_S;
    if (fed >= 1)
        tell(w,
             "An accelerator that takes %.0f samples/s needs %s/s: single "
             "files feed %.0f of them.",
             ACCELERATOR_PER_S, need, floor(fed));
    else
        tell(w,
             "An accelerator that takes %.0f samples/s needs %s/s: single "
             "files feed it %.0f %% of the time, unless they come from a "
             "cache.",
             ACCELERATOR_PER_S, need, fed * 100);
}

static void say_depth(struct probe_words *w)
{
    const struct wr_case *deep = NULL, *lone = NULL;
    bool tried = false; /* more than one in flight */

    for (size_t k = 0; k < w->c->count; k++) {
        const struct wr_case *row = &w->c->v[k];
        double depth = wr_probe_test_of(row)->depth;

        if (row->record != w->record ||
            wr_probe_kind_of(row) != WR_PROBE_KIND_RANDOM ||
            wr_probe_test_of(row)->block != 128 * 1024 ||
            !wr_probe_test_of(row)->direct || workers_of(row) != 1 ||
            !(ops_of(row) > 0))
            continue;
        tried |= depth > 1;
        lone = depth == 1 ? row : lone;
        deep = !deep || ops_of(row) > ops_of(deep) ? row : deep;
    }
    if (!lone || !tried)
        return;
    if (ops_of(deep) > WORTH * ops_of(lone))
        tell(w,
             "Depth pays: random reads of 128 KiB gain %.1fx from one in "
             "flight to %.0f (weir bench --depth).",
             ops_of(deep) / ops_of(lone), wr_probe_test_of(deep)->depth);
    else
        tell(w,
             "Depth does not pay: one request in flight is as fast as many.");
}

static void say_writes(struct probe_words *w)
{
    const struct wr_case *out = find(w, WR_PROBE_KIND_SEQ, "write", false);
    const struct wr_case *sync = find(w, WR_PROBE_KIND_SYNC, "sync", false);
    char a[32], b[32];

    if (out)
        tell(w, "A checkpoint of 1 GB takes %s to write.",
             wr_format_ns(a, sizeof(a),
                          CHECKPOINT_BYTES / WR_PROBE_RESULT(out, bytes_per_s) *
                              1e9));
    if (sync)
        tell(w, "A sync takes %s, one in a hundred longer than %s.",
             wr_format_ns(a, sizeof(a),
                          1e3 * WR_PROBE_RESULT(sync, latency_us.p50)),
             wr_format_ns(b, sizeof(b),
                          1e3 * WR_PROBE_RESULT(sync, latency_us.p99)));
}

void wr_probe_words(struct wr_scope *v)
{
    struct probe_words w = {.c = &v->c, .s = v->s};

    for (; w.record < WR_MIN(v->c.record_count, (size_t)RECORDS_MAX);
         w.record++) {
        say_files(&w);
        say_shards(&w);
        say_accelerators(&w);
        say_depth(&w);
        say_writes(&w);
    }
}

/* --- the top of the page --- */

#define AT(member) offsetof(struct wr_probe_run_values, member)

/* The test of all records of an operation with the highest rate. */
static const struct wr_case *best_of(const struct wr_cases *c, const char *op,
                                     size_t rate)
{
    const struct wr_case *best = NULL;
    double most = 0;

    for (size_t k = 0; k < c->count; k++) {
        double v = strcmp(wr_probe_test_of(&c->v[k])->op, op)
                       ? NAN
                       : wr_number_at(c->v[k].median, rate);

        if (v > most)
            best = &c->v[k];
        most = fmax(most, v);
    }
    return best;
}

static size_t say_bandwidth(struct wr_doc *d, const struct wr_cases *c,
                            size_t room)
{
    const struct wr_case *in = best_of(c, "read", AT(bytes_per_s));
    const struct wr_case *out = best_of(c, "write", AT(bytes_per_s));
    char read[32] = "", write[32] = "";
    char in_name[WR_VIEW_NAME] = "", out_name[WR_VIEW_NAME] = "";

    if (in)
        wr_probe_name(c, (size_t)(in - c->v), in_name);
    if (out)
        wr_probe_name(c, (size_t)(out - c->v), out_name);
    if (in)
        wr_say_number(wr_probe_median(in)->bytes_per_s / MB, read,
                      sizeof(read));
    if (out)
        wr_say_number(wr_probe_median(out)->bytes_per_s / MB, write,
                      sizeof(write));
    if (in)
        wr_doc_headline(d, "fastest read", "%s MB/s", read);
    if (out && room > 2)
        wr_doc_headline(d, "fastest write", "%s MB/s", write);
    if (in && out)
        wr_doc_summary(d,
                       "The storage reads up to %s MB/s (%s) and writes up "
                       "to %s MB/s (%s).",
                       read, in_name, write, out_name);
    else if (in || out)
        wr_doc_summary(d, "The storage %s up to %s MB/s (%s).",
                       in ? "reads" : "writes", in ? read : write,
                       in ? in_name : out_name);
    return in || out;
}

void wr_probe_say(struct wr_doc *d, const struct wr_cases *c, size_t room)
{
    const struct wr_case *files = best_of(c, "files", AT(ops_per_s));
    struct probe_words w = {.c = c, .d = d};
    char rate[32];

    w.said = say_bandwidth(d, c, room);
    if (w.said < room)
        say_depth(&w);
    if (files && w.said < room) {
        w.record = files->record;
        say_files(&w);
        wr_doc_headline(d, "small files a second", "%s",
                        wr_say_number(ops_of(files), rate, sizeof(rate)));
    }
}
