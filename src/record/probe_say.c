/* probe_say.c - what a probe comes to, in sentences.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/probe_say.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "record/get.h"
#include "record/probe_tables.h"
#include "record/view_say.h"

#define MB 1e6

static bool is_op(const struct wr_case *row, const char *op)
{
    return !strcmp(wr_get_text(row->json, "op"), op);
}

/* The test of an operation with the highest rate; NULL when none has one. */
static const struct wr_case *best_of(const struct wr_cases *c, const char *op,
                                     const char *rate)
{
    const struct wr_case *best = NULL;
    double most = 0;

    for (size_t k = 0; k < c->count; k++) {
        double v = is_op(&c->v[k], op) ? wr_case_median(&c->v[k], rate) : NAN;

        if (v > most)
            best = &c->v[k];
        most = fmax(most, v);
    }
    return best;
}

static size_t say_bandwidth(struct wr_doc *d, const struct wr_cases *c,
                            size_t room)
{
    const struct wr_case *in = best_of(c, "read", "bytes_per_s");
    const struct wr_case *out = best_of(c, "write", "bytes_per_s");
    char read[32] = "", write[32] = "";
    char in_name[WR_VIEW_NAME] = "", out_name[WR_VIEW_NAME] = "";

    if (in)
        wr_probe_name(c, (size_t)(in - c->v), in_name);
    if (out)
        wr_probe_name(c, (size_t)(out - c->v), out_name);
    if (in)
        wr_say_number(wr_case_median(in, "bytes_per_s") / MB, read,
                      sizeof(read));
    if (out)
        wr_say_number(wr_case_median(out, "bytes_per_s") / MB, write,
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

/* The depth from which on more gains nothing, of the smallest blocks. */
static size_t say_depth(struct wr_doc *d, const struct wr_cases *c, size_t room)
{
    const json_t *list = wr_get_list(c->records->json, "saturation");
    const json_t *found = NULL;
    bool many = c->record_count > 1;
    char block[32];
    double depth;

    for (size_t i = 0; i < json_array_size(list) && !found; i++)
        found = json_array_get(list, i);
    depth = wr_get_number(found, "depth");
    if (!(depth > 0))
        return 0;
    wr_probe_block(found, block, sizeof(block));
    if (wr_get_true(found, "reached"))
        wr_doc_summary(d,
                       "Random reads of %s need %.0f request%s in flight%s%s; "
                       "more gain nothing.",
                       block, depth, depth == 1 ? "" : "s", many ? " on " : "",
                       many ? c->records->label : "");
    else
        wr_doc_summary(d,
                       "Random reads of %s were still getting faster with "
                       "%.0f requests in flight, the most that was tried.",
                       block, depth);
    wr_doc_headline(d, "requests in flight that random reads need", "%s%.0f",
                    wr_get_true(found, "reached") ? "" : "over ", depth);
    return 1;
}

/* Files one after the other, by several workers, and what of it is opening. */
static size_t say_files(struct wr_doc *d, const struct wr_cases *c, size_t room)
{
    const struct wr_case *best = best_of(c, "files", "ops_per_s"), *one = NULL;
    bool many = c->record_count > 1;
    double open, all;
    char a[32], b[32], text[WR_VIEW_NAME] = "";

    for (size_t k = 0; k < c->count && !one; k++)
        if (is_op(&c->v[k], "files") &&
            !(wr_get_number(c->v[k].json, "workers") > 1) && best &&
            c->v[k].record == best->record &&
            wr_case_median(&c->v[k], "ops_per_s") > 0)
            one = &c->v[k];
    if (!one || !best)
        return 0;
    open = wr_case_median(one, "open_us.p50");
    all = open + wr_case_median(one, "transfer_us.p50") +
          wr_case_median(one, "close_us.p50");
    if (best != one)
        wr_say(text, sizeof(text), "%s by %.0f workers",
               wr_say_number(wr_case_median(best, "ops_per_s"), b, sizeof(b)),
               wr_get_number(best->json, "workers"));
    if (open >= 0 && all > 0)
        wr_say(text, sizeof(text), "%.0f %% of the time of one is opening it",
               100 * open / all);
    wr_doc_summary(
        d, "Small files%s%s: %s a second one after the other%s%s.",
        many ? " of " : "", many ? c->records[one->record].label : "",
        wr_say_number(wr_case_median(one, "ops_per_s"), a, sizeof(a)),
        *text ? ", " : "", text);
    wr_doc_headline(
        d, "small files a second", "%s",
        wr_say_number(wr_case_median(best, "ops_per_s"), a, sizeof(a)));
    return 1;
}

void wr_probe_say(struct wr_doc *d, const struct wr_cases *c, size_t room)
{
    static size_t (*const say[])(struct wr_doc *, const struct wr_cases *,
                                 size_t) = {say_bandwidth, say_depth,
                                            say_files};

    for (size_t i = 0; i < WR_ARRAY_LEN(say) && room; i++)
        room -= say[i](d, c, room);
}
