/* runkit.c - a small data set, and a description of it, for tests of runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runkit.h"

#include "gen/generate.h"

static const char description[] =
    "model: {name: kit}\n"
    "framework: pytorch\n"
    "workflow: {train: True}\n"
    "dataset: {format: npy, num_files_train: 12, num_samples_per_file: 8}\n"
    "reader: {data_loader: pytorch, batch_size: 4, sample_shuffle: seed}\n"
    "train: {epochs: 2}\n";

static int make_data(struct runkit *k)
{
    static struct wr_gen_result res;
    char target[PATH_MAX];
    struct wr_gen_config cfg = {
        .kind = "tensors",
        .to = "npy",
        .samples = KIT_SAMPLES,
        .samples_per_file = KIT_PER_FILE,
        .classes = 3,
        .threads = 1,
        .target = target,
        .shape = {.dtype = WEIR_U8, .ndim = 1, .dims = {300}}};

    snprintf(target, sizeof(target), "%s", scratch_at(k->scratch, "data"));
    return wr_gen_run(&cfg, &res, NULL) < 0
               ? -1
               : weir_dataset_open(&k->ds, target, NULL, NULL);
}

int runkit_setup(void **state)
{
    struct wr_comm_config cfg = {.world = 1};
    struct runkit *k = calloc(1, sizeof(*k));

    if (!k || scratch_setup((void **)&k->scratch) < 0)
        return -1;
    *state = k;
    if (make_data(k) < 0 || wr_comm_open(&cfg, &k->alone, NULL) < 0)
        return -1;
    return wr_workload_parse("kit", description, strlen(description), NULL, 0,
                             NULL, NULL, &k->w, NULL);
}

int runkit_teardown(void **state)
{
    struct runkit *k = *state;

    wr_workload_free(k->w);
    wr_comm_close(k->alone);
    weir_dataset_close(&k->ds);
    scratch_teardown((void **)&k->scratch);
    free(k);
    return 0;
}

void runkit_plan(struct runkit *k, struct wr_run_plan *ret)
{
    wr_run_defaults(ret);
    ret->w = k->w;
    ret->comm = k->alone;
    ret->train = k->ds;
    ret->feed.threads = 1;
    ret->rows = 100;
}
