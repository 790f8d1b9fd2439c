/* array_files.c - the files of arrays that a data set is: one, or a folder's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/array_files.h"

#include "base/error.h"
#include "format/pictures.h"
#include "format/shards.h"

#define PROBE_LIMIT 4096u /* entries of a folder looked at */

/* One file that was named, or the fault of none, ends it; any other is named
 * among the problems. */
static int add_one(struct wr_index_job *job, const struct wr_array_files *f,
                   const char *name, weir_err *err)
{
    weir_err e;
    bool skip = true;
    int r = f->add(f->arg, name, &skip, &e);

    if (r < 0 && skip && !job->leaf) {
        wr_index_job_issue(job, name, &e);
        return wr_index_job_progress(job, err);
    }
    if (r < 0 && e.msg[0] != '\'')
        return wr_fail(err, r, "'%s': %s", name, e.msg);
    return r < 0 ? wr_fail(err, r, "%s", e.msg)
                 : wr_index_job_progress(job, err);
}

int wr_array_files_add(struct wr_index_job *job, const struct wr_array_files *f,
                       weir_err *err)
{
    struct wr_listing l = {0};
    int r = wr_shards_list(job, f->is_name, &l, err);

    for (size_t k = 0; k < l.count && r == 0; k++)
        r = add_one(job, f, wr_listing_name(&l, k), err);
    wr_listing_done(&l);
    return r;
}

struct array_look {
    bool (*is_name)(const char *name);
    unsigned seen;
    bool found;
};

/* Stops at the first file whose kind tells what the folder holds. */
static int look_at(void *arg, const struct wr_entry *e)
{
    struct array_look *look = arg;

    look->found = e->kind == WR_KIND_FILE && e->name[0] != '.' &&
                  look->is_name(e->name);
    return look->found || wr_is_picture_name(e->name) ||
           ++look->seen == PROBE_LIMIT;
}

int wr_array_files_probe(struct wr_store *st, bool (*is_name)(const char *name))
{
    struct array_look look = {.is_name = is_name};
    int r = st->ops->list(st, "", look_at, &look, NULL);

    if (wr_index_fails(r))
        return r;
    return look.found ? 90 : 0;
}
