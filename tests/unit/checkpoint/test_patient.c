/* test_patient.c - calls that look at a slow tier which does not answer.
 * SPDX-License-Identifier: Apache-2.0
 *
 * While the file `hung` is there, no request to the slow tier of a path with
 * `where` in it returns. */
#include "saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define LIMIT_MS 1000
#define SLACK_NS (100 * WR_NS_PER_SEC) /* of a busy machine */

static void file_of(const struct saves *s, char ret[SAVES_PATH])
{
    snprintf(ret, SAVES_PATH, "%s/hung", s->root);
}

static void hang(const struct saves *s)
{
    char path[SAVES_PATH];

    file_of(s, path);
    assert_int_equal(close(creat(path, 0600)), 0);
}

/* A close that has little patience may leave a thread behind on a busy machine,
 * which holds the lock of the slow tier for a moment more. */
static void wait_for_threads(unsigned threads)
{
    while (saves_threads() > threads)
        wr_clock_sleep_until(wr_clock_ns() + WR_NS_PER_MS);
}

static void answer(const struct saves *s, unsigned threads)
{
    char path[SAVES_PATH];

    file_of(s, path);
    assert_int_equal(unlink(path), 0);
    wait_for_threads(threads);
}

static weir_ckpt_config config(const struct saves *s, const char *where,
                               enum weir_ckpt_role role)
{
    char path[SAVES_PATH], rules[SAVES_PATH + 40];
    weir_ckpt_config cfg;

    file_of(s, path);
    snprintf(rules, sizeof(rules), "hang=%s%s%s", path, *where ? "@~" : "",
             where);
    cfg = saves_config(s,
                       (struct saves_tiers){.two = true, .slow_rules = rules});
    cfg.role = role;
    cfg.drain_timeout_ms = LIMIT_MS;
    cfg.close_timeout_ms = 50;
    cfg.keep_fast = 0;
    return cfg;
}

static int do_restore(weir_ckpt *c, struct saves *s, weir_err *err)
{
    return weir_ckpt_restore(c, WEIR_LATEST, &s->tensor, 1, NULL, err);
}

static int do_look(weir_ckpt *c, struct saves *s, weir_err *err)
{
    return weir_ckpt_look(c, 1, NULL, err);
}

static int do_list(weir_ckpt *c, struct saves *s, weir_err *err)
{
    weir_ckpt_entry *list;
    size_t count;
    int r = weir_ckpt_list(c, &list, &count, err);

    if (r == 0)
        free(list);
    return r;
}

static int do_verify(weir_ckpt *c, struct saves *s, weir_err *err)
{
    return weir_ckpt_verify(c, WEIR_LATEST, NULL, NULL, err);
}

static int do_drain(weir_ckpt *c, struct saves *s, weir_err *err)
{
    return weir_ckpt_drain(c, err);
}

static int do_pin(weir_ckpt *c, struct saves *s, weir_err *err)
{
    return weir_ckpt_pin(c, 1, 1, err);
}

static int do_prune(weir_ckpt *c, struct saves *s, weir_err *err)
{
    weir_ckpt_prune_plan plan = {.keep_last = 1, .spare = 1};

    return weir_ckpt_prune(c, &plan, err);
}

static int do_remove(weir_ckpt *c, struct saves *s, weir_err *err)
{
    return weir_ckpt_remove(c, 1, NULL, err);
}

static int do_adopt(weir_ckpt *c, struct saves *s, weir_err *err)
{
    return weir_ckpt_adopt(c, WEIR_LATEST, NULL, NULL, err);
}

static int do_discard(weir_ckpt *c, struct saves *s, weir_err *err)
{
    return weir_ckpt_discard(c, WEIR_LATEST, NULL, NULL, err);
}

static int do_export(weir_ckpt *c, struct saves *s, weir_err *err)
{
    char to[SAVES_PATH];

    snprintf(to, sizeof(to), "%s/exported", s->root);
    return weir_ckpt_export(c, 1, to, NULL, err);
}

static const struct call {
    const char *name;
    int (*run)(weir_ckpt *c, struct saves *s, weir_err *err);
    enum weir_ckpt_role role;
    bool data; /* it reads what files hold */
} calls[] = {
    {"restore", do_restore, WEIR_CKPT_READ, true},
    {"look", do_look, WEIR_CKPT_READ, true},
    {"list", do_list, WEIR_CKPT_READ, false},
    {"verify", do_verify, WEIR_CKPT_READ, true},
    {"export", do_export, WEIR_CKPT_READ, true},
    {"pin", do_pin, WEIR_CKPT_MANAGE, false},
    {"prune", do_prune, WEIR_CKPT_MANAGE, false},
    {"remove", do_remove, WEIR_CKPT_MANAGE, false},
    {"discard", do_discard, WEIR_CKPT_MANAGE, false},
    {"adopt", do_adopt, WEIR_CKPT_ADOPT, false},
    {"drain", do_drain, WEIR_CKPT_DRAIN, false},
    {"drain", do_drain, WEIR_CKPT_SAVE, false},
    {"restore", do_restore, WEIR_CKPT_SAVE, true},
    {"verify", do_verify, WEIR_CKPT_SAVE, true},
    {"prune", do_prune, WEIR_CKPT_SAVE, false},
    {"list", do_list, WEIR_CKPT_SAVE, false},
};

/* A store with one step on the slow tier alone, and one on the fast. */
static void fill(struct saves *s)
{
    weir_ckpt_config cfg = config(s, "", WEIR_CKPT_SAVE);
    unsigned threads = saves_threads();
    weir_ckpt *c = saves_open(&cfg);

    saves_must(s, c, 1, WEIR_LEVEL_VERIFIED);
    assert_int_equal(weir_ckpt_drain(c, NULL), 0);
    saves_close(c);
    wait_for_threads(threads);
    cfg.drain = 0;
    c = saves_open(&cfg);
    saves_must(s, c, 2, WEIR_LEVEL_FAST);
    saves_close(c);
    wait_for_threads(threads);
}

/* It was given its time, but for what the tier had been silent before. */
static void check_silent(const char *name, int r, uint64_t begun_ns,
                         const weir_err *err)
{
    uint64_t took_ns = wr_clock_ns() - begun_ns;

    if (r != WEIR_ETIMEDOUT || !strstr(err->msg, "answer"))
        fail_msg("%s: %d, %s", name, r, r < 0 ? err->msg : "");
    if (took_ns < LIMIT_MS * WR_NS_PER_MS / 2 || took_ns > SLACK_NS)
        fail_msg("%s: took %.3f s", name, (double)took_ns * 1e-9);
}

/* What the caller has stays as it is once a call has returned, whenever the
 * tier answers. */
static void check_untouched(struct saves *s, weir_ckpt **c, unsigned threads)
{
    memset(s->w, 0x5a, SAVES_COUNT * sizeof(*s->w));
    weir_ckpt_close(c, NULL);
    assert_null(*c);
    answer(s, threads);
    for (size_t i = 0; i < SAVES_COUNT; i++)
        assert_int_equal(s->w[i], 0x5a5a5a5a);
}

static void run_call(const struct call *call, const char *where)
{
    unsigned threads = saves_threads();
    weir_ckpt_config cfg, next;
    uint64_t begun_ns;
    struct saves *s;
    weir_ckpt *c;
    weir_err err;

    saves_setup((void **)&s);
    fill(s);
    cfg = config(s, where, call->role);
    if (call->role == WEIR_CKPT_SAVE)
        cfg.max_behind = 0;
    c = saves_open(&cfg);
    if (call->role == WEIR_CKPT_SAVE)
        saves_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED);
    hang(s);
    begun_ns = wr_clock_ns();
    for (int k = 0; k < 2; k++) /* the second time as the first */
        check_silent(call->name, call->run(c, s, &err), begun_ns, &err);
    if (call->role == WEIR_CKPT_SAVE)
        saves_must(s, c, 3, WEIR_LEVEL_FAST);
    check_untouched(s, &c, threads);
    /* The fast tier and, by now, the slow one are free. */
    next = config(s, "", WEIR_CKPT_SAVE);
    c = saves_open(&next);
    saves_must(s, c, 9, WEIR_LEVEL_SLOW);
    saves_close(c);
    saves_teardown((void **)&s);
}

static void calls_end(void **state)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(calls); i++)
        run_call(&calls[i], "");
    (void)state;
}

/* Names are told, and what a file holds is not. */
static void calls_for_data_end(void **state)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(calls); i++)
        if (calls[i].data)
            run_call(&calls[i], "r00000");
    (void)state;
}

static void opening_ends(void **state)
{
    struct saves *s = *state;
    unsigned threads = saves_threads();

    fill(s);
    for (int role = WEIR_CKPT_SAVE; role <= WEIR_CKPT_ADOPT; role++) {
        weir_ckpt_config cfg = config(s, "", (enum weir_ckpt_role)role);
        uint64_t begun_ns;
        weir_ckpt *c = NULL;
        weir_err err;

        hang(s);
        begun_ns = wr_clock_ns();
        check_silent("open", weir_ckpt_open(&c, &cfg, &err), begun_ns, &err);
        assert_null(c);
        answer(s, threads);
        c = saves_open(&cfg);
        saves_close(c);
    }
}

/* It was slow, and no request took too long. */
static void a_slow_tier_is_only_slow(void **state)
{
    struct saves *s = *state;
    weir_ckpt_config cfg;
    weir_ckpt *c;

    fill(s);
    cfg = saves_config(
        s, (struct saves_tiers){.two = true, .slow_rules = "delay=120"});
    cfg.role = WEIR_CKPT_READ;
    cfg.drain_timeout_ms = 1000;
    c = saves_open(&cfg);
    for (int i = 0; i < 10; i++)
        assert_int_equal(weir_ckpt_restore(c, 1, &s->tensor, 1, NULL, NULL), 1);
    assert_int_equal(s->w[0], 2);
    assert_int_equal(s->w[SAVES_COUNT - 1], 2);
    saves_close(c);
}

static void *nothing(void *arg)
{
    return arg;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, saves_setup, saves_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_end),
        cmocka_unit_test(calls_for_data_end),
        TEST(opening_ends),
        TEST(a_slow_tier_is_only_slow),
    };
    pthread_t first;

    /* TSan starts a thread of its own beside the first one. */
    if (pthread_create(&first, NULL, nothing, NULL) == 0)
        pthread_join(first, NULL);
    saves_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
