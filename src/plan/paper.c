/* paper.c - the plans of the TensorFlow I/O paper, from its own numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/paper.h"

#include <math.h>
#include <string.h>

#include "plan/node.h"

#define BATCH         64
#define IMAGENET_FILE 112e3
#define CALTECH_FILE  14e3
#define STATE_BYTES   600e6
#define STEP_S        1.5 /* of a K4000 */
#define DECODE_S                                                               \
    12e-3 /* of a small picture, by TensorFlow 1.10 on a core
                               of 2.5 GHz: an assumption */
#define CORES 8

/* Threads of tf.data: each reads and decodes one file at a time. */
static int plan_of(const char *device, uint32_t threads, double file,
                   uint64_t steps, struct wr_plan *p, weir_err *err)
{
    wr_plan_defaults(p);
    p->data.bytes.mean = file;
    p->data.samples = steps * BATCH;
    p->compute.batch = BATCH;
    p->loader.workers = threads;
    p->loader.depth = 1;
    p->loader.cores = CORES;
    return wr_device_profile_find(device, &p->storage.profile, err);
}

static int simulate(const struct wr_plan *p, struct wr_plan_result *ret,
                    weir_err *err)
{
    const struct wr_plan_how how = {0};
    int r = wr_plan_check(p, err);

    return r < 0 ? r : wr_plan_node(p, &how, ret, err);
}

double wr_paper_read_rate(const char *device, uint32_t threads, weir_err *err)
{
    struct wr_plan_result result;
    struct wr_plan p;
    double rate = NAN;

    if (plan_of(device, threads, IMAGENET_FILE, 256, &p, err) == 0 &&
        simulate(&p, &result, err) == 0) {
        rate = result.samples_per_s;
        wr_plan_result_done(&result);
    }
    return rate;
}

double wr_paper_run(const char *device, uint32_t threads, uint32_t prefetch,
                    weir_err *err)
{
    struct wr_plan_result result;
    struct wr_plan p;
    double seconds = NAN;

    if (plan_of(device, threads, CALTECH_FILE, 142, &p, err) < 0)
        return NAN;
    p.loader.prefetch = prefetch;
    p.loader.cpu_s.mean = DECODE_S;
    p.compute.step_s.mean = STEP_S;
    if (simulate(&p, &result, err) == 0) {
        seconds = result.seconds;
        wr_plan_result_done(&result);
    }
    return seconds;
}

int wr_paper_saving(const char *to, double saver_s, struct wr_paper_saves *ret,
                    weir_err *err)
{
    bool burst = !strcmp(to, "burst");
    struct wr_plan_result result;
    struct wr_plan p;
    int r = plan_of("ssd", 4, CALTECH_FILE, 100, &p, err);

    p.loader.cpu_s.mean = DECODE_S;
    p.compute.step_s.mean = STEP_S;
    p.save = (struct wr_plan_save){.way = burst ? WR_PLAN_BURST
                                                : WR_PLAN_DIRECT,
                                   .every = 20,
                                   .bytes = STATE_BYTES,
                                   .own_s = saver_s};
    if (r == 0)
        r = wr_device_profile_find(burst ? "hdd" : to, &p.save.slow, err);
    if (r == 0 && burst)
        r = wr_device_profile_find("optane", &p.save.fast, err);
    if (r == 0)
        r = simulate(&p, &result, err);
    if (r < 0)
        return r;
    *ret = (struct wr_paper_saves){.run_s = result.seconds,
                                   .stall_s = result.save_stall_s};
    wr_plan_result_done(&result);
    return 0;
}
