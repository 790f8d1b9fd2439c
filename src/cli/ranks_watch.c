/* ranks_watch.c - notices that another rank has died, whatever this one does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/ranks_watch.h"

#include "base/clock.h"
#include "base/thread.h"
#include "cli/interrupt.h"

#define LOOK_MS 100

static void pause_ms(unsigned ms)
{
    wr_clock_sleep_until(wr_clock_ns() + ms * WR_NS_PER_MS);
}

static void *watch_main(void *arg)
{
    struct wr_ranks_watch *w = arg;

    while (!w->stop) {
        if (wr_comm_alive(w->comm, &w->why) == 0) {
            pause_ms(LOOK_MS);
            continue;
        }
        w->lost = true;
        if (w->on_lost)
            w->on_lost(w->arg);
        else
            wr_interrupt_stop();
        break;
    }
    return NULL;
}

int wr_ranks_watch_start(struct wr_ranks_watch *w,
                         const struct wr_comm_config *cfg, weir_err *err)
{
    struct wr_comm_config own = *cfg;
    int r;

    own.channel = "watch";
    r = wr_comm_open(&own, &w->comm, err);
    if (r == 0)
        r = wr_thread_start_lean(&w->thread, "weir-ranks", watch_main, w, err);
    w->started = r == 0;
    return r;
}

void wr_ranks_watch_stop(struct wr_ranks_watch *w)
{
    w->stop = true;
    if (w->started)
        pthread_join(w->thread, NULL);
    w->started = false;
}

bool wr_ranks_watch_lost(const struct wr_ranks_watch *w, unsigned ms)
{
    for (unsigned waited = 0; w->started && !w->lost && waited < ms;
         waited += LOOK_MS)
        pause_ms(LOOK_MS);
    return w->lost;
}

void wr_ranks_watch_close(struct wr_ranks_watch *w, const weir_err *why)
{
    wr_ranks_watch_stop(w);
    if (w->comm && why)
        wr_comm_give_up(w->comm, why);
    wr_comm_close(w->comm);
    w->comm = NULL;
}
