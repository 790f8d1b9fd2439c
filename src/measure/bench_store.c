/* bench_store.c - benchmarks save only where benchmarks have saved before.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/bench_store.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/own.h"
#include "storage/storage.h"
#include "tier/name.h"

#define MARK_TEXT                                                              \
    "A benchmark of weir saves here: it overwrites and removes what is in "    \
    "this folder.\n"

/* What an entry of the root says of it. */
struct store_look {
    char name[NAME_MAX + 1]; /* the first that a benchmark must not lose */
    bool step;
};

/* A writer that died before its first save leaves its folder and `.weir`. */
static bool is_worthless(enum wr_name is, const char *name)
{
    return is == WR_NAME_WRITER || is == WR_NAME_TMP || is == WR_NAME_TRASH ||
           is == WR_NAME_SLOT || !strcmp(name, WR_NAME_OWN);
}

static int look_at_entry(void *arg, const struct wr_entry *e)
{
    struct store_look *look = arg;
    uint64_t step;
    enum wr_name is = wr_name_in_root(e->name, &step);

    if (is_worthless(is, e->name))
        return 0;
    snprintf(look->name, sizeof(look->name), "%s", e->name);
    look->step = is == WR_NAME_STEP || is == WR_NAME_STALE;
    return 1;
}

static int look_inside(struct wr_store *st, const char *path, weir_err *err)
{
    struct store_look look = {.step = false};
    struct wr_stat mark;
    int r;

    if (st->ops->stat(st, WR_NAME_BENCHED, &mark, NULL) == 0 &&
        mark.kind == WR_KIND_FILE)
        return 0;
    r = st->ops->list(st, "", look_at_entry, &look, err);
    if (r <= 0)
        return r;
    return wr_fail(err, WEIR_ESTATE,
                   "'%s': holds %s that no benchmark of weir made ('%s'): "
                   "nothing is saved there; name another folder, or remove "
                   "this one if it is of no use",
                   path, look.step ? "checkpoints" : "files", look.name);
}

/* The bytes lie at the path, whatever device is emulated before them. Names such
 * as weir-ckpt-bench-fast are no secret: another user's link may be there. */
static int open_store(const char *path, struct wr_store **ret, weir_err *err)
{
    int r = wr_own_check_links(path, err);

    return r < 0 ? r : wr_store_open_own(path, ret, err);
}

int wr_bench_store_check(const char *url, weir_err *err)
{
    const char *path = wr_url_path(url);
    struct wr_store *st;
    weir_err why;
    int r = open_store(path, &st, &why);

    if (r == WEIR_ENOENT)
        return 0;
    if (r < 0)
        return wr_fail_as(err, r, &why);
    r = look_inside(st, path, err);
    wr_store_close(st);
    return r;
}

int wr_bench_store_mark(const char *url, weir_err *err)
{
    const char *path = wr_url_path(url);
    struct wr_object *o;
    struct wr_store *st;
    int r = open_store(path, &st, err), q;

    if (r < 0)
        return r;
    r = wr_store_change(st, WR_MKDIR, WR_NAME_OWN, NULL, err);
    if (r == 0 || r == WEIR_EEXIST)
        r = st->ops->object_open(st, WR_NAME_BENCHED, WR_OPEN_CREATE, &o, err);
    if (r == 0) {
        r = wr_object_write(o, MARK_TEXT, strlen(MARK_TEXT), 0, err);
        q = o->ops->close(o, /* sync= */ false, r < 0 ? NULL : err);
        r = r < 0 ? r : q;
    }
    wr_store_close(st);
    if (r == WEIR_EEXIST) /* an earlier run's, or another rank's */
        return 0;
    return r < 0 ? wr_fail_prefix(err, r, "in '%s'", path) : 0;
}
