/* local.c - ranks that are processes of one machine: a star of Unix sockets.
 * SPDX-License-Identifier: Apache-2.0
 *
 * "local:PATH": rank 0 listens at PATH-CHANNEL. "local:@NAME": at NAME-CHANNEL in
 * a folder of this user alone, so that nobody else can take the place. */
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
#include "comm/meet_unix.h"
#include "comm/star.h"

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
