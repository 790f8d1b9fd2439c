/* train_text.c - what training says before and while it runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/train_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/shown.h"
#include "base/thread.h"
#include "cli/dataset_out.h"
#include "cli/train_args.h"
#include "train/record.h"

static void print_compute(const struct wr_cli *cli,
                          const struct wr_train_plan *plan)
{
    const struct wr_accelerator *a = &plan->accelerator;
    unsigned threads = plan->compute_threads ? plan->compute_threads
                                             : wr_cpu_count();

    if (a->kind == WR_ACCELERATOR_CPU) {
        wr_cli_put(cli,
                   "AlexNet, width %g, Adam, learning rate %g; %s engine, %u "
                   "thread%s\n",
                   plan->width, plan->learning_rate, plan->engine->name,
                   threads, threads == 1 ? "" : "s");
        return;
    }
    wr_accelerator_print(cli, a, plan->feed.batch);
}

static void print_store(const struct wr_cli *cli,
                        const struct wr_train_plan *plan)
{
    const weir_ckpt_config *c = &plan->ckpt;

    if (!c->fast)
        return;
    wr_cli_put(cli, "checkpoints to %s%s%s, level %s, ",
               wr_show_path(c->fast).text, c->slow ? " and " : "",
               wr_show_path(c->slow ? c->slow : "").text,
               wr_choice_name(wr_level_choices, (int)plan->level));
    if (plan->save_every)
        wr_cli_put(cli, "every %" PRIu64 " iterations\n", plan->save_every);
    else
        wr_cli_put(cli, "at the end\n");
}

void wr_train_print_head(const struct wr_cli *cli,
                         const struct wr_train_plan *plan)
{
    wr_dataset_print(cli, plan->ds);
    print_compute(cli, plan);
    print_store(cli, plan);
}

char *wr_train_label(const struct wr_train_news *news, char *buf, size_t cap)
{
    size_t n;

    if (news->total)
        snprintf(buf, cap, "%s %" PRIu64 " of %" PRIu64,
                 strcmp(news->doing, "training") ? news->doing : "iteration",
                 news->done, news->total);
    else
        snprintf(buf, cap, "%s %" PRIu64,
                 strcmp(news->doing, "training") ? news->doing : "iteration",
                 news->done);
    n = strlen(buf);
    if (!isnan(news->loss)) {
        snprintf(buf + n, cap - n, ", loss %.3g", news->loss);
        n = strlen(buf);
    }
    if (news->seconds > 0)
        snprintf(buf + n, cap - n, ", %.0f images/s, waiting %.0f %%",
                 (double)news->samples / news->seconds,
                 100 * news->wait_s / news->seconds);
    return buf;
}
