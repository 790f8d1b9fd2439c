/* study_apart.c - measuring a study in a process that can be ended at once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A checkpoint to an emulated disk takes seconds and cannot be called back; a
 * study survives to be killed anyhow. */
#include "cli/study_apart.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/apart.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "study/folder.h"

#define LOOK_MS 100
#define PARTS_S 1000 /* of a second, for the progress */

/* What the process that measures tells the one that the user sees. */
struct study_news {
    char what[160];
    double done_s, total_s;
};

static void on_progress(void *arg, const struct wr_study_news *news)
{
    struct study_news n = {.done_s = news->done_s, .total_s = news->total_s};

    snprintf(n.what, sizeof(n.what), "%s", news->what);
    wr_apart_tell(arg, &n, sizeof(n));
}

/* Until there is no more news. */
static void watch(const struct wr_cli *cli, const struct wr_apart *a)
{
    struct study_news n;
    char label[sizeof(n.what)] = "starting";
    struct wr_progress line;
    int r = 0;

    wr_progress_start(&line, cli, &(struct wr_progress_spec){.label = label});
    while (r >= 0 && !wr_interrupted()) {
        r = wr_apart_wait(a, &n, sizeof(n), LOOK_MS);
        if (r != sizeof(n))
            continue;
        snprintf(label, sizeof(label), "%s", n.what);
        wr_progress_callback(&line, (uint64_t)(n.done_s * PARTS_S),
                             (uint64_t)(n.total_s * PARTS_S));
    }
    wr_progress_end(&line);
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

int wr_study_apart(struct wr_cli *cli, struct wr_study *st,
                   int (*work)(void *arg, struct wr_study *st), void *arg)
{
    struct wr_apart a;
    weir_err err;
    int r;

    fflush(cli->out);
    fflush(cli->err);
    r = wr_apart_start(&a, &err);
    if (r < 0)
        return wr_cli_fail(cli, "%s", err.msg);
    if (r == 0) {
        st->cfg.progress = on_progress;
        st->cfg.progress_arg = &a;
        r = work(arg, st);
        close(a.fd);
        return r;
    }
    watch(cli, &a);
    r = wr_apart_end(&a, /* now= */ wr_interrupted());
    return r < 0 || wr_interrupted() ? end_early(cli, st, r) : r;
}
