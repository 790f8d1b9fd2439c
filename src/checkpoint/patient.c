/* patient.c - a store around the slow tier's that nobody waits for in vain.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/patient.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "checkpoint/patient_core.h"
#include "checkpoint/strand.h"

static struct wr_patient *core_of(struct wr_store *st)
{
    return ((struct wr_patient_store *)st)->core;
}

/* --- answers --- */

/* The file of this object, which may be stuck, has a count of its own. Closes it
 * when there is no memory. */
static int hold_file(struct wr_wrap_call *c, weir_err *err)
{
    struct wr_patient_held *h = calloc(1, sizeof(*h));

    if (!h) {
        c->object->ops->close(c->object, /* sync= */ false, NULL);
        return wr_errand_no_memory(err);
    }
    h->refs = 1;
    h->inner = c->object;
    ((struct wr_patient_object *)c->o)->held = h;
    return 0;
}

static int tell_entries(const struct wr_errand *e, const struct wr_wrap_call *c)
{
    int r = 0;

    for (size_t i = 0; i < e->count && r == 0; i++)
        r = c->fn(c->arg, &(struct wr_entry){.name = e->found[i].name,
                                             .kind = e->found[i].kind,
                                             .size = e->found[i].size});
    return r;
}

/* From the errand's memory to the caller's. */
static int64_t take_answer(struct wr_errand *e, struct wr_wrap_call *c,
                           weir_err *err)
{
    if (e->result < 0)
        return wr_fail_as(err, (int)e->result, &e->err);
    switch (c->op) {
    case WR_WRAP_STAT:
        *c->ret_stat = e->stat;
        break;
    case WR_WRAP_LIST:
        return tell_entries(e, c);
    case WR_WRAP_OPEN:
        c->object = e->call.object;
        e->opened = false;
        break;
    case WR_WRAP_SPACE:
        *c->ret_bytes = e->space;
        break;
    case WR_WRAP_READ:
        if (e->result > 0)
            memcpy(c->buf, e->bytes, (size_t)e->result);
        break;
    default:
        break;
    }
    return e->result;
}

static int64_t ask_and_take(struct wr_patient *k, struct wr_errand *e,
                            struct wr_wrap_call *c, weir_err *err)
{
    int64_t r = wr_errand_send(k, e, err);

    if (r < 0)
        return r;
    r = take_answer(e, c, err);
    wr_errand_free(e);
    return r;
}

/* --- calls --- */

static int64_t close_file(struct wr_patient *k, struct wr_wrap_call *c,
                          weir_err *err)
{
    struct wr_patient_held *h = ((struct wr_patient_object *)c->o)->held;
    struct wr_errand *e;
    int64_t r;

    if (h->refs > 1) { /* a request is stuck at it, which closes it then */
        r = wr_patient_say(k, err);
    } else if (wr_patient_is_direct(k)) {
        r = wr_patient_do(c, h, err);
    } else {
        e = wr_errand_new(c);
        wr_patient_drop(h); /* what is left is the errand's */
        return ask_and_take(k, e, c, err);
    }
    wr_patient_drop(h);
    return r;
}

static int64_t patient_call(struct wr_store *st, struct wr_wrap_call *c,
                            weir_err *err)
{
    struct wr_patient *k = core_of(st);
    int64_t r;

    if (c->op == WR_WRAP_CLOSE)
        return close_file(k, c, err);
    r = wr_patient_is_direct(k) ? wr_patient_do(c, NULL, err)
                                : ask_and_take(k, wr_errand_new(c), c, err);
    return c->op == WR_WRAP_OPEN && r == 0 ? hold_file(c, err) : r;
}

static const struct wr_wrap_hooks hooks = {
    .call = patient_call,
    .object_bytes = sizeof(struct wr_patient_object),
    .io_bytes = sizeof(struct wr_wrap_io),
    .lazy = true,
};

/* --- the store --- */

static void patient_close(struct wr_store *st)
{
    struct wr_patient *k;

    if (!st)
        return;
    k = core_of(st);
    pthread_mutex_lock(&k->turn);
    wr_patient_worker_end(k);
    pthread_mutex_unlock(&k->turn);
    free(st);
    wr_patient_unref(k);
}

static int patient_queue_open(struct wr_store *st,
                              const struct wr_queue_config *cfg,
                              struct wr_queue **ret, weir_err *err)
{
    struct wr_patient *k = core_of(st);

    return wr_patient_is_direct(k) ? wr_wrap_queue_open(st, cfg, ret, err)
                                   : wr_patient_queue_open(k, cfg, ret, err);
}

static const struct wr_storage_ops patient_ops = {
    .name = "patient",
    .help = "storage that may hang",
    .close = patient_close,
    .stat = wr_wrap_stat,
    .list = wr_wrap_list,
    .object_open = wr_wrap_object_open,
    .change = wr_wrap_change,
    .queue_open = patient_queue_open,
    .space = wr_wrap_space,
    .forgets = wr_wrap_forgets,
};

/* --- who uses it --- */

int wr_patient_tier(struct wr_tier *t, uint64_t most_ns, weir_err *err)
{
    struct wr_patient_store *st = calloc(1, sizeof(*st));
    struct wr_patient *k = calloc(1, sizeof(*k));

    if (k)
        k->shown = strdup(t->shown);
    if (!st || !k || !k->shown) {
        free(k);
        free(st);
        return wr_errand_no_memory(err);
    }
    k->refs = 1;
    k->inner = t->store;
    k->most_ns = most_ns;
    pthread_mutex_init(&k->turn, NULL);
    pthread_mutex_init(&k->lock, NULL);
    st->wrap = (struct wr_wrap_store){{&patient_ops}, t->store, &hooks};
    st->core = k;
    t->store = &st->wrap.store;
    return 0;
}

/* One that is being opened. */
struct opening {
    struct wr_strand strand;
    char *url; /* owned */
    const char *label;
    bool create;
    struct wr_tier *tier; /* owned */
    int result;
    weir_err err;
};

static void run_opening(void *arg)
{
    struct opening *o = arg;

    o->result = wr_tier_open(o->url, o->label, o->create, &o->tier, &o->err);
}

static void opening_free(void *arg)
{
    struct opening *o = arg;

    wr_strand_done(&o->strand);
    wr_tier_close(o->tier);
    free(o->url);
    free(o);
}

int wr_patient_open(const char *url, const char *label, bool create,
                    uint64_t most_ns, struct wr_tier **ret, weir_err *err)
{
    struct opening *o = calloc(1, sizeof(*o));
    uint64_t until_ns = most_ns > UINT64_MAX / 2 ? UINT64_MAX
                                                 : wr_clock_ns() + most_ns;
    int r;

    if (o)
        o->url = strdup(url);
    if (!o || !o->url) {
        free(o);
        return wr_errand_no_memory(err);
    }
    o->label = label;
    o->create = create;
    r = wr_strand_start(&o->strand, "weir-open", run_opening, opening_free, o,
                        err);
    if (r < 0) {
        opening_free(o);
        return r;
    }
    if (!wr_strand_join(&o->strand, until_ns) && wr_strand_leave(&o->strand))
        return wr_fail(err, WEIR_ETIMEDOUT,
                       "'%s': the slow tier does not answer (is the storage "
                       "there?)",
                       url);
    r = wr_fail_as(err, o->result, &o->err);
    if (r == 0)
        r = wr_patient_tier(o->tier, most_ns, err);
    if (r == 0) {
        *ret = o->tier;
        o->tier = NULL;
    }
    opening_free(o);
    return r;
}

/* NULL: another kind of store. */
static struct wr_patient *is_patient(struct wr_store *st)
{
    return st && st->ops == &patient_ops ? core_of(st) : NULL;
}

void wr_patient_enter(struct wr_store *st)
{
    struct wr_patient *k = is_patient(st);

    if (!k)
        return;
    pthread_mutex_lock(&k->lock);
    if (k->direct_count < WR_PATIENT_DIRECT)
        k->direct[k->direct_count++] = pthread_self();
    pthread_mutex_unlock(&k->lock);
}

void wr_patient_leave(struct wr_store *st)
{
    struct wr_patient *k = is_patient(st);
    unsigned kept = 0;

    if (!k)
        return;
    pthread_mutex_lock(&k->lock);
    for (unsigned i = 0; i < k->direct_count; i++)
        if (!pthread_equal(k->direct[i], pthread_self()))
            k->direct[kept++] = k->direct[i];
    k->direct_count = kept;
    pthread_mutex_unlock(&k->lock);
}

void wr_patient_begin(struct wr_store *st)
{
    struct wr_patient *k = is_patient(st);

    if (k)
        k->silent_ns = 0;
}

int wr_patient_check(struct wr_store *st, weir_err *err)
{
    const struct wr_patient *k = is_patient(st);

    return k && k->silent_ns ? wr_patient_say(k, err) : 0;
}
