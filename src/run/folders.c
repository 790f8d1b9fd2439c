/* folders.c - where a run may read and write.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A description comes from others as data does. It would be a way to write to
 * any file of the user, were it free to name places: a real store of
 * checkpoints, or a URL such as emu:null,trace=FILE, which appends to FILE. */
#include "run/folders.h"

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

bool wr_run_saves(const struct wr_run_plan *p)
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

int wr_run_folders_check(const struct wr_run_plan *plan, bool ckpt_named,
                         const char *data, weir_err *err)
{
    char *files = wr_run_extra_folder(plan);
    bool writes = wr_run_saves(plan) || files;
    int r = data ? check_data(plan->w, data, err) : 0;

    if (r == 0 && writes && !ckpt_named)
        r = check_checkpoints(plan->w, err);
    free(files);
    return r;
}
