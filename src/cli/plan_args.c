/* plan_args.c - the settings of `weir plan`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/plan_args.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"

enum plan_loader { LOADER_WEIR, LOADER_TF, LOADER_TORCH };

static const struct wr_choice loader_choices[] = {
    {"weir", LOADER_WEIR, "workers share batches, with many reads in flight"},
    {"tf.data", LOADER_TF, "workers share batches, one read at a time each"},
    {"pytorch", LOADER_TORCH,
     "DataLoader: each worker loads whole batches, which come in order"},
    {NULL, 0, NULL}};

static const struct wr_choice save_choices[] = {
    {"none", WR_PLAN_NO_SAVES, "nothing is saved"},
    {"direct", WR_PLAN_DIRECT, "training waits until the slow tier has it"},
    {"burst", WR_PLAN_BURST, "until the fast tier has it"},
    {"async", WR_PLAN_ASYNC, "until it is copied in memory"},
    {NULL, 0, NULL}};

/* An option that is a fact of the plan, in units of the draft. */
#define FACT(id, one) .key = WR_PLAN_K_##id, .unit = (one)
#define A             struct plan_args
const struct wr_option wr_plan_options[] = {
    {WR_OPT_STRING(A, model), .name = "model", .arg = "NAME",
     .group = "The training",
     .help = "resnet50, alexnet, unet3d, cosmoflow or bert: its samples, "
             "steps and state"},
    {WR_OPT_STRING(A, accelerator), .name = "accelerator", .arg = "NAME",
     .help = "K4000, K80, P100, V100, V100-fp16, A100, H100, B200 (those that "
             "the model has), or ms=MS for a step of MS milliseconds"},
    {WR_OPT_DOUBLE(A, step_ms), .name = "step-ms", .arg = "MS", .max = 1e6,
     .help = "the same as --accelerator ms=MS"},
    {WR_OPT_UINT(A, gpus), FACT(GPUS, 1), .name = "accelerators", .old = "gpus",
     .letter = 'g', .arg = "N", .min = 1, .max = 1024,
     .def_note = "1, or as measured", .help = "accelerators of a node"},
    {WR_OPT_UINT(A, nodes), FACT(NODES, 1), .name = "nodes", .arg = "N",
     .min = 1, .max = 1e6, .def_note = "1", .help = "nodes"},
    {WR_OPT_UINT(A, batch), FACT(BATCH, 1), .name = "batch", .letter = 'b',
     .arg = "N", .min = 1, .max = 1 << 20,
     .def_note = "as measured or described, or 64",
     .help = "samples of one accelerator's step"},
    {WR_OPT_DOUBLE(A, step_cv), FACT(STEP_CV, 1), .name = "step-cv", .arg = "F",
     .max = 100, .def_note = "0, or as described",
     .help = "how much steps vary: their deviation over their mean"},
    {WR_OPT_DOUBLE(A, reduce_ms), FACT(REDUCE, 1e-3), .name = "reduce-ms",
     .arg = "MS", .max = 1e7, .def_note = "0",
     .help = "all-reduce at the end of each step"},
    {WR_OPT_UINT(A, epochs), FACT(EPOCHS, 1), .name = "epochs", .arg = "N",
     .min = 1, .max = 1 << 20, .def_note = "1, or as described",
     .help = "epochs"},
    {WR_OPT_UINT(A, steps), FACT(STEPS, 1), .name = "steps", .arg = "N",
     .min = 1, .max = 1e8, .def_note = "as the samples give",
     .help = "steps of an epoch at most"},

    {WR_OPT_UINT(A, samples), FACT(SAMPLES, 1), .name = "samples",
     .letter = 'n', .arg = "N", .min = 1, .max = 1e15,
     .def_note = "of the input", .group = "The data",
     .help = "samples of an epoch"},
    {WR_OPT_SIZE(A, sample_bytes), FACT(BYTES, 1), .name = "sample-bytes",
     .arg = "SIZE", .min = 1, .def_note = "of the input",
     .help = "mean stored bytes of one"},
    {WR_OPT_DOUBLE(A, sample_cv), FACT(BYTES_CV, 1), .name = "sample-cv",
     .arg = "F", .max = 100, .def_note = "of the input",
     .help = "how much they vary: their deviation over their mean"},
    {WR_OPT_UINT(A, per_file), FACT(PER_OBJECT, 1), .name = "samples-per-file",
     .arg = "N", .min = 1, .max = 1e12, .def_note = "of the input, or 1",
     .help = "1: each sample is a file that is opened for it"},
    {WR_OPT_FLAG(A, sequential), .name = "sequential",
     .help = "samples are read in order"},

    {WR_OPT_STRING(A, storage), .name = "storage", .arg = "PROFILE",
     .flags = WR_OPTION_PATH, .group = "The storage",
     .def_note = "of the input",
     .help = "hdd, ssd, optane, nvme, lustre, nfs, or a .profile file of weir "
             "probe --fit"},
    {WR_OPT_FLAG(A, shared), .name = "shared",
     .help = "all nodes share it, else each has its own"},
    {WR_OPT_SIZE(A, aggregate), .store = WR_VALUE_RATE, .name = "aggregate",
     .arg = "RATE", .min = 1000,
     .help = "bytes per second that it delivers to all nodes together; it is "
             "shared then"},
    {WR_OPT_SIZE(A, client_limit), .store = WR_VALUE_RATE, FACT(CLIENT, 1),
     .name = "client-limit", .arg = "RATE", .min = 1000,
     .help = "bytes per second that a node gets at most"},
    {WR_OPT_DOUBLE(A, opens), FACT(OPENS, 1), .name = "opens", .arg = "N",
     .max = 1e12, .help = "files that all nodes together can open per second"},
    {WR_OPT_DOUBLE(A, vary), FACT(VARY, 1), .name = "jitter", .arg = "F",
     .max = 100, .def_note = "0",
     .help = "how much its times vary: their deviation over their mean"},
    {WR_OPT_STRING(A, cache), .name = "cached", .arg = "SHARE|SIZE",
     .def_note = "nothing",
     .help = "kept in memory from the second epoch on: a part of the data "
             "(0.5, 50%) or the bytes that a node has room for (200GiB)"},
    {WR_OPT_FLAG(A, cache_decoded), .name = "cached-decoded", .with = "cached",
     .help = "what is kept is decoded"},

    {WR_OPT_ENUM(A, loader), .name = "loader", .arg = "NAME",
     .choices = loader_choices, .def_note = "weir, or as described",
     .group = "The input", .help = "how workers divide the work"},
    {WR_OPT_UINT(A, workers), FACT(WORKERS, 1), .name = "threads",
     .old = "workers", .letter = 't', .arg = "N", .min = 1, .max = 4096,
     .def_note = "as measured, or one per core", .help = "workers of a node"},
    {WR_OPT_UINT(A, depth), FACT(DEPTH, 1), .name = "depth", .letter = 'd',
     .arg = "N", .min = 1, .max = 4096, .def_note = "as measured, or 32",
     .help = "reads in flight per worker"},
    {WR_OPT_UINT(A, prefetch), FACT(PREFETCH, 1), .name = "prefetch",
     .letter = 'p', .arg = "N", .max = 1024, .def_note = "as measured, or 1",
     .help = "finished batches kept ahead; of pytorch: batches per worker"},
    {WR_OPT_UINT(A, cores), FACT(CORES, 1), .name = "cores", .arg = "N",
     .min = 1, .max = 1 << 16, .def_note = "as measured, or one per worker",
     .help = "cores of a node"},
    {WR_OPT_DOUBLE(A, cpu_ms), FACT(CPU, 1e-3), .name = "cpu-ms", .arg = "MS",
     .max = 1e7, .def_note = "as measured",
     .help = "CPU time that one sample takes: decoding and all else"},
    {WR_OPT_DOUBLE(A, cpu_cv), FACT(CPU_CV, 1), .name = "cpu-cv", .arg = "F",
     .max = 100, .def_note = "as the bytes vary", .help = "how much it varies"},
    {WR_OPT_DOUBLE(A, fast_cpu_ms), FACT(CPU_FAST, 1e-3), .name = "fast-cpu-ms",
     .arg = "MS", .max = 1e7, .def_note = "as measured",
     .help = "the same with the fast decoder, for the table of changes"},
    {WR_OPT_DOUBLE(A, batch_cpu_ms), FACT(BATCH_CPU, 1e-3),
     .name = "batch-cpu-ms", .arg = "MS", .max = 1e7, .def_note = "0",
     .help = "CPU time that a batch takes besides"},
    {WR_OPT_UINT(A, wanted_case), .name = "case", .arg = "N", .min = 1,
     .max = 1e6, .def_note = "the fastest",
     .help = "of records of weir bench: which case describes the plan"},

    {WR_OPT_ENUM(A, save), .name = "save", .arg = "WAY",
     .choices = save_choices, .def_note = "none, or as described",
     .group = "Checkpoints", .help = "what training waits for"},
    {WR_OPT_UINT(A, every), FACT(EVERY, 1), .name = "save-every", .arg = "N",
     .min = 1, .max = 1e8, .def_note = "as described",
     .help = "steps between saves"},
    {WR_OPT_SIZE(A, state), FACT(STATE, 1), .name = "state-bytes",
     .arg = "SIZE", .min = 1, .def_note = "of the input or the model",
     .help = "bytes of a save, all "
             "nodes together"},
    {WR_OPT_STRING(A, slow), .name = "slow-device", .arg = "PROFILE",
     .flags = WR_OPTION_PATH, .def_note = "where the data lies",
     .help = "the slow tier, as --storage"},
    {WR_OPT_STRING(A, fast), .name = "fast-device", .arg = "PROFILE",
     .flags = WR_OPTION_PATH, .help = "the fast tier of a node"},
    {WR_OPT_SIZE(A, copy), .store = WR_VALUE_RATE, FACT(COPY, 1),
     .name = "copy", .arg = "RATE", .min = 1000,
     .def_note = "as measured, or 5GB/s",
     .help = "bytes per second that a node copies in memory"},
    {WR_OPT_UINT(A, kept), FACT(KEPT, 1), .name = "kept", .arg = "N",
     .max = 1e6, .def_note = "no limit",
     .help = "saves that the fast tier has room for"},
    {WR_OPT_DOUBLE(A, mtbf_h), FACT(MTBF, 3600), .name = "mtbf", .arg = "HOURS",
     .max = 1e8, .help = "mean time between failures of one node"},
    {WR_OPT_DOUBLE(A, restart_s), FACT(RESTART, 1), .name = "recovery",
     .with = "mtbf", .arg = "S", .max = 1e9, .def_note = "0",
     .help = "seconds until training goes on after a failure, "
             "without reading the state back"},

    {WR_OPT_DOUBLE(A, target), .name = "target", .arg = "AU", .max = 1,
     .def = "0.9", .group = "Questions",
     .help = "how many accelerators are fed so that they compute this part of "
             "the time; 0: do not ask"},
    {WR_OPT_UINT(A, most), .name = "most", .arg = "N", .min = 1, .max = 1024,
     .def = "128", .help = "try no more accelerators of a node than this"},
    {WR_OPT_FLAG(A, what_if), .name = "what-if", .def = "yes",
     .help = "do not try changes"},
    {WR_OPT_UINT_LIST(A, scale), .name = "try-nodes", .arg = "N,...", .min = 1,
     .max = 1e6, .help = "also with so many nodes, each with as many samples"},
    {WR_OPT_UINT(A, life), .name = "life", .arg = "N", .max = 1000, .def = "0",
     .help = "draw the life of the first N batches"},
    {WR_OPT_STRING(A, explain), .name = "stalls", .arg = "FILE",
     .flags = WR_OPTION_PATH,
     .help = "times of batches of any training (a log or CSV with lines "
             "\"batch, ms\"; -: standard input): why do they stall?"},
    {WR_OPT_FLAG(A, paper), .name = "paper",
     .help = "what the TensorFlow I/O paper found, simulated from its devices, "
             "beside its own numbers; nothing else is planned"},
    {WR_OPT_UINT(A, simulate), .name = "simulate-steps", .arg = "N", .min = 1,
     .max = 1e8, .def_note = "enough",
     .help = "simulate so many steps at most"},
    {WR_OPT_UINT(A, seed), FACT(SEED, 1), .name = "seed", .arg = "N",
     .def = "0",
     .help = "of all that is drawn: the same seed gives the same result"},

    {WR_OPT_RECORD(A), .group = "Results",
     .help = "write the record (JSON) to FILE, for weir report"},
    {WR_OPT_FLAG(A, json), .name = "json",
     .help = "print the record instead of the summary"},
    WR_OPTIONS_END};
#undef A
#undef FACT

/* --- options as facts --- */

static int say_numbers(const struct wr_cli *cli, struct wr_plan_draft *d,
                       weir_err *err)
{
    int r = 0;

    for (const struct wr_option *o = wr_plan_options; o->name && r == 0; o++) {
        const void *field = (const char *)cli->args + o->offset;
        char source[40];
        const struct wr_plan_saying who = {source, WR_PLAN_GIVEN};

        if (!o->unit || !wr_cli_given(cli, o->name))
            continue;
        snprintf(source, sizeof(source), "--%s", o->name);
        r = wr_plan_say(d, &who, (enum wr_plan_key)o->key,
                        o->unit * (o->type == WR_OPTION_DOUBLE
                                       ? *(const double *)field
                                       : (double)*(const uint64_t *)field),
                        err);
    }
    return r;
}

static int say_flag(struct wr_plan_draft *d, const char *option,
                    enum wr_plan_key key, bool value, weir_err *err)
{
    const struct wr_plan_saying who = {option, WR_PLAN_GIVEN};

    return wr_plan_say(d, &who, key, value, err);
}

static int say_flags(const struct wr_cli *cli, struct wr_plan_draft *d,
                     weir_err *err)
{
    const struct plan_args *a = cli->args;
    int r = 0;

    if (wr_cli_given(cli, "sequential"))
        r = say_flag(d, "--sequential", WR_PLAN_K_SEQUENTIAL, a->sequential,
                     err);
    if (r == 0 && a->aggregate)
        r = say_flag(d, "--aggregate", WR_PLAN_K_SHARED, true, err);
    else if (r == 0 && wr_cli_given(cli, "shared"))
        r = say_flag(d, "--shared", WR_PLAN_K_SHARED, a->shared, err);
    if (r == 0 && a->cache_decoded)
        r = say_flag(d, "--cached-decoded", WR_PLAN_K_CACHE_DECODED, true, err);
    return r;
}

static int say_profile(struct wr_plan_draft *d, const char *option,
                       const char *what, enum wr_plan_key key, weir_err *err)
{
    const struct wr_plan_saying who = {option, WR_PLAN_GIVEN};
    struct wr_device_profile p;
    int r;

    if (!what)
        return 0;
    r = wr_device_profile_find(what, &p, err);
    if (r < 0)
        return wr_fail_prefix(err, WEIR_EINVAL, "option %s", option);
    return wr_plan_say_profile(d, &who, key, &p, err);
}

/* What comes with a loader, unless it is given too. */
static int say_loader(const struct wr_cli *cli, struct wr_plan_draft *d,
                      weir_err *err)
{
    const struct plan_args *a = cli->args;
    const struct wr_plan_saying who = {"--loader", WR_PLAN_GIVEN};
    int r;

    if (!wr_cli_given(cli, "loader"))
        return 0;
    r = wr_plan_say_text(d, &who, WR_PLAN_K_LOADER,
                         loader_choices[a->loader].name, err);
    if (r < 0)
        return r;
    d->plan.loader.style = a->loader == LOADER_TORCH ? WR_PLAN_IN_TURNS
                                                     : WR_PLAN_TOGETHER;
    d->plan.loader.apart = a->loader == LOADER_TORCH; /* workers start anew */
    r = 0;
    if (a->loader != LOADER_WEIR && !wr_cli_given(cli, "depth"))
        r = wr_plan_say(d, &who, WR_PLAN_K_DEPTH, 1, err);
    if (r == 0 && a->loader == LOADER_TORCH && !wr_cli_given(cli, "prefetch"))
        r = wr_plan_say(d, &who, WR_PLAN_K_PREFETCH, 2, err);
    return r;
}

static int say_save(const struct wr_cli *cli, struct wr_plan_draft *d,
                    weir_err *err)
{
    const struct plan_args *a = cli->args;
    const struct wr_plan_saying who = {"--save", WR_PLAN_GIVEN};
    int r;

    if (!wr_cli_given(cli, "save"))
        return 0;
    r = wr_plan_say_text(d, &who, WR_PLAN_K_SAVES, save_choices[a->save].name,
                         err);
    d->plan.save.way = (enum wr_plan_way)a->save;
    return r < 0 ? r : 0;
}

int wr_plan_args_say(const struct wr_cli *cli, struct wr_plan_draft *d,
                     const struct wr_plan_model **ret_model, weir_err *err)
{
    const struct plan_args *a = cli->args;
    const struct wr_plan_model *m = NULL;
    char step[40] = "";
    int r = say_numbers(cli, d, err);

    if (r == 0)
        r = say_flags(cli, d, err);
    if (r == 0 && a->model) {
        m = wr_plan_model_find(a->model, err);
        r = m ? wr_plan_from_model(d, m, err)
              : wr_fail_prefix(err, WEIR_EINVAL, "option --model");
    }
    if (wr_cli_given(cli, "step-ms"))
        snprintf(step, sizeof(step), "ms=%.9g", a->step_ms);
    if (r == 0 && (a->accelerator || *step)) {
        r = wr_plan_from_accelerator(d, *step ? step : a->accelerator, m, err);
        if (r < 0)
            return wr_fail_prefix(err, WEIR_EINVAL, "option --accelerator");
    }
    if (r == 0)
        r = say_loader(cli, d, err);
    if (r == 0)
        r = say_save(cli, d, err);
    if (r == 0)
        r = say_profile(d, "--storage", a->storage, WR_PLAN_K_STORAGE, err);
    if (r == 0)
        r = say_profile(d, "--slow-device", a->slow, WR_PLAN_K_SLOW, err);
    if (r == 0)
        r = say_profile(d, "--fast-device", a->fast, WR_PLAN_K_FAST, err);
    if (r == 0)
        *ret_model = m;
    return r;
}

/* --- what needs the inputs --- */

/* A bandwidth for all: the profile's other numbers stay, but it has no end of
 * servers that work at once. */
static int say_aggregate(const struct plan_args *a, struct wr_plan_draft *d,
                         weir_err *err)
{
    const struct wr_plan_saying like = {"latencies as of a Lustre file system",
                                        WR_PLAN_ASSUMED};
    struct wr_device_profile p;
    char text[64];
    int r = 0;

    if (!a->aggregate)
        return 0;
    if (!d->facts[WR_PLAN_K_STORAGE].known) {
        r = wr_device_profile_find("lustre", &p, err);
        if (r == 0)
            r = wr_plan_say_profile(d, &like, WR_PLAN_K_STORAGE, &p, err);
        if (r < 0)
            return r;
    }
    d->plan.storage.profile.read_bytes_per_s = (double)a->aggregate;
    d->plan.storage.profile.write_bytes_per_s = (double)a->aggregate;
    d->plan.storage.profile.channels = 0;
    snprintf(d->facts[WR_PLAN_K_STORAGE].value,
             sizeof(d->facts[WR_PLAN_K_STORAGE].value), "%s, %s/s for all",
             d->plan.storage.profile.name,
             wr_format_bytes(text, sizeof(text), (double)a->aggregate));
    return r;
}

/* "0.5", "50%" or "200GiB". */
static int cache_share(const char *text, const struct wr_plan *p, double *ret,
                       weir_err *err)
{
    double all = (double)p->data.samples * p->data.bytes.mean;
    size_t len = strlen(text);
    uint64_t bytes;
    char part[32];

    if (len && len < sizeof(part) && text[len - 1] == '%') {
        snprintf(part, sizeof(part), "%.*s", (int)len - 1, text);
        if (wr_parse_double(part, 0, 100, ret, err) < 0)
            return WEIR_EINVAL;
        *ret /= 100;
        return 0;
    }
    if (wr_parse_double(text, 0, 1, ret, NULL) == 0)
        return 0;
    if (wr_parse_size(text, &bytes, err) < 0)
        return WEIR_EINVAL;
    if (!(all > 0))
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': a size needs the samples and their bytes", text);
    *ret = WR_MIN((double)bytes * p->nodes / all, 1);
    return 0;
}

int wr_plan_args_say_late(const struct wr_cli *cli, struct wr_plan_draft *d,
                          weir_err *err)
{
    const struct plan_args *a = cli->args;
    const struct wr_plan_saying who = {"--cached", WR_PLAN_GIVEN};
    double share = 0;
    int r = say_aggregate(a, d, err);

    if (r < 0 || !a->cache)
        return r;
    if (cache_share(a->cache, &d->plan, &share, err) < 0)
        return wr_fail_prefix(err, WEIR_EINVAL, "option --cached");
    return wr_plan_say(d, &who, WR_PLAN_K_CACHE, share, err);
}

/* --- what does not go together --- */

int wr_plan_args_check(const struct wr_cli *cli, weir_err *err)
{
    static const char *const of_saves[] = {"save-every", "kept", "fast-device",
                                           "copy"};
    const struct plan_args *a = cli->args;

    for (size_t k = 0; k < WR_ARRAY_LEN(of_saves); k++)
        if (wr_cli_given(cli, "save") && a->save == WR_PLAN_NO_SAVES &&
            wr_cli_given(cli, of_saves[k]))
            return wr_fail(err, WEIR_EINVAL,
                           "option --%s: with --save none nothing is saved",
                           of_saves[k]);
    if (a->accelerator && wr_cli_given(cli, "step-ms"))
        return wr_fail(err, WEIR_EINVAL,
                       "options --accelerator and --step-ms say the same");
    if (wr_cli_given(cli, "shared") && !a->shared && a->aggregate)
        return wr_fail(err, WEIR_EINVAL,
                       "option --aggregate is about storage that is shared");
    return 0;
}
