/* test_engine_stress.c - random pipelines against a naive count of samples.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every case draws a data set, an order, tiers, faults and a way to end; then
 * each sample must have come once an epoch, with the right bytes, or be named
 * as bad. The seed is fixed; WEIR_STRESS_SEED and WEIR_STRESS_CASES make it
 * another run or a longer one. A case that hangs is named and ended. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "fixture.h"
#include "model.h"
#include "pipeline/schedule.h"
#include "stress_sets.h"

#define CASES      150
#define CASE_LIMIT 60 /* seconds, under a sanitizer too */
#define MOST_EPOCH 3
#define HELD       4 /* batches that a consumer keeps at most */

struct watcher {
    const weir_pipeline *pipe; /* borrowed */
    atomic_bool stop;
};

/* One case. */
struct plan {
    struct wr_rng rng;
    const struct set *set; /* borrowed */
    weir_pipeline_config cfg;
    char prefix[100], spec[800];
    const char *rule;
    bool sure;     /* which samples are bad does not depend on timing */
    bool turns;    /* the knobs are turned while it runs */
    uint32_t held; /* batches kept while others are asked for */
    bool resumed, cut, watched, twin;
    uint8_t seen[MOST_EPOCH][MOST_N];      /* times delivered */
    uint8_t bad[MOST_EPOCH][MOST_N];       /* times named */
    bool lost[MOST_N];                     /* sure: these are bad */
    uint64_t ids[MOST_EPOCH * 2 * MOST_N]; /* of this rank, padding too */
    size_t id_count;
};

static uint32_t draw(struct plan *p, uint32_t n)
{
    return (uint32_t)(wr_rng_next(&p->rng) % n);
}

/* --- naming a case --- */

static char at_case[1400];

static void tell_hang(int sig)
{
    static const char text[] = "\nHANG in ";

    (void)sig;
    (void)!write(2, text, sizeof(text) - 1);
    (void)!write(2, at_case, strlen(at_case));
    abort();
}

static void name_case(const struct plan *p)
{
    const weir_pipeline_config *c = &p->cfg;

    snprintf(at_case, sizeof(at_case),
             "seed %llu case %u: %s, rule '%s', cache '%s'%s, order %d block "
             "%u, world %u, batch %u, remainder %d, stages %d, threads %d, "
             "depth %d, prefetch %d, memory %d, turns %d, held %u, resumed "
             "%d\n",
             (unsigned long long)p->rng.seed, (unsigned)p->rng.stream,
             p->set->name, p->rule, c->cache ? c->cache : "",
             c->cache_what ? " decoded" : "", c->order, c->block_samples,
             c->world, c->batch, c->remainder, c->stages, (int)c->threads,
             (int)c->depth, (int)c->prefetch, (int)c->memory, p->turns, p->held,
             p->resumed);
}

static int set_up(void **state)
{
    *state = ss_make();
    return 0;
}

static int tear_down(void **state)
{
    if (at_case[0]) /* it failed there */
        print_error("%s", at_case);
    ss_done(*state);
    return 0;
}

/* --- drawing a case --- */

static void draw_order(struct plan *p)
{
    weir_pipeline_config *c = &p->cfg;

    c->batch = 1 + draw(p, 9);
    c->order = (enum weir_order)draw(p, 3);
    c->block_samples = (const uint32_t[]){1, 3, 16, 64, 400}[draw(p, 5)];
    c->block_window = 1 + draw(p, 5);
    c->seed = wr_rng_next(&p->rng);
    c->epochs = 1 + draw(p, MOST_EPOCH);
    c->world = draw(p, 3) ? 1 : 1 + draw(p, 3);
    c->remainder = (enum weir_remainder)draw(p, 3);
    c->stages = (enum weir_stages)(draw(p, 3) ? 0 : draw(p, 3));
}

static void draw_speed(struct plan *p)
{
    weir_pipeline_config *c = &p->cfg;

    c->threads = 1 + draw(p, 5);
    c->depth = (const uint32_t[]){1, 2, 5, 16, WEIR_AUTO}[draw(p, 5)];
    c->prefetch = (const uint32_t[]){0, 1, 2, 3, WEIR_AUTO}[draw(p, 5)];
    c->memory = (const uint64_t[]){0, 1, 64 << 10, 4 << 20}[draw(p, 4)];
    c->direct = !draw(p, 4);
    c->io = (enum weir_io)draw(p, 3);
    p->turns = draw(p, 2);
    p->held = draw(p, 3) ? 0 : draw(p, HELD);
}

static void draw_cache(struct plan *p, const struct place *pl)
{
    static const char *const rams[] = {"ram:4KiB", "ram:16KiB", "ram:64MiB"};
    static const char *const rules[] = {"", "",
                                        "fault:eio@%5:", "fault:flip@%7:"};
    const char *ram = rams[draw(p, 3)];
    const char *rule = rules[draw(p, 4)];
    const char *size = draw(p, 3) ? "8MiB" : "40KiB";
    char dir[400];

    snprintf(dir, sizeof(dir), "%s%s:%s", rule, pl->tier, size);
    switch (draw(p, 5)) {
    case 0:
        snprintf(p->spec, sizeof(p->spec), "%s", ram);
        break;
    case 1:
        snprintf(p->spec, sizeof(p->spec), "%s", dir);
        break;
    case 2:
        snprintf(p->spec, sizeof(p->spec), "%s,%s", ram, dir);
        break;
    default:
        return;
    }
    p->cfg.cache = p->spec;
    if (p->cfg.stages == WEIR_STAGES_ALL && draw(p, 2))
        p->cfg.cache_what = WEIR_CACHE_DECODED;
}

static void draw_faults(struct plan *p)
{
    static const char *const rules[] = {
        "",           "",        "eio@%13",     "short@%9", "eio@150+",
        "short=3@97", "eio@~3.", "delay=1@%40", "flip@%11", "flip=100@%7"};
    uint32_t k = draw(p, 10);

    if (k >= 8 && !p->set->checked)
        k = 0;
    p->rule = rules[k];
    p->sure = k < 2 || k == 6 || k == 7;
    if (*p->rule)
        snprintf(p->prefix, sizeof(p->prefix), "fault:%s:", p->rule);
}

/* Some byte of the tier goes wrong, or all of it goes. */
static void harm_tier(struct plan *p, const struct place *pl)
{
    uint32_t how = draw(p, 8);

    if (how == 0)
        ss_run("rm -rf '%s'/weir-cache-*", pl->tier);
    else if (how == 1)
        ss_run(
            "for f in '%s'/weir-cache-*/*/data-*; do [ -s \"$f\" ] && head -c "
            "2000 /dev/zero | dd of=\"$f\" bs=1 seek=%u conv=notrunc "
            "2>/dev/null; done; true",
            pl->tier, draw(p, 4000));
}

/* --- feeding --- */

static void check_batch(struct plan *p, const weir_batch *b)
{
    const struct set *s = p->set;
    bool all = p->cfg.stages == WEIR_STAGES_ALL;

    assert_true(b->count > 0 && b->unique <= b->count);
    assert_true(b->epoch < p->cfg.epochs);
    for (uint32_t i = 0; i < b->count; i++) {
        uint64_t id = b->ids[i];

        assert_true(id < s->n);
        if (i < b->unique)
            p->seen[b->epoch][id]++;
        if (b->labels[i] != s->labels[p->cfg.stages == WEIR_STAGES_READ][id])
            fail_msg("sample %d has label %u", (int)id, b->labels[i]);
        if (all && tk_hash(b, i) != s->hash[id])
            fail_msg("sample %d has wrong bytes", (int)id);
        p->ids[p->id_count++] = id;
    }
}

/* As the tuner would, but wildly. A batch knows who makes it. */
static void turn_knobs(struct plan *p, const weir_batch *b)
{
    struct wr_sched *s = ((const struct wr_batch *)b)->sched;
    struct wr_knobs k = {1 + draw(p, s->cfg.threads), 1 + draw(p, s->cfg.depth),
                         0};

    k.prefetch = s->cfg.prefetch ? 1 + draw(p, s->cfg.prefetch) : 0;
    assert_int_equal(wr_sched_set(s, &k, NULL), 0);
}

/* Up to `most` batches; true at the end. */
static bool take(struct plan *p, weir_pipeline *pipe, size_t most)
{
    const weir_batch *held[HELD], *b = NULL;
    uint32_t n = 0;
    weir_err err = {0};
    int r = 1;

    while (most && (r = weir_pipeline_next(pipe, &b, &err)) != 0) {
        if (r == WEIR_ESTATE && n) {
            weir_batch_release(held[--n]);
            continue;
        }
        if (r < 0) { /* not one good sample: the run says so */
            assert_non_null(strstr(err.msg, "epoch"));
            break;
        }
        most--;
        check_batch(p, b);
        if (p->turns && !draw(p, 3))
            turn_knobs(p, b);
        if (n < p->held)
            held[n++] = b;
        else
            weir_batch_release(b);
    }
    if (draw(p, 2)) /* closing frees the others */
        while (n)
            weir_batch_release(held[--n]);
    if (r < 0)
        p->cut = true;
    return r <= 0;
}

static void note_bad(struct plan *p, weir_pipeline *pipe)
{
    uint64_t n = weir_pipeline_bad_count(pipe);
    const char *at = p->set->several ? "field '" : "'"; /* how texts begin */

    for (uint64_t k = 0; k < n; k++) {
        const weir_bad_sample *s = weir_pipeline_bad(pipe, k);

        assert_non_null(s);
        assert_true(s->id < p->set->n && s->epoch < p->cfg.epochs);
        assert_true(s->code < 0 && s->text);
        assert_int_equal(strncmp(s->text, at, strlen(at)), 0);
        p->bad[s->epoch][s->id]++;
    }
}

/* Every sample that was asked for was found somewhere or nowhere. */
static void check_stats(const struct plan *p, const weir_pipeline *pipe)
{
    weir_stats st;

    weir_pipeline_stats(pipe, &st);
    if (p->cfg.cache && p->sure && !*p->rule && !p->cut && !p->resumed &&
        p->cfg.remainder == WEIR_REMAINDER_KEEP)
        assert_int_equal(st.cache_ram_hits + st.cache_dir_hits +
                             st.cache_misses,
                         st.samples);
}

/* Looks at it all the time, as a monitor would. */
static void *watch(void *arg)
{
    struct watcher *w = arg;
    weir_stats st;
    char text[400];

    while (!atomic_load(&w->stop)) {
        weir_pipeline_stats(w->pipe, &st);
        weir_pipeline_tuning(w->pipe, text, sizeof(text));
        weir_pipeline_cache_error(w->pipe, NULL);
        usleep(100);
    }
    return NULL;
}

static void take_watched(struct plan *p, weir_pipeline *pipe)
{
    struct watcher w = {.pipe = pipe};
    pthread_t thread;

    if (!p->watched) {
        take(p, pipe, SIZE_MAX);
        return;
    }
    assert_int_equal(pthread_create(&thread, NULL, watch, &w), 0);
    take(p, pipe, SIZE_MAX);
    atomic_store(&w.stop, true);
    pthread_join(thread, NULL);
}

static void feed_rank(struct plan *p, const weir_dataset *ds, bool early)
{
    /* One that nobody asks fills the same tiers beside it. */
    weir_pipeline *twin = p->twin ? fx_start(ds, &p->cfg) : NULL;
    weir_pipeline *pipe = fx_start(ds, &p->cfg);
    uint32_t stop = draw(p, 12);
    uint8_t blob[80 + 8 * MOST_N];
    const void *blobs[] = {blob};
    size_t len;

    p->id_count = 0;
    if (early) {
        p->cut = true;
        take(p, pipe, stop / 2);
        if (draw(p, 2))
            usleep(draw(p, 3000));
    } else if (p->resumed && !take(p, pipe, stop)) {
        len = weir_pipeline_state(pipe, blob, sizeof(blob));
        assert_true(len <= sizeof(blob));
        note_bad(p, pipe);
        weir_pipeline_close(&pipe);
        draw_speed(p);
        p->cfg.resume = blobs;
        p->cfg.resume_len = &len;
        p->cfg.resume_count = 1;
        pipe = fx_start(ds, &p->cfg);
        p->cfg.resume_count = 0;
        take(p, pipe, SIZE_MAX);
    } else if (!p->resumed) {
        take_watched(p, pipe);
        check_stats(p, pipe);
    }
    note_bad(p, pipe);
    weir_pipeline_close(&pipe);
    weir_pipeline_close(&twin);
}

/* --- what must have come --- */

/* The order itself, where it cannot depend on timing. */
static void check_order(const struct plan *p)
{
    size_t at = 0;

    for (uint64_t e = 0; e < p->cfg.epochs; e++) {
        struct model m = {
            .cfg = &p->cfg, .n = p->set->n, .epoch = e, .bad = p->lost};

        model_play(&m);
        assert_true(at + m.out.id_count <= p->id_count);
        assert_memory_equal(p->ids + at, m.out.ids,
                            m.out.id_count * sizeof(*p->ids));
        at += m.out.id_count;
        model_done(&m);
    }
    assert_int_equal(at, p->id_count);
}

static void check_once(const struct plan *p)
{
    bool whole = p->cfg.remainder != WEIR_REMAINDER_DROP && !p->cut;

    for (uint64_t e = 0; e < p->cfg.epochs; e++)
        for (uint32_t i = 0; i < p->set->n; i++) {
            unsigned seen = p->seen[e][i], bad = p->bad[e][i];

            if (seen > 1 || (whole && seen + bad == 0) ||
                (!p->resumed && seen + bad > 1))
                fail_msg("epoch %d: sample %u came %u times, was bad %u",
                         (int)e, i, seen, bad);
            if (p->sure && bad && !p->lost[i])
                fail_msg("sample %u was said to be bad", i);
        }
}

static bool is_order_known(const struct plan *p)
{
    bool loses = strstr(p->rule, "eio") != NULL;

    if (!p->sure || p->cut)
        return false;
    /* What a tier holds is not lost; and a state does not say which samples
     * were repeated. */
    return !loses || (!p->cfg.cache &&
                      !(p->resumed && p->cfg.remainder == WEIR_REMAINDER_PAD));
}

/* Samples of files that cannot be read; "~TEXT" rules name files. */
static void find_lost(struct plan *p, const weir_dataset *ds)
{
    const char *text = strstr(p->rule, "eio@~");
    weir_sample s;
    char name[300];

    for (uint32_t i = 0; text && i < p->set->n; i++) {
        assert_int_equal(
            weir_dataset_sample(ds, i, name, sizeof(name), &s, NULL), 0);
        p->lost[i] = strstr(s.name, text + 5) != NULL;
    }
}

static void play(struct plan *p, const struct place *pl)
{
    weir_dataset *ds;
    bool early;

    p->set = &pl->sets[draw(p, SETS)];
    ss_config(&p->cfg);
    draw_order(p);
    draw_speed(p);
    draw_cache(p, pl);
    draw_faults(p);
    harm_tier(p, pl);
    early = !draw(p, 5);
    p->watched = !draw(p, 4);
    p->twin = !draw(p, 4);
    p->resumed = p->cfg.world == 1 && !draw(p, 3);
    name_case(p);
    ds = ss_open(p->set, p->prefix);
    if (!ds) { /* the rule left no data set to feed from */
        assert_true(*p->rule);
        return;
    }
    find_lost(p, ds);
    for (p->cfg.rank = 0; p->cfg.rank < p->cfg.world; p->cfg.rank++) {
        feed_rank(p, ds, early);
        if (is_order_known(p))
            check_order(p);
    }
    check_once(p);
    weir_dataset_close(&ds);
}

/* --- running --- */

static uint64_t setting(const char *name, uint64_t usual)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : usual;
}

static void random_pipelines(void **state)
{
    uint64_t seed = setting("WEIR_STRESS_SEED", 1);
    uint32_t cases = (uint32_t)setting("WEIR_STRESS_CASES", CASES);
    uint32_t first = (uint32_t)setting("WEIR_STRESS_FIRST", 0);
    struct plan *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    signal(SIGALRM, tell_hang);
    for (uint32_t k = first; k < first + cases; k++) {
        memset(p, 0, sizeof(*p));
        p->rng = (struct wr_rng){.seed = seed, .stream = k};
        p->rule = "";
        alarm(CASE_LIMIT);
        play(p, *state);
    }
    alarm(0);
    at_case[0] = '\0';
    free(p);
}

/* A gzip shard that was cut costs its own samples, and two attempts an epoch,
 * however many samples ask for it. */
static void a_cut_gzip_shard_is_tried_twice(void **state)
{
    const struct place *pl = *state;
    const struct set *s = &pl->sets[GZIPPED];
    weir_dataset *ds = ss_open(s, "");
    weir_pipeline_config cfg;
    weir_pipeline *p;
    const weir_batch *b;
    weir_stats st;
    uint64_t came = 0;

    assert_non_null(ds);
    ss_run("truncate -s 300 '%s'/00024.tfrecord.gz", s->dir);
    ss_config(&cfg);
    cfg.order = WEIR_ORDER_SHUFFLE;
    cfg.epochs = 2;
    cfg.threads = cfg.depth = 3;
    p = fx_start(ds, &cfg);
    while (weir_pipeline_next(p, &b, NULL) > 0) {
        came += b->count;
        weir_batch_release(b);
    }
    assert_int_equal(came, 2 * (s->n - SHARD));
    assert_int_equal(weir_pipeline_bad_count(p), 2 * SHARD);
    assert_non_null(strstr(weir_pipeline_bad(p, 0)->text, "'00024.tfrecord"));
    weir_pipeline_stats(p, &st);
    /* Two reads an attempt, and one for each of the other shards. */
    assert_in_range(st.requests, 4, 2 * 2 * 2 + s->n / SHARD);
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_pipelines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_gzip_shard_is_tried_twice, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
