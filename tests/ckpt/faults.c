/* faults.c - each request of a save, of a drain, of an open fails once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * For every rule of the fault store and every n: a store whose n-th request of
 * that kind fails is opened, saved to and closed. What was promised has to
 * hold, what failed has to say so, older steps are intact, and the next save
 * without faults works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "checkpoint/store.h"
#include "room.h"
#include "storage/fault.h"
#include "weir/ckpt_manage.h"

#define MOST 400 /* requests of one kind; a run has far fewer */

static const struct {
    const char *rule;
    enum wr_fault_on on;
    bool lasts; /* from the n-th on, not only that one */
    bool heals; /* a second attempt may make good for it, and no call fails */
} rules[] = {
    {"write-eio", WR_FAULT_WRITE, false, false},
    {"write-enospc", WR_FAULT_WRITE, false, false},
    {"write-enospc", WR_FAULT_WRITE, true, false},
    {"write-short", WR_FAULT_WRITE, false, false},
    {"write-flip", WR_FAULT_WRITE, false, false},
    {"sync-eio", WR_FAULT_SYNC, false, true},
    {"sync-eio", WR_FAULT_SYNC, true, false},
    {"sync-enospc", WR_FAULT_SYNC, false, true},
    {"close-eio", WR_FAULT_CLOSE, false, false},
    {"open-eio", WR_FAULT_OPEN, false, false},
    {"create-eio", WR_FAULT_CREATE, false, false},
    {"create-enospc", WR_FAULT_CREATE, true, false},
    {"resize-eio", WR_FAULT_RESIZE, false, false},
    {"resize-enospc", WR_FAULT_RESIZE, true, false},
    {"lock-eio", WR_FAULT_LOCK, false, false},
    {"stat-eio", WR_FAULT_STAT, false, false},
    {"list-eio", WR_FAULT_LIST, false, false},
    {"mkdir-eio", WR_FAULT_MKDIR, false, false},
    {"mkdir-enospc", WR_FAULT_MKDIR, true, false},
    {"remove-eio", WR_FAULT_REMOVE, false, true},
    {"rename-eio", WR_FAULT_RENAME, false, false},
    {"rename-late-eio", WR_FAULT_RENAME, false, false},
    {"rename-enospc", WR_FAULT_RENAME, true, false},
    {"syncdir-eio", WR_FAULT_SYNC_DIR, false, false},
    {"eio", WR_FAULT_READ, false, false},
    {"short", WR_FAULT_READ, false, true},
    {"flip", WR_FAULT_READ, false, false},
};

/* What one run with a fault came to. */
struct outcome {
    bool promised;   /* the save returned 0 */
    unsigned errors; /* of all calls */
    bool mended;     /* a copy did not read back and was written once more */
    uint64_t seen;   /* requests of the kind; UINT64_MAX: not known */
    char text[600];  /* of the first error */
};

static struct wr_store *open_tier(const char *spec, const char *dir)
{
    struct wr_store *st;
    char url[600];
    weir_err err;

    snprintf(url, sizeof(url), "fault:%s:%s", spec, dir);
    if (wr_store_open_own(url, &st, &err) < 0)
        fail_msg("%s", err.msg);
    return st;
}

static void note(struct outcome *o, int r, const weir_err *err)
{
    if (r >= 0)
        return;
    if (!o->errors++)
        snprintf(o->text, sizeof(o->text), "%s", err->msg);
}

static struct outcome run(struct room *rm, bool slow, const char *spec,
                          enum wr_fault_on on, uint64_t step)
{
    struct outcome o = {.seen = UINT64_MAX};
    struct wr_store *fast = open_tier(slow ? "" : spec, rm->fast);
    struct wr_store *far = rm->tiers == 2
                               ? open_tier(slow ? spec : "", rm->slow)
                               : NULL;
    struct wr_store *faulty = slow ? far : fast;
    weir_ckpt_stats stats;
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err = {0};
    int r;

    room_config(rm, NULL, NULL, &cfg);
    r = wr_ckpt_open_stores(&c, &cfg, fast, far, &err);
    note(&o, r, &err);
    if (r < 0)
        return o;
    r = room_save(rm, c, step, WEIR_LEVEL_FAST, &err);
    o.promised = r == 0;
    note(&o, r, &err);
    if (o.promised) {
        r = weir_ckpt_wait(c, step, WEIR_LEVEL_VERIFIED, 120000, &err);
        note(&o, r, &err);
        assert_int_not_equal(r, WEIR_ETIMEDOUT);
    }
    o.seen = wr_fault_seen(faulty, on);
    weir_ckpt_get_stats(c, &stats);
    o.mended = stats.retried > 0;
    r = weir_ckpt_close(&c, &err);
    note(&o, r, &err);
    return o;
}

/* The newest step that was promised is never lost. */
static void check_kept(struct room *rm, uint64_t promised, uint64_t tried,
                       const char *spec)
{
    uint64_t found = room_must_restore(rm, WEIR_LATEST);

    if (found < promised || found > tried)
        fail_msg("%s: step %u was promised, %u tried, %u found", spec,
                 (unsigned)promised, (unsigned)tried, (unsigned)found);
}

/* All n of one rule. */
static uint64_t sweep(struct room *rm, bool slow, unsigned k, uint64_t step)
{
    uint64_t promised = step;
    unsigned failed = 0;
    bool flips = strstr(rules[k].rule, "flip");

    room_must_save(rm, promised);
    for (unsigned n = 1;; n++) {
        struct outcome o;
        char spec[64];

        assert_true(n < MOST);
        snprintf(spec, sizeof(spec), "%s@%u%s", rules[k].rule, n,
                 rules[k].lasts ? "+" : "");
        o = run(rm, slow, spec, rules[k].on, ++step);
        failed += o.errors > 0 || (flips && o.mended);
        if (o.errors && !strchr(o.text, '\''))
            fail_msg("%s: '%s' names nothing", spec, o.text);
        /* What a device lies about is found by reading back, not by saving. */
        if (o.promised && !(flips && o.errors))
            promised = step;
        check_kept(rm, promised, step, spec);
        room_must_save(rm, ++step);
        promised = step;
        if (room_must_restore(rm, WEIR_LATEST) != step)
            fail_msg("%s: the next save is not the newest", spec);
        if (o.seen < n)
            break;
    }
    room_canary_check(rm);
    /* Small files are checked and read once more, or known from elsewhere; how
     * many of them come before the data depends on how long it takes
     * (flipped_data). */
    if (!failed && !rules[k].heals && strcmp(rules[k].rule, "flip") != 0)
        fail_msg("%s: no call told of it", rules[k].rule);
    return step;
}

/* What does not read back as it was written is told. */
static void flipped_data(struct room *rm, uint64_t step)
{
    struct outcome o = run(rm, /* slow= */ true, "flip@~safetensors",
                           WR_FAULT_READ, step);

    assert_true(o.errors > 0 || o.mended);
    check_kept(rm, step - 1, step, "flip@~safetensors");
}

static void sweep_all(struct room *rm, bool slow)
{
    uint64_t step = 1;

    for (unsigned k = 0; k < WR_ARRAY_LEN(rules); k++)
        step = sweep(rm, slow, k, step + 1);
    if (slow)
        flipped_data(rm, step + 1);
}

static void faults_of_one_tier(void **state)
{
    sweep_all(*state, /* slow= */ false);
}

static void faults_of_the_fast_tier(void **state)
{
    sweep_all(*state, /* slow= */ false);
}

static void faults_of_the_slow_tier(void **state)
{
    sweep_all(*state, /* slow= */ true);
}

/* --- reading --- */

static void read_with(struct room *rm, const char *rule, unsigned n)
{
    weir_tensor t = room_tensor(rm);
    weir_ckpt_found *found = NULL;
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err = {0};
    char url[600];
    int r;

    snprintf(url, sizeof(url), "fault:%s@%u:%s", rule, n, rm->fast);
    room_config(rm, url, NULL, &cfg);
    cfg.role = WEIR_CKPT_READ;
    r = weir_ckpt_open(&c, &cfg, &err);
    if (r == 0)
        r = weir_ckpt_restore(c, WEIR_LATEST, &t, 1, &found, &err);
    if (r == 0)
        fail_msg("%s: a store with steps was taken for an empty one", url);
    if (r < 0 && !strchr(err.msg, '\''))
        fail_msg("%s: '%s' names nothing", url, err.msg);
    if (r == 1) {
        assert_true(found->step == 7 || found->passed_over_count > 0);
        room_check(rm, found->step);
    }
    weir_ckpt_found_free(&found);
    weir_ckpt_close(&c, NULL);
}

/* The other tier's copy, an older step, or an error: never wrong values, never
 * nothing. */
static void faults_of_restores(void **state)
{
    static const char *const reading[] = {"eio",      "short",    "flip",
                                          "open-eio", "stat-eio", "list-eio",
                                          "eacces",   "enoent"};
    struct room *rm = *state;

    for (uint64_t s = 5; s <= 7; s++)
        room_must_save(rm, s);
    for (size_t i = 0; i < WR_ARRAY_LEN(reading); i++)
        for (unsigned n = 1; n <= 40; n++)
            read_with(rm, reading[i], n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(faults_of_one_tier, room_setup_one,
                                        room_teardown),
        cmocka_unit_test_setup_teardown(faults_of_the_fast_tier, room_setup_two,
                                        room_teardown),
        cmocka_unit_test_setup_teardown(faults_of_the_slow_tier, room_setup_two,
                                        room_teardown),
        cmocka_unit_test_setup_teardown(faults_of_restores, room_setup_two,
                                        room_teardown),
        cmocka_unit_test_setup_teardown(faults_of_restores, room_setup_one,
                                        room_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
