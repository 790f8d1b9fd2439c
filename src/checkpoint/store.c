/* store.c - opening and closing a checkpoint store.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"
#include "checkpoint/lineage.h"
#include "checkpoint/patient.h"
#include "checkpoint/saver.h"
#include "checkpoint/strand.h"
#include "checkpoint/watch.h"
#include "tier/link.h"

#define RETRY_NS (50 * WR_NS_PER_MS)

/* --- tiers --- */

static int claim(weir_ckpt *c, struct wr_tier *t, weir_err *err)
{
    uint64_t swept = 0;
    int r = wr_tier_claim(t, c->cfg.take_over, &swept, err);

    if (r == 0)
        c->stats.swept += swept;
    return r;
}

void wr_ckpt_say_place(const weir_ckpt *c, char ret[WR_PLACE_TEXT])
{
    char host[65] = "";

    gethostname(host, sizeof(host) - 1);
    snprintf(ret, WR_PLACE_TEXT, " of %s, from '%.100s'", host, c->cfg.fast);
}

void wr_ckpt_tell_work(weir_ckpt *c, uint64_t done, uint64_t bytes)
{
    struct wr_tier_work w = {.done = done, .bytes = bytes};
    char place[WR_PLACE_TEXT];

    wr_ckpt_say_place(c, place);
    memcpy(w.from, c->near_id, sizeof(w.from));
    snprintf(w.text, sizeof(w.text), "process %d%.180s", (int)getpid(), place);
    wr_tier_work_tell(c->far, &w);
}

/* Rank 0 becomes the writer of what its role changes. */
static int claim_tiers(weir_ckpt *c, weir_err *err)
{
    bool near = false, far = false;
    int r = 0;

    switch (c->cfg.role) {
    case WEIR_CKPT_SAVE:
        near = true;
        far = c->cfg.drain;
        break;
    case WEIR_CKPT_DRAIN:
        far = true;
        break;
    case WEIR_CKPT_MANAGE:
    case WEIR_CKPT_ADOPT:
        near = far = true;
        break;
    case WEIR_CKPT_READ:
        break;
    }
    if (c->cfg.dry_run)
        return 0;
    /* The slow one first: whoever drains from the fast tier of a new writer looks
     * afterwards whether the slow one is still its own (prune.c). */
    if (far && c->far)
        r = claim(c, c->far, err);
    if (r == 0 && near)
        r = claim(c, c->near, err);
    if (r == 0 && c->far) {
        wr_tier_own_id(c->near, c->near_id);
        wr_ckpt_tell_work(c, 0, 0);
    }
    return r;
}

static bool forgets(const struct wr_tier *t)
{
    return t && t->store->ops->forgets && t->store->ops->forgets(t->store);
}

/* The others open what rank 0 has made. */
static int join_tiers(weir_ckpt *c, struct wr_store *given[2], weir_err *err)
{
    weir_err mine = {0};
    int r = 0;

    if (c->cfg.rank == 0) {
        r = wr_lineage_open(c, given, &mine);
        if (r == 0)
            r = claim_tiers(c, &mine);
        if (r == 0 && c->cfg.role == WEIR_CKPT_SAVE)
            r = wr_lineage_begin(c, &mine);
        r = wr_ckpt_end(c, r, &mine);
    }
    r = wr_comm_agree(c->comm, r, &mine, err);
    if (r < 0)
        return r;
    if (c->cfg.rank > 0)
        r = wr_lineage_open(c, given, &mine);
    r = wr_comm_agree(c->comm, r, &mine, err);
    if (r < 0)
        return r;
    if (c->notice[0] && c->cfg.role == WEIR_CKPT_SAVE && c->cfg.rank == 0) {
        wr_fail(&mine, WEIR_ESTATE, "%s", c->notice);
        wr_ckpt_trouble(c, WR_LOG_NOTE, WR_STEP_NONE, &mine, /* tell= */ true);
    }
    c->stats.fast_forgets = forgets(c->near);
    c->stats.slow_forgets = forgets(c->far);
    return 0;
}

/* --- the store --- */

/* Ranks that would not do the same wait for each other in vain. */
static int check_alike(weir_ckpt *c, weir_err *err)
{
    static const char *const names[] = {"role",   "drain",     "verify",
                                        "behind", "snapshots", "slow"};
    const weir_ckpt_config *cfg = &c->cfg;
    const uint32_t here[] = {
        cfg->role,   (uint32_t)cfg->drain, (uint32_t)cfg->verify,
        cfg->behind, cfg->snapshots,       cfg->slow != NULL};
    uint32_t first[WR_ARRAY_LEN(here)] = {0};
    weir_err mine = {0};
    char *bytes;
    size_t len;
    int r;

    if (cfg->world == 1)
        return 0;
    r = wr_comm_broadcast(c->comm, here, sizeof(here), &bytes, &len, err);
    if (r < 0)
        return r;
    memcpy(first, bytes, WR_MIN(len, sizeof(first)));
    free(bytes);
    for (size_t i = 0; i < WR_ARRAY_LEN(here) && r == 0; i++)
        if (here[i] != first[i])
            r = wr_fail(&mine, WEIR_EINVAL,
                        "%s: is %" PRIu32 ", but %" PRIu32 " on rank 0",
                        names[i], here[i], first[i]);
    return wr_comm_agree(c->comm, r, &mine, err);
}

static int open_comms(weir_ckpt *c, weir_err *err)
{
    struct wr_comm_config cfg = {
        .url = c->cfg.comm,
        .channel = "call",
        .rank = c->cfg.rank,
        .world = c->cfg.world,
        .timeout_ms = c->cfg.comm_timeout_ms,
    };
    int r = wr_comm_open(&cfg, &c->comm, err);

    if (r == 0)
        r = check_alike(c, err);
    cfg.channel = "work";
    if (r == 0 && c->cfg.role == WEIR_CKPT_SAVE)
        r = wr_comm_open(&cfg, &c->work, err);
    return r;
}

static int start_threads(weir_ckpt *c, weir_err *err)
{
    bool saves = c->cfg.role == WEIR_CKPT_SAVE;
    bool drains = saves ? c->cfg.drain : c->cfg.role == WEIR_CKPT_DRAIN;
    int r = 0;

    if (c->far && saves)
        r = wr_watch_new(c, &c->watch, err);
    if (r == 0 && c->far && c->cfg.rank == 0 && drains)
        r = wr_drainer_start(c, /* thread= */ saves, err);
    if (r == 0 && saves)
        r = wr_saver_start(c, err);
    return wr_ckpt_end(c, r, err);
}

int wr_ckpt_check(const weir_ckpt *c, weir_err *err)
{
    if (!c)
        return wr_fail(err, WEIR_EINVAL, "the store is NULL (was it closed?)");
    if (c->pid != getpid())
        return wr_fail(err, WEIR_ESTATE,
                       "'%s': was opened by process %d, and this is a child of "
                       "it; open it here, too",
                       c->cfg.fast, (int)c->pid);
    return 0;
}

/* The other ranks wait for this one meanwhile. */
uint64_t wr_ckpt_call_ns(const weir_ckpt *c)
{
    uint64_t ns = wr_ckpt_drain_timeout_ns(c), ms = c->cfg.comm_timeout_ms;

    if (ns == UINT64_MAX || c->cfg.world == 1)
        return ns;
    return WR_MIN(ns, WR_MIN(ms, UINT64_MAX / 4 / WR_NS_PER_MS) * WR_NS_PER_MS /
                          4 * 3);
}

int wr_ckpt_begin(weir_ckpt *c, weir_err *err)
{
    int r = wr_ckpt_check(c, err);

    if (r == 0 && c->far)
        wr_patient_begin(c->far->store);
    return r;
}

int wr_ckpt_end(weir_ckpt *c, int r, weir_err *err)
{
    int silent = c->far ? wr_patient_check(c->far->store, err) : 0;

    return silent < 0 ? silent : r;
}

void wr_ckpt_ref(weir_ckpt *c)
{
    c->refs++;
}

void wr_ckpt_unref(weir_ckpt *c)
{
    if (--c->refs > 0)
        return;
    wr_tier_close(c->near);
    wr_tier_close(c->far);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    wr_ckpt_config_done(&c->cfg);
    wr_log_done(&c->log);
    wr_stock_done(&c->stock);
    free(c->before);
    free(c->ahead);
    free(c);
}

/* Until when close waits for threads that a hanging tier holds. The other ranks
 * wait for this one meanwhile. */
static uint64_t close_deadline(const weir_ckpt *c)
{
    uint64_t ms = c->cfg.close_timeout_ms;

    if (ms == 0)
        return UINT64_MAX;
    if (c->cfg.world > 1)
        ms = WR_MIN(ms, c->cfg.comm_timeout_ms / 2);
    return wr_clock_ns() +
           WR_MIN(ms, UINT64_MAX / 4 / WR_NS_PER_MS) * WR_NS_PER_MS;
}

/* Ends the threads, the writer first: what was saved gets to the fast tier.
 * Returns until when close may wait. */
static uint64_t halt(weir_ckpt *c)
{
    uint64_t deadline_ns;

    wr_saver_stop(c->saver);
    c->saver = NULL;
    deadline_ns = close_deadline(c);
    wr_drainer_halt(c->drainer, deadline_ns);
    wr_watch_halt(c->watch, deadline_ns);
    return deadline_ns;
}

/* A tier that is closed by a thread of its own: giving up the lock is a request,
 * too, and may hang. */
struct closing {
    struct wr_strand strand;
    struct wr_tier *tier; /* owned */
};

static void close_tier(void *arg)
{
    struct closing *k = arg;

    wr_patient_enter(k->tier->store);
    wr_tier_close(k->tier);
}

static void free_closing(void *arg)
{
    struct closing *k = arg;

    wr_strand_done(&k->strand);
    free(k);
}

static void close_far(weir_ckpt *c, uint64_t deadline_ns)
{
    struct closing *k = calloc(1, sizeof(*k));

    if (!k)
        return; /* with the rest, without a limit */
    k->tier = c->far;
    if (wr_strand_start(&k->strand, "weir-close", close_tier, free_closing, k,
                        NULL) < 0) {
        free(k);
        return;
    }
    c->far = NULL;
    if (wr_strand_join(&k->strand, deadline_ns) || !wr_strand_leave(&k->strand))
        free_closing(k);
}

/* Gives back all that is there, after the threads were ended. One that a hanging
 * tier holds keeps the tiers; the fast one is free for another writer. */
static void free_store(weir_ckpt *c, uint64_t deadline_ns)
{
    wr_comm_close(c->work);
    wr_comm_close(c->comm);
    if (c->near)
        wr_tier_let_go(c->near);
    wr_drainer_free(c->drainer);
    wr_watch_free(c->watch);
    if (c->far && c->refs == 1)
        close_far(c, deadline_ns);
    wr_ckpt_unref(c);
}

static weir_ckpt *new_store(void)
{
    weir_ckpt *c = calloc(1, sizeof(*c));

    if (!c || !wr_log_init(&c->log)) {
        free(c);
        return NULL;
    }
    c->pid = getpid();
    c->refs = 1;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    c->retry_ns = RETRY_NS;
    return c;
}

static int open_store(weir_ckpt **ret, const weir_ckpt_config *cfg,
                      struct wr_store *given[2], weir_err *err)
{
    weir_err mine = {0};
    weir_ckpt *c;
    int r = wr_ckpt_config_check(cfg, err);

    if (r < 0)
        return r;
    c = new_store();
    if (!c)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_ckpt_config_copy(cfg, &c->cfg, err);
    if (r == 0)
        r = open_comms(c, err);
    if (r == 0)
        r = join_tiers(c, given, err);
    if (r == 0) {
        r = start_threads(c, &mine);
        r = wr_comm_agree(c->comm, r, &mine, err);
    }
    if (r < 0) {
        free_store(c, halt(c));
        return r;
    }
    *ret = c;
    return 0;
}

int wr_ckpt_open_stores(weir_ckpt **ret, const weir_ckpt_config *cfg,
                        struct wr_store *fast, struct wr_store *slow,
                        weir_err *err)
{
    struct wr_store *given[2] = {fast, slow};
    weir_ckpt_config own;
    int r;

    weir_ckpt_defaults(&own);
    if (!ret)
        r = wr_fail(err, WEIR_EINVAL, "ret: is NULL");
    else
        r = cfg ? wr_sized_take(&own, sizeof(own), cfg, "weir_ckpt_defaults",
                                err)
                : wr_fail(err, WEIR_EINVAL, "cfg: is NULL");
    if (r == 0)
        r = open_store(ret, &own, given, err);
    wr_store_close(given[0]);
    wr_store_close(given[1]);
    return r;
}

int weir_ckpt_open(weir_ckpt **ret, const weir_ckpt_config *cfg, weir_err *err)
{
    return wr_ckpt_open_stores(ret, cfg, NULL, NULL, err);
}

/* In a child of fork(): the threads are not here, the tiers and their locks are
 * the parent's, and a lock may have been held when it forked. What belongs to
 * those stays until the child ends. */
static void forget(weir_ckpt *c)
{
    wr_ckpt_config_done(&c->cfg);
    wr_log_done(&c->log);
    free(c);
}

/* What went wrong since the last call, on any rank. */
int weir_ckpt_close(weir_ckpt **c, weir_err *err)
{
    weir_err mine = {0};
    uint64_t deadline_ns;
    weir_ckpt *old;
    int r;

    if (!c || !*c)
        return 0;
    old = *c;
    *c = NULL;
    if (old->pid != getpid()) {
        forget(old);
        return 0;
    }
    deadline_ns = halt(old);
    r = wr_ckpt_take_trouble(old, NULL, &mine);
    r = wr_comm_agree(old->comm, r, &mine, err);
    free_store(old, deadline_ns);
    return r;
}
