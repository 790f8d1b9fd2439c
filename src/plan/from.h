/* from.h - where the numbers of a plan come from.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A draft is a plan that is being put together from records, descriptions,
 * tables and options. Each number that goes into it is a fact with its source.
 * What ranks higher wins, in whatever order inputs come; of two with the same
 * rank the later one does, and its source names the other. Inputs that cannot be
 * about the same training (two data sets) are refused. */
#ifndef WR_PLAN_FROM_H
#define WR_PLAN_FROM_H

#include <jansson.h>

#include "plan/plan.h"
#include "workload/workload.h"

enum wr_plan_rank {
    WR_PLAN_ASSUMED,   /* a default, or a guess from something else */
    WR_PLAN_TABLED,    /* models.h, measure/accelerator.h */
    WR_PLAN_DESCRIBED, /* a workload */
    WR_PLAN_MEASURED,  /* a record */
    WR_PLAN_GIVEN,     /* an option */
};

/* Everything that can be said of a plan. */
enum wr_plan_key {
    WR_PLAN_K_SAMPLES,
    WR_PLAN_K_BYTES,
    WR_PLAN_K_BYTES_CV,
    WR_PLAN_K_PER_OBJECT,
    WR_PLAN_K_SEQUENTIAL,
    WR_PLAN_K_UNIT,
    WR_PLAN_K_SHUFFLED,
    WR_PLAN_K_TENSOR_BYTES,
    WR_PLAN_K_STORAGE, /* a text, as those that follow it here */
    WR_PLAN_K_SHARED,
    WR_PLAN_K_CLIENT,
    WR_PLAN_K_OPENS,
    WR_PLAN_K_VARY,
    WR_PLAN_K_LOADER, /* text */
    WR_PLAN_K_WORKERS,
    WR_PLAN_K_WORKERS_EACH, /* of each accelerator's input */
    WR_PLAN_K_DEPTH,
    WR_PLAN_K_PREFETCH,
    WR_PLAN_K_IN_PLACE,
    WR_PLAN_K_CPU,
    WR_PLAN_K_CPU_CV,
    WR_PLAN_K_CPU_FAST,
    WR_PLAN_K_BATCH_CPU,
    WR_PLAN_K_CORES,
    WR_PLAN_K_ACCELERATOR, /* text */
    WR_PLAN_K_GPUS,
    WR_PLAN_K_BATCH,
    WR_PLAN_K_STEP,
    WR_PLAN_K_STEP_CV,
    WR_PLAN_K_REDUCE,
    WR_PLAN_K_CACHE,
    WR_PLAN_K_CACHE_DECODED,
    WR_PLAN_K_SAVES, /* text */
    WR_PLAN_K_EVERY,
    WR_PLAN_K_STATE,
    WR_PLAN_K_SLOW, /* text */
    WR_PLAN_K_FAST, /* text */
    WR_PLAN_K_COPY,
    WR_PLAN_K_KEPT,
    WR_PLAN_K_MTBF,
    WR_PLAN_K_RESTART,
    WR_PLAN_K_NODES,
    WR_PLAN_K_EPOCHS,
    WR_PLAN_K_STEPS,
    WR_PLAN_K_EVAL_STEPS,
    WR_PLAN_K_EVAL,
    WR_PLAN_K_SEED,
    WR_PLAN_KEYS
};

struct wr_plan_fact {
    bool known;
    enum wr_plan_rank rank;
    double number; /* NaN: it is a text */
    char value[120];
    char source[260];
};

struct wr_plan_draft {
    struct wr_plan plan;
    struct wr_plan_fact facts[WR_PLAN_KEYS];
    double workers_each;
    /* Time of a step by the number of samples, if it is known so. */
    double fixed_s, per_sample_s;
    double batch_of_step; /* samples of the step whose time is known; 0: any */
};

void wr_plan_draft_init(struct wr_plan_draft *d);

const char *wr_plan_key_name(enum wr_plan_key key); /* "bytes per sample" */

/* Who says it. */
struct wr_plan_saying {
    const char *source; /* "'bench.json'", "--threads" */
    enum wr_plan_rank rank;
};

/* A number: NaN and infinities are not said at all, unless an option gives them.
 * WEIR_EINVAL: it cannot be (negative, a part of a sample), or contradicts
 * another input. */
int wr_plan_say(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                enum wr_plan_key key, double value, weir_err *err);

/* One after the other, until one is refused. */
struct wr_plan_said {
    enum wr_plan_key key;
    double value;
};
int wr_plan_say_all(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                    const struct wr_plan_said *list, size_t count,
                    weir_err *err);

/* A text: 1, the caller is to set what it stands for; 0, something better is
 * known. */
int wr_plan_say_text(struct wr_plan_draft *d, const struct wr_plan_saying *who,
                     enum wr_plan_key key, const char *value, weir_err *err);

/* The profile of one of the three places, under the name that it has. */
int wr_plan_say_profile(struct wr_plan_draft *d,
                        const struct wr_plan_saying *who, enum wr_plan_key key,
                        const struct wr_device_profile *p, weir_err *err);

/* Memory: answers at once. */
void wr_plan_memory_profile(struct wr_device_profile *ret);

/* The device that a URL has emulated: "hdd" of "emu:hdd:/data", a .profile file
 * too. 1: into *ret; 0: it is a real one. */
int wr_plan_emulated(const char *url, struct wr_device_profile *ret,
                     weir_err *err);

/* --- inputs --- */

struct wr_plan_record {
    const char *name;   /* of the file, for messages and sources */
    const json_t *json; /* checked by wr_record_load */
    size_t wanted_case; /* of a benchmark, from 1; 0: the fastest */
};

/* Any record that says something of a plan; the message names those. */
int wr_plan_from_record(struct wr_plan_draft *d, const struct wr_plan_record *r,
                        weir_err *err);

/* A description, whose accelerators the draft has; `name` for sources. */
int wr_plan_from_workload(struct wr_plan_draft *d, const struct wr_workload *w,
                          const char *name, weir_err *err);

/* Fills in what is assumed, and what follows from the rest; names what is
 * missing (WEIR_EINVAL). The plan is checked then. */
int wr_plan_draft_finish(struct wr_plan_draft *d, weir_err *err);

#endif
