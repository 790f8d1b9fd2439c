/* test_dataset.c - the data set of a workload: made, continued, checked.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "described.h"
#include "gen/dataset.h"
#include "gen/set_job.h"
#include "scratch.h"

#define RANKS 3

static int make(struct scratch *s, const char *name,
                const struct wr_workload *w, uint64_t seed,
                struct wr_dataset_result *ret, weir_err *err)
{
    struct wr_dataset_result unused;
    char path[PATH_MAX];
    const struct wr_dataset_config cfg = {
        .workload = w, .target = path, .seed = seed, .threads = 2};

    snprintf(path, sizeof(path), "%s", scratch_at(s, name));
    return wr_gen_workload(&cfg, ret ? ret : &unused, err);
}

struct told {
    unsigned count;
    char last[256];
};

static void on_problem(void *arg, const char *path, const char *what)
{
    struct told *t = arg;

    t->count++;
    snprintf(t->last, sizeof(t->last), "%s: %s", path, what);
}

static void verify(struct scratch *s, const char *name, struct told *told,
                   struct wr_verify_result *ret)
{
    char path[PATH_MAX];
    const struct wr_verify_config cfg = {
        .url = path, .threads = 2, .problem = on_problem, .arg = told};
    weir_err err = {0};

    *told = (struct told){0};
    snprintf(path, sizeof(path), "%s", scratch_at(s, name));
    if (wr_gen_verify(&cfg, ret, &err) < 0)
        print_error("%s\n", err.msg);
    assert_int_equal(err.code, 0);
}

static void test_names(void **state)
{
    const char *const changes[] = {"dataset.num_subfolders_train=2", NULL};
    struct wr_workload *w = described("indexed_binary", changes);
    struct wr_dataset_result res;
    struct scratch *s = *state;

    assert_int_equal(make(s, "d", w, 1, &res, NULL), 0);
    assert_int_equal(res.files, 7);
    assert_int_equal(res.samples, 21);
    assert_int_equal(res.made_files, 7);
    assert_int_equal(res.made_bytes, 21 * (400 + 16));
    assert_true(scratch_has(s, "d/train/0/img_0_of_5.indexed_binary"));
    assert_true(scratch_has(s, "d/train/1/img_1_of_5.indexed_binary.sz.idx"));
    assert_true(scratch_has(s, "d/valid/img_1_of_2.indexed_binary.off.idx"));
    assert_int_equal(scratch_entries(s, "d/valid"), 6);
    assert_int_equal(scratch_entries(s, ""), 1);
    wr_workload_free(w);
}

/* What is wrong is found, and the first byte of it named. */
static void test_verify(void **state)
{
    struct wr_workload *w = described("npz", NULL);
    struct wr_verify_result res;
    struct scratch *s = *state;
    struct told told;
    FILE *f;
    int byte;

    assert_int_equal(make(s, "d", w, 9, NULL, NULL), 0);
    verify(s, "d", &told, &res);
    assert_int_equal(told.count, 0);
    assert_int_equal(res.files, 7);
    assert_int_equal(res.seed, 9);

    f = fopen(scratch_at(s, "d/train/img_3_of_5.npz"), "r+");
    fseek(f, 700, SEEK_SET);
    byte = fgetc(f);
    fseek(f, 700, SEEK_SET);
    fputc(byte ^ 4, f);
    fclose(f);
    verify(s, "d", &told, &res);
    assert_int_equal(res.damaged, 1);
    assert_string_equal(told.last, "train/img_3_of_5.npz: byte 700 is wrong");

    unlink(scratch_at(s, "d/train/img_3_of_5.npz"));
    verify(s, "d", &told, &res);
    assert_int_equal(res.missing, 1);
    assert_string_equal(told.last, "train/img_3_of_5.npz: is missing");

    scratch_put(s, "d/train/img_5_of_5.npz", "more");
    scratch_put(s, "d/train/.index.weir", "hidden");
    verify(s, "d", &told, &res);
    assert_int_equal(res.missing, 1);
    assert_int_equal(res.extra, 1);

    unlink(scratch_at(s, "d/train/img_5_of_5.npz"));
    f = fopen(scratch_at(s, "d/valid/img_0_of_2.npz"), "a");
    fputc(0, f);
    fclose(f);
    verify(s, "d", &told, &res);
    assert_int_equal(res.damaged, 1);
    assert_int_equal(truncate(scratch_at(s, "d/valid/img_0_of_2.npz"), 5), 0);
    verify(s, "d", &told, &res);
    assert_int_equal(res.damaged, 1);
    wr_workload_free(w);
}

static void test_not_ours(void **state)
{
    struct wr_verify_result res;
    struct scratch *s = *state;
    weir_err err = {0};

    mkdir(scratch_at(s, "d"), 0777);
    assert_int_equal(
        wr_gen_verify(&(struct wr_verify_config){.url = s->path}, &res, &err),
        WEIR_ENOENT);
    assert_non_null(strstr(err.msg, WR_GEN_JOB_FILE));
}

/* Stops after the first file. */
static int stop_making(void *arg, const struct wr_dataset_state *s)
{
    (void)arg;
    return s->files_done > 0;
}

/* The rest is made by the next run, and is the same as made at once. */
static void test_continues(void **state)
{
    const char *const changes[] = {"dataset.record_length_bytes=30000000",
                                   NULL};
    struct wr_workload *w = described("npz", changes);
    struct wr_dataset_result res;
    struct wr_verify_result checked;
    struct scratch *s = *state;
    struct told told;
    char path[PATH_MAX];
    struct wr_dataset_config cfg = {.workload = w,
                                    .target = path,
                                    .seed = 4,
                                    .threads = 1,
                                    .progress = stop_making};
    weir_err err = {0};

    snprintf(path, sizeof(path), "%s", scratch_at(s, "d"));
    assert_int_equal(wr_gen_workload(&cfg, &res, &err), WEIR_ECANCELED);
    assert_non_null(strstr(err.msg, "of 7 files"));
    assert_false(scratch_has(s, "d"));
    assert_true(scratch_has(s, ".d.part/train/img_0_of_5.npz"));
    assert_false(scratch_has(s, ".d.part/valid/img_1_of_2.npz"));
    assert_int_equal(make(s, "d", w, 5, &res, &err), WEIR_ESTATE);
    assert_int_equal(make(s, "d", w, 4, &res, &err), 0);
    assert_true(res.kept_files >= 1);
    assert_int_equal(res.kept_files + res.made_files, 7);
    verify(s, "d", &told, &checked);
    assert_int_equal(told.count, 0);
    wr_workload_free(w);
}

/* --- ranks --- */

struct rank {
    pthread_t thread;
    struct wr_comm_config comm;
    const struct wr_workload *w;
    const char *target;
    struct wr_dataset_result res;
    weir_err err;
    int r;
};

static void *rank_main(void *arg)
{
    struct rank *k = arg;
    struct wr_comm *c = NULL;
    struct wr_dataset_config cfg = {
        .workload = k->w, .target = k->target, .seed = 1, .threads = 1};

    k->r = wr_comm_open(&k->comm, &c, &k->err);
    if (k->r < 0)
        return NULL;
    cfg.comm = c;
    k->r = wr_gen_workload(&cfg, &k->res, &k->err);
    wr_comm_close(c);
    return NULL;
}

static void run_ranks(struct scratch *s, const struct wr_workload *w,
                      const char *target, struct rank *ranks)
{
    char url[PATH_MAX + 8];

    snprintf(url, sizeof(url), "local:%s", scratch_at(s, "socket"));
    for (unsigned k = 0; k < RANKS; k++) {
        ranks[k] = (struct rank){.w = w, .target = target};
        ranks[k].comm = (struct wr_comm_config){.url = url,
                                                .channel = "gen",
                                                .rank = k,
                                                .world = RANKS,
                                                .timeout_ms = 20000};
        assert_int_equal(
            pthread_create(&ranks[k].thread, NULL, rank_main, &ranks[k]), 0);
    }
    for (unsigned k = 0; k < RANKS; k++)
        pthread_join(ranks[k].thread, NULL);
}

static void test_ranks(void **state)
{
    struct wr_workload *w = described("npy", NULL);
    struct wr_verify_result checked;
    struct scratch *s = *state;
    struct rank ranks[RANKS];
    struct told told;
    char path[PATH_MAX];
    uint64_t made = 0;

    snprintf(path, sizeof(path), "%s", scratch_at(s, "d"));
    run_ranks(s, w, path, ranks);
    for (unsigned k = 0; k < RANKS; k++) {
        if (ranks[k].r < 0)
            print_error("%s\n", ranks[k].err.msg);
        assert_int_equal(ranks[k].r, 0);
        made += ranks[k].res.made_files;
    }
    assert_int_equal(made, 7);
    verify(s, "d", &told, &checked);
    assert_int_equal(told.count, 0);
    /* It is there already: every rank says so. */
    run_ranks(s, w, path, ranks);
    for (unsigned k = 0; k < RANKS; k++) {
        assert_int_equal(ranks[k].r, WEIR_EEXIST);
        assert_non_null(strstr(ranks[k].err.msg, "not empty"));
    }
    wr_workload_free(w);
}

/* The figures are in the message, and nothing was written. */
static void test_no_space(void **state)
{
    const char *const changes[] = {"dataset.record_length_bytes=1000000000",
                                   "dataset.num_files_train=1000000", NULL};
    struct wr_workload *w = described("npz", changes);
    struct scratch *s = *state;
    weir_err err = {0};

    assert_int_equal(make(s, "d", w, 1, NULL, &err), WEIR_ENOSPC);
    assert_non_null(strstr(err.msg, "are needed"));
    assert_non_null(strstr(err.msg, "PB"));
    assert_int_equal(scratch_entries(s, ""), 0);
    wr_workload_free(w);
}

#define SCRATCH(t)                                                             \
    cmocka_unit_test_setup_teardown(t, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH(test_names),     SCRATCH(test_verify), SCRATCH(test_not_ours),
        SCRATCH(test_continues), SCRATCH(test_ranks),  SCRATCH(test_no_space),
    };

    return cmocka_run_group_tests_name("dataset", tests, NULL, NULL);
}
