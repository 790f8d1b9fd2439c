/* study_apart.c - measuring a study in a process that can be ended at once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A checkpoint to an emulated disk takes seconds and cannot be called back; a
 * study survives to be killed anyhow. */
#include "cli/study_apart.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/worker.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "study/folder.h"

#define PARTS_S 1000 /* of a second, for the progress */

/* What the process that measures tells the one that the user sees. It prints
 * nothing itself: its text would mix with the line. */
struct study_news {
    char what[400]; /* or why it failed */
    bool ended;     /* the last news, with what follows */
    int code;       /* 0, or WEIR_E... */
    double done_s, total_s;
    double seconds, control;
    bool alone;
};

/* One measurement. */
struct study_run {
    struct wr_study *st;
    struct wr_child worker;
    struct study_news last;
    char label[400];
};

static void on_progress(void *arg, const struct wr_study_news *news)
{
    struct study_news n = {.done_s = news->done_s, .total_s = news->total_s};

    snprintf(n.what, sizeof(n.what), "%s", news->what);
    wr_cli_work_tell(arg, &n, sizeof(n));
}

static int measure_study(void *arg)
{
    struct study_run *s = arg;
    struct wr_study *st = s->st;
    struct study_news n = {.ended = true};
    weir_err err;

    st->cfg.progress = on_progress;
    st->cfg.progress_arg = &s->worker;
    n.code = wr_study_run(st, &err);
    if (n.code < 0)
        snprintf(n.what, sizeof(n.what), "%.399s", err.msg);
    n.seconds = st->seconds;
    n.control = st->control;
    n.alone = st->alone;
    wr_cli_work_tell(&s->worker, &n, sizeof(n));
    return n.code < 0 ? WR_EXIT_FAILED : WR_EXIT_DONE;
}

static bool show_news(void *arg, struct wr_progress *line, const void *news)
{
    struct study_run *s = arg;
    const struct study_news *n = news;

    if (!n)
        return true;
    s->last = *n;
    if (n->ended)
        return false;
    snprintf(s->label, sizeof(s->label), "%s", n->what);
    wr_progress_callback(line, (uint64_t)(n->done_s * PARTS_S),
                         (uint64_t)(n->total_s * PARTS_S));
    return true;
}

/* Runs that the files have, and how many there should be. */
static unsigned long count_runs(const struct wr_study *st, unsigned long *all)
{
    struct wr_study_config cfg = st->cfg;
    unsigned long n = 0;
    struct wr_study now;

    *all = 0;
    cfg.note = NULL;
    cfg.fresh = false;
    (void)wr_study_init(&now, &cfg, NULL);
    for (size_t k = 0; k < now.cell_count; k++) {
        n += wr_cell_runs(now.cells[k]);
        *all += now.cells[k]->rounds;
    }
    wr_study_done(&now);
    return n;
}

static int end_early(const struct wr_cli *cli, const struct wr_study *st,
                     int how)
{
    unsigned long all, done = count_runs(st, &all);
    weir_err err;

    if (wr_folder_tidy(st, &err) < 0)
        wr_cli_note(cli, "what was half done could not be removed: %s",
                    err.msg);
    return wr_cli_fail(cli,
                       "%s%s: %lu of %lu runs are done and kept; the same "
                       "command%s goes on there",
                       wr_interrupted() ? "interrupted"
                                        : "the process that measured was ended "
                                          "by ",
                       wr_interrupted() ? "" : strsignal(-how), done, all,
                       st->cfg.fresh ? " without --fresh" : "");
}

/* What the child has measured is in the files. */
static int take_results(const struct wr_cli *cli, struct wr_study *st,
                        const struct study_news *last)
{
    struct wr_study_config cfg = st->cfg;
    weir_err err;

    cfg.fresh = false;
    wr_study_done(st);
    if (wr_study_init(st, &cfg, &err) < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    st->seconds = last->seconds;
    st->control = last->control;
    st->alone = last->alone;
    return WR_EXIT_DONE;
}

int wr_study_apart(struct wr_cli *cli, struct wr_study *st)
{
    struct study_run s = {.st = st,
                          .last = {.what = "the process that measured failed"},
                          .label = "starting"};
    const struct wr_work work = {.line = {.label = s.label},
                                 .news = sizeof(s.last),
                                 .work = measure_study,
                                 .show = show_news};
    weir_err err;
    int code, r = wr_cli_work_run(&s.worker, cli, &work, &s, &code, &err);

    if (r < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    if (r == WR_WORK_CHILD)
        _exit(code); /* it has printed nothing */
    if (code < 0 || wr_interrupted())
        return end_early(cli, st, code);
    if (code != WR_EXIT_DONE)
        return wr_cli_fail(cli, "%s", s.last.what);
    return take_results(cli, st, &s.last);
}
