/* finish.c - what a draft still lacks: assumptions, and what is missing.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "plan/from.h"

/* CPU seconds for reading and copying a byte where nothing is decoded, as `weir
 * run` takes them. */
#define COPY_S_PER_BYTE 0.33e-9
#define COPY_RATE       5e9  /* of a snapshot in memory */
#define STEPS           1000 /* of an epoch, if no data set is known */

static bool known(const struct wr_plan_draft *d, enum wr_plan_key key)
{
    return d->facts[key].known;
}

static int assume(struct wr_plan_draft *d, enum wr_plan_key key, double value,
                  const char *why, weir_err *err)
{
    const struct wr_plan_saying who = {why, WR_PLAN_ASSUMED};

    return known(d, key) ? 0 : wr_plan_say(d, &who, key, value, err);
}

static int missing(const char *what, weir_err *err)
{
    return wr_fail(err, WEIR_EINVAL, "%s", what);
}

/* --- the parts --- */

/* What nobody says is one, or as the pipeline has it. */
static int assume_counts(struct wr_plan_draft *d, weir_err *err)
{
    static const struct {
        enum wr_plan_key key;
        double value;
        const char *why;
    } usual[] = {
        {WR_PLAN_K_NODES, 1, "one"},
        {WR_PLAN_K_GPUS, 1, "one"},
        {WR_PLAN_K_BATCH, 64, "the pipeline's default"},
        {WR_PLAN_K_DEPTH, 32, "the pipeline's default"},
        {WR_PLAN_K_PREFETCH, 1, "the pipeline's default"},
        {WR_PLAN_K_EPOCHS, 1, "one"},
        {WR_PLAN_K_PER_OBJECT, 1, "a file for each sample"},
    };
    int r = 0;

    for (size_t k = 0; k < WR_ARRAY_LEN(usual) && r == 0; k++)
        r = assume(d, usual[k].key, usual[k].value, usual[k].why, err);
    return r;
}

/* Workers of a node: what is said of each accelerator times their number, if
 * that is known better than anything else. */
static int finish_workers(struct wr_plan_draft *d, weir_err *err)
{
    const struct wr_plan_fact *each = &d->facts[WR_PLAN_K_WORKERS_EACH];
    const struct wr_plan_fact *all = &d->facts[WR_PLAN_K_WORKERS];
    char source[sizeof(each->source) + 40];
    struct wr_plan_saying who = {source, each->rank};
    int r = 0;

    if (each->known && (!all->known || all->rank < each->rank)) {
        snprintf(source, sizeof(source), "%s: %g per accelerator", each->source,
                 d->workers_each);
        r = wr_plan_say(d, &who, WR_PLAN_K_WORKERS,
                        d->workers_each * d->plan.compute.accelerators, err);
    }
    if (r == 0 && known(d, WR_PLAN_K_WORKERS))
        r = assume(d, WR_PLAN_K_CORES, d->plan.loader.workers,
                   "one for each worker", err);
    if (r == 0 && !known(d, WR_PLAN_K_CORES))
        return missing("cores: how many has a node? --cores N, --threads N, or "
                       "a record of weir bench",
                       err);
    if (r == 0)
        r = assume(d, WR_PLAN_K_WORKERS, d->plan.loader.cores,
                   "one for each core", err);
    return r;
}

/* Time of a step with this batch, if it was known for another one. */
static int finish_step(struct wr_plan_draft *d, weir_err *err)
{
    const struct wr_plan_fact *f = &d->facts[WR_PLAN_K_STEP];
    double batch = d->plan.compute.batch, s = d->plan.compute.step_s.mean;
    char source[sizeof(f->source) + 60];
    const struct wr_plan_saying who = {source, f->rank};

    if (!f->known)
        return missing("the accelerator: how long does a step take? "
                       "--accelerator NAME, or ms=MS",
                       err);
    if (d->per_sample_s > 0 || d->fixed_s > 0) {
        s = d->fixed_s + d->per_sample_s * batch;
        if (d->batch_of_step <= 0 || d->batch_of_step == batch)
            snprintf(source, sizeof(source), "%s", f->source);
        else
            snprintf(source, sizeof(source), "%.90s, from a batch of %g",
                     f->source, d->batch_of_step);
        return wr_plan_say(d, &who, WR_PLAN_K_STEP, s, err);
    }
    return 0;
}

static int finish_data(struct wr_plan_draft *d, weir_err *err)
{
    struct wr_plan *p = &d->plan;
    int r = 0;

    if (!known(d, WR_PLAN_K_BYTES))
        return missing(
            "bytes per sample: a record, a workload, --model NAME or "
            "--sample-bytes SIZE says them",
            err);
    if (!known(d, WR_PLAN_K_SAMPLES))
        r = assume(d, WR_PLAN_K_SAMPLES,
                   (double)STEPS * p->nodes * p->compute.accelerators *
                       p->compute.batch,
                   "as many as 1,000 steps take", err);
    if (r == 0 && !known(d, WR_PLAN_K_SEQUENTIAL))
        r = assume(d, WR_PLAN_K_SEQUENTIAL, 0, "shuffled", err);
    /* Many samples of one file in order come in large requests. */
    if (r == 0 && p->data.sequential && p->data.samples_per_object > 1)
        r = assume(d, WR_PLAN_K_UNIT, 1 << 20, "the pipeline's default", err);
    return r;
}

/* Pictures take the longer the larger they are. */
static int finish_cpu(struct wr_plan_draft *d, weir_err *err)
{
    struct wr_plan *p = &d->plan;
    int r = assume(d, WR_PLAN_K_CPU, COPY_S_PER_BYTE * p->data.bytes.mean,
                   "0.33 s per GB, as weir run takes to read and copy", err);

    if (r == 0)
        r = assume(d, WR_PLAN_K_CPU_CV,
                   p->loader.in_place ? 0 : p->data.bytes.cv,
                   "as the bytes have", err);
    return r;
}

static int finish_saves(struct wr_plan_draft *d, weir_err *err)
{
    struct wr_plan *p = &d->plan;
    int r = 0;

    if (p->save.way == WR_PLAN_NO_SAVES)
        return 0;
    if (!known(d, WR_PLAN_K_STATE))
        return missing("saves: how many bytes? --state-bytes SIZE", err);
    if (!known(d, WR_PLAN_K_EVERY))
        return missing("saves: how often? --save-every N", err);
    if (!known(d, WR_PLAN_K_SLOW)) {
        const struct wr_plan_saying who = {"where the data lies",
                                           WR_PLAN_ASSUMED};

        r = wr_plan_say_profile(d, &who, WR_PLAN_K_SLOW, &p->storage.profile,
                                err);
        p->save.on_input = true;
    }
    if (r == 0 && p->save.way == WR_PLAN_BURST && !known(d, WR_PLAN_K_FAST))
        return missing("saves: what is the fast tier of the burst buffer? "
                       "--fast-device PROFILE",
                       err);
    if (r == 0 && p->save.way == WR_PLAN_ASYNC) {
        const struct wr_plan_saying who = {"the copy waits in memory",
                                           WR_PLAN_ASSUMED};
        struct wr_device_profile memory;

        wr_plan_memory_profile(&memory);
        r = assume(d, WR_PLAN_K_COPY, COPY_RATE, "a usual one", err);
        if (r == 0 && !known(d, WR_PLAN_K_FAST))
            r = wr_plan_say_profile(d, &who, WR_PLAN_K_FAST, &memory, err);
    }
    return r;
}

/* Something that is drawn has a law; one that does not vary is fixed. */
static void set_law(struct wr_plan_draw *draw)
{
    draw->law = draw->cv > 0 ? WR_PLAN_LOGNORMAL : WR_PLAN_FIXED;
}

int wr_plan_draft_finish(struct wr_plan_draft *d, weir_err *err)
{
    struct wr_plan *p = &d->plan;
    int r = assume_counts(d, err);

    if (r == 0)
        r = finish_step(d, err);
    if (r == 0)
        r = finish_data(d, err);
    if (r == 0 && !known(d, WR_PLAN_K_STORAGE))
        r = missing("storage: what is it? --storage PROFILE, or a record of "
                    "weir probe",
                    err);
    if (r == 0)
        r = finish_workers(d, err);
    if (r == 0)
        r = finish_cpu(d, err);
    if (r == 0)
        r = finish_saves(d, err);
    if (r < 0)
        return r;
    set_law(&p->data.bytes);
    set_law(&p->loader.cpu_s);
    set_law(&p->loader.batch_cpu_s);
    set_law(&p->compute.step_s);
    return wr_plan_check(p, err);
}
