/* fuzz_plan.c - any bytes as a record that a plan is made from, alone and on top
 * of what is needed besides; whatever passes the check is simulated.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "plan/answer.h"
#include "plan/models.h"
#include "plan/simulate.h"
#include "result/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SAMPLES_MAX 20000 /* of a simulation */

static bool is_small(const struct wr_plan *p)
{
    return (uint64_t)p->compute.accelerators * p->compute.batch * 2 <=
               SAMPLES_MAX &&
           p->loader.workers <= 256 && p->loader.depth <= 256 &&
           p->data.bytes.mean < 1e9;
}

static void simulate(const struct wr_plan *p)
{
    const struct wr_plan_how how = {.steps = 2};
    struct wr_plan_bounds b;
    struct wr_plan_result r;

    wr_plan_bounds(p, false, &b);
    if (!is_small(p) || wr_plan_simulate(p, &how, &r, NULL) < 0)
        return;
    if (!(r.seconds >= 0))
        abort();
    wr_plan_result_done(&r);
}

static void say_rest(struct wr_plan_draft *d)
{
    const struct wr_plan_saying who = {"rest", WR_PLAN_TABLED};
    struct wr_device_profile p;

    if (wr_plan_from_model(d, wr_plan_model_at(0), NULL) < 0 ||
        wr_plan_say(d, &who, WR_PLAN_K_STEP, 0.1, NULL) < 0 ||
        wr_plan_say(d, &who, WR_PLAN_K_CORES, 2, NULL) < 0 ||
        wr_device_profile_find("ssd", &p, NULL) < 0 ||
        wr_plan_say_profile(d, &who, WR_PLAN_K_STORAGE, &p, NULL) < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *record = NULL;
    weir_err err = {0};

    if (wr_record_parse((const char *)data, size, "fuzz", &record, &err) < 0)
        return 0;
    for (int rest = 0; rest < 2; rest++) {
        struct wr_plan_draft d;
        const struct wr_plan_record r = {"fuzz", record, 0};

        wr_plan_draft_init(&d);
        if (rest)
            say_rest(&d);
        if (wr_plan_from_record(&d, &r, &err) == 0 &&
            wr_plan_draft_finish(&d, &err) == 0)
            simulate(&d.plan);
        else if (!err.msg[0])
            abort();
    }
    json_decref(record);
    return 0;
}
