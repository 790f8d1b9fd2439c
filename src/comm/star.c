/* star.c - ranks that are connected with rank 0, as those of all backends are.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/star.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "comm/wire.h"

#define MAX_WORLD 4096u
#define CHUNK     ((size_t)4 << 20) /* bytes of wr_star_share in one frame */

struct star {
    struct wr_comm base;
    uint64_t calls;  /* so far; the same on all ranks */
    uint64_t maxima; /* calls that not all ranks took part in */
    size_t count;    /* of wires: world - 1 on rank 0, else 1 */
    struct wr_wire
        wires[]; /* at least one, which is unused in a world of one */
};

void wr_star_close(struct wr_comm *base)
{
    struct star *c = (struct star *)base;

    for (size_t k = 0; k < c->count; k++)
        wr_wire_close(&c->wires[k]);
    free(c);
}

void wr_star_give_up(struct wr_comm *base, const weir_err *why)
{
    struct star *c = (struct star *)base;

    for (size_t k = 0; k < c->count; k++)
        wr_wire_give_up(&c->wires[k], why);
}

int wr_star_channel(const struct wr_comm_config *cfg, const char **ret,
                    weir_err *err)
{
    const char *channel = cfg->channel ? cfg->channel : "main";

    if (!*channel || strlen(channel) >= WR_MEET_CHANNEL || strchr(channel, '/'))
        return wr_fail(err, WEIR_EINVAL,
                       "'%s' (channel '%s'): no place for ranks to meet",
                       cfg->url, channel);
    *ret = channel;
    return 0;
}

static int star_new(const struct wr_comm_ops *ops,
                    const struct wr_comm_config *cfg, struct star **ret,
                    weir_err *err)
{
    size_t count = cfg->rank == 0 ? cfg->world - 1 : 1;
    struct star *c;

    if (cfg->world > MAX_WORLD)
        return wr_fail(err, WEIR_ELIMIT, "%u ranks: %u at most", cfg->world,
                       MAX_WORLD);
    c = calloc(1, sizeof(*c) + WR_MAX(count, 1u) * sizeof(c->wires[0]));
    if (!c)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    c->base = (struct wr_comm){.ops = ops,
                               .rank = cfg->rank,
                               .world = cfg->world,
                               .timeout_ms = cfg->timeout_ms};
    c->count = count;
    for (size_t k = 0; k < count; k++)
        c->wires[k].fd = -1;
    *ret = c;
    return 0;
}

int wr_star_alone(struct wr_comm **ret, weir_err *err)
{
    static const struct wr_comm_ops alone = {.name = "alone",
                                             .help = "one process"};
    const struct wr_comm_config cfg = {.world = 1};
    struct star *c = NULL;
    int r = star_new(&alone, &cfg, &c, err);

    if (r == 0)
        *ret = &c->base;
    return r;
}

int wr_star_open(const struct wr_comm_ops *ops,
                 const struct wr_comm_config *cfg, const struct wr_meet *m,
                 struct wr_comm **ret, weir_err *err)
{
    struct wr_meet meet = *m;
    struct star *c = NULL;
    weir_err e;
    int r = wr_star_channel(cfg, &meet.channel, err);

    if (r == 0)
        r = star_new(ops, cfg, &c, err);
    if (r < 0) {
        if (m->listener > 0)
            close(m->listener);
        return r;
    }
    meet.rank = cfg->rank;
    meet.world = cfg->world;
    meet.timeout_ms = cfg->timeout_ms;
    r = meet.rank == 0 ? wr_meet_host(&meet, c->wires, &e)
                       : wr_meet_join(&meet, c->wires, &e);
    if (r < 0) {
        wr_star_give_up(&c->base, &e);
        free(c);
        return wr_fail_as(err, r, &e);
    }
    *ret = &c->base;
    return 0;
}

/* --- parts and broadcasts --- */

/* The bytes and a NUL into `to` (NULL: nothing), which is returned. */
static char *copy_bytes(void *to, const void *bytes, size_t len)
{
    if (to && len)
        memcpy(to, bytes, len);
    if (to)
        ((char *)to)[len] = '\0';
    return to;
}

/* All that came in, in one piece of memory, this rank's own first. */
static int join_parts(struct star *c, const struct wr_comm_part *own,
                      struct wr_comm_part **ret, weir_err *err)
{
    size_t total = c->base.world * sizeof(struct wr_comm_part) + own->len + 1;
    struct wr_comm_part *parts;
    char *at;

    for (size_t k = 0; k < c->count; k++)
        total += (size_t)c->wires[k].head.len + 1;
    parts = malloc(total);
    if (!parts)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    at = (char *)(parts + c->base.world);
    parts[0] = (struct wr_comm_part){.bytes = at, .len = own->len};
    at = copy_bytes(at, own->bytes, own->len) + own->len + 1;
    for (size_t k = 0; k < c->count; k++) {
        size_t len;
        char *body = wr_wire_take(&c->wires[k], &len);

        memcpy(at, body, len + 1);
        free(body);
        parts[k + 1] = (struct wr_comm_part){.bytes = at, .len = len};
        at += len + 1;
    }
    *ret = parts;
    return 0;
}

int wr_star_gather(struct wr_comm *base, const void *bytes, size_t len,
                   struct wr_comm_part **ret, weir_err *err)
{
    struct star *c = (struct star *)base;
    struct wr_comm_part own = {.bytes = bytes, .len = len};
    struct wr_wire_job job = {.send = base->rank != 0,
                              .kind = WR_WIRE_PART,
                              .call = ++c->calls,
                              .bytes = bytes,
                              .len = base->rank != 0 ? len : 0,
                              .timeout_ms = base->timeout_ms};
    int r = wr_wire_run(c->wires, c->count, &job, err);

    if (r < 0)
        return r;
    if (base->rank == 0)
        return join_parts(c, &own, ret, err);
    *ret = NULL;
    return 0;
}

int wr_star_broadcast(struct wr_comm *base, const void *bytes, size_t len,
                      char **ret, size_t *ret_len, weir_err *err)
{
    struct star *c = (struct star *)base;
    struct wr_wire_job job = {.send = base->rank == 0,
                              .kind = WR_WIRE_BROADCAST,
                              .call = ++c->calls,
                              .bytes = bytes,
                              .len = base->rank == 0 ? len : 0,
                              .timeout_ms = base->timeout_ms};
    char *copy = NULL;
    int r;

    if (base->rank == 0) {
        copy = copy_bytes(malloc(len + 1), bytes, len);
        if (!copy)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    r = wr_wire_run(c->wires, c->count, &job, err);
    if (r < 0) {
        free(copy);
        return r;
    }
    if (base->rank != 0)
        copy = wr_wire_take(&c->wires[0], &len);
    *ret = copy;
    *ret_len = len;
    return 0;
}

/* --- the largest value --- */

static void skip_others(struct star *c, const bool *in)
{
    for (size_t k = 0; c->base.rank == 0 && k < c->count; k++)
        c->wires[k].skip = in && !in[k + 1];
}

/* Rank 0: the largest of what came and its own. */
static int largest(struct star *c, uint64_t *value, weir_err *err)
{
    for (size_t k = 0; k < c->count; k++) {
        const struct wr_wire *w = &c->wires[k];
        uint64_t other;

        if (w->skip)
            continue;
        if (w->head.len != sizeof(other))
            return wr_fail(err, WEIR_EFORMAT,
                           "what rank %u sent cannot be read", w->rank);
        memcpy(&other, w->body, sizeof(other));
        *value = WR_MAX(*value, other);
    }
    return 0;
}

int wr_star_max(struct wr_comm *base, const bool *in, uint64_t value,
                uint64_t *ret, weir_err *err)
{
    struct star *c = (struct star *)base;
    struct wr_wire_job job = {.send = base->rank != 0,
                              .kind = WR_WIRE_MAX,
                              .call = in ? ++c->maxima : ++c->calls,
                              .bytes = &value,
                              .len = sizeof(value),
                              .timeout_ms = base->timeout_ms};
    int r;

    skip_others(c, in);
    r = wr_wire_run(c->wires, c->count, &job, err);
    if (r == 0 && base->rank == 0)
        r = largest(c, &value, err);
    if (r == 0) {
        job.send = !job.send;
        r = wr_wire_run(c->wires, c->count, &job, err);
    }
    if (r == 0 && base->rank != 0)
        r = largest(c, &value, err);
    skip_others(c, NULL);
    if (r == 0)
        *ret = value;
    return r;
}

/* --- many bytes --- */

/* To rank 0, if they are another rank's, and from there to all others. */
static int share_chunk(struct star *c, char *buf, size_t len, uint32_t root,
                       weir_err *err)
{
    bool hub = c->base.rank == 0;
    struct wr_wire *from = hub && root > 0 ? &c->wires[root - 1] : c->wires;
    struct wr_wire_job job = {.kind = WR_WIRE_SHARE,
                              .call = ++c->calls,
                              .timeout_ms = c->base.timeout_ms};
    bool receives = c->base.rank != root;
    int r = 0;

    if (receives) {
        r = wr_wire_run(from, 1, &job, err);
        if (r == 0 && from->head.len != len)
            r = wr_fail(err, WEIR_ESTATE,
                        "rank %u shares %llu bytes, this rank expects %zu",
                        root, (unsigned long long)from->head.len, len);
        if (r == 0)
            memcpy(buf, from->body, len);
    }
    if (r < 0 || (receives && !hub))
        return r;
    job.send = true;
    job.bytes = buf;
    job.len = len;
    from->skip = hub && receives;
    r = wr_wire_run(c->wires, c->count, &job, err);
    from->skip = false;
    return r;
}

int wr_star_share(struct wr_comm *base, void *buf, size_t len, uint32_t root,
                  weir_err *err)
{
    struct star *c = (struct star *)base;
    int r = 0;

    for (size_t at = 0; at < len && r == 0; at += CHUNK)
        r = share_chunk(c, (char *)buf + at, WR_MIN(len - at, CHUNK), root,
                        err);
    return r;
}

/* --- */

int wr_star_alive(struct wr_comm *base, weir_err *err)
{
    struct star *c = (struct star *)base;
    int r = 0;

    for (size_t k = 0; k < c->count && r == 0; k++)
        r = wr_wire_alive(&c->wires[k], err);
    return r;
}
