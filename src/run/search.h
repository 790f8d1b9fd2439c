/* search.h - how many accelerators can be fed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_SEARCH_H
#define WR_RUN_SEARCH_H

#include "run/run.h"

#define WR_RUN_POINTS 64

/* One run of the search. */
struct wr_run_point {
    unsigned accelerators; /* of each process */
    uint64_t world;
    double au, samples_per_s, bytes_per_s;
    bool meets;
};

/* Why the search went no further. */
enum wr_run_limit {
    WR_RUN_LIMIT_FOUND, /* one more is too many */
    WR_RUN_LIMIT_ASKED, /* as many as were asked for are fed */
    WR_RUN_LIMIT_DATA,  /* there are too few samples for more */
};

struct wr_run_search {
    double target;
    unsigned most_asked; /* of each process */
    struct wr_run_point points[WR_RUN_POINTS];
    size_t count;
    unsigned most; /* that meets it; 0: not even one */
    enum wr_run_limit limit;
    /* Before each run; may be NULL. */
    void (*trying)(void *arg, unsigned accelerators);
    void *arg;
};

/* Doubles the number until the target is missed, then halves the distance. The
 * result of the last run that met the target (or of one accelerator) is left in
 * *ret. All ranks. */
int wr_run_search(struct wr_run_search *s, const struct wr_run_plan *plan,
                  struct wr_run_result *ret, weir_err *err);

/* --- can this machine emulate that? The same run without I/O --- */

#define WR_RUN_SELFTEST_AU 0.995 /* that it must reach */

struct wr_run_selftest {
    uint64_t steps;     /* of each accelerator; 0: nothing is computed */
    double overhead_us; /* of the emulator, per step */
    double au;          /* of the run, if there were nothing else */
    bool ok;
};

/* About a second of steps with batches that are there at once. Steps that are
 * long are made shorter: what the emulator takes for one does not depend on it.
 * All ranks; only rank 0 has the result. */
int wr_run_selftest(const struct wr_run_plan *plan, struct wr_run_selftest *ret,
                    weir_err *err);

#endif
