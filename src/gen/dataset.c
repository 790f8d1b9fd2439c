/* dataset.c - makes the data set of a workload, or the rest of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/dataset.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/units.h"
#include "dataset/sink.h"
#include "gen/form.h"
#include "gen/set_job.h"
#include "workload/derive.h"

#define FILES_MAX UINT64_C(1000000000)
#define LOOK_MAX  UINT64_C(65536) /* files whose sizes are added up */
#define BYTES_MAX (UINT64_C(1) << 62)

static const struct wr_sink_maker generator = {
    .command = "weir gen",
    .job_file = WR_GEN_JOB_FILE,
    .comment = "# ",
    .replaces = "it",
    .other = "the beginning of another data set (another description, seed or "
             "version); --force starts anew",
};

/* A run in progress, as its threads see it. */
struct set_run {
    const struct wr_dataset_config *cfg; /* borrowed */
    const struct wr_gen_form *form;      /* borrowed, static */
    struct wr_sink *sink;                /* owned */
    char *job;                           /* owned: what is made, as text */
    bool drop; /* nothing was made that is worth to be continued */
    struct wr_gen_stock stock;
    struct wr_crew crew;
    uint64_t files; /* of all ranks */
    uint64_t rank, world;
    uint64_t expected;     /* bytes that are missing, of this rank */
    uint64_t mine;         /* files of this rank */
    _Atomic uint64_t next; /* of this rank's files, the next one to take */
    _Atomic uint64_t made, kept, bytes;
};

static const struct wr_workload *workload_of(const struct set_run *run)
{
    return run->cfg->workload;
}

static int name_file(const struct wr_workload *w, uint64_t i, char *buf,
                     weir_err *err)
{
    bool eval = i >= w->dataset.files_train;

    if (wr_workload_file_name(w, eval, eval ? i - w->dataset.files_train : i,
                              buf, PATH_MAX) < 0)
        return wr_fail(err, WEIR_ELIMIT,
                       "the name of file %" PRIu64 " is too long", i);
    return 0;
}

/* Whether an earlier run has made the file. */
static bool is_made(const struct set_run *run, const char *path)
{
    return wr_sink_resumes(run->sink) &&
           wr_sink_size(run->sink, path, NULL) > 0;
}

/* --- one file --- */

static int put_side(struct set_run *run, const struct wr_gen_spec *s,
                    const char *path, unsigned k, weir_err *err)
{
    struct wr_bytes bytes = {0};
    char full[PATH_MAX];
    int r = run->form->side(s, k, &bytes, err);

    if (r == 0 && !wr_gen_side_path(run->form, path, k, full))
        r = wr_fail(err, WEIR_ELIMIT, "'%s': path too long", path);
    if (r == 0)
        r = wr_sink_put(run->sink, full, bytes.bytes, bytes.len, err);
    run->bytes += bytes.len;
    free(bytes.bytes);
    return r;
}

/* The file itself comes last: where it is, those beside it are, too. */
static int make_file(struct set_run *run, struct wr_gen_maker *m,
                     const struct wr_gen_spec *s, const char *path,
                     weir_err *err)
{
    struct wr_object *o;
    int r = 0;

    for (unsigned k = 0; r == 0 && run->form->sides && run->form->sides[k]; k++)
        r = put_side(run, s, path, k, err);
    if (r == 0)
        r = wr_sink_begin(run->sink, path, &o, err);
    if (r < 0)
        return r;
    wr_pen_init(&m->pen, o, m->buf);
    r = run->form->make(m, s, err);
    if (r == 0)
        r = wr_pen_flush(&m->pen, err);
    if (r < 0) {
        wr_sink_end(run->sink, path, o, /* ok= */ false, NULL);
        return r;
    }
    run->bytes += WR_MAX(m->pen.at, run->form->size(s) * !m->pen.at);
    return wr_sink_end(run->sink, path, o, /* ok= */ true, err);
}

static int do_file(struct set_run *run, struct wr_gen_maker *m, uint64_t i,
                   weir_err *err)
{
    struct wr_gen_spec s;
    char path[PATH_MAX];
    int r = name_file(workload_of(run), i, path, err);

    if (r < 0)
        return r;
    if (is_made(run, path)) {
        run->kept++;
        return 0;
    }
    r = wr_gen_spec_init(&s, workload_of(run), run->cfg->seed, i, err);
    if (r == 0)
        r = make_file(run, m, &s, path, err);
    run->made += r == 0;
    return r;
}

static int work(void *arg, unsigned thread, weir_err *err)
{
    struct set_run *run = arg;
    struct wr_gen_maker m;
    int r = wr_gen_maker_init(&m, &run->stock, err);
    uint64_t k;

    (void)thread;
    while (r == 0 && !run->crew.stop && (k = run->next++) < run->mine)
        r = do_file(run, &m, k * run->world + run->rank, err);
    wr_gen_maker_done(&m);
    return r;
}

static int report(void *arg)
{
    struct set_run *run = arg;
    const struct wr_dataset_state s = {.files_done = run->made + run->kept,
                                       .files = run->mine,
                                       .bytes_done = run->bytes,
                                       .bytes = run->expected};

    return run->cfg->progress ? run->cfg->progress(run->cfg->progress_arg, &s)
                              : 0;
}

/* --- before --- */

/* The folders, which all ranks write into. DLIO lists both parts, also one
 * without files. */
static int make_folders(struct set_run *run, bool eval, weir_err *err)
{
    const struct wr_workload *w = workload_of(run);
    const char *part = eval ? "valid" : "train";
    const char *sides = run->form->side_folder;
    uint64_t files = eval ? w->dataset.files_eval : w->dataset.files_train;
    uint64_t subs = eval ? w->dataset.subfolders_eval
                         : w->dataset.subfolders_train;
    char path[PATH_MAX];
    int r = wr_sink_mkdir(run->sink, part, err);

    if (r == 0 && sides) {
        snprintf(path, sizeof(path), "%s/%s", sides, part);
        r = wr_sink_mkdir(run->sink, sides, err);
        r = r < 0 ? r : wr_sink_mkdir(run->sink, path, err);
    }
    for (uint64_t i = 0; r == 0 && subs > 1 && i < WR_MIN(files, subs); i++) {
        r = name_file(w, i + (eval ? w->dataset.files_train : 0), path, err);
        if (r == 0) {
            *strrchr(path, '/') = '\0';
            r = wr_sink_mkdir(run->sink, path, err);
        }
    }
    return r;
}

/* Bytes of file `i`, if it is not there yet; else 0. */
static int missing_bytes(struct set_run *run, uint64_t i, uint64_t *ret,
                         weir_err *err)
{
    struct wr_gen_spec s;
    char path[PATH_MAX];
    int r = name_file(workload_of(run), i, path, err);

    *ret = 0;
    if (r < 0 || is_made(run, path))
        return r;
    r = wr_gen_spec_init(&s, workload_of(run), run->cfg->seed, i, err);
    if (r == 0)
        *ret = run->form->size(&s);
    return r;
}

/* Bytes that are not there yet: of all files, and of this rank's. Where none is
 * there, the first of very many files speak for all. */
static int count_bytes(struct set_run *run, uint64_t *ret_all, weir_err *err)
{
    uint64_t look = wr_sink_resumes(run->sink) ? run->files
                                               : WR_MIN(run->files, LOOK_MAX);
    double all = 0;
    uint64_t bytes;
    int r = 0;

    for (uint64_t i = 0; i < look && r == 0; i++) {
        r = missing_bytes(run, i, &bytes, err);
        all += r == 0 ? (double)bytes : 0;
    }
    all *= (double)run->files / (double)WR_MAX(look, 1);
    if (r == 0 && all > (double)BYTES_MAX)
        return wr_fail(err, WEIR_ELIMIT, "the data set is too large");
    *ret_all = (uint64_t)all;
    run->expected = *ret_all / run->world;
    return r;
}

static int check_space(struct set_run *run, weir_err *err)
{
    uint64_t need = 0, space = 0;
    char a[32], b[32];
    int r = count_bytes(run, &need, err);

    if (r == 0)
        r = wr_sink_space(run->sink, &space, err);
    if (r < 0 || need <= space)
        return r;
    return wr_fail(err, WEIR_ENOSPC,
                   "'%s': %s are needed, %s are free: free some space, or make "
                   "a smaller data set (--scale)",
                   run->cfg->target,
                   wr_format_bytes(a, sizeof(a), (double)need),
                   wr_format_bytes(b, sizeof(b), (double)space));
}

/* Opens the part: the first rank makes it, the others come when it is there. */
static int open_target(struct set_run *run, bool lead, weir_err *err)
{
    struct wr_sink_config c = {.maker = &generator,
                               .url = run->cfg->target,
                               .force = run->cfg->force,
                               .restart = run->cfg->force,
                               .follows = !lead};
    int r = wr_gen_job_text(workload_of(run), run->cfg->seed, &run->job, err);

    if (r < 0)
        return r;
    c.job = run->job;
    r = wr_sink_open(&run->sink, &c, err);
    if (r < 0 || !lead)
        return r;
    r = check_space(run, err);
    run->drop = r < 0 && !wr_sink_resumes(run->sink);
    if (r == 0)
        r = make_folders(run, /* eval= */ false, err);
    return r < 0 ? r : make_folders(run, /* eval= */ true, err);
}

static int agree(const struct set_run *run, int code, weir_err *err)
{
    weir_err mine = {0};

    if (!run->cfg->comm)
        return code;
    if (code < 0 && err)
        mine = *err;
    return wr_comm_agree(run->cfg->comm, code, &mine, err);
}

static int open_all(struct set_run *run, weir_err *err)
{
    int r = run->rank == 0 ? open_target(run, /* lead= */ true, err) : 0;

    r = agree(run, r, err);
    if (r == 0 && run->rank)
        r = open_target(run, /* lead= */ false, err);
    return run->world > 1 ? agree(run, r, err) : r;
}

static int settle(struct set_run *run, weir_err *err)
{
    const struct wr_dataset_config *cfg = run->cfg;
    const struct wr_workload *w = cfg->workload;

    run->form = wr_gen_form_of(w, err);
    if (!run->form)
        return err ? err->code : WEIR_EINVAL;
    if (w->dataset.files_train > FILES_MAX || w->dataset.files_eval > FILES_MAX)
        return wr_fail(err, WEIR_ELIMIT, "more than %" PRIu64 " files",
                       FILES_MAX);
    run->files = w->dataset.files_train + w->dataset.files_eval;
    run->world = cfg->comm ? cfg->comm->world : 1;
    run->rank = cfg->comm ? cfg->comm->rank : 0;
    run->mine = (run->files + run->world - 1 - run->rank) / run->world;
    run->crew = (struct wr_crew){
        .name = "weir-gen", .work = work, .watch = report, .arg = run};
    run->crew.threads = cfg->threads ? cfg->threads : wr_cpu_count();
    run->crew.threads = (unsigned)WR_MAX(
        1, WR_MIN(run->mine, WR_MIN(run->crew.threads, WR_CREW_MAX)));
    return 0;
}

/* --- the whole --- */

static int fill(struct set_run *run, weir_err *err)
{
    unsigned threads = run->crew.threads;
    int r = wr_gen_stock_init(&run->stock, workload_of(run), run->cfg->seed,
                              threads, err);

    if (r == 0)
        r = wr_crew_run(&run->crew, err);
    wr_gen_stock_done(&run->stock);
    r = agree(run, r, err);
    if (r == 0 && run->rank == 0)
        r = wr_sink_commit(run->sink, err);
    return run->world > 1 ? agree(run, r, err) : r;
}

int wr_gen_workload(const struct wr_dataset_config *cfg,
                    struct wr_dataset_result *ret, weir_err *err)
{
    struct set_run run = {.cfg = cfg};
    uint64_t start = wr_clock_ns();
    weir_err why;
    int r = settle(&run, &why);

    if (cfg->comm)
        r = agree(&run, r, &why);
    if (r == 0)
        r = open_all(&run, &why);
    if (r == 0) {
        r = fill(&run, &why);
        if (r < 0)
            wr_fail_prefix(&why, r, "after %" PRIu64 " of %" PRIu64 " files",
                           (uint64_t)(run.made + run.kept), run.mine);
    }
    wr_sink_close(run.sink, run.drop);
    free(run.job);
    if (r < 0)
        return wr_fail_as(err, r, &why);
    *ret = (struct wr_dataset_result){
        .files = run.files,
        .samples = run.files * cfg->workload->dataset.samples_per_file,
        .train_files = cfg->workload->dataset.files_train,
        .eval_files = cfg->workload->dataset.files_eval,
        .made_files = run.made,
        .made_bytes = run.bytes,
        .kept_files = run.kept,
        .elapsed_ns = wr_clock_ns() - start,
        .threads = run.crew.threads,
    };
    return 0;
}
