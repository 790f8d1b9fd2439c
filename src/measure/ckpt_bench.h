/* ckpt_bench.h - how long saving stops training: the paper's experiment.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The same state is saved several times in each of four ways: to the slow tier,
 * to the fast tier, to the fast tier with a drain behind it, and the last one
 * with a snapshot that the training does not wait for. All is done in one folder
 * below each path, which is gone at the end, however it ends.
 *
 * Several ranks save at the same time, each a state of its own, into one store:
 * a save takes as long as that of the slowest rank. */
#ifndef WR_MEASURE_CKPT_BENCH_H
#define WR_MEASURE_CKPT_BENCH_H

#include <jansson.h>
#include <stdbool.h>

#include "measure/ckpt_state.h"
#include "measure/monitor.h"
#include "measure/together.h"
#include "result/ckpt.h"

struct wr_comm;

enum wr_ckpt_way {
    WR_CKPT_SLOW,  /* durable on the slow tier when save returns */
    WR_CKPT_FAST,  /* durable on the fast tier, which is the only one */
    WR_CKPT_BURST, /* durable on the fast tier, drained behind */
    WR_CKPT_ASYNC, /* a snapshot, written and drained behind */
    WR_CKPT_WAYS,
};

/* What is going on. */
struct wr_ckpt_bench_step {
    const char *what;  /* static */
    double part, next; /* how far all is, 0..1, now and after this step */
    double seconds;    /* that it will take, roughly; NaN: not known */
};

struct wr_ckpt_bench_plan {
    const char *fast, *slow;         /* folders or URLs; slow NULL: FAST only */
    const struct wr_ckpt_load *load; /* borrowed */
    bool ways[WR_CKPT_WAYS];
    unsigned warmups;  /* saves that do not count: the first ones write new
                         files, later ones recycled ones */
    unsigned saves;    /* that count, >= 1 */
    double interval_s; /* the emulated training between two saves; 0: as long
                          as it takes until the last save is drained */
    bool verify;
    bool restore; /* also read the last one back */
    void (*progress)(void *arg, const struct wr_ckpt_bench_step *step);
    void *progress_arg;
    bool (*stopped)(void); /* may be NULL: WEIR_ECANCELED */
    struct wr_comm *comm;  /* borrowed; NULL: one process */
    const char *comm_url;  /* the same for the store, with several ranks */
};

struct wr_ckpt_bench_case {
    enum wr_ckpt_way way;
    struct wr_ckpt_case_values v; /* owned lists: those that were saved; of
                                     several ranks, on rank 0 */
    json_t *said;                 /* owned: what the ranks sent */
};

struct wr_ckpt_bench_report {
    struct wr_ckpt_bench_case *cases; /* owned */
    size_t count;
    double memcpy_s; /* one plain copy of the state, median */
};

/* Seconds that all of it will take on emulated devices, roughly; NaN when one
 * of the paths is a real one, of which nothing is known. */
double wr_ckpt_bench_expect(const struct wr_ckpt_bench_plan *plan);

/* Removes what a bench that was killed left below these paths (slow may be
 * NULL), past the emulated devices. */
int wr_ckpt_bench_clean(const char *fast, const char *slow, weir_err *err);

/* All ranks; the report of rank 0 counts. */
int wr_ckpt_bench(const struct wr_ckpt_bench_plan *plan,
                  struct wr_ckpt_bench_report *ret, weir_err *err);
void wr_ckpt_bench_done(struct wr_ckpt_bench_report *r);

/* All ranks, after each has saved: every time becomes that of the slowest. */
int wr_ckpt_join_save(const struct wr_together *t,
                      struct wr_ckpt_save_values *s, weir_err *err);

/* All ranks, at the end of a way, with the bytes of its own state in the result:
 * the slowest restore; on rank 0 also the list of ranks, and the bytes and the
 * memory of all. */
int wr_ckpt_join_case(const struct wr_together *t, struct wr_ckpt_bench_case *k,
                      weir_err *err);

/* What goes into a record. */
struct wr_ckpt_record {
    const struct wr_ckpt_bench_plan *plan;
    const struct wr_ckpt_bench_report *report;
    const char *like;                 /* what state was saved */
    struct wr_store *store;           /* borrowed: the folder, for the host */
    const struct wr_monitor *monitor; /* stopped */
};

/* NULL when memory is short. */
json_t *wr_ckpt_record(const struct wr_ckpt_record *b);

#endif
