/* rank.c - the place of a process in a job, as its environment says it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/rank.h"

#include <stdlib.h>
#include <string.h>

#define VARIABLES 4

struct wr_rank_variable {
    const char *name, *own; /* own: what this process has */
};

/* What stands behind the name, up to `end`, where it may be cut off. */
static const char *value_in(const char *environment, const char *end,
                            const char *name)
{
    size_t n = strlen(name);

    for (const char *at = environment; at < end;) {
        const char *stop = memchr(at, 0, (size_t)(end - at));

        if (!stop)
            break;
        if (!strncmp(at, name, n) && at[n] == '=')
            return at + n + 1;
        at = stop + 1;
    }
    return NULL;
}

/* The first that is there counts. */
static int32_t first_of(const struct wr_rank_variable says[VARIABLES],
                        const char *environment, size_t len)
{
    int32_t n = -1;

    for (size_t k = 0; k < VARIABLES && n < 0; k++) {
        const char *text = environment
                               ? value_in(environment, environment + len,
                                          says[k].name)
                               : says[k].own;

        n = text && *text >= '0' && *text <= '9' ? atoi(text) : -1;
    }
    return n;
}

void wr_rank_of(const char *environment, size_t len, int32_t *ret_rank,
                int32_t *ret_world)
{
    const struct wr_rank_variable ranks[VARIABLES] = {
        {"RANK", getenv("RANK")},
        {"OMPI_COMM_WORLD_RANK", getenv("OMPI_COMM_WORLD_RANK")},
        {"PMI_RANK", getenv("PMI_RANK")},
        {"SLURM_PROCID", getenv("SLURM_PROCID")}};
    const struct wr_rank_variable worlds[VARIABLES] = {
        {"WORLD_SIZE", getenv("WORLD_SIZE")},
        {"OMPI_COMM_WORLD_SIZE", getenv("OMPI_COMM_WORLD_SIZE")},
        {"PMI_SIZE", getenv("PMI_SIZE")},
        {"SLURM_STEP_NUM_TASKS", getenv("SLURM_STEP_NUM_TASKS")}};

    *ret_rank = first_of(ranks, environment, len);
    *ret_world = first_of(worlds, environment, len);
    if (*ret_rank < 0 || *ret_world <= 0)
        *ret_world = -1;
}
