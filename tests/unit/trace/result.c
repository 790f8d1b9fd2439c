/* result.c - a made-up trace, what its analysis found, and two trainings.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result.h"

#include <string.h>

const struct script script_plain = {.epochs = 3,
                                    .files = 400,
                                    .batch = 20,
                                    .size = 100 * KB,
                                    .read_ns = 200 * KB,
                                    .decode_ns = MS,
                                    .compute_ns = 40 * MS,
                                    .start_ns = 20 * MS};

/* Workers that rest, fast files: nothing is wrong. */
const struct script script_fine = {.epochs = 3,
                                   .files = 400,
                                   .batch = 20,
                                   .workers = 4,
                                   .size = 100 * KB,
                                   .read_ns = 200 * KB,
                                   .decode_ns = MS,
                                   .compute_ns = 40 * MS,
                                   .start_ns = 20 * MS};

void result_finish(struct result *r)
{
    weir_err err;

    r->f = maker_read(&r->m);
    if (wr_trace_analyse(r->f, &r->a, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(wr_trace_findings_of(r->a, &r->found, &err), 0);
}

void result_begin(struct result *r, const struct script *s)
{
    maker_open(&r->m);
    r->end = script_run(&r->m, s);
}

void result_run(struct result *r, const struct script *s)
{
    result_begin(r, s);
    result_finish(r);
}

void result_done(struct result *r)
{
    wr_trace_findings_done(&r->found);
    wr_trace_analysis_free(r->a);
    wr_trace_file_close(r->f);
    maker_done(&r->m);
}

const struct wr_trace_finding *result_find(const struct result *r,
                                           const char *code)
{
    for (size_t k = 0; k < r->found.count; k++)
        if (!strcmp(r->found.list[k].rule->code, code)) {
            assert_true(r->found.list[k].what[0]);
            assert_true(r->found.list[k].change[0]);
            return &r->found.list[k];
        }
    return NULL;
}

void assert_near(double value, double expected, double share)
{
    if (value < expected * (1 - share) || value > expected * (1 + share))
        fail_msg("%g, not %g", value, expected);
}
