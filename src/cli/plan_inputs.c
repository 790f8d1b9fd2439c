/* plan_inputs.c - the files that a plan is made from.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/plan_inputs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/error.h"
#include "cli/plan_args.h"
#include "cli/report_trace.h"
#include "cli/trace_workload.h"
#include "result/get.h"
#include "result/load.h"
#include "workload/catalog.h"

static void on_note(void *arg, const char *text)
{
    wr_cli_note(arg, "%s", text);
}

static void add(struct wr_plan_answer *a, const char *path, const char *kind)
{
    if (a->input_count < WR_PLAN_INPUTS_MAX)
        a->inputs[a->input_count++] = (struct wr_plan_input){path, kind};
}

/* --- kinds of inputs --- */

static int take_workload(const struct wr_cli *cli, const char *name,
                         struct wr_plan_draft *d, weir_err *err)
{
    struct wr_workload *w = NULL;
    int r = wr_workload_load(name, NULL, 0, on_note, (void *)(uintptr_t)cli, &w,
                             err);

    if (r == 0)
        r = wr_plan_from_workload(d, w, name, err);
    wr_workload_free(w);
    return r;
}

static int take_trace(const char *path, struct wr_plan_draft *d, weir_err *err)
{
    struct wr_trace_file *f = NULL;
    struct wr_workload *w = NULL;
    char *text = NULL;
    int r = wr_trace_file_open(&f, path, err);

    if (r == 0)
        r = wr_traced_workload(f, path, &text, err);
    if (r == 0)
        r = wr_workload_parse(path, text, strlen(text), NULL, 0, NULL, NULL, &w,
                              err);
    if (r == 0)
        r = wr_plan_from_workload(d, w, path, err);
    wr_workload_free(w);
    free(text);
    wr_trace_file_close(f);
    return r;
}

/* The name of a record's command, for as long as the program runs. */
static const char *kind_of(const json_t *record)
{
    static const char *const kinds[] = {"bench", "probe", "ckpt", "train",
                                        "run"};

    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
        if (!strcmp(wr_get_text(record, "command"), kinds[k]))
            return kinds[k];
    return "";
}

/* --- telling them apart --- */

static bool is_yaml(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

/* A record is a JSON object. */
static bool begins_with_brace(const char *text, size_t size)
{
    size_t k = 0;

    while (k < size && wr_is_space(text[k]))
        k++;
    return k < size && text[k] == '{';
}

static int take_file(const struct wr_cli *cli, const char *path,
                     struct wr_plan_draft *d, struct wr_plan_answer *a,
                     weir_err *err)
{
    const struct plan_args *args = cli->args;
    json_t *record = NULL;
    char *text = NULL;
    size_t size = 0;
    int r = wr_record_read(path, &text, &size, err);

    if (r == 0 && size && !begins_with_brace(text, size)) {
        free(text);
        add(a, path, "workload");
        return take_workload(cli, path, d, err);
    }
    if (r == 0)
        r = wr_record_parse(text, size, path, &record, err);
    if (r == 0) {
        const struct wr_plan_record rec = {path, record,
                                           (size_t)args->wanted_case};

        add(a, path, kind_of(record));
        r = wr_plan_from_record(d, &rec, err);
    }
    json_decref(record);
    free(text);
    return r;
}

static int take_input(const struct wr_cli *cli, const char *path,
                      struct wr_plan_draft *d, struct wr_plan_answer *a,
                      weir_err *err)
{
    bool is_stdin = !strcmp(path, "-");
    bool there = is_stdin || access(path, F_OK) == 0;

    if (!there && (wr_catalog_find(path) || is_yaml(path))) {
        add(a, path, "workload");
        return take_workload(cli, path, d, err);
    }
    if (!there)
        return wr_fail(err, WEIR_ENOENT,
                       "'%s': no such file, and no workload has this name "
                       "('weir run --list' names them)",
                       path);
    if (!is_stdin && wr_report_is_trace(path)) {
        add(a, path, "trace");
        return take_trace(path, d, err);
    }
    return take_file(cli, path, d, a, err);
}

int wr_plan_read_inputs(const struct wr_cli *cli, struct wr_plan_draft *d,
                        struct wr_plan_answer *a, weir_err *err)
{
    int r = 0;

    if (cli->operand_count > WR_PLAN_INPUTS_MAX - 1)
        return wr_fail(err, WEIR_EINVAL, "more than %d inputs",
                       WR_PLAN_INPUTS_MAX - 1);
    for (size_t k = 0; k < cli->operand_count && r == 0; k++)
        r = take_input(cli, cli->operands[k], d, a, err);
    return r;
}

/* --- times --- */

/* What is known besides. */
static struct wr_plan_hints hints_of(const struct wr_plan_draft *d)
{
    const struct wr_plan *p = &d->plan;
    struct wr_plan_hints h = {.step_ms = NAN};

    if (d->facts[WR_PLAN_K_WORKERS].known)
        h.workers = p->loader.workers;
    if (d->facts[WR_PLAN_K_PREFETCH].known)
        h.prefetch = p->loader.prefetch;
    if (d->facts[WR_PLAN_K_STEP].known)
        h.step_ms = p->compute.step_s.mean * 1e3;
    if (d->facts[WR_PLAN_K_EVERY].known)
        h.save_every = p->save.every;
    return h;
}

int wr_plan_read_times(const char *path, const struct wr_plan_draft *d,
                       struct wr_plan_answer *a, weir_err *err)
{
    const struct wr_plan_hints hints = hints_of(d);
    char *text = NULL;
    size_t size = 0;
    int r = wr_record_read(path, &text, &size, err);

    if (r == 0)
        r = wr_plan_times_parse(text, size, path, &a->times, err);
    free(text);
    if (r < 0)
        return r;
    r = wr_plan_explain(&a->times, &hints, &a->explained, err);
    if (r < 0)
        return wr_fail_prefix(err, r, "'%s'", path);
    add(a, path, "times");
    return 0;
}
