/* strand.c - a thread that may be left behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/strand.h"

#include "base/thread.h"

static void *strand_main(void *arg)
{
    struct wr_strand *s = arg;
    bool left;

    s->run(s->arg);
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    left = s->left;
    pthread_cond_broadcast(&s->over);
    pthread_mutex_unlock(&s->lock);
    if (left)
        s->release(s->arg);
    return NULL;
}

int wr_strand_start(struct wr_strand *s, const char *name,
                    void (*run)(void *arg), void (*release)(void *arg),
                    void *arg, weir_err *err)
{
    int r;

    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->over, NULL);
    s->run = run;
    s->release = release;
    s->arg = arg;
    s->started = true;
    r = wr_thread_start(&s->thread, name, strand_main, s, err);
    if (r < 0) {
        s->joined = true;
        wr_strand_done(s);
    }
    return r;
}

bool wr_strand_join(struct wr_strand *s, uint64_t deadline_ns)
{
    bool ended;

    if (!s->started || s->joined)
        return true;
    pthread_mutex_lock(&s->lock);
    while (!s->ended && wr_cond_wait_until(&s->over, &s->lock, deadline_ns))
        ;
    ended = s->ended;
    pthread_mutex_unlock(&s->lock);
    if (ended)
        pthread_join(s->thread, NULL);
    s->joined = ended;
    return ended;
}

bool wr_strand_halt(struct wr_strand *s, pthread_mutex_t *lock,
                    pthread_cond_t *changed, bool *stop, uint64_t deadline_ns)
{
    pthread_mutex_lock(lock);
    *stop = true;
    pthread_cond_broadcast(changed);
    pthread_mutex_unlock(lock);
    return wr_strand_join(s, deadline_ns);
}

bool wr_strand_leave(struct wr_strand *s)
{
    bool ended = !s->started || s->joined;

    if (ended)
        return false;
    pthread_mutex_lock(&s->lock);
    ended = s->ended;
    s->left = !ended;
    if (!ended)
        pthread_detach(s->thread);
    pthread_mutex_unlock(&s->lock); /* it may be gone after that */
    if (ended)
        wr_strand_join(s, UINT64_MAX);
    return !ended;
}

void wr_strand_done(struct wr_strand *s)
{
    if (!s->started)
        return;
    pthread_cond_destroy(&s->over);
    pthread_mutex_destroy(&s->lock);
    s->started = false;
}
