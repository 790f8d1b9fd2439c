/* train.c - allocations that fail while training: memory is blamed, and what was
 * saved can be continued.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Trains a tiny network with a checkpoint after every iteration, again and
 * again; each time other allocations fail, one or a few in a row. Each run
 * either ends well or says that memory is short; resumed without faults it has
 * the weights of a run that nothing happened to. */
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failmalloc.h"
#include "train/train.h"
#include "gen/generate.h"

#define POINTS 20 /* places where allocations fail, spread over all of them */
#define SIDE   67

struct place {
    char dir[PATH_MAX], data[PATH_MAX + 8], ckpt[PATH_MAX + 8];
    weir_dataset *ds;
    uint64_t digest; /* of the undisturbed run */
    unsigned complete, lacked, wrong;
};

static int remove_one(const char *path, const struct stat *sb, int type,
                      struct FTW *at)
{
    (void)sb;
    (void)type;
    (void)at;
    return remove(path);
}

static void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int make_place(struct place *p)
{
    struct wr_gen_config cfg = {
        .kind = "tensors",
        .target = p->data,
        .samples = 20,
        .classes = 3,
        .threads = 1,
        .shape = {.dtype = WEIR_F32, .ndim = 3, .dims = {SIDE, SIDE, 3}}};
    static struct wr_gen_result res;
    const char *tmp = getenv("TMPDIR");

    snprintf(p->dir, sizeof(p->dir), "%s/weir-train-XXXXXX",
             tmp ? tmp : "/tmp");
    if (!mkdtemp(p->dir))
        return -1;
    snprintf(p->data, sizeof(p->data), "%s/data", p->dir);
    snprintf(p->ckpt, sizeof(p->ckpt), "%s/ckpt", p->dir);
    return wr_gen_run(&cfg, &res, NULL) < 0
               ? -1
               : weir_dataset_open(&p->ds, p->data, NULL, NULL);
}

static int train(const struct place *p, struct wr_train_result *res,
                 weir_err *err)
{
    struct wr_train_plan plan;

    wr_train_defaults(&plan);
    plan.ds = p->ds;
    plan.feed.batch = 4;
    plan.feed.picture.width = plan.feed.picture.height = SIDE;
    plan.feed.threads = 2;
    plan.feed.holdout = 0.2f;
    plan.feed.part = WEIR_PART_TRAIN;
    plan.validate = true;
    plan.width = 0.03;
    plan.compute_threads = 2;
    plan.iterations = 6;
    plan.epochs = 0;
    plan.rows = 10;
    plan.ckpt.fast = p->ckpt;
    plan.save_every = 1;
    plan.resume = true;
    wr_accelerator_parse("cpu", &plan.accelerator, NULL);
    wr_engine_find("reference", &plan.engine, NULL);
    return wr_train(&plan, res, err);
}

/* Returns how many allocations there were. */
static unsigned long disturb(struct place *p, unsigned long from,
                             unsigned long to)
{
    struct wr_train_result res;
    weir_err err = {0};
    unsigned long n;
    int r;

    remove_tree(p->ckpt);
    alarm(120); /* rather than hang */
    fm_start(from, to);
    r = train(p, &res, &err);
    wr_train_done(&res);
    n = fm_stop();
    p->complete += r == 0;
    p->lacked += r == WEIR_ENOMEM;
    if (r < 0 && r != WEIR_ENOMEM) {
        p->wrong++;
        printf("allocation %lu: %s\n", from, err.msg);
    }
    return n;
}

/* Goes on, with all memory, to the same end. */
static void go_on(struct place *p, unsigned long from)
{
    struct wr_train_result res;
    weir_err err = {0};
    int r = train(p, &res, &err);

    if (r < 0 || res.done != 6 || res.digest != p->digest) {
        p->wrong++;
        printf("after allocation %lu: %s\n", from,
               r < 0 ? err.msg : "other weights");
    }
    wr_train_done(&res);
}

static void check(struct place *p)
{
    struct wr_train_result res;
    unsigned long all;

    all = disturb(p, 0, 0);
    train(p, &res, NULL); /* nothing is left to do: the weights at the end */
    p->digest = res.digest;
    wr_train_done(&res);
    for (unsigned long k = 0; k < 2 * POINTS; k++) {
        unsigned long from = all * (k / 2) / POINTS + k / 2 % 7;

        disturb(p, from, from + (k % 2 ? 12 : 1));
        go_on(p, from);
    }
}

int main(void)
{
    struct place p = {0};

    if (!fm_can_fail())
        return 77;
    if (make_place(&p) < 0) {
        perror("no place to work in");
        return 1;
    }
    check(&p);
    weir_dataset_close(&p.ds);
    remove_tree(p.dir);
    printf("%u complete, %u short of memory, %u wrong\n", p.complete, p.lacked,
           p.wrong);
    return p.wrong || !p.complete || !p.lacked;
}
