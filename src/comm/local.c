/* local.c - ranks that are processes of one machine: a star of Unix sockets.
 * SPDX-License-Identifier: Apache-2.0
 *
 * "local:PATH": rank 0 listens at PATH-CHANNEL, and all that is said goes
 * through it. */
#include "comm/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "comm/meet.h"
#include "comm/wire.h"

#define MAX_WORLD 4096u

struct local {
    struct wr_comm base;
    uint64_t timeout_ms;
    uint64_t calls; /* so far; the same on all ranks */
    size_t count;   /* of wires: world - 1 on rank 0, else 1 */
    struct wr_wire wires[];
};

static void local_close(struct wr_comm *base)
{
    struct local *c = (struct local *)base;

    for (size_t k = 0; k < c->count; k++)
        wr_wire_close(&c->wires[k]);
    free(c);
}

static void local_give_up(struct wr_comm *base, const weir_err *why)
{
    struct local *c = (struct local *)base;

    for (size_t k = 0; k < c->count; k++)
        wr_wire_give_up(&c->wires[k], why);
}

static int meet(struct local *c, const char *path, const char *channel,
                weir_err *err)
{
    struct wr_meet m = {.path = path,
                        .channel = channel,
                        .rank = c->base.rank,
                        .world = c->base.world,
                        .timeout_ms = c->timeout_ms};

    return m.rank == 0 ? wr_meet_host(&m, c->wires, err)
                       : wr_meet_join(&m, c->wires, err);
}

static int local_open(const char *rest, const struct wr_comm_config *cfg,
                      struct wr_comm **ret, weir_err *err)
{
    const char *channel = cfg->channel ? cfg->channel : "main";
    size_t count = cfg->rank == 0 ? cfg->world - 1 : 1;
    struct local *c;
    char *path = NULL;
    weir_err e;
    int r;

    if (!*rest || strlen(channel) >= WR_MEET_CHANNEL || strchr(channel, '/'))
        return wr_fail(err, WEIR_EINVAL,
                       "'%s' (channel '%s'): no place for ranks to meet",
                       cfg->url, channel);
    if (cfg->world > MAX_WORLD)
        return wr_fail(err, WEIR_ELIMIT, "%u ranks: %u at most", cfg->world,
                       MAX_WORLD);
    c = calloc(1, sizeof(*c) + count * sizeof(c->wires[0]));
    if (!c || asprintf(&path, "%s-%s", rest, channel) < 0) {
        free(c);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    c->base = (struct wr_comm){
        .ops = &wr_comm_local, .rank = cfg->rank, .world = cfg->world};
    c->timeout_ms = cfg->timeout_ms;
    c->count = count;
    for (size_t k = 0; k < count; k++)
        c->wires[k].fd = -1;
    r = meet(c, path, channel, &e);
    free(path);
    if (r < 0) {
        local_give_up(&c->base, &e);
        free(c);
        return wr_fail_as(err, r, &e);
    }
    *ret = &c->base;
    return 0;
}

/* All that came in, in one piece of memory, this rank's own first. */
static int join_parts(struct local *c, const struct wr_comm_part *own,
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
    at = wr_comm_copy(at, own->bytes, own->len) + own->len + 1;
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

static int local_gather(struct wr_comm *base, const void *bytes, size_t len,
                        struct wr_comm_part **ret, weir_err *err)
{
    struct local *c = (struct local *)base;
    struct wr_comm_part own = {.bytes = bytes, .len = len};
    struct wr_wire_job job = {.send = base->rank != 0,
                              .kind = WR_WIRE_PART,
                              .call = ++c->calls,
                              .bytes = bytes,
                              .len = base->rank != 0 ? len : 0,
                              .timeout_ms = c->timeout_ms};
    int r = wr_wire_run(c->wires, c->count, &job, err);

    if (r < 0)
        return r;
    if (base->rank == 0)
        return join_parts(c, &own, ret, err);
    *ret = NULL;
    return 0;
}

static int local_broadcast(struct wr_comm *base, const void *bytes, size_t len,
                           char **ret, size_t *ret_len, weir_err *err)
{
    struct local *c = (struct local *)base;
    struct wr_wire_job job = {.send = base->rank == 0,
                              .kind = WR_WIRE_BROADCAST,
                              .call = ++c->calls,
                              .bytes = bytes,
                              .len = base->rank == 0 ? len : 0,
                              .timeout_ms = c->timeout_ms};
    char *copy = NULL;
    int r;

    if (base->rank == 0) {
        copy = wr_comm_copy(malloc(len + 1), bytes, len);
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

static int local_alive(struct wr_comm *base, weir_err *err)
{
    struct local *c = (struct local *)base;
    int r = 0;

    for (size_t k = 0; k < c->count && r == 0; k++)
        r = wr_wire_alive(&c->wires[k], err);
    return r;
}

const struct wr_comm_ops wr_comm_local = {
    .name = "local",
    .help = "processes of one machine, which meet at a Unix socket",
    .open = local_open,
    .close = local_close,
    .gather = local_gather,
    .broadcast = local_broadcast,
    .alive = local_alive,
    .give_up = local_give_up,
};
