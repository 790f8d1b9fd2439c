/* together.c - several ranks measure at the same time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/together.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "comm/barrier.h"

/* What a rank says of its part. */
struct rank_work {
    double work, seconds;
};

int wr_together_open(struct wr_together *t, struct wr_comm *comm, weir_err *err)
{
    *t = (struct wr_together){0};
    if (!comm || comm->world == 1)
        return 0;
    t->comm = comm;
    return wr_barrier_open(comm, &t->barrier, err);
}

void wr_together_close(struct wr_together *t)
{
    wr_barrier_close(t->barrier);
    *t = (struct wr_together){0};
}

int wr_together_begin(const struct wr_together *t, weir_err *err)
{
    uint64_t ignored;

    return t->barrier ? wr_barrier_max(t->barrier, 0, &ignored, err) : 0;
}

static double rate_of(double work, double seconds)
{
    return work > 0 && seconds > 0 ? work / seconds : 0;
}

/* Rank 0. NaN seconds of one stay NaN. */
static int add_up(const struct wr_comm_part *parts, uint32_t world, double *ret,
                  weir_err *err)
{
    struct rank_work one, all = {0};

    for (uint32_t k = 0; k < world; k++) {
        if (parts[k].len != sizeof(one))
            return wr_fail(err, WEIR_EFORMAT,
                           "what rank %u sent cannot be read", k);
        memcpy(&one, parts[k].bytes, sizeof(one));
        all.work += one.work;
        all.seconds = isnan(one.seconds) || isnan(all.seconds)
                          ? NAN
                          : fmax(all.seconds, one.seconds);
    }
    *ret = rate_of(all.work, all.seconds);
    return 0;
}

int wr_together_rate(const struct wr_together *t, double work, double seconds,
                     double *ret, weir_err *err)
{
    struct rank_work mine = {work, seconds};
    struct wr_comm_part *parts = NULL;
    double rate = rate_of(work, seconds);
    char *told;
    size_t len;
    int r;

    if (!t->barrier) {
        *ret = rate;
        return 0;
    }
    r = wr_comm_gather(t->comm, &mine, sizeof(mine), &parts, err);
    if (r == 0 && parts)
        r = add_up(parts, t->comm->world, &rate, err);
    free(parts);
    if (r < 0)
        return r;
    r = wr_comm_broadcast(t->comm, &rate, sizeof(rate), &told, &len, err);
    if (r < 0)
        return r;
    if (len == sizeof(*ret))
        memcpy(ret, told, len);
    else
        r = wr_fail(err, WEIR_EFORMAT, "what rank 0 sent cannot be read");
    free(told);
    return r;
}

/* Numbers that are not negative are in the order of their bits. */
int wr_together_slowest(const struct wr_together *t, double *seconds,
                        weir_err *err)
{
    double mine = isnan(*seconds) ? 0 : fmax(*seconds, 0);
    uint64_t bits;
    int r;

    if (!t->barrier)
        return 0;
    memcpy(&bits, &mine, sizeof(bits));
    r = wr_barrier_max(t->barrier, bits, &bits, err);
    if (r < 0)
        return r;
    memcpy(&mine, &bits, sizeof(mine));
    *seconds = bits ? mine : NAN;
    return 0;
}

static int parse_parts(const struct wr_comm_part *parts, uint32_t world,
                       json_t **ret, weir_err *err)
{
    json_t *list = json_array();

    for (uint32_t k = 0; k < world; k++) {
        json_t *o = json_loadb(parts[k].bytes, parts[k].len, 0, NULL);

        if (json_array_append_new(list, o) == 0)
            continue;
        json_decref(list);
        return wr_fail(err, WEIR_EFORMAT, "what rank %u sent cannot be read",
                       k);
    }
    *ret = list;
    return 0;
}

int wr_together_gather(const struct wr_together *t, json_t *mine, json_t **ret,
                       weir_err *err)
{
    char *text = mine ? json_dumps(mine, JSON_COMPACT) : NULL;
    struct wr_comm_part *parts = NULL;
    int r;

    json_decref(mine);
    if (!text)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *ret = NULL;
    r = wr_comm_gather(t->comm, text, strlen(text), &parts, err);
    if (r == 0 && parts)
        r = parse_parts(parts, t->comm->world, ret, err);
    free(parts);
    free(text);
    return r;
}

void wr_together_give_up(const struct wr_together *t, const weir_err *why)
{
    if (t->barrier)
        wr_barrier_give_up(t->barrier, why);
}
