/* test_race.c - a tier that one saves to, one takes from, and one reads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * As a trainer, a drainer and a restore do, each with the tier open for itself.
 */
#include "tier_help.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/thread.h"

#define SAVES 60

struct race {
    const char *url;
    atomic_bool over;
    atomic_uint read; /* manifests that were there to the end */
};

/* Failures of threads are kept for the main one: cmocka's are not for them. */
struct part {
    struct race *race;
    pthread_t thread;
    weir_err err; /* code 0: all went well */
};

/* Takes away all steps but the two newest. */
static void *taker(void *arg)
{
    struct part *part = arg;
    struct wr_tier *t;
    uint64_t *steps;
    size_t count;
    int r;

    if (wr_tier_open(part->race->url, "fast", false, &t, &part->err) < 0)
        return NULL;
    do {
        r = wr_tier_steps(t, &steps, &count, &part->err);
        if (r < 0)
            break;
        for (size_t i = 0; i + 2 < count && r == 0; i++)
            r = wr_tier_retire(t, steps[i], &part->err);
        free(steps);
    } while (r == 0 && !part->race->over);
    wr_tier_close(t);
    return NULL;
}

/* A step may go while it is looked at, but never looks damaged. */
static void *reader(void *arg)
{
    struct part *part = arg;
    struct wr_manifest m;
    struct wr_tier *t;
    uint64_t *steps;
    size_t count;
    bool last;
    int r = 0;

    if (wr_tier_open(part->race->url, "fast", false, &t, &part->err) < 0)
        return NULL;
    do {
        last = part->race->over; /* then it looks once more */
        r = wr_tier_steps(t, &steps, &count, &part->err);
        if (r < 0)
            break;
        for (size_t i = 0; i < count && r == 0; i++) {
            weir_err why;

            r = wr_tier_manifest(t, steps[i], &m, &why);
            if (r == 0) {
                part->race->read++;
                wr_manifest_done(&m);
            } else if (r == WEIR_ENOENT) {
                r = 0;
            } else {
                part->err = why;
            }
        }
        free(steps);
    } while (!last && r == 0);
    wr_tier_close(t);
    return NULL;
}

static void three_at_once(void **state)
{
    struct place *p = *state;
    struct wr_tier *t = claimed_at(p->tier);
    struct race race = {.url = p->tier};
    struct part parts[] = {{.race = &race}, {.race = &race}};
    weir_err err = {0};
    uint64_t step = 1;
    int r = 0;

    assert_int_equal(
        wr_thread_start(&parts[0].thread, "taker", taker, &parts[0], NULL), 0);
    assert_int_equal(
        wr_thread_start(&parts[1].thread, "reader", reader, &parts[1], NULL),
        0);
    for (; step <= SAVES && r == 0; step++)
        r = save(t, step, 1 + (uint32_t)(step % 3), &err);
    race.over = true;
    pthread_join(parts[0].thread, NULL);
    pthread_join(parts[1].thread, NULL);
    if (r < 0)
        fail_msg("save: %s", err.msg);
    if (parts[0].err.code)
        fail_msg("taker: %s", parts[0].err.msg);
    if (parts[1].err.code)
        fail_msg("reader: %s", parts[1].err.msg);
    must_be_good(t, SAVES);
    must_be_good(t, SAVES - 1);
    assert_true(race.read > 0);
    wr_tier_close(t);

    t = claimed_at(p->tier); /* whatever slots there were too many of */
    assert_int_equal(count_left(p, "t", NULL), 0);
    assert_true(count_left(p, "slot-", NULL) <= 1);
    wr_tier_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(three_at_once, place_setup,
                                        place_teardown),
    };

    return cmocka_run_group_tests_name("tier_race", tests, NULL, NULL);
}
