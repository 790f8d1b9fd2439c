/* patient.c - a store around the slow tier's that nobody waits for in vain.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/patient.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "checkpoint/patient_core.h"
#include "checkpoint/strand.h"

/* --- files --- */

static struct wr_patient_object *to_object(struct wr_object *o)
{
    return (struct wr_patient_object *)o;
}

/* As objects that are read past the page cache want it. */
static uint8_t *errand_memory(size_t len)
{
    return aligned_alloc(WR_DIRECT_ALIGN,
                         WR_ALIGN_UP(len ? len : 1, (size_t)WR_DIRECT_ALIGN));
}

static void run_read(struct wr_errand *e)
{
    struct wr_object *o = e->held->inner;

    e->result = o->ops->read(o, e->bytes, e->len, e->number, &e->err);
}

static int64_t object_read(struct wr_object *object, void *buf, size_t len,
                           uint64_t offset, weir_err *err)
{
    struct wr_patient_object *o = to_object(object);
    struct wr_object *inner = o->wrap.inner;
    struct wr_errand *e;
    int64_t got;
    int r;

    if (wr_patient_is_direct(o->core))
        return inner->ops->read(inner, buf, len, offset, err);
    e = wr_errand_at(o, run_read);
    if (e && !(e->bytes = errand_memory(len))) {
        wr_errand_free(e);
        e = NULL;
    }
    if (e) {
        e->len = len;
        e->number = offset;
    }
    r = wr_errand_send(o->core, e, err);
    if (r < 0)
        return r;
    got = e->result;
    if (got > 0)
        memcpy(buf, e->bytes, (size_t)got);
    if (got < 0)
        wr_fail_as(err, (int)got, &e->err);
    wr_errand_free(e);
    return got;
}

static void run_write(struct wr_errand *e)
{
    e->result = wr_object_write(e->held->inner, e->bytes, e->len, e->number,
                                &e->err);
}

static int object_write(struct wr_object *object, const void *buf, size_t len,
                        uint64_t offset, weir_err *err)
{
    struct wr_patient_object *o = to_object(object);
    struct wr_errand *e;

    if (wr_patient_is_direct(o->core))
        return wr_object_write(o->wrap.inner, buf, len, offset, err);
    e = wr_errand_at(o, run_write);
    if (e && !(e->bytes = errand_memory(len))) {
        wr_errand_free(e);
        e = NULL;
    }
    if (e) {
        memcpy(e->bytes, buf, len);
        e->len = len;
        e->number = offset;
    }
    return wr_errand_ask(o->core, e, err);
}

static void run_sync(struct wr_errand *e)
{
    e->result = wr_object_sync(e->held->inner, &e->err);
}

static int object_sync(struct wr_object *object, weir_err *err)
{
    struct wr_patient_object *o = to_object(object);

    if (wr_patient_is_direct(o->core))
        return wr_object_sync(o->wrap.inner, err);
    return wr_errand_ask(o->core, wr_errand_at(o, run_sync), err);
}

/* A storage that has no locks needs none. */
static int lock_it(struct wr_object *inner, weir_err *err)
{
    return inner->ops->lock ? inner->ops->lock(inner, err) : 0;
}

static void run_lock(struct wr_errand *e)
{
    e->result = lock_it(e->held->inner, &e->err);
}

static int object_lock(struct wr_object *object, weir_err *err)
{
    struct wr_patient_object *o = to_object(object);

    if (wr_patient_is_direct(o->core))
        return lock_it(o->wrap.inner, err);
    return wr_errand_ask(o->core, wr_errand_at(o, run_lock), err);
}

static void run_locked(struct wr_errand *e)
{
    e->result = wr_object_locked(e->held->inner, &e->err);
}

static int object_locked(struct wr_object *object, weir_err *err)
{
    struct wr_patient_object *o = to_object(object);

    if (wr_patient_is_direct(o->core))
        return wr_object_locked(o->wrap.inner, err);
    return wr_errand_ask(o->core, wr_errand_at(o, run_locked), err);
}

static void run_resize(struct wr_errand *e)
{
    e->result = wr_object_resize(e->held->inner, e->number, &e->err);
}

static int object_resize(struct wr_object *object, uint64_t size, weir_err *err)
{
    struct wr_patient_object *o = to_object(object);
    struct wr_errand *e;

    if (wr_patient_is_direct(o->core))
        return wr_object_resize(o->wrap.inner, size, err);
    e = wr_errand_at(o, run_resize);
    if (e)
        e->number = size;
    return wr_errand_ask(o->core, e, err);
}

/* The only one that has the file closes it. */
static int close_held(struct wr_patient_held *h, bool sync, weir_err *err)
{
    struct wr_object *inner = h->inner;

    h->inner = NULL;
    return inner->ops->close(inner, sync, err);
}

static void run_close(struct wr_errand *e)
{
    e->result = close_held(e->held, e->sync, &e->err);
}

static int object_close(struct wr_object *object, bool sync, weir_err *err)
{
    struct wr_patient_object *o = to_object(object);
    struct wr_patient_held *h = o->held;
    struct wr_patient *k = o->core;
    struct wr_errand *e;
    int r = 0;

    if (h->refs > 1) { /* a request is stuck at it, which closes it then */
        r = wr_patient_say(k, err);
    } else if (wr_patient_is_direct(k)) {
        r = close_held(h, sync, err);
    } else {
        e = wr_errand_at(o, run_close);
        wr_patient_drop(h); /* what is left is the errand's */
        h = NULL;
        if (e)
            e->sync = sync;
        r = wr_errand_ask(k, e, err);
    }
    wr_patient_drop(h);
    free(o);
    return r;
}

static const struct wr_object_ops patient_object_ops = {
    .read = object_read,
    .write = object_write,
    .sync = object_sync,
    .lock = object_lock,
    .locked = object_locked,
    .resize = object_resize,
    .close = object_close,
};

/* Takes the inner one, also on failure. */
static int object_new(struct wr_patient *k, struct wr_object *inner,
                      struct wr_object **ret, weir_err *err)
{
    struct wr_patient_object *o = calloc(1, sizeof(*o));
    struct wr_patient_held *h = calloc(1, sizeof(*h));

    if (!o || !h) {
        free(o);
        free(h);
        inner->ops->close(inner, /* sync= */ false, NULL);
        return wr_errand_no_memory(err);
    }
    h->refs = 1;
    h->inner = inner;
    o->wrap = (struct wr_wrap_object){{&patient_object_ops}, inner};
    o->core = k;
    o->held = h;
    *ret = &o->wrap.object;
    return 0;
}

/* --- the store --- */

static struct wr_patient *core_of(struct wr_store *st)
{
    return ((struct wr_patient_store *)st)->core;
}

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

static void run_stat(struct wr_errand *e)
{
    e->result = e->st->ops->stat(e->st, e->path, &e->stat, &e->err);
}

static int patient_stat(struct wr_store *st, const char *path,
                        struct wr_stat *ret, weir_err *err)
{
    struct wr_patient *k = core_of(st);
    struct wr_errand *e;
    int r;

    if (wr_patient_is_direct(k))
        return k->inner->ops->stat(k->inner, path, ret, err);
    e = wr_errand_new(k, run_stat, path);
    r = wr_errand_send(k, e, err);
    if (r < 0)
        return r;
    r = wr_fail_as(err, (int)e->result, &e->err);
    if (r == 0)
        *ret = e->stat;
    wr_errand_free(e);
    return r;
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

static void run_list(struct wr_errand *e)
{
    e->result = e->st->ops->list(e->st, e->path, keep_entry, e, &e->err);
}

static int patient_list(struct wr_store *st, const char *path, wr_list_fn fn,
                        void *arg, weir_err *err)
{
    struct wr_patient *k = core_of(st);
    struct wr_errand *e;
    int r;

    if (wr_patient_is_direct(k))
        return k->inner->ops->list(k->inner, path, fn, arg, err);
    e = wr_errand_new(k, run_list, path);
    r = wr_errand_send(k, e, err);
    if (r < 0)
        return r;
    r = wr_fail_as(err, (int)e->result, &e->err);
    for (size_t i = 0; i < e->count && r == 0; i++)
        r = fn(arg, &(struct wr_entry){.name = e->found[i].name,
                                       .kind = e->found[i].kind,
                                       .size = e->found[i].size});
    wr_errand_free(e);
    return r;
}

static void run_open(struct wr_errand *e)
{
    struct wr_object *o = NULL;

    e->result = e->st->ops->object_open(
        e->st, e->path, (enum wr_open_mode)e->what, &o, &e->err);
    if (e->result == 0)
        e->object = o;
}

static int patient_object_open(struct wr_store *st, const char *path,
                               enum wr_open_mode mode, struct wr_object **ret,
                               weir_err *err)
{
    struct wr_patient *k = core_of(st);
    struct wr_object *inner;
    struct wr_errand *e;
    int r;

    if (wr_patient_is_direct(k)) {
        r = k->inner->ops->object_open(k->inner, path, mode, &inner, err);
        return r < 0 ? r : object_new(k, inner, ret, err);
    }
    e = wr_errand_new(k, run_open, path);
    if (e)
        e->what = (int)mode;
    r = wr_errand_send(k, e, err);
    if (r < 0)
        return r;
    r = wr_fail_as(err, (int)e->result, &e->err);
    inner = e->object;
    e->object = NULL;
    wr_errand_free(e);
    return r < 0 ? r : object_new(k, inner, ret, err);
}

static void run_change(struct wr_errand *e)
{
    e->result = wr_store_change(e->st, (enum wr_change)e->what, e->path, e->to,
                                &e->err);
}

static int patient_change(struct wr_store *st, enum wr_change what,
                          const char *path, const char *to, weir_err *err)
{
    struct wr_patient *k = core_of(st);
    struct wr_errand *e;

    if (wr_patient_is_direct(k))
        return wr_store_change(k->inner, what, path, to, err);
    e = wr_errand_new(k, run_change, path);
    if (e && to && !(e->to = strdup(to))) {
        wr_errand_free(e);
        e = NULL;
    }
    if (e)
        e->what = (int)what;
    return wr_errand_ask(k, e, err);
}

static bool begin_direct(struct wr_store *st, struct wr_wrap_io *io,
                         uint64_t now_ns)
{
    return true;
}

static const struct wr_wrap_hooks direct_hooks = {
    .io_bytes = sizeof(struct wr_wrap_io),
    .lazy = true,
    .begin = begin_direct,
};

static int patient_queue_open(struct wr_store *st,
                              const struct wr_queue_config *cfg,
                              struct wr_queue **ret, weir_err *err)
{
    struct wr_patient *k = core_of(st);

    return wr_patient_is_direct(k)
               ? wr_wrap_queue_open(st, cfg, &direct_hooks, ret, err)
               : wr_patient_queue_open(k, cfg, ret, err);
}

static void run_space(struct wr_errand *e)
{
    e->result = wr_store_space(e->st, &e->number, &e->err);
}

static int patient_space(struct wr_store *st, uint64_t *ret_bytes,
                         weir_err *err)
{
    struct wr_patient *k = core_of(st);
    struct wr_errand *e;
    int r;

    if (wr_patient_is_direct(k))
        return wr_store_space(k->inner, ret_bytes, err);
    e = wr_errand_new(k, run_space, NULL);
    r = wr_errand_send(k, e, err);
    if (r < 0)
        return r;
    r = wr_fail_as(err, (int)e->result, &e->err);
    if (r == 0)
        *ret_bytes = e->number;
    wr_errand_free(e);
    return r;
}

static void run_forgets(struct wr_errand *e)
{
    e->forgets = e->st->ops->forgets && e->st->ops->forgets(e->st);
}

static bool patient_forgets(struct wr_store *st)
{
    struct wr_patient *k = core_of(st);
    struct wr_errand *e = wr_errand_new(k, run_forgets, NULL);
    bool forgets;

    if (wr_errand_send(k, e, NULL) < 0)
        return false;
    forgets = e->forgets;
    wr_errand_free(e);
    return forgets;
}

static const struct wr_storage_ops patient_ops = {
    .name = "patient",
    .help = "storage that may hang",
    .close = patient_close,
    .stat = patient_stat,
    .list = patient_list,
    .object_open = patient_object_open,
    .change = patient_change,
    .queue_open = patient_queue_open,
    .space = patient_space,
    .forgets = patient_forgets,
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
    st->wrap = (struct wr_wrap_store){{&patient_ops}, t->store};
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
