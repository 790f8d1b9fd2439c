/* extra.c - plain files that a run writes besides its checkpoints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/extra.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "measure/bench_store.h"
#include "run/job.h"
#include "storage/storage.h"

#define PIECE ((size_t)1 << 20)

char *wr_run_extra_folder(const struct wr_run_plan *p)
{
    bool saves = p->w->workflow.checkpoint && p->w->weir.checkpoint_files.count;
    const char *fast = p->ckpt.fast;
    size_t len = fast ? strlen(fast) : 0;
    char *url;

    if (!len || p->no_ckpt || (!saves && !p->w->weir.final_files))
        return NULL;
    while (len > 1 && fast[len - 1] == '/')
        len--;
    return asprintf(&url, "%.*s-files", (int)len, fast) < 0 ? NULL : url;
}

int wr_run_extra_check(const struct wr_run_job *job, weir_err *err)
{
    char *url = wr_run_extra_folder(job->plan);
    int r = url ? wr_bench_store_check(url, err) : 0;

    free(url);
    return r;
}

/* The folder, made if it is missing, as a store. */
static int open_folder(const struct wr_run_job *job, struct wr_store **ret,
                       weir_err *err)
{
    char *url = wr_run_extra_folder(job->plan), *parent = NULL, *name = NULL;
    struct wr_store *st = NULL;
    int r;

    if (!url)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_url_split(url, &parent, &name, err);
    if (r == 0)
        r = wr_store_open_own(parent, &st, err);
    if (r == 0)
        r = wr_store_change(st, WR_MKDIR, name, NULL, err);
    wr_store_close(st);
    if (r == 0 || r == WEIR_EEXIST)
        r = wr_bench_store_mark(url, err);
    if (r == 0)
        r = wr_store_open_own(url, ret, err);
    free(url);
    free(parent);
    free(name);
    return r;
}

static int fill(struct wr_object *o, uint64_t bytes, uint64_t seed,
                weir_err *err)
{
    uint64_t *piece = malloc(PIECE);
    int r = 0;

    if (!piece)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (size_t k = 0; k < PIECE / sizeof(*piece); k++)
        piece[k] = wr_rng_at(seed, 0, k);
    for (uint64_t at = 0; r == 0 && at < bytes; at += PIECE)
        r = wr_object_write(o, piece, (size_t)WR_MIN(bytes - at, PIECE), at,
                            err);
    free(piece);
    return r;
}

/* Replaces what an earlier run left. */
static int write_file(const struct wr_run_job *job, struct wr_store *st,
                      const char *name, uint64_t bytes, weir_err *err)
{
    bool sync = job->plan->w->checkpoint.fsync;
    struct wr_object *o;
    int r;

    wr_store_change(st, WR_REMOVE, name, NULL, NULL);
    r = st->ops->object_open(st, name, WR_OPEN_CREATE, &o, err);
    if (r < 0)
        return r;
    r = fill(o, bytes, job->plan->w->train.seed, err);
    if (r < 0) {
        o->ops->close(o, /* sync= */ false, NULL);
        return r;
    }
    return o->ops->close(o, sync, err);
}

int wr_run_extra_checkpoint(struct wr_run_job *job, uint64_t step,
                            weir_err *err)
{
    const struct wr_wl_list *files = &job->plan->w->weir.checkpoint_files;
    struct wr_store *st;
    char name[64];
    int r;

    if (!files->count || job->rank != 0)
        return 0;
    r = open_folder(job, &st, err);
    if (r < 0)
        return r;
    for (unsigned k = 0; r == 0 && k < files->count; k++) {
        snprintf(name, sizeof(name), "step-%" PRIu64 "-%u", step % 2, k);
        r = write_file(job, st, name, files->item[k], err);
    }
    wr_store_close(st);
    return r;
}

int wr_run_extra_final(struct wr_run_job *job, weir_err *err)
{
    const struct wr_workload *w = job->plan->w;
    unsigned accels = job->plan->accelerators;
    struct wr_store *st;
    char name[64];
    int r;

    if (!w->weir.final_files || !job->plan->ckpt.fast || job->plan->no_ckpt)
        return 0;
    r = open_folder(job, &st, err);
    if (r < 0)
        return r;
    for (uint64_t k = 0; r == 0 && k < accels * w->weir.final_files; k++) {
        snprintf(name, sizeof(name), "end-%" PRIu64 "-%" PRIu64,
                 job->first + k % accels, k / accels);
        r = write_file(job, st, name, w->weir.final_bytes, err);
    }
    wr_store_close(st);
    return r;
}
