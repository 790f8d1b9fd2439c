/* search.c - how many accelerators can be fed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "run/figures.h"

/* Rank 0 judges; the others do as it says. */
static int agree(const struct wr_run_plan *plan, bool *io_meets, weir_err *err)
{
    uint64_t mine = plan->comm->rank == 0 ? *io_meets : 0;
    size_t len;
    char *text;
    int r = wr_comm_broadcast(plan->comm, &mine, sizeof(mine), &text, &len,
                              err);

    if (r < 0)
        return r;
    if (len == sizeof(mine))
        memcpy(&mine, text, sizeof(mine));
    free(text);
    *io_meets = mine != 0;
    return 0;
}

static int note_point(struct wr_run_search *s, unsigned n,
                      const struct wr_run_result *res, bool *ret_meets,
                      weir_err *err)
{
    struct wr_run_figures *f = malloc(sizeof(*f));
    struct wr_run_point *p = &s->points[s->count];

    if (!f)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    wr_run_figures(res, f);
    *p = (struct wr_run_point){.accelerators = n,
                               .world = res->world,
                               .au = f->au,
                               .samples_per_s = f->samples_per_s,
                               .bytes_per_s = f->bytes_per_s,
                               .meets = f->au >= s->target};
    *ret_meets = p->meets;
    s->count += s->count + 1 < WR_RUN_POINTS;
    free(f);
    return 0;
}

/* Runs with n; *ret is replaced by a better result. */
static int try_with(struct wr_run_search *s, const struct wr_run_plan *plan,
                    unsigned n, bool *ret_meets, struct wr_run_result *ret,
                    weir_err *err)
{
    struct wr_run_plan p = *plan;
    struct wr_run_result res;
    int r;

    if (s->trying)
        s->trying(s->arg, n);
    p.accelerators = n;
    r = wr_run(&p, &res, err);
    *ret_meets = false;
    if (r == 0 && plan->comm->rank == 0)
        r = note_point(s, n, &res, ret_meets, err);
    if (r == 0)
        r = agree(plan, ret_meets, err);
    if (r == 0 && (*ret_meets || n == 1) && (n == 1 || n > s->most)) {
        wr_run_done(ret);
        *ret = res;
    } else {
        wr_run_done(&res);
    }
    if (r == 0 && *ret_meets)
        s->most = WR_MAX(s->most, n);
    return r;
}

/* Too few samples for so many is no failure of the search. */
static bool lacks_data(const struct wr_run_plan *plan, unsigned n)
{
    const struct wr_workload *w = plan->w;
    double samples = (double)w->dataset.files_train *
                     (double)w->dataset.samples_per_file;

    return samples <
           (double)w->reader.batch * (double)n * (double)plan->comm->world * 2;
}

int wr_run_search(struct wr_run_search *s, const struct wr_run_plan *plan,
                  struct wr_run_result *ret, weir_err *err)
{
    unsigned low = 0, high = 0,
             n = 1; /* low meets it, high does not; 0: none */
    bool meets;
    int r;

    *ret = (struct wr_run_result){0};
    s->count = s->most = 0;
    s->limit = WR_RUN_LIMIT_FOUND;
    do {
        r = try_with(s, plan, n, &meets, ret, err);
        if (r < 0)
            return r;
        if (meets)
            low = n;
        else
            high = n;
        if (!high && n >= s->most_asked) {
            s->limit = WR_RUN_LIMIT_ASKED;
            return 0;
        }
        n = high ? low + (high - low) / 2 : WR_MIN(2 * n, s->most_asked);
        if (!high && lacks_data(plan, n)) {
            s->limit = WR_RUN_LIMIT_DATA;
            return 0;
        }
    } while (!high || high - low > 1);
    return 0;
}
