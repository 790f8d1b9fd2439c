/* from_ckpt.c - the tiers that a record of weir ckpt bench has measured.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "plan/from.h"
#include "result/get.h"

static const json_t *case_of(const json_t *record, const char *way)
{
    const json_t *list = wr_get_list(record, "cases"), *c;
    size_t k;

    json_array_foreach(list, k,
                       c) if (!strcmp(wr_get_text(c, "way"), way)) return c;
    return NULL;
}

/* A tier by what it reached: no more than a bandwidth. */
static bool measured_tier(const json_t *c, double bytes,
                          struct wr_device_profile *ret)
{
    double stall = wr_get_number(c, "result.stall_s");
    double restore = wr_get_number(c, "result.restore_bytes_per_s");

    if (!(stall > 0) || !(bytes > 0))
        return false;
    *ret = (struct wr_device_profile){
        .name = "measured",
        .title = "by what saving and restoring reached",
        .write_bytes_per_s = bytes / stall,
        .read_bytes_per_s = restore > 0 ? restore : bytes / stall,
    };
    ret->write_bytes_per_s = WR_MIN(
        WR_MAX(ret->write_bytes_per_s, WR_DEVICE_MIN_RATE), WR_DEVICE_MAX_RATE);
    ret->read_bytes_per_s = WR_MIN(
        WR_MAX(ret->read_bytes_per_s, WR_DEVICE_MIN_RATE), WR_DEVICE_MAX_RATE);
    return true;
}

/* `place` and `way` have the same name in the record: "slow", "fast". */
static int say_tier(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                    const struct wr_plan_record *r, const char *place,
                    weir_err *err)
{
    enum wr_plan_key key = !strcmp(place, "slow") ? WR_PLAN_K_SLOW
                                                  : WR_PLAN_K_FAST;
    struct wr_device_profile p;
    int res = wr_plan_emulated(wr_get_text(r->json, place), &p, err);

    if (res == 0 && measured_tier(case_of(r->json, place),
                                  wr_get_number(r->json, "bytes"), &p))
        res = 1;
    return res > 0 ? wr_plan_say_profile(d, who, key, &p, err) : res;
}

int wr_plan_from_ckpt(struct wr_plan_draft *d, const struct wr_plan_record *r,
                      weir_err *err)
{
    double bytes = wr_get_number(r->json, "bytes");
    double copy = bytes / wr_get_number(r->json, "memcpy_s");
    double stall = wr_get_number(case_of(r->json, "async"), "result.stall_s");
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_MEASURED};
    int res;

    snprintf(source, sizeof(source), "'%.150s'", r->name);
    if (stall > 0) /* what the snapshot really took */
        copy = bytes / stall;
    res = wr_plan_say(d, &who, WR_PLAN_K_STATE, bytes, err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_COPY, copy, err);
    if (res == 0)
        res = say_tier(d, &who, r, "slow", err);
    if (res == 0)
        res = say_tier(d, &who, r, "fast", err);
    return res;
}
