/* files.c - the files of a data set in or out of the page cache.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/files.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

const struct wr_choice wr_cache_state_choices[] = {
    {"cold", WR_CACHE_COLD, "dropped before every run, and checked"},
    {"warm", WR_CACHE_WARM, "read before every run"},
    {"asis", WR_CACHE_ASIS, "left alone"},
    {NULL, 0, NULL}};

#define PATH_CAP 8192

int wr_files_init(struct wr_file_list *f, const weir_dataset *ds, weir_err *err)
{
    const struct wr_storage_ops *ops = ds->store->ops;
    uint64_t n = wr_index_object_count(ds->index);
    char path[PATH_CAP], local[PATH_CAP];

    *f = (struct wr_file_list){0};
    f->paths = calloc(n ? n : 1, sizeof(char *));
    if (!f->paths)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint64_t i = 0; ops->local_path && i < n; i++) {
        if (wr_index_object_path(ds->index, i, path, sizeof(path)) >=
                sizeof(path) ||
            !ops->local_path(ds->store, path, local, sizeof(local)))
            continue;
        f->paths[f->count] = strdup(local);
        if (!f->paths[f->count]) {
            wr_files_done(f);
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        }
        f->count++;
    }
    return 0;
}

void wr_files_done(struct wr_file_list *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->paths[i]);
    free(f->paths);
    *f = (struct wr_file_list){0};
}

static bool is_stopped(void *ctx, uint64_t files, uint64_t bytes)
{
    bool (*const *stopped)(void) = ctx;

    return *stopped && (*stopped)();
}

int wr_files_prepare(const struct wr_file_list *f, enum wr_cache_state state,
                     bool (*stopped)(void), double *ret_resident, weir_err *err)
{
    struct wr_pagecache_job job = {.paths = f->paths,
                                   .count = f->count,
                                   .progress = is_stopped,
                                   .ctx = &stopped};
    struct wr_pagecache_report report;
    int r;

    if (!f->count) {
        *ret_resident = -1;
        return 0;
    }
    if (state == WR_CACHE_COLD)
        r = wr_pagecache_drop(&job, &report, err);
    else if (state == WR_CACHE_WARM)
        r = wr_pagecache_warm(&job, &report, err);
    else
        r = wr_pagecache_status(&job, &report, err);
    if (r < 0)
        return r;
    *ret_resident = report.bytes && !report.unknown_files
                        ? (double)report.resident_bytes / (double)report.bytes
                        : -1;
    return 0;
}
