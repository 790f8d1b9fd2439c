/* local.c - ranks that are processes of one machine: a star of Unix sockets.
 * SPDX-License-Identifier: Apache-2.0
 *
 * "local:PATH": rank 0 listens at PATH-CHANNEL. */
#include "comm/comm.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "comm/meet_unix.h"
#include "comm/star.h"

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
    if (asprintf(&path, "%s-%s", rest, channel) < 0)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    m.path = path;
    r = wr_star_open(&wr_comm_local, cfg, &m, ret, err);
    free(path);
    return r;
}

const struct wr_comm_ops wr_comm_local = {
    .name = "local",
    .help = "processes of one machine, which meet at a Unix socket",
    .open = local_open,
    .close = wr_star_close,
    .gather = wr_star_gather,
    .broadcast = wr_star_broadcast,
    .alive = wr_star_alive,
    .give_up = wr_star_give_up,
    .max = wr_star_max,
    .share = wr_star_share,
};
