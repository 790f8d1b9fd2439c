/* test_fence.c - writers that are taken over from, at whatever call they are.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A store that is written down calls back before each change: there another
 * writer does what it would do while this one stands still. */
#include "tier_help.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "record_store.h"
#include "tier/aside.h"
#include "tier/link.h"
#include "tier/step.h"

static struct wr_tier *recorded(const struct place *p, struct record *rec)
{
    struct wr_store *st = NULL;
    struct wr_tier *t = NULL;

    memset(rec, 0, sizeof(*rec));
    if (!there(p, ""))
        plant_dir(p, "");
    assert_int_equal(wr_store_open_own(p->tier, &st, NULL), 0);
    assert_int_equal(
        wr_tier_wrap(record_wrap(st, rec), p->tier, "fast", &t, NULL), 0);
    return t;
}

static struct wr_tier *taken_over(const struct place *p)
{
    struct wr_tier *t = open_at(p->tier);
    weir_err err;

    if (wr_tier_claim(t, /* take_over= */ true, NULL, &err) < 0)
        fail_msg("%s", err.msg);
    return t;
}

/* --- claims that meet --- */

/* What happens at one call of another. */
struct meeting {
    const struct place *p;
    const char *at; /* the call; NULL once it was there */
    unsigned claims;
    struct wr_tier *writer; /* the last of them */
};

static void meet(void *arg, const char *what)
{
    struct meeting *m = arg;

    if (!m->at || strcmp(what, m->at) != 0)
        return;
    m->at = NULL;
    for (unsigned i = 0; i < m->claims; i++) {
        wr_tier_close(m->writer);
        m->writer = taken_over(m->p);
    }
}

/* A claim that stands still at a call, while others claim, loses. */
static void loses_at(const struct place *p, const char *call, unsigned claims)
{
    static struct record rec;
    struct meeting m = {.p = p, .at = call, .claims = claims};
    struct wr_tier *t;
    char name[256], outer[64];
    weir_err err;

    wr_tier_close(claimed_at(p->tier));
    t = recorded(p, &rec);
    rec.before = meet;
    rec.arg = &m;
    assert_int_equal(wr_tier_claim(t, /* take_over= */ true, NULL, &err),
                     WEIR_EFENCED);
    assert_null(m.at);
    assert_false(wr_tier_is_writer(t));
    assert_non_null(strstr(err.msg, "took over"));
    wr_tier_close(t);
    assert_int_equal(wr_tier_check_claim(m.writer, &err), 0);
    must_save(m.writer, 1, 1);
    assert_int_equal(count_in(p, "", ".writer-", name), 1); /* it left none */
    snprintf(outer, sizeof(outer), ".writer-%012u", (unsigned)m.writer->epoch);
    assert_string_equal(name, outer);
    wr_tier_close(m.writer);
    assert_int_equal(remove_tree(p->tier), 0);
}

static void claims_that_meet(void **state)
{
    struct place *p = *state;

    /* Its number is free again when it makes the folder: a higher one is there.
     */
    loses_at(p, "mkdir .writer-000000000002", 2);
    /* Its folder is dissolved before it is whole, and before it is synced. */
    loses_at(p, "mkdir W2", 1);
    loses_at(p, "syncdir .writer-000000000002", 1);
    /* While it dissolves that of the writer before, and after that. */
    loses_at(p, "remove W1", 1);
    loses_at(p, "remove .writer-000000000001", 1);
    loses_at(p, "syncdir W2", 1);
}

/* Somebody takes over, and has got as far as taking away what was written. */
static void half_taken_over(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    weir_err err;

    wr_fail(&err, WEIR_ENOENT, "a folder is gone");
    assert_int_equal(wr_tier_blame(t, WEIR_ENOENT, &err), WEIR_ENOENT);
    plant_dir(p, ".writer-000000000002");
    assert_int_equal(wr_tier_blame(t, WEIR_ENOENT, &err), WEIR_EFENCED);
    assert_non_null(strstr(err.msg, "another writer took over (epoch 2, "));
    wr_tier_close(t);
}

/* Another made the same number: that one is the writer, and what was locked is
 * free. */
static void number_is_taken(void **state)
{
    struct place *p = *state;

    for (int over = 0; over < 2; over++) {
        static struct record rec;
        struct meeting m = {.p = p, .claims = 1};
        struct wr_tier *t;
        char call[64];

        wr_tier_close(claimed_at(p->tier));
        snprintf(call, sizeof(call), "mkdir .writer-%012d", 2 + 2 * over);
        m.at = call;
        t = recorded(p, &rec);
        rec.before = meet;
        rec.arg = &m;
        assert_int_equal(wr_tier_claim(t, over, NULL, NULL), WEIR_EFENCED);
        assert_null(m.at);
        assert_int_equal(wr_tier_check_claim(m.writer, NULL), 0);
        assert_true(m.writer->locked);
        wr_tier_close(m.writer);
        wr_tier_close(t);
    }
}

#define AT_ONCE 4
#define ROUNDS  30

struct racer {
    pthread_t thread;
    struct wr_tier *t;
    atomic_bool *go;
    weir_err err;
    int r;
};

static void *race(void *arg)
{
    struct racer *x = arg;

    while (!*x->go)
        ;
    x->r = wr_tier_claim(x->t, /* take_over= */ true, NULL, &x->err);
    return NULL;
}

/* However they meet: at most one is the writer, and if all lost the next is. */
static void several_at_once(void **state)
{
    struct place *p = *state;
    struct racer all[AT_ONCE];
    unsigned won = 0;

    for (unsigned k = 0; k < ROUNDS; k++) {
        atomic_bool go = false;
        unsigned writers = 0;

        memset(all, 0, sizeof(all));
        for (unsigned i = 0; i < AT_ONCE; i++) {
            all[i].t = open_at(p->tier);
            all[i].go = &go;
            assert_int_equal(
                wr_thread_start(&all[i].thread, "racer", race, &all[i], NULL),
                0);
        }
        go = true;
        for (unsigned i = 0; i < AT_ONCE; i++)
            pthread_join(all[i].thread, NULL);
        for (unsigned i = 0; i < AT_ONCE; i++) {
            if (all[i].r < 0 && all[i].r != WEIR_EFENCED)
                fail_msg("%s", all[i].err.msg);
            if (all[i].r < 0)
                continue;
            if (wr_tier_check_claim(all[i].t, &all[i].err) == 0) {
                writers++;
                must_save(all[i].t, k, 1);
            } else {
                assert_int_equal(all[i].err.code, WEIR_EFENCED);
                assert_int_equal(save(all[i].t, 1000 + k, 1, NULL),
                                 WEIR_EFENCED);
            }
        }
        assert_true(writers <= 1);
        won += writers;
        for (unsigned i = 0; i < AT_ONCE; i++)
            wr_tier_close(all[i].t);
    }
    assert_true(won > 0);
    wr_tier_close(claimed_at(p->tier));
    assert_int_equal(count_in(p, "", ".writer-", NULL), 1);
}

/* --- folders of earlier writers --- */

static void what_is_not_weirs(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    char path[400], want[600];
    weir_err err;

    snprintf(path, sizeof(path), "%s/notes", t->work);
    plant(p, path, "sings");
    snprintf(path, sizeof(path), "%s/mine", t->work);
    plant_dir(p, path);
    snprintf(path, sizeof(path), "%s/mine/canary", t->work);
    plant(p, path, "sings");
    wr_tier_close(t);
    for (int i = 0; i < 3; i++) { /* it goes along, from writer to writer */
        t = claimed_at(p->tier);
        snprintf(path, sizeof(path), "%s/notes", t->work);
        assert_true(there(p, path));
        snprintf(path, sizeof(path), "%s/mine/canary", t->work);
        assert_true(there(p, path));
        wr_tier_close(t);
    }
    /* Where it would keep the folder from being removed, somebody decides. */
    plant(p, ".writer-000000000004/readme", "sings");
    t = open_at(p->tier);
    assert_int_equal(wr_tier_claim(t, false, NULL, &err), WEIR_ESTATE);
    snprintf(want, sizeof(want),
             "'%s/.writer-000000000004': holds 'readme', which weir did not "
             "make; remove it",
             p->tier);
    assert_string_equal(err.msg, want);
    assert_true(there(p, ".writer-000000000004/readme"));
    assert_int_equal(unlink(at(p, ".writer-000000000004/readme")), 0);
    assert_int_equal(wr_tier_claim(t, false, NULL, &err), 0);
    snprintf(path, sizeof(path), "%s/mine/canary", t->work);
    assert_true(there(p, path));
    wr_tier_close(t);
}

/* The old writer goes on in its folder while the new one empties it. */
struct adding {
    const struct place *p;
    char work[WR_TIER_PATH];
    unsigned left; /* times that it still adds */
};

static void add(void *arg, const char *what)
{
    struct adding *a = arg;
    char path[400];

    if (!a->left || strcmp(what, "remove W1") != 0)
        return;
    snprintf(path, sizeof(path), "%s/slot-%032u", a->work, a->left--);
    plant_dir(a->p, path);
}

static void added_to_while_it_goes(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct adding a = {.p = p, .left = 5};
    struct wr_tier *old = claimed_at(p->tier), *t = recorded(p, &rec);
    struct wr_manifest m = manifest_of(old, 1, 1);
    struct wr_pending pend;
    uint64_t swept = 0;
    weir_err err;

    memcpy(a.work, old->work, sizeof(a.work));
    assert_int_equal(wr_tier_begin(old, 1, BYTES, &pend, NULL), 0);
    assert_int_equal(put_shard(old, &pend, 0, 'x', NULL), 0);
    rec.before = add;
    rec.arg = &a;
    assert_int_equal(wr_tier_claim(t, /* take_over= */ true, &swept, &err), 0);
    assert_int_equal(a.left, 0);
    assert_false(there(p, a.work));
    assert_false(there(p, ".writer-000000000001"));
    assert_int_equal(swept, 5); /* a tmp and five slots; one stays */
    assert_int_equal(count_left(p, "slot-", NULL), 1);
    assert_int_equal(wr_tier_publish(old, &pend, &m, &err), WEIR_EFENCED);
    assert_int_equal(count_in(p, "", "step-", NULL), 0);
    wr_manifest_done(&m);
    wr_tier_close(old);
    wr_tier_close(t);
}

/* --- late effects --- */

/* All names that mean something: steps, what was set aside, marks, links. */
static void names(const struct place *p, char *buf, size_t cap)
{
    static const char *const dirs[] = {"", ".weir"};
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < WR_ARRAY_LEN(dirs); i++) {
        struct dirent **all;
        int n = scandir(at(p, dirs[i]), &all, NULL, alphasort);

        assert_true(n >= 0);
        for (int k = 0; k < n; k++) {
            struct stat sb;
            char path[400];

            snprintf(path, sizeof(path), "%s/%s", dirs[i], all[k]->d_name);
            if (strncmp(all[k]->d_name, ".writer-", 8) != 0 &&
                lstat(at(p, path), &sb) == 0) /* its content, too */
                used += (size_t)snprintf(
                    buf + used, cap - used, "%s %lu\n", path,
                    S_ISREG(sb.st_mode) ? (unsigned long)sb.st_ino : 0UL);
            free(all[k]);
        }
        free(all);
        assert_true(used < cap);
    }
}

/* A take-over before call number `at`. */
struct late {
    const struct place *p;
    unsigned at, calls;
    struct wr_tier *writer;
    char then[8000];
};

static void take_over(void *arg, const char *what)
{
    struct late *l = arg;

    (void)what;
    if (++l->calls != l->at)
        return;
    l->writer = taken_over(l->p);
    names(l->p, l->then, sizeof(l->then));
}

static int op_save(struct wr_tier *t)
{
    weir_err err = {0};

    return wr_tier_blame(t, save(t, 9, 1, &err), &err); /* as who writes does */
}

static int op_replace(struct wr_tier *t)
{
    struct wr_manifest m = manifest_of(t, 1, 1);
    struct wr_pending p;
    weir_err err = {0};
    int r = wr_tier_begin_beside(t, 1, BYTES, &p, NULL);

    if (r == 0) {
        p.replaces = true;
        r = wr_tier_blame(t, put_shard(t, &p, 0, 'z', &err), &err);
        if (r == 0)
            r = wr_tier_publish(t, &p, &m, NULL);
    }
    wr_manifest_done(&m);
    return r;
}

static int op_retire(struct wr_tier *t)
{
    return wr_tier_retire(t, 1, NULL);
}

static int op_discard(struct wr_tier *t)
{
    return wr_tier_discard(t, 1, NULL);
}

static int op_aside(struct wr_tier *t)
{
    return wr_aside_put(t, 1, NULL);
}

static int op_mark(struct wr_tier *t)
{
    return wr_tier_mark(t, WR_MARK_VERIFIED, 1, ID2, NULL);
}

static int op_unmark(struct wr_tier *t)
{
    return wr_tier_unmark(t, WR_MARK_PIN, 1, NULL);
}

static int op_link(struct wr_tier *t)
{
    const struct wr_tier_link link = {WR_LINK_FAST, ID, 7, ID2};

    return wr_tier_link_write(t, &link, NULL);
}

/* At whatever call a writer is when another takes over: from then on it changes
 * nothing, and it never says that it did. */
static void changes_nothing_late(void **state)
{
    static int (*const ops[])(struct wr_tier *) = {
        op_save,  op_replace, op_retire, op_discard,
        op_aside, op_mark,    op_unmark, op_link};
    static const struct wr_tier_link link = {WR_LINK_FAST, ID, 3, ID};
    struct place *p = *state;
    static char now[8000];

    for (size_t i = 0; i < WR_ARRAY_LEN(ops); i++) {
        struct late l = {.p = p, .at = 1};

        for (bool over = false; !over; l.at++) {
            static struct record rec;
            struct wr_tier *t = recorded(p, &rec);
            int r;

            assert_int_equal(wr_tier_claim(t, false, NULL, NULL), 0);
            must_save(t, 1, 1);
            assert_int_equal(wr_tier_mark(t, WR_MARK_PIN, 1, "", NULL), 0);
            assert_int_equal(wr_tier_mark(t, WR_MARK_VERIFIED, 1, ID, NULL), 0);
            assert_int_equal(wr_tier_link_write(t, &link, NULL), 0);
            l.calls = 0;
            l.writer = NULL;
            rec.before = take_over;
            rec.arg = &l;
            r = ops[i](t);
            over = !l.writer;
            if (over) {
                assert_int_equal(r, 0);
                assert_true(l.at > 2);
            } else {
                names(p, now, sizeof(now));
                if (strcmp(now, l.then) != 0)
                    fail_msg("operation %zu, call %u: was\n%s\nis\n%s", i, l.at,
                             l.then, now);
                if (r != 0 && r != WEIR_EFENCED)
                    fail_msg("operation %zu, call %u: returned %d", i, l.at, r);
                assert_int_equal(wr_tier_check_claim(t, NULL), WEIR_EFENCED);
                if (wr_tier_has(l.writer, 1))
                    must_be_good(l.writer, 1);
            }
            wr_tier_close(l.writer);
            wr_tier_close(t);
            assert_int_equal(remove_tree(p->tier), 0);
        }
    }
}

/* Whoever drains takes away beside the writer. The new writer that comes before
 * call number `at` goes back, and saves the step anew. */
static void go_back(void *arg, const char *what)
{
    struct late *l = arg;

    take_over(arg, what);
    if (!l->writer || l->calls != l->at)
        return;
    assert_int_equal(wr_tier_discard(l->writer, 1, NULL), 0);
    must_save(l->writer, 1, 1);
    assert_int_equal(wr_tier_mark(l->writer, WR_MARK_PIN, 1, "", NULL), 0);
    names(l->p, l->then, sizeof(l->then));
}

static bool may_go(void *arg, const struct wr_manifest *m)
{
    (void)m;
    return !arg || strcmp(arg, m->id) == 0;
}

static void beside_one_writer(void **state)
{
    struct place *p = *state;
    struct late l = {.p = p, .at = 1};
    const struct wr_leaving leave = {1, may_go, NULL};
    static char now[8000];

    for (bool over = false; !over; l.at++) {
        static struct record rec;
        struct wr_tier *old = claimed_at(p->tier), *t;
        bool other;
        int r;

        must_save(old, 1, 1);
        assert_int_equal(wr_tier_mark(old, WR_MARK_PIN, 1, "", NULL), 0);
        t = recorded(p, &rec);
        assert_int_equal(wr_tier_stand_by(t, &other, NULL), 0);
        assert_true(other);
        l.calls = 0;
        l.writer = NULL;
        rec.before = go_back;
        rec.arg = &l;
        r = wr_tier_retire_if(t, &leave, NULL);
        over = !l.writer;
        if (over) {
            assert_int_equal(r, 0);
            assert_true(l.at > 2);
        } else {
            names(p, now, sizeof(now));
            if (strcmp(now, l.then) != 0)
                fail_msg("call %u: was\n%s\nis\n%s", l.at, l.then, now);
            if (r != 0 && r != WEIR_ECHANGED)
                fail_msg("call %u: returned %d", l.at, r);
            assert_int_equal(wr_tier_check_claim(l.writer, NULL), 0);
            must_be_good(l.writer, 1);
        }
        wr_tier_close(l.writer);
        wr_tier_close(t);
        wr_tier_close(old);
        assert_int_equal(remove_tree(p->tier), 0);
    }
}

/* The same writer may have saved the step anew before it is renamed: it comes back,
 * or the next claim brings it back. */
static void go_back_here(void *arg, const char *what)
{
    struct meeting *m = arg;

    if (!m->at || strncmp(what, m->at, strlen(m->at)) != 0)
        return;
    m->at = NULL;
    assert_int_equal(wr_tier_discard(m->writer, 1, NULL), 0);
    must_save(m->writer, 1, 1);
}

static void comes_back(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct meeting m = {.p = p, .at = "rename step-000000000001 "};
    struct wr_tier *t;
    struct wr_manifest is;
    char id[WR_MANIFEST_ID], name[256];
    const struct wr_leaving leave = {1, may_go, id};
    bool other;

    m.writer = claimed_at(p->tier);
    must_save(m.writer, 1, 1);
    assert_int_equal(wr_tier_manifest(m.writer, 1, &is, NULL), 0);
    memcpy(id, is.id, sizeof(id));
    wr_manifest_done(&is);
    t = recorded(p, &rec);
    assert_int_equal(wr_tier_stand_by(t, &other, NULL), 0);
    rec.before = go_back_here;
    rec.arg = &m;
    assert_int_equal(wr_tier_retire_if(t, &leave, NULL), WEIR_ECHANGED);
    assert_null(m.at);
    must_be_good(m.writer, 1);
    assert_int_equal(count_left(p, "leaving-", NULL), 0);
    /* Now it is known, and stays where it is. */
    assert_int_equal(wr_tier_retire_if(t, &leave, NULL), WEIR_ECHANGED);
    must_be_good(m.writer, 1);
    wr_tier_close(t);
    /* Who died in between. */
    snprintf(name, sizeof(name), "%.200s/leaving-000000000001-" ID,
             m.writer->work);
    assert_int_equal(rename(at(p, "step-000000000001"), at(p, name)), 0);
    wr_tier_close(m.writer);
    t = claimed_at(p->tier);
    must_be_good(t, 1);
    assert_int_equal(count_left(p, "leaving-", NULL), 0);
    snprintf(name, sizeof(name), "%.200s/leaving-000000000001-" ID, t->work);
    plant_dir(p, name);
    wr_tier_close(t);
    t = claimed_at(p->tier);
    must_be_good(t, 1);
    assert_int_equal(count_left(p, "leaving-", NULL), 0);
    wr_tier_close(t);
}

/* It learns of the new writer when it asks, and then goes on beside that one. */
static void takes_away_beside(void **state)
{
    struct place *p = *state;
    static struct record rec;
    struct meeting m = {
        .p = p, .at = "rename step-000000000001 W1/slot-@", .claims = 1};
    struct wr_tier *old = claimed_at(p->tier), *t;
    char name[256];
    bool other;
    weir_err err;

    must_save(old, 1, 1);
    assert_int_equal(wr_tier_mark(old, WR_MARK_VERIFIED, 1, ID, NULL), 0);
    t = recorded(p, &rec);
    assert_int_equal(wr_tier_stand_by(t, &other, NULL), 0);
    rec.before = meet;
    rec.arg = &m;
    assert_int_equal(wr_tier_retire(t, 1, &err), WEIR_ECHANGED);
    assert_non_null(strstr(err.msg, "another writer took over"));
    assert_null(m.at);
    assert_true(wr_tier_marked(t, WR_MARK_VERIFIED, 1, NULL, 0));
    assert_int_equal(wr_tier_retire(t, 1, NULL), WEIR_ECHANGED);
    assert_int_equal(wr_tier_stand_by(t, &other, NULL), 0);
    assert_true(other);
    assert_int_equal(wr_tier_stand_by(t, &other, NULL), 0);
    assert_false(other);
    assert_int_equal(wr_tier_retire(t, 1, NULL), 0);
    assert_false(wr_tier_has(t, 1));
    assert_false(wr_tier_marked(t, WR_MARK_VERIFIED, 1, NULL, 0));
    assert_int_equal(count_left(p, "slot-", name), 1);
    assert_int_equal(strncmp(name, m.writer->work, strlen(m.writer->work)), 0);
    must_save(m.writer, 2, 1); /* which uses it */
    assert_int_equal(count_left(p, "slot-", NULL), 0);
    wr_tier_close(t);
    wr_tier_close(old);
    wr_tier_close(m.writer);
}

/* Nobody writes there any more, and nobody has a folder: it makes one, so that
 * the next writer ends what it is at. */
static void takes_away_alone(void **state)
{
    struct place *p = *state;
    struct wr_tier *old = claimed_at(p->tier), *t;
    char name[256];
    bool other;
    weir_err err;

    must_save(old, 1, 1);
    must_save(old, 2, 1);
    wr_tier_close(old);
    assert_int_equal(count_in(p, ".writer-000000000001", "", name), 1);
    assert_int_equal(rmdir(at(p, name)), 0);
    t = open_at(p->tier);
    assert_int_equal(wr_tier_stand_by(t, &other, &err), WEIR_EBUSY);
    assert_non_null(strstr(err.msg, "a writer is opening it"));
    assert_int_equal(rmdir(at(p, ".writer-000000000001")), 0);
    assert_int_equal(wr_tier_stand_by(t, &other, NULL), 0);
    assert_true(other);
    assert_false(wr_tier_is_writer(t));
    assert_int_equal(wr_tier_retire(t, 1, NULL), 0);
    assert_int_equal(count_left(p, "slot-", NULL), 1);
    old = claimed_at(p->tier);
    assert_int_equal(old->epoch, 2);
    assert_int_equal(count_in(p, "", ".writer-", NULL), 1);
    assert_int_equal(wr_tier_retire(t, 2, NULL), WEIR_ECHANGED);
    must_be_good(old, 2);
    wr_tier_close(t);
    wr_tier_close(old);
}

/* What a new writer has taken away is not missing to the one before: that one is
 * told what became of it. */
static void reads_back_late(void **state)
{
    struct place *p = *state;
    struct wr_tier *old = claimed_at(p->tier), *new;
    weir_err err;

    must_save(old, 1, 1);
    new = taken_over(p);
    assert_int_equal(wr_tier_retire(new, 1, NULL), 0);
    assert_int_equal(wr_step_verify(old, 1, /* mark= */ true, NULL, &err),
                     WEIR_EFENCED);
    assert_int_equal(wr_step_verify(new, 1, /* mark= */ true, NULL, &err),
                     WEIR_ENOENT);
    wr_tier_close(new);
    wr_tier_close(old);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, place_setup, place_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(claims_that_meet),     TEST(half_taken_over),
        TEST(number_is_taken),      TEST(several_at_once),
        TEST(what_is_not_weirs),    TEST(added_to_while_it_goes),
        TEST(changes_nothing_late), TEST(beside_one_writer),
        TEST(takes_away_beside),    TEST(takes_away_alone),
        TEST(reads_back_late),      TEST(comes_back),
    };

    return cmocka_run_group_tests_name("tier_fence", tests, NULL, NULL);
}
