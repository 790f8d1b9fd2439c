/* rank.c - the place of a process in a job, as its environment says it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The first that is there counts; as in preload/life.c. */
static const char *const ranks[] = {
    "RANK=", "OMPI_COMM_WORLD_RANK=", "PMI_RANK=", "SLURM_PROCID="};
static const char *const worlds[] = {"WORLD_SIZE=", "OMPI_COMM_WORLD_SIZE=",
                                     "PMI_SIZE=", "SLURM_STEP_NUM_TASKS="};

static int32_t number_of(const char *environment, size_t len, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = environment, *end = environment + len; at < end;) {
        const char *stop = memchr(at, 0, (size_t)(end - at));

        if (!stop)
            break; /* cut off */
        if (!strncmp(at, name, n) && at[n] >= '0' && at[n] <= '9')
            return atoi(at + n);
        at = stop + 1;
    }
    return -1;
}

static int32_t first_of(const char *environment, size_t len,
                        const char *const names[4])
{
    int32_t value = -1;

    for (size_t i = 0; i < WR_ARRAY_LEN(ranks) && value < 0; i++)
        value = number_of(environment, len, names[i]);
    return value;
}

void wr_rank_of(const char *environment, size_t len, int32_t *ret_rank,
                int32_t *ret_world)
{
    *ret_rank = first_of(environment, len, ranks);
    *ret_world = first_of(environment, len, worlds);
    if (*ret_rank < 0 || *ret_world <= 0)
        *ret_world = -1;
}
