/* cells.c - a tier is lost, copied, restored from a backup: what each call does.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One row is one cell of the table {fast, slow} x {what happened to it}. In each,
 * whatever is restored is the newest that is there, or something is said; what
 * is there and was acknowledged stays until retention has kept newer steps of the
 * run; and no generation means two writers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cells_kit.h"

#define NEXT UINT64_C(60) /* the step that is saved in each cell */
#define KEEP 2            /* keep_last of it */
#define TEXT 2000

/* What happened to a tier. */
enum fate {
    FINE,
    LOST,      /* the folder is gone */
    UNMOUNTED, /* an empty folder is in its place */
    PLAIN,     /* copied without dot files, the copy is used */
    DOTTED,    /* copied with them */
    BACKUP,    /* an older copy of the whole folder */
    NEW,       /* another folder, empty, is named */
    OTHER,     /* the one of another store */
};

static const struct cell {
    const char *name;
    enum fate fast, slow;
    bool drained;       /* the fast tier has nothing left: all was drained */
    int64_t read;       /* what a reader restores, or an error */
    const char *hint;   /* is in what the reader is told; NULL: nothing is */
    int64_t open;       /* what is restored after open for saving, or its
                           error */
    const char *advice; /* is in what open, or problem, says; NULL: nothing */
} table[] = {
    {"fine", FINE, FINE, false, 55, NULL, 55, NULL},
    /* Steps that only the fast tier had are gone with it: nobody can know. */
    {"fast lost", LOST, FINE, false, WEIR_ENOENT, "mounted", 53, NULL},
    {"fast unmounted", UNMOUNTED, FINE, false, 53, NULL, 53, NULL},
    {"fast plain copy", PLAIN, FINE, false, 55, NULL, 55, NULL},
    {"fast copy", DOTTED, FINE, false, 55, NULL, 55, NULL},
    {"fast backup", BACKUP, FINE, false, 53, NULL, 53, NULL},
    {"fast new", NEW, FINE, false, 53, NULL, 53, NULL},
    {"fast of another store", OTHER, FINE, false, WEIR_ESTATE,
     "weir ckpt adopt", WEIR_ESTATE, "weir ckpt adopt"},

    {"slow lost", FINE, LOST, false, WEIR_ENOENT, "mounted", WEIR_ENOENT,
     "mounted"},
    {"slow unmounted", FINE, UNMOUNTED, false, WEIR_ENOENT, "mounted",
     WEIR_ENOENT, "mounted"},
    {"slow plain copy", FINE, PLAIN, false, 55, NULL, 55, NULL},
    {"slow copy", FINE, DOTTED, false, 55, NULL, 55, NULL},
    {"slow backup", FINE, BACKUP, false, 55, "older", 55, "older"},
    {"slow new", FINE, NEW, false, WEIR_ENOENT, "mounted", WEIR_ENOENT,
     "weir ckpt adopt"},
    {"slow of another store", FINE, OTHER, false, WEIR_ESTATE,
     "weir ckpt adopt", WEIR_ESTATE, "weir ckpt adopt"},

    /* The same where the fast tier has nothing that is newer. */
    {"drained, slow lost", FINE, LOST, true, WEIR_ENOENT, "mounted",
     WEIR_ENOENT, "mounted"},
    {"drained, slow unmounted", FINE, UNMOUNTED, true, WEIR_ENOENT, "mounted",
     WEIR_ENOENT, "mounted"},
    {"drained, slow plain copy", FINE, PLAIN, true, 55, NULL, 55, NULL},
    {"drained, slow backup", FINE, BACKUP, true, 52, "older", WEIR_ESTATE,
     "weir ckpt adopt"},

    /* Both at once. */
    {"both plain copies", PLAIN, PLAIN, false, 55, NULL, 55, NULL},
    {"fast new, slow plain copy", NEW, PLAIN, false, 53, NULL, 53, NULL},
    {"fast plain copy, slow backup", PLAIN, BACKUP, false, 55, "older", 55,
     "older"},
    {"both backups", BACKUP, BACKUP, false, 52, NULL, 52, NULL},
    {"both unmounted, must exist", UNMOUNTED, UNMOUNTED, false, CELLS_EMPTY,
     NULL, WEIR_ENOENT, "mounted"},
};

/* --- what happens --- */

static void make_other(const struct cells *s)
{
    cells_live(cells_at(s->dir, "other-fast"), cells_at(s->dir, "other-slow"),
               (struct cells_life){
                   .first = 70, .last = 71, .level = WEIR_LEVEL_VERIFIED});
}

/* Does it to a tier, whose path becomes another one where that is meant. */
static void suffer(const struct cells *s, enum fate fate, const char *name,
                   char path[CELLS_PATH])
{
    char to[CELLS_PATH];

    snprintf(to, sizeof(to), "%s/%s-%s", s->dir, name,
             fate == NEW ? "new" : "copy");
    switch (fate) {
    case FINE:
        return;
    case LOST:
    case UNMOUNTED:
        cells_remove(path);
        if (fate == UNMOUNTED)
            assert_int_equal(mkdir(path, 0777), 0);
        return;
    case PLAIN:
    case DOTTED:
        cells_copy(path, to, /* dots= */ fate == DOTTED);
        break;
    case BACKUP:
        cells_remove(path);
        snprintf(to, sizeof(to), "%s/%s-then", s->dir, name);
        assert_int_equal(rename(to, path), 0);
        return;
    case NEW:
        assert_int_equal(mkdir(to, 0777), 0);
        break;
    case OTHER:
        make_other(s);
        snprintf(to, sizeof(to), "%s/other-%s", s->dir, name);
        break;
    }
    snprintf(path, CELLS_PATH, "%s", to);
}

/* --- what is there --- */

struct scene {
    const struct cell *is;
    struct cells *s; /* owned */
    char fast[CELLS_PATH], slow[CELLS_PATH];
    struct cells_copies before; /* of both */
    uint64_t highest;           /* generation */
    bool may_make;              /* a store; else must_exist is set */
};

static void look_at(const struct scene *k, struct cells_copies *ret)
{
    ret->count = 0;
    cells_look(k->fast, ret);
    cells_look(k->slow, ret);
}

static bool is_abandoned(const struct cells_copy *c)
{
    return c->step >= 98 && c->step <= 100;
}

/* Opening takes nothing away, neither does a refusal. */
static void check_all_there(const struct scene *k, const char *when)
{
    struct cells_copies now;

    look_at(k, &now);
    for (unsigned i = 0; i < k->before.count; i++)
        if (!cells_find(&now, k->before.all[i].id))
            fail_msg("%s: step %u was there, and is lost after %s", k->is->name,
                     (unsigned)k->before.all[i].step, when);
}

/* What a step that went was replaced by: newer steps of the run. */
static void check_gone(const struct scene *k)
{
    struct cells_copies now;

    look_at(k, &now);
    for (unsigned i = 0; i < k->before.count; i++) {
        const struct cells_copy *c = &k->before.all[i];
        bool newer[NEXT + 1] = {false};
        unsigned n = 0;

        if (cells_find(&now, c->id))
            continue;
        for (unsigned j = 0; j < now.count; j++)
            if (!is_abandoned(&now.all[j]) && !now.all[j].aside &&
                cells_is_newer(&now.all[j], c))
                newer[now.all[j].step % (NEXT + 1)] = true;
        for (unsigned j = 0; j <= NEXT; j++)
            n += newer[j];
        if (n < KEEP)
            fail_msg("%s: step %u went, but only %u newer ones are there",
                     k->is->name, (unsigned)c->step, n);
    }
}

/* The newest of those that the run has left stays. */
static void check_abandoned(const struct scene *k)
{
    struct cells_copies now;

    look_at(k, &now);
    if (!cells_of(&now, 100))
        fail_msg("%s: step 100 is the newest abandoned one, and is lost",
                 k->is->name);
    if (cells_of(&now, 98) || cells_of(&now, 99))
        fail_msg("%s: steps 98 and 99 are abandoned, and stay", k->is->name);
}

/* The number is new, so is the nonce, and the store is named. */
static void check_generation(const struct scene *k)
{
    const struct cells_copy *next;
    struct cells_copies now;
    char id[CELLS_ID];

    look_at(k, &now);
    next = cells_of(&now, NEXT);
    assert_non_null(next);
    if (next->generation <= k->highest)
        fail_msg("%s: generation %u was handed out before", k->is->name,
                 (unsigned)next->generation);
    for (unsigned i = 0; i < k->before.count; i++) {
        if (next->nonce[0] && !strcmp(next->nonce, k->before.all[i].nonce))
            fail_msg("%s: the nonce is not new", k->is->name);
        if (k->before.all[i].store[0] &&
            strcmp(next->store, k->before.all[i].store) != 0)
            fail_msg("%s: the store has become another one", k->is->name);
    }
    if (!next->nonce[0])
        fail_msg("%s: the manifest has no nonce", k->is->name);
    cells_store_id(k->slow, id);
    assert_string_equal(next->store, id);
}

/* --- a dry run --- */

/* What is told of decisions, as one text. */
static void hear_stale(void *arg, const weir_ckpt_stale *s)
{
    char *told = arg;
    size_t len = strlen(told);

    snprintf(told + len, TEXT - len, "%u: %s\n", (unsigned)s->step,
             s->code ? s->text : "adopted");
}

static void adopt(const struct scene *k, bool dry, char told[TEXT])
{
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err;
    int r;

    told[0] = '\0';
    cells_config(k->fast, k->slow, WEIR_CKPT_ADOPT, &cfg);
    cfg.dry_run = dry;
    r = weir_ckpt_open(&c, &cfg, &err);
    if (r == 0)
        r = weir_ckpt_adopt(c, WEIR_LATEST, hear_stale, told, &err);
    if (r < 0)
        hear_stale(told, &(weir_ckpt_stale){.code = r, .text = err.msg});
    weir_ckpt_close(&c, NULL);
}

/* Tells what would happen, and that happens. */
static void check_dry_run(const struct scene *k)
{
    char dry[TEXT], real[TEXT];

    adopt(k, /* dry= */ true, dry);
    check_all_there(k, "a dry run");
    adopt(k, /* dry= */ false, real);
    if (strcmp(dry, real) != 0)
        fail_msg("%s: adopt would do\n%sand does\n%s", k->is->name, dry, real);
}

/* --- what each call does --- */

static void check_told(const struct scene *k, const char *who, const char *told,
                       const char *due)
{
    if (!due && told[0])
        fail_msg("%s: %s is told: %s", k->is->name, who, told);
    if (due && !strstr(told, due))
        fail_msg("%s: %s is told nothing of '%s': %s", k->is->name, who, due,
                 told);
}

static void check_number(const struct scene *k, const char *who, int64_t got,
                         int64_t due, const char *told)
{
    if (got != due)
        fail_msg("%s: %s gets %d, not %d: %s", k->is->name, who, (int)got,
                 (int)due, told);
}

static void check_reader(const struct scene *k)
{
    char told[TEXT] = "";
    int64_t got = cells_latest(k->fast, k->slow, told, sizeof(told));

    check_number(k, "a reader", got, k->is->read, told);
    check_told(k, "a reader", told, k->is->hint);
    check_all_there(k, "a reader");
}

/* Saves, after which retention has done what it does, and prunes. */
static void save_and_prune(const struct scene *k, weir_ckpt *c)
{
    weir_ckpt_prune_plan plan = {.keep_last = KEEP};
    char told[TEXT] = "";
    weir_err err;

    if (cells_put(c, NEXT, 0, WEIR_LEVEL_VERIFIED, &err) != 0)
        fail_msg("%s: save: %s", k->is->name, err.msg);
    if (weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED, -1, &err) < 0)
        fail_msg("%s: wait: %s", k->is->name, err.msg);
    check_gone(k);
    if (weir_ckpt_prune(c, &plan, &err) < 0)
        fail_msg("%s: prune: %s", k->is->name, err.msg);
    check_number(k, "the trainer that has saved",
                 cells_restore(c, WEIR_LATEST, told, sizeof(told)), NEXT, told);
    cells_drop(c, told, sizeof(told));
    check_told(k, "the trainer that has saved", told, NULL);
    check_gone(k);
    check_abandoned(k);
    check_generation(k);
    check_number(k, "a reader of the slow tier",
                 cells_latest(k->slow, NULL, told, sizeof(told)), NEXT, told);
}

static void check_trainer(const struct scene *k)
{
    char told[TEXT] = "";
    weir_ckpt_config cfg;
    weir_ckpt *c = NULL;
    weir_err err;
    int64_t got;

    cells_config(k->fast, k->slow, WEIR_CKPT_SAVE, &cfg);
    cfg.keep_last = KEEP;
    cfg.must_exist = !k->may_make;
    if (weir_ckpt_open(&c, &cfg, &err) < 0) {
        check_number(k, "open", err.code, k->is->open, err.msg);
        check_told(k, "open", err.msg, k->is->advice);
        check_all_there(k, "open");
        return;
    }
    if (k->is->open < 0)
        fail_msg("%s: opened for saving", k->is->name);
    check_all_there(k, "open");
    cells_problems(c, told, sizeof(told));
    check_told(k, "the trainer", told, k->is->advice);
    told[0] = '\0';
    got = cells_restore(c, WEIR_LATEST, told, sizeof(told));
    check_number(k, "the trainer", got, k->is->open, told);
    save_and_prune(k, c);
}

/* All is drained, and nothing of it stays on the fast tier. */
static void drain_fast(const struct cells *s)
{
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    cells_config(s->fast, s->slow, WEIR_CKPT_DRAIN, &cfg);
    cfg.keep_fast = 0;
    c = cells_open(&cfg);
    if (weir_ckpt_drain(c, &err) < 0)
        fail_msg("drain: %s", err.msg);
    cells_close(c);
    assert_int_equal(cells_count(s->fast, "step-"), 0);
}

static int setup_cell(void **state)
{
    struct scene *k = calloc(1, sizeof(*k));
    void *made = NULL;

    if (!k || cells_setup(&made) != 0)
        return -1;
    k->is = *state;
    k->s = made;
    *state = k;
    return 0;
}

static int teardown_cell(void **state)
{
    struct scene *k = *state;
    void *made = k->s;

    free(k);
    return cells_teardown(&made);
}

static void begin_cell(struct scene *k)
{
    const struct cell *is = k->is;

    cells_history(k->s);
    if (is->drained)
        drain_fast(k->s);
    snprintf(k->fast, sizeof(k->fast), "%s", k->s->fast);
    snprintf(k->slow, sizeof(k->slow), "%s", k->s->slow);
    suffer(k->s, is->fast, "fast", k->fast);
    suffer(k->s, is->slow, "slow", k->slow);
    look_at(k, &k->before);
    for (unsigned i = 0; i < k->before.count; i++)
        k->highest = WR_MAX(k->highest, k->before.all[i].generation);
}

static void run_cell(void **state)
{
    struct scene *k = *state;

    begin_cell(k);
    check_reader(k);
    check_trainer(k);
}

/* Where it differs a store is made: nothing tells it from a first run. */
static void run_cell_that_may_make(void **state)
{
    struct scene *k = *state;

    if (k->is->fast == UNMOUNTED && k->is->slow == UNMOUNTED)
        skip();
    k->may_make = true;
    run_cell(state);
}

static void adopt_cell(void **state)
{
    struct scene *k = *state;

    begin_cell(k);
    check_dry_run(k);
}

/* Of two copies of one number that were set aside one can be adopted. */
static void adopt_two_asides(void **state)
{
    static const char name[] =
        ".stale-000000000055-0123456789abcdef0123456789abcde";
    struct scene *k = *state;
    char to[CELLS_PATH + 80];

    begin_cell(k);
    for (char i = '0'; i < '2'; i++) {
        snprintf(to, sizeof(to), "%s/%s%c", k->fast, name, i);
        cells_copy(cells_at(k->fast, "step-000000000055"), to,
                   /* dots= */ true);
    }
    cells_remove(cells_at(k->fast, "step-000000000055"));
    check_dry_run(k);
}

int main(void)
{
    static struct cell cells[WR_ARRAY_LEN(table)]; /* cmocka takes no const */
    static const CMUnitTestFunction plays[] = {run_cell, run_cell_that_may_make,
                                               adopt_cell};
    struct CMUnitTest tests[3 * WR_ARRAY_LEN(table) + 1];
    size_t n = 0;

    memcpy(cells, table, sizeof(cells));
    for (size_t p = 0; p < WR_ARRAY_LEN(plays); p++)
        for (size_t i = 0; i < WR_ARRAY_LEN(table); i++)
            tests[n++] = (struct CMUnitTest){.name = cells[i].name,
                                             .test_func = plays[p],
                                             .setup_func = setup_cell,
                                             .teardown_func = teardown_cell,
                                             .initial_state = &cells[i]};
    tests[n] = (struct CMUnitTest){.name = "adopt of two that were set aside",
                                   .test_func = adopt_two_asides,
                                   .setup_func = setup_cell,
                                   .teardown_func = teardown_cell,
                                   .initial_state = &cells[0]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
