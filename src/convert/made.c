/* made.c - what a conversion has made, so that only that is replaced.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/made.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/error.h"
#include "convert/classes.h"
#include "convert/stage.h"

#define JOB_MAX 65536u

struct made {
    uint64_t entries, sum;
};

/* A walk over a folder and all below it. */
struct made_walk {
    struct wr_store *store; /* borrowed */
    const char *shown;      /* borrowed: to name what nobody made; NULL: no */
    weir_err *err;          /* borrowed; may be NULL */
    struct made found;
    size_t root;         /* bytes of the top folder's path in `path` */
    char path[PATH_MAX]; /* of the folder being listed */
};

/* Whether conversions make things of this name. */
static bool is_plausible(const struct wr_entry *e, bool top)
{
    if (e->name[0] == '.')
        return false;
    if (e->kind == WR_KIND_DIR)
        return true;
    if (e->kind != WR_KIND_FILE)
        return false;
    return !fnmatch("*.jpg", e->name, 0) ||
           (top && (!strcmp(e->name, WR_CLASSES_FILE) ||
                    !fnmatch("*-[0-9]*-of-[0-9]*.*", e->name, 0)));
}

static int fail_foreign(const struct made_walk *w, const struct wr_entry *e)
{
    const char *below = w->path + w->root;

    below += *below == '/';
    return wr_fail(w->err, WEIR_EEXIST,
                   "'%s': holds '%s%s%s', which weir convert did not make: "
                   "remove it yourself",
                   w->shown, below, *below ? "/" : "", e->name);
}

/* The sum does not know the order: listings come in any. */
static void count_entry(struct made_walk *w, const struct wr_entry *e)
{
    uint64_t size = e->kind == WR_KIND_FILE ? e->size : UINT64_MAX;

    w->found.entries++;
    w->found.sum += XXH3_64bits_withSeed(w->path + w->root,
                                         strlen(w->path + w->root),
                                         XXH3_64bits(&size, sizeof(size)));
}

static int walk_entry(void *arg, const struct wr_entry *e)
{
    struct made_walk *w = arg;
    size_t len = strlen(w->path);
    bool top = len == w->root;
    int n, r = 0;

    if (top && !strcmp(e->name, WR_STAGE_JOB))
        return 0;
    if (w->shown && !is_plausible(e, top))
        return fail_foreign(w, e);
    n = snprintf(w->path + len, sizeof(w->path) - len, "/%s", e->name);
    if (n < 0 || (size_t)n >= sizeof(w->path) - len)
        r = wr_fail(w->err, WEIR_ELIMIT, "'%s': path too long", w->path);
    if (r == 0)
        count_entry(w, e);
    if (r == 0 && e->kind == WR_KIND_DIR)
        r = w->store->ops->list(w->store, w->path, walk_entry, w, w->err);
    w->path[len] = '\0';
    return r;
}

static int walk_all(struct made_walk *w, const char *folder)
{
    w->root = strlen(folder);
    if (w->root >= sizeof(w->path))
        return wr_fail(w->err, WEIR_ELIMIT, "'%s': path too long", folder);
    memcpy(w->path, folder, w->root + 1);
    return w->store->ops->list(w->store, folder, walk_entry, w, w->err);
}

int wr_made_note(struct wr_store *st, const char *folder, char buf[WR_MADE_MAX],
                 weir_err *err)
{
    struct made_walk w = {.store = st, .err = err};
    int r = walk_all(&w, folder);

    if (r < 0)
        return r;
    snprintf(buf, WR_MADE_MAX, WR_MADE_LINE "%" PRIu64 " %016" PRIx64 "\n",
             w.found.entries, w.found.sum);
    return 0;
}

/* The numbers of the job file's last line. */
static int read_note(struct wr_store *st, const char *folder, const char *shown,
                     struct made *ret, weir_err *err)
{
    char path[PATH_MAX], *text = NULL, *line;
    size_t len;
    int r;

    if (snprintf(path, sizeof(path), "%s/" WR_STAGE_JOB, folder) >=
        (int)sizeof(path))
        return wr_fail(err, WEIR_ELIMIT, "'%s': path too long", folder);
    if (wr_store_slurp(st, path, JOB_MAX, &text, &len, NULL) < 0)
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': was not made by weir convert: remove it yourself",
                       shown);
    line = strstr(text, "\n" WR_MADE_LINE);
    r = line ? sscanf(line, "\n" WR_MADE_LINE "%" SCNu64 " %" SCNx64,
                      &ret->entries, &ret->sum)
             : 0;
    free(text);
    if (r == 2)
        return 0;
    return wr_fail(err, WEIR_EEXIST,
                   "'%s': was made by an earlier version of weir, which did "
                   "not note what it made: remove it yourself",
                   shown);
}

int wr_made_check(struct wr_store *st, const char *folder, const char *shown,
                  bool partly, weir_err *err)
{
    struct made_walk w = {.store = st, .shown = shown, .err = err};
    struct made was;
    int r = read_note(st, folder, shown, &was, err);

    if (r == 0)
        r = walk_all(&w, folder);
    if (r < 0)
        return r;
    if (w.found.entries == was.entries
            ? w.found.sum == was.sum
            : partly && w.found.entries < was.entries)
        return 0;
    return wr_fail(err, WEIR_EEXIST,
                   "'%s': holds other files than weir convert made (%" PRIu64
                   " files and folders, of which it made %" PRIu64
                   "): remove it yourself",
                   shown, w.found.entries, was.entries);
}
