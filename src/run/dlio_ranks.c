/* dlio_ranks.c - DLIO's files of one rank: its steps and its epochs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/dlio_ranks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/dlio_host.h"

#define KEY 40

char *wr_dlio_time(uint64_t wall_ns, char *buf, size_t cap)
{
    time_t seconds = (time_t)(wall_ns / WR_NS_PER_SEC);
    struct tm local;
    size_t used = 0;

    if (localtime_r(&seconds, &local))
        used = strftime(buf, cap, "%Y-%m-%dT%H:%M:%S", &local);
    snprintf(buf + used, cap - used, ".%06" PRIu64,
             wall_ns % WR_NS_PER_SEC / 1000);
    return buf;
}

/* Blocks of an epoch by number; evaluations have one name. */
static char *block_name(const struct wr_run_block *b, char *buf)
{
    if (b->block)
        snprintf(buf, KEY, "block%" PRIu64, b->block);
    else
        snprintf(buf, KEY, "eval");
    return buf;
}

/* One of the times of each step, which lies at `offset`. */
static json_t *steps_json(const struct wr_run_result *res,
                          const struct wr_run_block *b, size_t offset)
{
    json_t *list = json_array();
    uint64_t end = WR_MIN(b->first + b->count, (uint64_t)res->step_time_count);

    for (uint64_t k = b->first; k < end; k++) {
        const char *step = (const char *)&res->step_times[k];
        const float *seconds = (const float *)(step + offset);

        json_array_append_new(list, json_real(*seconds));
    }
    return list;
}

static void put_block(json_t *epoch, const struct wr_run_result *res,
                      const struct wr_run_block *b)
{
    static const struct {
        const char *key;
        size_t offset;
    } times[] = {{"load", offsetof(struct wr_run_step, load_s)},
                 {"proc", offsetof(struct wr_run_step, proc_s)},
                 {"compute", offsetof(struct wr_run_step, compute_s)}};
    char name[KEY];

    block_name(b, name);
    for (size_t i = 0; i < WR_ARRAY_LEN(times); i++)
        json_object_set_new(json_object_get(epoch, times[i].key), name,
                            steps_json(res, b, times[i].offset));
    json_object_set_new(json_object_get(epoch, "throughput"), name,
                        json_real(b->per_s));
    json_object_set_new(json_object_get(epoch, "au"), name,
                        json_real(100 * b->au));
}

json_t *wr_dlio_rank_json(const struct wr_dlio_source *src)
{
    const struct wr_run_result *res = src->res;
    json_t *to = json_object();
    char key[KEY], time[KEY];

    wr_dlio_put_host(to, src, /* per_host= */ false);
    for (uint64_t e = 1; e <= res->epoch_count; e++) {
        json_t *epoch = json_pack("{s:{}, s:{}, s:{}, s:{}, s:{}}", "load",
                                  "proc", "throughput", "au", "compute");

        for (size_t k = 0; k < res->block_count; k++)
            if (res->blocks[k].epoch == e)
                put_block(epoch, res, &res->blocks[k]);
        json_object_set_new(epoch, "host_meminfo", wr_dlio_meminfo());
        json_object_set_new(
            epoch, "end",
            json_string(wr_dlio_time(res->epochs[e - 1].end_wall_ns, time,
                                     sizeof(time))));
        snprintf(key, sizeof(key), "%" PRIu64, e);
        json_object_set_new(to, key, epoch);
    }
    return to;
}

/* --- epochs --- */

static void put_times(json_t *to, uint64_t start_ns, uint64_t end_ns)
{
    double seconds = (double)(int64_t)(end_ns - start_ns) * 1e-9;
    char text[KEY];

    json_object_set_new(to, "start",
                        json_string(wr_dlio_time(start_ns, text, KEY)));
    json_object_set_new(to, "end",
                        json_string(wr_dlio_time(end_ns, text, KEY)));
    snprintf(text, sizeof(text), "%.2f", seconds);
    json_object_set_new(to, "duration", json_string(text));
}

double wr_dlio_save_s(const struct wr_saved *save)
{
    return fmax(save->stall_s, isnan(save->fast_s) ? 0 : save->fast_s);
}

/* Saves or restores of an epoch; those that belong to none are of the first. */
static void put_saves(json_t *to, const struct wr_saved *saves, size_t count,
                      uint64_t epoch, const char *name)
{
    unsigned number = 0;
    char key[KEY];

    for (size_t k = 0; k < count; k++) {
        const struct wr_saved *s = &saves[k];
        double seconds = wr_dlio_save_s(s);
        json_t *one;

        if (WR_MAX(s->epoch, (uint64_t)1) != epoch)
            continue;
        one = json_object();
        put_times(one, s->start_wall_ns,
                  s->start_wall_ns +
                      (uint64_t)(seconds * (double)WR_NS_PER_SEC));
        json_object_set_new(one, "duration", json_real(seconds));
        json_object_set_new(
            one, "throughput",
            json_real(seconds > 0 ? (double)s->bytes / WR_DLIO_GB / seconds
                                  : 0));
        snprintf(key, sizeof(key), "%s%u", name, ++number);
        json_object_set_new(to, key, one);
    }
}

json_t *wr_dlio_epochs_json(const struct wr_dlio_source *src)
{
    const struct wr_run_result *res = src->res;
    /* A description that only saves has one epoch all the same. */
    uint64_t count = WR_MAX(res->epoch_count, (uint64_t)1);
    json_t *to = json_object();
    char key[KEY], name[KEY];

    for (uint64_t e = 1; e <= count; e++) {
        json_t *epoch = json_object();

        if (e <= res->epoch_count)
            put_times(epoch, res->epochs[e - 1].start_wall_ns,
                      res->epochs[e - 1].end_wall_ns);
        for (size_t k = 0; k < res->block_count; k++) {
            const struct wr_run_block *b = &res->blocks[k];
            json_t *one;

            if (b->epoch != e)
                continue;
            one = json_object();
            put_times(one, b->start_wall_ns, b->end_wall_ns);
            json_object_set_new(epoch, block_name(b, name), one);
        }
        put_saves(epoch, res->saves, res->save_count, e, "save_ckpt");
        put_saves(epoch, res->restores, res->restore_count, e, "load_ckpt");
        snprintf(key, sizeof(key), "%" PRIu64, e);
        json_object_set_new(to, key, epoch);
    }
    return to;
}
