/* test_player.c - unit tests of player.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/rng.h"
#include "mount/player.h"

#define ADDERS 4
#define EACH   500

struct item {
    struct wr_play play;
    atomic_uint sent;
    uint64_t sent_ns;
};

struct stage {
    struct wr_player *player;
    struct item *items;
    atomic_uint count;
};

static void send(void *arg, struct wr_play *play)
{
    struct stage *s = arg;
    struct item *it = (struct item *)play;

    it->sent_ns = wr_clock_ns();
    atomic_fetch_add(&it->sent, 1);
    atomic_fetch_add(&s->count, 1);
}

static void *add_some(void *arg)
{
    struct stage *s = arg;
    static atomic_uint next;
    unsigned self = atomic_fetch_add(&next, 1) % ADDERS;
    struct wr_rng rng = {.seed = 7, .stream = self};

    for (unsigned i = 0; i < EACH; i++) {
        struct item *it = &s->items[self * EACH + i];

        it->play.due.at_ns = wr_clock_ns() + wr_rng_below(&rng, 3000000);
        it->play.heavy = i % 3 == 0;
        wr_player_add(s->player, &it->play);
    }
    return NULL;
}

/* Each is sent once, none before its time. */
static void test_all_are_sent(void **state)
{
    struct stage s = {.items = calloc(ADDERS * EACH, sizeof(struct item))};
    pthread_t adders[ADDERS];
    weir_err err;

    assert_int_equal(wr_player_start(&s.player, 2, send, &s, &err), 0);
    for (unsigned i = 0; i < ADDERS; i++)
        assert_int_equal(pthread_create(&adders[i], NULL, add_some, &s), 0);
    for (unsigned i = 0; i < ADDERS; i++)
        pthread_join(adders[i], NULL);
    while (atomic_load(&s.count) < ADDERS * EACH)
        wr_clock_sleep_until(wr_clock_ns() + WR_NS_PER_MS);
    wr_player_stop(s.player);
    for (unsigned i = 0; i < ADDERS * EACH; i++) {
        assert_int_equal(s.items[i].sent, 1);
        assert_true(s.items[i].sent_ns >= s.items[i].play.due.at_ns);
    }
    free(s.items);
}

/* Nobody who waits for an answer is forgotten at the end. */
static void test_stop_sends_the_rest(void **state)
{
    struct stage s = {.items = calloc(10, sizeof(struct item))};
    weir_err err;

    assert_int_equal(wr_player_start(&s.player, 2, send, &s, &err), 0);
    for (unsigned i = 0; i < 10; i++) {
        s.items[i].play.due.at_ns = wr_clock_ns() + 1000 * WR_NS_PER_SEC;
        wr_player_add(s.player, &s.items[i].play);
    }
    assert_int_equal(atomic_load(&s.count), 0);
    wr_player_stop(s.player);
    assert_int_equal(atomic_load(&s.count), 10);
    wr_player_stop(NULL);
    free(s.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_sent),
        cmocka_unit_test(test_stop_sends_the_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
