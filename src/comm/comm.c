/* comm.c - the registry of comm backends, and what is made of their calls.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/comm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/rng.h"
#include "comm/meet.h"
#include "comm/star.h"

/* --- ranks that are processes of one machine: a star of Unix sockets ---
 *
 * "local:PATH": rank 0 listens at PATH-CHANNEL. "local:@NAME": at NAME-CHANNEL in
 * a folder of this user alone, so that nobody else can take the place. */

#define NAME_MOST 64 /* in the folder: a socket's path has 99 bytes */

/* All ranks of a host must find the same one, so it follows from nothing that
 * their environments may differ in. The second is for the case that another user
 * has the name of the first. */
static const struct {
    const char *before, *behind; /* the user's number */
} homes[] = {{"/tmp/weir-", ""}, {"/run/user/", "/weir"}};

static int find_home(char *buf, size_t cap, weir_err *err)
{
    weir_err why, first = {0};

    for (size_t k = 0; k < WR_ARRAY_LEN(homes); k++) {
        int fd;

        snprintf(buf, cap, "%s%u%s", homes[k].before, (unsigned)geteuid(),
                 homes[k].behind);
        if (wr_own_dir(buf, WR_OWN_MAKE | WR_OWN_WAY, &fd, &why) == 0) {
            wr_fd_close(fd);
            return 0;
        }
        first = k == 0 ? why : first;
    }
    /* Not ENOENT, which callers take for data that are missing. */
    return wr_fail(err, WEIR_EACCES, "%s; ranks of one host meet there",
                   first.msg);
}

/* "NAME-CHANNEL", or a number of it where that is too long or not a name. */
static void shorten(const char *name, const char *channel,
                    char buf[NAME_MOST + 1])
{
    int n = snprintf(buf, NAME_MOST + 1, "%s-%s", name, channel);
    uint64_t sum[2] = {0, 1};

    if (n <= NAME_MOST && !strchr(name, '/'))
        return;
    for (size_t lane = 0; lane < WR_ARRAY_LEN(sum); lane++) {
        for (const char *s = name; *s; s++)
            sum[lane] = wr_mix64(sum[lane] * 31 + (unsigned char)*s + 1);
        for (const char *s = channel; *s; s++)
            sum[lane] = wr_mix64(sum[lane] * 37 + (unsigned char)*s + 1);
    }
    snprintf(buf, NAME_MOST + 1, "%016" PRIx64 "%016" PRIx64, sum[0], sum[1]);
}

/* The path of the socket: fresh memory. */
static int find_path(const char *rest, const char *channel, char **ret,
                     weir_err *err)
{
    char home[64], name[NAME_MOST + 1];
    int r;

    if (*rest != '@')
        return asprintf(ret, "%s-%s", rest, channel) < 0
                   ? wr_fail(err, WEIR_ENOMEM, "out of memory")
                   : 0;
    r = find_home(home, sizeof(home), err);
    if (r < 0)
        return r;
    shorten(rest + 1, channel, name);
    return asprintf(ret, "%s/%s", home, name) < 0
               ? wr_fail(err, WEIR_ENOMEM, "out of memory")
               : 0;
}

static int local_open(const char *rest, const struct wr_comm_config *cfg,
                      struct wr_comm **ret, weir_err *err)
{
    struct wr_meet m = {.ops = &wr_meet_unix};
    const char *channel;
    char *path;
    int r = wr_star_channel(cfg, &channel, err);

    if (r < 0)
        return r;
    if (!*rest)
        return wr_fail(err, WEIR_EINVAL, "'%s': no place for ranks to meet",
                       cfg->url);
    r = find_path(rest, channel, &path, err);
    if (r < 0)
        return r;
    m.path = path;
    r = wr_star_open(&wr_comm_local, cfg, &m, ret, err);
    free(path);
    return r;
}

const struct wr_comm_ops wr_comm_local = {
    .name = "local",
    .help = "processes of one machine, which meet at a Unix socket",
    .open = local_open,
};

/* --- ranks of several machines without MPI: a star of TCP connections ---
 *
 * "tcp:HOST:PORT": rank 0 listens at PORT of HOST. Who does not know the token
 * is refused. It is made of what the processes of one job have in their
 * environment: the id of the job, and WEIR_SECRET for what others cannot
 * guess. */

/* Mixes `text` (NULL: none) into the token. No cryptography: the token crosses
 * the network as it is, and the secret should be long and random. */
static void stir(const char *text, uint64_t token[WR_MEET_TOKEN / 8])
{
    size_t len = text ? strlen(text) + 1 : 0;

    for (size_t lane = 0; lane < WR_MEET_TOKEN / 8; lane++) {
        uint64_t x = wr_mix64(token[lane] + lane + 1);

        for (size_t k = 0; k < len; k++)
            x = wr_mix64(x * 31 + (unsigned char)text[k] + 1);
        token[lane] = x;
    }
}

static int tcp_open(const char *rest, const struct wr_comm_config *cfg,
                    struct wr_comm **ret, weir_err *err)
{
    uint64_t token[WR_MEET_TOKEN / 8] = {0};
    struct wr_meet m = {.ops = &wr_meet_tcp,
                        .path = rest,
                        .token = (const unsigned char *)token};

    stir(getenv("SLURM_JOB_ID"), token);
    stir(getenv("SLURM_STEP_ID"), token);
    stir(getenv("TORCHELASTIC_RUN_ID"), token);
    stir(getenv("WEIR_SECRET"), token);
    return wr_star_open(&wr_comm_tcp, cfg, &m, ret, err);
}

const struct wr_comm_ops wr_comm_tcp = {
    .name = "tcp",
    .help = "processes of several machines, which meet at a TCP port of rank 0",
    .open = tcp_open,
};

/* --- the registry, and what is made of calls --- */

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
