/* from_ckpt.c - the tiers that a record of weir ckpt bench has measured.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "plan/from.h"
#include "result/ckpt.h"
#include "result/get.h"

/* Nothing of it is known if that way was not measured. */
static struct wr_ckpt_result_values result_of(const struct wr_view_record *r,
                                              const char *way)
{
    struct wr_ckpt_result_values none;

    for (size_t k = 0; k < r->cases.count; k++) {
        const struct wr_ckpt_case_values *v = wr_list_at(&r->cases, k);

        if (!strcmp(v->way, way))
            return v->result;
    }
    wr_vals_clear(&wr_ckpt_result_vals, &none);
    return none;
}

/* A tier by what it reached: no more than a bandwidth. */
static bool measured_tier(const struct wr_ckpt_result_values *v, double bytes,
                          struct wr_device_profile *ret)
{
    double stall = v->stall_s, restore = v->restore_bytes_per_s;

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
                    const struct wr_view_record *r, const char *place,
                    weir_err *err)
{
    const struct wr_ckpt_result_values v = result_of(r, place);
    enum wr_plan_key key = !strcmp(place, "slow") ? WR_PLAN_K_SLOW
                                                  : WR_PLAN_K_FAST;
    struct wr_device_profile p;
    int res = wr_plan_emulated(wr_get_text(r->json, place), &p, err);

    if (res == 0 && measured_tier(&v, wr_get_number(r->json, "bytes"), &p))
        res = 1;
    return res > 0 ? wr_plan_say_profile(d, who, key, &p, err) : res;
}

int wr_plan_from_ckpt(struct wr_plan_draft *d, const struct wr_plan_record *r,
                      weir_err *err)
{
    double bytes = wr_get_number(r->json, "bytes");
    double copy = bytes / wr_get_number(r->json, "memcpy_s");
    struct wr_view_record read = {.json = r->json};
    double stall;
    char source[200];
    const struct wr_plan_saying who = {source, WR_PLAN_MEASURED};
    int res;

    if (!wr_view_record_read(&read))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    stall = result_of(&read, "async").stall_s;
    snprintf(source, sizeof(source), "'%.150s'", r->name);
    if (stall > 0) /* what the snapshot really took */
        copy = bytes / stall;
    res = wr_plan_say(d, &who, WR_PLAN_K_STATE, bytes, err);
    if (res == 0)
        res = wr_plan_say(d, &who, WR_PLAN_K_COPY, copy, err);
    if (res == 0)
        res = say_tier(d, &who, &read, "slow", err);
    if (res == 0)
        res = say_tier(d, &who, &read, "fast", err);
    wr_view_record_done(&read);
    return res;
}
