/* restore.c - reading a saved step back.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rank 0 chooses one copy after the other and sends its manifest to all; each
 * rank reads its part; what all could read is it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/shown.h"
#include "checkpoint/candidates.h"
#include "checkpoint/lineage.h"
#include "checkpoint/reading.h"
#include "checkpoint/store.h"

/* What a call wants. */
struct restore {
    weir_ckpt *c;
    uint64_t step;
    const weir_tensor *into;
    size_t count;
    bool look;                /* heads only */
    bool show;                /* what was found is wanted */
    struct wr_candidates all; /* rank 0 */
    int ended;                /* rank 0: nothing more to offer, and why */
    weir_err why;
    struct wr_byte_count read;
};

/* What rank 0 says. Behind it are the texts of what was passed over, then the
 * manifest's. */
struct offer {
    int32_t result; /* 1: this copy; 0: there is none; else why it ends */
    int32_t os_errno;
    uint64_t asked; /* what rank 0 was asked for */
    uint64_t passed_len;
    uint32_t tier, unused;
    char msg[sizeof(((weir_err *)NULL)->msg)];
};

/* One copy, as one rank sees it. */
struct trial {
    char *bytes; /* owned: the offer and what is behind it */
    size_t len;
    struct offer o;
    struct wr_manifest m;   /* owned */
    struct wr_reading part; /* owned */
    weir_ckpt_found *found; /* owned */
    char id[WR_MANIFEST_ID];
    struct wr_ordinal turn;
    int code; /* how it went here */
    weir_err why;
    bool final; /* and no other copy would do better */
};

static void trial_done(struct trial *t)
{
    weir_ckpt_found_free(&t->found);
    wr_reading_done(&t->part);
    wr_manifest_done(&t->m);
    free(t->bytes);
    *t = (struct trial){0};
}

/* --- offers --- */

/* Rank 0: the next one, with the manifest as text. */
static char *choose(struct restore *s, struct offer *ret, size_t *ret_len)
{
    struct wr_candidate n = {0};
    struct wr_manifest m;
    char *text = NULL;
    int r = s->ended;

    *ret_len = 0;
    if (r == 0)
        r = wr_candidates_next(&s->all, &n, &m, &s->why);
    if (r == 1) {
        text = wr_manifest_as_read(&m, ret_len);
        wr_manifest_done(&m);
        if (!text)
            r = wr_fail(&s->why, WEIR_ENOMEM, "out of memory");
    }
    *ret = (struct offer){.result = r, .asked = s->step, .tier = n.tier};
    ret->passed_len = r == 1 ? s->all.passed_len : 0;
    if (r < 0) {
        ret->os_errno = s->why.os_errno;
        snprintf(ret->msg, sizeof(ret->msg), "%s", s->why.msg);
    }
    return text;
}

/* NULL: memory is short. */
static char *make_offer(struct restore *s, size_t *ret_len)
{
    struct offer o;
    size_t text_len, passed_len;
    char *text = choose(s, &o, &text_len), *all;

    passed_len = (size_t)o.passed_len;
    all = malloc(sizeof(o) + passed_len + text_len);
    if (all) {
        memcpy(all, &o, sizeof(o));
        if (passed_len)
            memcpy(all + sizeof(o), s->all.passed, passed_len);
        if (text_len)
            memcpy(all + sizeof(o) + passed_len, text, text_len);
        *ret_len = sizeof(o) + passed_len + text_len;
    }
    free(text);
    return all;
}

/* What rank 0 sent is looked at before it is used. An error here is this
 * rank's alone. */
static int read_offer(const struct restore *s, struct trial *t, weir_err *err)
{
    const char *passed = t->bytes + sizeof(t->o);
    size_t behind = t->len - sizeof(t->o), n;
    int r;

    if (t->o.passed_len > behind)
        return wr_fail(err, WEIR_EFORMAT, "what rank 0 sent cannot be read");
    n = (size_t)t->o.passed_len;
    if (n > 0 && passed[n - 1] != '\0')
        return wr_fail(err, WEIR_EFORMAT, "what rank 0 sent cannot be read");
    if (t->o.asked != s->step)
        return wr_fail(err, WEIR_EINVAL,
                       "the ranks do not ask for the same step");
    if (!wr_ckpt_tier(s->c, t->o.tier))
        return wr_fail(err, WEIR_EINVAL,
                       "the ranks do not have the same tiers");
    r = wr_manifest_parse(passed + n, behind - n, "manifest from rank 0", &t->m,
                          err);
    if (r == 0)
        memcpy(t->id, t->m.id, sizeof(t->id));
    t->turn = t->m.turn;
    return r;
}

/* All ranks: the next copy to try, 1; 0: there is nothing. */
static int next_offer(struct restore *s, struct trial *t, weir_err *err)
{
    char *mine = NULL;
    size_t len = 0;
    int r;

    if (s->c->cfg.rank == 0)
        mine = make_offer(s, &len);
    r = wr_comm_broadcast(s->c->comm, mine, len, &t->bytes, &t->len, err);
    free(mine);
    if (r < 0)
        return r;
    if (t->len < sizeof(t->o)) /* on all ranks */
        return wr_fail(err, WEIR_ENOMEM, "rank 0: out of memory");
    memcpy(&t->o, t->bytes, sizeof(t->o));
    t->o.msg[sizeof(t->o.msg) - 1] = '\0';
    if (t->o.result < 0) {
        wr_fail(err, t->o.result, "%s", t->o.msg);
        if (err)
            err->os_errno = t->o.os_errno;
    }
    if (t->o.result <= 0)
        return t->o.result;
    t->code = read_offer(s, t, &t->why);
    t->final = t->code < 0;
    return 1;
}

/* --- one copy --- */

/* This rank's part. */
static int read_part(struct restore *s, struct trial *t, weir_err *err)
{
    struct wr_byte_meter meter = {wr_byte_count_add, &s->read};
    int r;

    r = wr_reading_open(&t->part, wr_ckpt_tier(s->c, t->o.tier), &t->m,
                        &s->c->cfg, err);
    if (r == 0 && !s->look) {
        r = wr_reading_match(&t->part, s->into, s->count, err);
        t->final = r < 0;
    }
    if (r == 0 && !s->look) {
        s->read = (struct wr_byte_count){
            s->c->cfg.progress, s->c->cfg.progress_arg, 0, t->part.bytes};
        r = wr_reading_read(&t->part, &meter, err);
    }
    if (r == 0 && s->show) {
        r = wr_found_new(&t->m, &t->part, t->bytes + sizeof(t->o),
                         (size_t)t->o.passed_len, &t->found);
        if (r < 0)
            wr_fail(err, r, "out of memory");
    }
    if (r == WEIR_ECANCELED)
        t->final = true;
    return r;
}

/* All ranks read: 1 when all could, 0 when this copy is passed over. */
static int try_copy(struct restore *s, struct trial *t, weir_err *err)
{
    struct wr_comm *comm = s->c->comm;
    weir_err why;
    int r;

    if (t->code == 0)
        t->code = read_part(s, t, &t->why);
    /* What is final on one rank counts more than what is not on a lower one. */
    r = wr_comm_agree(comm, t->final ? t->code : 0, &t->why, err);
    if (r < 0)
        return r;
    r = wr_comm_agree(comm, t->code, &t->why, &why);
    if (r == 0)
        return 1;
    if (!comm->failed && !wr_step_is_damage(r)) {
        /* What one rank knows to be damaged none has to read again. */
        weir_err known;
        int damage = wr_step_is_damage(t->code) ? t->code : 0;

        damage = wr_comm_agree(comm, damage, &t->why, &known);
        if (damage < 0) {
            r = damage;
            why = known;
        }
    }
    if (comm->failed)
        return wr_fail_as(err, r, &why);
    if (comm->rank == 0)
        s->ended = wr_candidates_pass(&s->all, t->id, &why, &s->why);
    return 0;
}

/* --- the calls --- */

static int check_into(const struct restore *s, weir_err *err)
{
    if (s->step != WEIR_LATEST && s->step >= WEIR_STEP_MAX)
        return wr_fail(err, WEIR_EINVAL, "there is no such step");
    for (size_t k = 0; k < s->count; k++) {
        uint64_t bytes;
        int r;

        if (!s->into[k].name)
            return wr_fail(err, WEIR_EINVAL, "tensor %zu has no name", k);
        r = wr_tensor_bytes(&s->into[k], &bytes, err);
        if (r < 0)
            return r;
        if (bytes > 0 && !s->into[k].data)
            return wr_fail(err, WEIR_EINVAL, "'%s': no memory to restore to",
                           wr_show(s->into[k].name).text);
    }
    return 0;
}

/* What must be known before the ranks begin, on any of them. */
static int begin(struct restore *s, weir_err *err)
{
    weir_err mine = {0};
    int r = check_into(s, &mine);

    if (r == 0 && s->c->cfg.rank == 0)
        r = wr_candidates_init(&s->all, s->c, s->step, &mine);
    return wr_comm_agree(s->c->comm, r, &mine, err);
}

static int run(struct restore *s, weir_ckpt_found **ret, weir_err *err)
{
    int r = begin(s, err);

    s->show = ret != NULL;
    while (r == 0) {
        struct trial t = {0};

        r = next_offer(s, &t, err);
        if (r == 0) { /* nothing there */
            trial_done(&t);
            break;
        }
        if (r == 1)
            r = try_copy(s, &t, err);
        if (r == 1 && !s->look && s->c->cfg.rank == 0)
            wr_lineage_restored(s->c, &t.turn);
        if (r == 1 && ret) {
            *ret = t.found;
            t.found = NULL;
        }
        trial_done(&t);
    }
    wr_candidates_done(&s->all);
    return r;
}

/* What was read and found whole is that, whoever fell silent afterwards. */
static int end(weir_ckpt *c, int r, weir_err *err)
{
    return r == 1 ? r : wr_ckpt_end(c, r, err);
}

int weir_ckpt_restore(weir_ckpt *c, uint64_t step, const weir_tensor *into,
                      size_t count, weir_ckpt_found **ret, weir_err *err)
{
    struct restore s = {.c = c, .step = step, .into = into, .count = count};
    int r = wr_ckpt_begin(c, err);

    if (r == 0 && count && !into)
        r = wr_fail(err, WEIR_EINVAL, "into: is NULL");
    return r < 0 ? r : end(c, run(&s, ret, err), err);
}

int weir_ckpt_look(weir_ckpt *c, uint64_t step, weir_ckpt_found **ret,
                   weir_err *err)
{
    struct restore s = {.c = c, .step = step, .look = true};
    int r = wr_ckpt_begin(c, err);

    return r < 0 ? r : end(c, run(&s, ret, err), err);
}
