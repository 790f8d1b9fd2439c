/* patient_errand.c - one request to storage that may hang, and who makes it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/patient_core.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "checkpoint/strand.h"

/* Each later call leaves one more behind while the storage hangs. */
#define LEFT_MAX 16u

/* --- the core --- */

void wr_patient_unref(struct wr_patient *k)
{
    if (--k->refs > 0)
        return;
    wr_store_close(k->inner);
    pthread_mutex_destroy(&k->turn);
    pthread_mutex_destroy(&k->lock);
    free(k->shown);
    free(k);
}

void wr_patient_drop(struct wr_patient_held *h)
{
    if (!h || --h->refs > 0)
        return;
    if (h->inner)
        h->inner->ops->close(h->inner, /* sync= */ false, NULL);
    free(h);
}

bool wr_patient_is_direct(struct wr_patient *k)
{
    bool is = k->most_ns == UINT64_MAX;

    pthread_mutex_lock(&k->lock);
    for (unsigned i = 0; i < k->direct_count; i++)
        is |= pthread_equal(k->direct[i], pthread_self()) != 0;
    pthread_mutex_unlock(&k->lock);
    return is;
}

bool wr_patient_gave_up(const struct wr_patient *k)
{
    return k->silent_ns > 0 || k->left >= LEFT_MAX;
}

void wr_patient_give_up(struct wr_patient *k, uint64_t begun_ns)
{
    k->silent_ns = WR_MAX(wr_clock_ns() - begun_ns, UINT64_C(1));
    k->left++;
}

uint64_t wr_patient_until(const struct wr_patient *k, uint64_t begun_ns)
{
    uint64_t last_ns = WR_MAX(begun_ns, (uint64_t)k->answered_ns);

    return k->most_ns > UINT64_MAX / 2 ? UINT64_MAX : last_ns + k->most_ns;
}

int wr_patient_say(const struct wr_patient *k, weir_err *err)
{
    uint64_t ns = k->silent_ns ? (uint64_t)k->silent_ns : k->most_ns;

    return wr_fail(err, WEIR_ETIMEDOUT,
                   "'%s': the slow tier has not answered for %.1f seconds (is "
                   "the storage there?)",
                   k->shown, (double)ns / (double)WR_NS_PER_SEC);
}

/* --- requests --- */

void wr_errand_free(struct wr_errand *e)
{
    if (!e)
        return;
    wr_patient_drop(e->held);
    if (e->opened)
        e->call.object->ops->close(e->call.object, /* sync= */ false, NULL);
    for (size_t i = 0; i < e->count; i++)
        free(e->found[i].name);
    free(e->found);
    free(e->path);
    free(e->to);
    free(e->bytes);
    free(e);
}

int wr_errand_no_memory(weir_err *err)
{
    return wr_fail(err, WEIR_ENOMEM, "out of memory");
}

static int keep_entry(void *arg, const struct wr_entry *entry)
{
    struct wr_errand *e = arg;
    struct wr_errand_entry *f;

    if (!wr_grow(&e->found, &e->cap, e->count + 1, sizeof(*e->found)))
        return wr_errand_no_memory(&e->err);
    f = &e->found[e->count];
    *f = (struct wr_errand_entry){strdup(entry->name), entry->kind,
                                  entry->size};
    if (!f->name)
        return wr_errand_no_memory(&e->err);
    e->count++;
    return 0;
}

/* As objects that are read past the page cache want it. */
static uint8_t *errand_memory(size_t len)
{
    return aligned_alloc(WR_DIRECT_ALIGN,
                         WR_ALIGN_UP(len ? len : 1, (size_t)WR_DIRECT_ALIGN));
}

/* Gives the errand memory of its own for what the call points to. */
static bool copy_memory(struct wr_errand *e, const struct wr_wrap_call *c)
{
    bool moves = c->op == WR_WRAP_READ || c->op == WR_WRAP_WRITE;

    e->path = strdup(c->path);
    e->to = c->to ? strdup(c->to) : NULL;
    e->bytes = moves ? errand_memory(c->len) : NULL;
    if (!e->path || (c->to && !e->to) || (moves && !e->bytes))
        return false;
    if (c->op == WR_WRAP_WRITE)
        memcpy(e->bytes, c->bytes, c->len);
    e->call.path = e->path;
    e->call.to = e->to;
    e->call.buf = e->bytes;
    e->call.bytes = e->bytes;
    e->call.ret_stat = &e->stat;
    e->call.ret_bytes = &e->space;
    e->call.fn = keep_entry;
    e->call.arg = e;
    e->call.o = NULL; /* the caller's alone */
    return true;
}

struct wr_errand *wr_errand_new(const struct wr_wrap_call *c)
{
    struct wr_errand *e = calloc(1, sizeof(*e));

    if (!e)
        return NULL;
    e->call = *c;
    if (!copy_memory(e, c)) {
        wr_errand_free(e);
        return NULL;
    }
    if (c->object) {
        e->held = ((struct wr_patient_object *)c->o)->held;
        e->held->refs++;
    }
    return e;
}

/* The only one that has the file closes it. A storage that has no locks needs
 * none. */
int64_t wr_patient_do(struct wr_wrap_call *c, struct wr_patient_held *h,
                      weir_err *err)
{
    if (c->op == WR_WRAP_CLOSE)
        h->inner = NULL;
    if (c->op == WR_WRAP_LOCK && !c->object->ops->lock)
        return 0;
    return wr_wrap_do(c, err);
}

/* --- the thread that makes them --- */

struct wr_patient_worker {
    struct wr_strand strand;
    struct wr_patient *core; /* ref */

    pthread_mutex_t lock; /* guards what is below; a leaf lock */
    pthread_cond_t changed;
    struct wr_errand *job; /* owned by who asked, or by this when it is left */
    bool done, stop;
};

static void worker_release(void *arg)
{
    struct wr_patient_worker *w = arg;
    struct wr_patient *k = w->core;
    bool was_left = w->job != NULL;

    wr_errand_free(w->job);
    wr_strand_done(&w->strand);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
    if (was_left)
        k->left--;
    wr_patient_unref(k);
}

static void worker_run(void *arg)
{
    struct wr_patient_worker *w = arg;

    pthread_mutex_lock(&w->lock);
    for (;;) {
        struct wr_errand *e;

        while (!w->stop && (!w->job || w->done))
            pthread_cond_wait(&w->changed, &w->lock);
        if (w->stop)
            break;
        e = w->job;
        pthread_mutex_unlock(&w->lock);
        e->result = wr_patient_do(&e->call, e->held, &e->err);
        e->opened = e->call.op == WR_WRAP_OPEN && e->result == 0;
        pthread_mutex_lock(&w->lock);
        w->done = true;
        w->core->answered_ns = wr_clock_ns();
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
}

/* With the turn. */
static int worker_get(struct wr_patient *k, weir_err *err)
{
    struct wr_patient_worker *w;
    int r;

    if (k->worker)
        return 0;
    w = calloc(1, sizeof(*w));
    if (!w)
        return wr_errand_no_memory(err);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->core = k;
    k->refs++;
    r = wr_strand_start(&w->strand, "weir-ask", worker_run, worker_release, w,
                        err);
    if (r < 0)
        worker_release(w);
    else
        k->worker = w;
    return r;
}

/* With the turn: nobody asks any more. */
void wr_patient_worker_end(struct wr_patient *k)
{
    struct wr_patient_worker *w = k->worker;

    if (!w)
        return;
    k->worker = NULL;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    wr_strand_join(&w->strand, UINT64_MAX);
    worker_release(w);
}

/* With the turn: the answer, or the worker is left behind with the errand. */
static bool worker_ask(struct wr_patient *k, struct wr_errand *e)
{
    struct wr_patient_worker *w = k->worker;
    uint64_t begun_ns = wr_clock_ns(), until_ns;
    bool done;

    pthread_mutex_lock(&w->lock);
    w->job = e;
    w->done = false;
    pthread_cond_broadcast(&w->changed);
    do
        until_ns = wr_patient_until(k, begun_ns);
    while (!w->done && (wr_cond_wait_until(&w->changed, &w->lock, until_ns) ||
                        wr_clock_ns() < wr_patient_until(k, begun_ns)));
    done = w->done;
    if (done)
        w->job = NULL;
    w->stop = !done;
    pthread_mutex_unlock(&w->lock);
    if (done)
        return true;
    k->worker = NULL;
    wr_patient_give_up(k, begun_ns);
    if (!wr_strand_leave(&w->strand))
        worker_release(w); /* it answered this moment: too late */
    return false;
}

/* Takes the errand (NULL: memory is short). On 0 it is answered and to be freed
 * by the caller; its own result is e->result. */
int wr_errand_send(struct wr_patient *k, struct wr_errand *e, weir_err *err)
{
    int r = e ? 0 : wr_errand_no_memory(err);

    if (r < 0)
        return r;
    pthread_mutex_lock(&k->turn);
    if (wr_patient_gave_up(k)) {
        r = WEIR_ETIMEDOUT;
        k->silent_ns = WR_MAX(k->silent_ns, k->most_ns);
    }
    if (r == 0)
        r = worker_get(k, err);
    if (r < 0)
        wr_errand_free(e);
    else if (!worker_ask(k, e))
        r = WEIR_ETIMEDOUT;
    pthread_mutex_unlock(&k->turn);
    return r == WEIR_ETIMEDOUT ? wr_patient_say(k, err) : r;
}
