/* draft.c - a plan that is put together, and where its numbers come from.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"
#include "plan/from.h"
#include "result/get.h"

/* How a number is shown. */
enum key_unit { COUNT, BYTES, RATE, SECONDS, SHARE, PLAIN, YES_NO, TEXT };

/* How it is kept. */
enum key_type { U32, U64, DOUBLE, BOOL, NOWHERE };

struct key_row {
    const char *name;
    enum key_unit unit;
    enum key_type type;
    size_t offset; /* in struct wr_plan */
    bool same;     /* two inputs must agree on it */
};

#define AT(field) offsetof(struct wr_plan, field)
static const struct key_row keys[WR_PLAN_KEYS] = {
    [WR_PLAN_K_SAMPLES] = {"samples", COUNT, U64, AT(data.samples), true},
    [WR_PLAN_K_BYTES] = {"bytes per sample", BYTES, DOUBLE, AT(data.bytes.mean),
                         true},
    [WR_PLAN_K_BYTES_CV] = {"deviation of the bytes", PLAIN, DOUBLE,
                            AT(data.bytes.cv), false},
    [WR_PLAN_K_PER_OBJECT] = {"samples per file", COUNT, U64,
                              AT(data.samples_per_object), false},
    [WR_PLAN_K_SEQUENTIAL] = {"read in order", YES_NO, BOOL,
                              AT(data.sequential), false},
    [WR_PLAN_K_UNIT] = {"bytes per request", BYTES, U64, AT(data.unit_bytes),
                        false},
    [WR_PLAN_K_SHUFFLED] = {"requests in any order", YES_NO, BOOL,
                            AT(data.shuffled_units), false},
    [WR_PLAN_K_TENSOR_BYTES] = {"bytes of a decoded sample", BYTES, DOUBLE,
                                AT(data.tensor_bytes), false},
    [WR_PLAN_K_STORAGE] = {"storage", TEXT, NOWHERE, 0, false},
    [WR_PLAN_K_SHARED] = {"storage shared by all nodes", YES_NO, BOOL,
                          AT(storage.shared), false},
    [WR_PLAN_K_CLIENT] = {"limit of a node", RATE, DOUBLE,
                          AT(storage.client_bytes_per_s), false},
    [WR_PLAN_K_OPENS] = {"opens per second", PLAIN, DOUBLE,
                         AT(storage.opens_per_s), false},
    [WR_PLAN_K_VARY] = {"variation of the storage", PLAIN, DOUBLE,
                        AT(storage.vary), false},
    [WR_PLAN_K_LOADER] = {"loader", TEXT, NOWHERE, 0, false},
    [WR_PLAN_K_WORKERS] = {"workers", COUNT, U32, AT(loader.workers), false},
    [WR_PLAN_K_WORKERS_EACH] = {"workers per accelerator", COUNT, NOWHERE, 0,
                                false},
    [WR_PLAN_K_DEPTH] = {"depth", COUNT, U32, AT(loader.depth), false},
    [WR_PLAN_K_PREFETCH] = {"prefetch", COUNT, U32, AT(loader.prefetch), false},
    [WR_PLAN_K_IN_PLACE] = {"read into the batch", YES_NO, BOOL,
                            AT(loader.in_place), false},
    [WR_PLAN_K_CPU] = {"CPU time per sample", SECONDS, DOUBLE,
                       AT(loader.cpu_s.mean), false},
    [WR_PLAN_K_CPU_CV] = {"deviation of the CPU time", PLAIN, DOUBLE,
                          AT(loader.cpu_s.cv), false},
    [WR_PLAN_K_CPU_FAST] = {"CPU time with the fast decoder", SECONDS, DOUBLE,
                            AT(loader.fast_cpu_s), false},
    [WR_PLAN_K_BATCH_CPU] = {"CPU time per batch", SECONDS, DOUBLE,
                             AT(loader.batch_cpu_s.mean), false},
    [WR_PLAN_K_CORES] = {"cores", COUNT, U32, AT(loader.cores), false},
    [WR_PLAN_K_ACCELERATOR] = {"accelerator", TEXT, NOWHERE, 0, false},
    [WR_PLAN_K_GPUS] = {"accelerators per node", COUNT, U32,
                        AT(compute.accelerators), false},
    [WR_PLAN_K_BATCH] = {"batch", COUNT, U32, AT(compute.batch), false},
    [WR_PLAN_K_STEP] = {"time per step", SECONDS, DOUBLE,
                        AT(compute.step_s.mean), false},
    [WR_PLAN_K_STEP_CV] = {"deviation of the step", PLAIN, DOUBLE,
                           AT(compute.step_s.cv), false},
    [WR_PLAN_K_REDUCE] = {"all-reduce", SECONDS, DOUBLE, AT(compute.reduce_s),
                          false},
    [WR_PLAN_K_CACHE] = {"cached from the second epoch on", SHARE, DOUBLE,
                         AT(cache.share), false},
    [WR_PLAN_K_CACHE_DECODED] = {"cached decoded", YES_NO, BOOL,
                                 AT(cache.decoded), false},
    [WR_PLAN_K_SAVES] = {"saves", TEXT, NOWHERE, 0, false},
    [WR_PLAN_K_EVERY] = {"steps between saves", COUNT, U64, AT(save.every),
                         false},
    [WR_PLAN_K_STATE] = {"bytes of a save", BYTES, DOUBLE, AT(save.bytes),
                         false},
    [WR_PLAN_K_SLOW] = {"slow tier", TEXT, NOWHERE, 0, false},
    [WR_PLAN_K_FAST] = {"fast tier", TEXT, NOWHERE, 0, false},
    [WR_PLAN_K_COPY] = {"copy in memory", RATE, DOUBLE,
                        AT(save.copy_bytes_per_s), false},
    [WR_PLAN_K_KEPT] = {"saves that the fast tier holds", COUNT, U32,
                        AT(save.kept), false},
    [WR_PLAN_K_MTBF] = {"time between failures of a node", SECONDS, DOUBLE,
                        AT(failure.node_mtbf_s), false},
    [WR_PLAN_K_RESTART] = {"restart", SECONDS, DOUBLE, AT(failure.restart_s),
                           false},
    [WR_PLAN_K_NODES] = {"nodes", COUNT, U32, AT(nodes), false},
    [WR_PLAN_K_EPOCHS] = {"epochs", COUNT, U32, AT(epochs), false},
    [WR_PLAN_K_STEPS] = {"steps of an epoch at most", COUNT, U64, AT(max_steps),
                         false},
    [WR_PLAN_K_EVAL_STEPS] = {"steps of an evaluation", COUNT, U64,
                              AT(eval_steps), false},
    [WR_PLAN_K_EVAL] = {"time of an evaluation step", SECONDS, DOUBLE,
                        AT(eval_s), false},
    [WR_PLAN_K_SEED] = {"seed", PLAIN, U64, AT(seed), false},
};
#undef AT

void wr_plan_draft_init(struct wr_plan_draft *d)
{
    memset(d, 0, sizeof(*d));
    wr_plan_defaults(&d->plan);
}

const char *wr_plan_key_name(enum wr_plan_key key)
{
    return (unsigned)key < WR_PLAN_KEYS ? keys[key].name : "";
}

/* --- one fact --- */

static void show(const struct key_row *k, double x, char *buf, size_t cap)
{
    char text[40];

    switch (k->unit) {
    case COUNT:
        wr_format_count(buf, cap, (uint64_t)x);
        break;
    case BYTES:
        wr_format_bytes(buf, cap, x);
        break;
    case RATE:
        snprintf(buf, cap, "%s/s", wr_format_bytes(text, sizeof(text), x));
        break;
    case SECONDS:
        if (x >= 3600)
            snprintf(buf, cap, "%.4g h", x / 3600);
        else
            wr_format_ns(buf, cap, x * 1e9);
        break;
    case SHARE:
        snprintf(buf, cap, "%.4g %%", 100 * x);
        break;
    case YES_NO:
        snprintf(buf, cap, "%s", x != 0 ? "yes" : "no");
        break;
    case PLAIN:
    case TEXT:
        snprintf(buf, cap, "%.4g", x);
        break;
    }
}

static bool differs(const struct wr_plan_fact *f, double number,
                    const char *text)
{
    return isnan(number) ? strcmp(f->value, text) != 0
                         : fabs(f->number - number) > 1e-3 * fabs(number);
}

/* 1: the new one holds. */
static int settle(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                  enum wr_plan_key key, double number, const char *text,
                  weir_err *err)
{
    struct wr_plan_fact *f = &d->facts[key];
    char over[90] = "";

    if (f->known && f->rank > who->rank)
        return 0;
    if (f->known && f->rank == who->rank && differs(f, number, text)) {
        if (keys[key].same && who->rank >= WR_PLAN_DESCRIBED)
            return wr_fail(err, WEIR_EINVAL,
                           "%s: %s of %s, but %s of %s: these are not about "
                           "the same data",
                           keys[key].name, text, who->source, f->value,
                           f->source);
        if (who->rank != WR_PLAN_ASSUMED)
            snprintf(over, sizeof(over), " (instead of %.60s)", f->value);
    }
    f->known = true;
    f->rank = who->rank;
    f->number = number;
    snprintf(f->value, sizeof(f->value), "%s", text);
    snprintf(f->source, sizeof(f->source), "%.160s%s", who->source, over);
    return 1;
}

static void put(struct wr_plan *p, const struct key_row *k, double x)
{
    char *field = (char *)p + k->offset;

    switch (k->type) {
    case U32:
        *(uint32_t *)(void *)field = (uint32_t)x;
        break;
    case U64:
        *(uint64_t *)(void *)field = (uint64_t)x;
        break;
    case DOUBLE:
        *(double *)(void *)field = x;
        break;
    case BOOL:
        *(bool *)(void *)field = x != 0;
        break;
    case NOWHERE:
        break;
    }
}

static int check_number(const struct key_row *k,
                        const struct wr_plan_saying *who, double x,
                        weir_err *err)
{
    bool whole = k->type == U32 || k->type == U64;

    if (!isfinite(x) || x < 0)
        return wr_fail(err, WEIR_EINVAL,
                       "%s: %s: %g: a number that is not negative is needed",
                       who->source, k->name, x);
    if (whole &&
        (x > (k->type == U32 ? (double)UINT32_MAX : 0x1p53) || x != floor(x)))
        return wr_fail(err, WEIR_EINVAL, "%s: %s: %g: a whole number is needed",
                       who->source, k->name, x);
    return 0;
}

int wr_plan_say(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                enum wr_plan_key key, double value, weir_err *err)
{
    const struct key_row *k = &keys[key];
    char text[64];
    int r;

    if (!isfinite(value) && who->rank != WR_PLAN_GIVEN)
        return 0;
    r = check_number(k, who, value, err);
    if (r < 0)
        return r;
    show(k, value, text, sizeof(text));
    r = settle(d, who, key, value, text, err);
    if (r <= 0)
        return r;
    put(&d->plan, k, value);
    if (key == WR_PLAN_K_WORKERS_EACH)
        d->workers_each = value;
    return 0;
}

int wr_plan_say_all(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                    const struct wr_plan_said *list, size_t count,
                    weir_err *err)
{
    int r = 0;

    for (size_t k = 0; k < count && r == 0; k++)
        r = wr_plan_say(d, who, list[k].key, list[k].value, err);
    return r;
}

int wr_plan_say_text(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                     enum wr_plan_key key, const char *value, weir_err *err)
{
    return settle(d, who, key, NAN, value, err);
}

/* --- profiles --- */

/* Made from numbers of a file: within the limits that a profile file has. */
static int check_profile(const struct wr_device_profile *p, const char *source,
                         weir_err *err)
{
    char *text = wr_device_profile_text(p);
    struct wr_device_profile same;
    int r = text ? wr_device_profile_parse(text, strlen(text), source, &same,
                                           err)
                 : wr_fail(err, WEIR_ENOMEM, "out of memory");

    free(text);
    return r == WEIR_EFORMAT ? WEIR_EINVAL : r;
}

int wr_plan_say_profile(struct wr_plan_draft *d,
                        const struct wr_plan_saying *who, enum wr_plan_key key,
                        const struct wr_device_profile *p, weir_err *err)
{
    int r = check_profile(p, who->source, err);

    if (r == 0)
        r = wr_plan_say_text(d, who, key, p->name, err);
    if (r <= 0)
        return r;
    if (key == WR_PLAN_K_SLOW)
        d->plan.save.slow = *p;
    else if (key == WR_PLAN_K_FAST)
        d->plan.save.fast = *p;
    else
        d->plan.storage.profile = *p;
    return 0;
}

void wr_plan_memory_profile(struct wr_device_profile *ret)
{
    *ret = (struct wr_device_profile){.name = "page cache",
                                      .title = "memory: answers at once"};
}

int wr_plan_emulated(const char *url, struct wr_device_profile *ret,
                     weir_err *err)
{
    static const char word[] = "emulated ";
    char name[256];
    int r;

    if (!wr_emulated(url, name, sizeof(name)))
        return 0;
    r = wr_device_profile_find(name + sizeof(word) - 1, ret, err);
    return r < 0 ? r : 1;
}

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
