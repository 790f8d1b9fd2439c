/* made.c - what the maker of a data set has made, so that only that is replaced.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dataset/made.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/error.h"
#include "dataset/sink.h"

#define LINE "made " /* how the line begins, behind the maker's comment */

struct made {
    uint64_t entries, sum;
};

/* A walk over a folder and all below it. */
struct made_walk {
    const struct wr_made_place *place; /* borrowed */
    bool names;    /* name what the maker cannot have made */
    weir_err *err; /* borrowed; may be NULL */
    struct made found;
    size_t root;         /* bytes of the top folder's path in `path` */
    char path[PATH_MAX]; /* of the folder being listed */
};

/* Whether the maker makes things of this name. */
static bool is_plausible(const struct wr_sink_maker *m,
                         const struct wr_entry *e)
{
    const char *const *pattern = m->files;

    if (e->name[0] == '.')
        return false;
    if (e->kind != WR_KIND_FILE || !pattern)
        return e->kind == WR_KIND_FILE || e->kind == WR_KIND_DIR;
    while (*pattern && fnmatch(*pattern, e->name, 0))
        pattern++;
    return *pattern != NULL;
}

static int fail_foreign(const struct made_walk *w, const struct wr_entry *e)
{
    const char *below = w->path + w->root;

    below += *below == '/';
    return wr_fail(w->err, WEIR_EEXIST,
                   "'%s': holds '%s%s%s', which %s did not make: remove it "
                   "yourself",
                   w->place->shown, below, *below ? "/" : "", e->name,
                   w->place->maker->command);
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
    struct wr_store *st = w->place->store;
    size_t len = strlen(w->path);
    int n, r = 0;

    if (len == w->root && !strcmp(e->name, w->place->maker->job_file))
        return 0;
    if (w->names && !is_plausible(w->place->maker, e))
        return fail_foreign(w, e);
    n = snprintf(w->path + len, sizeof(w->path) - len, "/%s", e->name);
    if (n < 0 || (size_t)n >= sizeof(w->path) - len)
        r = wr_fail(w->err, WEIR_ELIMIT, "'%s': path too long", w->path);
    if (r == 0)
        count_entry(w, e);
    if (r == 0 && e->kind == WR_KIND_DIR)
        r = st->ops->list(st, w->path, walk_entry, w, w->err);
    w->path[len] = '\0';
    return r;
}

static int walk_all(struct made_walk *w)
{
    const char *folder = w->place->folder;
    struct wr_store *st = w->place->store;

    w->root = strlen(folder);
    if (w->root >= sizeof(w->path))
        return wr_fail(w->err, WEIR_ELIMIT, "'%s': path too long", folder);
    memcpy(w->path, folder, w->root + 1);
    return st->ops->list(st, folder, walk_entry, w, w->err);
}

int wr_made_note(const struct wr_made_place *p, char buf[WR_MADE_MAX],
                 weir_err *err)
{
    struct made_walk w = {.place = p, .err = err};
    int r = walk_all(&w);

    if (r < 0)
        return r;
    snprintf(buf, WR_MADE_MAX, "%s" LINE "%" PRIu64 " %016" PRIx64 "\n",
             p->maker->comment, w.found.entries, w.found.sum);
    return 0;
}

/* What follows the beginning of the line at `at`; NULL: it is another one. */
static const char *skip_line_head(const struct wr_sink_maker *m, const char *at)
{
    size_t comment = strlen(m->comment), line = strlen(LINE);

    if (strncmp(at, m->comment, comment) || strncmp(at + comment, LINE, line))
        return NULL;
    return at + comment + line;
}

bool wr_made_is_same(const struct wr_sink_maker *m, const char *text,
                     const char *job)
{
    size_t len = strlen(job);

    return !strncmp(text, job, len) &&
           (!text[len] || skip_line_head(m, text + len));
}

/* The numbers of the job file's last line. */
static bool find_note(const struct wr_sink_maker *m, const char *text,
                      struct made *ret)
{
    const char *numbers = NULL;

    for (; text && !numbers; text = strchr(text, '\n')) {
        text += *text == '\n';
        numbers = skip_line_head(m, text);
    }
    return numbers && sscanf(numbers, "%" SCNu64 " %" SCNx64, &ret->entries,
                             &ret->sum) == 2;
}

static int read_note(const struct wr_made_place *p, struct made *ret,
                     weir_err *err)
{
    const struct wr_sink_maker *m = p->maker;
    char path[PATH_MAX], *text = NULL;
    size_t len;
    bool found;

    if (snprintf(path, sizeof(path), "%s/%s", p->folder, m->job_file) >=
        (int)sizeof(path))
        return wr_fail(err, WEIR_ELIMIT, "'%s': path too long", p->folder);
    if (wr_store_slurp(p->store, path, WR_MADE_JOB_MAX, &text, &len, NULL) < 0)
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': no %s in it says that %s made it: remove it "
                       "yourself",
                       p->shown, m->job_file, m->command);
    found = find_note(m, text, ret);
    free(text);
    if (found)
        return 0;
    return wr_fail(err, WEIR_EEXIST,
                   "'%s': was made by an earlier version of weir, which did "
                   "not note what it made: remove it yourself",
                   p->shown);
}

int wr_made_check(const struct wr_made_place *p, bool partly, weir_err *err)
{
    struct made_walk w = {.place = p, .names = true, .err = err};
    struct made was;
    int r = read_note(p, &was, err);

    if (r == 0)
        r = walk_all(&w);
    if (r < 0)
        return r;
    if (w.found.entries == was.entries
            ? w.found.sum == was.sum
            : partly && w.found.entries < was.entries)
        return 0;
    return wr_fail(err, WEIR_EEXIST,
                   "'%s': holds other files than %s made (%" PRIu64
                   " files and folders, of which it made %" PRIu64
                   "): remove it yourself",
                   p->shown, p->maker->command, w.found.entries, was.entries);
}
