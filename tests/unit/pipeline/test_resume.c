/* test_resume.c - going on from a saved state: nothing lost, nothing twice.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/rng.h"
#include "fixture.h"

#define N     47
#define WORLD 3 /* ranks at most */

static struct fx fx;
static weir_dataset *ds;
static bool bad[N];
static enum weir_remainder rest;
static enum weir_order order;

static void spoil(uint32_t i)
{
    bad[i] = true;
    fx_spoil(&fx, i, i % 3 ? FX_REMOVE : FX_CUT);
}

static int setup(void **state)
{
    (void)state;
    fx_make(&fx, FX_TENSORS, N, 1);
    ds = fx_open(&fx, "");
    memset(bad, 0, sizeof(bad));
    rest = WEIR_REMAINDER_KEEP;
    order = WEIR_ORDER_SHUFFLE;
    for (uint32_t i = 2; i < N; i += 6)
        spoil(i);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    weir_dataset_close(&ds);
    fx_done(&fx);
    return 0;
}

/* The states of all ranks after a step. */
struct saved {
    void *bufs[WORLD]; /* owned */
    size_t lens[WORLD];
    uint32_t count; /* 0: a beginning */
    size_t steps;   /* that came before, of all legs */
};

static void saved_done(struct saved *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        free(s->bufs[i]);
    s->count = 0;
}

static void save(struct saved *s, const weir_pipeline *p)
{
    size_t len = weir_pipeline_state(p, NULL, 0);
    void *buf = malloc(len);

    assert_non_null(buf);
    assert_true(len >= 80 && len % 8 == 0);
    assert_int_equal(weir_pipeline_state(p, buf, len), len);
    s->bufs[s->count] = buf;
    s->lens[s->count++] = len;
}

static void base_config(weir_pipeline_config *cfg)
{
    fx_config(&fx, cfg);
    cfg->batch = 3;
    cfg->seed = 11;
    cfg->remainder = rest;
    cfg->order = order;
    cfg->block_samples = 3;
    cfg->block_window = 2;
}

/* The batches from `first` on are one rank's: it goes on counting, whatever
 * the number of ranks was before. */
static void check_indices(const struct fx_log *log, size_t first, size_t steps)
{
    for (size_t b = first; b < log->batch_count; b++)
        assert_int_equal(log->batches[b].index, steps + b - first);
}

/* `world` ranks go on from `from`, `steps` batches each, into one log; the
 * states they end with are left in *to (if any). */
static void leg(uint32_t world, size_t steps, const struct saved *from,
                struct saved *to, struct fx_log *log)
{
    for (uint32_t rank = 0; rank < world; rank++) {
        size_t before = log->batch_count;
        weir_pipeline_config cfg;
        weir_pipeline *p;
        weir_err err;
        int r;

        base_config(&cfg);
        cfg.rank = rank;
        cfg.world = world;
        cfg.prefetch = (uint32_t)(steps + rank) % 3;
        cfg.resume = (const void *const *)from->bufs;
        cfg.resume_len = from->lens;
        cfg.resume_count = from->count;
        p = fx_start(ds, &cfg);
        r = fx_take(&fx, p, steps, log, &err);
        if (r < 0)
            fail_msg("rank %u of %u: %s", rank, world, err.msg);
        check_indices(log, before, from->steps);
        if (to) {
            save(to, p);
            to->steps = from->steps + log->batch_count - before;
        }
        weir_pipeline_close(&p);
    }
}

/* The most steps that all ranks of `world` can take together. */
static size_t common_steps(uint32_t world, const struct saved *from)
{
    size_t least = SIZE_MAX;

    for (uint32_t rank = 0; rank < world; rank++) {
        weir_pipeline_config cfg;
        struct fx_log log = {0};

        base_config(&cfg);
        cfg.rank = rank;
        cfg.world = world;
        cfg.resume = (const void *const *)from->bufs;
        cfg.resume_len = from->lens;
        cfg.resume_count = from->count;
        assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
        if (log.batch_count < least)
            least = log.batch_count;
        fx_log_done(&log);
    }
    return least;
}

static void check_two_legs(uint32_t first, uint32_t second)
{
    const struct saved none = {0};
    size_t most = common_steps(first, &none);

    assert_true(most > 3);
    for (size_t k = 0; k <= most; k++) {
        struct saved at = {0};
        struct fx_log log = {0};

        leg(first, k, &none, &at, &log);
        leg(second, SIZE_MAX, &at, NULL, &log);
        fx_assert_once(log.ids, log.id_count, bad, N);
        fx_log_done(&log);
        saved_done(&at);
    }
}

static void after_every_batch(void **state)
{
    (void)state;
    for (uint32_t first = 1; first <= WORLD; first++)
        for (uint32_t second = 1; second <= WORLD; second++)
            check_two_legs(first, second);
}

/* Blocks are dealt to the ranks that the epoch began with. */
static void blocks_after_every_batch(void **state)
{
    order = WEIR_ORDER_BLOCK;
    after_every_batch(state);
}

static void three_legs(void **state)
{
    static const uint32_t worlds[][3] = {
        {1, 2, 3}, {3, 1, 2}, {2, 3, 1}, {3, 3, 1}, {1, 1, 1}};
    const struct saved none = {0};

    (void)state;
    for (unsigned w = 0; w < 5; w++)
        for (size_t k = 1; k < 4; k++) {
            struct saved one = {0}, two = {0};
            struct fx_log log = {0};
            size_t most;

            leg(worlds[w][0], k, &none, &one, &log);
            most = common_steps(worlds[w][1], &one);
            leg(worlds[w][1], most < 2 ? most : 2, &one, &two, &log);
            leg(worlds[w][2], SIZE_MAX, &two, NULL, &log);
            fx_assert_once(log.ids, log.id_count, bad, N);
            fx_log_done(&log);
            saved_done(&one);
            saved_done(&two);
        }
}

static void three_legs_of_blocks(void **state)
{
    order = WEIR_ORDER_BLOCK;
    three_legs(state);
}

/* Another number of samples in a batch is no reason to count again, either. */
static void counts_on_with_other_batches(void **state)
{
    const struct saved none = {0};

    (void)state;
    for (uint32_t batch = 1; batch < 9; batch++) {
        struct saved at = {0};
        struct fx_log log = {0};
        weir_pipeline_config cfg;
        size_t before;

        leg(1, 4, &none, &at, &log);
        before = log.batch_count;
        base_config(&cfg);
        cfg.batch = batch;
        cfg.resume = (const void *const *)at.bufs;
        cfg.resume_len = at.lens;
        cfg.resume_count = at.count;
        assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
        check_indices(&log, before, 4);
        fx_log_done(&log);
        saved_done(&at);
    }
}

/* Keeps of a log what is new in each batch. */
static void drop_padding(struct fx_log *log)
{
    size_t n = 0;

    for (size_t b = 0; b < log->batch_count; b++) {
        memmove(log->ids + n, log->ids + log->batches[b].first,
                log->batches[b].unique * sizeof(*log->ids));
        n += log->batches[b].unique;
    }
    log->id_count = n;
}

/* Padded ranks stay in step to the very end, whatever is bad. */
static void padded_ranks(void **state)
{
    const struct saved none = {0};

    (void)state;
    rest = WEIR_REMAINDER_PAD;
    for (uint32_t first = 1; first <= WORLD; first++) {
        size_t most = common_steps(first, &none);

        assert_int_equal(most, ((N + first - 1) / first + 2) / 3);
        for (size_t k = 0; k <= most; k++) {
            uint32_t second = 1 + (uint32_t)k % WORLD;
            struct saved one = {0}, two = {0};
            struct fx_log log = {0};

            leg(first, k, &none, &one, &log);
            leg(second, 1, &one, &two, &log);
            leg(first, SIZE_MAX, &two, NULL, &log);
            drop_padding(&log);
            fx_assert_once(log.ids, log.id_count, bad, N);
            fx_log_done(&log);
            saved_done(&one);
            saved_done(&two);
        }
    }
}

static void padded_ranks_of_blocks(void **state)
{
    order = WEIR_ORDER_BLOCK;
    padded_ranks(state);
}

/* With the same world the batches are those of the run that went through. */
static void the_same_batches_come(void **state)
{
    const struct saved none = {0};
    struct fx_log whole = {0};

    (void)state;
    leg(1, SIZE_MAX, &none, NULL, &whole);
    for (size_t k = 0; k < whole.batch_count; k++) {
        struct saved at = {0}, later = {0};
        struct fx_log log = {0};

        leg(1, k, &none, &at, &log);
        leg(1, 1, &at, &later, &log);
        leg(1, SIZE_MAX, &later, NULL, &log);
        assert_int_equal(log.batch_count, whole.batch_count);
        assert_int_equal(log.id_count, whole.id_count);
        assert_int_equal(log.hash, whole.hash);
        for (size_t b = 0; b < whole.batch_count; b++)
            assert_int_equal(log.batches[b].index, whole.batches[b].index);
        fx_log_done(&log);
        saved_done(&at);
        saved_done(&later);
    }
    fx_log_done(&whole);
}

/* What they are padded with, too, and how many are nothing else. */
static void the_same_padded_batches_come(void **state)
{
    rest = WEIR_REMAINDER_PAD;
    the_same_batches_come(state);
}

/* The last batches of the epoch hold bad samples only. */
static void a_bad_rest_is_no_failure(void **state)
{
    const struct saved none = {0};
    weir_pipeline_config cfg;
    struct saved at = {0};
    struct fx_log log = {0};

    (void)state;
    for (uint32_t i = 0; i < N; i++)
        if (i >= 36 && !bad[i])
            spoil(i);
    base_config(&cfg);
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    for (size_t k = 0; k < 2; k++) {
        weir_pipeline *p;
        weir_err err;

        cfg.resume = (const void *const *)at.bufs;
        cfg.resume_len = at.lens;
        cfg.resume_count = at.count;
        p = fx_start(ds, &cfg);
        assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), 0);
        if (k == 0)
            save(&at, p);
        weir_pipeline_close(&p);
    }
    fx_assert_once(log.ids, log.id_count, bad, N);
    fx_log_done(&log);
    saved_done(&at);
    check_two_legs(1, 2);
    leg(2, SIZE_MAX, &none, NULL, &log);
    fx_assert_once(log.ids, log.id_count, bad, N);
    fx_log_done(&log);
}

static void goes_on_into_the_next_epoch(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log whole = {0};

    (void)state;
    base_config(&cfg);
    cfg.epochs = 3;
    assert_int_equal(fx_run(&fx, ds, &cfg, &whole), 0);
    for (size_t k = 0; k < whole.batch_count; k += 4) {
        weir_pipeline_config again = cfg;
        struct saved at = {0};
        struct fx_log log = {0};
        weir_pipeline *p = fx_start(ds, &cfg);
        weir_err err;

        assert_true(fx_take(&fx, p, k, &log, &err) >= 0);
        save(&at, p);
        weir_pipeline_close(&p);
        again.resume = (const void *const *)at.bufs;
        again.resume_len = at.lens;
        again.resume_count = 1;
        assert_int_equal(fx_run(&fx, ds, &again, &log), 0);
        assert_int_equal(log.hash, whole.hash);
        assert_int_equal(log.batch_count, whole.batch_count);
        fx_log_done(&log);
        saved_done(&at);
    }
    fx_log_done(&whole);
}

static void refuse(const weir_pipeline_config *cfg, const char *word)
{
    weir_pipeline *p = NULL;
    weir_err err;
    int r = weir_pipeline_open(&p, ds, cfg, &err);

    assert_true(r == WEIR_EINVAL || r == WEIR_EFORMAT);
    assert_null(p);
    if (!strstr(err.msg, word))
        fail_msg("'%s' does not say '%s'", err.msg, word);
}

static void states_of_other_runs_are_refused(void **state)
{
    const struct saved none = {0};
    weir_pipeline_config good, cfg;
    struct saved at = {0};
    struct fx_log log = {0};
    const void *twice[2];
    weir_dataset *other;
    struct fx small;
    weir_pipeline *p = NULL;
    weir_err err;

    (void)state;
    leg(2, 4, &none, &at, &log);
    fx_log_done(&log);
    base_config(&good);
    good.resume = (const void *const *)at.bufs;
    good.resume_len = at.lens;
    good.resume_count = 2;

    cfg = good;
    cfg.seed++;
    refuse(&cfg, "another seed");
    cfg = good;
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    refuse(&cfg, "another order");
    cfg = good;
    cfg.resume_count = 1;
    refuse(&cfg, "all 2 ranks");
    twice[0] = twice[1] = at.bufs[0];
    cfg = good;
    cfg.resume = twice;
    cfg.resume_len = (size_t[]){at.lens[0], at.lens[0]};
    refuse(&cfg, "rank 0");
    ((uint8_t *)at.bufs[1])[24] ^= 1;
    refuse(&good, "checksum");
    ((uint8_t *)at.bufs[1])[24] ^= 1;

    fx_make(&small, FX_TENSORS, N - 1, 1);
    other = fx_open(&small, "");
    assert_int_equal(weir_pipeline_open(&p, other, &good, &err), WEIR_EINVAL);
    assert_non_null(strstr(err.msg, "number of samples"));
    weir_dataset_close(&other);
    fx_done(&small);
    saved_done(&at);
}

/* 47 samples were shuffled otherwise by versions whose states lack the bit. */
static void a_small_shuffle_of_an_earlier_version(void **state)
{
    const struct saved none = {0};
    struct saved at = {0};
    struct fx_log log = {0};
    weir_pipeline_config cfg;
    uint64_t sum;
    uint8_t *buf;

    (void)state;
    leg(1, 4, &none, &at, &log);
    fx_log_done(&log);
    base_config(&cfg);
    cfg.resume = (const void *const *)at.bufs;
    cfg.resume_len = at.lens;
    cfg.resume_count = 1;
    buf = at.bufs[0];
    buf[5 * 8] &= 0x7f;
    sum = htole64(XXH64(buf, at.lens[0] - 8, 0));
    memcpy(buf + at.lens[0] - 8, &sum, sizeof(sum));
    refuse(&cfg, "another version of weir");
    saved_done(&at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(after_every_batch, setup, teardown),
        cmocka_unit_test_setup_teardown(blocks_after_every_batch, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(three_legs, setup, teardown),
        cmocka_unit_test_setup_teardown(three_legs_of_blocks, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_on_with_other_batches, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(padded_ranks, setup, teardown),
        cmocka_unit_test_setup_teardown(padded_ranks_of_blocks, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_same_batches_come, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_padded_batches_come, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_bad_rest_is_no_failure, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(goes_on_into_the_next_epoch, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(states_of_other_runs_are_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_small_shuffle_of_an_earlier_version,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
