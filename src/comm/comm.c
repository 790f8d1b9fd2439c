/* comm.c - the registry of comm backends, and what is made of their calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "comm/star.h"

/* One line per backend. */
static const struct wr_comm_ops *const backends[] = {
    &wr_comm_local,
    &wr_comm_tcp,
    &wr_comm_mpi,
};

/* --- opening --- */

int wr_comm_open(const struct wr_comm_config *cfg, struct wr_comm **ret,
                 weir_err *err)
{
    if (cfg->rank >= cfg->world)
        return wr_fail(err, WEIR_EINVAL, "there is no rank %u of %u ranks",
                       cfg->rank, cfg->world);
    if (cfg->world == 1)
        return wr_star_alone(ret, err);
    if (!cfg->url)
        return wr_fail(err, WEIR_EINVAL,
                       "%u ranks need a way to meet (\"local:PATH\", "
                       "\"tcp:HOST:PORT\")",
                       cfg->world);
    for (size_t k = 0; k < WR_ARRAY_LEN(backends); k++) {
        size_t n = strlen(backends[k]->name);

        if (!strncmp(cfg->url, backends[k]->name, n) && cfg->url[n] == ':')
            return backends[k]->open(cfg->url + n + 1, cfg, ret, err);
    }
    return wr_fail(err, WEIR_EINVAL,
                   "'%s': no way for ranks to meet (\"local:PATH\" and "
                   "\"tcp:HOST:PORT\" are)",
                   cfg->url);
}

void wr_comm_close(struct wr_comm *c)
{
    if (c)
        wr_star_close(c);
}

/* --- calls --- */

static int again(const struct wr_comm *c, weir_err *err)
{
    return wr_fail_as(err, c->failure.code, &c->failure);
}

/* After a failed call ranks may be at different ones, and what one says would be
 * taken for the answer to another: the comm stays failed, and all are told. */
static int for_good(struct wr_comm *c, const weir_err *why, weir_err *err)
{
    c->failed = true;
    c->failure = *why;
    wr_star_give_up(c, &c->failure);
    return again(c, err);
}

static int check_len(size_t len, weir_err *err)
{
    if (len > WR_COMM_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "%zu bytes for another rank: %zu at most", len,
                       WR_COMM_MAX);
    return 0;
}

int wr_comm_gather(struct wr_comm *c, const void *bytes, size_t len,
                   struct wr_comm_part **ret, weir_err *err)
{
    struct wr_comm_part *parts = NULL;
    weir_err e;
    int r;

    if (c->failed)
        return again(c, err);
    r = check_len(len, &e);
    if (r == 0)
        r = wr_star_gather(c, bytes, len, &parts, &e);
    if (r < 0)
        return for_good(c, &e, err);
    *ret = parts;
    return 0;
}

int wr_comm_broadcast(struct wr_comm *c, const void *bytes, size_t len,
                      char **ret, size_t *ret_len, weir_err *err)
{
    weir_err e;
    int r = 0;

    if (c->failed)
        return again(c, err);
    if (c->rank == 0)
        r = check_len(len, &e);
    if (r == 0)
        r = wr_star_broadcast(c, bytes, len, ret, ret_len, &e);
    return r < 0 ? for_good(c, &e, err) : 0;
}

int wr_comm_alive(struct wr_comm *c, weir_err *err)
{
    weir_err e;

    if (c->failed)
        return again(c, err);
    return wr_star_alive(c, &e) < 0 ? for_good(c, &e, err) : 0;
}

void wr_comm_give_up(struct wr_comm *c, const weir_err *why)
{
    if (!c->failed)
        for_good(c, why, NULL);
}

int wr_comm_max(struct wr_comm *c, const bool *in, uint64_t value,
                uint64_t *ret, weir_err *err)
{
    weir_err e;

    if (c->failed)
        return again(c, err);
    return wr_star_max(c, in, value, ret, &e) < 0 ? for_good(c, &e, err) : 0;
}

int wr_comm_share(struct wr_comm *c, void *buf, size_t len, uint32_t root,
                  weir_err *err)
{
    weir_err e;
    int r;

    if (c->failed)
        return again(c, err);
    if (root >= c->world)
        return wr_fail(err, WEIR_EINVAL, "there is no rank %u of %u ranks",
                       root, c->world);
    r = c->ops->share ? c->ops->share(c, buf, len, root, &e)
                      : wr_star_share(c, buf, len, root, &e);
    return r < 0 ? for_good(c, &e, err) : 0;
}

int wr_comm_read_all(struct wr_comm *c, const struct wr_comm_read *what,
                     void *buf, weir_err *err)
{
    weir_err e;
    int r;

    if (c->failed)
        return again(c, err);
    if (!c->ops->read_all)
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s': reading by MPI-IO needs ranks that were started "
                       "by MPI (mpirun, srun --mpi)",
                       what->path);
    r = c->ops->read_all(c, what, buf, &e);
    if (r < 0)
        return for_good(c, &e, err);
    return wr_comm_agree(c, r > 0 ? e.code : 0, &e, err);
}

/* How it went, as it is sent: nothing when it went well. */
struct agreed {
    int32_t code, os_errno;
    char msg[sizeof(((weir_err *)NULL)->msg)];
};

static void write_verdict(int code, const weir_err *mine, struct agreed *v)
{
    memset(v, 0, sizeof(*v));
    v->code = code;
    v->os_errno = mine ? mine->os_errno : 0;
    snprintf(v->msg, sizeof(v->msg), "%s",
             mine ? mine->msg : weir_strerror(code));
}

/* What came from another process is looked at before it is used. */
static int read_verdict(const void *bytes, size_t len, struct agreed *v)
{
    if (len == 0) {
        v->code = 0;
        return 0;
    }
    if (len != sizeof(*v))
        return -1;
    memcpy(v, bytes, sizeof(*v));
    if (v->code >= 0 || !memchr(v->msg, '\0', sizeof(v->msg)))
        return -1;
    return 0;
}

static int garbled(struct wr_comm *c, uint32_t rank, weir_err *err)
{
    weir_err e;

    wr_fail(&e, WEIR_EFORMAT, "what rank %u sent cannot be read", rank);
    return for_good(c, &e, err);
}

/* Rank 0: the verdict on all of them; code 0 when all went well. */
static int judge(struct wr_comm *c, const struct wr_comm_part *parts,
                 struct agreed *ret, weir_err *err)
{
    for (uint32_t k = 0; k < c->world; k++) {
        struct agreed v;
        weir_err e;

        if (read_verdict(parts[k].bytes, parts[k].len, &v) < 0)
            return garbled(c, k, err);
        if (v.code == 0)
            continue;
        memcpy(e.msg, v.msg, sizeof(e.msg));
        e.code = v.code;
        e.os_errno = v.os_errno;
        if (c->world > 1)
            wr_fail_prefix(&e, v.code, "rank %u", k);
        write_verdict(v.code, &e, ret);
        return 0;
    }
    ret->code = 0;
    return 0;
}

int wr_comm_agree(struct wr_comm *c, int code, const weir_err *mine,
                  weir_err *err)
{
    struct wr_comm_part *parts = NULL;
    struct agreed v = {0};
    size_t len;
    char *text;
    int r;

    /* That it went well is said by nothing: the usual case costs no bytes. */
    if (code < 0)
        write_verdict(code, mine, &v);
    r = wr_comm_gather(c, &v, code < 0 ? sizeof(v) : 0, &parts, err);
    if (r == 0 && c->rank == 0) {
        r = judge(c, parts, &v, err);
        free(parts);
    }
    if (r < 0)
        return r;
    r = wr_comm_broadcast(c, &v, v.code < 0 ? sizeof(v) : 0, &text, &len, err);
    if (r < 0)
        return r;
    r = read_verdict(text, len, &v);
    free(text);
    if (r < 0)
        return garbled(c, 0, err);
    if (v.code == 0)
        return 0;
    wr_fail(err, v.code, "%s", v.msg);
    if (err)
        err->os_errno = v.os_errno;
    return v.code;
}

int wr_comm_min(struct wr_comm *c, uint64_t value, uint64_t *ret, weir_err *err)
{
    struct wr_comm_part *parts;
    uint64_t least = value, other;
    size_t len;
    char *text;
    int r;

    r = wr_comm_gather(c, &value, sizeof(value), &parts, err);
    if (r < 0)
        return r;
    for (uint32_t k = 0; c->rank == 0 && k < c->world; k++) {
        if (parts[k].len != sizeof(other)) {
            free(parts);
            return garbled(c, k, err);
        }
        memcpy(&other, parts[k].bytes, sizeof(other));
        least = WR_MIN(least, other);
    }
    free(parts);
    r = wr_comm_broadcast(c, &least, sizeof(least), &text, &len, err);
    if (r < 0)
        return r;
    if (len == sizeof(least))
        memcpy(&least, text, sizeof(least));
    free(text);
    if (len != sizeof(least))
        return garbled(c, 0, err);
    *ret = least;
    return 0;
}
