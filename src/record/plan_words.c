/* plan_words.c - a plan in sentences: how fast, who waits, what to change.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/plan_words.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/named.h"
#include "base/units.h"
#include "result/get.h"
#include "record/view_say.h"

#define SEEN      0.01  /* a share of the time below is not told */
#define DIFFERENT 0.05  /* a last epoch that differs by more is told too */
#define GAIN      1.005 /* a change that brings less is none */
#define NAMED_MAX 8

/* Times of failures are days and weeks. */
static char *say_long(double seconds, char *buf, size_t cap)
{
    if (seconds >= 2 * 86400.0)
        snprintf(buf, cap, "%.3g days", seconds / 86400);
    else
        wr_say_time(seconds, buf, cap);
    return buf;
}

/* ", x" of a list in buf becomes " and x" if it is the last. */
static void end_list(char *buf)
{
    char *last = NULL;

    for (char *p = buf; (p = strstr(p, ", ")); p++)
        last = p;
    if (last && strlen(buf) + 4 < WR_VIEW_NAME) {
        memmove(last + 5, last + 2, strlen(last + 2) + 1);
        memcpy(last, " and ", 5);
    }
}

static double nodes_of(const json_t *j)
{
    double nodes = wr_get_number(j, "config.nodes");

    return nodes >= 1 ? nodes : 1;
}

static bool is_one(const json_t *j)
{
    return wr_get_number(j, "config.accelerators") * nodes_of(j) == 1;
}

/* Its name; "" if it has none but the time of its step ("ms=218"). */
static const char *accelerator_of(const json_t *j)
{
    const char *name = wr_get_text(j, "config.accelerator");

    return strchr(name, '=') || !strcmp(name, "none") ? "" : name;
}

char *wr_plan_who(const json_t *j, char *buf, size_t cap)
{
    double n = wr_get_number(j, "config.accelerators") * nodes_of(j);
    const char *name = accelerator_of(j);
    char count[32] = "the";

    if (n >= 1)
        wr_say_number(n, count, sizeof(count));
    if (*name)
        snprintf(buf, cap, "%s %.60s", count, name);
    else
        snprintf(buf, cap, "%s accelerator%s", count, n == 1 ? "" : "s");
    return buf;
}

/* --- the answer --- */

char *wr_plan_say_answer(const json_t *j, char *buf, size_t cap)
{
    double rate = wr_get_number(j, "result.samples_per_s");
    double busy = wr_get_number(j, "result.utilization");
    double nodes = nodes_of(j);
    char who[WR_VIEW_NAME], n[32], on[64] = "", part[64] = "";

    *buf = '\0';
    if (!(rate >= 0))
        return buf;
    wr_plan_who(j, who, sizeof(who));
    if (nodes > 1)
        snprintf(on, sizeof(on), " on %s nodes",
                 wr_say_number(nodes, n, sizeof(n)));
    if (busy >= 0)
        snprintf(part, sizeof(part), " and compute%s %.1f %% of the time",
                 is_one(j) ? "s" : "", 100 * busy);
    who[0] = who[0] == 't' ? 'T' : who[0]; /* "the" begins a sentence */
    snprintf(buf, cap, "%s%s train%s at %s samples/s%s.", who, on,
             is_one(j) ? "s" : "", wr_say_number(rate, n, sizeof(n)), part);
    return buf;
}

bool wr_plan_is_partial(const json_t *j)
{
    return wr_get_number(j, "result.steps") <
               wr_get_number(j, "result.steps_all") &&
           wr_get_number(j, "result.epoch_s") > 0;
}

char *wr_plan_part(const json_t *j, char *buf, size_t cap)
{
    double all = wr_get_number(j, "result.train_s");
    double epochs = wr_get_number(j, "config.epochs");
    char a[32], b[32], n[32], time[64] = "";

    *buf = '\0';
    if (all > 0 && epochs > 1)
        snprintf(time, sizeof(time), "All %s epochs take %s.",
                 wr_say_number(epochs, n, sizeof(n)),
                 wr_say_time(all, a, sizeof(a)));
    if (wr_plan_is_partial(j))
        snprintf(
            buf, cap, "%s%sThe first %s of %s steps were simulated.", time,
            *time ? " " : "",
            wr_say_number(wr_get_number(j, "result.steps"), a, sizeof(a)),
            wr_say_number(wr_get_number(j, "result.steps_all"), b, sizeof(b)));
    else
        snprintf(buf, cap, "%s", time);
    return buf;
}

/* What an accelerator waits for: keys of `parts`. */
static const struct {
    const char *key, *words;
} waits[] = {{"storage", "for the storage"},
             {"cores", "for cores that decode"},
             {"others", "for the slowest of them and the all-reduce"},
             {"saves", "for checkpoints"}};

/* `whole_s`: seconds of all of the epoch, of which `epoch` may be a part. */
static void waits_of(const json_t *epoch, double whole_s, char *buf, size_t cap)
{
    double seconds = wr_get_number(epoch, "seconds");
    const json_t *parts = wr_get_object(epoch, "parts");
    char time[32];

    *buf = '\0';
    for (size_t i = 0; i < WR_ARRAY_LEN(waits); i++) {
        double s = wr_get_number(parts, waits[i].key);

        if (s / seconds >= SEEN)
            wr_say(buf, cap, "%s %s (%.0f %%)",
                   wr_say_time(s * whole_s / seconds, time, sizeof(time)),
                   waits[i].words, 100 * s / seconds);
    }
    if (!*buf)
        wr_say(buf, cap, "for nothing");
    end_list(buf);
}

char *wr_plan_waits(const json_t *j, char *buf, size_t cap)
{
    const json_t *list = wr_get_list(j, "result.epochs");
    size_t n = json_array_size(list);
    const json_t *first = json_array_get(list, 0);
    const json_t *last = n ? json_array_get(list, n - 1) : NULL;
    double a = wr_get_number(first, "seconds");
    double b = wr_get_number(last, "seconds");
    bool differ = n > 1 && fabs(a - b) > DIFFERENT * a;
    char text[WR_VIEW_NAME], later[WR_VIEW_NAME], x[32], y[32];

    *buf = '\0';
    if (!(a > 0))
        return buf;
    if (wr_plan_is_partial(j)) {
        a = wr_get_number(j, "result.epoch_s");
        differ = false;
    }
    waits_of(first, a, text, sizeof(text));
    if (!differ || !(b > 0)) {
        snprintf(buf, cap, "Of %s epoch of %s %s %s.", n > 1 ? "each" : "an",
                 wr_say_time(a, x, sizeof(x)),
                 is_one(j) ? "it waits" : "they wait", text);
        return buf;
    }
    waits_of(last, b, later, sizeof(later));
    snprintf(buf, cap,
             "Of the first epoch of %s %s %s; of the last one of %s %s.",
             wr_say_time(a, x, sizeof(x)), is_one(j) ? "it waits" : "they wait",
             text, wr_say_time(b, y, sizeof(y)), later);
    return buf;
}

const char *wr_plan_limit_name(const char *resource)
{
    static const char *const names[][2] = {
        {"accelerators", "the accelerators"},
        {"bandwidth", "the bandwidth of the storage"},
        {"requests", "the requests that the storage answers"},
        {"opens", "the rate of opening files"},
        {"client", "the network or client of a node"},
        {"in flight", "the reads that the loader keeps in flight"},
        {"in_flight", "the reads that the loader keeps in flight"},
        {"cores", "the cores that decode"}};

    int k = wr_named_index(WR_NAMED(names), resource);

    return k < 0 ? resource : names[k][1];
}

/* The tightest limit that is not among the first `k` of them; NULL: none. */
static const json_t *limit_at(const json_t *j, size_t k)
{
    const json_t *list = wr_get_list(j, "bounds.limits");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);

        if (wr_get_number(o, "samples_per_s") >= 0 &&
            *wr_get_text(o, "resource") && !k--)
            return o;
    }
    return NULL;
}

char *wr_plan_bottleneck(const json_t *j, char *buf, size_t cap)
{
    const json_t *first = limit_at(j, 0), *next = limit_at(j, 1);
    const char *name = wr_get_text(first, "resource");
    char a[32], b[32], behind[WR_VIEW_NAME] = "";

    *buf = '\0';
    if (!first)
        return buf;
    wr_say_number(wr_get_number(first, "samples_per_s"), a, sizeof(a));
    wr_say_number(wr_get_number(next, "samples_per_s"), b, sizeof(b));
    if (!strcmp(name, "accelerators")) {
        if (next)
            snprintf(behind, sizeof(behind), " The next limit is %.100s (%s).",
                     wr_plan_limit_name(wr_get_text(next, "resource")), b);
        snprintf(buf, cap,
                 "The accelerators are the limit (%s samples/s at most): "
                 "feeding them is not.%s",
                 a, behind);
        return buf;
    }
    if (next)
        snprintf(behind, sizeof(behind),
                 "; the next one behind it: %.100s (%s)",
                 wr_plan_limit_name(wr_get_text(next, "resource")), b);
    snprintf(buf, cap, "The bottleneck is %.100s (%s samples/s at most)%s.",
             wr_plan_limit_name(name), a, behind);
    return buf;
}

char *wr_plan_best(const json_t *j, char *buf, size_t cap)
{
    const json_t *list = wr_get_list(j, "what_if"), *best = NULL;
    double most = GAIN;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);

        if (wr_get_number(o, "gain") > most) {
            most = wr_get_number(o, "gain");
            best = o;
        }
    }
    *buf = '\0';
    if (best)
        snprintf(buf, cap,
                 "What would help most: %.200s (%.3g times the samples/s).",
                 *wr_get_text(best, "what") ? wr_get_text(best, "what")
                                            : wr_get_text(best, "name"),
                 most);
    else if (json_array_size(list))
        snprintf(buf, cap, "No change that was tried makes it faster.");
    return buf;
}

/* --- demand and capacity --- */

char *wr_plan_demand(const json_t *j, char *buf, size_t cap)
{
    const json_t *d = wr_get_object(j, "demand");
    double bytes = wr_get_number(d, "bytes_per_s");
    double opens = wr_get_number(d, "opens_per_s");
    double cores = wr_get_number(d, "cores");
    double rate = wr_get_number(d, "samples_per_s");
    char who[WR_VIEW_NAME], text[WR_VIEW_NAME] = "", n[32];

    *buf = '\0';
    if (bytes > 0)
        wr_say(text, sizeof(text), "%s/s",
               wr_format_three(n, sizeof(n), bytes));
    if (opens > 0)
        wr_say(text, sizeof(text), "%s file%s/s",
               wr_say_number(opens, n, sizeof(n)), opens == 1 ? "" : "s");
    if (cores > 0)
        wr_say(text, sizeof(text), "%s core%s of decoding",
               wr_say_number(cores, n, sizeof(n)), cores == 1 ? "" : "s");
    if (!*text)
        return buf;
    end_list(text);
    wr_plan_who(j, who, sizeof(who));
    if (rate > 0)
        snprintf(
            buf, cap, "To train at %s samples/s without waiting, %s need%s %s.",
            wr_say_number(rate, n, sizeof(n)), who, is_one(j) ? "s" : "", text);
    else
        snprintf(buf, cap, "So as never to wait, %s need%s %s.", who,
                 is_one(j) ? "s" : "", text);
    return buf;
}

/* "1st", "22nd", "113th". */
static char *ordinal(double v, char *buf, size_t cap)
{
    int two = (int)fmod(fmin(v, 1e9), 100), one = two % 10;
    const char *end = two > 10 && two < 14 ? "th"
                      : one == 1           ? "st"
                      : one == 2           ? "nd"
                      : one == 3           ? "rd"
                                           : "th";
    char n[32];

    snprintf(buf, cap, "%s%s", wr_say_number(v, n, sizeof(n)), end);
    return buf;
}

static double busy_with(const json_t *j, double accelerators)
{
    const json_t *list = wr_get_list(j, "capacity.points");

    for (size_t i = 0; i < json_array_size(list); i++)
        if (wr_get_number(json_array_get(list, i), "accelerators") ==
            accelerators)
            return wr_get_number(json_array_get(list, i), "utilization");
    return NAN;
}

char *wr_plan_say_capacity(const json_t *j, char *buf, size_t cap)
{
    double most = wr_get_number(j, "capacity.accelerators");
    double target = 100 * wr_get_number(j, "capacity.target");
    double next = 100 * busy_with(j, most + 1);
    const char *of = nodes_of(j) > 1 ? " per node" : "";
    const char *name = accelerator_of(j);
    char n[32], more[32];

    *buf = '\0';
    if (!(most >= 0) || !(target >= 0))
        return buf;
    wr_say_number(most, n, sizeof(n));
    if (!*name)
        name = most == 1 ? "accelerator" : "accelerators";
    if (most < 1)
        snprintf(buf, cap,
                 "Not even one accelerator of this kind computes %.4g %% of "
                 "the time.",
                 target);
    else if (wr_get_true(j, "capacity.unlimited"))
        snprintf(buf, cap,
                 "This storage feeds at least %s %.60s%s: more were not tried.",
                 n, name, of);
    else if (next >= 0)
        snprintf(buf, cap,
                 "This storage feeds %s %.60s%s; the %s drops the utilization "
                 "below %.4g %% (to %.1f %%).",
                 n, name, of, ordinal(most + 1, more, sizeof(more)), target,
                 next);
    else
        snprintf(buf, cap,
                 "This storage feeds %s %.60s%s at a utilization of %.4g %% "
                 "or more.",
                 n, name, of, target);
    return buf;
}

/* --- scale --- */

/* The rate over that of the first point with as many nodes; NaN: not known. */
static double linear_part(const json_t *list, size_t k)
{
    const json_t *a = json_array_get(list, 0), *b = json_array_get(list, k);
    double nodes = wr_get_number(b, "nodes") / wr_get_number(a, "nodes");

    return wr_get_number(b, "samples_per_s") /
           wr_get_number(a, "samples_per_s") / nodes;
}

size_t wr_plan_knee(const json_t *j)
{
    const json_t *list = wr_get_list(j, "scale");
    size_t knee = 0;

    if (json_array_size(list) < 2)
        return SIZE_MAX;
    for (size_t i = 1; i < json_array_size(list); i++)
        if (linear_part(list, i) >= WR_PLAN_LINEAR)
            knee = i;
    return knee;
}

char *wr_plan_scales(const json_t *j, char *buf, size_t cap)
{
    const json_t *list = wr_get_list(j, "scale");
    size_t knee = wr_plan_knee(j), n = json_array_size(list);
    double nodes = wr_get_number(json_array_get(list, knee), "nodes");
    const json_t *last = n ? json_array_get(list, n - 1) : NULL;
    double part = n ? linear_part(list, n - 1) : NAN;
    char a[32], b[32];

    *buf = '\0';
    if (knee == SIZE_MAX || !(nodes >= 0) || !(part >= 0))
        return buf;
    wr_say_number(nodes, a, sizeof(a));
    wr_say_number(wr_get_number(last, "nodes"), b, sizeof(b));
    if (knee + 1 == n)
        snprintf(buf, cap,
                 "It scales linearly up to %s nodes: more were not "
                 "tried.",
                 a);
    else
        snprintf(buf, cap,
                 "It scales linearly up to %s node%s; %s nodes reach %.3g %% "
                 "of that.",
                 a, nodes == 1 ? "" : "s", b, 100 * part);
    return buf;
}

/* --- saves and failures --- */

char *wr_plan_saves(const json_t *j, char *buf, size_t cap)
{
    const json_t *s = wr_get_object(j, "saving");
    double young = wr_get_number(s, "young_s"),
           daly = wr_get_number(s, "daly_s");
    double chosen = wr_get_number(s, "chosen_s");
    char a[32], b[32], c[32], of[64] = "", now[64] = "";

    *buf = '\0';
    if (!(young > 0) && !(daly > 0))
        return buf;
    if (wr_get_number(s, "mtbf_s") > 0)
        snprintf(of, sizeof(of), " (a failure every %s)",
                 say_long(wr_get_number(s, "mtbf_s"), c, sizeof(c)));
    if (chosen > 0)
        snprintf(now, sizeof(now), "; the plan saves every %s",
                 wr_say_time(chosen, c, sizeof(c)));
    snprintf(buf, cap, "Save every %s by Young or %s by Daly%s%s.",
             wr_say_time(young, a, sizeof(a)), wr_say_time(daly, b, sizeof(b)),
             of, now);
    return buf;
}

char *wr_plan_fails(const json_t *j, char *buf, size_t cap)
{
    const json_t *s = wr_get_object(j, "saving");
    double lost = wr_get_number(s, "lost_s"), waste = wr_get_number(s, "waste");
    double best = wr_get_number(s, "waste_best");
    char a[32], b[32], back[64] = "", least[64] = "";

    *buf = '\0';
    if (!(lost >= 0) || !(waste >= 0))
        return buf;
    if (wr_get_number(s, "restore_s") > 0)
        snprintf(back, sizeof(back), ", %s of it to restore",
                 wr_say_time(wr_get_number(s, "restore_s"), b, sizeof(b)));
    if (best >= 0 && best < 0.99 * waste)
        snprintf(least, sizeof(least), " (%.3g %% with Daly's interval)",
                 100 * best);
    snprintf(buf, cap,
             "A failure costs %s%s; saves and failures take %.3g %% of the "
             "time%s.",
             wr_say_time(lost, a, sizeof(a)), back, 100 * waste, least);
    return buf;
}

/* --- what was seen --- */

char *wr_plan_seen(const json_t *j, char *buf, size_t cap)
{
    const char *what = wr_get_text(j, "explain.what");
    const char *why = wr_get_text(j, "explain.why");

    snprintf(buf, cap, "%.250s%s%s%.300s%s", what, wr_say_stop(what),
             *what && *why ? " " : "", why, wr_say_stop(why));
    return buf;
}

char *wr_plan_cure(const json_t *j, char *buf, size_t cap)
{
    const char *change = wr_get_text(j, "explain.change");

    snprintf(buf, cap, "%s%.300s%s", *change ? "What would remove it: " : "",
             change, wr_say_stop(change));
    return buf;
}

char *wr_plan_assumed(const json_t *j, char *buf, size_t cap)
{
    const json_t *list = wr_get_list(j, "facts");
    char names[WR_VIEW_NAME] = "";
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *f = json_array_get(list, i);

        if (wr_get_true(f, "assumed") && n++ < NAMED_MAX)
            wr_say(names, sizeof(names), "%.40s", wr_get_text(f, "key"));
    }
    *buf = '\0';
    if (n)
        snprintf(buf, cap, "Assumed, neither given nor measured: %s%s.", names,
                 n > NAMED_MAX ? ", ..." : "");
    return buf;
}
