/* ckpt_bench.c - how long saving stops training: the paper's experiment.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/ckpt_bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/emu_url.h"
#include "base/error.h"
#include "base/mem.h"
#include "measure/parts.h"
#include "measure/saves.h"
#include "measure/together.h"
#include "result/record.h"
#include "result/stats.h"
#include "storage/beside.h"
#include "storage/device.h"
#include "storage/storage.h"
#include "tier/name.h"

/* --- what several ranks found about saving, as one --- */

int wr_ckpt_join_save(const struct wr_together *t,
                      struct wr_ckpt_save_values *s, weir_err *err)
{
    int r = 0;

    s->own_s = s->stall_s;
    for (const struct wr_val *v = wr_ckpt_save_vals.rows; r == 0 && v->key; v++)
        if (v->gather == WR_OF_MAX)
            r = wr_together_slowest(t, (void *)((char *)s + v->at), err);
    return r;
}

/* What a rank tells of a way. */
static json_t *describe(const struct wr_ckpt_bench_case *k, uint32_t rank)
{
    struct wr_ckpt_save_values median;
    struct wr_ckpt_rank_values v;
    char host[65] = "";

    gethostname(host, sizeof(host) - 1);
    wr_vals_median(&wr_ckpt_save_vals, &median, &k->v.runs);
    v = (struct wr_ckpt_rank_values){.rank = rank,
                                     .host = host,
                                     .stall_s = median.own_s,
                                     .bytes = k->v.result.bytes,
                                     .memory = k->v.memory};
    return wr_vals_json(&wr_ckpt_rank_vals, &v, WR_FOR_RANKS);
}

int wr_ckpt_join_case(const struct wr_together *t, struct wr_ckpt_bench_case *k,
                      weir_err *err)
{
    struct wr_ckpt_rank_values all;
    int r;

    if (!wr_together_is(t))
        return 0;
    r = wr_together_slowest(t, &k->v.result.restore_s, err);
    if (r == 0)
        r = wr_together_gather(t, describe(k, t->comm->rank), &k->said, err);
    if (r < 0 || !k->said)
        return r;
    if (!wr_vals_read_list(&wr_ckpt_rank_vals, k->said, &k->v.ranks))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    wr_vals_clear(&wr_ckpt_rank_vals, &all);
    wr_vals_gather(&wr_ckpt_rank_vals, &all, &k->v.ranks, 0);
    k->v.result.bytes = all.bytes;
    k->v.memory = all.memory;
    return 0;
}

/* --- the record of a benchmark of checkpoints --- */

json_t *wr_ckpt_record(const struct wr_ckpt_record *b)
{
    const struct wr_ckpt_load *load = b->plan->load;
    json_t *record = wr_record_new("ckpt");
    struct wr_ckpt_head_values v = {
        .fast = b->plan->fast,
        .slow = b->plan->slow,
        .like = b->like,
        .bytes = b->report->count ? b->report->cases->v.result.bytes
                                  : (double)load->bytes,
        .tensors = (double)load->count,
        .saves = (double)b->plan->saves,
        .interval_s = b->plan->interval_s,
        .verify = b->plan->verify,
        .memcpy_s = b->report->memcpy_s,
        .cases = json_array()};
    int bad = 0;

    for (size_t i = 0; i < b->report->count; i++)
        bad |= json_array_append_new(
            v.cases, wr_vals_json(&wr_ckpt_case_vals, &b->report->cases[i].v,
                                  WR_FOR_RECORD));
    bad |= json_object_set_new(record, "host", wr_host_json_of(b->store));
    bad |= json_object_update_new(
        record, wr_vals_give(&wr_ckpt_head_vals, &v, /* whole= */ true));
    bad |= wr_monitor_record(b->monitor, record);
    if (!bad)
        return record;
    json_decref(record);
    return NULL;
}

/* --- how long saving stops training: the paper's experiment --- */

#define COPIES  5 /* of memory, for the median */
#define STEP_MS 50
/* Of the store's ranks, which may differ a lot; dead ones are noticed anyway. */
#define RANKS_MS (UINT64_C(3600) * 1000)
/* The mark goes last: by it the next one knows what is left. Deeper folders are
 * someone else's. */
#define BENCH_TREE (&(const struct wr_tree_rule){WR_NAME_OWN, 4})
/* After a failure other ranks may still be at it. */
#define CLEAN_TRIES 40
#define CLEAN_MS    100

/* Where one bench works. */
struct save_bench {
    const struct wr_ckpt_bench_plan *plan;
    struct wr_together together;
    char *fast, *slow; /* owned: the folders below the paths; slow NULL */
    uint64_t start_ns;
    unsigned done; /* saves */
    enum wr_ckpt_way way;
    struct wr_saves saver;     /* of this way */
    double cost[WR_CKPT_WAYS]; /* of one save, for the progress */
    double spent, total;       /* the same of all saves */
    bool known;                /* costs are seconds */
    double last_s;             /* of the last save of this way; NaN: none */
};

static const struct {
    const char *key, *name;
} ways[] = {
    [WR_CKPT_SLOW] = {"slow", "direct to slow"},
    [WR_CKPT_FAST] = {"fast", "direct to fast"},
    [WR_CKPT_BURST] = {"burst", "burst buffer"},
    [WR_CKPT_ASYNC] = {"async", "burst buffer, asynchronous"},
};

/* "burst buffer" */
static const char *ckpt_way_name(enum wr_ckpt_way way)
{
    return (unsigned)way < WR_ARRAY_LEN(ways) ? ways[way].name : "?";
}

static double seconds_since(uint64_t ns)
{
    return (double)(wr_clock_ns() - ns) * 1e-9;
}

static bool is_stopped(const struct save_bench *b)
{
    return b->plan->stopped && b->plan->stopped();
}

static int check_stopped(const struct save_bench *b, weir_err *err)
{
    return is_stopped(b) ? wr_fail(err, WEIR_ECANCELED, "stopped") : 0;
}

/* One save begins. */
static void tell(const struct save_bench *b)
{
    double cost = b->cost[b->way];
    struct wr_ckpt_bench_step s = {.what = ckpt_way_name(b->way),
                                   .part = b->spent / b->total,
                                   .next = (b->spent + cost) / b->total,
                                   .seconds = b->last_s};

    if (isnan(s.seconds) && b->known)
        s.seconds = cost;
    if (b->plan->progress)
        b->plan->progress(b->plan->progress_arg, &s);
}

/* --- how long it will take --- */

/* Of a URL's emulated device; false for anything else. */
static bool find_profile(const char *url, struct wr_device_profile *ret)
{
    struct wr_emu_url emu;

    return wr_emu_url(url, &emu) &&
           wr_device_profile_find(emu.profile, ret, NULL) == 0;
}

static double seconds_at(uint64_t bytes, double bytes_per_s)
{
    return bytes_per_s > 0 ? (double)bytes / bytes_per_s : 0;
}

/* Seconds from one save to the next; NaN when a device is not known. */
static double expect_save(const struct wr_ckpt_bench_plan *p,
                          enum wr_ckpt_way way)
{
    struct wr_device_profile fast, slow;
    uint64_t bytes = p->load->bytes;
    double to_fast, to_slow, drain;

    if (!find_profile(p->fast, &fast) ||
        (p->slow && !find_profile(p->slow, &slow)))
        return NAN;
    to_fast = seconds_at(bytes, fast.write_bytes_per_s);
    to_slow = p->slow ? seconds_at(bytes, slow.write_bytes_per_s) : 0;
    drain = to_slow +
            (p->verify ? seconds_at(bytes, slow.read_bytes_per_s) : 0);
    if (way == WR_CKPT_SLOW)
        return to_slow + p->interval_s;
    if (way == WR_CKPT_FAST)
        return to_fast + p->interval_s;
    return p->interval_s > 0 ? to_fast + p->interval_s : to_fast + drain;
}

double wr_ckpt_bench_expect(const struct wr_ckpt_bench_plan *plan)
{
    double sum = 0;

    for (int w = 0; w < WR_CKPT_WAYS; w++)
        if (plan->ways[w])
            sum += expect_save(plan, (enum wr_ckpt_way)w) *
                   (plan->warmups + plan->saves);
    return sum;
}

/* What each save is of the whole; alike where nothing is known. */
static void weigh(struct save_bench *b)
{
    b->known = !isnan(wr_ckpt_bench_expect(b->plan));
    for (int w = 0; w < WR_CKPT_WAYS; w++) {
        b->cost[w] = b->known ? expect_save(b->plan, (enum wr_ckpt_way)w) : 1;
        b->cost[w] = fmax(b->cost[w], 1e-3); /* a device without limits */
        if (b->plan->ways[w])
            b->total += b->cost[w] * (b->plan->warmups + b->plan->saves);
    }
}

static double copy_once(const struct wr_ckpt_load *l, uint8_t *to)
{
    uint64_t start = wr_clock_ns();

    memcpy(to, l->memory, l->bytes);
    __asm__ volatile("" : : "r"(to) : "memory"); /* it is never read */
    return seconds_since(start);
}

/* One plain copy of the state into memory that was touched before. */
static int measure_memcpy(const struct save_bench *b, double *ret,
                          weir_err *err)
{
    const struct wr_ckpt_load *l = b->plan->load;
    uint8_t *to = wr_big_alloc(l->bytes + 1);
    double took[COPIES];
    int r;

    if (!to)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    copy_once(l, to);
    r = wr_together_begin(&b->together, err);
    for (unsigned i = 0; r == 0 && i < COPIES && !is_stopped(b); i++)
        took[i] = copy_once(l, to);
    wr_big_free(to, l->bytes + 1);
    if (r == 0)
        r = check_stopped(b, err);
    if (r < 0)
        return r;
    *ret = wr_stats_median(took, COPIES);
    return wr_together_slowest(&b->together, ret, err);
}

/* --- one way of saving --- */

static int open_store(struct save_bench *b, enum wr_ckpt_way way, weir_err *err)
{
    weir_ckpt_config cfg;

    weir_ckpt_defaults(&cfg);
    cfg.fast = way == WR_CKPT_SLOW ? b->slow : b->fast;
    cfg.slow = way == WR_CKPT_BURST || way == WR_CKPT_ASYNC ? b->slow : NULL;
    cfg.verify = b->plan->verify;
    cfg.keep_last = 1;
    cfg.reserve = b->plan->load->bytes;
    if (wr_together_is(&b->together)) {
        cfg.rank = b->plan->comm->rank;
        cfg.world = b->plan->comm->world;
        cfg.comm = b->plan->comm_url;
        cfg.comm_timeout_ms = RANKS_MS;
    }
    b->saver = (struct wr_saves){.stopped = b->plan->stopped,
                                 .random = true,
                                 .strict = true,
                                 .zero_ns = b->start_ns};
    return wr_saves_open(&b->saver, &cfg, err);
}

/* The training between two saves, which can be interrupted. */
static int train(struct save_bench *b, weir_err *err)
{
    uint64_t end = wr_clock_ns() + (uint64_t)(b->plan->interval_s * 1e9);

    if (b->plan->interval_s <= 0)
        return wr_saves_settle(
            &b->saver, b->plan->verify ? WEIR_LEVEL_VERIFIED : WEIR_LEVEL_SLOW,
            err);
    for (uint64_t now; (now = wr_clock_ns()) < end && !is_stopped(b);)
        wr_clock_sleep_until(WR_MIN(end, now + STEP_MS * WR_NS_PER_MS));
    return check_stopped(b, err);
}

/* Of the only tier there is, it is the slow one where that is what it stands
 * for. */
static void note_save(const struct save_bench *b, const struct wr_saved *s,
                      struct wr_ckpt_save_values *ret)
{
    bool is_slow = b->way == WR_CKPT_SLOW;

    wr_vals_clear(&wr_ckpt_save_vals, ret);
    ret->at_s = s->at_s;
    ret->stall_s = s->stall_s;
    ret->blocked_s = s->blocked_s;
    ret->fast_s = is_slow ? NAN : s->fast_s;
    ret->slow_s = is_slow ? s->fast_s : s->slow_s;
    ret->verified_s = s->verified_s;
    ret->drain_s = s->drain_s;
}

static int save_once(struct save_bench *b, struct wr_ckpt_save_values *ret,
                     weir_err *err)
{
    const struct wr_ckpt_load *l = b->plan->load;
    weir_ckpt_state state = {
        .step = b->done + 1, .tensors = l->tensors, .count = l->count};
    enum weir_level level = b->way == WR_CKPT_ASYNC ? WEIR_LEVEL_SNAPSHOT
                                                    : WEIR_LEVEL_FAST;
    struct wr_saves *s = &b->saver;
    int r = wr_together_begin(&b->together, err);

    if (r == 0)
        r = wr_saves_save(s, &state, level, err);
    if (r == 0)
        r = train(b, err);
    if (r == 0) /* of an earlier save: what is measured would mean nothing */
        r = weir_ckpt_problem(s->c, err);
    if (r < 0)
        return r;
    wr_saves_look(s, &s->last);
    note_save(b, &s->last, ret);
    r = wr_ckpt_join_save(&b->together, ret, err);
    wr_vals_derive(&wr_ckpt_save_vals, ret);
    return r;
}

static int measure_restore(struct save_bench *b, double *ret, weir_err *err)
{
    const struct wr_ckpt_load *l = b->plan->load;
    const weir_ckpt_state into = {.tensors = l->tensors, .count = l->count};
    struct wr_saved load;
    int r = wr_together_begin(&b->together, err);

    if (r < 0)
        return r;
    r = wr_saves_restore(&b->saver, &into, &load, err);
    if (r == 0)
        r = wr_fail(err, WEIR_ENOENT, "what was saved is not there");
    if (r < 0)
        return r;
    *ret = load.stall_s;
    return 0;
}

static void take_medians(struct wr_ckpt_case_values *v)
{
    struct wr_ckpt_save_values m;

    wr_vals_median(&wr_ckpt_save_vals, &m, &v->runs);
    v->result.stall_s = m.stall_s;
    v->result.blocked_s = m.blocked_s;
    v->result.fast_s = m.fast_s;
    v->result.slow_s = m.slow_s;
    v->result.verified_s = m.verified_s;
    v->result.drain_s = m.drain_s;
    wr_vals_derive(&wr_ckpt_result_vals, &v->result);
}

static int run_saves(struct save_bench *b, struct wr_ckpt_bench_case *k,
                     weir_err *err)
{
    const struct wr_ckpt_bench_plan *p = b->plan;
    struct wr_ckpt_save_values warm, *saves = k->v.runs.v;
    weir_ckpt_stats stats;
    int r = 0;

    for (unsigned i = 0; i < p->warmups + p->saves && r == 0; i++) {
        uint64_t start = wr_clock_ns();

        tell(b);
        r = check_stopped(b, err); /* a save cannot be interrupted */
        if (r < 0)
            break;
        /* What is saved is all different from step to step. */
        wr_ckpt_load_step((struct wr_ckpt_load *)(uintptr_t)p->load, b->done);
        r = save_once(b, i < p->warmups ? &warm : &saves[k->v.runs.count], err);
        k->v.runs.count += r == 0 && i >= p->warmups;
        b->done++;
        b->spent += b->cost[k->way];
        b->last_s = seconds_since(start);
    }
    if (r == 0 && p->restore)
        r = measure_restore(b, &k->v.result.restore_s, err);
    weir_ckpt_get_stats(b->saver.c, &stats);
    k->v.memory = (double)stats.memory;
    k->v.skipped = (double)stats.skipped;
    k->v.result.bytes = (double)p->load->bytes;
    return r < 0 ? r : wr_ckpt_join_case(&b->together, k, err);
}

/* Removes the folder `url`. */
static int remove_folder(const char *url, weir_err *err)
{
    struct wr_store *st;
    char *parent, *name;
    int r = wr_url_split(url, &parent, &name, err);

    if (r < 0)
        return r;
    r = wr_store_open_own(parent, &st, err);
    if (r == 0) {
        r = wr_tree_remove(st, name, BENCH_TREE, err);
        wr_store_close(st);
    }
    free(parent);
    free(name);
    return r;
}

/* What a bench that was killed left is of no use, and in the way. The lock says
 * whether one is alive. Nothing is removed that has not its mark. */
static int make_empty(const char *url, weir_err *err)
{
    weir_ckpt_config cfg;
    weir_ckpt *c;
    int r;

    weir_ckpt_defaults(&cfg);
    cfg.fast = url;
    cfg.role = WEIR_CKPT_ADOPT; /* whatever tier of a store it is */
    r = wr_bench_store_check(url, err);
    if (r < 0)
        return r;
    r = weir_ckpt_open(&c, &cfg, err);
    if (r == WEIR_ENOENT)
        return 0;
    if (r < 0)
        return r;
    r = wr_bench_store_mark(url, err); /* a killed removal goes on later */
    weir_ckpt_close(&c, NULL);
    return r < 0 ? r : remove_folder(url, err);
}

static int clean(const struct save_bench *b, weir_err *err)
{
    int r = make_empty(b->fast, err);
    int q = b->slow ? make_empty(b->slow, r < 0 ? NULL : err) : 0;

    return r < 0 ? r : q;
}

/* By one rank for all, which have closed their stores. */
static int clean_together(const struct save_bench *b, weir_err *err)
{
    weir_err why;
    int r = wr_together_begin(&b->together, err);

    if (r < 0 || !wr_together_is(&b->together))
        return r < 0 ? r : clean(b, err);
    r = b->plan->comm->rank == 0 ? clean(b, &why) : 0;
    return wr_comm_agree(b->plan->comm, r, &why, err);
}

/* After a failure, of which each rank takes its time to hear: by each, because
 * any of them may be the one that died. */
static int clean_after(const struct save_bench *b, weir_err *err)
{
    int r = clean(b, err);

    for (unsigned i = 0; r < 0 && r != WEIR_ESTATE && i < CLEAN_TRIES; i++) {
        wr_clock_sleep_until(wr_clock_ns() + CLEAN_MS * WR_NS_PER_MS);
        r = clean(b, err);
    }
    return r;
}

static int run_way(struct save_bench *b, enum wr_ckpt_way way,
                   struct wr_ckpt_bench_case *k, weir_err *err)
{
    int r, q;

    *k = (struct wr_ckpt_bench_case){.way = way};
    wr_vals_clear(&wr_ckpt_case_vals, &k->v);
    k->v.way = ways[way].key;
    k->v.name = ways[way].name;
    b->way = way;
    b->last_s = NAN;
    k->v.runs.v = calloc(b->plan->saves, k->v.runs.step);
    if (!k->v.runs.v)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = check_stopped(b, err);
    if (r == 0)
        r = clean_together(b, err);
    if (r == 0)
        r = open_store(b, way, err);
    if (r == 0)
        r = run_saves(b, k, err);
    q = wr_saves_close(&b->saver, r < 0 ? NULL : err);
    free(b->saver.saves);
    b->saver = (struct wr_saves){0};
    if (r < 0)
        return r;
    take_medians(&k->v);
    return q;
}

/* --- all ways --- */

static int place(const char *under, const char *name, char **ret, weir_err *err)
{
    size_t n = strlen(under);

    if (asprintf(ret, "%s%s%s", under, n && under[n - 1] == '/' ? "" : "/",
                 name) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

static int places(const char *fast, const char *slow, struct save_bench *b,
                  weir_err *err)
{
    int r = place(fast, "weir-ckpt-bench-fast", &b->fast, err);

    if (r == 0 && slow)
        r = place(slow, "weir-ckpt-bench-slow", &b->slow, err);
    return r;
}

int wr_ckpt_bench_clean(const char *fast, const char *slow, weir_err *err)
{
    struct save_bench b = {0};
    int r = places(wr_url_path(fast), slow ? wr_url_path(slow) : NULL, &b, err);

    if (r == 0)
        r = clean_after(&b, err);
    free(b.fast);
    free(b.slow);
    return r;
}

static int run_ways(struct save_bench *b, struct wr_ckpt_bench_report *ret,
                    weir_err *err)
{
    const struct wr_ckpt_bench_plan *p = b->plan;
    int r = measure_memcpy(b, &ret->memcpy_s, err);

    for (int w = 0; w < WR_CKPT_WAYS && r == 0; w++)
        if (p->ways[w])
            r = run_way(b, (enum wr_ckpt_way)w, &ret->cases[ret->count++], err);
    if (r == 0)
        return clean_together(b, err);
    wr_together_give_up(&b->together, err);
    if (wr_together_is(&b->together))
        clean_after(b, NULL);
    else
        clean(b, NULL);
    return r;
}

int wr_ckpt_bench(const struct wr_ckpt_bench_plan *plan,
                  struct wr_ckpt_bench_report *ret, weir_err *err)
{
    struct wr_ckpt_bench_report report = {.memcpy_s = NAN};
    struct save_bench b = {.plan = plan, .start_ns = wr_clock_ns()};
    weir_err why;
    int r = wr_together_open(&b.together, plan->comm, &why);

    if (r == 0)
        r = places(plan->fast, plan->slow, &b, &why);
    weigh(&b);
    report.cases = calloc(WR_CKPT_WAYS, sizeof(*report.cases));
    if (r == 0 && !report.cases)
        r = wr_fail(&why, WEIR_ENOMEM, "out of memory");
    if (r == 0)
        r = run_ways(&b, &report, &why);
    wr_together_close(&b.together);
    free(b.fast);
    free(b.slow);
    if (r < 0)
        wr_ckpt_bench_done(&report);
    else
        *ret = report;
    return r < 0 ? wr_fail_as(err, r, &why) : 0;
}

void wr_ckpt_bench_done(struct wr_ckpt_bench_report *r)
{
    for (size_t i = 0; r->cases && i < r->count; i++) {
        wr_vals_done(&wr_ckpt_case_vals, &r->cases[i].v);
        json_decref(r->cases[i].said);
    }
    free(r->cases);
    *r = (struct wr_ckpt_bench_report){0};
}
