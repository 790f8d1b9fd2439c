/* test_ranks.c - ranks that save and restore, and one that dies at any call.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The victim's comms count their calls, so that it dies before or after each
 * one of a save or a restore. The others must get an error at once, or have
 * what they were promised; what is on disk is whole, and goes on being used. */
#include "weir/ckpt_manage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/mman.h>

#include "../comm/ranks.h"
#include "base/mem.h"
#include "restore_kit.h"

#define WORLD 4

struct job {
    struct kit k; /* its folder and sizes; not its tiers */
    char fast[300], slow[300], comm[300];
    bool two_tiers, restores;
    uint32_t victim;
    unsigned call; /* at which it dies */
    bool after;
    struct shared {
        atomic_bool survived; /* the victim: there are no more calls */
        atomic_bool saved;    /* somebody was told that step 20 is safe */
        atomic_uint failures; /* ranks that got an error */
    } * shared;
};

static void job_init(struct job *j)
{
    memset(j, 0, sizeof(*j));
    tmpdir_init(&j->k.dir);
    j->k.floats = 5000;
    snprintf(j->fast, sizeof(j->fast), "%s/fast", j->k.dir.path);
    snprintf(j->slow, sizeof(j->slow), "%s/slow", j->k.dir.path);
    snprintf(j->comm, sizeof(j->comm), "local:%s/s", j->k.dir.path);
    j->shared = mmap(NULL, sizeof(*j->shared), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(j->shared, MAP_FAILED);
}

static void job_done(struct job *j)
{
    munmap(j->shared, sizeof(*j->shared));
    tmpdir_done(&j->k.dir);
}

#define MUST(x)                                                                \
    do {                                                                       \
        if ((x) < 0) {                                                         \
            fprintf(stderr, "%s:%d: rank %u: %s\n", __FILE__, __LINE__, rank,  \
                    err.msg);                                                  \
            _exit(1);                                                          \
        }                                                                      \
    } while (0)

static weir_ckpt *open_as(const struct job *j, uint32_t rank)
{
    weir_ckpt_config cfg;
    weir_ckpt *c;
    weir_err err;

    weir_ckpt_defaults(&cfg);
    cfg.fast = j->fast;
    cfg.slow = j->two_tiers ? j->slow : NULL;
    cfg.rank = rank;
    cfg.world = WORLD;
    cfg.comm = j->comm;
    cfg.threads = 1;
    cfg.comm_timeout_ms = 300000; /* not reached: deaths are noticed at once */
    MUST(weir_ckpt_open(&c, &cfg, &err));
    return c;
}

static int save_as(const struct job *j, weir_ckpt *c, uint32_t rank,
                   uint64_t step, enum weir_level level, weir_err *err)
{
    char text[40];
    struct kit_state s;
    weir_ckpt_state st = {.step = step,
                          .tensors = s.t,
                          .count = KIT_TENSORS,
                          .pipeline = text,
                          .pipeline_len = 7};
    int r;

    snprintf(text, sizeof(text), "state %u", rank);
    kit_state_init(&j->k, &s, step, rank, /* empty= */ false);
    r = weir_ckpt_save(c, &st, level, err);
    kit_state_done(&s);
    return r;
}

/* The newest step; its content is that of the step. */
static uint64_t restore_as(const struct job *j, weir_ckpt *c, uint32_t rank)
{
    weir_ckpt_found *f = NULL;
    struct kit_state s;
    uint64_t step;
    weir_err err;

    kit_state_init(&j->k, &s, 0, rank, /* empty= */ true);
    MUST(weir_ckpt_restore(c, WEIR_LATEST, s.t, KIT_TENSORS, &f, &err));
    CHECK(f && f->passed_over_count == 0 && f->world == WORLD);
    CHECK(f->pipeline_count == WORLD);
    for (uint32_t k = 0; k < WORLD; k++) {
        char text[40];

        snprintf(text, sizeof(text), "state %u", k);
        CHECK(f->pipeline_len[k] == 7 && !memcmp(f->pipeline[k], text, 7));
    }
    step = f->step;
    CHECK(kit_state_is(&j->k, &s, step, rank));
    kit_state_done(&s);
    weir_ckpt_found_free(&f);
    return step;
}

/* --- all live --- */

static void save_some(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    weir_ckpt *c = open_as(j, rank);
    weir_err err;

    CHECK(weir_ckpt_look(c, WEIR_LATEST, NULL, NULL) == 0);
    for (uint64_t step = 1; step <= 8; step++)
        MUST(save_as(j, c, rank, step,
                     step % 2 ? WEIR_LEVEL_SNAPSHOT : WEIR_LEVEL_FAST, &err));
    MUST(weir_ckpt_wait(c, WEIR_LATEST, WEIR_LEVEL_VERIFIED, -1, &err));
    CHECK(restore_as(j, c, rank) == 8);
    MUST(save_as(j, c, rank, 9, WEIR_LEVEL_SNAPSHOT, &err));
    MUST(weir_ckpt_close(&c, &err)); /* is on the fast tier then */
    c = open_as(j, rank);
    CHECK(restore_as(j, c, rank) == 9);
    MUST(weir_ckpt_close(&c, &err));
}

static void all_live(void **state)
{
    (void)state;
    for (int two = 0; two < 2; two++) {
        struct job j;

        job_init(&j);
        j.two_tiers = two;
        assert_int_equal(run_ranks(WORLD, save_some, &j), 0);
        job_done(&j);
    }
}

/* --- one dies --- */

/* Of the victim's process. */
static atomic_uint calls;
static const struct job *dying; /* NULL: calls are not counted */

static void count_call(bool after)
{
    unsigned now = after ? atomic_load(&calls) - 1
                         : atomic_fetch_add(&calls, 1);

    if (dying->after == after && now == dying->call)
        die_now();
}

/* The linker puts these between comm.c and star.c. */
int __real_wr_star_gather(struct wr_comm *c, const void *bytes, size_t len,
                          struct wr_comm_part **ret, weir_err *err);
int __wrap_wr_star_gather(struct wr_comm *c, const void *bytes, size_t len,
                          struct wr_comm_part **ret, weir_err *err);
int __real_wr_star_broadcast(struct wr_comm *c, const void *bytes, size_t len,
                             char **ret, size_t *ret_len, weir_err *err);
int __wrap_wr_star_broadcast(struct wr_comm *c, const void *bytes, size_t len,
                             char **ret, size_t *ret_len, weir_err *err);

int __wrap_wr_star_gather(struct wr_comm *c, const void *bytes, size_t len,
                          struct wr_comm_part **ret, weir_err *err)
{
    int r;

    if (dying)
        count_call(/* after= */ false);
    r = __real_wr_star_gather(c, bytes, len, ret, err);
    if (dying)
        count_call(/* after= */ true);
    return r;
}

int __wrap_wr_star_broadcast(struct wr_comm *c, const void *bytes, size_t len,
                             char **ret, size_t *ret_len, weir_err *err)
{
    int r;

    if (dying)
        count_call(/* after= */ false);
    r = __real_wr_star_broadcast(c, bytes, len, ret, ret_len, err);
    if (dying)
        count_call(/* after= */ true);
    return r;
}

static void one_dies(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    weir_ckpt *c = open_as(j, rank);
    weir_err err;
    int r;

    MUST(save_as(j, c, rank, 10, WEIR_LEVEL_FAST, &err));
    if (rank == j->victim)
        dying = j;
    if (j->restores) {
        r = weir_ckpt_look(c, WEIR_LATEST, NULL, &err);
        if (r >= 0)
            CHECK(r == 1);
    } else {
        r = save_as(j, c, rank, 20, WEIR_LEVEL_FAST, &err);
        if (r == 0)
            j->shared->saved = true;
    }
    if (rank == j->victim)
        j->shared->survived = true;
    if (r < 0)
        j->shared->failures++;
    if (rank == j->victim && r >= 0)
        dying = NULL;
    r = weir_ckpt_close(&c, &err);
    if (!j->shared->survived && r == 0)
        CHECK(!"the death of a rank was noticed by nobody");
}

static void go_on(uint32_t rank, void *arg)
{
    const struct job *j = arg;
    weir_ckpt *c = open_as(j, rank);
    uint64_t step = restore_as(j, c, rank);
    weir_err err;

    CHECK(step == 20 || (step == 10 && !j->shared->saved));
    MUST(save_as(j, c, rank, 30, WEIR_LEVEL_FAST, &err));
    CHECK(restore_as(j, c, rank) == 30);
    MUST(weir_ckpt_close(&c, &err));
}

/* Dies at every call, until there are no more. */
static void die_everywhere(uint32_t victim, bool restores, bool after)
{
    struct job j;
    bool survived = false;
    unsigned call;

    for (call = 0; !survived; call++) {
        job_init(&j);
        j.victim = victim;
        j.restores = restores;
        j.after = after;
        j.call = call;
        assert_int_equal(run_ranks(WORLD, one_dies, &j), 0);
        survived = j.shared->survived;
        if (survived)
            assert_int_equal(j.shared->failures, 0);
        assert_int_equal(run_ranks(WORLD, go_on, &j), 0);
        job_done(&j);
    }
    assert_true(call > 3); /* there were calls to die at */
}

static void die_saving(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        die_everywhere(0, /* restores= */ false, after);
        die_everywhere(2, /* restores= */ false, after);
    }
}

static void die_restoring(void **state)
{
    (void)state;
    for (int after = 0; after < 2; after++) {
        die_everywhere(0, /* restores= */ true, after);
        die_everywhere(3, /* restores= */ true, after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_live),
        cmocka_unit_test(die_saving),
        cmocka_unit_test(die_restoring),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
