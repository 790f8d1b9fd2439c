/* run_folders.c - where weir run reads and writes, and who says so.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A description comes from others as data does. It would be a way to write to
 * any file of the user, were it free to name places: a real store of
 * checkpoints, or a URL such as emu:null,trace=FILE, which appends to FILE. */
#include "cli/run_folders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/descriptors.h"
#include "base/error.h"
#include "base/own.h"
#include "run/saver.h"
#include "storage/storage.h"

/* A key of the description that names a place. */
struct place_key {
    const char *name, *value;
    struct wr_wl_said said;
    const char *instead; /* what says it on the command line */
};

static bool goes_up(const char *path)
{
    for (; *path; path += strspn(path, "/")) {
        size_t n = strcspn(path, "/");

        if (n == 2 && !strncmp(path, "..", 2))
            return true;
        path += n;
    }
    return false;
}

static int check_key(const char *file, const struct place_key *k, weir_err *err)
{
    const char *what = wr_url_path(k->value) != k->value ? "is a URL"
                       : *k->value == '/'                ? "is absolute"
                       : goes_up(k->value)               ? "has '..' in it"
                                                         : NULL;

    if (k->said.command || !what)
        return 0;
    return wr_fail(
        err, WEIR_EINVAL,
        "'%s':%u: %s: '%s' %s, and a description names folders below "
        "the current one only; name it on the command line: %s",
        file, k->said.line, k->name, k->value, what, k->instead);
}

/* A folder that looks like one below may be a link that another user put into
 * the current folder: only the user's own are followed. */
static int check_links(const char *url, weir_err *err)
{
    return wr_own_check_links(wr_url_path(url), err);
}

static int check_data(const struct wr_workload *w, const char *url,
                      weir_err *err)
{
    const struct place_key keys[] = {
        {"storage.storage_root", w->storage.root, w->said.root,
         "DATA or storage.storage_root=FOLDER"},
        {"dataset.data_folder", w->dataset.data_folder, w->said.data,
         "DATA or dataset.data_folder=FOLDER"}};
    int r = check_key(w->file, &keys[0], err);

    if (r == 0)
        r = check_key(w->file, &keys[1], err);
    return r == 0 && !w->said.data.command ? check_links(url, err) : r;
}

static bool saves(const struct wr_run_plan *p)
{
    return p->w->workflow.checkpoint && !p->no_ckpt && p->ckpt.fast;
}

static int check_checkpoints(const struct wr_workload *w, weir_err *err)
{
    const struct place_key key = {
        "checkpoint.checkpoint_folder", w->checkpoint.folder,
        w->said.checkpoints,
        "--ckpt FOLDER or checkpoint.checkpoint_folder=FOLDER"};
    int r = check_key(w->file, &key, err);

    return r == 0 && !w->said.checkpoints.command
               ? check_links(w->checkpoint.folder, err)
               : r;
}

int wr_run_folders_check(const struct wr_run_plan *plan,
                         const struct run_args *args, const char *data,
                         weir_err *err)
{
    char *files = wr_run_extra_folder(plan);
    bool writes = saves(plan) || files;
    int r = data ? check_data(plan->w, data, err) : 0;

    if (r == 0 && writes && !args->ckpt)
        r = check_checkpoints(plan->w, err);
    free(files);
    return r;
}

/* "--ckpt", "'my.yaml':12", "checkpoint.checkpoint_folder=...", by whom the
 * folder of checkpoints was chosen. */
static const char *chosen_by(const struct wr_run_plan *plan,
                             const struct run_args *args, char *buf, size_t cap)
{
    const struct wr_workload *w = plan->w;

    if (args->ckpt)
        return "--ckpt";
    if (w->said.checkpoints.command)
        return "checkpoint.checkpoint_folder=";
    if (!w->said.checkpoints.line)
        return "by default";
    snprintf(buf, cap, "'%.200s':%u", w->file, w->said.checkpoints.line);
    return buf;
}

void wr_run_folders_tell(const struct wr_run_plan *plan,
                         const struct wr_cli *cli)
{
    const struct run_args *args = cli->args;
    char *files = wr_run_extra_folder(plan);
    char by[240];

    if (saves(plan))
        wr_cli_note(cli, "saves checkpoints to '%s' (%s)", plan->ckpt.fast,
                    chosen_by(plan, args, by, sizeof(by)));
    if (saves(plan) && plan->ckpt.slow)
        wr_cli_note(cli, "and drains them to '%s' (--slow)", plan->ckpt.slow);
    if (files)
        wr_cli_note(cli, "writes other files to '%s'", files);
    if (args->dlio_output)
        wr_cli_note(cli, "writes DLIO's results to '%s' (--dlio-output)",
                    args->dlio_output);
    free(files);
}
