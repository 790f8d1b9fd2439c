/* tcp.c - ranks of several machines without MPI: a star of TCP connections.
 * SPDX-License-Identifier: Apache-2.0
 *
 * "tcp:HOST:PORT": rank 0 listens at PORT of HOST. Who does not know the token
 * is refused. It is made of what the processes of one job have in their
 * environment: the id of the job, and WEIR_SECRET for what others cannot
 * guess. */
#include "comm/comm.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "comm/meet_tcp.h"
#include "comm/star.h"

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
