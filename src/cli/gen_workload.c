/* gen_workload.c - weir gen WORKLOAD: the data set of a description.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/gen_workload.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/shown.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/record_json.h"
#include "cli/screen.h"
#include "gen/dataset.h"
#include "workload/workload.h"

#define PREFIX "workload:" /* in front of a name that is a kind's, too */

/* The line while it works: files in its label, bytes as its count. */
struct gen_line {
    struct wr_progress progress;
    char label[64];
};

static int on_progress(void *arg, const struct wr_dataset_state *s)
{
    struct gen_line *line = arg;
    char a[32], b[32];

    snprintf(line->label, sizeof(line->label), "generating %s of %s files",
             wr_format_count(a, sizeof(a), s->files_done),
             wr_format_count(b, sizeof(b), s->files));
    wr_progress_total(&line->progress, s->bytes);
    wr_progress_set(&line->progress, s->bytes_done);
    return wr_interrupted();
}

static void on_note(void *arg, const char *text)
{
    wr_cli_note(arg, "%s", text);
}

/* --- results --- */

/* What all ranks made, in the time of the slowest; on rank 0. */
static int add_up(struct wr_ranks *ranks, struct wr_dataset_result *res,
                  weir_err *err)
{
    struct wr_comm_part *parts;
    struct wr_dataset_result one;
    int r = wr_comm_gather(ranks->comm, res, sizeof(*res), &parts, err);

    if (r < 0)
        return r;
    for (uint32_t k = 1; parts && k < ranks->launch.world; k++) {
        if (parts[k].len != sizeof(one)) {
            r = wr_fail(err, WEIR_EFORMAT, "what rank %u sent cannot be read",
                        k);
            break;
        }
        memcpy(&one, parts[k].bytes, sizeof(one));
        res->made_files += one.made_files;
        res->made_bytes += one.made_bytes;
        res->kept_files += one.kept_files;
        res->elapsed_ns = WR_MAX(res->elapsed_ns, one.elapsed_ns);
    }
    free(parts);
    return r;
}

static void print_text(const struct wr_cli *cli,
                       const struct wr_gen_workload_args *a,
                       const struct wr_dataset_result *res)
{
    uint32_t world = a->ranks->launch.world;
    double seconds = (double)res->elapsed_ns / (double)WR_NS_PER_SEC;
    char b[32], c[32], by[32] = "";

    wr_cli_put(cli, "%s: %s file%s to train on", wr_show_path(a->folder).text,
               wr_format_count(b, sizeof(b), res->train_files),
               res->train_files == 1 ? "" : "s");
    if (res->eval_files)
        wr_cli_put(cli, ", %s to evaluate",
                   wr_format_count(b, sizeof(b), res->eval_files));
    wr_cli_put(cli, ", %s sample%s\n",
               wr_format_count(c, sizeof(c), res->samples),
               res->samples == 1 ? "" : "s");
    if (res->kept_files)
        wr_cli_put(cli, "%s of the files %s there already\n",
                   wr_format_count(b, sizeof(b), res->kept_files),
                   res->kept_files == 1 ? "was" : "were");
    if (world > 1)
        snprintf(by, sizeof(by), "%u ranks of ", world);
    wr_cli_put(cli, "made %s in %.1f s by %s%u thread%s: %s/s, %.0f files/s\n",
               wr_format_bytes(b, sizeof(b), (double)res->made_bytes), seconds,
               by, res->threads, res->threads == 1 ? "" : "s",
               wr_format_bytes(c, sizeof(c), (double)res->made_bytes / seconds),
               (double)res->made_files / seconds);
}

static int print_json(const struct wr_cli *cli,
                      const struct wr_gen_workload_args *a,
                      const struct wr_dataset_result *res)
{
    uint32_t world = a->ranks->launch.world;
    char path[4 * PATH_MAX + 8]; /* each byte as \xNN */
    char name[4 * PATH_MAX + 8];
    json_t *root = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}",
        "workload", wr_text_show(a->workload, false, name, sizeof(name)),
        "path", wr_text_show(a->folder, false, path, sizeof(path)), "seed",
        (json_int_t)a->seed, "samples", (json_int_t)res->samples, "files",
        (json_int_t)res->files, "train_files", (json_int_t)res->train_files,
        "eval_files", (json_int_t)res->eval_files, "made_files",
        (json_int_t)res->made_files, "kept_files", (json_int_t)res->kept_files,
        "bytes", (json_int_t)res->made_bytes, "threads",
        (json_int_t)res->threads, "seconds",
        (double)res->elapsed_ns / (double)WR_NS_PER_SEC);

    if (root && world > 1)
        json_object_set_new(root, "ranks", json_integer(world));
    return wr_json_print(cli, root);
}

static int load(const struct wr_cli *cli, const struct wr_gen_workload_args *a,
                struct wr_workload **ret, weir_err *err)
{
    const char *name = a->workload;
    int r;

    if (!strncmp(name, PREFIX, strlen(PREFIX)))
        name += strlen(PREFIX);
    r = wr_workload_load(name, a->overrides, a->override_count, on_note,
                         (void *)(uintptr_t)cli, ret, err);
    if (r < 0 || a->scale == 1.0)
        return r;
    r = wr_workload_scale(*ret, a->scale, a->accelerators, err);
    if (r < 0)
        wr_workload_free(*ret);
    return r;
}

/* NULL: one process. */
static struct wr_comm *comm_of(const struct wr_ranks *ranks)
{
    return wr_ranks_several(ranks) ? ranks->comm : NULL;
}

static int make(const struct wr_cli *cli, const struct wr_gen_workload_args *a,
                const struct wr_workload *w, struct wr_dataset_result *ret,
                weir_err *err)
{
    struct gen_line line = {.label = "generating"};
    struct wr_dataset_config cfg = {.workload = w,
                                    .target = a->folder,
                                    .seed = a->seed,
                                    .threads = a->threads,
                                    .force = a->force,
                                    .comm = comm_of(a->ranks),
                                    .progress = on_progress,
                                    .progress_arg = &line};
    int r;

    if (!cfg.threads && wr_ranks_several(a->ranks))
        cfg.threads = wr_ranks_threads(a->ranks);
    wr_progress_start(
        &line.progress, cli,
        &(struct wr_progress_spec){.label = line.label, .bytes = true});
    r = wr_gen_workload(&cfg, ret, err);
    wr_progress_end(&line.progress);
    return r == 0 && cfg.comm ? add_up(a->ranks, ret, err) : r;
}

static int failed(const struct wr_cli *cli,
                  const struct wr_gen_workload_args *a, int r,
                  const weir_err *err)
{
    if (wr_ranks_several(a->ranks)) {
        a->ranks->stopped = "the same command continues";
        return wr_ranks_failed(a->ranks, cli, r, err);
    }
    if (r == WEIR_ECANCELED)
        return wr_cli_fail(cli, "interrupted %s: the same command continues",
                           err->msg);
    return wr_cli_fail(cli, "%s", err->msg);
}

int wr_cli_gen_workload(const struct wr_cli *cli,
                        const struct wr_gen_workload_args *a)
{
    struct wr_dataset_result res;
    struct wr_screen screen;
    struct wr_workload *w;
    weir_err err;
    int r = load(cli, a, &w, &err);

    if (r == WEIR_ENOENT)
        return wr_cli_usage(cli,
                            "%s, and no kind of data set (imagenet, "
                            "caltech101, tensors)",
                            err.msg);
    if (r < 0)
        return wr_cli_usage(cli, "%s", err.msg);
    r = wr_ranks_meet(a->ranks, &err);
    if (r == 0)
        r = make(cli, a, w, &res, &err);
    wr_workload_free(w);
    if (r < 0)
        return failed(cli, a, r, &err);
    if (!wr_ranks_speaks(a->ranks))
        return WR_EXIT_DONE;
    if (a->json)
        return print_json(cli, a, &res);
    print_text(wr_screen_start(&screen, cli), a, &res);
    wr_screen_end(&screen);
    return WR_EXIT_DONE;
}
