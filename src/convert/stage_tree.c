/* stage_tree.c - looking at whole folders.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/stage_tree.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "convert/stage.h"

struct beginning {
    const char *text; /* borrowed */
};

static int is_other(void *arg, const struct wr_entry *e)
{
    const char *begin = ((const struct beginning *)arg)->text;

    return strncmp(e->name, begin, strlen(begin)) != 0;
}

bool wr_stage_tree_has_only(struct wr_store *st, const char *path,
                            const char *begin)
{
    struct beginning b = {begin};

    return st->ops->list(st, path, is_other, &b, NULL) == 0;
}

bool wr_stage_tree_is_ours(struct wr_store *st, const char *path)
{
    char job[PATH_MAX];
    struct wr_stat is;

    snprintf(job, sizeof(job), "%s/%s", path, WR_STAGE_JOB);
    return st->ops->stat(st, job, &is, NULL) == 0 && is.kind == WR_KIND_FILE;
}
